"""The compiled training step: recording, going back and updating as one program."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import Cell, holding, store_all
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, canonical
from rarefy.autograd._tape import Leaf, Slot
from rarefy.nd._handle import Handle
from rarefy.nd._ndarray import NDArray
from rarefy.optimizer._optimizer import Optimizer, lacks_rows, missing_row, refuse_row
from rarefy.sparse import BCOO


class TrainStep:
    """One step of training as one compiled program, with weights and states updated in place.

    A call runs `loss` on a batch, goes back through it and lets the optimizer update the parameters.
    All of that is traced once for each combination of the batch's padded shapes; weights and optimizer
    states are donated, so that a lazy update costs what its rows cost. The gradient is that of the sum
    of the loss, as `backward` computes it: take the mean in `loss`, or set the optimizer's
    `rescale_grad` to one over the batch size.

    Args:
      loss: takes the batch's arrays, uses the parameters it has closed over, returns the loss (an
        array of any shape) or a tuple of the loss and further arrays, which a call returns too.
      params: the parameters by name. Each needs `attach_grad(stype=...)` before; with stype
        'row_sparse' its gradient is never larger than the rows that the batch touches.
      optimizer: one of `rarefy.optimizer`; its state for parameter i (in the order of `params`) is
        made here.

    Attributes:
      states: the optimizer's state arrays by parameter name, a tuple for each.
      compilations: how often the step has been compiled.

    Raises:
      ValueError: a parameter has no gradient attached, or accumulates it (`grad_req='add'`), or two
        names are one array, or a row_sparse parameter without some of its rows has a dense gradient.
    """

    def __init__(
        self,
        loss: Callable[..., Any],
        params: Mapping[str, Handle],
        optimizer: Optimizer,
    ):
        self.loss = loss
        self.optimizer = optimizer
        self.params = dict(params)
        self.compilations = 0
        self._trained = {n: p for n, p in self.params.items() if _is_trained(n, p)}
        cells = [p._cell for p in self._trained.values()]
        if len(set(map(id, cells))) != len(cells):
            raise ValueError("params: two names are one array; name a shared parameter once")
        self._index = {name: i for i, name in enumerate(self.params)}
        self.states: dict[str, tuple[NDArray, ...]] = {}
        self._state_of: dict[str, Any] = {}
        for name, param in self._trained.items():
            state = optimizer.create_state_multi_precision(self._index[name], param)
            self._state_of[name] = state
            self.states[name] = _flat(state)
        # Row_sparse weights without some of their rows: only for these a step waits, to check rows.
        self._partial = [name for name, p in self._trained.items() if lacks_rows(p._value)]
        self._cells = [
            *cells,
            *(s._cell for states in self.states.values() for s in states),
            _key.STATE,
        ]
        self._hyper_names: list[tuple[str, str]] = []
        self._program = jax.jit(self._trace, donate_argnums=0)

    def __call__(self, *batch: Any) -> Any:
        """Does a step.

        Args:
          *batch: the arrays that `loss` takes.

        Returns:
          The loss before the update, or the tuple that `loss` returned.

        Raises:
          ValueError: a gradient has a row that its row_sparse parameter does not store. The step has
            been done without that row.
        """
        values = [b._value if isinstance(b, Handle) else b for b in batch]
        with wide():
            held = [_own(c) for c in self._cells]
            held, outputs, missing = self._program(held, self._next_hyper(), values)
        store_all(self._cells, held)
        for name, row in zip(self._partial, missing, strict=True):
            self._check_rows(name, row)
        handles = [Handle._wrap(v) for v in outputs]
        return handles[0] if len(handles) == 1 else tuple(handles)

    def _next_hyper(self) -> np.ndarray:
        """What changes from step to step, for all parameters, as one `(h,)` float64 array."""
        hyper = [self.optimizer.hyper(self._index[name]) for name in self._trained]
        numbers = [value for each in hyper for value in each.values()]
        if not self._hyper_names:
            self._hyper_names = [
                (name, key) for name, each in zip(self._trained, hyper, strict=True) for key in each
            ]
        # As a NumPy array: the program takes it to the device in a tenth of the time of jnp.asarray.
        return np.asarray(numbers, np.float64)

    def _trace(self, held: list[Value], hyper: jax.Array, batch: list[Any]):
        self.compilations += 1
        scalars: dict[str, dict[str, jax.Array]] = {name: {} for name in self._trained}
        for i, (name, key) in enumerate(self._hyper_names):
            scalars[name][key] = hyper[i]
        slots = {name: p._slot for name, p in self._trained.items()}
        try:
            with holding(self._cells, held):
                outputs = self._forward_and_back(batch)
                missing = [self._missing_row(name) for name in self._partial]
                self._update(scalars)
                return [c.value for c in self._cells], outputs, missing
        finally:
            for name, slot in slots.items():
                self._trained[name]._slot = slot

    def _forward_and_back(self, batch: list[Any]) -> list[Value]:
        for param in self._trained.values():
            assert param._slot is not None and param._slot.leaf is not None
            stype = param._slot.leaf.stype
            # A cell of this trace, as the array that attach_grad made belongs to no trace.
            leaf = Leaf(Cell(None), "write", stype)  # pyright: ignore[reportArgumentType]
            param._slot = Slot(stype, leaf=leaf)
        with autograd.record():
            result = self.loss(*(Handle._wrap(b) for b in batch))
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        autograd.backward(outputs[0])
        return [o._value for o in outputs]

    def _missing_row(self, name: str) -> jax.Array | None:
        """The first row of a parameter's gradient that the parameter lacks; its height if none."""
        param = self._trained[name]
        assert param._slot is not None and param._slot.leaf is not None
        grad = param._slot.leaf.grad
        if grad is None or grad.value is None:
            return None
        assert isinstance(grad.value, BCOO)
        return missing_row(canonical(param._value), grad.value)

    def _check_rows(self, name: str, row: jax.Array | None) -> None:
        weight = self._trained[name]._value
        assert isinstance(weight, BCOO)
        if row is not None and int(row) < weight.shape[0]:
            refuse_row(name, weight, int(row))

    def _update(self, scalars: dict[str, dict[str, jax.Array]]) -> None:
        for name, param in self._trained.items():
            assert param._slot is not None and param._slot.leaf is not None
            leaf = param._slot.leaf
            gradient = leaf.grad.value if leaf.grad is not None else None
            if gradient is None:
                if leaf.stype != "default":
                    continue
                gradient = jnp.zeros(param._value.shape, param._value.dtype)
            self.optimizer.apply_multi_precision(
                self._index[name],
                param,
                Handle._wrap(gradient),
                self._state_of[name],
                scalars[name],
            )

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's counts and, as NumPy arrays by name, all its states."""
        arrays = {
            f"{name}.{i}": state.asnumpy()
            for name, states in self.states.items()
            for i, state in enumerate(states)
        }
        return {"optimizer": self.optimizer.state_dict(), "states": arrays}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` returned.

        Raises:
          ValueError: an array is missing, or is not of its state's shape.
        """
        arrays = saved["states"]
        for name, states in self.states.items():
            for i, state in enumerate(states):
                array = arrays.get(f"{name}.{i}")
                if array is None or array.shape != state.shape:
                    found = "nothing" if array is None else f"shape {array.shape}"
                    raise ValueError(
                        f"state {i} of {name}: found {found}, expected shape {state.shape}"
                    )
                state[:] = array
        self.optimizer.load_state_dict(saved["optimizer"])


def _is_trained(name: str, param: Handle) -> bool:
    leaf = param._slot.leaf if param._slot is not None else None
    if leaf is None:
        raise ValueError(f"parameter {name} has no gradient; call attach_grad() on it first")
    if leaf.grad_req == "add":
        raise ValueError(
            f"parameter {name} has grad_req='add'; a compiled step computes every gradient anew, so "
            "attach it with 'write'"
        )
    if leaf.grad_req == "write" and leaf.stype == "default" and lacks_rows(param._value):
        raise ValueError(
            f"parameter {name} is row_sparse without some of its rows, and a dense gradient has them "
            "all; attach it with attach_grad(stype='row_sparse')"
        )
    return leaf.grad_req == "write"


def _flat(state: Any) -> tuple[NDArray, ...]:
    if state is None:
        return ()
    if isinstance(state, list | tuple):
        return tuple(handle for part in state for handle in _flat(part))
    return (state,)


def _own(cell: Cell) -> Value:
    """The cell's value in buffers that no other cell holds, so that they can be donated."""
    return jax.tree.map(jnp.copy, cell.value) if cell.shared else cell.value
