"""Work that is put off until somebody reads its result, and then done as one program.

In a loop that trains, a compiled function is called, gone back through and followed by an update. Each
is a program, and to start one takes longer than a small one runs. So where such a function is called
again and again, a call only notes what is to be done: a `Task`, whose results are `Later`s. A cell that
holds one (`WaitingCell`) has its value as soon as it is asked for: what is needed for it and has not
been done is then compiled together and run.

A task holds the values that its arguments had when it was made, so it does not matter when it is done.
Only who lets a program take over buffers has to see to it that no task needs them any more: by making
the update a task itself and naming them (`finish`), or by having all tasks done before (`finish_all`).
"""

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any
from weakref import ref

import jax
from jax.extend.core import get_opaque_trace_state

from rarefy._cell import Cell, store_all
from rarefy._ops.precision import wide

_KEPT = 256
"""How many programs are kept."""
_MANY = 4096
"""How many tasks are noted before those that nobody needs are looked for."""

_numbers = itertools.count()
_kinds = itertools.count()


def new_kind() -> int:
    """A number for a kind of task: those of one kind do the same to operands of the same shapes."""
    return next(_kinds)


Shapes = tuple[tuple[int, tuple[int | None, ...]], ...]


class Later:
    """A result of a task.

    Attributes:
      like: its shape and dtype; for a sparse value, one that has such parts.
    """

    __slots__ = ("__weakref__", "index", "like", "task", "value")

    def __init__(self, task: "Task", index: int, like: Any):
        self.task: Task | None = task
        self.index = index
        self.like = like
        self.value: Any = None


class Task:
    """A program and what it is going to run on.

    A result that nobody holds any more when the task is done is not returned, and not computed if
    nothing else needs it.

    Args:
      kind: from `new_kind`.
      trace: the program: a function of the operands that gives the results. It is called only while a
        program that it is part of is traced.
      operands: values, `Later`s, or None.
    """

    __slots__ = ("__weakref__", "kind", "laters", "number", "operands", "trace")

    def __init__(self, kind: int, trace: Callable[..., Sequence[Any]], operands: Sequence[Any]):
        self.kind = kind
        self.trace = trace
        self.operands = operands
        self.number = next(_numbers)
        self.laters: list[ref[Later]] = []


_waiting: list[ref[Task]] = []  # some have been done since, or nobody needs them
_lock = threading.RLock()
_TOP = get_opaque_trace_state(convention="nnx")


def put_off(
    kind: int, trace: Callable[..., Sequence[Any]], operands: Sequence[Any], likes: Iterable[Any]
) -> list[Later]:
    """Makes a task and returns its results.

    Args:
      kind, trace, operands: of the `Task`.
      likes: for each result what it is like.
    """
    task = Task(kind, trace, operands)
    laters = [Later(task, i, like) for i, like in enumerate(likes)]
    task.laters = list(map(ref, laters))
    _waiting.append(ref(task))
    if len(_waiting) > _MANY:
        _still_waiting()
    return laters


def _still_waiting() -> list[Task]:
    """The tasks that have not been done."""
    with _lock:
        tasks = [task for each in _waiting if (task := each()) is not None and task.operands]
        _waiting[:] = map(ref, tasks)
    return tasks


def now(value: Any) -> Any:
    """A value; that of a `Later`, for which what it needs is done first."""
    if type(value) is not Later:
        return value
    if value.task is not None:
        finish([value.task])
    return value.value


def like(value: Any) -> Any:
    """What has the shape and the dtype of a value or a `Later`."""
    return value.like if type(value) is Later else value


class WaitingCell(Cell):
    """A cell whose value is a `Later`. When it is read or replaced, it becomes a plain cell."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value."""
        self.value = now(_inside(self))
        return self.value

    @value.setter
    def value(self, value: Any) -> None:
        self.__class__ = Cell  # pyright: ignore[reportAttributeAccessIssue]
        self.value = value


_inside: Callable[[Cell], Any] = Cell.value.__get__  # pyright: ignore[reportAttributeAccessIssue]


def waiting(later: Later, *, shared: bool = False) -> Cell:
    """A new cell that waits for a value."""
    cell = Cell(later, shared=shared)  # pyright: ignore[reportArgumentType]
    cell.__class__ = WaitingCell
    return cell


def wait_all(cells: Sequence[Cell], laters: Sequence[Later]) -> None:
    """Has cells, for which `may_wait` is true, wait for values."""
    store_all(cells, laters)  # pyright: ignore[reportArgumentType]
    for cell in cells:
        cell.__class__ = WaitingCell


