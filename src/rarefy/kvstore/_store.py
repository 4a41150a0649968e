"""The store of one process: values by key, sums of what is pushed to them, rows of tables by number."""

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rarefy._atomic import replacing
from rarefy.base import ArgumentError, MXNetError
from rarefy.kvstore._base import KVStoreBase, kind_of
from rarefy.kvstore._compression import TwoBit
from rarefy.kvstore._pairs import Key, pairs
from rarefy.nd._create import array as nd_array
from rarefy.nd._handle import Handle
from rarefy.nd._ndarray import NDArray
from rarefy.nd.op import add_n
from rarefy.nd.sparse import retain
from rarefy.optimizer import Optimizer, Updater, get_updater


class KVStore(KVStoreBase):
    """Values by key that several devices of one process share.

    What is pushed to a key is added up. Without an updater the sum takes the place of the value; with
    one (see `set_optimizer`) the value is updated by it. Keys are all text or all integers.

    The sum of row_sparse arrays has the rows of any of them, and costs what those rows cost.

    Args:
      kind: the name that `create` was given.
    """

    def __init__(self, kind: str = "local"):
        self._kind = kind
        self._values: dict[Key, NDArray] = {}
        self._updater: Callable[[Any, Any, Any], Any] | None = None
        self._compression: TwoBit | None = None

    @property
    def type(self) -> str:
        return self._kind

    @property
    def rank(self) -> int:
        """0: there is one worker."""
        return 0

    @property
    def num_workers(self) -> int:
        """1."""
        return 1

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something.

        Raises:
          ValueError: it is not `OPTIMIZER`, the only one known.
        """
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f"no capability {capability!r} is known; there is 'optimizer'")
        return True

    def init(self, key: Any, value: Any) -> None:
        """Puts values in, copied.

        Args:
          key: a key, or a list of them.
          value: an array, or a list of one for each key.

        Raises:
          MXNetError: a key is there already, or is of another kind than those there.
          ArgumentError: keys and values do not go together.
        """
        for each, (value_of, *_) in pairs("value", key, value):
            self._check_kind(each)
            if each in self._values:
                raise MXNetError(f"key {each!r} is there already; init takes each key once")
            self._values[each] = value_of.copy()

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Adds up values for each key and replaces, or updates, what is stored.

        Args:
          key: a key, or a list of them.
          value: for a key an array, default or row_sparse, or a list of them, which may live on
            several devices; for a list of keys a list of those.
          priority: accepted for MXNet's sake.

        Raises:
          MXNetError: a key is not there, the shape is another, or a value is csr.
          ArgumentError: keys and values do not go together.
        """
        for each, values in pairs("value", key, value):
            stored = self._stored(each)
            if not values:
                continue
            merged = self._merged(each, values, stored)
            if self._updater is not None:
                self._updater(each, merged, stored)
            else:
                self._values[each] = merged

    def pull(
        self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True
    ) -> None:
        """Copies what is stored.

        Args:
          key: a key, or a list of them.
          out: for a key an array or a list of them; for a list of keys a list of those.
          priority: accepted for MXNet's sake.
          ignore_sparse: whether sparse arrays in `out` are left as they are, with a warning, as
            `row_sparse_pull` is meant for them.

        Raises:
          MXNetError: a key is not there, or a shape is another.
          ArgumentError: `out` is missing, or does not go with the keys.
        """
        if out is None:
            raise ArgumentError("pull needs out=: the arrays to copy to")
        for each, outs in pairs("out", key, out):
            stored = self._stored(each)
            for array in outs:
                if ignore_sparse and array.stype != "default":
                    warnings.warn(
                        f"pull of {each!r} into a {array.stype} array is ignored; use "
                        "row_sparse_pull with row_ids, Module.prepare, or ignore_sparse=False",
                        stacklevel=2,
                    )
                else:
                    stored.copyto(array)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push`, then `pull`, into `value` itself without `out`.

        Raises:
          MXNetError, ArgumentError: as of those.
        """
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """`init`, then `pull`.

        Raises:
          MXNetError, ArgumentError: as of those.
        """
        self.init(key, value)
        self.pull(key, out, priority, ignore_sparse=False)

    def row_sparse_pull(
        self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None
    ) -> None:
        """Copies some rows of what is stored.

        Args:
          key: a key, or a list of them.
          out: for a key a row_sparse array or a list of them; for a list of keys a list of those.
          priority: accepted for MXNet's sake.
          row_ids: an array of row numbers in any order, repeats allowed, or a list of one for each
            array of `out`. One is enough for several arrays of one key, which then get the same rows.

        Each array gets exactly the rows named, ascending; those that are not stored are zero, and
        where nothing is stored it gets none. Costs what those rows cost.

        Raises:
          MXNetError: a key is not there, what is stored or an array of `out` is not row_sparse, or a
            row number is out of range.
          ArgumentError: `out` or `row_ids` is missing, or they do not go together.
        """
        if out is None or row_ids is None:
            raise ArgumentError("row_sparse_pull needs out= and row_ids=")
        ids = _lists_of_ids(row_ids)
        wanted = pairs("out", key, out)
        count = sum(len(outs) for _, outs in wanted)
        if len(ids) == 1 and len(wanted) == 1:
            ids *= count
        if len(ids) != count:
            raise ArgumentError(f"row_sparse_pull: {len(ids)} arrays of row_ids for {count} of out")
        found = iter(ids)
        for each, outs in wanted:
            stored = self._stored(each)
            if stored.stype != "row_sparse":
                raise MXNetError(
                    f"row_sparse_pull: key {each!r} holds a {stored.stype} array; init it with a "
                    "row_sparse one, or use pull"
                )
            for array in outs:
                if array.stype != "row_sparse":
                    raise MXNetError(
                        f"row_sparse_pull: out must be row_sparse; got {array.stype} for {each!r}"
                    )
                self._rows_of(each, stored, next(found)).copyto(array)

    @staticmethod
    def _rows_of(key: Key, stored: NDArray, ids: np.ndarray) -> NDArray:
        wrong = (ids < 0) | (ids >= stored.shape[0])
        if wrong.any():
            raise MXNetError(
                f"row_sparse_pull: row_ids[{int(np.flatnonzero(wrong)[0])}] is "
                f"{int(ids[wrong][0])}, outside the {stored.shape[0]} rows of {key!r}"
            )
        rows = nd_array(np.unique(ids), stored.context, dtype=np.int64)
        return retain(stored, rows)

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Sends dense gradients in two bits an element from now on.

        Args:
          compression_params: `{'type': '2bit', 'threshold': t}`; 0.5 without a threshold. Elements
            become t, -t or 0, and what is lost is added to the next gradient.

        Raises:
          MXNetError: the store is 'local', or the parameters are wrong.
        """
        if "device" not in self._kind:
            raise MXNetError(
                f"gradient compression is not supported for a {self._kind!r} store; use 'device'"
            )
        self._compression = TwoBit(compression_params)

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Updates values by an optimizer as gradients are pushed, from now on.

        Raises:
          TypeError: `optimizer` is none.
        """
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"set_optimizer takes an optimizer; got {optimizer!r}. Make one with "
                "optimizer.create(...)"
            )
        self._set_updater(get_updater(optimizer))

    def set_updater(self, updater: Callable[[Any, Any, Any], Any]) -> None:
        """Updates values by a function of key, sum of what is pushed, and the stored array, which it
        changes."""
        self._set_updater(updater)

    def _set_updater(self, updater: Callable[[Any, Any, Any], Any]) -> None:
        self._updater = updater

    def save_optimizer_states(self, fname: str | os.PathLike, dump_optimizer: bool = False) -> None:
        """Writes the states of the optimizer to a file, which is replaced when all is written.

        Args:
          fname: the file.
          dump_optimizer: whether the optimizer's counts and settings go with them.

        Raises:
          ArgumentError: no optimizer was set.
        """
        states = self._states("save").get_states(dump_optimizer)
        with replacing(fname) as file:
            file.write(states)

    def load_optimizer_states(self, fname: str | os.PathLike) -> None:
        """Reads back what `save_optimizer_states` wrote, here or in MXNet.

        Raises:
          ArgumentError: no optimizer was set.
          ValueError: the file has no states.
        """
        updater = self._states("load")
        with open(fname, "rb") as file:
            updater.set_states(file.read())

    def _states(self, what: str) -> Updater:
        if not isinstance(self._updater, Updater):
            raise ArgumentError(
                f"there are no optimizer states to {what}; call set_optimizer first"
            )
        return self._updater

    def _barrier(self) -> None:
        """Waits for all workers: there is one."""

    def _check_kind(self, key: Key) -> None:
        for other in self._values:
            if isinstance(other, str) != isinstance(key, str):
                raise MXNetError(
                    f"mixed key types are not allowed: {key!r} beside {other!r}; use text or integers"
                )
            return

    def _stored(self, key: Key) -> NDArray:
        self._check_kind(key)
        if key not in self._values:
            raise MXNetError(f"key {key!r} is not in the store; init it first")
        return self._values[key]

    def _merged(self, key: Key, values: list[NDArray], stored: NDArray) -> NDArray:
        """The sum of the values, where the stored array lives, with its dtype; no one else's."""
        here = []
        for place, value in enumerate(values):
            if value.stype == "csr":
                raise MXNetError(
                    f"push to {key!r}: csr arrays are not added up; use default or row_sparse ones"
                )
            if value.shape != stored.shape:
                raise MXNetError(
                    f"push to {key!r}: the value has shape {value.shape}, what is stored "
                    f"{stored.shape}; they must be equal"
                )
            value = _unaliased(value, stored)
            if self._compression is not None and value.stype == "default":
                value = self._compression(key, place, value)
            here.append(value)
        if len(here) == 1:
            return here[0]
        if len({value.stype for value in here}) > 1:
            here = [value.tostype("default") for value in here]
        return add_n(*here)


def _unaliased(value: NDArray, stored: NDArray) -> NDArray:
    """The array where `stored` lives, with its dtype. Changing it leaves the one given alone: they
    share memory only until one of them changes."""
    if value.context != stored.context:
        value = value.as_in_context(stored.context)
    if value.dtype != stored.dtype:
        return value.astype(stored.dtype)
    value._cell.shared = True
    taken = Handle._wrap(value._value, shared=True)
    taken._ctx = value._ctx
    return taken


def _lists_of_ids(row_ids: Any) -> list[np.ndarray]:
    """Arrays of row numbers, each flat. For a list of keys they may be nested, as `out` is."""
    plain = isinstance(row_ids, NDArray | np.ndarray)
    if not plain and not isinstance(row_ids, list | tuple):
        raise ArgumentError(
            f"row_ids must be an array or a list of them; got {type(row_ids).__name__}"
        )
    if not plain and all(isinstance(i, int | np.integer) for i in row_ids):
        row_ids, plain = np.asarray(row_ids, np.int64), True
    if not plain and any(isinstance(ids, list | tuple) for ids in row_ids):
        return [ids for each in row_ids for ids in _lists_of_ids(each)]
    arrays = [row_ids] if plain else row_ids
    found = []
    for array in arrays:
        ids = array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)
        if ids.dtype.kind not in "iuf":
            raise ArgumentError(f"row_ids must be numbers; got {ids.dtype}")
        found.append(ids.reshape(-1).astype(np.int64))
    return found


def create(name: str = "local") -> Any:
    """Makes a store.

    Args:
      name: 'local' or 'device', in any case, which do the same here but for gradient compression; one
        of MXNet's older names for them; or the name of a class registered with `KVStoreBase`.

    Raises:
      TypeError: the name is no text.
      ValueError: there is no such store.
      MXNetError: it is one of several processes.
    """
    kind = kind_of(name)
    own = KVStoreBase.kv_registry.get(kind)
    return KVStore(kind) if own is None else own()
