# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.sym import _internal as _internal
from rarefy.sym import contrib as contrib
from rarefy.sym import linalg as linalg
from rarefy.sym import op as op
from rarefy.sym import random as random
from rarefy.sym import sparse as sparse
from rarefy.sym._create import Custom as Custom
from rarefy.sym._create import Group as Group
from rarefy.sym._create import Variable as Variable
from rarefy.sym._create import arange as arange
from rarefy.sym._create import eye as eye
from rarefy.sym._create import fromjson as fromjson
from rarefy.sym._create import full as full
from rarefy.sym._create import histogram as histogram
from rarefy.sym._create import hypot as hypot
from rarefy.sym._create import linspace as linspace
from rarefy.sym._create import load as load
from rarefy.sym._create import load_json as load_json
from rarefy.sym._create import maximum as maximum
from rarefy.sym._create import minimum as minimum
from rarefy.sym._create import ones as ones
from rarefy.sym._create import pow as pow
from rarefy.sym._create import power as power
from rarefy.sym._create import var as var
from rarefy.sym._create import zeros as zeros
from rarefy.sym._symbol import Symbol as Symbol
from rarefy.sym._symbol import split_v2 as split_v2

def Activation(
    data: Symbol | None = None,
    act_type: Literal[
        "relu", "sigmoid", "tanh", "softrelu", "softsign", "log_sigmoid", "mish"
    ] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def BatchNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    moving_mean: Symbol | None = None,
    moving_var: Symbol | None = None,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def BlockGrad(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def Cast(
    data: Symbol | None = None,
    dtype: str = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def Concat(*data: Any, dim: int = 1, name: Any = None, **kwargs: Any) -> Symbol: ...
def Dropout(
    data: Symbol | None = None,
    p: float = 0.5,
    mode: Literal["training", "always"] = "training",
    axes: tuple[int, ...] = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def ElementWiseSum(*args: Any, name: Any = None, **kwargs: Any) -> Symbol: ...
def Embedding(
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
def Flatten(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def FullyConnected(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool = False,
    flatten: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def GroupNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    num_groups: int = 1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def IdentityAttachKLSparseReg(
    data: Symbol | None = None,
    moving_avg: Symbol | None = None,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def InstanceNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    eps: float = 0.001,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def L2Normalization(
    data: Symbol | None = None,
    eps: float = 1e-10,
    mode: Literal["instance", "channel", "spatial"] = "instance",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def LRN(
    data: Symbol | None = None,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def LayerNorm(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    beta: Symbol | None = None,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def LeakyReLU(
    data: Symbol | None = None,
    gamma: Symbol | None = None,
    act_type: Literal["leaky", "elu", "selu", "gelu", "prelu", "rrelu"] = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def LinearRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def LogisticRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def MAERegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def MakeLoss(
    data: Symbol | None = None,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["null", "batch", "valid"] = "null",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def Pad(
    data: Symbol | None = None,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: tuple[int, ...] = ...,
    constant_value: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def Reshape(
    data: Symbol | None = None,
    shape: tuple[int, ...] = (),
    reverse: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SVMOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SequenceLast(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SequenceMask(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SequenceReverse(
    data: Symbol | None = None,
    sequence_length: Symbol | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SliceChannel(
    data: Symbol | None = None,
    num_outputs: int = ...,
    axis: int = 1,
    squeeze_axis: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def Softmax(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["null", "batch", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SoftmaxActivation(
    data: Symbol | None = None,
    mode: Literal["instance", "channel"] = "instance",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SoftmaxOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["null", "batch", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def SwapAxis(
    data: Symbol | None = None,
    dim1: int = 0,
    dim2: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _Plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _copy(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _grad_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_det(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_gelqf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_gemm(
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
def _linalg_gemm2(
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
def _linalg_inverse(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_potrf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_potri(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_slogdet(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_sumlogdiag(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_syevd(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _linalg_syrk(
    A: Symbol | None = None,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _linalg_trmm(
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
def _linalg_trsm(
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
def _minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _np_negative(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_exponential(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_negative_binomial(
    k: float = 1.0,
    p: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_dirichlet(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_exponential(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_gamma(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_negative_binomial(
    sample: Symbol | None = None,
    k: Symbol | None = None,
    p: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_normal(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_poisson(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_pdf_uniform(
    sample: Symbol | None = None,
    low: Symbol | None = None,
    high: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_poisson(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_randint(
    low: int,
    high: int,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "int32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _ravel_multi_index(
    data: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_exponential(
    lam: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_gamma(
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_generalized_negative_binomial(
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_multinomial(
    data: Symbol | None = None,
    shape: tuple[int, ...] = (),
    get_prob: bool = False,
    dtype: str = "int32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_negative_binomial(
    k: Symbol | None = None,
    p: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_normal(
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_poisson(
    lam: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sample_uniform(
    low: Symbol | None = None,
    high: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _shuffle(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def _sparse_adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sparse_retain(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def _unravel_index(
    data: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def abs(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def adam_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def add_n(*args: Any, name: Any = None, **kwargs: Any) -> Symbol: ...
def all_finite(
    data: Symbol | None = None,
    init_output: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def amp_cast(
    data: Symbol | None = None,
    dtype: str = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def amp_multicast(
    *data: Any,
    num_outputs: int,
    cast_narrow: bool = False,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def arccos(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def arccosh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def arcsin(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def arcsinh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def arctan(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def arctanh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def argmax(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def argmax_channel(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def argmin(
    data: Symbol | None = None,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def argsort(
    data: Symbol | None = None,
    axis: int | None = -1,
    is_ascend: bool = True,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def batch_dot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["default", "csr", "row_sparse"] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def batch_take(
    a: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_axes(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] = (),
    size: int | tuple[int, ...] = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_axis(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] = (),
    size: int | tuple[int, ...] = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_greater(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_greater_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_hypot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_lesser(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_lesser_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_like(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_axes: tuple[int, ...] | None = None,
    rhs_axes: tuple[int, ...] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_logical_and(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_logical_or(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_logical_xor(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_maximum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_minimum(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_mod(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_not_equal(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_power(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def broadcast_to(
    data: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def cast(
    data: Symbol | None = None,
    dtype: str = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def cast_storage(
    data: Symbol | None = None,
    stype: Literal["default", "csr", "row_sparse"] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def cbrt(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def ceil(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def choose_element_0index(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def clip(
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def concat(*data: Any, dim: int = 1, name: Any = None, **kwargs: Any) -> Symbol: ...
def cos(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def cosh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def crop(
    data: Symbol | None = None,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def cumsum(
    a: Symbol | None = None,
    axis: int | None = None,
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def degrees(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def depth_to_space(
    data: Symbol | None = None,
    block_size: int = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def diag(
    data: Symbol | None = None,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def dot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["default", "csr", "row_sparse"] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def elemwise_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def elemwise_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def elemwise_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def embedding_bag(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    mode: Literal["sum", "mean", "max"] = "sum",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def embedding_bag_of_ids(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    offsets: Symbol | None = None,
    per_sample_weights: Symbol | None = None,
    mode: Literal["sum", "mean", "max"] = "sum",
    padding_idx: int = -1,
    include_last_offset: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def erf(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def erfinv(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def exp(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def expand_dims(
    data: Symbol | None = None,
    axis: int = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def expm1(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def factorization_machine(
    data: Symbol | None = None,
    v: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def field_aware_factorization_machine(
    data: Symbol | None = None,
    v: Symbol | None = None,
    fields: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def field_embedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    fields: Symbol | None = None,
    n_fields: int = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def fill_element_0index(
    lhs: Symbol | None = None,
    mhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def fix(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def flatten(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def flip(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def floor(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def ftml_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    d: Symbol | None = None,
    v: Symbol | None = None,
    z: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.6,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    t: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def ftrl_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    z: Symbol | None = None,
    n: Symbol | None = None,
    lr: float = ...,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def gamma(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def gammaln(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def gather_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def gs_retain(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def hard_sigmoid(
    data: Symbol | None = None,
    alpha: float = 0.2,
    beta: float = 0.5,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def identity(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def khatri_rao(*args: Any, name: Any = None, **kwargs: Any) -> Symbol: ...
def lamb_update_phase1(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: float = ...,
    bias_correction: bool = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def lamb_update_phase2(
    weight: Symbol | None = None,
    g: Symbol | None = None,
    r1: Symbol | None = None,
    r2: Symbol | None = None,
    lr: float = ...,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_det(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_gelqf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_gemm(
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
def linalg_gemm2(
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
def linalg_inverse(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_potrf(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_potri(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_slogdet(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_sumlogdiag(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_syevd(A: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def linalg_syrk(
    A: Symbol | None = None,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def linalg_trmm(
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
def linalg_trsm(
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
def log(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def log10(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def log1p(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def log2(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def log_softmax(
    data: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def logical_not(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def make_loss(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def max(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def max_axis(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mean(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def min(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def min_axis(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def moments(
    data: Symbol | None = None,
    axes: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mp_lamb_update_phase1(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    weight32: Symbol | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: float = ...,
    bias_correction: bool = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mp_lamb_update_phase2(
    weight: Symbol | None = None,
    g: Symbol | None = None,
    r1: Symbol | None = None,
    r2: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mp_nag_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mp_sgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def mp_sgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    weight32: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_all_finite(
    *data: Any,
    num_arrays: int = 1,
    init_output: bool = True,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_lars(
    lrs: Symbol | None = None,
    weights_sum_sq: Symbol | None = None,
    grads_sum_sq: Symbol | None = None,
    wds: Symbol | None = None,
    eta: float = ...,
    eps: float = ...,
    rescale_grad: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_mp_sgd_mom_update(
    *data: Any,
    lrs: tuple[float, ...],
    momentum: float = 0.0,
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_mp_sgd_update(
    *data: Any,
    lrs: tuple[float, ...],
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_sgd_mom_update(
    *data: Any,
    lrs: tuple[float, ...],
    momentum: float = 0.0,
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_sgd_update(
    *data: Any,
    lrs: tuple[float, ...],
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def multi_sum_sq(*data: Any, num_arrays: int, name: Any = None, **kwargs: Any) -> Symbol: ...
def nag_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def nanprod(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def nansum(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def negative(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def norm(
    data: Symbol | None = None,
    ord: int = 2,
    axis: int | tuple[int, ...] | None = None,
    out_dtype: str | None = None,
    keepdims: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def one_hot(
    indices: Symbol | None = None,
    depth: int = ...,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def ones_like(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def pad(
    data: Symbol | None = None,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: tuple[int, ...] = ...,
    constant_value: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def pick(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def preloaded_multi_mp_sgd_mom_update(
    *data: Any,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def preloaded_multi_mp_sgd_update(
    *data: Any,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def preloaded_multi_sgd_mom_update(
    *data: Any,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def preloaded_multi_sgd_update(
    *data: Any,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def prod(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def radians(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def random_exponential(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_negative_binomial(
    k: float = 1.0,
    p: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_dirichlet(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_exponential(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_gamma(
    sample: Symbol | None = None,
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_generalized_negative_binomial(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_negative_binomial(
    sample: Symbol | None = None,
    k: Symbol | None = None,
    p: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_normal(
    sample: Symbol | None = None,
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_poisson(
    sample: Symbol | None = None,
    lam: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_pdf_uniform(
    sample: Symbol | None = None,
    low: Symbol | None = None,
    high: Symbol | None = None,
    is_log: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_poisson(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_randint(
    low: int,
    high: int,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "int32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def ravel_multi_index(
    data: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def rcbrt(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def reciprocal(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def relu(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def repeat(
    data: Symbol | None = None,
    repeats: int = ...,
    axis: int | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def reshape(
    data: Symbol | None = None,
    shape: tuple[int, ...] = (),
    reverse: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def reshape_like(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def retain(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def reverse(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def rint(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def rmsprop_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    n: Symbol | None = None,
    lr: float = ...,
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def rmspropalex_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    n: Symbol | None = None,
    g: Symbol | None = None,
    delta: Symbol | None = None,
    lr: float = ...,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def round(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def rsqrt(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sample_exponential(
    lam: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_gamma(
    alpha: Symbol | None = None,
    beta: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_generalized_negative_binomial(
    mu: Symbol | None = None,
    alpha: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_multinomial(
    data: Symbol | None = None,
    shape: tuple[int, ...] = (),
    get_prob: bool = False,
    dtype: str = "int32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_negative_binomial(
    k: Symbol | None = None,
    p: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_normal(
    mu: Symbol | None = None,
    sigma: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_poisson(
    lam: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sample_uniform(
    low: Symbol | None = None,
    high: Symbol | None = None,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def scatter_nd(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def shape_array(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def shuffle(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sigmoid(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sign(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def signsgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def signum_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    lazy_update: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sin(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sinh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def size_array(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def slice(
    data: Symbol | None = None,
    begin: tuple = ...,
    end: tuple = ...,
    step: tuple = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def slice_axis(
    data: Symbol | None = None,
    axis: int = ...,
    begin: int = ...,
    end: int | None = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def slice_like(
    data: Symbol | None = None,
    shape_like: Symbol | None = None,
    axes: tuple[int, ...] = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def smooth_l1(
    data: Symbol | None = None,
    scalar: float = 1.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def softmax(
    data: Symbol | None = None,
    length: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def softmax_cross_entropy(
    data: Symbol | None = None,
    label: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def softmin(
    data: Symbol | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def softsign(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sort(
    data: Symbol | None = None,
    axis: int | None = -1,
    is_ascend: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def space_to_depth(
    data: Symbol | None = None,
    block_size: int = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def split(
    data: Symbol | None = None,
    num_outputs: int = ...,
    axis: int = 1,
    squeeze_axis: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sqrt(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def square(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def squeeze(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def stack(*data: Any, axis: int = 0, name: Any = None, **kwargs: Any) -> Symbol: ...
def stop_gradient(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sum(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def sum_axis(
    data: Symbol | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def swapaxes(
    data: Symbol | None = None,
    dim1: int = 0,
    dim2: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def take(
    a: Symbol | None = None,
    indices: Symbol | None = None,
    axis: int = 0,
    mode: Literal["clip", "wrap", "raise"] = "clip",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def tan(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def tanh(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def tile(
    data: Symbol | None = None,
    reps: int | tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def topk(
    data: Symbol | None = None,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["indices", "value", "both", "mask"] = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def transpose(
    data: Symbol | None = None,
    axes: tuple[int, ...] = (),
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def trunc(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def unravel_index(
    data: Symbol | None = None,
    shape: tuple[int, ...] = ...,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def where(
    condition: Symbol | None = None,
    x: Symbol | None = None,
    y: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def zeros_like(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
