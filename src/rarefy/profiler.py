"""Where time goes: a table of operators, a trace for Chrome, and marks of one's own.

    profiler.set_config(filename="profile.json")
    profiler.start()
    ...
    profiler.stop()
    print(profiler.dumps())

While it runs, each operator that is called on arrays is waited for and timed on its own; that costs
what running ahead would have hidden. Programs that are compiled as a whole count as what they are
called by; `profile_all` or `profile_symbolic` let XLA write a trace of their insides, which TensorBoard
and Perfetto show.
"""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jax
from jax.core import Tracer

from rarefy._atomic import replacing
from rarefy._watch import watch
from rarefy.base import ArgumentError, MXNetError

Order = Literal["total", "avg", "min", "max", "count"]

_OPERATORS = "operator"
_KINDS = (
    "profile_all",
    "profile_symbolic",
    "profile_imperative",
    "profile_memory",
    "profile_api",
)
_ACCEPTED = ("continuous_dump", "dump_period", "aggregate_stats", "profile_process")
_WIDTHS = "{:<32}{:>14}{:>17}{:>17}{:>17}{:>17}{:>17}\n"


@dataclass
class _Total:
    """What the calls of one name took: milliseconds and bytes."""

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = 0.0
    size: int = 0

    def add(self, ms: float, size: int) -> None:
        self.count += 1
        self.total += ms
        self.least, self.most = min(self.least, ms), max(self.most, ms)
        self.size += size

    @property
    def mean(self) -> float:
        return self.total / self.count


_ORDERS: dict[str, Callable[[_Total], float]] = {
    "total": lambda t: t.total,
    "avg": lambda t: t.mean,
    "min": lambda t: t.least,
    "max": lambda t: t.most,
    "count": lambda t: t.count,
}


