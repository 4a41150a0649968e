"""Blocks."""

from rarefy.gluon._block import Block
from rarefy.gluon._hybrid_block import HybridBlock

__all__ = ["Block", "HybridBlock"]
