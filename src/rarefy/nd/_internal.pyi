# Written by tools/stubs.py; do not edit.
# ruff: noqa: I001

from typing import Any, Literal

from rarefy.nd import _Div as _Div
from rarefy.nd import _Minus as _Minus
from rarefy.nd import _Mul as _Mul
from rarefy.nd import _Plus as _Plus
from rarefy.nd import _add as _add
from rarefy.nd import _copy as _copy
from rarefy.nd import _div as _div
from rarefy.nd import _grad_add as _grad_add
from rarefy.nd import _linalg_det as _linalg_det
from rarefy.nd import _linalg_extractdiag as _linalg_extractdiag
from rarefy.nd import _linalg_extracttrian as _linalg_extracttrian
from rarefy.nd import _linalg_gelqf as _linalg_gelqf
from rarefy.nd import _linalg_gemm as _linalg_gemm
from rarefy.nd import _linalg_gemm2 as _linalg_gemm2
from rarefy.nd import _linalg_inverse as _linalg_inverse
from rarefy.nd import _linalg_makediag as _linalg_makediag
from rarefy.nd import _linalg_maketrian as _linalg_maketrian
from rarefy.nd import _linalg_potrf as _linalg_potrf
from rarefy.nd import _linalg_potri as _linalg_potri
from rarefy.nd import _linalg_slogdet as _linalg_slogdet
from rarefy.nd import _linalg_sumlogdiag as _linalg_sumlogdiag
from rarefy.nd import _linalg_syevd as _linalg_syevd
from rarefy.nd import _linalg_syrk as _linalg_syrk
from rarefy.nd import _linalg_trmm as _linalg_trmm
from rarefy.nd import _linalg_trsm as _linalg_trsm
from rarefy.nd import _minus as _minus
from rarefy.nd import _mul as _mul
from rarefy.nd import _np_negative as _np_negative
from rarefy.nd import _plus as _plus
from rarefy.nd import _random_exponential as _random_exponential
from rarefy.nd import _random_gamma as _random_gamma
from rarefy.nd import _random_generalized_negative_binomial as _random_generalized_negative_binomial
from rarefy.nd import _random_negative_binomial as _random_negative_binomial
from rarefy.nd import _random_normal as _random_normal
from rarefy.nd import _random_pdf_dirichlet as _random_pdf_dirichlet
from rarefy.nd import _random_pdf_exponential as _random_pdf_exponential
from rarefy.nd import _random_pdf_gamma as _random_pdf_gamma
from rarefy.nd import (
    _random_pdf_generalized_negative_binomial as _random_pdf_generalized_negative_binomial,
)
from rarefy.nd import _random_pdf_negative_binomial as _random_pdf_negative_binomial
from rarefy.nd import _random_pdf_normal as _random_pdf_normal
from rarefy.nd import _random_pdf_poisson as _random_pdf_poisson
from rarefy.nd import _random_pdf_uniform as _random_pdf_uniform
from rarefy.nd import _random_poisson as _random_poisson
from rarefy.nd import _random_randint as _random_randint
from rarefy.nd import _random_uniform as _random_uniform
from rarefy.nd import _ravel_multi_index as _ravel_multi_index
from rarefy.nd import _sample_exponential as _sample_exponential
from rarefy.nd import _sample_gamma as _sample_gamma
from rarefy.nd import _sample_generalized_negative_binomial as _sample_generalized_negative_binomial
from rarefy.nd import _sample_multinomial as _sample_multinomial
from rarefy.nd import _sample_negative_binomial as _sample_negative_binomial
from rarefy.nd import _sample_normal as _sample_normal
from rarefy.nd import _sample_poisson as _sample_poisson
from rarefy.nd import _sample_uniform as _sample_uniform
from rarefy.nd import _shuffle as _shuffle
from rarefy.nd import _sparse_adagrad_update as _sparse_adagrad_update
from rarefy.nd import _sparse_retain as _sparse_retain
from rarefy.nd import _sub as _sub
from rarefy.nd import _unravel_index as _unravel_index
from rarefy.nd._ndarray import NDArray

