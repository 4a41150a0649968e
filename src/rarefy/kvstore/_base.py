"""What key-value stores are, and how they are made by name."""

from typing import Any, ClassVar

from rarefy.base import MXNetError


class KVStoreBase:
    """Base of the stores: what a trainer needs of one. Register a class of one's own with
    `KVStoreBase.register`, and `create` makes it by its name."""

    OPTIMIZER = "optimizer"
    """The capability of updating parameters in the store."""

    kv_registry: ClassVar[dict[str, type]] = {}

    @staticmethod
    def register(klass: type) -> type:
        """Makes a class known to `create` by its name, in any case; returns it."""
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Puts a value into the store and from there into `out`."""
        raise NotImplementedError(f"{type(self).__name__} has no broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Pushes values and pulls the result, into the values themselves without `out`."""
        raise NotImplementedError(f"{type(self).__name__} has no pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """Lets the store update its values by an optimizer as gradients are pushed."""
        raise NotImplementedError(f"{type(self).__name__} has no optimizer")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something, such as `OPTIMIZER`."""
        raise NotImplementedError(f"no capability {capability!r} is known")

    def save_optimizer_states(self, fname: Any, dump_optimizer: bool = False) -> None:
        """Writes the optimizer's states to a file."""
        raise NotImplementedError(f"{type(self).__name__} has no optimizer")

    def load_optimizer_states(self, fname: Any) -> None:
        """Reads them back."""
        raise NotImplementedError(f"{type(self).__name__} has no optimizer")

    @property
    def type(self) -> str:
        """What the store was made as."""
        return type(self).__name__.lower()

    @property
    def rank(self) -> int:
        """The number of this worker."""
        raise NotImplementedError(f"{type(self).__name__} has no rank")

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        raise NotImplementedError(f"{type(self).__name__} has no number of workers")


LOCAL = ("local", "device", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device")


def kind_of(name: Any) -> str:
    """The checked name of a store.

    Raises:
      TypeError: it is no text.
      ValueError: there is no such store.
      MXNetError: it is one of several processes.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string; got {name!r}")
    kind = name.lower()
    if kind in LOCAL or kind in KVStoreBase.kv_registry:
        return kind
    if kind.startswith(("dist", "p3store_dist")) or kind in ("nccl", "horovod", "byteps"):
        raise MXNetError(
            f"kvstore {name!r}: stores of several processes are not there; 'local' and 'device' work "
            "within one"
        )
    known = ", ".join((*LOCAL, *KVStoreBase.kv_registry))
    raise ValueError(f"kvstore {name!r} is not known; there are {known}")
