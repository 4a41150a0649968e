"""How gradients of several devices become updates of parameters, with a store or without."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from rarefy import kvstore as stores
from rarefy.kvstore import KVStoreBase

Blocks = Sequence[Sequence[Any]]
"""For each parameter its arrays on the devices."""

_LARGE = 16 * 1024 * 1024  # elements from which one copy of a parameter in a store is one too many


def choose_store(store: Any, devices: int, arg_params: Mapping[str, Any]) -> tuple[Any, bool]:
    """The store to use, if any, and whether parameters are updated in it.

    One device needs no store, unless one is given. MXNET_UPDATE_ON_KVSTORE=0 lets the devices update.

    Raises:
      TypeError: `store` is neither a store, nor the name of one, nor None.
    """
    in_store = bool(int(os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1")))
    if store is None:
        return None, False
    if isinstance(store, str):
        if devices == 1 and "dist" not in store:
            return None, False
        made = stores.create(store)
        largest = max((math.prod(array.shape) for array in arg_params.values()), default=0)
        if store == "local" and largest > _LARGE:
            in_store = False
    elif isinstance(store, KVStoreBase):
        made = store
    else:
        raise TypeError("kvstore must be KVStore, str or None")
    return made, in_store and made.is_capable(KVStoreBase.OPTIMIZER)


def fill_store(
    store: Any, names: Sequence[str], arg_params: Mapping[str, Any], params: Blocks, in_store: bool
) -> None:
    """Puts parameters into the store, and from there to the devices."""
    for name, block in zip(names, params, strict=True):
        store.init(name, arg_params[name])
        if in_store and arg_params[name].stype == "default":
            store.pull(name, out=block)


def update_in_store(store: Any, names: Sequence[str], params: Blocks, grads: Blocks) -> None:
    """Pushes gradients to the store, which updates, and pulls the parameters that are default."""
    for name, block, grad in zip(names, params, grads, strict=True):
        if grad[0] is None:
            continue
        store.push(name, grad)
        if block[0].stype == "default":
            store.pull(name, out=block)


def update_on_devices(
    updater: Any,
    store: Any,
    numbers: Mapping[str, int],
    names: Sequence[str],
    params: Blocks,
    grads: Blocks,
) -> None:
    """Adds up gradients by a store, if there is one, and updates the parameters on each device.

    Args:
      numbers: the optimizer's number of each parameter.
    """
    devices = len(params[0]) if params else 0
    updates: list[list[tuple[int, Any, Any]]] = [[] for _ in range(devices)]
    for name, block, grad in zip(names, params, grads, strict=True):
        if grad[0] is None:
            continue
        if store is not None:
            store.push(name, grad)
            store.pull(name, out=grad, ignore_sparse=False)
        for k in range(devices):
            # Each device has states of its own, so an index of its own.
            updates[k].append((numbers[name] * devices + k, grad[k], block[k]))
    for each in updates:
        if each:
            indices, device_grads, weights = map(list, zip(*each, strict=True))
            updater(indices, device_grads, weights)
