"""Invoking an operator on handles: where values, storage types, the tape and cells meet."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rarefy import autograd
from rarefy._cell import Cell
from rarefy._key import next_key
from rarefy._later import finish_all
from rarefy._ops import deferred, fallback
from rarefy._ops.chosen import log_storage
from rarefy._ops.compiled import run, split_params
from rarefy._ops.infer import Plan, infer
from rarefy._ops.opdef import OPERATORS, Operator, Signature
from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, Value, canonical, convert, is_traced, to_dense
from rarefy._watch import watch
from rarefy.autograd._mode import _mode
from rarefy.autograd._tape import Slot, record, spare
from rarefy.base import MXNetError, NotAnArrayError, ParameterError, PlaceError
from rarefy.nd._handle import Handle
from rarefy.nd._unknown import UnknownShapeError, settle
from rarefy.sparse import BCOO


def invoke(
    op: Operator,
    arrays: Sequence[Handle | None],
    params: dict[str, Any],
    out: Handle | Sequence[Handle] | None = None,
) -> Any:
    """Runs an operator on handles.

    Args:
      op: the operator.
      arrays: its arrays in order, None for an optional one that is absent.
      params: its parameters, all of them; static ones hashable.
      out: the array, or the arrays, that the results are written to; they keep their storage type.

    Returns:
      A handle, or a list of handles where the operator has several results; `out` where it is given.
      Results that replace an array (`updates`) after the first are not returned.

    Raises:
      TypeError: an argument is not an array of this library.
      MXNetError: the operator refuses shapes or dtypes; `out` does not fit.
      StorageFallbackError: arrays would have to be made dense and settings refuse that.
    """
    try:
        given, signature = _read(op, arrays)
    except UnknownShapeError:
        settle(op, arrays, params)
        given, signature = _read(op, arrays)
    one_shape = (
        signature == _TWO_DENSE or len(given) != 2 or _shape_of(given[0]) == _shape_of(given[1])
    )
    plan = infer(op, signature, params, one_shape=one_shape)
    if (
        op.hint
        and params[op.hint] is not None
        and (plan.fallback or params[op.hint] not in plan.out)
    ):
        return _converted(op, arrays, params, out)
    log_storage(plan, signature)
    training = op.needs_training and autograd.is_training()
    key = next_key() if op.needs_key and op.draws(params) else None
    with wide():
        values = given
        if plan.fallback or plan.spreads:
            values = _densified(plan, signature, params, given)
        try:
            if op.check is not None and not (plan.rule is not None and plan.rule.checks):
                deferred.check(op, values, params)
            donate = _donated(op, params, arrays, values, out) if op.updates else ()
            if watch.run is None:
                results = run(plan, values, params, key=key, training=training, donate=donate)
            else:
                results = watch.run(
                    op.name,
                    run,
                    plan,
                    values,
                    params,
                    key=key,
                    training=training,
                    donate=donate,
                )
        except (TypeError, ValueError, IndexError) as error:
            kind = PlaceError if isinstance(error, IndexError) else MXNetError
            raise kind(f"{op.name}: {error}") from error
    slots: Sequence[Slot | None] = _NO_SLOT if len(results) == 1 else (None,) * len(results)
    if _mode.recording:
        taped = [None if a is None else a._slot for a in arrays]
        if any(taped):
            slots = record(plan, params, training, key, taped, values, results, given)
    if op.updates:
        return _store_updates(op, params, arrays, results, out)
    if op.aux:
        results = _store_aux(op, arrays, results, training)
    return _deliver(op, plan, arrays, results, slots, out)


_NO_SLOT = (None,)
_TWO_DENSE = ("default", "default")


def _shape_of(value: Value | None) -> tuple[int, ...] | None:
    return None if value is None else value.shape


def _converted(op: Operator, arrays, params: dict[str, Any], out) -> Any:
    """The result in the storage type that the caller asks for, where no rule gives it."""
    assert op.hint is not None
    wanted = params[op.hint]
    result = invoke(op, arrays, {**params, op.hint: None})
    cast = OPERATORS["cast_storage"]
    if result._stype not in ("default", wanted):
        result = invoke(cast, (result,), {"stype": "default"})
    return invoke(cast, (result,), {"stype": wanted}, out)


def _read(op: Operator, arrays: Sequence[Any]) -> tuple[list[Value | None], Signature]:
    """The values of handles and their storage types; sparse values without repeats."""
    values: list[Any] = []
    signature: list[SType | None] = []
    for position, array in enumerate(arrays):
        if isinstance(array, Handle):
            stype = array._stype
            value = array._cell.value if array._path is None else array._value
            values.append(value if stype == "default" else canonical(value))
            signature.append(stype)
            continue
        name = op.arrays[min(position, len(op.arrays) - 1)]
        if array is None and name not in op.optional:
            raise ParameterError(f"{op.name}: {name} is missing")
        if array is not None:
            raise NotAnArrayError(
                f"{op.name}: {name} must be an array of rarefy; got {type(array).__name__}. Make one "
                "with nd.array(...)"
            )
        values.append(None)
        signature.append(None)
    return values, tuple(signature)


def _densified(plan: Plan, signature: Signature, params: dict[str, Any], values: list) -> list:
    """The values as a plan without a sparse rule needs them; counted, or refused."""
    if not plan.fallback:
        fallback.require_room(plan.op, signature, values)
        return values
    fallback.note(plan.op, signature, split_params(plan.op, params)[0], values)
    return [None if v is None else to_dense(v) for v in values]


def _donated(op, params, arrays, values, out) -> tuple[int, ...]:
    """Positions of the updated arrays whose buffers nothing else can need."""
    positions = []
    updated, count = op.updated(params), op.n_returned(params)
    spare(arrays[i]._cell for i in updated if arrays[i] is not None)
    outs = out if isinstance(out, list | tuple) else [out]
    for k, i in enumerate(updated):
        array = arrays[i]
        if array is None or (k < count and not (k < len(outs) and outs[k] is array)):
            continue
        array._leave_record()  # now: were it refused after the run, donated buffers would be gone
        whole = array._path is None and not array._cell.shared
        alone = sum(a is not None and a._cell is array._cell for a in arrays) == 1
        kept = _keeps_slots(values[i], values[updated[0]])
        if whole and alone and kept and not is_traced(values[i]):
            positions.append(i)
    if positions:
        finish_all()
    return tuple(positions)


def _keeps_slots(state: Any, weight: Any) -> bool:
    """Whether a state comes back in buffers of the same size. A row_sparse one gets the slots of the
    weight if it has others, as one that stores nothing yet has."""
    if not isinstance(state, BCOO):
        return True
    return state.nse == (weight.nse if isinstance(weight, BCOO) else weight.shape[0])


def _store_updates(op, params, arrays, results, out):
    updated, count = op.updated(params), op.n_returned(params)
    outs = list(out) if isinstance(out, list | tuple) else [out] if out is not None else []
    if out is not None and len(outs) != count:
        raise MXNetError(f"{op.name}: out has {len(outs)} arrays for {count} weights")
    for i, handle, result in zip(updated, outs, results, strict=False):
        if handle is not arrays[i]:
            _check_out(op, handle, result)
    with wide():
        for i, result in zip(updated[count:], results[count:], strict=True):
            if arrays[i] is not None:
                arrays[i]._store(convert(result, arrays[i]._stype))
        for handle, result in zip(outs, results, strict=False):
            handle._store(convert(result, handle._stype))
    if out is not None:
        return out
    handles = [Handle._wrap(result) for result in results[:count]]
    return handles[0] if len(handles) == 1 else handles


def _store_aux(op, arrays, results, training: bool):
    """Moves the state of an operator on, in training; the results that are the caller's."""
    own = len(results) - len(op.aux)
    if training:
        for name, result in zip(op.aux, results[own:], strict=True):
            state = arrays[op.arrays.index(name)]
            if state._path is None:
                state._cell.store(result)  # a variable without gradient may change while recorded
            else:
                state._store(result)
    return results[:own]


