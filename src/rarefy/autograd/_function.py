"""Functions of arrays with a gradient that the user writes."""

from collections.abc import Sequence
from typing import Any

from rarefy._ops.precision import wide
from rarefy._ops.storage import SType, Value, stype_of, zeros_of
from rarefy.autograd._derived import Taped
from rarefy.autograd._mode import _scope, is_recording, is_training
from rarefy.autograd._tape import GradientError, Slot, next_number


class Function:
    """A function of arrays whose gradient is written by hand.

    A subclass defines `forward(*arrays)`, which returns an array or several, and
    `backward(*cotangents)`, which gets a cotangent for each of these and returns one for each array
    that `forward` got. Neither is recorded. An instance is called once.

    Attributes:
      saved_tensors: the arrays given to `save_for_backward`.

        class Sigmoid(autograd.Function):
            def forward(self, x):
                y = 1 / (1 + nd.exp(-x))
                self.save_for_backward(y)
                return y

            def backward(self, dy):
                (y,) = self.saved_tensors
                return dy * y * (1 - y)

        y = Sigmoid()(x)
    """

    def __init__(self):
        self.saved_tensors: tuple = ()
        self._used = False

    def save_for_backward(self, *args: Any) -> None:
        """Keeps arrays for `backward`, as `saved_tensors`."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """Computes the results. To be defined by the subclass."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def backward(self, *output_grads: Any) -> Any:
        """Computes the cotangents of the inputs. To be defined by the subclass."""
        raise NotImplementedError(f"{type(self).__name__} defines no backward")

    def __call__(self, *inputs: Any) -> Any:
        """Runs `forward` and records it.

        Raises:
          AssertionError: the instance was called before.
        """
        if getattr(self, "_used", False):
            raise AssertionError(
                f"an instance of {type(self).__name__} can be called once, as it keeps what its "
                "backward needs; make another one"
            )
        self._used = True
        # In the mode it is called in: a function may tell training from prediction.
        with _scope(False, None):
            outputs = self.forward(*inputs)
        if not is_recording():
            return outputs
        slots = tuple(getattr(x, "_slot", None) for x in inputs)
        if any(slots):
            single = not isinstance(outputs, list | tuple)
            results = [outputs] if single else list(outputs)
            # A result that is an input or saved from before keeps its own place on the tape. The
            # others are the very arrays that forward made: one that it saved is on the tape then.
            results = [
                r._wrap(r._value, shared=True) if r._slot or any(r is x for x in inputs) else r
                for r in results
            ]
            _record(self, inputs, slots, results)
            outputs = results[0] if single else type(outputs)(results)
        return outputs


class FunctionNode:
    """A recorded call of a `Function`."""

    differentiable = True

    def __init__(self, function: Function, inputs: Sequence[Any], slots: tuple, results: list):
        self.number = next_number()
        self.function: Function | None = function
        self.inputs: tuple[Slot | None, ...] = slots
        self.arrays = tuple(inputs)
        self.training = is_training()
        self.results: list[tuple[Any, Any, SType]] = [
            (r._value.shape, r._value.dtype, stype_of(r._value)) for r in results
        ]
        self.wrap = results[0]._wrap
        self.outputs = tuple(
            Slot(stype_of(r._value), node=self, index=i) for i, r in enumerate(results)
        )

    def pull_back(self, cotangents: Sequence[Value | None]) -> tuple[Value | None, ...]:
        """Cotangents of the inputs from those of the outputs, by the function's `backward`."""
        found = self._call([None if c is None else Taped(c, None) for c in cotangents], False)
        return tuple(None if c is None else c.value for c in found)

    def pull_back_recorded(self, cotangents: Sequence[Taped | None]) -> Sequence[Taped | None]:
        """The same with `backward` on the tape."""
        return self._call(cotangents, True)

    def _call(self, cotangents: Sequence[Taped | None], recording: bool) -> list[Taped | None]:
        function = self.function
        if function is None:
            raise GradientError(
                "the record of a function was released by an earlier backward; pass "
                "retain_graph=True to that call to go back twice"
            )
        name = type(function).__name__
        given = []
        for result, cotangent in zip(self.results, cotangents, strict=True):
            if cotangent is None:
                with wide():
                    cotangent = Taped(zeros_of(*result), None)
            given.append(self.wrap(cotangent.value, cotangent.slot))
        with _scope(recording, self.training):
            found = function.backward(*given)
        found = list(found) if isinstance(found, list | tuple) else [found]
        if len(found) != len(self.inputs):
            raise GradientError(
                f"{name}.backward returned {len(found)} cotangents for {len(self.inputs)} inputs of "
                "forward; it must return one for each"
            )
        return [self._checked(name, i, c) for i, c in enumerate(found)]

    def _checked(self, name: str, i: int, cotangent: Any) -> Taped | None:
        slot, array = self.inputs[i], self.arrays[i]
        if slot is None or cotangent is None:
            return None
        if not hasattr(cotangent, "_slot"):
            raise GradientError(
                f"{name}.backward: cotangent {i} must be an array of rarefy; got "
                f"{type(cotangent).__name__}"
            )
        value = cotangent._value
        if value.shape != array._value.shape:
            raise GradientError(
                f"{name}.backward: cotangent {i} has shape {value.shape}, input {i} has "
                f"{array._value.shape}; they must be equal"
            )
        return Taped(value, cotangent._slot)

    def held(self) -> Sequence[Any]:
        """None: a function keeps arrays, which show what they hold now."""
        return ()

    def release(self) -> None:
        """Lets the function and what it saved go."""
        self.function = None


def _record(function: Function, inputs, slots: tuple, results: list) -> None:
    node = FunctionNode(function, inputs, slots, results)
    for result, slot in zip(results, node.outputs, strict=True):
        result._slot = slot
