"""The dense array, and what all arrays have in common."""

import math
from operator import index
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from rarefy import autograd
from rarefy._ops.defs import OPERATORS
from rarefy._ops.defs.init import filled
from rarefy._ops.defs.shape import reshaped
from rarefy._ops.fallback import require_room_for
from rarefy._ops.precision import wide
from rarefy._ops.storage import STYPES, SType, is_traced, stype_of, to_dense, zeros_of
from rarefy._primitives.from_host import from_host
from rarefy.base import ArgumentError, MXNetError, NotSupportedForSparseNDArray, ShapeError
from rarefy.context import Context, context_of
from rarefy.nd import _arithmetic as arithmetic
from rarefy.nd._fluent import Fluent
from rarefy.nd._handle import Handle
from rarefy.nd._index import (
    Block,
    Elements,
    as_numpy_key,
    flat_start,
    is_whole,
    leading_rows,
    read_block,
    read_key,
    read_window,
    write_block,
    write_elements,
    write_window,
)
from rarefy.nd._invoke import invoke


class NDArray(Fluent, Handle, stype="default"):
    """A dense, mutable array; the base of the sparse ones too.

    Made by `nd.array` and its like, never by calling the class. Its methods that are operators
    (`x.sum()`, `x.exp()`, ...) are documented in `rarefy.nd`.
    """

    __slots__ = ()

    __array_priority__ = 1000.0

    # Properties

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return tuple(self._value.shape) if self._path is None else self._path[1]

    @property
    def dtype(self) -> Any:
        """The NumPy scalar type of the elements, such as `numpy.float32`."""
        return np.dtype(self._cell.value.dtype).type

    @property
    def stype(self) -> SType:
        """The storage type: 'default', 'csr' or 'row_sparse'."""
        return stype_of(self._cell.value)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take."""
        return self.size * np.dtype(self._cell.value.dtype).itemsize

    @property
    def context(self) -> Context:
        """Where the array lives."""
        return self._ctx or context_of(self._cell.value)

    ctx = context

    @property
    def grad(self) -> "NDArray | None":
        """The gradient that `backward` writes, after `attach_grad`."""
        return self._grad  # pyright: ignore[reportReturnType] - mark_variables gives arrays

    @property
    def T(self) -> "NDArray":
        """The transpose."""
        return invoke(OPERATORS["transpose"], (self,), {"axes": ()})

    @property
    def handle(self) -> Any:
        """Something that is equal for arrays that share their memory."""
        return self._cell

    writable = True

    # To and from the host

    def asnumpy(self) -> np.ndarray:
        """A NumPy array with a copy of the elements; waits for them."""
        value = self._cell.value
        if is_traced(value):
            raise MXNetError(
                "asnumpy() needs the elements, which are not known while a function is being compiled"
            )
        if self._path is None:
            return np.array(value)
        if self.context.device_type == "gpu":  # only the part goes to the host
            return np.array(self._value)
        start, shape = self._path
        whole = np.asarray(value).reshape(-1)  # no copy: the host's memory
        return whole[start : start + math.prod(shape)].reshape(shape).copy()

    def asscalar(self) -> Any:
        """The only element, as a NumPy scalar.

        Raises:
          ValueError: there is not exactly one.
        """
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return self.asnumpy().reshape(())[()]

    item = asscalar

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.asnumpy().tolist()

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        value = self._value
        if copy or is_traced(value) or self.stype != "default":
            array = self.asnumpy()
        else:
            self._cell.shared = True  # the memory that NumPy sees must not be donated
            array = np.asarray(value)
        return array if dtype is None else array.astype(dtype, copy=bool(copy))

    def __dlpack__(self, **kwargs) -> Any:
        self._cell.shared = True
        return self._dense_value().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: Any = self._dense_value()
        return device.__dlpack_device__()

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule of the elements, not copied. They must not be written to.

        Raises:
          NotSupportedForSparseNDArray: the array is sparse.
        """
        return self.__dlpack__()

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule of the elements that may be written to, until this array changes.

        The elements are copied first, as other arrays may share them.

        Raises:
          NotSupportedForSparseNDArray: the array is sparse.
        """
        value = jnp.array(self._dense_value(), copy=True)
        self._store(value, shared=True)
        return value.__dlpack__()

    def _dense_value(self) -> jax.Array:
        value = self._value
        if not isinstance(value, jax.Array):
            raise NotSupportedForSparseNDArray(self.to_dlpack_for_read)
        return value

    def wait_to_read(self) -> None:
        """Waits until the elements are computed."""
        jax.block_until_ready(self._value)

    wait_to_write = wait_to_read

    # Copies and conversions

    def copy(self) -> "NDArray":
        """A copy that shares nothing with this array."""
        return invoke(OPERATORS["_copy"], (self,), {})

    def copyto(self, other: "NDArray | Context") -> "NDArray":
        """Copies the elements into another array, converted to its storage type and dtype.

        Args:
          other: an array of the same shape, or a context: then a new array is made there.

        Returns:
          The array copied to.

        Raises:
          TypeError: `other` is neither, or csr is copied to row_sparse or the other way round.
          MXNetError: the shapes differ.
        """
        if isinstance(other, Context):
            return self._in_context(other)
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other is self:
            return self
        have, want = self.stype, other.stype
        if have != want and "default" not in (have, want):
            raise TypeError(f"copyto does not support destination NDArray stype {want} from {have}")
        if self.shape != other.shape:
            raise MXNetError(f"copyto: shapes differ, {self.shape} and {other.shape}")
        if self._is_recorded() and other._path is None:
            other._record_copy(self)
        elif have != "default" and want == "default":
            with wide():
                other._store(to_dense(self._value_for(other)).astype(other._cell.value.dtype))
        else:
            other._assign(self)
        return other

    def _in_context(self, context: Context) -> "NDArray":
        moved = self.copy() if context == self.context else self._wrap(self._put_on(context))
        moved._ctx = context
        return moved

    def _put_on(self, context: Context) -> Any:
        with wide():
            return jax.tree.map(jnp.copy, jax.device_put(self._value, context.device))

    def as_in_context(self, context: Context) -> "NDArray":
        """The array in a context: itself if it lives there, else a copy.

        Raises:
          TypeError: `context` is none.
          MXNetError: there is no such device.
        """
        if not isinstance(context, Context):
            raise TypeError(f"copyto does not support type {type(context)}")
        return self if context == self.context else self._in_context(context)

    as_in_ctx = to_device = as_in_context

    def astype(self, dtype, copy: bool = True) -> "NDArray":
        """The array with another dtype, of the same storage type.

        Args:
          dtype: the dtype.
          copy: whether an array that has the dtype already is copied.
        """
        dtype = np.dtype(np.float32 if dtype is None else dtype)
        if not copy and dtype == self._cell.value.dtype:
            return self
        return invoke(OPERATORS["_astype"], (self,), {"dtype": dtype.name})

    def tostype(self, stype: SType) -> "NDArray":
        """The array in another storage type.

        Args:
          stype: 'default', 'csr' or 'row_sparse'.

        Raises:
          ValueError: csr is asked of an array that has not two dimensions, or of row_sparse, or
            row_sparse of csr.
          MXNetError: the storage type is unknown.
        """
        if stype not in STYPES:
            raise MXNetError(f"stype must be one of {', '.join(STYPES)}; got {stype!r}")
        have = self.stype
        if have != stype and "default" not in (have, stype):
            raise ValueError(
                f"cast_storage from {have} to {stype} is not supported; convert to 'default' first "
                "if the dense array fits"
            )
        if stype == "csr" and self.ndim != 2:
            raise ValueError(
                "To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is "
                f"{self.shape}"
            )
        return invoke(OPERATORS["cast_storage"], (self,), {"stype": stype})

    def as_nd_ndarray(self) -> "NDArray":
        """The array itself, for MXNet's sake."""
        return self

    def reshape(self, *shape, **kwargs) -> "NDArray":
        """A view of the same elements in another shape; writing to it writes to this array.

        Args:
          *shape: sizes, or one tuple of them; codes as in `nd.reshape`.
          **kwargs: `shape`, `reverse`.

        Raises:
          MXNetError: the sizes do not fit.
        """
        reverse = kwargs.pop("reverse", False)
        spec = kwargs.pop("shape", None)
        if kwargs:
            raise TypeError(f"reshape() has no argument {', '.join(kwargs)}")
        if spec is None:
            if not shape:
                raise ArgumentError("reshape: no shape is given; a scalar has shape (1,)")
            spec = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        spec = (spec,) if isinstance(spec, int) else tuple(int(n) for n in spec)
        if self._is_recorded():
            return invoke(OPERATORS["Reshape"], (self,), {"shape": spec, "reverse": reverse})
        try:
            return self._view(0, reshaped(self.shape, spec, reverse))
        except ValueError as error:
            raise ShapeError(f"reshape: {error}") from error

    def broadcast_to(self, shape, *, out=None, name=None) -> "NDArray":
        """The array with its axes of size 1 repeated; see `nd.broadcast_to`.

        Raises:
          ValueError: the array does not fit.
        """
        sizes = (shape,) if isinstance(shape, int) else tuple(map(index, shape))
        mine = (1,) * (len(sizes) - self.ndim) + self.shape
        if len(mine) != len(sizes) or any(
            n not in (1, m) and m for n, m in zip(mine, sizes, strict=True)
        ):
            raise ValueError(
                f"operands could not be broadcast together with remapped shapes: {mine} and "
                f"requested shape {sizes}"
            )
        source = self if mine == self.shape else self.reshape(mine)
        return invoke(OPERATORS["broadcast_to"], (source,), {"shape": sizes}, out)

    def split_v2(self, indices_or_sections, axis: int = 0, squeeze_axis: bool = False) -> Any:
        """The parts that the array is cut into along an axis; see `nd.split_v2`."""
        axis = normalize_axis_index(axis, self.ndim)
        params = {"indices": (), "axis": axis, "squeeze_axis": squeeze_axis, "sections": 0}
        if isinstance(indices_or_sections, int | np.integer):
            params["sections"] = int(indices_or_sections)
            if params["sections"] < 1 or self.shape[axis] % params["sections"]:
                raise ValueError("array split does not result in an equal division")
        else:
            params["indices"] = (0, *map(index, indices_or_sections))
        return invoke(OPERATORS["_split_v2"], (self,), params)

    # autograd

    def attach_grad(self, grad_req: str = "write", stype: SType | None = None) -> None:
        """Makes the array a variable: `backward` writes its gradient to `grad`.

        Args:
          grad_req: 'write', 'add' to what is there, or 'null'.
          stype: storage type of the gradient; that of the array by default. 'row_sparse' for a table
            of which few rows are used at a time.

        Raises:
          ValueError: `grad_req` or `stype` is unknown.
          StorageFallbackError: the array is sparse and a dense gradient of it would take more than
            `rarefy.config.storage_fallback_bytes`.
        """
        stype = stype or self.stype
        if stype not in STYPES:
            raise ValueError(f"stype must be one of {', '.join(STYPES)}; got {stype!r}")
        shape, dtype = self.shape, self._cell.value.dtype
        if stype == "default" != self.stype:
            require_room_for("attach_grad", self._cell.value)
        with wide():
            zero = filled(shape, 0, dtype) if stype == "default" else zeros_of(shape, dtype, stype)
        autograd.mark_variables([self], [self._wrap(zero)], grad_req)

    def backward(self, out_grad=None, retain_graph: bool = False, train_mode: bool = True) -> None:
        """Computes the gradients of this array with respect to the variables it depends on.

        Args:
          out_grad: the gradient of the array itself; ones by default.
          retain_graph: whether the record is kept, to go back again.
          train_mode: whether operators are pulled back as in training.
        """
        grads = None if out_grad is None else [out_grad]
        autograd.backward([self], grads, retain_graph, train_mode)

    def detach(self) -> "NDArray":
        """The same array, in the same memory, that no gradient goes through."""
        alone = type(self)(self._cell, self._path)
        alone._ctx = self._ctx
        return alone

    @property
    def _fresh_grad(self) -> bool:
        """Whether `backward` has written the gradient since this was last set to False."""
        leaf = self._slot and self._slot.leaf
        return leaf is not None and leaf.fresh

    @_fresh_grad.setter
    def _fresh_grad(self, fresh: bool) -> None:
        if self._slot is not None and self._slot.leaf is not None:
            self._slot.leaf.fresh = bool(fresh)

    def _is_recorded(self) -> bool:
        return self._slot is not None and autograd.is_recording()

    # Views and indexing

    def _view(self, offset: int, shape: tuple[int, ...]) -> "NDArray":
        start = self._path[0] if self._path else 0
        slot = self._slot if self._slot is not None and shape == self.shape else None
        view = type(self)(self._cell, (start + offset, tuple(shape)), slot)
        view._ctx = self._ctx
        return view

    def _read(self, base, path):
        return read_window(base, np.int64(path[0]), shape=path[1])

    def _write(self, base, path, value):
        return write_window(base, np.int64(path[0]), value)

    def _at(self, idx: int) -> "NDArray":
        """A view of one element of the first axis.

        Raises:
          IndexError, MXNetError: there is no such element.
        """
        n = self.shape[0]
        if idx < -n:
            raise IndexError(f"index {idx} is out of bounds for axis 0 with size {n}")
        if idx >= n:
            raise MXNetError(f"index {idx} is out of bounds for axis 0 with size {n}")
        return self[idx]

    def _slice(self, start: int, stop: int | None) -> "NDArray":
        """A view of elements of the first axis.

        Raises:
          MXNetError: it would begin behind its end.
        """
        begin, end, _ = slice(start, stop).indices(self.shape[0])
        if begin > end:
            raise MXNetError(f"invalid slicing range [{begin}, {end})")
        return self[begin:end]

    def _full(self, value: float) -> "NDArray":
        """Fills the array with a number."""
        self[:] = value
        return self

    def _sync_copyfrom(self, source_array) -> None:
        """Copies the elements of a NumPy array.

        Raises:
          TypeError: it is no array of numbers.
          ValueError: it has another shape.
        """
        found = np.asarray(source_array)
        if found.shape != self.shape:
            raise ValueError(
                f"Shape inconsistent: expected {self.shape} vs got {found.shape} for the source"
            )
        self[:] = found

    def __getitem__(self, key) -> Any:
        if isinstance(key, slice) and key == slice(None):
            return self
        recorded, shape = self._is_recorded(), self.shape
        rows = None if recorded else leading_rows(key, shape)
        if rows is not None:
            return self._view(*rows)
        found = read_key(key, shape)
        if isinstance(found, Elements):
            return self._take(found)
        start = None if recorded else flat_start(found, shape)
        if start is not None:
            return self._view(start, found.shape)
        if recorded:
            return self._recorded_block(found)
        with wide():
            return self._wrap(read_block(self._value, found))

    def _recorded_block(self, block: Block) -> "NDArray":
        ends = tuple(
            None if step < 0 and start + n * step < 0 else start + n * step
            for start, n, step in zip(block.starts, block.sizes, block.steps, strict=True)
        )
        params = {"begin": block.starts, "end": ends, "step": block.steps}
        taken = invoke(OPERATORS["slice"], (self,), params)
        if block.shape == block.sizes:
            return taken
        return invoke(OPERATORS["Reshape"], (taken,), {"shape": block.shape, "reverse": False})

    def _take(self, elements: Elements) -> "NDArray":
        with wide():
            arrays = [
                self._wrap(from_host(a) if isinstance(a, np.ndarray) else a)
                for a in elements.arrays
            ]
        return invoke(OPERATORS["_index"], (self, *arrays), {"spec": elements.spec})

    def __setitem__(self, key, value) -> None:
        if is_whole(key, len(self.shape)):
            self._assign(value)
            return
        _refuse_recorded(value)
        rows = leading_rows(key, self.shape)
        if rows is not None:
            self._leave_record()
            view = self._view(*rows)
            view._store(self._as_block(value, view.shape))
            return
        found = read_key(key, self.shape)
        if isinstance(found, Elements):
            self._put(found, value)
            return
        new = self._as_block(value, found.shape)
        start = flat_start(found, self.shape)
        if start is not None:
            self._leave_record()
            self._view(start, found.shape)._store(new)
            return
        with wide():
            self._store(write_block(self._value, found, new))

    def slice_assign(self, rhs: "NDArray", begin, end, step=()) -> "NDArray":
        """Replaces a block by another array.

        Args:
          rhs: what the block becomes.
          begin, end, step: as in `nd.slice`.

        Returns:
          The array itself.
        """
        self[_slices(begin, end, step)] = rhs
        return self

    def slice_assign_scalar(self, value: float, begin, end, step=()) -> "NDArray":
        """Fills a block with a number; see `slice_assign`."""
        self[_slices(begin, end, step)] = value
        return self

    def _put(self, elements: Elements, value) -> None:
        base = self._value
        with wide():
            shape = jax.eval_shape(
                lambda b: b[as_numpy_key(elements.spec, elements.arrays)], base
            ).shape
            new = self._as_block(value, shape)
            self._store(write_elements(base, elements.arrays, new, spec=elements.spec))

    def _as_block(self, value, shape: tuple[int, ...]):
        """What is assigned, as an array of this dtype and the given shape.

        Raises:
          TypeError: it is a sparse array, or no array at all.
          ValueError: it does not broadcast to the shape.
        """
        dtype = self._cell.value.dtype
        if isinstance(value, NDArray):
            if value.stype != "default":
                raise TypeError(
                    f"a {value.stype} array cannot be assigned to a dense one; use copyto, or "
                    "tostype('default')"
                )
            given: Any = value._value_for(self)
        else:
            given = _host_array(value, dtype)
        if given.shape != shape:
            # As in NumPy, leading axes of size 1 that the target lacks are dropped.
            extra = given.ndim - len(shape)
            if extra > 0 and all(n == 1 for n in given.shape[:extra]):
                given = given.reshape(given.shape[extra:])
            try:
                np.broadcast_shapes(given.shape, shape)
            except ValueError:
                fits = False
            else:
                fits = np.broadcast_shapes(given.shape, shape) == shape
            if not fits:
                raise ValueError(f"an array of shape {given.shape} does not broadcast to {shape}")
        with wide():
            if isinstance(given, np.ndarray):
                return from_host(np.broadcast_to(given, shape).astype(dtype), owned=True)
            return jnp.broadcast_to(given, shape).astype(dtype)

    def _assign(self, value) -> None:
        """Replaces all elements: what `x[:] = value` and `copyto` do."""
        mine = self._value
        if isinstance(value, NDArray) and value.stype == "default":
            if value._is_recorded() and self._path is None:
                self._record_copy(value)
                return
            _refuse_recorded(value)
            given = value._value_for(self)
            if given.shape == mine.shape and given.dtype == mine.dtype:
                whole = value._path is None
                self._store(given, shared=whole)
                if whole:
                    value._cell.shared = True
                return
        self._store(self._as_block(value, tuple(mine.shape)))

    def _record_copy(self, value: "NDArray") -> None:
        """Takes over the elements of an array that is being recorded, and records that."""
        if value.stype != self.stype:
            value = value.tostype(self.stype)
        if value.shape != self.shape:
            self._as_block(value, self.shape)  # refuses what does not broadcast
            missing = len(value.shape) - len(self.shape)
            value = value.reshape(value.shape[max(missing, 0) :]).broadcast_to(self.shape)
        invoke(OPERATORS["_astype"], (value,), {"dtype": np.dtype(self.dtype).name}, self)

    # Python's protocols

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __bool__(self) -> bool:
        count = math.prod(self.shape)
        if count == 0:
            return False
        if count > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        return bool(self.asnumpy().reshape(())[()])

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        if not np.issubdtype(self.dtype, np.integer):
            raise TypeError("only arrays of one integer can be used as an index")
        return int(self.asscalar())

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        value = self._value
        shown = str(value) if is_traced(value) else str(self.asnumpy())
        return f"\n{shown}\n<{type(self).__name__} {sizes} @{self.context}>"

    __hash__ = object.__hash__

    def __reduce__(self):
        return _rebuild, (self.asnumpy(), str(self._cell.value.dtype))

    def __copy__(self) -> "NDArray":
        return self.copy()

    def __deepcopy__(self, memo) -> "NDArray":
        return self.copy()

    # Arithmetic

    def __add__(self, other):
        return arithmetic.ADD(self, other)

    def __iadd__(self, other):
        return arithmetic.ADD(self, other, self)

    __radd__ = __add__

    def __sub__(self, other):
        return arithmetic.SUBTRACT(self, other)

    def __isub__(self, other):
        return arithmetic.SUBTRACT(self, other, self)

    def __rsub__(self, other):
        return arithmetic.SUBTRACT(other, self)

    def __mul__(self, other):
        return arithmetic.MULTIPLY(self, other)

    def __imul__(self, other):
        return arithmetic.MULTIPLY(self, other, self)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return arithmetic.DIVIDE(self, other)

    def __itruediv__(self, other):
        return arithmetic.DIVIDE(self, other, self)

    def __rtruediv__(self, other):
        return arithmetic.DIVIDE(other, self)

    def __mod__(self, other):
        return arithmetic.MODULO(self, other)

    def __imod__(self, other):
        return arithmetic.MODULO(self, other, self)

    def __rmod__(self, other):
        return arithmetic.MODULO(other, self)

    def __pow__(self, other):
        return arithmetic.POWER(self, other)

    def __rpow__(self, other):
        return arithmetic.POWER(other, self)

    def __neg__(self):
        return invoke(OPERATORS["negative"], (self,), {})

    def __abs__(self):
        return invoke(OPERATORS["abs"], (self,), {})

    def __matmul__(self, other):
        if not isinstance(other, NDArray):
            return NotImplemented
        return invoke(OPERATORS["dot"], (self, other), _DOT)

    def __eq__(self, other):
        return arithmetic.EQUAL(self, other)

    def __ne__(self, other):
        return arithmetic.NOT_EQUAL(self, other)

    def __gt__(self, other):
        return arithmetic.GREATER(self, other)

    def __ge__(self, other):
        return arithmetic.GREATER_EQUAL(self, other)

    def __lt__(self, other):
        return arithmetic.LESSER(self, other)

    def __le__(self, other):
        return arithmetic.LESSER_EQUAL(self, other)


_DOT = {"transpose_a": False, "transpose_b": False, "forward_stype": None}


def _refuse_recorded(value) -> None:
    """Refuses to make a recorded result a part of another array, as no gradient would go through."""
    if isinstance(value, NDArray) and value._is_recorded():
        raise MXNetError(
            "a recorded result cannot become a part of another array, as no gradient would go through; "
            "assign to the whole array (x[:] = ...), or join parts with nd.concat"
        )


def _slices(begin, end, step) -> tuple[slice, ...]:
    """The key of a block given as in `nd.slice`; steps may be absent."""
    return tuple(map(slice, begin, end, step or (None,) * len(begin)))


def _host_array(value: Any, dtype) -> Any:
    """A number, list, NumPy or JAX array as an array.

    Raises:
      TypeError: it is none.
    """
    if isinstance(value, jax.Array):
        return value
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufV":
            raise ValueError
        return array.astype(dtype) if array.dtype != dtype else array
    except (ValueError, TypeError):
        raise TypeError(f"cannot assign {value!r} of type {type(value)} to an array") from None


def _rebuild(array: np.ndarray, dtype: str) -> NDArray:
    with wide():
        return Handle._wrap(jnp.asarray(array, dtype))
