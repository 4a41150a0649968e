"""An optimizer together with the states of the parameters it updates."""

from typing import Any

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
    """

    def __init__(self, optimizer: Optimizer):
        self.optimizer = optimizer
        self.states: dict[Any, State] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = False

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates a parameter in place.

        Args:
          index: the parameter, or a list of them; then the others are lists too.
          grad: its gradient.
          weight: its array.
        """
        if isinstance(index, list | tuple):
            for one in zip(index, grad, weight, strict=True):
                self(*one)
            return
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        self.states_synced[index] = True
        self.optimizer.update_multi_precision(index, weight, grad, self.states[index])

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as bytes, for `set_states`.

        Args:
          dump_optimizer: whether the optimizer's counts and learning rate go with them.
        """
        own = self.optimizer.state_dict() if dump_optimizer else None
        return dump_states(self.states, own)

    def set_states(self, states: bytes) -> None:
        """Takes over what `get_states` returned.

        Raises:
          ValueError: the bytes are no states, or belong to another kind of optimizer.
        """
        self.states, own = load_states(states)
        self.states_synced = dict.fromkeys(self.states, False)
        if own is not None:
            self.optimizer.load_state_dict(own)


def get_updater(optimizer: Optimizer) -> Updater:
    """An `Updater` of the optimizer."""
    return Updater(optimizer)
