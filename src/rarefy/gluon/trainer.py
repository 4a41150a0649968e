"""Trainers: an optimizer applied to the parameters of a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from rarefy import optimizer as opt
from rarefy._atomic import replacing
from rarefy.base import ArgumentError
from rarefy.context import Context
from rarefy.gluon._parameter import Parameter
from rarefy.gluon._parameter_dict import ParameterDict
from rarefy.kvstore import KVStore, KVStoreBase, create
from rarefy.nd import NDArray


class Trainer:
    """Updates parameters by an optimizer, after `backward`.

    On one device the parameters are updated where they are: default ones all in one program, row_sparse
    gradients in the rows they have. Several devices add up their gradients in a key-value store.

    Args:
      params: the parameters: a dictionary, or a list.
      optimizer: the optimizer or its name.
      optimizer_params: what an optimizer that is named is made with.
      kvstore: how several devices share gradients: 'device', 'local', a store, or None for not at all.
      compression_params: how gradients are compressed between devices.
      update_on_kvstore: whether the store updates the parameters; by default it does where there
        are several devices and no row_sparse gradients of default parameters.

    Raises:
      ValueError: `params` is none.
      ArgumentError: parameters are on different contexts; or an optimizer that is made already gets
        parameters.
      RuntimeError: a parameter was not initialized, or is row_sparse and has a trainer.
    """

    def __init__(
        self,
        params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: str | opt.Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ):
        self._params = _as_list(params)
        self._param2idx = {p.name: i for i, p in enumerate(self._params)}
        for param in self._params:
            param._set_trainer(self)
        self._contains_sparse_weight = any(p.stype != "default" for p in self._params)
        self._contains_sparse_grad = any(p.grad_stype != "default" for p in self._params)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._optimizer = self._made(optimizer, dict(optimizer_params or {}))
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]
        self._scale = self._optimizer.rescale_grad
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._reset_kvstore()

    def _check_contexts(self) -> list[Context]:
        contexts: list[Context] | None = None
        for param in self._params:
            its = param.list_ctx()
            if contexts is not None and its != contexts:
                raise ArgumentError(
                    "All Parameters must be initialized on the same set of contexts, but Parameter "
                    f"{param.name} is initialized on {its} while previous Parameters are "
                    f"initialized on {contexts}."
                )
            contexts = its
        return contexts or []

    def _made(self, optimizer: Any, settings: dict[str, Any]) -> opt.Optimizer:
        by_index = dict(enumerate(self._params))
        if not isinstance(optimizer, opt.Optimizer):
            return opt.create(optimizer, param_dict=by_index, **settings)
        if settings:
            raise ArgumentError(
                "optimizer_params must be None if optimizer is an instance of Optimizer instead of "
                "str"
            )
        optimizer.param_dict = by_index
        return optimizer

    # The store

    def _reset_kvstore(self) -> None:
        """Forgets the store; the next step makes it anew from the parameters."""
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore = False
        self._params_to_init = list(self._params)

    def _init_kvstore(self) -> None:
        """Decides whether there is a store, and whether it updates parameters, and makes it.

        Raises:
          ValueError: what was asked for does not go together.
        """
        wanted, update = self._kvstore_params.values()
        if self._contains_sparse_weight and update is False:
            raise ValueError("Cannot set update_on_kvstore=False when sparse weights are present.")
        store = create(wanted) if isinstance(wanted, str) else wanted
        if isinstance(wanted, str) and len(self._contexts) == 1 and not update:
            store = None
        if store is not None and self._contains_sparse_grad and not isinstance(store, KVStore):
            raise ValueError(
                f"Cannot use {type(store)} for multi-device training with sparse gradients"
            )
        if store is None:
            if update:
                raise ValueError("update_on_kvstore=True needs a kvstore; got kvstore=None")
            self._kv_initialized = True
            return
        capable = store.is_capable(KVStoreBase.OPTIMIZER)
        if update and not capable:
            raise ValueError(f"Please set update_on_kvstore=False when training with {type(store)}")
        if update is None:
            update = capable and (self._contains_sparse_weight or not self._contains_sparse_grad)
        if self._compression_params:
            store.set_gradient_compression(self._compression_params)
        if update:
            store.set_optimizer(self._optimizer)
        self._kvstore, self._update_on_kvstore = store, bool(update)
        self._kv_initialized = True

    def _init_params(self) -> None:
        """Puts parameters whose values are known into the store."""
        store, waiting = self._kvstore, []
        if store is None:
            self._params_to_init = []
            return
        for param in self._params_to_init:
            if param._deferred_init is not None:
                waiting.append(param)
                continue
            arrays = param._copies(param._data)
            index = self._param2idx[param.name]
            store.broadcast(index, arrays[0], arrays)
        self._params_to_init = waiting

    def _prepare(self) -> None:
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    # Settings

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> opt.Optimizer:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate.

        Raises:
          UserWarning: a scheduler gives it.
        """
        self._optimizer.set_learning_rate(lr)

    # Steps

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Updates all parameters by their gradients: `allreduce_grads`, then `update`.

        Args:
          batch_size: what gradients are divided by; 1 where the loss is a mean already.
          ignore_stale_grad: whether a parameter whose gradient `backward` has not written since the
            last step is left as it is. Otherwise that is refused.

        Raises:
          UserWarning: a gradient is stale, that is, not written since the last step; default and
            row_sparse alike. Nothing has been updated.
          DeferredInitializationError: a parameter has no value yet.
        """
        self._divide_by(batch_size)
        self._prepare()
        current = self._current(ignore_stale_grad)
        self._allreduce_grads(current)
        self._update(current)

    def allreduce_grads(self) -> None:
        """Adds up the gradients of all devices, on each.

        Raises:
          ArgumentError: the store updates the parameters.
        """
        self._prepare()
        self._refuse_updating_store("allreduce_grads")
        self._allreduce_grads([(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"])

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Updates all parameters by gradients that `allreduce_grads` has added up.

        Args:
          batch_size, ignore_stale_grad: as of `step`.

        Raises:
          ArgumentError: the store updates the parameters.
          UserWarning: a gradient is stale.
        """
        self._prepare()
        self._refuse_updating_store("update")
        self._divide_by(batch_size)
        self._update(self._current(ignore_stale_grad))

    def _divide_by(self, batch_size: float) -> None:
        """Sets what gradients are divided by in the next update."""
        if batch_size == 0:
            raise ZeroDivisionError(
                "gradients are divided by batch_size, which is 0; leave out batches without rows"
            )
        self._optimizer.rescale_grad = self._scale / batch_size

    def _refuse_updating_store(self, method: str) -> None:
        if self._update_on_kvstore:
            raise ArgumentError(
                f"{method}() when parameters are updated on kvstore is not supported. Try setting "
                "`update_on_kvstore` to False when creating trainer."
            )

    def _current(self, ignore_stale_grad: bool) -> list[tuple[int, Parameter]]:
        """The parameters that have a new gradient on some device."""
        found = []
        for i, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            arrays = param._copies(param._data)
            if len(arrays) == 1 and (slot := arrays[0]._slot) and slot.leaf and slot.leaf.fresh:
                found.append((i, param))
                continue
            if all(a._fresh_grad for a in arrays):
                found.append((i, param))
                continue
            if not ignore_stale_grad:
                stale = next(a for a in arrays if not a._fresh_grad)
                raise UserWarning(
                    f"Gradient of Parameter `{param.name}` on context {stale.context} has not been "
                    "updated by backward since last `step`. This could mean a bug in your model that "
                    "made it only use a subset of the Parameters (Blocks) for this iteration. If you "
                    "are intentionally only using a subset, call step with ignore_stale_grad=True to "
                    "suppress this warning and skip updating of Parameters with stale gradient"
                )
            if any(a._fresh_grad for a in arrays):
                found.append((i, param))
        return found

    def _allreduce_grads(self, current: Sequence[tuple[int, Parameter]]) -> None:
        if self._kvstore is None:
            return
        for i, param in current:
            out = param._copies(param._data) if self._update_on_kvstore else None
            self._kvstore.pushpull(i, param.list_grad(), out=out, priority=-i)

    def _update(self, current: Sequence[tuple[int, Parameter]]) -> None:
        for place, updater in enumerate(self._updaters):
            indices: list[int] = []
            grads: list[NDArray] = []
            weights: list[NDArray] = []
            for i, param in current:
                assert param._data is not None and param._grad is not None
                weight = param._data[place]
                slot = weight._slot
                if slot is not None and slot.leaf is not None and slot.leaf.fresh:
                    slot.leaf.fresh = False
                    indices.append(i)
                    grads.append(param._grad[place])
                    weights.append(weight)
            if indices and not self._update_on_kvstore:
                updater(indices, grads, weights)

    # Files

    def save_states(self, fname: str) -> None:
        """Writes the optimizer, with its states and counts, to a file.

        Args:
          fname: the file; it is replaced when all is written.
        """
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        with replacing(fname) as file:
            file.write(self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname: str) -> None:
        """Takes over what `save_states` wrote, here or in MXNet.

        Args:
          fname: the file.

        Raises:
          ValueError: the file holds no states, or those of another optimizer.
        """
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            with open(fname, "rb") as file:
                states = file.read()
            for updater in self._updaters:
                updater.set_states(states)
        self._optimizer.param_dict = dict(enumerate(self._params))


def _as_list(params: Any) -> list[Parameter]:
    if isinstance(params, Mapping | ParameterDict):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise ValueError(
            f"First argument must be a list or dict of Parameters, got {type(params)}."
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise ValueError(
                f"First argument must be a list or dict of Parameters, got list of {type(param)}."
            )
    return list(params)
