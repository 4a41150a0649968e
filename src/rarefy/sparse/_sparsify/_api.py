"""`sparsify`: a function of dense arrays made a function of sparse ones, and its compiled programs."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.core import Tracer
from jax.extend.core import get_opaque_trace_state

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._bcsr import BCSR
from rarefy.sparse._sparsify._program import abstract, traced
from rarefy.sparse._sparsify._table import new_walk
from rarefy.sparse._sparsify._tracer import run_with_tracers
from rarefy.sparse._sparsify._values import Spec, is_sparse, pack
from rarefy.sparse._sparsify._walk import NumbersWanted

# The state outside of every transformation, as at import.
OUTSIDE = get_opaque_trace_state()
# A NumPy keyword argument up to here is a constant of the program; beyond, programs are not kept.
CONSTANT_BYTES = 2**20

NUMERIC = (jax.Array, np.ndarray, np.generic, int, float, complex)


def _is_leaf(value: Any) -> bool:
    return isinstance(value, BCOO | BCSR)


@partial(
    jax.tree_util.register_dataclass, data_fields=["buffers"], meta_fields=["spec", "structure"]
)
@dataclass(frozen=True)
class _Result:
    """What a compiled program gives: new buffers, and how results are made of them and the given."""

    buffers: list[Any]
    spec: Spec
    structure: Any

    def restore(self, given: list[Any]) -> Any:
        leaves = self.spec.values([*given, *self.buffers])
        return jax.tree.unflatten(self.structure, leaves)


class _Arguments:
    """The arguments of one call: arrays, and what is constant.

    Args:
      args: positional; arrays and numbers only, in trees.
      kwargs: by name; those that hold a sparse or JAX array are arrays, others constants.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.constants: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        for name, value in kwargs.items():
            leaves = jax.tree.leaves(value)
            moves = any(isinstance(x, jax.Array) for x in leaves)
            (arrays if moves else self.constants)[name] = value
        self.leaves, self.structure = jax.tree.flatten((args, arrays))

    def key(self) -> Hashable | None:
        """Equal for calls that one compiled program can serve; None where none may be kept."""
        first: dict[int, int] = {}
        # Small numbers are one object wherever they stand, which says nothing.
        sharing = tuple(
            [
                first.setdefault(id(x), i) if isinstance(x, jax.Array) else i
                for i, x in enumerate(self.leaves)
            ]
        )
        if not self.constants:
            return self.structure, sharing
        constants = []
        for name, value in self.constants.items():
            if isinstance(value, np.ndarray):
                if value.nbytes > CONSTANT_BYTES or value.dtype.hasobject:
                    return None
                value = (value.shape, value.dtype.str, value.tobytes())
            constants.append((name, type(value), value))
        try:
            hash(tuple(constants))
        except TypeError:
            return None
        return self.structure, sharing, tuple(constants)


