"""A module of one graph."""

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rarefy import optimizer as optimizers
from rarefy._atomic import replacing
from rarefy.context import Context, cpu
from rarefy.executor import Executor
from rarefy.initializer import InitDesc, Uniform
from rarefy.io import DataDesc
from rarefy.model import load_checkpoint
from rarefy.module._base import BaseModule
from rarefy.module._group import ExecutorGroup
from rarefy.module._names import check_inputs, contexts_of_groups, described, require
from rarefy.module._updates import choose_store, fill_store, update_in_store, update_on_devices
from rarefy.module._whole_step import WholeStep
from rarefy.nd import NDArray, arange, zeros
from rarefy.sym import Symbol

_UNIFORM = Uniform(0.01)


class Module(BaseModule):
    """A graph with parameters, that is trained on batches.

    Args:
      symbol: the graph.
      data_names: which of its variables are data.
      label_names: which are labels.
      logger: what to log to.
      context: a device, or a list of them, among which batches are split.
      work_load_list: the share that each device gets.
      fixed_param_names: parameters that are not trained.
      state_names: variables that keep what `set_states` gives them.
      group2ctxs: contexts by `ctx_group`: a dict of contexts, or of a list of them with one for each
        device; or a list of dicts.
      compression_params: of the store, see `KVStore.set_gradient_compression`.

    Raises:
      ValueError: the graph has no variable of a name (for labels it is a warning).
    """

    def __init__(
        self,
        symbol: Symbol,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ):
        super().__init__(logger=logger)
        context = cpu() if context is None else context
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list = list(work_load_list or [1] * len(self._context))
        require(
            len(self._work_load_list) == len(self._context),
            f"work_load_list has {len(self._work_load_list)} shares for {len(self._context)} devices",
        )
        self._group2ctxs = contexts_of_groups(group2ctxs, len(self._context))
        self._symbol = symbol
        self._data_names = list(data_names or ())
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        check_inputs(symbol, self._data_names, "data", refuse=True)
        check_inputs(symbol, self._label_names, "label", refuse=False)
        check_inputs(symbol, self._state_names, "state", refuse=True)
        check_inputs(symbol, self._fixed_param_names, "fixed_param", refuse=True)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._arg_params: dict[str, NDArray] | None = None
        self._aux_params: dict[str, NDArray] | None = None
        self._params_dirty = False  # whether the devices have gone on since get_params
        self._compression_params = compression_params
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore = False
        self._updater: Any = None
        # The optimizer's number of each parameter, shared along with it.
        self._numbers = {name: i for i, name in enumerate(self._param_names)}
        self._preload_opt_states: str | None = None
        self._bound: Any = None
        self._grad_req: Any = None  # as given to `bind`
        self._whole_step: WholeStep | None = None
        self._steps: dict[Executor, WholeStep] = {}
        self._compiles = True  # until a whole step has been tried in vain
        self._waits = False  # whether a batch is loaded that `update` is to do as a whole

    @staticmethod
    def load(
        prefix: str | os.PathLike, epoch: int, load_optimizer_states: bool = False, **kwargs: Any
    ) -> "Module":
        """A module from a checkpoint.

        Args:
          prefix: what the names of its files begin with.
          epoch: the number in them.
          load_optimizer_states: whether `init_optimizer` is to take up the optimizer's states too.
          **kwargs: of `Module`.
        """
        symbol, args, states = load_checkpoint(prefix, epoch)
        made = Module(symbol=symbol, **kwargs)
        made._arg_params, made._aux_params = args, states
        made.params_initialized = True
        if load_optimizer_states:
            made._preload_opt_states = _states_file(prefix, epoch)
        return made

    def save_checkpoint(
        self,
        prefix: str | os.PathLike,
        epoch: int,
        save_optimizer_states: bool = False,
        remove_amp_cast: bool = True,
    ) -> None:
        """Saves graph and parameters, as `model.save_checkpoint` does.

        Args:
          prefix: what the names of the files begin with.
          epoch: the number in them.
          save_optimizer_states: whether the optimizer's states are saved too, to `prefix-0001.states`.
          remove_amp_cast: accepted for MXNet's sake.
        """
        self._symbol.save(f"{os.fspath(prefix)}-symbol.json")
        path = f"{os.fspath(prefix)}-{epoch:04d}.params"
        self.save_params(path)
        logging.info('Saved checkpoint to "%s"', path)
        if save_optimizer_states:
            path = _states_file(prefix, epoch)
            self.save_optimizer_states(path)
            logging.info('Saved optimizer state to "%s"', path)

    @property
    def data_names(self) -> list[str]:
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        return self._symbol.list_outputs()

    @property
    def data_shapes(self) -> list[DataDesc]:
        return self._group.data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        return self._group.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        return self._group.get_output_shapes()

    @property
    def _exec_group(self) -> Any:
        """The executors, None before `bind`. A batch that waits is computed."""
        if self._waits:
            self._waits = False
            self._bound.run(is_train=True)
            self._bound.backward()
        return self._bound

    @property
    def _group(self) -> ExecutorGroup:
        require(self.binded, "call bind first")
        return self._exec_group

    @property
    def _ready(self) -> ExecutorGroup:
        require(self.binded and self.params_initialized, "call bind and init_params first")
        return self._exec_group

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Parameters and auxiliary states by name, on the host.

        Raises:
          ArgumentError: there are none yet.
        """
        require(self.params_initialized, "call init_params first")
        assert self._arg_params is not None and self._aux_params is not None
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def init_params(
        self,
        initializer: Any = _UNIFORM,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives the parameters their first numbers.

        Args:
          initializer: what those get that are not given; None if all are.
          arg_params, aux_params: arrays by name.
          allow_missing: whether some of these may be missing.
          force_init: whether to do it again.
          allow_extra: accepted for MXNet's sake: names that the graph does not have are passed over.

        Raises:
          RuntimeError: one is missing.
          ValueError: a name tells the initializer nothing.
          ArgumentError: the module is not bound.
        """
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. init_params call ignored.",
                stacklevel=2,
            )
            return
        require(self.binded, "call bind before initializing the parameters")
        assert self._arg_params is not None and self._aux_params is not None
        attrs = self._symbol.attr_dict()
        for mine, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted(mine.items()):
                if given is not None and name in given:
                    if given[name] is not array:
                        given[name].copyto(array)
                elif given is not None and not allow_missing:
                    raise RuntimeError(f"{name} is not presented")
                elif initializer is not None:
                    initializer(InitDesc(name, attrs.get(name)), array)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=False)

    def set_params(
        self,
        arg_params: Mapping[str, Any] | None,
        aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        if not allow_missing:
            super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                stacklevel=2,
            )
            return
        self._group.set_params(arg_params or {}, aux_params or {}, allow_extra=allow_extra)
        self._params_dirty = self.params_initialized = True

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
        """Makes arrays and executors for inputs of given shapes.

        Args:
          data_shapes, label_shapes: descriptions, or pairs of name and shape, such as an iterator's
            `provide_data` and `provide_label`.
          for_training: whether there are gradients.
          inputs_need_grad: whether data has gradients too.
          force_rebind: whether to do it again; parameters stay.
          shared_module: a bound module whose parameters this one uses.
          grad_req: 'write', 'add' or 'null' for the gradients of all arguments, or a list or dict.

        Raises:
          ValueError: data has other names (for labels it is a warning).
          ArgumentError: gradients of the input without training, or `shared_module` is not bound.
          RuntimeError: a shape does not follow from those given.
        """
        if force_rebind:
            self.binded, self._bound, self._waits = False, None, False
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        require(for_training or not inputs_need_grad, "inputs_need_grad needs for_training=True")
        data = described(self._data_names, data_shapes, "data", refuse=True)
        labels = described(self._label_names, label_shapes, "label", refuse=False)
        shared = None
        if shared_module is not None:
            require(
                isinstance(shared_module, Module)
                and shared_module.binded
                and shared_module.params_initialized
                and len(shared_module._context) >= len(self._context),
                "shared_module must be a Module that is bound to as many devices, with parameters",
            )
            shared = shared_module._exec_group
        self._bound = ExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            data,
            labels if label_shapes is not None else None,
            self._param_names,
            for_training=for_training,
            inputs_need_grad=inputs_need_grad,
            shared=shared,
            fixed=self._fixed_param_names,
            grad_req=grad_req,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
        )
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        self.binded = True
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params, self._aux_params = (
                shared_module._arg_params,
                shared_module._aux_params,
            )
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=False)
        else:
            group = self._exec_group
            self._arg_params = _blank(self._param_names, group.param_arrays)
            self._aux_params = _blank(self._aux_names, group.aux_arrays)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Takes inputs of other shapes from now on; parameters stay.

        Args:
          data_shapes, label_shapes: as of `bind`.
        """
        group = self._group
        data = described(self._data_names, data_shapes, "data", refuse=True)
        labels = described(self._label_names, label_shapes, "label", refuse=False)
        group.reshape(data, labels if label_shapes is not None else None)

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes an optimizer for the parameters.

        Args:
          kvstore: a store, its name, or None. One device needs none, unless a store is given.
          optimizer: an optimizer or its name. By name it divides gradients by the batch size, unless
            `rescale_grad` is among its arguments.
          optimizer_params: its arguments, a dict or pairs.
          force_init: whether to do it again.

        Raises:
          ArgumentError: the module is not bound or has no parameters, or `optimizer` is of another kind.
        """
        group = self._ready
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        arg_params, _ = self.get_params()
        store, in_store = choose_store(kvstore, len(self._context), arg_params)
        rescale = 1.0 / group.batch_size
        copies = 1 if in_store else len(self._context)
        names = {
            i * copies + k: name for i, name in enumerate(self._param_names) for k in range(copies)
        }
        if isinstance(optimizer, str):
            params = {"rescale_grad": rescale, **dict(optimizer_params)}
            optimizer = optimizers.create(
                optimizer, sym=self._symbol, param_idx2name=names, **params
            )
        else:
            require(
                isinstance(optimizer, optimizers.Optimizer),
                f"optimizer must be an Optimizer or its name; got {type(optimizer).__name__}",
            )
            if optimizer.rescale_grad != rescale:
                warnings.warn(
                    "Optimizer created manually outside Module but rescale_grad is not normalized to "
                    f"1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {rescale}). Is this "
                    "intended?",
                    stacklevel=2,
                )
            if not optimizer.idx2name:
                optimizer.idx2name = names
        self._optimizer, self._kvstore, self._update_on_kvstore = optimizer, store, in_store
        self._updater = None if in_store else optimizers.get_updater(optimizer)
        if store is not None:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if in_store:
                store.set_optimizer(optimizer)
            fill_store(store, self._param_names, arg_params, group.param_arrays, in_store)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module: "Module") -> None:
        """Uses the optimizer of another module, and its store, from now on."""
        require(shared_module.optimizer_initialized, "shared_module has no optimizer")
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self._numbers = shared_module._numbers
        for name in self._param_names:
            self._numbers.setdefault(name, len(self._numbers))
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the results of a batch.

        Args:
          data_batch: a batch, or a list of one for each device. Other shapes than those bound are taken
            up by `reshape`.
          is_train: whether operators behave as in training; as bound by default.
        """
        group = self._ready
        self._fit_shapes(group, data_batch)
        group.forward(data_batch, is_train)

    def _fit_shapes(self, group: ExecutorGroup, batch: Any) -> None:
        parts = batch if isinstance(batch, list) else [batch]
        shapes = [array.shape for array in parts[0].data]
        if isinstance(batch, list):
            require(
                all([a.shape for a in part.data] == shapes for part in parts),
                "All data batches in a list need to have the same shape",
            )
            shapes = [(len(parts) * shape[0], *shape[1:]) for shape in shapes]
        if shapes == [desc.shape for desc in group.data_shapes]:
            return
        data = getattr(batch, "provide_data", None) or [
            DataDesc(desc.name, shape, desc.dtype, desc.layout)
            for desc, shape in zip(group.data_shapes, shapes, strict=True)
        ]
        labels = getattr(batch, "provide_label", None)
        if not labels and group.label_shapes:
            given = [array.shape for array in parts[0].label or ()]
            if isinstance(batch, list):
                given = [(len(parts) * shape[0], *shape[1:]) for shape in given]
            if given:
                labels = [
                    DataDesc(desc.name, shape, desc.dtype, desc.layout)
                    for desc, shape in zip(group.label_shapes, given, strict=True)
                ]
        if not labels and group.label_shapes:
            # Without labels the graph keeps arguments for them, of as many rows.
            labels = [
                DataDesc(desc.name, (shapes[0][0], *desc.shape[1:]), desc.dtype, desc.layout)
                for desc in group.label_shapes
            ]
        group.reshape(
            described(self._data_names, data, "data", refuse=True),
            [d if isinstance(d, DataDesc) else DataDesc(*d) for d in labels] if labels else None,
        )

    def forward_backward(self, data_batch: Any) -> None:
        """Computes results and gradients of a batch.

        Where `update` can do all of it in one program, the batch waits for that. Gradients are then
        computed only if something is asked for before.
        """
        group = self._ready
        if not self._compiles or not WholeStep.possible(group, self._updater):
            super().forward_backward(data_batch)
            return
        self._fit_shapes(group, data_batch)
        group.load(data_batch)
        self._waits = True

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients.

        Args:
          out_grads: gradients of the results, an array or a list; those that are losses need none.
        """
        self._ready.backward(out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients of the last batch.

        Row_sparse parameters in a store are updated there; `prepare` fetches the rows that the next
        batch needs.

        Raises:
          ArgumentError: there is no optimizer.
        """
        if self._waits and self._update_as_a_whole():
            return
        group = self._ready
        require(self.optimizer_initialized, "call init_optimizer first")
        require(group.grad_arrays is not None, "the module is not bound for training")
        assert group.grad_arrays is not None
        self._params_dirty = True
        if self._update_on_kvstore:
            update_in_store(self._kvstore, self._param_names, group.param_arrays, group.grad_arrays)
        else:
            update_on_devices(
                self._updater,
                self._kvstore,
                self._numbers,
                self._param_names,
                group.param_arrays,
                group.grad_arrays,
            )

    def _update_as_a_whole(self) -> bool:
        """Does the batch that waits, if it can be compiled."""
        (executor,) = self._bound.execs
        step = self._steps.get(executor)
        if step is None or step.states is not self._updater.states:
            step = self._steps[executor] = WholeStep(self._bound, self._updater, self._numbers)
        self._whole_step = step
        try:
            step()
        except NotImplementedError:  # the size of a result depends on numbers, or the like
            self._compiles = False
            return False
        self._waits, self._params_dirty = False, True
        return True

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The results of the last forward pass: joined, or for each a list of those of the devices."""
        return self._ready.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the data: joined, or for each a list of those of the devices.

        Raises:
          ArgumentError: the module is not bound with `inputs_need_grad`.
        """
        require(self.inputs_need_grad, "bind with inputs_need_grad=True for these")
        return self._ready.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """What the variables `state_names` hold: joined, or for each a list of those of the devices."""
        return self._ready.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the variables `state_names`.

        Args:
          states: for each an array, or a list of one for each device.
          value: a number, for all of them.
        """
        self._ready.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Takes labels and the last results into a metric.

        Args:
          eval_metric: the metric.
          labels: a list of arrays, or, `pre_sliced`, a list of such lists for the devices.
          pre_sliced: whether they are split already.
        """
        self._ready.update_metric(eval_metric, labels, pre_sliced)

    def _has_several_copies(self) -> bool:
        own_way = type(self).set_params is not Module.set_params
        return own_way or len(self._context) > 1 or self._update_on_kvstore

    def _metric_later(self, labels: Any, pre_sliced: bool) -> Callable[[Any], None] | None:
        if type(self).update_metric is not Module.update_metric:
            return None
        taken = [tuple(map(_as_they_are, one)) for one in self._ready.results(labels, pre_sliced)]

        def update(eval_metric: Any) -> None:
            for named, outputs in taken:
                eval_metric.update_dict(named, outputs)

        return update

    def _sync_params_from_devices(self) -> None:
        assert self._arg_params is not None and self._aux_params is not None
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._update_on_kvstore:
            for name, array in sorted(self._arg_params.items()):
                if array.stype == "row_sparse":
                    rows = arange(0, array.shape[0], dtype="int64")
                    self._kvstore.row_sparse_pull(name, array, row_ids=rows)
        self._params_dirty = False

    def save_optimizer_states(self, fname: str | os.PathLike) -> None:
        """Saves the optimizer's states to a file."""
        require(self.optimizer_initialized, "call init_optimizer first")
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
            return
        with replacing(fname) as file:
            file.write(self._updater.get_states())

    def load_optimizer_states(self, fname: str | os.PathLike) -> None:
        """Takes up states that were saved, here or in MXNet."""
        require(self.optimizer_initialized, "call init_optimizer first")
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            return
        with open(fname, "rb") as file:
            self._updater.set_states(file.read())

    def install_monitor(self, mon: Any) -> None:
        self._group.install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Fetches the rows of parameters that a batch needs from the store.

        Args:
          data_batch: the batch that comes next.
          sparse_row_id_fn: of the batch; returns row numbers by the name of the parameter, an array or
            a list of one for each device.

        Raises:
          ArgumentError: the module is not bound, or the function returns no dict.
        """
        require(self.binded, "call bind first")
        if sparse_row_id_fn is None:
            return
        if self._kvstore is None or not self._update_on_kvstore:
            warnings.warn(
                "Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.",
                stacklevel=2,
            )
            return
        found = sparse_row_id_fn(data_batch)
        require(isinstance(found, dict), "Expected dict output from sparse_row_id_fn")
        for name, rows in found.items():
            block = self._group.param_arrays[self._param_names.index(name)]
            if block[0].stype != "row_sparse":
                warnings.warn(
                    f"{name} is not row_sparse; its rows are not fetched one by one", stacklevel=2
                )
            else:
                self._kvstore.row_sparse_pull(name, block, row_ids=rows)


def _as_they_are(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays that hold what the given ones hold now."""
    return {
        name: NDArray._wrap(a._value) if isinstance(a, NDArray) else np.array(a)
        for name, a in arrays.items()
    }


def _states_file(prefix: str | os.PathLike, epoch: int) -> str:
    return f"{os.fspath(prefix)}-{epoch:04d}.states"


def _blank(names: Sequence[str], blocks: Sequence[Sequence[NDArray]]) -> dict[str, NDArray]:
    """Arrays on the host like those of the first device."""
    return {
        name: zeros(block[0].shape, dtype=block[0].dtype, stype=block[0].stype)
        for name, block in zip(names, blocks, strict=True)
    }
