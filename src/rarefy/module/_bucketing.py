"""A module for inputs of several lengths: a graph for each, with the same parameters."""

import logging
import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rarefy.context import Context
from rarefy.initializer import Uniform
from rarefy.model import load_params
from rarefy.module._base import BaseModule
from rarefy.module._module import Module
from rarefy.module._names import require
from rarefy.name import NameManager
from rarefy.nd import NDArray
from rarefy.nd import array as nd_array
from rarefy.nd import load as load_arrays
from rarefy.nd import save as save_arrays
from rarefy.sym import Symbol
from rarefy.sym import load as load_symbol

_UNIFORM = Uniform(0.01)
Generator = Callable[[Any], tuple[Symbol, Sequence[str] | None, Sequence[str] | None]]


class BucketingModule(BaseModule):
    """Modules for the buckets that batches belong to. They share parameters and optimizer.

    A batch says in `bucket_key` which bucket it belongs to. A bucket's graph is made when the first
    batch of it comes.

    Args:
      sym_gen: makes a graph for a key; returns it with the names of data and of labels.
      default_bucket_key: of the bucket that the others share with: its graph has all parameters.
      logger, context, work_load_list, fixed_param_names, state_names, group2ctxs,
        compression_params: as of `Module`.

    Raises:
      ArgumentError: `default_bucket_key` is missing.
      ValueError: as of `Module`.
    """

    def __init__(
        self,
        sym_gen: Generator,
        default_bucket_key: Hashable = None,
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ):
        super().__init__(logger=logger)
        require(default_bucket_key is not None, "please specify default_bucket_key=")
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        self._options: dict[str, Any] = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._unbound: Module = self._made(default_bucket_key)  # checks the names
        self._buckets: dict[Any, Module] = {}
        self._curr_bucket_key: Any = None
        self._monitor: Any = None
        self._grad_req: Any = "write"

    def _made(self, key: Any, symbol: Symbol | None = None) -> Module:
        """A module for a bucket, of the graph given or else of that which is generated."""
        with NameManager():
            made, data_names, label_names = self._sym_gen(key)
        symbol = made if symbol is None else symbol
        return Module(symbol, data_names, label_names, **self._options)

    @property
    def _default(self) -> Module:
        return self._buckets[self._default_bucket_key]

    @property
    def _curr_module(self) -> Module:
        require(self.binded, "call bind first")
        return self._buckets[self._curr_bucket_key]

    @property
    def _ready(self) -> Module:
        require(self.binded and self.params_initialized, "call bind and init_params first")
        return self._curr_module

    @property
    def data_names(self) -> list[str]:
        return (self._curr_module if self.binded else self._unbound).data_names

    @property
    def output_names(self) -> list[str]:
        return (self._curr_module if self.binded else self._unbound).output_names

    @property
    def data_shapes(self) -> Any:
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> Any:
        return self._curr_module.label_shapes

    @property
    def output_shapes(self) -> Any:
        return self._curr_module.output_shapes

    @property
    def symbol(self) -> Any:
        """The graph of the present bucket."""
        return self._curr_module.symbol

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Parameters and auxiliary states by name, on the host.

        Raises:
          ArgumentError: there are none yet.
        """
        require(self.params_initialized, "call init_params first")
        default = self._default
        # The others work on the same arrays.
        default._params_dirty |= any(m._params_dirty for m in self._buckets.values())
        found = default.get_params()
        for module in self._buckets.values():
            module._params_dirty = False
        return found

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
        require(self.binded, "call bind first")
        self._default.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self.params_initialized = True

    def init_params(
        self,
        initializer: Any = _UNIFORM,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives the parameters their first numbers; the arguments are those of `Module.init_params`."""
        if self.params_initialized and not force_init:
            return
        require(self.binded, "call bind before initializing the parameters")
        self._default.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
        )
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
        """Binds the default bucket; the others are bound as batches come.

        Args:
          data_shapes, label_shapes: of the default bucket, the largest.
          shared_module: None.
          for_training, inputs_need_grad, force_rebind, grad_req: as of `Module.bind`.

        Raises:
          ArgumentError: a module is to be shared with.
        """
        before = self.get_params() if self.params_initialized else None
        if force_rebind:
            self.binded, self._buckets, self._curr_bucket_key = False, {}, None
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        require(shared_module is None, "shared_module for BucketingModule is not supported")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        key = self._default_bucket_key
        module = self._buckets.setdefault(key, self._made(key))
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        if self._monitor is not None:
            module.install_monitor(self._monitor)
        self._curr_bucket_key, self.binded = key, True
        if before is not None:
            self.set_params(*before)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Makes another bucket the present one.

        Args:
          bucket_key: which one.
          data_shapes, label_shapes: of its batches, needed when it comes for the first time.

        Raises:
          ArgumentError: the module is not bound.
        """
        require(self.binded, "call bind before switching bucket")
        module = self._buckets.get(bucket_key)
        if module is None:
            module = self._buckets[bucket_key] = self._made(bucket_key)
        if not module.binded:
            module.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                shared_module=self._default,
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
        self._curr_bucket_key = bucket_key

    def _switch_to(self, batch: Any) -> Module:
        self._ready  # noqa: B018 - refuses
        self.switch_bucket(batch.bucket_key, batch.provide_data, batch.provide_label)
        return self._curr_module

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes one optimizer for all buckets; the arguments are those of `Module.init_optimizer`."""
        self._ready  # noqa: B018 - refuses
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        default = self._default
        default.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not default and module.binded:
                module.borrow_optimizer(default)
        self.optimizer_initialized = True

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Gets the bucket of a batch ready, and fetches the rows of parameters that the batch needs."""
        before = self._curr_bucket_key
        self._switch_to(data_batch).prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self._curr_bucket_key = before

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the results of a batch, in its bucket."""
        self._switch_to(data_batch).forward(data_batch, is_train=is_train)

    def forward_backward(self, data_batch: Any) -> None:
        self._switch_to(data_batch).forward_backward(data_batch)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients of the last batch."""
        self._ready.backward(out_grads=out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients of the last batch."""
        module = self._ready
        require(self.optimizer_initialized, "call init_optimizer first")
        module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The results of the last batch."""
        return self._ready.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the data of the last batch."""
        return self._ready.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        return self._ready.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        self._ready.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Takes labels and the last results into a metric."""
        self._ready.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Lets a monitor look at all buckets, those that are yet to come too."""
        require(self.binded, "call bind first")
        self._monitor = mon
        for module in self._buckets.values():
            if module.binded:
                module.install_monitor(mon)

    def save_checkpoint(
        self, prefix: str | os.PathLike, epoch: int, remove_amp_cast: bool = False
    ) -> None:
        """Saves the parameters, the graph of each bucket and the list of keys.

        Args:
          prefix: what the names of the files begin with.
          epoch: the number in that of the parameters.
          remove_amp_cast: accepted for MXNet's sake.

        Raises:
          ArgumentError: there are no buckets yet.
          ValueError: a key is no integer.
        """
        require(self._buckets, "Empty BucketingModule cannot be saved")
        keys = list(self._buckets)
        if not all(isinstance(key, int | np.integer) for key in keys):
            raise ValueError(f"only buckets with integers as keys can be saved; got {keys}")
        prefix = os.fspath(prefix)
        self.save_params(f"{prefix}-{epoch:04d}.params")
        for key, module in self._buckets.items():
            module.symbol.save(f"{prefix}-{key}-symbol.json")
        save_arrays(f"{prefix}.buckets", nd_array(keys, dtype=np.int32))

    @staticmethod
    def load(
        prefix: str | os.PathLike,
        epoch: int,
        sym_gen: Generator | None = None,
        default_bucket_key: Any = None,
        **kwargs: Any,
    ) -> "BucketingModule":
        """A module from a checkpoint.

        Args:
          prefix, epoch: as of `save_checkpoint`.
          sym_gen, default_bucket_key: as the module was made with; graphs of buckets that were saved
            come from their files.
          **kwargs: of `BucketingModule`.

        Raises:
          ArgumentError: `sym_gen` or `default_bucket_key` is missing.
        """
        require(sym_gen is not None, "sym_gen is required for loading BucketingModule")
        require(
            default_bucket_key is not None,
            "default_bucket_key is required for loading BucketingModule",
        )
        saved: Any = load_arrays(f"{os.fspath(prefix)}.buckets")
        keys = saved[0].asnumpy().tolist()
        symbols = {k: load_symbol(f"{os.fspath(prefix)}-{k}-symbol.json") for k in keys}
        args, states = load_params(prefix, epoch)
        return BucketingModule.load_dict(
            symbols, sym_gen, default_bucket_key, args, states, **kwargs
        )

    @staticmethod
    def load_dict(
        sym_dict: Mapping[Any, Symbol] | None = None,
        sym_gen: Generator | None = None,
        default_bucket_key: Any = None,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> "BucketingModule":
        """A module of graphs by key, with parameters.

        Args:
          sym_dict: the graphs.
          sym_gen, default_bucket_key: as of `BucketingModule`.
          arg_params, aux_params: arrays by name.
          **kwargs: of `BucketingModule`.

        Raises:
          ArgumentError: one of these is missing.
        """
        given = {
            "sym_dict": sym_dict,
            "default_bucket_key": default_bucket_key,
            "arg_params": arg_params,
            "aux_params": aux_params,
        }
        for name, value in given.items():
            require(value is not None, f"{name} is required for BucketingModule.load_dict")
        assert sym_dict is not None and sym_gen is not None
        made = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        for key, symbol in sym_dict.items():
            made._buckets[key] = made._made(key, symbol)
        default = made._buckets.setdefault(default_bucket_key, made._unbound)
        default._arg_params, default._aux_params = dict(arg_params or {}), dict(aux_params or {})
        default.params_initialized = made.params_initialized = True
        return made