class _Compiled:
    """The programs of one function, for one structure of arguments.

    The buffers of the arguments come as a flat list, each but once.
    """

    def __init__(self, function: Callable[..., Any], arguments: _Arguments, use_tracer: bool):
        self.function, self.constants = function, dict(arguments.constants)
        self.structure, self.use_tracer = arguments.structure, use_tracer
        unique: dict[int, int] = {}
        self.picked: list[int] = []
        self.refs: list[int] = []
        for i, leaf in enumerate(arguments.leaves):
            if not (isinstance(leaf, NUMERIC) or hasattr(leaf, "__jax_array__")):
                raise TypeError(
                    f"sparsify: positional arguments must be arrays and numbers, in trees; found "
                    f"{leaf!r} of {type(leaf).__name__}. Pass what is constant by keyword"
                )
            at = id(leaf) if isinstance(leaf, jax.Array) else -1 - i
            if at not in unique:
                unique[at] = len(self.picked)
                self.picked.append(i)
            self.refs.append(unique[at])
        self.jitted = jax.jit(partial(self.run, True))
        # Programs, by dtypes and shapes, that are not compiled: the sizes of their results depend on
        # the numbers in the arguments.
        self.open: dict[Any, Any] = {}

    def __call__(self, leaves: list[Any]) -> Any:
        buffers = [leaves[i] for i in self.picked]
        if self.open:
            form = _form_of(buffers)
            if form in self.open:
                return self._walked(buffers, form)
        try:
            return self.jitted(buffers).restore(buffers)
        except NumbersWanted:
            return self._walked(buffers, _form_of(buffers))

    def run(self, compiled: bool, buffers: list[Any]) -> _Result:
        """Evaluates the function on the values that the buffers make."""
        values, call = self.dense_call(buffers)
        if self.use_tracer:
            outs, structure = run_with_tracers(call, values, only_compiled=compiled)
        else:
            program, structure = traced(call, values)
            walk = new_walk(only_compiled=compiled)
            outs = [walk.settled(o) for o in walk.run(program.jaxpr, program.consts, values)]
        return _result(outs, structure, buffers)

    def _walked(self, buffers: list[Any], form: Any) -> Any:
        """Evaluates the function operation by operation, from a program that is kept."""
        if self.use_tracer:
            self.open[form] = None
            return self.run(False, buffers).restore(buffers)
        values, call = self.dense_call(buffers)
        if form not in self.open:
            self.open[form] = traced(call, values)
        program, structure = self.open[form]
        walk = new_walk()
        outs = [walk.settled(o) for o in walk.run(program.jaxpr, program.consts, values)]
        return _result(outs, structure, buffers).restore(buffers)

    def dense_call(self, buffers: list[Any]) -> tuple[list[Any], Callable[..., Any]]:
        """The arguments, sparse ones whole, and the function of as many dense arrays."""
        whole = jax.tree.unflatten(self.structure, [buffers[r] for r in self.refs])
        values, structure = jax.tree.flatten(whole, is_leaf=_is_leaf)

        def call(*dense):
            args, arrays = jax.tree.unflatten(structure, dense)
            return self.function(*args, **arrays, **self.constants)

        return values, call


def _result(outs: list[Any], structure: Any, buffers: list[Any]) -> _Result:
    outs = [o if is_sparse(o) else jnp.asarray(o) for o in outs]
    found, spec = pack(outs, buffers)
    return _Result(found, spec, structure)


def _form_of(buffers: list[Any]) -> Any:
    forms = (abstract(b) for b in buffers)
    x64 = jax.dtypes.canonicalize_dtype(np.int64) == np.int64
    return x64, tuple((f.shape, f.dtype, f.weak_type) for f in forms)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """Makes a function of dense arrays take sparse ones as well.

    The function is traced as if all arguments were dense, and the program evaluated with the sparse
    arrays in their places: products, reductions and elementwise functions touch the stored elements
    alone. Differentiation, `vmap` and `jit` work inside of it and around it.

    Called outside of other transformations it compiles the whole, once for each structure, shapes and
    dtypes of the arguments, like `jax.jit`; what the function reads beside its arguments is read then.
    Where the size of a result depends on numbers, as that of a sparse product, the kept program is
    evaluated operation by operation instead.

    Args:
      f: a function of arrays, in trees, that gives arrays in a tree.
      use_tracer: whether `f` runs with tracers, which `isinstance(x, SparseTracer)` knows, instead of
        being traced first. The result is the same.

    Returns:
      The function with the arguments of `f`. Positional arguments are arrays and numbers, BCOO and
      BCSR among them, in trees. Keyword arguments that hold JAX or sparse arrays are such too; others
      are constants, which `f` gets as they are. Results that use the indices of an argument, or of each
      other, share the buffers.

    Raises:
      NotImplementedError: an operation has no rule, or its result would be dense: the error names the
        operation, the layouts and the way out.

    >>> m = BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> sparsify(lambda m, v: jnp.sin(2 * m).T @ v)(m, jnp.ones(2)).shape
    (2,)
    """
    programs: dict[Hashable, _Compiled] = {}

    @wraps(f)
    def sparsified(*args: Any, **kwargs: Any) -> Any:
        arguments = _Arguments(args, kwargs)
        leaves = arguments.leaves
        # Inside of a transformation the program becomes a part of another that is kept there.
        if get_opaque_trace_state() == OUTSIDE and not any(isinstance(x, Tracer) for x in leaves):
            key = arguments.key()
            if key is not None:
                program = programs.get(key)
                if program is None:
                    program = programs[key] = _Compiled(f, arguments, use_tracer)
                return program(leaves)
        once = _Compiled(f, arguments, use_tracer)
        buffers = [leaves[i] for i in once.picked]
        return once.run(False, buffers).restore(buffers)

    return sparsified
