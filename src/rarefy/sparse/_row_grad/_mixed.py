"""Trees of which some leaves are traced and the others are constants of the trace."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
from jax.core import Tracer


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["arrays"],
    meta_fields=["constants", "structure"],
)
@dataclass(frozen=True, eq=False)
class Mixed:
    """A tree taken apart.

    Attributes:
      arrays: its traced leaves.
      constants: for each leaf `(leaf,)`, or None for a traced one.
      structure: of the tree.
    """

    arrays: list[Any]
    constants: tuple[Any, ...]
    structure: Any

    @classmethod
    def of(cls, tree: Any) -> "Mixed":
        """Takes a tree apart."""
        leaves, structure = jax.tree.flatten(tree)
        constants = tuple(None if isinstance(x, Tracer) else (x,) for x in leaves)
        return cls([x for x in leaves if isinstance(x, Tracer)], constants, structure)

    def tree(self) -> Any:
        """The tree again."""
        rest = iter(self.arrays)
        leaves = [next(rest) if c is None else c[0] for c in self.constants]
        return jax.tree.unflatten(self.structure, leaves)
