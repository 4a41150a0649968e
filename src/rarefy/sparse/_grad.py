"""Differentiation with respect to sparse arguments, and with sparse gradients for dense tables."""

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import numpy as jnp

from rarefy.sparse._base import JAXSparse
from rarefy.sparse._row_grad import Programs, marked_leaves, row_value_and_grad


def is_sparse(value: Any) -> bool:
    """Whether `value` is a sparse array, for `is_leaf`."""
    return isinstance(value, JAXSparse)


class _Flat(NamedTuple):
    """Arguments taken apart into buffers.

    Attributes:
      leaves: what the arguments consist of, a sparse array being one thing.
      structure: how the arguments consist of it.
      numbers: for each leaf, which argument it belongs to.
      names: for each leaf, how a user would write it.
    """

    leaves: list[Any]
    structure: Any
    numbers: list[int]
    names: list[str]


def _flatten(args: Sequence[Any]) -> _Flat:
    with_paths, structure = jax.tree_util.tree_flatten_with_path(tuple(args), is_leaf=is_sparse)
    numbers = [path[0].idx for path, _ in with_paths]
    names = [f"argument {p[0].idx}{jax.tree_util.keystr(p[1:])}" for p, _ in with_paths]
    return _Flat([leaf for _, leaf in with_paths], structure, numbers, names)


def _argument_numbers(name: str, argnums: Any, args: Sequence[Any]) -> tuple[int, ...]:
    given = tuple(argnums) if isinstance(argnums, list | tuple) else (argnums,)
    out = []
    for number in map(operator.index, given):
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"{name}: argnums is {argnums}, but there are only {len(args)} positional arguments"
            )
        out.append(number % len(args))
    return tuple(out)


def _buffer(leaf: Any) -> Any:
    """What is differentiated of a leaf: the values of a sparse array."""
    return leaf.data if is_sparse(leaf) else leaf


def _with_buffer(leaf: Any, buffer: Any) -> Any:
    """The leaf with other values; leading axes that these have in addition become batch axes."""
    if not is_sparse(leaf):
        return buffer
    buffers, structure = jax.tree.flatten(leaf)

    def remake(data):
        return jax.tree.unflatten(structure, [data, *buffers[1:]])

    for _ in range(buffer.ndim - buffers[0].ndim):
        remake = jax.vmap(remake)
    return remake(buffer)


class _Moving(NamedTuple):
    """A function of the differentiated buffers alone, and the way back from their gradients."""

    flat: _Flat
    which: list[int]
    function: Callable[..., Any]

    @property
    def buffers(self) -> list[Any]:
        return [_buffer(self.flat.leaves[i]) for i in self.which]

    def gradients(self, found: Sequence[Any]) -> Any:
        """Gives the gradients the form of the arguments.

        Arguments come in their order; one alone comes bare, as in JAX's sparse module.
        """
        leaves: list[Any] = [None] * len(self.flat.leaves)
        for i, gradient in zip(self.which, found, strict=True):
            leaf = self.flat.leaves[i]
            done = is_sparse(gradient) or not is_sparse(leaf)
            leaves[i] = gradient if done else _with_buffer(leaf, gradient)
        trees = jax.tree.unflatten(self.flat.structure, leaves)
        trees = tuple(t for t in trees if jax.tree.leaves(t))
        return trees[0] if len(trees) == 1 else trees


