# Written by tools/stubs.py; do not edit.

from typing import Any

from rarefy.sym._symbol import Symbol

def det(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def gelqf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def gemm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    C: Symbol | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def gemm2(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def inverse(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def potrf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def potri(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def slogdet(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sumlogdiag(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def syevd(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def syrk(
    A: Symbol | None = None,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def trmm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def trsm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