@dataclass
class _Profiler:
    """What is recorded, and whether anything is."""

    filename: str = "profile.json"
    kinds: dict[str, bool] = field(default_factory=dict)
    running: bool = False
    paused: bool = False
    tracing: str | None = None
    totals: dict[str, dict[str, _Total]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    @property
    def records(self) -> bool:
        return self.running and not self.paused

    @property
    def operators(self) -> bool:
        """Whether operators are timed: unless other kinds were asked for."""
        chosen = self.kinds
        return not any(chosen.values()) or any(
            chosen.get(k, False) for k in ("profile_all", "profile_imperative")
        )

    def watch(self) -> None:
        """Lets operators be timed, or not."""
        watch.run = _timed if self.records and self.operators else None

    def trace(self) -> None:
        """Begins or ends the trace of compiled programs."""
        wanted = any(self.kinds.get(k, False) for k in ("profile_all", "profile_symbolic"))
        if self.running and wanted and self.tracing is None:
            self.tracing = f"{Path(self.filename).with_suffix('')}-xla"
            jax.profiler.start_trace(self.tracing)
        elif not self.running and self.tracing is not None:
            self.tracing = None
            jax.profiler.stop_trace()

    def add(self, category: str, name: str, began: float, size: int = 0, **more: Any) -> None:
        """A stretch of time that ends now."""
        took = time.perf_counter() - began
        with self.lock:
            named = self.totals.setdefault(category, {})
            named.setdefault(name, _Total()).add(took * 1e3, size)
            self.mark(category, name, "X", began, dur=took * 1e6, args={"bytes": size, **more})

    def mark(self, category: str, name: str, phase: str, at: float, **more: Any) -> None:
        event = {"name": name, "cat": category, "ph": phase, "ts": at * 1e6, **more}
        self.events.append({**event, "pid": os.getpid(), "tid": threading.get_ident()})


_profiler = _Profiler()


def _timed(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls an operator, waits for it and records it. What is only traced takes no time of its own."""
    began = time.perf_counter()
    result = function(*args, **kwargs)
    leaves = jax.tree.leaves(result)
    if not any(isinstance(leaf, Tracer) for leaf in leaves):
        jax.block_until_ready(leaves)
        read = jax.tree.leaves([a for a in args if isinstance(a, list | tuple)])
        _profiler.add(_OPERATORS, name, began, _bytes(leaves) + _bytes(read))
    return result


def _bytes(leaves: list[Any]) -> int:
    return sum(getattr(leaf, "nbytes", 0) for leaf in leaves)


def set_config(**kwargs: Any) -> None:
    """Says what to record.

    Args:
      filename: the file that `dump` writes; 'profile.json' by default.
      profile_imperative: operators called on arrays; also without any choice.
      profile_symbolic: compiled programs, in a trace of XLA: the folder is named as the file, with
        '-xla' in place of its ending.
      profile_all: both.
      profile_memory, profile_api, continuous_dump, dump_period, aggregate_stats, profile_process:
        accepted for MXNet's sake. Bytes are always counted, totals always kept.

    Raises:
      MXNetError: there is no such setting.
    """
    for name, value in kwargs.items():
        if name == "filename":
            _profiler.filename = os.fspath(value)
        elif name in _KINDS:
            _profiler.kinds[name] = bool(value)
        elif name not in _ACCEPTED:
            known = ", ".join(("filename", *_KINDS, *_ACCEPTED))
            raise MXNetError(f"profiler.set_config: no setting {name!r}; there are {known}")
    _profiler.watch()


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Starts or stops recording: 'run' or 'stop'.

    Raises:
      ArgumentError: the state is another.
    """
    if state not in ("run", "stop"):
        raise ArgumentError(f"the profiler's state is 'run' or 'stop'; got {state!r}")
    _profiler.running = state == "run"
    _profiler.paused = False
    _profiler.watch()
    _profiler.trace()


def start(profile_process: str = "worker") -> None:
    """Starts recording."""
    set_state("run", profile_process)


def stop(profile_process: str = "worker") -> None:
    """Stops recording. What was recorded stays, for `dumps` and `dump`."""
    set_state("stop", profile_process)


def pause(profile_process: str = "worker") -> None:
    """Leaves out what comes until `resume`."""
    _profiler.paused = True
    _profiler.watch()


def resume(profile_process: str = "worker") -> None:
    """Goes on after `pause`."""
    _profiler.paused = False
    _profiler.watch()


def dumps(
    reset: bool = False,
    format: Literal["table", "json"] = "table",
    sort_by: Order = "total",
    ascending: bool = False,
) -> str:
    """What was recorded, summed up by name.

    Args:
      reset: whether to forget it.
      format: 'table' for people, 'json' for programs.
      sort_by: what the rows are sorted by.
      ascending: whether the largest comes last.

    Returns:
      For each kind and name: how often, milliseconds in total and of the shortest, the longest and the
      mean call, and the bytes that the operators read and wrote.

    Raises:
      ArgumentError: an argument is not among those accepted.
    """
    if format not in ("table", "json"):
        raise ArgumentError(f"format must be 'table' or 'json'; got {format!r}")
    if sort_by not in _ORDERS:
        raise ArgumentError(f"sort_by must be one of {', '.join(_ORDERS)}; got {sort_by!r}")
    with _profiler.lock:
        found = {
            category: sorted(
                named.items(), key=lambda item: _ORDERS[sort_by](item[1]), reverse=not ascending
            )
            for category, named in sorted(_profiler.totals.items())
        }
        text = _table(found) if format == "table" else _json(found)
        if reset:
            _profiler.totals = {}
            _profiler.events = []
    return text


def _table(found: dict[str, list[tuple[str, _Total]]]) -> str:
    text = "\nProfile Statistics:\n"
    head = ("Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
    for category, rows in found.items():
        text += f"{category}\n=================\n"
        names = ("Name", *head, "Bytes (kB)")
        text += _WIDTHS.format(*names) + _WIDTHS.format(*("-" * len(n) for n in names))
        for name, total in rows:
            times = (total.total, total.least, total.most, total.mean, total.size / 1e3)
            text += _WIDTHS.format(name, total.count, *(f"{t:.4f}" for t in times))
        text += "\n"
    return text


def _json(found: dict[str, list[tuple[str, _Total]]]) -> str:
    times = {
        category: {
            name: {
                "Count": t.count,
                "Total": round(t.total, 4),
                "Min": round(t.least, 4),
                "Max": round(t.most, 4),
                "Avg": round(t.mean, 4),
            }
            for name, t in rows
        }
        for category, rows in found.items()
    }
    sizes = {
        category: {
            name: {"Count": t.count, "Total": t.size / 1e3, "Avg": t.size / 1e3 / t.count}
            for name, t in rows
            if t.size
        }
        for category, rows in found.items()
    }
    sizes = {category: named for category, named in sizes.items() if named}
    return json.dumps({"Time": times, "Memory": sizes, "Unit": {"Time": "ms", "Memory": "kB"}})


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Writes the trace to the file of `set_config`, for chrome://tracing and Perfetto.

    Args:
      finished: whether to stop recording.

    Raises:
      OSError: the file cannot be written.
    """
    if finished:
        stop()
    with _profiler.lock:
        content = {"traceEvents": list(_profiler.events), "displayTimeUnit": "ms"}
    with replacing(_profiler.filename) as file:
        file.write(json.dumps(content).encode())


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """An older name: `set_config` of one kind, 'symbolic', 'imperative' or 'all'."""
    if mode not in ("symbolic", "imperative", "all"):
        raise ArgumentError(f"mode must be symbolic, imperative or all; got {mode!r}")
    set_config(**{f"profile_{mode}": True}, filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """An older name of `set_state`."""
    set_state(state)


def dump_profile() -> None:
    """An older name of `dump`."""
    dump(True)


class Domain:
    """A name that tasks, frames, counters and markers are sorted by."""

    def __init__(self, name: str):
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> "Task":
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> "Frame":
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: int | None = None) -> "Counter":
        """A counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> "Marker":
        """A marker of this domain."""
        return Marker(self, name)


class _Span:
    """A stretch of time between `start` and `stop`; also by `with`."""

    def __init__(self, category: str, name: str):
        self.name = name
        self._category = category
        self._began: float | None = None

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        """Begins."""
        self._began = time.perf_counter()

    def stop(self) -> None:
        """Ends, and is recorded if the profiler runs. Without a `start` it does nothing."""
        began, self._began = self._began, None
        if began is not None and _profiler.records:
            _profiler.add(self._category, self.name, began)

    def __enter__(self) -> "_Span":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Task(_Span):
    """A piece of work."""

    def __init__(self, domain: Domain, name: str):
        super().__init__(domain.name, name)


class Frame(_Span):
    """One of many pieces of work of the same kind, such as a pass over a batch."""

    def __init__(self, domain: Domain, name: str):
        super().__init__(f"{domain.name},frame", name)


class Event(_Span):
    """A piece of work of no domain."""

    def __init__(self, name: str):
        super().__init__("event", name)


class Counter:
    """A number over time."""

    def __init__(self, domain: Domain, name: str, value: int | None = None):
        self.name = name
        self._domain = domain
        self._value = 0
        if value is not None:
            self.set_value(value)

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: int) -> None:
        """Sets the number."""
        self._value = value
        if _profiler.records:
            now = time.perf_counter()
            with _profiler.lock:
                _profiler.mark(self._domain.name, self.name, "C", now, args={self.name: value})

    def increment(self, delta: int = 1) -> None:
        """Adds to the number."""
        self.set_value(self._value + delta)

    def decrement(self, delta: int = 1) -> None:
        """Takes from the number."""
        self.set_value(self._value - delta)

    def __iadd__(self, delta: int) -> "Counter":
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> "Counter":
        self.decrement(delta)
        return self


_SCOPES = {"global": "g", "process": "p", "thread": "t", "task": "t", "marker": "t"}


class Marker:
    """A moment."""

    def __init__(self, domain: Domain, name: str):
        self.name = name
        self._domain = domain

    def mark(self, scope: str = "process") -> None:
        """Marks the present moment.

        Args:
          scope: what the mark belongs to: 'global', 'process', 'thread', 'task' or 'marker'.

        Raises:
          ArgumentError: the scope is another.
        """
        if scope not in _SCOPES:
            raise ArgumentError(f"scope must be one of {', '.join(_SCOPES)}; got {scope!r}")
        if _profiler.records:
            now, category = time.perf_counter(), f"{self._domain.name},instant_marker"
            with _profiler.lock:
                _profiler.mark(category, self.name, "i", now, s=_SCOPES[scope])
