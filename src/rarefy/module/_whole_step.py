"""A batch of `fit` as one compiled program: forward, backward and update."""

from typing import Any

from rarefy.module._group import ExecutorGroup
from rarefy.nd import NDArray, add_n
from rarefy.nd import sum as total
from rarefy.optimizer import TrainStep, Updater


class WholeStep:
    """What `forward_backward` and `update` do, in one program. Gradients are not kept.

    Args:
      group: of one device.
      updater: whose optimizer and states are used; they may be used elsewhere too.
    """

    def __init__(self, group: ExecutorGroup, updater: Updater):
        (executor,) = group.execs
        self.group = group
        self._inputs = [d.name for d in group.data_shapes + (group.label_shapes or [])]
        self._inputs = [name for name in self._inputs if name in executor.arg_dict]
        self._program, self._needed = executor._program, executor._needed
        bound = dict(zip(executor._names, executor._arguments, strict=True))
        self._arguments: dict[str, Any] = bound
        self.states = updater.states
        trained = {name: bound[name] for name in group.param_names if bound[name]._slot is not None}
        rest = [array for name, array in bound.items() if name not in {*trained, *self._inputs}]
        self._step = TrainStep(
            self._run,
            trained,
            updater.optimizer,
            others=[*rest, *self._program.states],
            states=updater.states,
            indices={name: i for i, name in enumerate(group.param_names)},
        )

    @staticmethod
    def possible(group: ExecutorGroup, updater: Any) -> bool:
        """Whether a batch can be done so: on one device, with results that are all losses, gradients
        that replace each other, and nobody who looks on."""
        if len(group.execs) > 1 or not isinstance(updater, Updater) or group.inputs_need_grad:
            return False
        (executor,) = group.execs
        heads = [needed for needed in executor._needed if needed is not None]
        return (
            bool(heads)
            and not any(heads)
            and executor._monitor is None
            and not updater.optimizer.updates_itself
            and "add" not in group.grad_req.values()
            and len(set(executor._names)) == len(executor._names)
        )

    @property
    def compilations(self) -> int:
        """How often the program has been compiled."""
        return self._step.compilations

    def _run(self, *inputs: NDArray) -> list[NDArray]:
        given = {**self._arguments, **dict(zip(self._inputs, inputs, strict=True))}
        heads = self._program.run(list(given.values()))
        # A loss takes no gradient of its result; ones are as good as any.
        losses = [
            total(head.astype("float32"))
            for head, needed in zip(heads, self._needed, strict=True)
            if needed is not None
        ]
        return [losses[0] if len(losses) == 1 else add_n(*losses), *heads]

    def __call__(self, batch: Any) -> None:
        """Does a batch; the executor's outputs are then those before the update.

        Raises:
          NotImplementedError: the graph cannot be compiled as a whole; nothing has been done.
        """
        self.group.load(batch)
        (executor,) = self.group.execs
        arguments = executor.arg_dict
        _, *heads = self._step(*(arguments[name] for name in self._inputs))
        for head in heads:
            head._ctx = executor._ctx
        executor._outputs = heads
