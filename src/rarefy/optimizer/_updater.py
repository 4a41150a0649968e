"""An optimizer together with the states of the parameters it updates."""

from typing import Any

import numpy as np

from rarefy.nd._ndarray import NDArray
from rarefy.optimizer._optimizer import Optimizer, State
from rarefy.optimizer._states import dump_states, load_states


class Updater:
    """Updates parameters by index and keeps their states, which it makes at a parameter's first
    update.

    Args:
      optimizer: the optimizer.

    Attributes:
      states: the state of each parameter by index.
      states_synced: whether the state of an index is in use; kept for MXNet programs.
      aggregate_updates: whether an optimizer with an `update` of its own gets lists of parameters.
    """

    def __init__(self, optimizer: Optimizer):
        self.optimizer = optimizer
        self.states: dict[Any, State] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates a parameter in place.

        Args:
          index: the parameter, or a list of them; then the others are lists too. Default parameters
            of a list are updated by one program, where the optimizer has no `update` of its own.
          grad: its gradient.
          weight: its array.
        """
        several = isinstance(index, list | tuple)
        indices, grads, weights = (index, grad, weight) if several else ([index], [grad], [weight])
        if bytes in map(type, indices):
            indices = [i.decode() if isinstance(i, bytes) else i for i in indices]
        optimizer, states = self.optimizer, self.states
        for i, w in zip(indices, weights, strict=True):
            if i not in states:
                states[i] = optimizer.create_state_multi_precision(i, w)
        self.states_synced.update(dict.fromkeys(indices, True))
        if not indices:
            return
        # Copies of a parameter on several devices are counted apart.
        ctx = weights[0]._ctx or weights[0].context
        optimizer._set_current_context(ctx.device_id)
        if several and not optimizer.updates_itself:
            mine = [states[i] for i in indices]
            optimizer.update_multi_precision(indices, weights, grads, mine)
            return
        items = list(zip(indices, grads, weights, strict=True))
        if not (optimizer.updates_itself and self.aggregate_updates):
            for i, g, w in items:
                optimizer.update_multi_precision(i, w, g, states[i])
            return
        for group in _of_one_dtype(items, max(1, optimizer.aggregate_num)):
            indices, grads, weights = map(list, zip(*group, strict=True))
            mine = [states[i] for i in indices]
            optimizer.update_multi_precision(indices, weights, grads, mine)

    def sync_state_context(self, state: State, context: Any) -> State:
        """The state with its arrays on a device."""
        if isinstance(state, list | tuple):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state.as_in_context(context) if isinstance(state, NDArray) else state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as bytes, for `set_states`: arrays in safetensors form, nothing that runs.

        Args:
          dump_optimizer: whether the optimizer goes with them: its counts, its learning rate and
            the other numbers it was made with. A schedule does not.
        """
        own = None
        if dump_optimizer:
            own = {**self.optimizer.state_dict(), "settings": self.optimizer.settings()}
        return dump_states(self.states, own)

    def set_states(self, states: bytes) -> None:
        """Takes over what `get_states` returned, here or in MXNet.

        What MXNet pickled is read without running anything. Of its optimizer the counts and the
        learning rate are taken over, as of one saved here.

        Raises:
          ValueError: the bytes are no states, or belong to another kind of optimizer.
        """
        self.states, own = load_states(states)
        self.states_synced = dict.fromkeys(self.states, False)
        if own is not None:
            self.optimizer.load_state_dict(own)
            self.optimizer.load_settings(own.get("settings", {}))


def get_updater(optimizer: Optimizer) -> Updater:
    """An `Updater` of the optimizer."""
    return Updater(optimizer)


def _of_one_dtype(items: list[Any], size: int) -> list[list[Any]]:
    """Lists of at most `size` parameters, each of weights of one dtype."""
    by_dtype: dict[Any, list[Any]] = {}
    for item in items:
        by_dtype.setdefault(np.dtype(item[2].dtype), []).append(item)
    return [each[i : i + size] for each in by_dtype.values() for i in range(0, len(each), size)]
