"""How update operators apply a rule to a weight and its states, dense or row_sparse in any mix."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rarefy._ops.defs._update_rules import ROW_RULES, RowRule
from rarefy._ops.gradient import with_data
from rarefy._ops.opdef import Operator
from rarefy._ops.storage import SType
from rarefy._primitives.csr_t_update import csr_t_update
from rarefy._primitives.group_rows import group_rows
from rarefy._primitives.rows_update import RULES, dense_update, rows_update
from rarefy._primitives.take_rows import take_rows
from rarefy.sparse import BCOO
from rarefy.sparse._row_sparse import factors_of, kernel_indices, merge_rows, row_sparse_rows

Stored = jax.Array | BCOO
"""A dense array or a row_sparse value."""


def update(
    rule: str,
    lazy: bool,
    values: Sequence[Stored],
    grad: Stored,
    hyper: Sequence[Any],
) -> tuple[Stored, ...]:
    """Applies a rule to a weight and its states, of any storage types.

    Args:
      rule: a key of `RULES` or of `ROW_RULES`.
      lazy: whether a row_sparse gradient moves only the rows that it stores.
      values: the weight and the states that the rule names.
      grad: of the weight's shape and a dtype no wider.
      hyper: the numbers that the rule names, in order.

    Returns:
      The new weight and states, each in the storage type it had.
    """
    _check(rule, values, grad)
    weight, *states = map(_canonical, values)
    double = weight.dtype == jnp.float64
    numbers = jnp.stack([jnp.asarray(h, jnp.float64 if double else jnp.float32) for h in hyper])
    if lazy and (factors := _narrow_factors(rule, weight, states, grad)):
        return csr_t_update(rule, (weight, *states), *factors, numbers)
    ids, gradient = _gradient_rows(grad, weight)
    if isinstance(weight, BCOO):
        rows = row_sparse_rows(weight)
        tables, restore = _tables_of_rows(weight, rows, states, ids, lazy)
    else:
        tables, restore = _tables_of_dense(weight, states, ids, lazy)
    if ids is None:
        moved = _whole(rule, tables, gradient, numbers)
    elif lazy:
        moved = _rows(rule, tables, ids, gradient, numbers)
    else:
        moved = _all_rows(rule, tables, ids, gradient, numbers)
    return restore(moved)


_NARROW = 8
"""Up to how many numbers of a row, weight and states together, are moved by the factors of the gradient
(benchmarks/test_rows.py)."""


def _narrow_factors(
    rule: str, weight: Stored, states: Sequence[Stored], grad: Stored
) -> tuple[jax.Array, ...] | None:
    """Data, indices and indptr of csr and the dense value of which a gradient is `csr.T @ dense`, where
    to know them is worth more than the gradient."""
    if not isinstance(grad, BCOO) or rule not in RULES:
        return None
    factors = factors_of(grad)
    if factors is None or any(isinstance(x, BCOO) for x in (weight, *states)):
        return None
    csr, dense = factors
    dtypes = {x.dtype for x in (csr.data, dense, grad.data, weight)}
    numbers = math.prod(weight.shape[1:]) * (1 + len(states))
    if numbers > _NARROW or dtypes not in ({_FLOAT32}, {_FLOAT64}):
        return None
    indices, indptr = kernel_indices(csr)
    return csr.data, indices, indptr, dense


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def any_mix(op: Operator) -> Operator:
    """Gives an operator that handles every mix of default and row_sparse arrays its rules."""
    assert not callable(op.updates)
    positions = [op.arrays.index(name) for name in op.updates]
    mixes = itertools.product(("default", "row_sparse"), repeat=len(op.arrays))
    for signature in cast("Iterator[tuple[SType, ...]]", mixes):
        if "row_sparse" in signature:
            out: tuple[SType, ...] = tuple(signature[i] for i in positions)
            op.rule(*signature, out=out)(op.fn)
    return op


def _check(rule: str, values: Sequence[Stored], grad: Stored) -> None:
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
    known = ROW_RULES.get(rule) or RULES[rule]
    shape = weight.shape
    if isinstance(known, RowRule) and known.one_a_row:
        shape = (shape[0], *(1,) * (weight.ndim - 1))
    for name, state in zip(known.states, states, strict=True):
        if state.shape != shape or state.dtype != weight.dtype:
            raise ValueError(
                f"{name} is {state.shape} {state.dtype} and weight {weight.shape} {weight.dtype}; "
                f"{name} must be {shape} {weight.dtype}"
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
    rows, n = row_sparse_rows(weight), weight.shape[0]
    n_slots = rows.shape[0]

    def looked_up() -> tuple[jax.Array, jax.Array]:
        places = _locate(rows, ids, n)
        # Rows that the weight lacks are padding now, and padding comes last.
        order = group_rows(places, n_rows=n_slots, capacity=0).order
        return places[order], order

    if n_slots < n or n == 0:
        places, order = looked_up()
    else:  # a weight that stores all its rows has row i in slot i
        places, order = lax.cond(
            rows[n - 1] == n - 1,
            lambda: jax.tree.map(
                lambda like, made: made.astype(like.dtype),
                jax.eval_shape(looked_up),
                (ids, lax.iota(ids.dtype, ids.shape[0])),
            ),
            looked_up,
        )
    return places, gradient[order]


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
    elsewhere = _whole(rule, tables, zero, hyper)
    here = _whole(rule, [take_rows(t, ids) for t in tables], grad, hyper)
    return tuple(t.at[ids].set(h, mode="drop") for t, h in zip(elsewhere, here, strict=True))


def _whole(
    rule: str, tables: Sequence[jax.Array], grad: jax.Array, hyper: jax.Array
) -> tuple[jax.Array, ...]:
    """A rule on all rows of the tables."""
    if rule in RULES:
        return dense_update(rule, tables, grad, hyper)
    wide = [x.astype(hyper.dtype) for x in (grad, *tables)]
    new = ROW_RULES[rule].apply(*wide, *hyper)
    return tuple(x.astype(t.dtype) for x, t in zip(new, tables, strict=True))


def _rows(
    rule: str, tables: Sequence[jax.Array], ids: jax.Array, grad: jax.Array, hyper: jax.Array
) -> tuple[jax.Array, ...]:
    """A rule on the rows `ids` of the tables, ascending with padding last."""
    if rule in RULES:
        return rows_update(rule, tables, ids, grad, hyper)
    new = _whole(rule, [take_rows(t, ids) for t in tables], grad, hyper)
    return tuple(
        t.at[ids].set(x, mode="drop", indices_are_sorted=True)
        for t, x in zip(tables, new, strict=True)
    )
