"""A chain of modules."""

import copy
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from rarefy.initializer import Uniform
from rarefy.io import DataDesc
from rarefy.module._base import BaseModule
from rarefy.module._names import require
from rarefy.nd import NDArray

_UNIFORM = Uniform(0.01)


class SequentialModule(BaseModule):
    """Modules, each of which takes the results of the one before as its data.

    >>> import rarefy as mx
    >>> first = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc")
    >>> second = mx.sym.SoftmaxOutput(mx.sym.Variable("scores"), name="softmax")
    >>> chain = mx.mod.SequentialModule()
    >>> chain = chain.add(mx.mod.Module(first, label_names=None))
    >>> chain = chain.add(mx.mod.Module(second, ["scores"]), take_labels=True, auto_wiring=True)
    >>> chain.bind([("data", (2, 3))], [("softmax_label", (2,))])
    >>> chain.output_shapes
    [('softmax_output', (2, 4))]
    """

    META_TAKE_LABELS: ClassVar[str] = "take_labels"
    META_AUTO_WIRING: ClassVar[str] = "auto_wiring"

    def __init__(self, logger: Any = logging):
        super().__init__(logger=logger)
        self._modules: list[BaseModule] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Any = None

    def add(self, module: BaseModule, **kwargs: Any) -> "SequentialModule":
        """Adds a module to the end; bind, parameters and optimizer are then to be done again.

        Args:
          module: the module.
          **kwargs: `take_labels`: whether it takes the batch's labels, and metrics are of its results.
            `auto_wiring`: whether it takes the results before it under the names of its own data.

        Returns:
          The chain itself.

        Raises:
          ArgumentError: another keyword.
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            require(key in known, f'Unknown meta "{key}", a typo? Known: {", ".join(known)}')
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self) -> list[str]:
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        require(self.binded, "call bind first")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        require(self.binded, "call bind first")
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        require(self.binded, "call bind first")
        return self._modules[-1].output_shapes

    def _check_ready(self) -> None:
        require(self.binded and self.params_initialized, "call bind and init_params first")

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Parameters and auxiliary states of all modules by name, on the host."""
        self._check_ready()
        args: dict[str, NDArray] = {}
        states: dict[str, NDArray] = {}
        for module in self._modules:
            own_args, own_states = module.get_params()
            args.update(own_args)
            states.update(own_states)
        return args, states

    def init_params(
        self,
        initializer: Any = _UNIFORM,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives the parameters of all modules their first numbers.

        Args:
          initializer, arg_params, aux_params, allow_missing, force_init, allow_extra: as of
            `Module.init_params`.

        Raises:
          ArgumentError: the chain is not bound, or two modules have a parameter of one name.
        """
        if self.params_initialized and not force_init:
            return
        require(self.binded, "call bind before initializing the parameters")
        owners: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for i, module in enumerate(self._modules):
            module.init_params(
                initializer=initializer,
                arg_params=arg_params,
                aux_params=aux_params,
                allow_missing=allow_missing,
                force_init=force_init,
                allow_extra=allow_extra,
            )
            for owner, found in zip(owners, module.get_params(), strict=True):
                for name in found:
                    require(
                        name not in owner,
                        f'Duplicated parameter names: name "{name}" in layer {i} is already used in '
                        f"layer {owner.get(name)}.",
                    )
                    owner[name] = i
        self.params_initialized = True

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Binds all modules, each to the shapes of the results before it.

        Args:
          data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, grad_req: as of
            `Module.bind`.
          shared_module: None.

        Raises:
          ArgumentError: there are no modules, or one is to be shared with; a module with
            `auto_wiring` has another number of data than there are results before it.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        require(for_training or not inputs_need_grad, "inputs_need_grad needs for_training=True")
        require(shared_module is None, "Shared module is not supported")
        require(self._modules, "Attempting to bind an empty SequentialModule")
        shapes = data_shapes
        for i, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            if meta.get(self.META_AUTO_WIRING):
                names = module.data_names
                require(
                    len(names) == len(shapes),
                    f"module {i} takes {len(names)} data and gets {len(shapes)}",
                )
                shapes = [_named(name, each) for name, each in zip(names, shapes, strict=True)]
            module.bind(
                data_shapes=shapes,
                label_shapes=label_shapes if meta.get(self.META_TAKE_LABELS) else None,
                for_training=for_training,
                inputs_need_grad=bool(inputs_need_grad or (for_training and i > 0)),
                force_rebind=force_rebind,
                grad_req=grad_req,
            )
            shapes = module.output_shapes
        takes = any(meta.get(self.META_TAKE_LABELS) for meta in self._metas)
        self._label_shapes = label_shapes if takes else None
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.binded = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes an optimizer for each module; the arguments are those of `Module.init_optimizer`."""
        self._check_ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(
                kvstore=kvstore,
                optimizer=optimizer,
                optimizer_params=optimizer_params,
                force_init=force_init,
            )
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the results of a batch; all modules get its labels."""
        self._check_ready()
        batch = copy.copy(data_batch)
        for i, module in enumerate(self._modules):
            if i:
                before = self._modules[i - 1]
                batch.data = before.get_outputs()
                if getattr(batch, "provide_data", None) is not None:
                    named = zip(before.output_shapes, batch.data, strict=True)
                    batch.provide_data = [(each[0], array.shape) for each, array in named]
            module.forward(batch, is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients, from the last module to the first."""
        self._check_ready()
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads=out_grads)
            if i:
                out_grads = module.get_input_grads()

    def update(self) -> None:
        """Updates the parameters of all modules."""
        self._check_ready()
        require(self.optimizer_initialized, "call init_optimizer first")
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The results of the last module."""
        self._check_ready()
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the first module's data."""
        self._check_ready()
        require(self.inputs_need_grad, "bind with inputs_need_grad=True for these")
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Takes labels and the last results of the modules that take labels into a metric."""
        self._check_ready()
        for meta, module in zip(self._metas, self._modules, strict=True):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        require(self.binded, "call bind first")
        for module in self._modules:
            module.install_monitor(mon)


def _named(name: str, described: Any) -> Any:
    """A description of data under another name."""
    if isinstance(described, DataDesc):
        return DataDesc(name, described.shape, described.dtype, described.layout)
    return (name, described[1])
