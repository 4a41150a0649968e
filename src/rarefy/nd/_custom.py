"""Operators written in Python: `nd.Custom(x, op_type="mine")` runs the one registered as "mine"."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rarefy._ops.custom import PROPS, prop_of
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, zeros_of
from rarefy.autograd import GradientError, is_recording, is_training
from rarefy.autograd._mode import _scope
from rarefy.autograd._tape import Slot, keep, next_number
from rarefy.base import MXNetError
from rarefy.context import current_context
from rarefy.nd._handle import Handle


class CustomOp:
    """What a custom operator computes. A subclass defines `forward` and, for gradients, `backward`;
    both fill the arrays they are given with `assign`."""

    def forward(self, is_train: bool, req: list[str], in_data, out_data, aux) -> None:
        """Computes the results.

        Args:
          is_train: whether operators behave as in training.
          req: for each result how it is assigned: 'write', 'add' or 'null'.
          in_data: the arrays.
          out_data: arrays of zeros, to be filled.
          aux: the auxiliary states; may be changed in place.
        """

    def backward(self, req: list[str], out_grad, in_data, out_data, in_grad, aux) -> None:
        """Computes the cotangents of the arrays.

        Args:
          req: for each array how its cotangent is assigned: 'write', 'add' or 'null'.
          out_grad: the cotangents of the results.
          in_data, out_data: arrays and results; None where `declare_backward_dependency` leaves
            them out, as for `out_grad`.
          in_grad: arrays of zeros, to be filled.
          aux: the auxiliary states.
        """

    def assign(self, dst, req: str, src) -> None:
        """Writes `src` into `dst`, adds it, or does nothing, as `req` says."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """What is known of a custom operator: its arrays, shapes, dtypes and storage types.

    Args:
      need_top_grad: whether the cotangents of the results are needed to go back; a loss needs none.
    """

    def __init__(self, need_top_grad: bool = True):
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the arrays."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the results."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states."""
        return []

    def infer_shape(self, in_shape) -> Any:
        """Shapes of the arrays, the results and (may be left out) the auxiliary states."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type) -> Any:
        """Dtypes of the arrays, the results and (may be left out) the auxiliary states."""
        states = len(self.list_auxiliary_states())
        return in_type, [in_type[0]] * len(self.list_outputs()), [in_type[0]] * states

    def infer_storage_type(self, in_stype) -> Any:
        """Storage types of the arrays, the results and (may be left out) the auxiliary states."""
        _require_default("infer_storage_type", in_stype=in_stype)
        states = len(self.list_auxiliary_states())
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * states

    def infer_storage_type_backward(
        self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype
    ) -> Any:
        """Storage types of the same in `backward`; 'undefined' stands for a cotangent of an array
        that nothing has decided yet."""
        decided = ["default" if s == "undefined" else s for s in igrad_stype]
        _require_default(
            "infer_storage_type_backward", ograd_stype=ograd_stype, igrad_stype=decided
        )
        kinds = (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype)
        return tuple(["default"] * len(k) for k in kinds)

    def declare_backward_dependency(self, out_grad, in_data, out_data) -> list[int]:
        """Which of the numbered arrays `backward` needs."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes) -> CustomOp:
        """The operator for arrays of these shapes and dtypes."""
        return CustomOp()


def _require_default(method: str, **stypes: Sequence[str]) -> None:
    for name, kinds in stypes.items():
        for i, kind in enumerate(kinds):
            if kind != "default":
                raise MXNetError(
                    f"Custom: {name}[{i}] is {kind!r}; a custom operator on sparse arrays must define "
                    f"{method}"
                )


def register(reg_name: str) -> Callable[[type[CustomOpProp]], type[CustomOpProp]]:
    """A decorator that registers a `CustomOpProp` as the `op_type` of `nd.Custom`."""

    def enter(prop_class: type[CustomOpProp]) -> type[CustomOpProp]:
        if not (isinstance(prop_class, type) and issubclass(prop_class, CustomOpProp)):
            raise TypeError(f"register: {prop_class!r} must be a subclass of CustomOpProp")
        PROPS[reg_name] = prop_class
        return prop_class

    return enter


def get_all_registered_operators() -> list[str]:
    """The names of all custom operators."""
    return sorted(PROPS)


def Custom(*data, op_type: str, name: str | None = None, **kwargs) -> Any:
    """Runs a custom operator.

    In a compiled step it is traced as all else: it may use the functions of `nd`, but not ask for
    numbers, which are not known there.

    Args:
      data: the arrays, then the auxiliary states.
      op_type: the name it was registered with.
      name: accepted for MXNet's sake.
      **kwargs: given to the `CustomOpProp`, as strings; or arrays by their names.

    Returns:
      The result, or a list of several.

    Raises:
      MXNetError: no such operator is registered, or arrays are not as many, of the shapes or of the
        storage types that it says, or in a compiled step it asks for numbers.
    """
    named = {k: v for k, v in kwargs.items() if isinstance(v, Handle)}
    options: dict[str, Any] = {k: str(v) for k, v in kwargs.items() if k not in named}
    prop = prop_of(op_type, options)
    wanted = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    arrays = [*data, *(named[n] for n in wanted[len(data) :] if n in named)]
    if len(arrays) != len(wanted) or not all(isinstance(a, Handle) for a in arrays):
        raise MXNetError(f"Custom: {op_type} takes the arrays {wanted}; got {len(arrays)}")
    count = len(prop.list_arguments())
    call = _Call(op_type, prop, arrays[:count], arrays[count:])
    results = call.run()
    slots = tuple(a._slot for a in call.arrays)
    if is_recording() and any(slots):
        node = CustomNode(call, slots, results)
        for result, slot in zip(results, node.outputs, strict=True):
            result._slot = slot
    return results[0] if len(results) == 1 else results


