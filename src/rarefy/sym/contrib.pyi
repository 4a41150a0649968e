# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.sym._symbol import Symbol

def SparseEmbedding(
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
def allclose(
    a: Symbol | None = None,
    b: Symbol | None = None,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def arange_like(
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
def boolean_mask(
    data: Symbol | None = None,
    index: Symbol | None = None,
    axis: int = 0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def div_sqrt_dim(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def edge_id(
    data: Symbol | None = None,
    u: Symbol | None = None,
    v: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def getnnz(
    data: Symbol | None = None,
    axis: Literal[0, 1] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def gradientmultiplier(
    data: Symbol | None = None,
    scalar: float = 1.0,
    is_int: bool = True,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def group_adagrad_update(
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
def index_array(
    data: Symbol | None = None,
    axes: tuple[int, ...] | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def index_copy(
    old_tensor: Symbol | None = None,
    index_vector: Symbol | None = None,
    new_tensor: Symbol | None = None,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def quadratic(
    data: Symbol | None = None,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
    *,
    name: Any = None,
    **kwargs: Any,
) -> Symbol: ...
def round_ste(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
def sign_ste(data: Symbol | None = None, *, name: Any = None, **kwargs: Any) -> Symbol: ...
