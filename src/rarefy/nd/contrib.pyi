# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.nd._contrib_update import adamw_update as adamw_update
from rarefy.nd._contrib_update import mp_adamw_update as mp_adamw_update
from rarefy.nd._contrib_update import multi_adamw_update as multi_adamw_update
from rarefy.nd._contrib_update import multi_lamb_update as multi_lamb_update
from rarefy.nd._contrib_update import multi_mp_adamw_update as multi_mp_adamw_update
from rarefy.nd._contrib_update import multi_mp_lamb_update as multi_mp_lamb_update
from rarefy.nd._control import cond as cond
from rarefy.nd._control import foreach as foreach
from rarefy.nd._control import while_loop as while_loop
from rarefy.nd._functions import isfinite as isfinite
from rarefy.nd._functions import isinf as isinf
from rarefy.nd._functions import isnan as isnan
from rarefy.nd._functions import rand_zipfian as rand_zipfian
from rarefy.nd._ndarray import NDArray

def SparseEmbedding(
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
def allclose(
    a: NDArray,
    b: NDArray,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def arange_like(
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
def boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def div_sqrt_dim(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def edge_id(
    data: NDArray,
    u: NDArray,
    v: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def getnnz(
    data: NDArray,
    axis: Literal[0, 1] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def gradientmultiplier(
    data: NDArray,
    scalar: float = 1.0,
    is_int: bool = True,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def group_adagrad_update(
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
def index_array(
    data: NDArray,
    axes: tuple[int, ...] | None = None,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def quadratic(
    data: NDArray,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    out: Any = None,
    name: Any = None,
) -> NDArray: ...
def round_ste(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
def sign_ste(data: NDArray, *, out: Any = None, name: Any = None) -> NDArray: ...
