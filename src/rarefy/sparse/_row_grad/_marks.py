"""Which arguments are marked `row_sparse`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np


def marked_leaves(
    row_sparse: Any, argnums: Sequence[int], args: Sequence[Any], is_leaf
) -> list[list[bool]]:
    """Says for each leaf of each differentiated argument whether it is marked.

    Args:
      row_sparse: True, for all; an argument number or several of them; a function of a leaf's path
        (as `jax.tree_util.keystr` writes it, without the argument) and the leaf; or bools in a tree
        over the argument, or over the tuple of arguments if there are several. A bool stands for all
        leaves below it, and a key that a mapping leaves out for False.
      argnums: the differentiated arguments.
      args: all arguments.
      is_leaf: what else is a leaf.

    Returns:
      A list of bools for each of `argnums`.

    Raises:
      TypeError: `row_sparse` is none of those.
      ValueError: it names an argument that is not differentiated, or a part that is not there.
    """
    trees = [args[i] for i in argnums]
    if row_sparse is None or isinstance(row_sparse, bool | np.bool_):
        marks = [bool(row_sparse)] * len(trees)
    elif _is_int(row_sparse) or _are_ints(row_sparse):
        chosen = [row_sparse] if _is_int(row_sparse) else list(row_sparse)
        chosen = [int(i) + len(args) if i < 0 else int(i) for i in chosen]
        for i in chosen:
            if i not in argnums:
                raise ValueError(
                    f"row_sparse: argument {i} is not differentiated; argnums is {tuple(argnums)}"
                )
        marks = [i in chosen for i in argnums]
    elif callable(row_sparse):
        marks = [_by_path(row_sparse, tree, is_leaf) for tree in trees]
    elif len(trees) == 1:
        marks = [row_sparse]
    elif isinstance(row_sparse, list | tuple) and len(row_sparse) == len(trees):
        marks = list(row_sparse)
    else:
        raise ValueError(
            f"row_sparse: for {len(trees)} differentiated arguments pass a tuple of as many marks; "
            f"got {row_sparse!r}"
        )
    return [
        _spread(mark, tree, is_leaf, f"argument {i}")
        for mark, tree, i in zip(marks, trees, argnums, strict=True)
    ]


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _are_ints(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_int, value))


def _by_path(choose: Callable[..., Any], tree: Any, is_leaf) -> Any:
    def mark(path, leaf):
        return bool(choose(jax.tree_util.keystr(path), leaf))

    return jax.tree_util.tree_map_with_path(mark, tree, is_leaf=is_leaf)


def _spread(mark: Any, tree: Any, is_leaf, where: str) -> list[bool]:
    """Carries the marks of a tree's prefix to its leaves, in order."""
    if mark is None or isinstance(mark, bool | np.bool_):
        return [bool(mark)] * len(jax.tree.leaves(tree, is_leaf=is_leaf))
    if isinstance(mark, Mapping) and isinstance(tree, Mapping):
        strangers = [key for key in mark if key not in tree]
        if strangers:
            raise ValueError(
                f"row_sparse: {where} has no {strangers[0]!r}; it has {', '.join(map(repr, tree))}"
            )
        found: list[bool] = []
        for key in _keys_in_order(tree, is_leaf):
            found += _spread(mark.get(key, False), tree[key], is_leaf, f"{where}[{key!r}]")
        return found
    try:
        spread = jax.tree.broadcast(mark, tree, is_leaf=is_leaf)
        marks = jax.tree.leaves(spread)
    except ValueError as error:
        raise ValueError(f"row_sparse: the marks {mark!r} do not fit {where}: {error}") from None
    if not all(isinstance(m, bool | np.bool_) for m in marks):
        raise TypeError(f"row_sparse: marks must be bools, got {mark!r} for {where}")
    return [bool(m) for m in marks]


def _keys_in_order(tree: Mapping[Any, Any], is_leaf) -> list[Any]:
    """The keys of a mapping in the order in which JAX flattens it."""
    first: dict[Any, None] = {}
    only_tops = jax.tree.map(lambda _: 0, tree, is_leaf=lambda x: x is not tree)
    for (key, *_), _ in jax.tree_util.tree_flatten_with_path(only_tops)[0]:
        first[getattr(key, "key", key)] = None
    return list(first)