def _DivScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _EqualScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _GreaterEqualScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _GreaterScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Greater_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Hypot(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _HypotScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Lesser(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _LesserEqualScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _LesserScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Lesser_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _LogicalAndScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _LogicalOrScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _LogicalXorScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Logical_And(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Logical_Or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Logical_Xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _MaximumScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _MinimumScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _MinusScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _ModScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _MulScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _NotEqualScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Not_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _PlusScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _PowerScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _RDivScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _RMinusScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _RModScalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _RPowerScalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _adadelta_update(
    weight: NDArray,
    grad: NDArray,
    acc_g: NDArray,
    acc_delta: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    rho: float,
    epsilon: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _adamax_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    largest: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    beta1: float,
    beta2: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    rescale_grad: float,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _astype(data: NDArray, dtype: str, *, out: Any = None, name: Any = None) -> NDArray: ...
def _contrib_SparseEmbedding(
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
def _contrib_allclose(
    a: NDArray,
    b: NDArray,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_arange_like(
    data: NDArray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_div_sqrt_dim(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _contrib_edge_id(
    data: NDArray,
    u: NDArray,
    v: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_getnnz(
    data: NDArray,
    axis: Literal[0, 1] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_gradientmultiplier(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_group_adagrad_update(
    weight: NDArray,
    grad: NDArray,
    history: NDArray,
    lr: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 1e-05,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_index_array(
    data: NDArray,
    axes: tuple[int, ...] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_quadratic(
    data: NDArray,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _contrib_round_ste(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _contrib_sign_ste(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _copy_rows(
    weight: NDArray,
    source: NDArray,
    grad: NDArray,
    lazy_update: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _crop_assign(
    lhs: NDArray,
    rhs: NDArray,
    begin: tuple,
    end: tuple,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _crop_assign_scalar(
    data: NDArray,
    scalar: float = 0.0,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _dcasgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    previous: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    lamda: float,
    momentum: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _dcasgd_update(
    weight: NDArray,
    grad: NDArray,
    previous: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    lamda: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
    ctx: Any = None,
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
    ctx: Any = None,
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
def _histogram(
    data: NDArray,
    bins: NDArray | None = None,
    bin_cnt: int | None = None,
    range: tuple[float, float] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> list[NDArray]: ...
def _hypot(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _hypot_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _identity_with_attr_like_rhs(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _index(*arrays: Any, spec: tuple, out: Any = None, name: Any = None) -> NDArray: ...
def _lamb_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float,
    wd: float,
    t: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
    ctx: Any = None,
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
def _maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _maximum_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _minimum_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _minus_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mod_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mp_adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    rescale_grad: float,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _mp_lamb_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    lr: float,
    wd: float,
    t: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _mul_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _multi_adamw_update(
    *data: Any,
    rescale_grad: float,
    lrs: tuple[float, ...],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: tuple[float, ...],
    etas: tuple[float, ...],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def _multi_lamb_update(
    *data: Any,
    learning_rates: tuple[float, ...],
    wds: tuple[float, ...],
    step_count: tuple[float, ...],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    num_tensors: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def _multi_mp_adamw_update(
    *data: Any,
    rescale_grad: float,
    lrs: tuple[float, ...],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wds: tuple[float, ...],
    etas: tuple[float, ...],
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def _multi_mp_lamb_update(
    *data: Any,
    learning_rates: tuple[float, ...],
    wds: tuple[float, ...],
    step_count: tuple[float, ...],
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    num_tensors: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def _nadam_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    of_grad: float,
    of_mean: float,
    rest2: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _not_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _not_equal_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _ones(
    shape: tuple[int, ...],
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _plus_scalar(data: NDArray, scalar: float, *, out: Any = None, name: Any = None) -> NDArray: ...
def _power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _power_scalar(
    data: NDArray,
    scalar: float,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_exponential_like(
    data: NDArray,
    lam: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_gamma_like(
    data: NDArray,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_generalized_negative_binomial_like(
    data: NDArray,
    mu: float = 1.0,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_negative_binomial_like(
    data: NDArray,
    k: float = 1.0,
    p: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_normal_like(
    data: NDArray,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_poisson_like(
    data: NDArray,
    lam: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_uniform_like(
    data: NDArray,
    low: float = 0.0,
    high: float = 1.0,
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
def _scatter_set_nd(
    lhs: NDArray,
    rhs: NDArray,
    indices: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sgld_update(
    weight: NDArray,
    grad: NDArray,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _slice_assign(
    lhs: NDArray,
    rhs: NDArray,
    begin: tuple,
    end: tuple,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _slice_assign_scalar(
    data: NDArray,
    scalar: float = 0.0,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _split_v2(
    data: NDArray,
    indices: tuple[int, ...] = (),
    axis: int = 1,
    squeeze_axis: bool = False,
    sections: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def _square_sum(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _test_update(
    weight: NDArray,
    grad: NDArray,
    copy: NDArray,
    lr: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    lazy_update: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _zeros(
    shape: tuple[int, ...],
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