class _Call:
    """One call of a custom operator: what it is given, and what it has found out."""

    def __init__(self, op_type: str, prop: CustomOpProp, arrays: list, aux: list):
        self.op_type = op_type
        self.prop = prop
        self.arrays = [a._wrap(a._value, shared=True) for a in arrays]
        for own, given in zip(self.arrays, arrays, strict=True):
            own._slot = given._slot
        self.aux = aux
        self.training = is_training()
        try:
            self.shapes = [
                tuple(s) for s in self._inferred("shape", [list(a.shape) for a in arrays])
            ]
            self.dtypes = [np.dtype(d) for d in self._inferred("type", [a.dtype for a in arrays])]
            self.stypes = self._inferred("storage_type", [a._stype for a in arrays])
        except (AssertionError, ValueError) as error:
            raise MXNetError(f"Custom: {op_type}: {error}") from error
        self.op = prop.create_operator(
            current_context(), [a.shape for a in arrays], [a.dtype for a in arrays]
        )
        self.results: list = []

    def _inferred(self, what: str, given: list) -> list:
        """What the operator says of its results."""
        found = getattr(self.prop, f"infer_{what}")(list(given))
        inputs, outputs = list(found[0]), list(found[1])
        expected = len(self.prop.list_outputs())
        if len(outputs) != expected or len(inputs) != len(given):
            raise ValueError(
                f"infer_{what} names {len(inputs)} arrays and {len(outputs)} results; there are "
                f"{len(given)} and {expected}"
            )
        if what == "shape" and [list(s) for s in inputs] != given:
            raise ValueError(f"arrays of shapes {given} must have the shapes {inputs}")
        return outputs

    def run(self) -> list:
        """The results of `forward`."""
        with wide():
            zeros = map(zeros_of, self.shapes, self.dtypes, self.stypes)
            self.results = [Handle._wrap(z) for z in zeros]
        req = ["write"] * len(self.results)
        inputs = _detached(self.arrays)
        with _scope(False, self.training):
            self.op.forward(self.training, req, inputs, self.results, self.aux)
        return [r._wrap(r._value, shared=True) for r in self.results]

    def cotangents(self, given: Sequence[Value], wanted: Sequence[str | None]) -> list:
        """The cotangents of the arrays by `backward`; None where none is wanted."""
        igrads = [kind or "undefined" for kind in wanted]
        kinds = self.prop.infer_storage_type_backward(
            list(self.stypes),
            [a._stype for a in self.arrays],
            list(self.stypes),
            igrads,
            [a._stype for a in self.aux],
        )[3]
        with wide():
            in_grad = [
                Handle._wrap(zeros_of(a.shape, a.dtype, kind))
                for a, kind in zip(self.arrays, kinds, strict=True)
            ]
        req = ["null" if kind is None else "write" for kind in wanted]
        out_grad, in_data, out_data = self._needed([Handle._wrap(g) for g in given])
        with _scope(False, self.training):
            self.op.backward(req, out_grad, in_data, out_data, in_grad, self.aux)
        return [None if kind is None else g._value for g, kind in zip(in_grad, wanted, strict=True)]

    def _needed(self, out_grad: list) -> list[list]:
        """Cotangents, arrays and results, None where `backward` needs them not."""
        groups = [out_grad, _detached(self.arrays), _detached(self.results)]
        numbered, first = [], 0
        for group in groups:
            numbered.append(list(range(first, first + len(group))))
            first += len(group)
        needed = set(self.prop.declare_backward_dependency(*numbered))
        return [
            [a if i in needed else None for i, a in zip(numbers, group, strict=True)]
            for numbers, group in zip(numbered, groups, strict=True)
        ]


def _detached(arrays: list) -> list:
    """The same values in handles that the user's code may keep or change."""
    return [a._wrap(a._value, shared=True) for a in arrays]


class CustomNode:
    """A recorded call of a custom operator."""

    differentiable = True

    def __init__(self, call: _Call, slots: tuple[Slot | None, ...], results: list):
        self.number = next_number()
        self.inputs = slots
        self.call: _Call | None = call
        self.like = [(r._value.shape, r._value.dtype, r._stype) for r in results]
        self.outputs = tuple(Slot(r._stype, node=self, index=i) for i, r in enumerate(results))
        keep(self)

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs."""
        if self.call is None:
            raise GradientError(
                "the record of Custom was released by an earlier backward; pass retain_graph=True "
                "to that call to go back twice"
            )
        with wide():
            given = [
                zeros_of(*like) if c is None else c
                for c, like in zip(cotangents, self.like, strict=True)
            ]
        return tuple(self.call.cotangents(given, [s and s.wanted for s in self.inputs]))

    def pull_back_recorded(self, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Refused: `backward` fills arrays in place, which is not recorded."""
        raise GradientError(
            "create_graph=True: the gradient of a custom operator has no gradient; write an "
            "autograd.Function instead"
        )

    def held(self) -> Sequence[Any]:
        """The values that `pull_back` is going to read; none after `release`."""
        call = self.call
        return () if call is None else [a._value for a in (*call.arrays, *call.results)]

    def release(self) -> None:
        """Lets the arrays and the operator go."""
        self.call = None
