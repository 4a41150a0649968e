# Written by tools/stubs.py; do not edit.

from typing import Any

from rarefy.nd._ndarray import NDArray

def _add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _astype(data: NDArray, dtype: str, *, out: Any = None, name: Any = None) -> NDArray: ...
def _copy(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _copy_rows(
    weight: NDArray,
    source: NDArray,
    grad: NDArray,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _div_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _equal_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _eye(
    N: int,
    M: int = 0,
    k: int = 0,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _ftrl_warm_start(
    weight: NDArray,
    lr: float,
    lamda1: float,
    beta: float,
    wd: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _full(
    shape: tuple[int, ...],
    value: float,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _greater_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _greater_equal_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _greater_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _hypot_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _index(*arrays: Any, spec: tuple, out: Any = None, name: Any = None) -> NDArray: ...
def _lesser(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _lesser_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _lesser_equal_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _lesser_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _logical_and(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _logical_and_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _logical_or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _logical_or_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _logical_xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _logical_xor_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _maximum_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _minimum_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _minus_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _mod_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mul_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _not_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _not_equal_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _np_negative(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _ones(
    shape: tuple[int, ...],
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _plus_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _power_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_exponential(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple[int, ...] = (1,),
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_poisson(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_randint(
    low: int,
    high: int,
    shape: tuple[int, ...] = (1,),
    dtype: str = "int32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _rdiv_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _rminus_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _rmod_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _rpower_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_multinomial(
    data: NDArray,
    shape: tuple[int, ...] = (),
    get_prob: bool = False,
    dtype: str = "int32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _scatter_elemwise_div(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _scatter_minus_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _scatter_plus_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _shuffle(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _sparse_retain(
    data: NDArray,
    indices: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _square_sum(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _zeros(
    shape: tuple[int, ...],
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