def _deliver(op, plan, arrays, results, slots, out):
    if out is None and len(results) == 1 == len(plan.out):
        stype, result = plan.out[0], results[0]
        dense = stype == "default"
        shared = _share(arrays, result if dense else result._bufs, dense)
        ctx = arrays[0]._ctx if arrays and arrays[0] is not None else None
        return _new(stype, result, slots[0], shared, ctx)
    shared = [
        _share(arrays, r if stype == "default" else r._bufs, stype == "default")
        for stype, r in zip(plan.out, results, strict=False)
    ]
    if out is None:
        ctx = arrays[0]._ctx if arrays and arrays[0] is not None else None
        handles = [
            _new(stype, r, s, h, ctx)
            for stype, r, s, h in zip(plan.out, results, slots, shared, strict=not op.aux)
        ]
        return handles[0] if len(handles) == 1 else handles
    outs = list(out) if isinstance(out, list | tuple) else [out]
    if len(outs) != len(results):
        raise MXNetError(f"{op.name}: out has {len(outs)} arrays for {len(results)} results")
    for handle, result, slot, h in zip(outs, results, slots, shared, strict=not op.aux):
        _check_out(op, handle, result)
        with wide():
            handle._store(convert(result, handle._stype), shared=h)
        handle._slot = slot or handle._slot
    return out


def _new(stype: SType, value: Value, slot: Slot | None, shared: bool, ctx) -> Handle:
    handle = Handle._classes[stype](Cell(value, shared=shared), None, slot)
    handle._ctx = ctx
    return handle


def _share(arrays: Sequence[Handle | None], result: Any, dense: bool) -> bool:
    """Marks the arrays whose buffers a result has taken over unchanged; whether there are any.

    `result` is the buffer of a dense result, or the buffers of a sparse one.
    """
    found = False
    for array in arrays:
        if array is None:
            continue
        value: Any = array._cell.value
        if array._stype == "default":
            same = value is result if dense else any(value is leaf for leaf in result)
        elif dense:
            same = any(mine is result for mine in value._bufs)
        else:
            same = any(mine is leaf for mine in value._bufs for leaf in result)
        if same:
            array._cell.shared = found = True
    return found


def _check_out(op: Operator, out: Any, result: Value) -> None:
    if not isinstance(out, Handle):
        raise TypeError(f"{op.name}: out must be an array of rarefy; got {type(out).__name__}")
    have, dtype = out._value.shape, np.dtype(out._value.dtype)
    if have != result.shape or dtype != result.dtype:
        raise MXNetError(
            f"{op.name}: out is {have} {dtype}, the result {result.shape} {result.dtype}; they must "
            "be equal"
        )
