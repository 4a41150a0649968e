# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.nd._create_sparse import ArrayFormatError as ArrayFormatError
from rarefy.nd._create_sparse import array as array
from rarefy.nd._create_sparse import csr_matrix as csr_matrix
from rarefy.nd._create_sparse import empty as empty
from rarefy.nd._create_sparse import row_sparse_array as row_sparse_array
from rarefy.nd._create_sparse import zeros as zeros
from rarefy.nd._ndarray import NDArray
from rarefy.nd._sparse_array import BaseSparseNDArray as BaseSparseNDArray
from rarefy.nd._sparse_array import CSRNDArray as CSRNDArray
from rarefy.nd._sparse_array import RowSparseNDArray as RowSparseNDArray

def add(lhs, rhs) -> Any: ...
def subtract(lhs, rhs) -> Any: ...
def multiply(lhs, rhs) -> Any: ...
def divide(lhs, rhs) -> Any: ...
def elemwise_div(lhs, rhs) -> Any: ...
def BlockGrad(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def Concat(*data: Any, dim: int = 1, out: Any = None, name: Any = None) -> NDArray: ...
def ElementWiseSum(*args: Any, out: Any = None, name: Any = None) -> NDArray: ...
def Embedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: str = "float32",
    sparse_grad: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def FullyConnected(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    num_hidden: int = ...,
    no_bias: bool = False,
    flatten: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def LinearRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def LogisticRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def MAERegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _copy(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _grad_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _np_negative(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _sparse_adagrad_update(
    weight: NDArray,
    grad: NDArray,
    history: NDArray,
    lr: float,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sparse_retain(
    data: NDArray,
    indices: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def abs(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def adagrad_update(
    weight: NDArray,
    grad: NDArray,
    history: NDArray,
    lr: float,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def adam_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def add_n(*args: Any, out: Any = None, name: Any = None) -> NDArray: ...
def arccos(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arccosh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arcsin(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arcsinh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arctan(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arctanh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_hypot(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_maximum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_minimum(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_minus(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def cast_storage(
    data: NDArray,
    stype: Literal["default", "csr", "row_sparse"],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def cbrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def ceil(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def clip(
    data: NDArray,
    a_min: float,
    a_max: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def concat(*data: Any, dim: int = 1, out: Any = None, name: Any = None) -> NDArray: ...
def cos(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def cosh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def crop(
    data: NDArray,
    begin: tuple,
    end: tuple,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def degrees(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["default", "csr", "row_sparse"] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def elemwise_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def erf(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def erfinv(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def exp(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def expm1(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def factorization_machine(
    data: NDArray,
    v: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def fix(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def floor(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def ftml_update(
    weight: NDArray,
    grad: NDArray,
    d: NDArray,
    v: NDArray,
    z: NDArray,
    lr: float,
    beta1: float = 0.6,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    t: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def ftrl_update(
    weight: NDArray,
    grad: NDArray,
    z: NDArray,
    n: NDArray,
    lr: float,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def gamma(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def gammaln(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def gs_retain(data: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def identity(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log10(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log1p(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log2(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def logical_not(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def make_loss(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def max(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def max_axis(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def mean(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def min(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def min_axis(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def mp_nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def mp_sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def mp_sgd_update(
    weight: NDArray,
    grad: NDArray,
    weight32: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def negative(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def norm(
    data: NDArray,
    ord: int = 2,
    axis: int | tuple[int, ...] | None = None,
    out_dtype: str | None = None,
    keepdims: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def ones_like(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def radians(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def rcbrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def reciprocal(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def relu(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def retain(data: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def rint(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def rmsprop_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    lr: float,
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def rmspropalex_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    g: NDArray,
    delta: NDArray,
    lr: float,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def round(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def rsqrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sigmoid(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sign(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def signsgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def signum_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sin(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sinh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def slice(
    data: NDArray,
    begin: tuple,
    end: tuple,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def slice_axis(
    data: NDArray,
    axis: int,
    begin: int,
    end: int | None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def smooth_l1(
    data: NDArray,
    scalar: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def softsign(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sqrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def square(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def stop_gradient(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sum(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sum_axis(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def take(
    a: NDArray,
    indices: NDArray,
    axis: int = 0,
    mode: Literal["clip", "wrap", "raise"] = "clip",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def tan(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def tanh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def transpose(
    data: NDArray,
    axes: tuple[int, ...] = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def trunc(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def zeros_like(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
