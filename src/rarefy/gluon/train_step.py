"""The whole training step of a model as one compiled program."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from rarefy import optimizer as opt
from rarefy.gluon._block import Block
from rarefy.gluon._infer_shape import infer_shapes
from rarefy.gluon._parameter import Parameter
from rarefy.gluon.trainer import Trainer
from rarefy.nd import NDArray


class TrainStep:
    """A step of training as one program: forward, backward and update, everything in place.

    A call does what `record`, `backward` and `trainer.step` do one after the other, and may take turns
    with them: parameters, optimizer states, counts and running means are the same. The gradients exist
    only inside the program (a row_sparse one with the rows of the batch alone), so `Parameter.grad()`
    stays what it was; but a sum of gradients (`grad_req='add'`) is kept.

    The model is traced, so it may not ask for numbers. It is traced again for other shapes (a last,
    smaller batch), and where parameters are frozen or cast; not for another learning rate or
    `batch_size`.

    Args:
      net: the model, a `Block`.
      loss: called with what the model gives, and with the labels; returns losses.
      trainer: the trainer of its parameters.
      return_outputs: whether a call returns what the model gave, too.
      ignore_stale_grad: whether parameters that the loss does not depend on are left as they are.
        Otherwise they are refused, as by `trainer.step`.

    Raises:
      ValueError: the trainer has several devices.
    """

    def __init__(
        self,
        net: Block,
        loss: Callable[..., Any],
        trainer: Trainer,
        *,
        return_outputs: bool = False,
        ignore_stale_grad: bool = False,
    ):
        if len(trainer._contexts) > 1:
            raise ValueError(
                f"a compiled step runs on one device; the trainer has {trainer._contexts}. Use "
                "record, backward and trainer.step"
            )
        self.net = net
        self.loss = loss
        self.trainer = trainer
        self._return_outputs = return_outputs
        self._ignore_stale_grad = ignore_stale_grad
        self._step: opt.TrainStep | None = None
        self._compiled_before = 0
        self._bound: Any = None
        self._params: list[Parameter] = []
        self._outputs: Any = None
        self._count = 1  # of inputs; what follows them in a batch is the loss's
        for block in (net, loss):
            if isinstance(block, Block):
                for each in block._tree():
                    each._users.add(self)

    @property
    def compilations(self) -> int:
        """How often the step has been compiled."""
        return self._compiled_before + (self._step.compilations if self._step else 0)

    def __call__(self, data: Any, *labels: Any, batch_size: float | None = None) -> Any:
        """Does a step.

        Args:
          data: the input of the model, or a list of its inputs.
          *labels: what the loss gets after the model's output: labels, weights of samples.
          batch_size: what gradients are divided by; the rows of the first input by default. 1 where
            the loss is a mean already.

        Returns:
          The loss before the update, as `loss` gives it: a number for each sample. With
          `return_outputs` a pair of that and of what the model gave.

        Raises:
          UserWarning: the loss does not depend on a parameter.
          MXNetError: an operator refuses shapes, or numbers of the batch. Nothing has been updated.
          ValueError: the trainer updates parameters in a key-value store.
          ZeroDivisionError: the batch has no rows.
        """
        inputs = data if isinstance(data, list | tuple) else (data,)
        if len(inputs) != self._count:
            self._changed()
            self._count = len(inputs)
        batch = (*inputs, *labels)
        trainer = self.trainer
        trainer._divide_by(next(_arrays(inputs)).shape[0] if batch_size is None else batch_size)
        step = self._ready(batch)
        trainer._optimizer._set_current_context(trainer._contexts[0].device_id)
        found = step(*batch)
        if not self._return_outputs:
            return found
        loss, *outputs = found
        return loss, jax.tree.unflatten(self._outputs, outputs)

    def _forward(self, *batch: Any) -> Any:
        output = self.net(*batch[: self._count])
        loss = self.loss(output, *batch[self._count :])
        if not self._return_outputs:
            return loss
        outputs, self._outputs = jax.tree.flatten(output)
        return (loss, *outputs)

    def _changed(self) -> None:
        """The model has other children or parameters: the program is of no use any more."""
        self._compiled_before = self.compilations
        self._step = self._bound = None

    def _ready(self, batch: Sequence[Any]) -> opt.TrainStep:
        """The step on the parameters and states as they are now."""
        if self._step is not None and self._bound is not None and self._is_bound():
            return self._step
        trainer = self.trainer
        trainer._prepare()
        if trainer._kvstore is not None:
            raise ValueError(
                "a compiled step updates parameters where they are; make the trainer with "
                "kvstore=None (or 'device') and without update_on_kvstore"
            )
        self._params = self._all_params()
        # In the model's order, as when it runs by itself: so a seed stands for the same values.
        waiting = [p for p in self._model_params() if p._deferred_init is not None]
        if waiting:
            infer_shapes(self._forward, waiting, batch)
            for param in waiting:
                param._finish_deferred_init()
        self._bind(())
        assert self._step is not None
        unused = self._step.look(*batch)
        if unused and not self._ignore_stale_grad:
            self._bound = None
            raise UserWarning(
                f"the loss does not depend on parameter {', '.join(unused)}; pass "
                "ignore_stale_grad=True to leave such parameters as they are"
            )
        if unused:
            self._bind(unused)
        return self._step

    def _all_params(self) -> list[Parameter]:
        """The trainer's parameters in its order, then what else the model has."""
        found = {id(p): p for p in (*self.trainer._params, *self._model_params())}
        return list(found.values())

    def _model_params(self) -> list[Parameter]:
        """The parameters of the model and of the loss, then what else the trainer has."""
        blocks = [b for b in (self.net, self.loss) if isinstance(b, Block)]
        found = {id(p): p for b in blocks for p in b.collect_params().values()}
        return list({**found, **{id(p): p for p in self.trainer._params}}.values())

    def _bind(self, unused: Sequence[str]) -> None:
        trainer = self.trainer
        trained, others, indices = {}, [], {}
        for i, param in enumerate(self._params):
            array = param._of()
            name = param.name if param.name not in indices else f"{param.name} ({i})"
            if i < len(trainer._params) and param.grad_req != "null" and name not in unused:
                trained[name], indices[name] = array, i
            else:
                others.append(array)
        states = trainer._updaters[0].states
        if self._step is None:
            self._step = opt.TrainStep(
                self._forward,
                trained,
                trainer._optimizer,
                others=others,
                states=states,
                indices=indices,
            )
        else:
            self._step.bind(trained, others=others, states=states, indices=indices)
        self._bound = (states, list(self._their_arrays()))

    def _their_arrays(self) -> Iterator[Any]:
        for param in self._params:
            yield param._data
            yield param._grad

    def _is_bound(self) -> bool:
        """Whether parameters and states are still the arrays that the step was bound to."""
        states, arrays = self._bound
        return states is self.trainer._updaters[0].states and all(
            a is b for a, b in zip(arrays, self._their_arrays(), strict=True)
        )


def _arrays(nested: Any) -> Iterator[NDArray]:
    for part in nested:
        if isinstance(part, list | tuple):
            yield from _arrays(part)
        elif isinstance(part, NDArray):
            yield part
