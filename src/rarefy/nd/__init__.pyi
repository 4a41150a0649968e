# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.nd import _internal as _internal
from rarefy.nd import contrib as contrib
from rarefy.nd import linalg as linalg
from rarefy.nd import ndarray as ndarray
from rarefy.nd import op as op
from rarefy.nd import random as random
from rarefy.nd import sparse as sparse
from rarefy.nd._arithmetic import add as add
from rarefy.nd._arithmetic import divide as divide
from rarefy.nd._arithmetic import equal as equal
from rarefy.nd._arithmetic import greater as greater
from rarefy.nd._arithmetic import greater_equal as greater_equal
from rarefy.nd._arithmetic import lesser as lesser
from rarefy.nd._arithmetic import lesser_equal as lesser_equal
from rarefy.nd._arithmetic import logical_and as logical_and
from rarefy.nd._arithmetic import logical_or as logical_or
from rarefy.nd._arithmetic import logical_xor as logical_xor
from rarefy.nd._arithmetic import maximum as maximum
from rarefy.nd._arithmetic import minimum as minimum
from rarefy.nd._arithmetic import modulo as modulo
from rarefy.nd._arithmetic import multiply as multiply
from rarefy.nd._arithmetic import not_equal as not_equal
from rarefy.nd._arithmetic import power as power
from rarefy.nd._arithmetic import subtract as subtract
from rarefy.nd._arithmetic import true_divide as true_divide
from rarefy.nd._create import arange as arange
from rarefy.nd._create import array as array
from rarefy.nd._create import concatenate as concatenate
from rarefy.nd._create import empty as empty
from rarefy.nd._create import eye as eye
from rarefy.nd._create import full as full
from rarefy.nd._create import histogram as histogram
from rarefy.nd._create import linspace as linspace
from rarefy.nd._create import moveaxis as moveaxis
from rarefy.nd._create import onehot_encode as onehot_encode
from rarefy.nd._create import ones as ones
from rarefy.nd._create import split_v2 as split_v2
from rarefy.nd._create import waitall as waitall
from rarefy.nd._create import zeros as zeros
from rarefy.nd._custom import Custom as Custom
from rarefy.nd._file import load as load
from rarefy.nd._file import load_frombuffer as load_frombuffer
from rarefy.nd._file import save as save
from rarefy.nd._functions import reset_arrays as reset_arrays
from rarefy.nd._interchange import from_dlpack as from_dlpack
from rarefy.nd._interchange import from_numpy as from_numpy
from rarefy.nd._interchange import to_dlpack_for_read as to_dlpack_for_read
from rarefy.nd._interchange import to_dlpack_for_write as to_dlpack_for_write
from rarefy.nd._ndarray import NDArray as NDArray
from rarefy.nd._sparse_array import BaseSparseNDArray as BaseSparseNDArray
from rarefy.nd._sparse_array import CSRNDArray as CSRNDArray
from rarefy.nd._sparse_array import RowSparseNDArray as RowSparseNDArray

