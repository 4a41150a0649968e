"""Arrays as references into a list of buffers, which several of them may share."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import ShapedArray

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._sparsify._program import traced
from rarefy.sparse._sparsify._table import new_walk


class SparsifyValue(NamedTuple):
    """An array, dense or sparse, whose buffers are numbers in an environment.

    Attributes:
      shape: shape of the array.
      data_ref, indices_ref, indptr_ref: numbers of its buffers; None for those it lacks.
      indices_sorted, unique_indices: flags of a sparse array.
    """

    shape: tuple[int, ...]
    data_ref: int | None
    indices_ref: int | None = None
    indptr_ref: int | None = None
    indices_sorted: bool | None = False
    unique_indices: bool | None = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def is_sparse(self) -> bool:
        return self.indices_ref is not None

    def is_dense(self) -> bool:
        return self.indices_ref is None

    def is_bcoo(self) -> bool:
        return self.is_sparse() and self.indptr_ref is None

    def is_bcsr(self) -> bool:
        return self.is_sparse() and self.indptr_ref is not None


class SparsifyEnv:
    """A list of buffers, to which values refer."""

    def __init__(self, bufs: Sequence[Any] = ()):
        self._buffers: list[Any] = list(bufs)

    def _push(self, buffer: Any) -> int:
        self._buffers.append(jnp.asarray(buffer))
        return len(self._buffers) - 1

    def _get(self, name: str, ref: int | None) -> Any:
        if ref is None:
            raise RuntimeError(f"requested {name} of a value that has none")
        return self._buffers[ref]

    def data(self, spvalue: SparsifyValue) -> Any:
        """The stored values, or the dense array."""
        return self._get("data", spvalue.data_ref)

    def indices(self, spvalue: SparsifyValue) -> Any:
        """The indices of a sparse value."""
        return self._get("indices", spvalue.indices_ref)

    def indptr(self, spvalue: SparsifyValue) -> Any:
        """The indptr of a BCSR value."""
        return self._get("indptr", spvalue.indptr_ref)

    def dense(self, data: Any) -> SparsifyValue:
        """Adds a dense array."""
        return SparsifyValue(np.shape(data), self._push(data))

    def sparse(
        self,
        shape: Sequence[int],
        data: Any = None,
        indices: Any = None,
        indptr: Any = None,
        *,
        data_ref: int | None = None,
        indices_ref: int | None = None,
        indptr_ref: int | None = None,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> SparsifyValue:
        """Adds a sparse array: BCSR with an indptr, else BCOO.

        Args:
          shape: shape of the array.
          data, indices, indptr: new buffers.
          data_ref, indices_ref, indptr_ref: numbers of buffers that are there, instead.
          indices_sorted, unique_indices: flags.

        Raises:
          ValueError: a buffer is given twice or not at all, or there is none of that number.
        """
        given = {"data": (data, data_ref), "indices": (indices, indices_ref)}
        if indptr is not None or indptr_ref is not None:
            given["indptr"] = (indptr, indptr_ref)
        refs: dict[str, int] = {}
        for name, (buffer, ref) in given.items():
            if (buffer is None) == (ref is None):
                raise ValueError(f"sparse: give either {name} or {name}_ref")
            refs[name] = self._push(buffer) if ref is None else ref
            if not 0 <= refs[name] < len(self._buffers):
                raise ValueError(
                    f"sparse: {name}_ref={ref}, but there are {len(self._buffers)} buffers"
                )
        return SparsifyValue(
            tuple(shape),
            refs["data"],
            refs["indices"],
            refs.get("indptr"),
            indices_sorted=indices_sorted,
            unique_indices=unique_indices,
        )


def _is_sparse(value: Any) -> bool:
    return isinstance(value, BCOO | BCSR)


def _is_spvalue(value: Any) -> bool:
    return isinstance(value, SparsifyValue)


def arrays_to_spvalues(spenv: SparsifyEnv, args: Any) -> Any:
    """Adds the arrays of a tree to an environment, each with buffers of its own."""

    def one(arg):
        if not _is_sparse(arg):
            return spenv.dense(arg)
        return spenv.sparse(
            arg.shape,
            *arg._bufs,
            indices_sorted=arg.indices_sorted,
            unique_indices=arg.unique_indices,
        )

    return jax.tree.map(one, args, is_leaf=_is_sparse)


def spvalues_to_arrays(spenv: SparsifyEnv, spvalues: Any) -> Any:
    """The arrays that a tree of values stands for; those that share a buffer share the object."""

    def one(value):
        if value.is_dense():
            return spenv.data(value)
        flags = value.indices_sorted, value.unique_indices
        data, indices = spenv.data(value), spenv.indices(value)
        if value.is_bcoo():
            return BCOO._trusted(data, indices, value.shape, *flags)
        return BCSR._trusted(data, indices, spenv.indptr(value), value.shape, *flags)

    return jax.tree.map(one, spvalues, is_leaf=_is_spvalue)


def spvalues_to_avals(spenv: SparsifyEnv, spvalues: Any) -> Any:
    """The shapes and dtypes of the dense arrays that a tree of values stands for."""

    def one(value):
        aval = jax.typeof(spenv.data(value))
        return ShapedArray(value.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))

    return jax.tree.map(one, spvalues, is_leaf=_is_spvalue)


def sparsify_raw(f: Callable[..., Any]) -> Callable[..., tuple[list[SparsifyValue], Any]]:
    """Makes a function of an environment and values in it.

    Args:
      f: a function of arrays.

    Returns:
      `raw(spenv, *spvalues, **params)`, which gives the values of the results, added to the
      environment, as a list, and the structure that `f` gives them. Results that share buffers with
      others, or with arguments, refer to the same numbers.
    """

    def raw(spenv: SparsifyEnv, *spvalues: Any, **params: Any) -> tuple[list[SparsifyValue], Any]:
        flat, structure = jax.tree.flatten(spvalues, is_leaf=_is_spvalue)
        values = [spvalues_to_arrays(spenv, v) for v in flat]

        def function(*dense):
            return f(*jax.tree.unflatten(structure, dense), **params)

        walk = new_walk()
        program, out_structure = traced(function, values)
        outs = walk.run(program.jaxpr, program.consts, values)
        numbers = {id(b): i for i, b in enumerate(spenv._buffers)}

        def ref(buffer):
            if id(buffer) not in numbers:
                numbers[id(buffer)] = spenv._push(buffer)
            return numbers[id(buffer)]

        def value_of(out):
            if not _is_sparse(out):
                return SparsifyValue(np.shape(out), ref(out))
            refs = [ref(b) for b in out._bufs]
            indptr = refs[2] if len(refs) > 2 else None
            flags = out.indices_sorted, out.unique_indices
            return SparsifyValue(out.shape, refs[0], refs[1], indptr, *flags)

        outs = [walk.settled(o) for o in outs]
        outs = [o if _is_sparse(o) else jnp.asarray(o) for o in outs]
        return [value_of(o) for o in outs], out_structure

    return raw
