# Written by tools/stubs.py; do not edit.

from typing import Any, Literal

from rarefy.nd._ndarray import NDArray

class Fluent:
    def abs(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arccos(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arccosh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arcsin(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arcsinh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arctan(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def arctanh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def cbrt(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def ceil(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def clip(self, a_min: float, a_max: float, *, out: Any = None, name: Any = None) -> NDArray: ...
    def cos(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def cosh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def degrees(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def exp(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def expm1(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def fix(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def floor(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def log(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def log10(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def log1p(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def log2(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def radians(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def rcbrt(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def reciprocal(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def relu(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def rint(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def round(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def rsqrt(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sigmoid(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sign(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sin(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sinh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sqrt(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def square(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def tan(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def tanh(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def trunc(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def zeros_like(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def ones_like(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def prod(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def nansum(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def nanprod(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def max(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def min(
        self,
        axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False,
        exclude: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def norm(
        self,
        ord: int = 2,
        axis: int | tuple[int, ...] | None = None,
        out_dtype: str | None = None,
        keepdims: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def argmax(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def argmin(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def argmax_channel(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def sort(
        self,
        axis: int | None = -1,
        is_ascend: bool = True,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def argsort(
        self,
        axis: int | None = -1,
        is_ascend: bool = True,
        dtype: str = "float32",
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def topk(
        self,
        axis: int | None = -1,
        k: int = 1,
        ret_typ: Literal["indices", "value", "both", "mask"] = "indices",
        is_ascend: bool = False,
        dtype: str = "float32",
        *,
        out: Any = None,
        name: Any = None,
    ) -> Any: ...
    def softmax(
        self,
        length: NDArray | None = None,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def log_softmax(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def softmin(
        self,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str | None = None,
        use_length: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def broadcast_axes(
        self,
        axis: int | tuple[int, ...] = (),
        size: int | tuple[int, ...] = (),
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def broadcast_like(
        self,
        rhs: NDArray,
        lhs_axes: tuple[int, ...] | None = None,
        rhs_axes: tuple[int, ...] | None = None,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def broadcast_to(
        self,
        shape: tuple[int, ...],
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def diag(
        self,
        k: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def expand_dims(self, axis: int, *, out: Any = None, name: Any = None) -> NDArray: ...
    def flatten(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def flip(
        self,
        axis: int | tuple[int, ...],
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def one_hot(
        self,
        depth: int,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: str = "float32",
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def pad(
        self,
        mode: Literal["constant", "edge", "reflect"] = "constant",
        pad_width: tuple[int, ...] = ...,
        constant_value: float = 0.0,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def pick(
        self,
        index: NDArray,
        axis: int | None = -1,
        keepdims: bool = False,
        mode: Literal["clip", "wrap"] = "clip",
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def repeat(
        self,
        repeats: int,
        axis: int | None = None,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def reshape_like(
        self,
        rhs: NDArray,
        lhs_begin: int | None = None,
        lhs_end: int | None = None,
        rhs_begin: int | None = None,
        rhs_end: int | None = None,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def shape_array(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def size_array(self, *, out: Any = None, name: Any = None) -> NDArray: ...
    def slice(
        self,
        begin: tuple,
        end: tuple,
        step: tuple = (),
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def depth_to_space(self, block_size: int, *, out: Any = None, name: Any = None) -> NDArray: ...
    def space_to_depth(self, block_size: int, *, out: Any = None, name: Any = None) -> NDArray: ...
    def slice_axis(
        self,
        axis: int,
        begin: int,
        end: int | None,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def slice_like(
        self,
        shape_like: NDArray,
        axes: tuple[int, ...] = (),
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def split(
        self,
        num_outputs: int,
        axis: int = 1,
        squeeze_axis: bool = False,
        *,
        out: Any = None,
        name: Any = None,
    ) -> Any: ...
    def squeeze(
        self,
        axis: int | tuple[int, ...] | None = None,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def swapaxes(
        self,
        dim1: int = 0,
        dim2: int = 0,
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def take(
        self,
        indices: NDArray,
        axis: int = 0,
        mode: Literal["clip", "wrap", "raise"] = "clip",
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def tile(
        self,
        reps: int | tuple[int, ...],
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
    def transpose(
        self,
        axes: tuple[int, ...] = (),
        *,
        out: Any = None,
        name: Any = None,
    ) -> NDArray: ...
