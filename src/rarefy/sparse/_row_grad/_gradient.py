"""The value of a function and its gradient, by rows for the marked tables."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend.core import jaxpr_as_fun

from rarefy.sparse._bcoo import BCOO
from rarefy.sparse._row_grad._blame import DenseUse, DenseUseError, error_of
from rarefy.sparse._row_grad._changed import check_reads
from rarefy.sparse._row_grad._mixed import Mixed
from rarefy.sparse._row_grad._table import LINEAR, Fed, Site, Table, is_site
from rarefy.sparse._row_grad._walk import Walk, feed_of
from rarefy.sparse._row_sparse import merge_rows


def row_value_and_grad(
    function: Callable[..., Any],
    primals: Sequence[jax.Array],
    tables: Sequence[int],
    names: Sequence[str],
    *,
    has_aux: bool,
) -> tuple[Any, list[Any]]:
    """Computes a function and its gradient, which for some arguments is made of rows.

    The function is linearized by JAX. What comes out is a linear jaxpr of the tangents, and in it the
    tangent of a table is only read by rows, or it is an error. In a first walk through that jaxpr
    the ids of those rows are found. In a second walk each read of a row is replaced by an input of
    its own: the transpose of that gives a cotangent for each row that was read, and one for each
    dense argument. No array of a table's size has a part in it.

    Args:
      function: of the arrays `primals`, to a scalar, or with `has_aux` a scalar and anything.
      primals: floating (or complex) arrays.
      tables: positions of those that are tables.
      names: of all primals, for errors.
      has_aux: as for `jax.grad`.

    Returns:
      What `function` returned, and for each primal an array or a row_sparse BCOO.

    Raises:
      DenseUseError: a table is used other than by rows.
    """
    position = {index: leaf for leaf, index in enumerate(tables)}

    def checked(*args):
        out = function(*args)
        if has_aux:
            for leaf in jax.tree.leaves(out[1]):
                for index in tables:
                    if leaf is args[index]:
                        raise _returned(names[index])
        return out if has_aux else (out, None)

    own = _trace(checked, primals)
    value, tangent_of, aux = jax.linearize(own.function, *primals, has_aux=True)
    closed = jax.make_jaxpr(tangent_of)(*primals)

    inputs: list[Any] = [LINEAR] * len(primals)
    for index, leaf in position.items():
        primal = primals[index]
        inputs[index] = Table(leaf, primal.shape, primal.shape, np.dtype(primal.dtype))
    finding = Walk()
    try:
        finding.run(closed.jaxpr, closed.consts, inputs)
        if own.jaxpr is not None:
            check_reads(own.jaxpr, position)
    except DenseUse as use:
        index = tables[use.leaf]
        raise error_of(use, names[index], own.jaxpr, index) from None

    dense = [i for i in range(len(primals)) if i not in position]
    zeros = jax.tree.map(
        lambda site: _tangents(site, primals[tables[site.leaf]]), finding.record, is_leaf=is_site
    )

    def linear(tangents, row_tangents):
        full = list(inputs)
        for i, tangent in zip(dense, tangents, strict=True):
            full[i] = tangent
        walk = Walk(feed_of(finding.record, row_tangents))
        return walk.run(closed.jaxpr, closed.consts, full)[0]

    transposed = jax.linear_transpose(linear, [primals[i] for i in dense], zeros)
    dense_cotangents, row_cotangents = transposed(jnp.ones_like(value))
    gradients: list[Any] = [None] * len(primals)
    for i, cotangent in zip(dense, dense_cotangents, strict=True):
        gradients[i] = cotangent
    feeds = jax.tree.leaves(feed_of(finding.record, row_cotangents), is_leaf=is_site)
    for index, leaf in position.items():
        mine = [fed for fed in feeds if fed.site.leaf == leaf]
        gradients[index] = _merged(mine, primals[index])
    return (value, own.aux(aux)) if has_aux else value, gradients


def _tangents(site: Site, table: jax.Array) -> jax.Array:
    """Zeros in place of the rows that a site reads."""
    zeros = jnp.zeros((*site.ids.shape, *table.shape[1:]), table.dtype)
    return lax.pcast(zeros, site.varying, to="varying") if site.varying else zeros


def _merged(feeds: Sequence[Fed], table: jax.Array) -> BCOO:
    """The gradient of a table from the cotangents of all the rows that were read."""
    n, *d = table.shape
    if len(feeds) == 1 and feeds[0].site.canonical and not feeds[0].site.summed_over:
        ids = feeds[0].site.ids
        return BCOO._trusted(feeds[0].tangents, ids[:, None], table.shape, True, True)
    ids, values = [], []
    for fed in feeds:
        own_ids, own_values = fed.site.ids.reshape(-1), fed.tangents.reshape(-1, *d)
        for axis in fed.site.summed_over:
            own_ids = lax.all_gather(own_ids, axis, tiled=True, to="invarying")
            own_values = lax.all_gather(own_values, axis, tiled=True, to="invarying")
        ids.append(own_ids)
        values.append(own_values)
    if not ids:
        return merge_rows(jnp.zeros(0, jnp.int32), jnp.zeros((0, *d), table.dtype), n)
    return merge_rows(jnp.concatenate(ids), jnp.concatenate(values), n)


class _Own(NamedTuple):
    """The function itself.

    Attributes:
      function: of the primals, to the value and the auxiliary arrays.
      jaxpr: its program; None where it needs the numbers of its arguments.
      aux: makes the auxiliary output from the auxiliary arrays.
    """

    function: Callable[..., Any]
    jaxpr: Any
    aux: Callable[[Any], Any]


def _trace(function: Callable[..., Any], primals: Sequence[jax.Array]) -> _Own:
    """Traces a function of arrays to a value and auxiliary output, and runs it but once."""
    kept: list[Mixed] = []

    def arrays_of(*args):
        value, aux = function(*args)
        kept[:] = [Mixed.of(aux)]
        return jnp.asarray(value), kept[0].arrays

    try:
        program = jax.make_jaxpr(arrays_of)(*primals)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):
        return _Own(function, None, lambda aux: aux)
    run = jaxpr_as_fun(program)

    def again(*args):
        value, *aux = run(*args)
        return value, aux

    return _Own(again, program.jaxpr, lambda aux: replace(kept[0], arrays=aux).tree())


def _returned(name: str) -> DenseUseError:
    return DenseUseError(
        f"row_sparse: the function returns {name} itself as auxiliary output, which would copy all of "
        f"it. Take it from the arguments where it is needed, or return jax.lax.stop_gradient of it."
    )
