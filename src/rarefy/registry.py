"""Classes by name: how metrics and initializers are registered and made from a string."""

import json
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

_CLASSES: dict[type, dict[str, type]] = {}


class NotRegisteredError(ValueError, AssertionError):
    """There is no class of the name that was given (an `AssertionError` in MXNet)."""


def get_registry(base_class: type) -> dict[str, type]:
    """A copy of the classes that are registered for a base class, by name in lower case."""
    return dict(_CLASSES.setdefault(base_class, {}))


def get_register_func(base_class: type, nickname: str) -> Callable[[T], T]:
    """Makes the decorator that registers a class under its own name, or under one that is given.

    Args:
      base_class: what the classes derive from.
      nickname: what messages call them.
    """
    classes = _CLASSES.setdefault(base_class, {})

    def register(klass: Any, name: str | None = None) -> Any:
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise TypeError(f"a {nickname} must derive from {base_class.__name__}; got {klass!r}")
        name = (name or klass.__name__).lower()
        if name in classes and classes[name] is not klass:
            warnings.warn(f"{nickname} {name!r} is registered again", stacklevel=2)
        classes[name] = klass
        return klass

    register.__doc__ = f"Registers a class as a {nickname} under its name in lower case."
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Callable[[T], T]]:
    """Makes the decorator that registers a class under further names."""
    register: Callable[..., Any] = get_register_func(base_class, nickname)

    def alias(*names: str):
        def under_all(klass: Any) -> Any:
            for name in names:
                register(klass, name)
            return klass

        return under_all

    alias.__doc__ = f"Registers a class as a {nickname} under each of the names."
    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """Makes the function that makes an instance from a name, a configuration or its JSON."""
    classes = _CLASSES.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        name = args[0] if args else kwargs.pop(nickname)
        args = args[1:]
        if isinstance(name, base_class):
            if args or kwargs:
                raise ValueError(f"{name} is a {nickname} already and takes no arguments")
            return name
        if isinstance(name, dict):
            return create(**name)
        if not isinstance(name, str):
            raise TypeError(f"a {nickname} is made from a name; got {name!r}")
        if name.startswith("["):
            name, kwargs = json.loads(name)
        elif name.startswith("{"):
            return create(**json.loads(name))
        if name.lower() not in classes:
            known = ", ".join(sorted(classes))
            raise NotRegisteredError(f"there is no {nickname} {name!r}; there are {known}")
        return classes[name.lower()](*args, **kwargs)

    create.__doc__ = f"""Makes a {nickname}.

    Args:
      {nickname}: its name, in any case; a dictionary with the name and the arguments, or JSON of
        such a dictionary or of a list of name and arguments; or one that is made already, which is
        returned.
      *args, **kwargs: arguments of the class.

    Raises:
      ValueError: there is no {nickname} of this name.
    """
    return create
