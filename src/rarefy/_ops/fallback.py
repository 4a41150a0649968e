"""Going dense: counted, warned about once, or refused."""

import inspect
import os
import warnings
from collections import Counter
from typing import Any

from rarefy._config import config
from rarefy._ops.infer import describe
from rarefy._ops.opdef import Operator, Signature
from rarefy._ops.storage import Value, nbytes_dense
from rarefy.base import MXNetError

COUNTS: Counter[tuple[str, Signature]] = Counter()
"""How often each (operator, storage types) has fallen back to dense."""

_PACKAGE = os.path.dirname(os.path.dirname(__file__))

_warned: set[tuple[str, Signature, Any]] = set()


class StorageFallbackWarning(UserWarning):
    """An operator without a rule for its arrays' storage types made them dense."""


class StorageFallbackError(MXNetError):
    """Making an array dense was refused (`rarefy.config.storage_fallback`)."""


def note(op: Operator, signature: Signature, params: Any, values: list[Value]) -> None:
    """Counts a fallback; warns the first time for these storage types and parameters, or refuses.

    Raises:
      StorageFallbackError: `config.storage_fallback` is 'error', or the dense arrays would take more
        than `config.storage_fallback_bytes`.
    """
    COUNTS[op.name, signature] += 1
    what, needed = _describe(op, signature, values)
    what += " and has no sparse rule"
    if config.storage_fallback == "error" or needed > config.storage_fallback_bytes:
        raise StorageFallbackError(
            f"{what}, which storage_fallback={config.storage_fallback!r} and "
            f"storage_fallback_bytes={config.storage_fallback_bytes} refuse. Use an operator with a "
            "rule for these storage types, convert with tostype('default') where that is meant, or "
            "raise the limit in rarefy.config"
        )
    silent = os.environ.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE") == "0"
    if config.storage_fallback == "warn" and not silent:
        key = (op.name, signature, params)
        if key not in _warned:
            _warned.add(key)
            warnings.warn(
                f"{what}: its arrays were made dense. Set rarefy.config.storage_fallback = 'silent' or "
                "MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 to hide this, 'error' to refuse it",
                StorageFallbackWarning,
                stacklevel=_depth_of_caller(),
            )


def _depth_of_caller() -> int:
    """How many frames above the one that asks the code outside the package stands."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    return depth


def require_room(op: Operator, signature: Signature, values: list[Value]) -> None:
    """Refuses a dense result of sparse arrays that would be too large.

    Raises:
      StorageFallbackError: it would take more than `config.storage_fallback_bytes`.
    """
    what, needed = _describe(op, signature, values)
    if needed > config.storage_fallback_bytes:
        raise StorageFallbackError(
            f"{what}, more than storage_fallback_bytes={config.storage_fallback_bytes}. Raise the "
            "limit in rarefy.config where that is meant"
        )


def _describe(op: Operator, signature: Signature, values: list[Value]) -> tuple[str, int]:
    """What an operator makes dense, in words and in bytes."""
    sparse = [v for v, s in zip(values, signature, strict=True) if s in ("csr", "row_sparse")]
    needed = sum(map(nbytes_dense, sparse))
    shapes = ", ".join(str(v.shape) for v in sparse)
    return f"{describe(op, signature)} of shape {shapes} takes {needed / 1e6:.3g} MB dense", needed
