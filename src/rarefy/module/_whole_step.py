"""A batch of training as one compiled program: forward, backward and update."""

from collections.abc import Mapping
from typing import Any

from rarefy.module._group import ExecutorGroup
from rarefy.nd import NDArray, add_n
from rarefy.nd import sum as total
from rarefy.optimizer import TrainStep, Updater
from rarefy.optimizer._step import opened
from rarefy.sym import Symbol

_TABLES = {"dot": 1, "Embedding": 1}
"""Operators that give the same for a default array as for a row_sparse one, and at which place."""


class WholeStep:
    """What `forward_backward` and `update` do, in one program. Gradients are not kept.

    It is made for the group's present executor; another shape of batches has another one.

    Args:
      group: of one device.
      updater: whose optimizer and states are used; they may be used elsewhere too.
      numbers: the optimizer's number of each parameter.
    """

    def __init__(self, group: ExecutorGroup, updater: Updater, numbers: Mapping[str, int]):
        (self._executor,) = group.execs
        self._variables = self._executor.variables()
        self._inputs = [d.name for d in group.data_shapes + (group.label_shapes or [])]
        self._inputs = [name for name in self._inputs if name in self._variables]
        self.states = updater.states
        trained = {
            name: self._variables[name]
            for name in group.param_names
            if group.grad_req[name] != "null"
        }
        rest = {*self._variables} - {*trained, *self._inputs}
        self._step = TrainStep(
            self._run,
            trained,
            updater.optimizer,
            others=[
                *(self._variables[name] for name in sorted(rest)),
                *self._executor.aux_arrays,
            ],
            states=updater.states,
            indices=numbers,
            tables=_read_as_tables(self._executor.get_optimized_symbol()),
        )

    @staticmethod
    def possible(group: ExecutorGroup, updater: Any) -> bool:
        """Whether a batch can be done so: on one device, with results that are all losses, gradients
        that replace each other, and nobody who looks on."""
        if len(group.execs) > 1 or not isinstance(updater, Updater) or group.inputs_need_grad:
            return False
        (executor,) = group.execs
        return (
            executor.ends_in_losses
            and not executor.is_watched
            and not updater.optimizer.updates_itself
            and "add" not in group.grad_req.values()
        )

    @property
    def compilations(self) -> int:
        """How often the program has been compiled."""
        return self._step.compilations

    def _run(self, *inputs: NDArray) -> list[NDArray]:
        given = {name: opened(array) for name, array in self._variables.items()}
        given.update(zip(self._inputs, inputs, strict=True))
        heads = self._executor.run(given)
        # A loss takes no gradient of its result; ones are as good as any.
        losses = [total(head.astype("float32")) for head in self._executor.losses(heads)]
        return [losses[0] if len(losses) == 1 else add_n(*losses), *heads]

    def __call__(self) -> None:
        """Does the batch that the group has loaded; the outputs are then those before the update.

        Raises:
          NotImplementedError: the graph cannot be compiled as a whole; nothing has been done.
        """
        arguments = self._executor.arg_dict
        _, *heads = self._step(*(arguments[name] for name in self._inputs))
        self._executor.take_outputs(heads)


def _read_as_tables(symbol: Symbol) -> set[str]:
    """The variables of a graph that are used in no way but those of `_TABLES`."""
    seen, other = set(), {e.node.name for e in symbol._entries if e.node.op is None}
    for node in symbol._nodes:
        for i, entry in enumerate(node.inputs):
            if entry is not None and entry.node.op is None:
                known = node.op is not None and _TABLES.get(node.op.name) == i
                (seen if known else other).add(entry.node.name)
    return seen - other
