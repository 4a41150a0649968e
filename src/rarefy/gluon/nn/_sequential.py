"""Blocks one after the other."""

import warnings
from collections.abc import Iterator
from typing import Any

from rarefy.gluon._block import Block
from rarefy.gluon._hybrid_block import HybridBlock


class _Stack(Block):
    """What both kinds of sequence share."""

    _is_container = True

    def add(self, *blocks: Any) -> None:
        """Puts blocks at the end."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self) -> str:
        return self._listed(self._children.items())

    def __getitem__(self, key: Any) -> Any:
        """A block, or for a slice a sequence of the same blocks."""
        found = list(self._children.values())[key]
        if not isinstance(found, list):
            return found
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*found)
        return part

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children.values())

    def __contains__(self, block: object) -> bool:
        return any(child is block for child in self._children.values())


class Sequential(_Stack):
    """Blocks one after the other: each gets what the one before it gave."""

    def forward(self, x: Any, *args: Any) -> Any:
        """Runs the blocks."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Lets the HybridBlocks in it compile, each for itself."""
        children = self._children.values()
        if children and all(isinstance(child, HybridBlock) for child in children):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. Consider "
                "using HybridSequential for the best performance.",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """HybridBlocks one after the other, which `hybridize` compiles as a whole."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """Runs the blocks."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
        return x
