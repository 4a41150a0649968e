"""Checks of the arguments that reader, scan and loader share."""

import os
from typing import Any, get_args

import numpy as np

from rarefy.io._parse import Duplicates, LabelMode, OnBadLine, ParseOptions


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_options(
    *,
    dtype: Any,
    index_base: Any,
    n_features: int | None,
    duplicates: Duplicates,
    bad_lines: OnBadLine,
    labels: LabelMode,
    multilabel: bool,
    weights: bool,
    allow_nonfinite: bool,
    n_threads: int | None,
    chunk_bytes: int,
) -> ParseOptions:
    """The options, each checked.

    Raises:
      ValueError: a value is not among those accepted, or two contradict each other.
      TypeError: `dtype` is none.
    """
    value_type: np.dtype = np.dtype(dtype)
    if value_type not in (np.float32, np.float64):
        raise ValueError(f"dtype: {value_type} is not float32 or float64")
    _check_one_of("index_base", index_base, (0, 1))
    _check_one_of("duplicates", duplicates, get_args(Duplicates))
    _check_one_of("bad_lines", bad_lines, get_args(OnBadLine))
    _check_one_of("labels", labels, get_args(LabelMode))
    if n_features is not None:
        check_at_least("n_features", n_features, 0)
        if n_features > np.iinfo(np.int64).max - 1:
            raise ValueError(f"n_features: {n_features} is beyond 64-bit indices")
    if labels != "required" and weights:
        raise ValueError(
            "weights: weights=True needs labels='required', as '1:0.5' may be a feature otherwise"
        )
    if labels == "none" and multilabel:
        raise ValueError("multilabel: there are no lists of labels with labels='none'")
    check_at_least("chunk_bytes", chunk_bytes, 1)
    if n_threads is not None:
        check_at_least("n_threads", n_threads, 1)
    return ParseOptions(
        dtype=value_type,
        index_base=int(index_base),
        n_features=None if n_features is None else int(n_features),
        duplicates=duplicates,
        bad_lines=bad_lines,
        labels=labels,
        multilabel=multilabel,
        weights=weights,
        allow_nonfinite=allow_nonfinite,
        n_threads=n_threads or default_threads(),
        chunk_bytes=int(chunk_bytes),
    )


def check_at_least(name: str, value: Any, least: int) -> None:
    """Raises unless `value` is an integer of `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}: {value!r} is not an integer")
    if value < least:
        raise ValueError(f"{name}: {value} is below {least}")


def check_part(part_index: int, num_parts: int) -> None:
    """Raises unless there is a part of that number."""
    check_at_least("num_parts", num_parts, 1)
    check_at_least("part_index", part_index, 0)
    if part_index >= num_parts:
        raise ValueError(f"part_index: {part_index} is not below num_parts, {num_parts}")


def _check_one_of(name: str, value: Any, accepted: tuple) -> None:
    if isinstance(value, bool) or value not in accepted:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(map(repr, accepted))}")