def may_wait(cell: Cell) -> bool:
    """Whether it is a plain cell."""
    return type(cell) is Cell or type(cell) is WaitingCell


def seen(cell: Cell) -> Any:
    """What a cell holds: a value, or the `Later` that it waits for."""
    if type(cell) is not WaitingCell:
        return cell.value
    later = _inside(cell)
    return later if later.task is not None else cell.value


def finish_all() -> None:
    """Does all that was put off."""
    if _waiting:
        finish(_still_waiting())


class _Current(threading.local):
    tasks: Sequence[Task] = ()


_current = _Current()
_programs: OrderedDict[Any, Callable[..., Any]] = OrderedDict()


def finish(tasks: Sequence[Task], donated: Sequence[Any] = ()) -> None:
    """Does tasks, and what they need, as one program.

    Args:
      tasks: the tasks.
      donated: operands that the program may take over. No other operand shares buffers with them.
    """
    with _lock:
        todo = _needed(tasks)
        if donated:
            others = [task for task in _still_waiting() if task not in todo]
            if others:
                finish(others)
                todo = _needed(tasks)
        if todo:
            # In the middle of a trace too, the numbers are wanted.
            outside = get_opaque_trace_state(convention="nnx") != _TOP
            with jax.ensure_compile_time_eval() if outside else nullcontext(), wide():
                _do(todo, donated)


def _needed(tasks: Sequence[Task]) -> list[Task]:
    """Tasks that are to be done and those whose results they read, in an order to do them in."""
    found: dict[Task, None] = {}
    stack = [task for task in tasks if task.operands]
    while stack:
        task = stack.pop()
        if task not in found:
            found[task] = None
            stack += (x.task for x in task.operands if type(x) is Later and x.task is not None)
    return sorted(found, key=lambda task: task.number)


def _do(todo: Sequence[Task], donated: Sequence[Any]) -> None:
    values = list(donated)
    shapes = _wired(todo, values)
    # What only these tasks held is not held any more.
    wanted, live, count = [], [], 0
    for task in todo:
        for i, each in enumerate(task.laters, count):
            later = each()
            if later is not None:
                wanted.append(later)
                live.append(i)
        count += len(task.laters)
    key = (shapes, tuple(live), len(donated))
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = _together(shapes, live)
        if len(_programs) > _KEPT:
            _programs.popitem(last=False)
    before, _current.tasks = _current.tasks, todo
    try:
        results = program(values[: len(donated)], values[len(donated) :])
    except BaseException:
        _restore(todo, shapes, values)
        raise
    finally:
        _current.tasks = before
    for later, value in zip(wanted, results, strict=True):
        later.value, later.task = value, None
    for task in todo:
        task.laters = []


def _wired(todo: Sequence[Task], values: list[Any]) -> Shapes:
    """Takes the operands out of tasks: their values are appended to `values`.

    Returns:
      For each task its kind, and where its operands are: result number i of the tasks before, or value
      number ~i; None for none.
    """
    places = {id(v): ~i for i, v in enumerate(values)}
    first: dict[Task, int] = {}
    shapes, count = [], 0
    for task in todo:
        first[task] = count
        count += len(task.laters)
        wires = []
        for x in task.operands:
            if type(x) is Later:
                if x.task is not None:
                    wires.append(first[x.task] + x.index)
                    continue
                x = x.value
            place = None if x is None else places.get(id(x))
            if place is None and x is not None:
                place = places[id(x)] = ~len(values)
                values.append(x)
            wires.append(place)
        shapes.append((task.kind, tuple(wires)))
    for task in todo:
        task.operands = ()
    return tuple(shapes)


def _restore(todo: Sequence[Task], shapes: Shapes, values: Sequence[Any]) -> None:
    """Gives tasks their operands again, after their program has failed."""
    made: list[Later] = []
    for task, (_, wires) in zip(todo, shapes, strict=True):
        task.operands = [w if w is None else made[w] if w >= 0 else values[~w] for w in wires]
        mine = [each() or Later(task, i, None) for i, each in enumerate(task.laters)]
        task.laters = list(map(ref, mine))
        made += mine


def _together(shapes: Shapes, live: Sequence[int]) -> Callable[..., Any]:
    """One program for tasks.

    Args:
      shapes: from `_wired`.
      live: which results the program returns.
    """

    def together(donated: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
        values, made = [*donated, *kept], []
        for task, (_, wires) in zip(_current.tasks, shapes, strict=True):
            operands = (w if w is None else made[w] if w >= 0 else values[~w] for w in wires)
            made += task.trace(*operands)
        return [made[i] for i in live]

    return jax.jit(together, donate_argnums=0)
