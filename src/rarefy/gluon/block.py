"""Blocks."""

from rarefy.gluon._block import Block
from rarefy.gluon._hybrid_block import HybridBlock
from rarefy.gluon._naming import BlockScope as _BlockScope
from rarefy.gluon._symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock", "_BlockScope"]
