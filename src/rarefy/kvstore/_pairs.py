"""Keys and what belongs to each, from the forms that callers give them in."""

from typing import Any

from rarefy.base import ArgumentError
from rarefy.nd._ndarray import NDArray

Key = str | int


def pairs(name: str, key: Any, value: Any) -> list[tuple[Key, list[NDArray]]]:
    """Each key once, with its arrays.

    Args:
      name: what messages call `value`.
      key: a key, or a list of them.
      value: for a key an array or a list of them; for a list of keys a list of those.

    Raises:
      ArgumentError: a key is neither text nor an integer, there are keys of both kinds, a value is no
        array, or there are not as many values as keys.
    """
    if not isinstance(key, list | tuple):
        return [(_checked(key), _arrays(name, value))]
    if not isinstance(value, list | tuple) or len(value) != len(key):
        have = len(value) if isinstance(value, list | tuple) else "no list"
        raise ArgumentError(
            f"{name}: there must be one for each of the {len(key)} keys; got {have}"
        )
    grouped: dict[Key, list[NDArray]] = {}
    for each, its_value in zip(key, value, strict=True):
        grouped.setdefault(_checked(each), []).extend(_arrays(name, its_value))
    if len({type(each) for each in grouped}) > 1:
        raise ArgumentError(f"keys must be all text or all integers; got {list(grouped)}")
    return list(grouped.items())


def _checked(key: Any) -> Key:
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise ArgumentError(
            f"a key is text or an integer; got {key!r} of type {type(key).__name__}"
        )
    return key


def _arrays(name: str, value: Any) -> list[NDArray]:
    arrays = list(value) if isinstance(value, list | tuple) else [value]
    for array in arrays:
        if not isinstance(array, NDArray):
            raise ArgumentError(
                f"{name} must be an NDArray or a list of them; got {type(array).__name__}"
            )
    return arrays
