# Written by tools/stubs.py; do not edit.
# ruff: noqa: I001

from typing import Any, Literal

from rarefy.sym import _Div as _Div
from rarefy.sym import _Minus as _Minus
from rarefy.sym import _Mul as _Mul
from rarefy.sym import _Plus as _Plus
from rarefy.sym import _add as _add
from rarefy.sym import _copy as _copy
from rarefy.sym import _div as _div
from rarefy.sym import _grad_add as _grad_add
from rarefy.sym import _linalg_det as _linalg_det
from rarefy.sym import _linalg_extractdiag as _linalg_extractdiag
from rarefy.sym import _linalg_extracttrian as _linalg_extracttrian
from rarefy.sym import _linalg_gelqf as _linalg_gelqf
from rarefy.sym import _linalg_gemm as _linalg_gemm
from rarefy.sym import _linalg_gemm2 as _linalg_gemm2
from rarefy.sym import _linalg_inverse as _linalg_inverse
from rarefy.sym import _linalg_makediag as _linalg_makediag
from rarefy.sym import _linalg_maketrian as _linalg_maketrian
from rarefy.sym import _linalg_potrf as _linalg_potrf
from rarefy.sym import _linalg_potri as _linalg_potri
from rarefy.sym import _linalg_slogdet as _linalg_slogdet
from rarefy.sym import _linalg_sumlogdiag as _linalg_sumlogdiag
from rarefy.sym import _linalg_syevd as _linalg_syevd
from rarefy.sym import _linalg_syrk as _linalg_syrk
from rarefy.sym import _linalg_trmm as _linalg_trmm
from rarefy.sym import _linalg_trsm as _linalg_trsm
from rarefy.sym import _minus as _minus
from rarefy.sym import _mul as _mul
from rarefy.sym import _np_negative as _np_negative
from rarefy.sym import _plus as _plus
from rarefy.sym import _random_exponential as _random_exponential
from rarefy.sym import _random_gamma as _random_gamma
from rarefy.sym import (
    _random_generalized_negative_binomial as _random_generalized_negative_binomial,
)
from rarefy.sym import _random_negative_binomial as _random_negative_binomial
from rarefy.sym import _random_normal as _random_normal
from rarefy.sym import _random_pdf_dirichlet as _random_pdf_dirichlet
from rarefy.sym import _random_pdf_exponential as _random_pdf_exponential
from rarefy.sym import _random_pdf_gamma as _random_pdf_gamma
from rarefy.sym import (
    _random_pdf_generalized_negative_binomial as _random_pdf_generalized_negative_binomial,
)
from rarefy.sym import _random_pdf_negative_binomial as _random_pdf_negative_binomial
from rarefy.sym import _random_pdf_normal as _random_pdf_normal
from rarefy.sym import _random_pdf_poisson as _random_pdf_poisson
from rarefy.sym import _random_pdf_uniform as _random_pdf_uniform
from rarefy.sym import _random_poisson as _random_poisson
from rarefy.sym import _random_randint as _random_randint
from rarefy.sym import _random_uniform as _random_uniform
from rarefy.sym import _ravel_multi_index as _ravel_multi_index
from rarefy.sym import _sample_exponential as _sample_exponential
from rarefy.sym import _sample_gamma as _sample_gamma
from rarefy.sym import (
    _sample_generalized_negative_binomial as _sample_generalized_negative_binomial,
)
from rarefy.sym import _sample_multinomial as _sample_multinomial
from rarefy.sym import _sample_negative_binomial as _sample_negative_binomial
from rarefy.sym import _sample_normal as _sample_normal
from rarefy.sym import _sample_poisson as _sample_poisson
from rarefy.sym import _sample_uniform as _sample_uniform
from rarefy.sym import _shuffle as _shuffle
from rarefy.sym import _sparse_adagrad_update as _sparse_adagrad_update
from rarefy.sym import _sparse_retain as _sparse_retain
from rarefy.sym import _sub as _sub
from rarefy.sym import _unravel_index as _unravel_index
from rarefy.sym._symbol import Symbol

