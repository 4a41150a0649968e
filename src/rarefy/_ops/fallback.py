"""Going dense: counted, warned about once, or refused."""

import inspect
import os
import warnings
from collections.abc import Sequence
from typing import Any

import jax

from rarefy._config import config
from rarefy._ops.infer import describe
from rarefy._ops.opdef import Operator, Signature
from rarefy._ops.storage import SPARSE, Value, nbytes_dense
from rarefy.base import MXNetError

_LIBRARIES = (os.path.dirname(os.path.dirname(__file__)), os.path.dirname(jax.__file__))

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
    config.storage_fallbacks[op.name, signature] += 1
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
    """How many frames above the one that asks the user's code stands; JAX's is there while tracing."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
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


def require_room_for(name: str, value: Value) -> None:
    """Refuses the dense form of a sparse value, for a gradient, where it would be too large.

    Raises:
      StorageFallbackError: it would take more than `config.storage_fallback_bytes`.
    """
    needed = nbytes_dense(value)
    if needed > config.storage_fallback_bytes:
        raise StorageFallbackError(
            f"{name}: a dense gradient of shape {value.shape} takes {needed} bytes, more than "
            f"storage_fallback_bytes={config.storage_fallback_bytes}. Ask for one in the array's own "
            "storage type, or raise the limit in rarefy.config"
        )


def require_room_back(
    op: Operator, signature: Signature, values: Sequence[Value | None], want: Signature
) -> None:
    """Refuses dense cotangents of sparse arrays that would be too large.

    Args:
      want: for each array the storage type of its cotangent, None where none is needed.

    Raises:
      StorageFallbackError: they would take more than `config.storage_fallback_bytes`.
    """
    wanted: Signature = tuple(
        s if w == "default" and s in SPARSE else None for s, w in zip(signature, want, strict=True)
    )
    if not any(wanted):
        return
    what, needed = _describe(op, wanted, values)
    if needed > config.storage_fallback_bytes:
        raise StorageFallbackError(
            f"the gradient of {what}, more than storage_fallback_bytes="
            f"{config.storage_fallback_bytes}. Attach a gradient in the array's own storage type, or "
            "raise the limit in rarefy.config"
        )


def _describe(
    op: Operator, signature: Signature, values: Sequence[Value | None]
) -> tuple[str, int]:
    """What an operator makes dense, in words and in bytes."""
    sparse = [v for v, s in zip(values, signature, strict=True) if v is not None and s in SPARSE]
    needed = sum(map(nbytes_dense, sparse))
    shapes = ", ".join(str(v.shape) for v in sparse)
    return f"{describe(op, signature)} of shape {shapes} takes {needed / 1e6:.3g} MB dense", needed
