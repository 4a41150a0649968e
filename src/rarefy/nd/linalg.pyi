# Written by tools/stubs.py; do not edit.

from typing import Any

from rarefy.nd._ndarray import NDArray

def det(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def extractdiag(A: NDArray, offset: int = 0, *, out: Any = None, name: Any = None) -> NDArray: ...
def extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def gelqf(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def gemm(
    A: NDArray,
    B: NDArray,
    C: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def inverse(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def makediag(A: NDArray, offset: int = 0, *, out: Any = None, name: Any = None) -> NDArray: ...
def maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def potrf(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def potri(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def slogdet(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def sumlogdiag(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def syevd(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def syrk(
    A: NDArray,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def trsm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
