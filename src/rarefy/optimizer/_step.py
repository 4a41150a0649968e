"""The compiled training step: recording, going back and updating as one program."""

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import Cell, holding, store_all
from rarefy._later import finish_all
from rarefy._ops import deferred
from rarefy._ops.compiled import inlining
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value, canonical, count_stored
from rarefy.autograd._tape import Leaf, Slot, spare
from rarefy.base import MXNetError
from rarefy.nd._handle import Handle
from rarefy.nd._ndarray import NDArray
from rarefy.optimizer._optimizer import Optimizer, lacks_rows, missing_row, refuse_row
from rarefy.sparse import BCOO, JAXSparse


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
        'row_sparse' its gradient is never larger than the rows that the batch touches. One with
        `grad_req='null'` is left alone. With 'add' the gradient is added to the array that
        `attach_grad` made, and the sum is what the parameter is updated by.
      optimizer: one of `rarefy.optimizer`.
      others: further arrays that `loss` uses and may change, such as running means. They get no
        gradient; only those that it does change are written.
      states: the optimizer's states by index, to share; those that are missing are made here. By
        default all are.
      indices: the optimizer's index of each parameter; its place in `params` by default.
      tables: names of row_sparse parameters that `loss` reads by `opened(parameter)`, in ways that
        give the same for a default array. As long as they store all their rows, they and their
        states are worked on as the tables they then are, and no row is searched for.

    Attributes:
      states: the optimizer's state arrays by parameter name, a tuple for each.
      unused: names of parameters that the loss does not depend on, known after `look`.
      compilations: how often the step has been compiled.

    Raises:
      ValueError: a parameter has no gradient attached, or two names are one array, or a row_sparse
        parameter without some of its rows has a dense gradient.
    """

    def __init__(
        self,
        loss: Callable[..., Any],
        params: Mapping[str, Handle],
        optimizer: Optimizer,
        *,
        others: Sequence[Handle] = (),
        states: MutableMapping[Any, Any] | None = None,
        indices: Mapping[str, Any] | None = None,
        tables: Collection[str] = (),
    ):
        self.loss = loss
        self.optimizer = optimizer
        self.compilations = 0
        self._program = jax.jit(self._trace, static_argnums=0, donate_argnums=1)
        self._layouts: dict[Hashable, int] = {}
        self._looks: dict[Hashable, _Look] = {}
        self.bind(params, others=others, states=states, indices=indices, tables=tables)

    def bind(
        self,
        params: Mapping[str, Handle],
        *,
        others: Sequence[Handle] = (),
        states: MutableMapping[Any, Any] | None = None,
        indices: Mapping[str, Any] | None = None,
        tables: Collection[str] = (),
    ) -> None:
        """Takes other arrays in place of those it had. Nothing is compiled again where they are alike.

        Args:
          params, others, states, indices, tables: as when the step was made.
        """
        self.params = dict(params)
        self._trained = {n: p for n, p in self.params.items() if _is_trained(n, p)}
        cells = [p._cell for p in self._trained.values()]
        if len(set(map(id, cells))) != len(cells):
            raise ValueError("params: two names are one array; name a shared parameter once")
        self._index = indices or {name: i for i, name in enumerate(self.params)}
        shared: MutableMapping[Any, Any] = {} if states is None else states
        self.states: dict[str, tuple[NDArray, ...]] = {}
        self._state_of: dict[str, Any] = {}
        for name, param in self._trained.items():
            index = self._index[name]
            if index not in shared:
                shared[index] = self.optimizer.create_state_multi_precision(index, param)
            self._state_of[name] = shared[index]
            self.states[name] = _flat(shared[index])
        # Row_sparse weights without some of their rows: only for these a step waits, to check rows.
        self._partial = [name for name, p in self._trained.items() if lacks_rows(p._value)]
        leaves = {name: _leaf_of(p) for name, p in self._trained.items()}
        # A sum of row_sparse gradients gets more slots with each step, so its buffers are of no use.
        sums: list[Cell] = []
        growing: list[Cell] = []
        for leaf in leaves.values():
            if leaf.grad_req == "add" and leaf.grad is not None:
                (sums if leaf.stype == "default" else growing).append(leaf.grad)
        self._cells: list[Cell] = [
            *cells,
            *(s._cell for states in self.states.values() for s in states),
            *sums,
        ]
        mine = set(map(id, self._cells))
        self._frozen = [p for n, p in self.params.items() if n not in self._trained]
        self._frozen += others
        rest = {id(h._cell): h._cell for h in self._frozen}
        # With the random state: another thread may be reading it, so it must not be donated.
        self._others = [c for each, c in rest.items() if each not in mine]
        self._others += [*growing, _key.STATE]
        self._rows = self._rows_of_tables(tables)
        self._slots = {n: _slots_of(p) for n, p in self._trained.items() if _slots_of(p)}
        self._again = partial(
            self.bind, params, others=others, states=states, indices=indices, tables=tables
        )
        described = ((n, x.grad_req, x.stype, len(self.states[n])) for n, x in leaves.items())
        layout = (*described, tuple(self._partial), len(self._others), tuple(self._rows))
        self._layout = self._layouts.setdefault(layout, len(self._layouts))
        self._hyper_names: list[tuple[str, str]] = []

    def __call__(self, *batch: Any) -> Any:
        """Does a step.

        Args:
          *batch: the arrays that `loss` takes, which may be nested in lists.

        Returns:
          The loss before the update, or the tuple that `loss` returned.

        Raises:
          MXNetError: an operator refuses shapes or numbers of the batch, such as an id that is out of
            range. Nothing has been updated or counted.
          ValueError: a gradient has a row that its row_sparse parameter does not store. The step has
            been done without that row.
        """
        finish_all()  # the program takes over buffers
        if self._is_other():
            self._again()
        spare(self._cells)
        values = _values_of(batch)
        kind = self._kind(values)
        look = self._look(kind, values)
        others = [c.value for c in self._others]
        if look.checks:
            try:
                deferred.make(look.checks, [*_leaves_of(values), *others])
            except (TypeError, ValueError) as error:
                raise MXNetError(str(error)) from error
        counts = self.optimizer.counts()
        try:
            with wide():
                held = self._opened([_own(c) for c in self._cells])
                held, changed, outputs, missing = self._program(
                    kind, held, others, self._next_hyper(), values
                )
        except BaseException:  # shapes that do not fit: then it was no update
            self.optimizer.set_counts(counts)
            raise
        for i, rows in self._rows.items():
            held[i] = _with_rows(held[i], rows)
        store_all(self._cells, held)
        if changed:
            store_all([self._others[i] for i in look.changed], changed)
        for name, row in zip(self._partial, missing, strict=True):
            self._check_rows(name, row)
        handles = [Handle._wrap(v) for v in outputs]
        return handles[0] if len(handles) == 1 else tuple(handles)

    def look(self, *batch: Any) -> Sequence[str]:
        """Finds out, without computing anything, which parameters the loss does not depend on.

        Args:
          *batch: as for a call.

        Returns:
          Their names.
        """
        values = _values_of(batch)
        return self._look(self._kind(values), values).unused

    def _kind(self, values: Any) -> Hashable:
        """What, shapes aside, decides about the program: the arrays that are held and the batch's."""
        kinds = tuple(map(type, values))
        if list in kinds or tuple in kinds or type(None) in kinds:
            leaves, tree = jax.tree.flatten(values, is_leaf=lambda v: isinstance(v, JAXSparse))
            return self._layout, tree, tuple(map(type, leaves))
        return self._layout, kinds

    def _look(self, kind: Hashable, values: Any) -> "_Look":
        """What tracing tells before a step is done, once for each kind of it."""
        if kind not in self._looks:
            found = _Look()

            def trace(held: list[Value], others: list[Value], batch: Any) -> None:
                with self._inside(held, others) as checks:
                    self._forward_and_back(batch)
                    found.changed = [
                        i for i, c in enumerate(self._others) if c.value is not others[i]
                    ]
                    found.unused = [n for n, p in self._trained.items() if not _leaf_of(p).fresh]
                    arguments = [*_leaves_of(batch), *others]
                    found.checks = deferred.on_arguments(checks, arguments)

            with wide():
                held = self._opened([c.value for c in self._cells])
                jax.eval_shape(trace, held, [c.value for c in self._others], values)
            self._looks[kind] = found
        return self._looks[kind]

    def _is_other(self) -> bool:
        """Whether somebody has stored other rows in a weight or a state since `bind`."""
        return any(
            getattr(self._cells[i].value, "indices", None) is not rows
            for i, rows in self._rows.items()
        ) or any(_slots_of(self._trained[n]) != count for n, count in self._slots.items())

    def _rows_of_tables(self, names: Collection[str]) -> dict[int, jax.Array]:
        """The rows of the cells that are worked on as tables, by place. States without rows get them."""
        places = {id(cell): i for i, cell in enumerate(self._cells)}
        found: dict[int, jax.Array] = {}
        for name in self._trained.keys() & names:
            handles = [self._trained[name], *self.states[name]]
            values = [h._value for h in handles]
            sparse = {i: v for i, v in enumerate(values) if isinstance(v, BCOO)}
            weight = sparse.get(0)
            if weight is None or not _has_all(weight):
                continue
            for i, state in sparse.items():
                if state.nse == weight.nse and not count_stored(state):
                    sparse[i] = _with_rows(state.data, jnp.copy(weight.indices))
                    handles[i]._cell.store(sparse[i])
            if all(map(_has_all, sparse.values())):
                found |= {places[id(handles[i]._cell)]: v.indices for i, v in sparse.items()}
        return dict(sorted(found.items()))

    def _opened(self, held: list[Value]) -> list[Value]:
        """The same values, with tables for the row_sparse ones that have all rows."""
        return [v.data if i in self._rows else v for i, v in enumerate(held)]  # pyright: ignore[reportAttributeAccessIssue]

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

    def _trace(self, kind: Hashable, held, others, hyper: jax.Array, batch: Any):
        self.compilations += 1
        scalars: dict[str, dict[str, jax.Array]] = {name: {} for name in self._trained}
        for i, (name, key) in enumerate(self._hyper_names):
            scalars[name][key] = hyper[i]
        with self._inside(held, others):
            outputs = self._forward_and_back(batch)
            missing = [self._missing_row(name) for name in self._partial]
            self._update(scalars)
            changed = [self._others[i].value for i in self._looks[kind].changed]
            return [c.value for c in self._cells], changed, outputs, missing

    @contextmanager
    def _inside(self, held: list[Value], others: list[Value]) -> Iterator[list[deferred.Check]]:
        """Lets all arrays hold what is being traced, with gradients that belong to the trace."""
        slots = [(p, p._slot) for p in (*self._trained.values(), *self._frozen)]
        try:
            with (
                holding([*self._cells, *self._others], [*held, *others]),
                deferred.collecting() as checks,
                inlining(),
            ):
                for param in self._frozen:
                    param._slot = None  # it may have a gradient elsewhere, but not here
                for param in self._trained.values():
                    before = _leaf_of(param)
                    # A cell of this trace, as the array that attach_grad made belongs to no trace;
                    # but a sum of gradients is among the arrays that are held.
                    grad: Any = before.grad if before.grad_req == "add" else Cell(None)  # pyright: ignore[reportArgumentType]
                    leaf = Leaf(grad, before.grad_req, before.stype)
                    param._slot = Slot(before.stype, leaf=leaf)
                yield checks
        finally:
            for param, slot in slots:
                param._slot = slot

    def _forward_and_back(self, batch: Any) -> list[Value]:
        arrays = jax.tree.map(Handle._wrap, batch, is_leaf=lambda v: isinstance(v, JAXSparse))
        with autograd.record():
            result = self.loss(*arrays)
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        autograd.backward(outputs[0])
        return [o._value for o in outputs]

    def _missing_row(self, name: str) -> jax.Array | None:
        """The first row of a parameter's gradient that the parameter lacks; its height if none."""
        param = self._trained[name]
        grad = _leaf_of(param).grad
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
            leaf = _leaf_of(param)
            gradient = leaf.grad.value if leaf.grad is not None else None
            if gradient is None:
                if leaf.stype != "default":
                    continue
                gradient = jnp.zeros(param._value.shape, param._value.dtype)
            self.optimizer.apply_multi_precision(
                self._index[name],
                opened(param),
                Handle._wrap(gradient),
                opened(self._state_of[name]),
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


@dataclass(eq=False)
class _Look:
    """What is known of a step before it is done.

    Attributes:
      unused: names of parameters that the loss does not depend on.
      changed: which of the further arrays the loss changes.
      checks: of numbers of the batch.
    """

    unused: Sequence[str] = ()
    changed: Sequence[int] = ()
    checks: Sequence[deferred.Check] = ()


def opened(array: Any) -> Any:
    """A handle on what an array holds while a step is traced: of a row_sparse one that `TrainStep`
    works on as a table, a default one. Of nested lists of arrays, a list of these."""
    if isinstance(array, list | tuple):
        return type(array)(map(opened, array))
    if array is None or array._stype != "row_sparse" or isinstance(array._value, BCOO):
        return array
    return NDArray(array._cell, None, array._slot)


def _leaf_of(param: Handle) -> Leaf:
    assert param._slot is not None and param._slot.leaf is not None
    return param._slot.leaf


def _is_trained(name: str, param: Handle) -> bool:
    leaf = param._slot.leaf if param._slot is not None else None
    if leaf is None:
        raise ValueError(f"parameter {name} has no gradient; call attach_grad() on it first")
    if leaf.grad_req != "null" and leaf.stype == "default" and lacks_rows(param._value):
        raise ValueError(
            f"parameter {name} is row_sparse without some of its rows, and a dense gradient has them "
            "all; attach it with attach_grad(stype='row_sparse')"
        )
    return leaf.grad_req != "null"


def _flat(state: Any) -> tuple[NDArray, ...]:
    if state is None:
        return ()
    if isinstance(state, list | tuple):
        return tuple(handle for part in state for handle in _flat(part))
    return (state,)


def _slots_of(param: Handle) -> int:
    value = param._value
    return value.nse if isinstance(value, BCOO) else 0


def _has_all(value: BCOO) -> bool:
    """Whether slot i of a row_sparse value holds row i, for all rows."""
    return value.nse == value.shape[0] and not lacks_rows(value)


def _with_rows(table: jax.Array, rows: jax.Array) -> BCOO:
    """A row_sparse value that stores all rows, which are numbered `rows`, `(n, 1)`."""
    return BCOO._trusted(table, rows, table.shape, indices_sorted=True, unique_indices=True)


def _own(cell: Cell) -> Value:
    """The cell's value in buffers that no other cell holds, so that they can be donated."""
    return jax.tree.map(jnp.copy, cell.value) if cell.shared else cell.value


def _values_of(batch: Sequence[Any]) -> Any:
    """What a batch's arrays hold, nested as they are."""
    if all(isinstance(b, Handle) for b in batch):
        return [canonical(b._value) for b in batch]
    return jax.tree.map(_value_of, list(batch))


def _value_of(part: Any) -> Any:
    """A program may read an array of the host later, when the caller is writing into it again."""
    if isinstance(part, Handle):
        return canonical(part._value)
    return np.array(part) if isinstance(part, np.ndarray) else part


def _leaves_of(values: Any) -> list[Value]:
    return jax.tree.leaves(values, is_leaf=lambda v: isinstance(v, JAXSparse))