def Activation(
    data: NDArray,
    act_type: Literal["relu", "sigmoid", "tanh", "softrelu", "softsign", "log_sigmoid", "mish"],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def BatchNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
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
    out: Any = None,
    name: Any = None,
) -> Any: ...
def BlockGrad(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def Cast(data: NDArray, dtype: str, *, out: Any = None, name: Any = None) -> NDArray: ...
def Concat(*data: Any, dim: int = 1, out: Any = None, name: Any = None) -> NDArray: ...
def Dropout(
    data: NDArray,
    p: float = 0.5,
    mode: Literal["training", "always"] = "training",
    axes: tuple[int, ...] = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def Flatten(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
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
def GroupNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    num_groups: int = 1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def IdentityAttachKLSparseReg(
    data: NDArray,
    moving_avg: NDArray,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    *,
    out: Any = None,
    name: Any = None,
) -> list[NDArray]: ...
def InstanceNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 0.001,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def L2Normalization(
    data: NDArray,
    eps: float = 1e-10,
    mode: Literal["instance", "channel", "spatial"] = "instance",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def LRN(
    data: NDArray,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int = ...,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def LayerNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def LeakyReLU(
    data: NDArray,
    gamma: NDArray | None = None,
    act_type: Literal["leaky", "elu", "selu", "gelu", "prelu", "rrelu"] = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
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
def MakeLoss(
    data: NDArray,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Literal["null", "batch", "valid"] = "null",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def Pad(
    data: NDArray,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: tuple[int, ...] = ...,
    constant_value: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def Reshape(
    data: NDArray,
    shape: tuple[int, ...] = (),
    reverse: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SVMOutput(
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SequenceLast(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SequenceMask(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SequenceReverse(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SliceChannel(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def Softmax(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["null", "batch", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SoftmaxActivation(
    data: NDArray,
    mode: Literal["instance", "channel"] = "instance",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SoftmaxOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Literal["null", "batch", "valid"] = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def SwapAxis(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _Div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _Plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _copy(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _grad_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_det(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linalg_extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linalg_gelqf(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def _linalg_gemm(
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
def _linalg_gemm2(
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
def _linalg_inverse(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linalg_maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linalg_potrf(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_potri(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_slogdet(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def _linalg_sumlogdiag(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _linalg_syevd(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def _linalg_syrk(
    A: NDArray,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _linalg_trmm(
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
def _linalg_trsm(
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
def _minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _np_negative(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def _random_exponential(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_negative_binomial(
    k: float = 1.0,
    p: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_dirichlet(
    sample: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_exponential(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_gamma(
    sample: NDArray,
    alpha: NDArray,
    beta: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_generalized_negative_binomial(
    sample: NDArray,
    mu: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_negative_binomial(
    sample: NDArray,
    k: NDArray,
    p: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_normal(
    sample: NDArray,
    mu: NDArray,
    sigma: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_poisson(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_pdf_uniform(
    sample: NDArray,
    low: NDArray,
    high: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_poisson(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_randint(
    low: int,
    high: int,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "int32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _ravel_multi_index(
    data: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_exponential(
    lam: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
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
) -> Any: ...
def _sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_poisson(
    lam: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def _shuffle(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
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
def _unravel_index(
    data: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def all_finite(
    data: NDArray,
    init_output: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def amp_cast(data: NDArray, dtype: str, *, out: Any = None, name: Any = None) -> NDArray: ...
def amp_multicast(
    *data: Any,
    num_outputs: int,
    cast_narrow: bool = False,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def arccos(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arccosh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arcsin(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arcsinh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arctan(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def arctanh(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def argmax(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def argmax_channel(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def argmin(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def argsort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool = True,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def batch_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["default", "csr", "row_sparse"] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def batch_take(a: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_axes(
    data: NDArray,
    axis: int | tuple[int, ...] = (),
    size: int | tuple[int, ...] = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_axis(
    data: NDArray,
    axis: int | tuple[int, ...] = (),
    size: int | tuple[int, ...] = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_greater(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_greater_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_hypot(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_lesser(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_lesser_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_axes: tuple[int, ...] | None = None,
    rhs_axes: tuple[int, ...] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_logical_and(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_logical_or(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_logical_xor(
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
def broadcast_mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_not_equal(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_power(
    lhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def broadcast_to(
    data: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def cast(data: NDArray, dtype: str, *, out: Any = None, name: Any = None) -> NDArray: ...
def cast_storage(
    data: NDArray,
    stype: Literal["default", "csr", "row_sparse"],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def cbrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def ceil(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def choose_element_0index(
    data: NDArray,
    index: NDArray,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def cumsum(
    a: NDArray,
    axis: int | None = None,
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def degrees(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def depth_to_space(
    data: NDArray,
    block_size: int,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def diag(
    data: NDArray,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def elemwise_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def embedding_bag(
    data: NDArray,
    weight: NDArray,
    mode: Literal["sum", "mean", "max"] = "sum",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def embedding_bag_of_ids(
    data: NDArray,
    weight: NDArray,
    offsets: NDArray | None = None,
    per_sample_weights: NDArray | None = None,
    mode: Literal["sum", "mean", "max"] = "sum",
    padding_idx: int = -1,
    include_last_offset: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def erf(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def erfinv(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def exp(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def expand_dims(data: NDArray, axis: int, *, out: Any = None, name: Any = None) -> NDArray: ...
def expm1(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def factorization_machine(
    data: NDArray,
    v: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def field_aware_factorization_machine(
    data: NDArray,
    v: NDArray,
    fields: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def field_embedding(
    data: NDArray,
    weight: NDArray,
    fields: NDArray,
    n_fields: int,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def fill_element_0index(
    lhs: NDArray,
    mhs: NDArray,
    rhs: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def fix(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def flatten(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def flip(
    data: NDArray,
    axis: int | tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def gather_nd(data: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def gs_retain(data: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def hard_sigmoid(
    data: NDArray,
    alpha: float = 0.2,
    beta: float = 0.5,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def identity(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def khatri_rao(*args: Any, out: Any = None, name: Any = None) -> NDArray: ...
def lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: float = ...,
    bias_correction: bool = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    lr: float,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_det(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def linalg_extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_gelqf(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def linalg_gemm(
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
def linalg_gemm2(
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
def linalg_inverse(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def linalg_makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_potrf(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def linalg_potri(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def linalg_slogdet(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def linalg_sumlogdiag(A: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def linalg_syevd(A: NDArray, *, out: Any = None, name: Any = None) -> list[NDArray]: ...
def linalg_syrk(
    A: NDArray,
    transpose: bool = False,
    alpha: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def linalg_trmm(
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
def linalg_trsm(
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
def log(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log10(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log1p(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log2(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def log_softmax(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def moments(
    data: NDArray,
    axes: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> list[NDArray]: ...
def mp_lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: float = ...,
    bias_correction: bool = True,
    wd: float = ...,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def mp_lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    weight32: NDArray,
    lr: float,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
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
def multi_all_finite(
    *data: Any,
    num_arrays: int = 1,
    init_output: bool = True,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def multi_lars(
    lrs: NDArray,
    weights_sum_sq: NDArray,
    grads_sum_sq: NDArray,
    wds: NDArray,
    eta: float,
    eps: float,
    rescale_grad: float = 1.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def multi_mp_sgd_mom_update(
    *data: Any,
    lrs: tuple[float, ...],
    momentum: float = 0.0,
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def multi_mp_sgd_update(
    *data: Any,
    lrs: tuple[float, ...],
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def multi_sgd_mom_update(
    *data: Any,
    lrs: tuple[float, ...],
    momentum: float = 0.0,
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def multi_sgd_update(
    *data: Any,
    lrs: tuple[float, ...],
    wds: tuple[float, ...],
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def multi_sum_sq(*data: Any, num_arrays: int, out: Any = None, name: Any = None) -> NDArray: ...
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
def nanprod(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def nansum(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
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
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def one_hot(
    indices: NDArray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def ones_like(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def pad(
    data: NDArray,
    mode: Literal["constant", "edge", "reflect"] = "constant",
    pad_width: tuple[int, ...] = ...,
    constant_value: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def pick(
    data: NDArray,
    index: NDArray,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def preloaded_multi_mp_sgd_mom_update(
    *data: Any,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def preloaded_multi_mp_sgd_update(
    *data: Any,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def preloaded_multi_sgd_mom_update(
    *data: Any,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def preloaded_multi_sgd_update(
    *data: Any,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def prod(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def radians(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def random_exponential(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_negative_binomial(
    k: float = 1.0,
    p: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_dirichlet(
    sample: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_exponential(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_gamma(
    sample: NDArray,
    alpha: NDArray,
    beta: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_generalized_negative_binomial(
    sample: NDArray,
    mu: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_negative_binomial(
    sample: NDArray,
    k: NDArray,
    p: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_normal(
    sample: NDArray,
    mu: NDArray,
    sigma: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_poisson(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_pdf_uniform(
    sample: NDArray,
    low: NDArray,
    high: NDArray,
    is_log: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_poisson(
    lam: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_randint(
    low: int,
    high: int,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "int32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def ravel_multi_index(
    data: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def rcbrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def reciprocal(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def relu(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def repeat(
    data: NDArray,
    repeats: int,
    axis: int | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def reshape(
    data: NDArray,
    shape: tuple[int, ...] = (),
    reverse: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def reshape_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def retain(data: NDArray, indices: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def reverse(
    data: NDArray,
    axis: int | tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def sample_exponential(
    lam: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_multinomial(
    data: NDArray,
    shape: tuple[int, ...] = (),
    get_prob: bool = False,
    dtype: str = "int32",
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_poisson(
    lam: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: tuple[int, ...] = (),
    dtype: str | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def scatter_nd(
    data: NDArray,
    indices: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
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
def shape_array(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def shuffle(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
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
def size_array(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
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
def slice_like(
    data: NDArray,
    shape_like: NDArray,
    axes: tuple[int, ...] = (),
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
def softmax(
    data: NDArray,
    length: NDArray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def softmax_cross_entropy(
    data: NDArray,
    label: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def softmin(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: str | None = None,
    use_length: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def softsign(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def space_to_depth(
    data: NDArray,
    block_size: int,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def split(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def sqrt(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def square(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def squeeze(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def stack(*data: Any, axis: int = 0, out: Any = None, name: Any = None) -> NDArray: ...
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
def swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
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
def tile(
    data: NDArray,
    reps: int | tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def topk(
    data: NDArray,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["indices", "value", "both", "mask"] = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> Any: ...
def transpose(
    data: NDArray,
    axes: tuple[int, ...] = (),
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def trunc(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple[int, ...] = (1,),
    ctx: Any = None,
    dtype: str = "float32",
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def unravel_index(
    data: NDArray,
    shape: tuple[int, ...],
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def zeros_like(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