def _moving(name: str, fun: Callable[..., Any], argnums: Any, args: Any, kwargs: Any) -> _Moving:
    flat = _flatten(args)
    numbers = _argument_numbers(name, argnums, args)
    which = [i for i, number in enumerate(flat.numbers) if number in numbers]

    def function(*buffers):
        leaves = list(flat.leaves)
        for i, buffer in zip(which, buffers, strict=True):
            leaves[i] = _with_buffer(leaves[i], buffer)
        return fun(*jax.tree.unflatten(flat.structure, leaves), **kwargs)

    return _Moving(flat, which, function)


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    row_sparse: Any = False,
    **kwargs: Any,
) -> Callable[..., tuple[Any, Any]]:
    """Makes a function that computes `fun` and its gradient, with sparse arguments and results.

    Like `jax.value_and_grad`. The gradient with respect to a sparse array is a sparse array with the
    same stored places. The gradient with respect to a dense table that is marked by `row_sparse` is
    a BCOO of its shape with `n_sparse=1`: the rows that `fun` reads, ascending and unique, padded with
    the table's height to `min(rows read, height)` slots. It equals the dense gradient on those rows
    and nothing of the table's size is allocated.

    `fun` may only read rows of a marked table: `table[ids]`, `table[ids, :k]`, `jnp.take` with any
    mode, `table[i:j]`, `csr @ table`, `bcoo @ table`, inside `jit`, `vmap`, `scan`, `fori_loop` with
    static bounds, `cond`, `checkpoint`, `shard_map`, functions with `custom_jvp`, and functions with
    `custom_vjp` that are given the rows. A table may be read in several places.

    With `row_sparse`, and outside of other transformations, the whole is compiled once for each form of
    the arguments and kept, as long as what `fun` reads beside them stays the same.

    Args:
      fun: gives a scalar, or with `has_aux` a pair of a scalar and anything.
      argnums: which positional arguments to differentiate.
      has_aux: whether `fun` returns auxiliary data.
      row_sparse: which of the differentiated leaves are tables read by rows: a bool, for all; one or
        several argument numbers; bools in a tree over the argument (over the tuple of arguments, if
        `argnums` names several), where a bool stands for everything below it and a key that is left
        out of a dict for False; or a function of a leaf's path, such as `"['emb']['table']"`, and
        the leaf.
      **kwargs: `holomorphic`, `allow_int` and `reduce_axes`, as for `jax.value_and_grad`.

    Returns:
      A function of the arguments of `fun` that returns the value and the gradient. The gradients of
      several arguments come as a tuple in the arguments' order; that of one argument comes bare.

    Raises:
      DenseUseError: a marked table is used other than by rows; the error names operation and line.
      TypeError: the value is not a real scalar, or a differentiated leaf is not floating.
      ValueError: `argnums` or `row_sparse` do not fit the arguments.

    >>> table, ids = jnp.ones((1000000, 2)), jnp.array([7, 3, 7])
    >>> value, gradient = value_and_grad(lambda t: t[ids].sum(), row_sparse=True)(table)
    >>> gradient
    BCOO(float32[1000000, 2], nse=3, n_dense=1)
    >>> gradient.indices[:, 0].tolist(), gradient.data[:, 0].tolist()
    ([3, 7, 1000000], [1.0, 2.0, 0.0])
    """
    return _value_and_grad("value_and_grad", fun, argnums, has_aux, row_sparse, kwargs)


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    row_sparse: Any = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Makes a function that computes the gradient of `fun`, with sparse arguments and results.

    As `value_and_grad`, without the value: it returns the gradient, or with `has_aux` a pair of the
    gradient and the auxiliary data.

    >>> from rarefy.sparse import BCOO
    >>> x, y = BCOO.fromdense(jnp.arange(3.0)), jnp.array([5.0, 6.0, 7.0])
    >>> grad(lambda x, y: x @ y)(x, y).data.tolist()
    [6.0, 7.0]
    """
    both = _value_and_grad("grad", fun, argnums, has_aux, row_sparse, kwargs)

    @wraps(fun)
    def gradient(*args, **kwargs):
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def _value_and_grad(
    name: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, row_sparse: Any, options: Any
) -> Callable[..., tuple[Any, Any]]:
    # For its checks of the options, as early as JAX makes them.
    jax.value_and_grad(fun, argnums=argnums, has_aux=has_aux, **options)

    def compute(*args, **kwargs):
        moving = _moving(name, fun, argnums, args, kwargs)
        marks = _marks(name, row_sparse, argnums, args, moving)
        if any(marks):
            value, found = _by_rows(name, moving, marks, has_aux, options)
        else:
            everything = tuple(range(len(moving.which)))
            value, found = jax.value_and_grad(
                moving.function, argnums=everything, has_aux=has_aux, **options
            )(*moving.buffers)
        return value, moving.gradients(found)

    programs = Programs(compute, fun)

    @wraps(fun)
    def both(*args, **kwargs):
        marks_none = row_sparse is None or row_sparse is False
        return compute(*args, **kwargs) if marks_none else programs(args, kwargs)

    return both


def _marks(
    name: str, row_sparse: Any, argnums: Any, args: Sequence[Any], moving: _Moving
) -> list[bool]:
    """For each differentiated leaf, whether it is a table read by rows."""
    numbers = _argument_numbers(name, argnums, args)
    by_argument = marked_leaves(row_sparse, numbers, args, is_sparse)
    of_argument = {n: iter(marks) for n, marks in zip(numbers, by_argument, strict=True)}
    marks = [next(of_argument[moving.flat.numbers[i]]) for i in moving.which]
    for i, mark in zip(moving.which, marks, strict=True):
        if not mark:
            continue
        leaf, where = moving.flat.leaves[i], moving.flat.names[i]
        if is_sparse(leaf):
            raise TypeError(
                f"{name}: row_sparse marks {where}, which is a {type(leaf).__name__}; its gradient is "
                f"sparse as it is, so leave it out"
            )
        if np.ndim(leaf) == 0 or not jnp.issubdtype(jnp.result_type(leaf), jnp.inexact):
            raise TypeError(
                f"{name}: row_sparse marks {where}, which must be a floating array with rows; got "
                f"{jnp.result_type(leaf)}{list(np.shape(leaf))}. Mark only the tables"
            )
    return marks


def _by_rows(
    name: str, moving: _Moving, marks: Sequence[bool], has_aux: bool, options: Any
) -> tuple[Any, list[Any]]:
    holomorphic = options.get("holomorphic", False)
    buffers = moving.buffers
    names = [moving.flat.names[i] for i in moving.which]
    still: dict[int, Any] = {}
    for k, buffer in enumerate(buffers):
        dtype = jnp.result_type(buffer)
        wanted = jnp.complexfloating if holomorphic else jnp.floating
        if jnp.issubdtype(dtype, wanted):
            buffers[k] = buffer if isinstance(buffer, jax.Array) else jnp.asarray(buffer)
        elif options.get("allow_int", False) and not jnp.issubdtype(dtype, jnp.inexact):
            still[k] = buffer
        else:
            raise TypeError(
                f"{name}: {names[k]} is {dtype}, and a gradient needs "
                f"{'complex (holomorphic=True)' if holomorphic else 'real floating'} inputs"
            )
    moved = [k for k in range(len(buffers)) if k not in still]

    def function(*args):
        full = list(buffers)
        for k, arg in zip(moved, args, strict=True):
            full[k] = arg
        out = moving.function(*full)
        _check_value(name, out, has_aux, holomorphic)
        return out

    value, found = row_value_and_grad(
        function,
        [buffers[k] for k in moved],
        [at for at, k in enumerate(moved) if marks[k]],
        [names[k] for k in moved],
        has_aux=has_aux,
    )
    gradients: list[Any] = [None] * len(buffers)
    for k, gradient in zip(moved, found, strict=True):
        gradients[k] = gradient
    for k, buffer in still.items():
        gradients[k] = np.zeros(np.shape(buffer), jax.dtypes.float0)
    return value, gradients


def _check_value(name: str, out: Any, has_aux: bool, holomorphic: bool) -> None:
    if has_aux:
        if not (isinstance(out, list | tuple) and len(out) == 2):
            raise TypeError(
                f"{name}: with has_aux=True the function must return a pair (value, aux), got {out!r}"
            )
        out = out[0]
    shape, dtype = np.shape(out), jnp.result_type(out)
    if shape != ():
        raise TypeError(
            f"{name}: a gradient is defined for functions with scalar output; got shape {shape}"
        )
    wanted = jnp.complexfloating if holomorphic else jnp.floating
    if not jnp.issubdtype(dtype, wanted):
        kind = "complex (holomorphic=True)" if holomorphic else "real floating"
        raise TypeError(f"{name}: the output must be {kind}, got {dtype}")


def _jacobian(
    name: str,
    transform: Callable[..., Any],
    fun: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    options: Any,
) -> Callable[..., Any]:
    transform(fun, argnums=argnums, **options)  # for its checks, as early as JAX makes them

    @wraps(fun)
    def jacobian_of(*args, **kwargs):
        moving = _moving(name, fun, argnums, args, kwargs)
        everything = tuple(range(len(moving.which)))
        of = transform(moving.function, argnums=everything, has_aux=has_aux, **options)
        out = of(*moving.buffers)
        found, aux = out if has_aux else (out, None)
        return (moving.gradients(found), aux) if has_aux else moving.gradients(found)

    return jacobian_of


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Makes a function that computes the Jacobian of `fun` in forward mode.

    Like `jax.jacfwd`. With respect to a sparse array it is taken only over the stored values, and is
    a sparse array whose batch axes are the axes of the output. The output must be one dense array.

    Args:
      fun, argnums, has_aux: as for `jax.jacfwd`.
      **kwargs: `holomorphic`.

    Returns:
      A function of the arguments of `fun`.
    """
    return _jacobian("jacfwd", jax.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Makes a function that computes the Jacobian of `fun` in reverse mode.

    Like `jax.jacrev`; otherwise as `jacfwd`.

    Args:
      fun, argnums, has_aux: as for `jax.jacrev`.
      **kwargs: `holomorphic` and `allow_int`.

    Returns:
      A function of the arguments of `fun`.
    """
    return _jacobian("jacrev", jax.jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev
