"""Optimizer updates: a weight and its states, moved by a gradient.

Each operator is one rule of `rarefy._primitives.rows_update`, for any mix of dense and row_sparse
arrays. A dense gradient, or `lazy_update=False`, moves all rows that the weight stores; a
row_sparse gradient with `lazy_update=True` moves its own rows and reads no other.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax

from rarefy._ops.gradient import with_data
from rarefy._ops.opdef import Operator, Scalar, operator
from rarefy._ops.storage import SType
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.rows_update import RULES, dense_update, rows_update
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import merge_rows, row_sparse_rows

Stored = jax.Array | BCOO
"""A dense array or a row_sparse value."""


@operator("sgd_update", updates=("weight",), differentiable=False)
def sgd_update(
    weight,
    grad,
    *,
    lr: Scalar,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of stochastic gradient descent.

    weight = (1 - lr * wd) * weight - lr * clip(rescale_grad * grad)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place. A row that a row_sparse weight does not store is not updated.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      lr: learning rate.
      wd: weight decay.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Otherwise all
        rows move, as with a dense gradient that is zero elsewhere.

    Returns:
      The new weight, in the storage type of `weight`.

    Cost: O(rows of `grad`) for a row_sparse gradient with `lazy_update`, if the weight is updated
    in place; else O(rows of `weight`).
    """
    return _update("sgd", lazy_update, (weight,), grad, (lr, wd, rescale_grad, clip_gradient))


@operator("sgd_mom_update", updates=("weight", "mom"), results=2, differentiable=False)
def sgd_mom_update(
    weight,
    grad,
    mom,
    *,
    lr: Scalar,
    momentum: Scalar = 0.0,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of stochastic gradient descent with momentum.

    mom = momentum * mom - lr * wd * weight - lr * clip(rescale_grad * grad)
    weight = weight + mom

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      mom: of the weight's shape and dtype, default or row_sparse; updated in place.
      lr: learning rate.
      momentum: how much of `mom` is kept.
      wd: weight decay.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, momentum)
    return _update("sgd_mom", lazy_update, (weight, mom), grad, hyper)


@operator("adam_update", updates=("weight", "mean", "var"), results=3, differentiable=False)
def adam_update(
    weight,
    grad,
    mean,
    var,
    *,
    lr: Scalar,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-8,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of Adam (Kingma and Ba, 2015), without the correction of bias.

    g = clip(rescale_grad * grad + wd * weight)
    mean = beta1 * mean + (1 - beta1) * g
    var = beta2 * var + (1 - beta2) * g**2
    weight = weight - lr * mean / (sqrt(var) + epsilon)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      mean: of the weight's shape and dtype, default or row_sparse; updated in place.
      var: as `mean`.
      lr: learning rate, corrected for bias: lr * sqrt(1 - beta2**t) / (1 - beta1**t) at update t.
      beta1: how much of `mean` is kept.
      beta2: how much of `var` is kept.
      epsilon: added to the root of `var`.
      wd: weight decay, as part of the gradient; clipped with it.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, beta1, beta2, epsilon)
    return _update("adam", lazy_update, (weight, mean, var), grad, hyper)


@operator("adagrad_update", updates=("weight", "history"), results=2, differentiable=False)
def adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: Scalar,
    epsilon: Scalar = 1e-7,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of AdaGrad (Duchi, Hazan and Singer, 2011).

    g = clip(rescale_grad * grad)
    history = history + g**2
    weight = weight - lr * (g / sqrt(history + epsilon) + wd * weight)

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      history: of the weight's shape and dtype, default or row_sparse; updated in place.
      lr: learning rate.
      epsilon: added to `history` under the root.
      wd: weight decay; it does not enter `history`.
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, epsilon)
    return _update("adagrad", lazy_update, (weight, history), grad, hyper)


@operator("ftrl_update", updates=("weight", "z", "n"), results=3, differentiable=False)
def ftrl_update(
    weight,
    grad,
    z,
    n,
    *,
    lr: Scalar,
    lamda1: Scalar = 0.01,
    beta: Scalar = 1.0,
    wd: Scalar = 0.0,
    rescale_grad: Scalar = 1.0,
    clip_gradient: Scalar = -1.0,
    lazy_update: bool = True,
):
    """Update of FTRL-proximal (McMahan and others, 2013), with L1 and L2 regularization.

    g = clip(rescale_grad * grad)
    z = z + g - (sqrt(n + g**2) - sqrt(n)) * weight / lr
    n = n + g**2
    weight = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where |z| > lamda1, else 0

    The weight is a function of `z` and `n`; what it was before enters only through `z`.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse. Pass it as `out` too, and it is updated in
        place.
      grad: of the weight's shape and a dtype no wider, default or row_sparse.
      z: of the weight's shape and dtype, default or row_sparse; updated in place.
      n: as `z`.
      lr: learning rate (alpha in the paper).
      lamda1: L1 coefficient.
      beta: as in the paper.
      wd: L2 coefficient (lambda2 in the paper).
      rescale_grad: factor on the gradient, applied before it is clipped.
      clip_gradient: bound on the absolute value of each element of the gradient; negative: none.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores. Otherwise all
        rows are computed anew from `z` and `n`.

    Returns:
      The new weight, in the storage type of `weight`.
    """
    hyper = (lr, wd, rescale_grad, clip_gradient, lamda1, beta)
    return _update("ftrl", lazy_update, (weight, z, n), grad, hyper)


@operator("_ftrl_warm_start", differentiable=False, visible="internal")
def ftrl_warm_start(weight, *, lr: Scalar, lamda1: Scalar, beta: Scalar, wd: Scalar):
    """The `z` from which, with `n` zero, `ftrl_update` computes the given weight.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse.
      lr, lamda1, beta, wd: as in `ftrl_update`.

    Returns:
      `z`, in the weight's shape, dtype and storage type.
    """
    wide = weight.astype(jnp.promote_types(weight.dtype, jnp.float32))
    z = -wide * (beta / lr + wd) - jnp.sign(wide) * lamda1
    return z.astype(weight.dtype)


@ftrl_warm_start.rule("row_sparse", out="row_sparse")
def _(weight, **hyper):
    return with_data(weight, ftrl_warm_start.fn(weight.data, **hyper))


@operator("_copy_rows", updates=("weight",), differentiable=False, visible="internal")
def copy_rows(weight, source, grad, *, lazy_update: bool = True):
    """Copies into `weight`, in its own dtype, what an update by `grad` has moved in `source`.

    Args:
      weight: `(n, *d)`, floating, default or row_sparse.
      source: of the same shape, storage type and, where row_sparse, rows; any floating dtype.
      grad: the gradient that `source` was updated by.
      lazy_update: as `source` was updated.

    Returns:
      The new weight.
    """
    if isinstance(weight, BCOO) or isinstance(source, BCOO):
        if not (isinstance(weight, BCOO) and isinstance(source, BCOO)):
            raise TypeError("weight and source must have one storage type")
        return with_data(weight, source.data.astype(weight.dtype))
    if not isinstance(grad, BCOO) or not lazy_update:
        return source.astype(weight.dtype)
    rows = row_sparse_rows(grad)
    moved = take_rows(source, rows).astype(weight.dtype)
    return weight.at[rows].set(moved, mode="drop")


def _register_rules(op: Operator, fn: Callable[..., Any]) -> None:
    """Gives an operator that handles every mix of default and row_sparse arrays its rules."""
    positions = [op.arrays.index(name) for name in op.updates]
    mixes = itertools.product(("default", "row_sparse"), repeat=len(op.arrays))
    for signature in cast("Iterator[tuple[SType, ...]]", mixes):
        if "row_sparse" in signature:
            out: tuple[SType, ...] = tuple(signature[i] for i in positions)
            op.rule(*signature, out=out)(fn)


for _op in (sgd_update, sgd_mom_update, adam_update, adagrad_update, ftrl_update, copy_rows):
    _register_rules(_op, _op.fn)


def _update(
    rule: str,
    lazy: bool,
    values: Sequence[Stored],
    grad: Stored,
    hyper: Sequence[Any],
) -> tuple[Stored, ...]:
    """Applies a rule to a weight and its states, of any storage types."""
    _check(RULES[rule].states, values, grad)
    weight, *states = map(_canonical, values)
    double = weight.dtype == jnp.float64
    numbers = jnp.stack([jnp.asarray(h, jnp.float64 if double else jnp.float32) for h in hyper])
    ids, gradient = _gradient_rows(grad, weight)
    if isinstance(weight, BCOO):
        rows = row_sparse_rows(weight)
        tables, restore = _tables_of_rows(weight, rows, states, ids, lazy)
    else:
        tables, restore = _tables_of_dense(weight, states, ids, lazy)
    if ids is None:
        moved = dense_update(rule, tables, gradient, numbers)
    elif lazy:
        moved = rows_update(rule, tables, ids, gradient, numbers)
    else:
        moved = _all_rows(rule, tables, ids, gradient, numbers)
    return restore(moved)


def _check(names: Sequence[str], values: Sequence[Stored], grad: Stored) -> None:
    weight, *states = values
    if weight.ndim == 0 or not jnp.issubdtype(weight.dtype, jnp.floating):
        raise TypeError(
            f"weight must be floating with a first dimension of rows; got {weight.shape} "
            f"{weight.dtype}"
        )
    if grad.shape != weight.shape:
        raise ValueError(f"grad is {grad.shape} and weight {weight.shape}; they must be equal")
    if jnp.promote_types(grad.dtype, weight.dtype) != weight.dtype:
        raise TypeError(
            f"grad is {grad.dtype} and weight {weight.dtype}, which holds less; pass "
            f"grad.astype('{weight.dtype}'), or update a weight of {grad.dtype}"
        )
    for name, state in zip(names, states, strict=True):
        if state.shape != weight.shape or state.dtype != weight.dtype:
            raise ValueError(
                f"{name} is {state.shape} {state.dtype} and weight {weight.shape} {weight.dtype}; "
                "they must be equal"
            )


def _canonical(value: Stored) -> Stored:
    """The value with rows ascending and unique, as every rule needs them."""
    if not isinstance(value, BCOO) or (value.indices_sorted and value.unique_indices):
        return value
    return merge_rows(row_sparse_rows(value), value.data, value.shape[0])


def _gradient_rows(grad: Stored, weight: Stored) -> tuple[jax.Array | None, jax.Array]:
    """Positions in the weight's table and the gradient there; None for all of them, in order."""
    if not isinstance(grad, BCOO):
        gradient = grad.astype(weight.dtype)
        if isinstance(weight, BCOO):
            gradient = take_rows(gradient, row_sparse_rows(weight))
        return None, gradient
    merged = _canonical(grad)
    assert isinstance(merged, BCOO)
    ids, gradient = row_sparse_rows(merged), merged.data.astype(weight.dtype)
    if not isinstance(weight, BCOO):
        return ids, gradient
    n_slots = weight.data.shape[0]
    places = _locate(row_sparse_rows(weight), ids, weight.shape[0])
    # Rows that the weight lacks are padding now, and padding comes last.
    order = group_rows(places, n_rows=n_slots, capacity=0).order
    return places[order], gradient[order]


def _locate(rows: jax.Array, ids: jax.Array, n: int) -> jax.Array:
    """Where each of `ids` stands in `rows`; `len(rows)` for one that does not or is padding."""
    n_slots = rows.shape[0]
    if n_slots == 0:
        return jnp.zeros(ids.shape, rows.dtype)
    ids = ids.astype(rows.dtype)
    places = jnp.searchsorted(rows, ids).astype(rows.dtype)
    found = (rows[jnp.minimum(places, n_slots - 1)] == ids) & (ids >= 0) & (ids < n)
    return jnp.where(found, places, jnp.asarray(n_slots, rows.dtype))


Restore = Callable[[Sequence[jax.Array]], tuple[Stored, ...]]


def _tables_of_dense(
    weight: jax.Array, states: Sequence[Stored], ids: jax.Array | None, lazy: bool
) -> tuple[list[jax.Array], Restore]:
    """Tables `(n, *d)` of a dense weight; its row_sparse states come to store every row."""
    tables, kept = [weight], []
    for state in states:
        if isinstance(state, BCOO):
            every = jnp.arange(weight.shape[0], dtype=state.indices.dtype)
            state = _align(state, every, ids if lazy else None)
            tables.append(state.data)
        else:
            tables.append(state)
        kept.append(state)

    def restore(moved):
        return (moved[0], *(_with(s, m) for s, m in zip(kept, moved[1:], strict=True)))

    return tables, restore


def _tables_of_rows(
    weight: BCOO, rows: jax.Array, states: Sequence[Stored], ids: jax.Array | None, lazy: bool
) -> tuple[list[jax.Array], Restore]:
    """Tables `(slots, *d)` of a row_sparse weight, in the order of its rows."""
    tables, kept = [weight.data], []
    for state in states:
        if isinstance(state, BCOO):
            state = _align(state, rows, ids if lazy else None)
            tables.append(state.data)
        else:
            tables.append(take_rows(state, rows))
        kept.append(state)

    def restore(moved):
        out: list[Stored] = [with_data(weight, moved[0])]
        for state, table in zip(kept, moved[1:], strict=True):
            if isinstance(state, BCOO):
                out.append(with_data(state, table))
            else:
                out.append(state.at[rows].set(table, mode="drop"))
        return tuple(out)

    return tables, restore


def _with(value: Stored, data: jax.Array) -> Stored:
    return with_data(value, data) if isinstance(value, BCOO) else data


def _align(state: BCOO, rows: jax.Array, ids: jax.Array | None) -> BCOO:
    """Brings a row_sparse state to the slots of `rows`, where it does not have them already.

    A state starts without rows; at its first update it gets the weight's, once.

    Args:
      state: `(n, *d)`.
      rows: `(slots,)`, ascending, `n` for padding.
      ids: the slots that are going to be read, `slots` for padding; None for all of them. Only
        these are compared.
    """
    n, slots, have = state.shape[0], rows.shape[0], row_sparse_rows(state)
    rows = rows.astype(have.dtype)

    def aligned(data, have):
        return take_rows(data, _locate(have, rows, n))

    if have.shape[0] != slots:
        return state._with_buffers(aligned(state.data, have), rows[:, None])
    if slots == 0:
        return state
    if ids is None:
        same = jnp.all(have == rows)
    else:
        clipped = jnp.minimum(ids, slots - 1)
        same = jnp.all((have[clipped] == rows[clipped]) | (ids >= slots))
    # A loop of at most one turn, as XLA copies both tables for a `cond` and none for a loop.
    data, have, _ = lax.while_loop(
        lambda carry: ~carry[2],
        lambda carry: (aligned(carry[0], carry[1]), rows, jnp.asarray(True)),
        (state.data, have, same),
    )
    return state._with_buffers(data, have[:, None])


def _all_rows(
    rule: str,
    tables: Sequence[jax.Array],
    ids: jax.Array,
    grad: jax.Array,
    hyper: jax.Array,
) -> tuple[jax.Array, ...]:
    """The dense rule's numbers for a gradient that is zero outside `ids`, never made dense."""
    zero = jnp.zeros(tables[0].shape, tables[0].dtype)  # fused into the update, never stored
    elsewhere = dense_update(rule, tables, zero, hyper)
    here = dense_update(rule, [take_rows(t, ids) for t in tables], grad, hyper)
    return tuple(t.at[ids].set(h, mode="drop") for t, h in zip(elsewhere, here, strict=True))
