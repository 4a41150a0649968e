# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.sym._symbol import Symbol

class Fluent:
    def abs(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arccos(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arccosh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arcsin(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arcsinh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arctan(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def arctanh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def cbrt(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def ceil(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def clip(
        self,
        a_min: float = ...,
        a_max: float = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def cos(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def cosh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def degrees(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def exp(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def expm1(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def fix(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def floor(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def log(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def log10(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def log1p(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def log2(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def radians(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def rcbrt(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def reciprocal(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def relu(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def rint(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def round(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def rsqrt(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sigmoid(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sign(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sin(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sinh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sqrt(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def square(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def tan(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def tanh(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def trunc(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def zeros_like(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def ones_like(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def prod(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def nansum(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def nanprod(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def max(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def min(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def norm(
        self,
        ord: int = 2,
        axis: int | tuple[int, ...] | None = None,
        out_dtype: str | None = None,
        keepdims: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def argmax(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def argmin(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def argmax_channel(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def sort(
        self,
        axis: int | None = -1,
        is_ascend: bool = True,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def argsort(
        self,
        axis: int | None = -1,
        is_ascend: bool = True,
        dtype: str = "float32",
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def topk(
        self,
        axis: int | None = -1,
        k: int = 1,
        ret_typ: Literal["indices", "value", "both", "mask"] = "indices",
        is_ascend: bool = False,
        dtype: str = "float32",
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def softmax(
        self,
        length: Symbol | None = None,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def log_softmax(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def softmin(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def broadcast_axes(
        self,
        axis: int | tuple[int, ...] = (),
        size: int | tuple[int, ...] = (),
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def broadcast_like(
        self,
        rhs: Symbol | None = None,
        lhs_axes: tuple[int, ...] | None = None,
        rhs_axes: tuple[int, ...] | None = None,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def broadcast_to(
        self,
        shape: tuple[int, ...] = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def diag(
        self,
        k: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def expand_dims(self, axis: int = ..., *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def flatten(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def flip(
        self,
        axis: int | tuple[int, ...] = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def one_hot(
        self,
        depth: int = ...,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: str = "float32",
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def pad(
        self,
        mode: Literal["constant", "edge", "reflect"] = "constant",
        pad_width: tuple[int, ...] = ...,
        constant_value: float = 0.0,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def pick(
        self,
        index: Symbol | None = None,
        axis: int | None = -1,
        keepdims: bool = False,
        mode: Literal["clip", "wrap"] = "clip",
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def repeat(
        self,
        repeats: int = ...,
        axis: int | None = None,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def reshape_like(
        self,
        rhs: Symbol | None = None,
        lhs_begin: int | None = None,
        lhs_end: int | None = None,
        rhs_begin: int | None = None,
        rhs_end: int | None = None,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def shape_array(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def size_array(self, *, name: Any = None, **kwargs: Any) -> Symbol: ...
    def slice(
        self,
        begin: tuple = ...,
        end: tuple = ...,
        step: tuple = (),
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def depth_to_space(
        self,
        block_size: int = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def space_to_depth(
        self,
        block_size: int = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def slice_axis(
        self,
        axis: int = ...,
        begin: int = ...,
        end: int | None = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def slice_like(
        self,
        shape_like: Symbol | None = None,
        axes: tuple[int, ...] = (),
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def split(
        self,
        num_outputs: int = ...,
        axis: int = 1,
        squeeze_axis: bool = False,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def squeeze(
        self,
        axis: int | tuple[int, ...] | None = None,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def swapaxes(
        self,
        dim1: int = 0,
        dim2: int = 0,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def take(
        self,
        indices: Symbol | None = None,
        axis: int = 0,
        mode: Literal["clip", "wrap", "raise"] = "clip",
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def tile(
        self,
        reps: int | tuple[int, ...] = ...,
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def transpose(
        self,
        axes: tuple[int, ...] = (),
        *,
        name: Any = None,
        **kwargs: Any,
    ) -> Symbol: ...
    def as_in_context(self, *args: Any) -> Any: ...
    def asnumpy(self, *args: Any) -> Any: ...
    def asscalar(self, *args: Any) -> Any: ...
    def backward(self, *args: Any) -> Any: ...
    def copy(self, *args: Any) -> Any: ...
    def detach(self, *args: Any) -> Any: ...
    def wait_to_read(self, *args: Any) -> Any: ...
