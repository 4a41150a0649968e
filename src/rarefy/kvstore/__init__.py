"""Stores of values by key, which devices push gradients to and pull weights from."""

from rarefy.kvstore._base import KVStoreBase
from rarefy.kvstore._store import KVStore, create

__all__ = ["KVStore", "KVStoreBase", "create"]