def _DivScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _EqualScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _GreaterEqualScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _GreaterScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Greater_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _HypotScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _LesserEqualScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _LesserScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Lesser_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _LogicalAndScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _LogicalOrScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _LogicalXorScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Logical_And(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Logical_Or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Logical_Xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _MaximumScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _MinimumScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _MinusScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _ModScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _MulScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _NotEqualScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Not_Equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _PlusScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _PowerScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _RDivScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _RMinusScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _RModScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _RPowerScalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _adadelta_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    acc_g: Symbol | None = None,
    acc_delta: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    rho: float = ...,
    epsilon: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _adamax_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    largest: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    beta1: float = ...,
    beta2: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _adamw_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    rescale_grad: float = ...,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _astype(
    data: Symbol | None = None,
    dtype: str = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_SparseEmbedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: str = "float32",
    sparse_grad: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_allclose(
    a: Symbol | None = None,
    b: Symbol | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_arange_like(
    data: Symbol | None = None,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_boolean_mask(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_div_sqrt_dim(
    data: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_edge_id(
    data: Symbol | None = None,
    u: Symbol | None = None,
    v: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_getnnz(
    data: Symbol | None = None,
    axis: Literal[0, 1] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_gradientmultiplier(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_group_adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 1e-05,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_index_array(
    data: Symbol | None = None,
    axes: tuple[int, ...] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_index_copy(
    old_tensor: Symbol | None = None,
    index_vector: Symbol | None = None,
    new_tensor: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_quadratic(
    data: Symbol | None = None,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_round_ste(
    data: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _contrib_sign_ste(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _copy_rows(
    weight: Symbol | None = None,
    source: Symbol | None = None,
    grad: Symbol | None = None,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _crop_assign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _crop_assign_scalar(
    data: Symbol | None = None,
    scalar: float = 0.0,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _dcasgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    previous: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    lamda: float = ...,
    momentum: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _dcasgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    previous: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    lamda: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _div_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _equal_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _ftrl_warm_start(
    weight: Symbol | None = None,
    lr: float = ...,
    lamda1: float = ...,
    beta: float = ...,
    wd: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _full(
    shape: tuple[int, ...],
    value: float,
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _greater_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _greater_equal_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _greater_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _histogram(
    data: Symbol | None = None,
    bins: Symbol | None = None,
    bin_cnt: int | None = None,
    range: tuple[float, float] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _hypot_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _identity_with_attr_like_rhs(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _index(*arrays: Any, spec: tuple, name: Any = None, **kwargs: Any) -> Symbol: ...
def _lamb_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    t: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _lesser_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _lesser_equal_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _lesser_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_and(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_and_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_or_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _logical_xor_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _maximum_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _minimum_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _minus_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mod_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mp_adamw_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    weight32: Symbol | None = None,
    rescale_grad: float = ...,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    eta: float = ...,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mp_lamb_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    t: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    bias_correction: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mul_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
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
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
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
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
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
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
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
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _nadam_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    beta1: float = ...,
    beta2: float = ...,
    epsilon: float = ...,
    of_grad: float = ...,
    of_mean: float = ...,
    rest2: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _not_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _not_equal_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _ones(
    shape: tuple[int, ...],
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _plus_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _power_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_exponential_like(
    data: Symbol | None = None,
    lam: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_gamma_like(
    data: Symbol | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_generalized_negative_binomial_like(
    data: Symbol | None = None,
    mu: float = 1.0,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_negative_binomial_like(
    data: Symbol | None = None,
    k: float = 1.0,
    p: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_normal_like(
    data: Symbol | None = None,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_poisson_like(
    data: Symbol | None = None,
    lam: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_uniform_like(
    data: Symbol | None = None,
    low: float = 0.0,
    high: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _rdiv_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _rminus_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _rmod_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _rpower_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _scatter_elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _scatter_minus_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _scatter_plus_scalar(
    data: Symbol | None = None,
    scalar: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _scatter_set_nd(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    indices: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sgld_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _slice_assign(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _slice_assign_scalar(
    data: Symbol | None = None,
    scalar: float = 0.0,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _split_v2(
    data: Symbol | None = None,
    indices: tuple[int, ...] = (),
    axis: int = 1,
    squeeze_axis: bool = False,
    sections: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _square_sum(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _test_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    copy: Symbol | None = None,
    lr: float = ...,
    wd: float = ...,
    rescale_grad: float = ...,
    clip_gradient: float = ...,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _zeros(
    shape: tuple[int, ...],
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
