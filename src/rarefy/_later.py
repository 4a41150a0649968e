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
from operator import attrgetter
from typing import Any
from weakref import ref

import jax
from jax.extend.core import get_opaque_trace_state

from rarefy._cell import Cell
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


class Later:
    """A result of a task.

    Attributes:
      task: the task; None as soon as it is done.
      like: its shape and dtype; for a sparse value, one that has such parts.
      value: the value, when the task is done. A list of values that belong together may be one.
    """

    __slots__ = ("__weakref__", "like", "task", "value")

    def __init__(self, task: "Task", like: Any):
        self.task: Task | None = task
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
      operands: values, `Later`s, or None; the same number of them for each task of a kind.
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
    laters = [Later(task, like) for like in likes]
    task.laters = list(map(ref, laters))
    _waiting.append(ref(task))
    if len(_waiting) > _MANY:
        _still_waiting()
    return laters


def _still_waiting() -> list[Task]:
    """The tasks that have not been done."""
    with _lock:
        count = len(_waiting)  # another thread may add to them meanwhile
        tasks = [
            task for each in _waiting[:count] if (task := each()) is not None and task.operands
        ]
        _waiting[:count] = map(ref, tasks)
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
_put_inside: Callable[[Cell, Any], None] = Cell.value.__set__  # pyright: ignore[reportAttributeAccessIssue]


def waiting(later: Later, *, shared: bool = False) -> Cell:
    """A new cell that waits for a value."""
    cell = Cell(later, shared=shared)  # pyright: ignore[reportArgumentType]
    cell.__class__ = WaitingCell
    return cell


def wait_all(pairs: Iterable[tuple[Cell, Later]]) -> None:
    """Has cells, for which `may_wait` is true, wait for values."""
    trace = get_opaque_trace_state(convention="nnx")
    for cell, later in pairs:
        if cell._trace != trace:
            cell._check(trace)
        cell.__class__ = WaitingCell
        _put_inside(cell, later)
        cell.version += 1
        cell.shared = False


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
_wirings: OrderedDict[Any, "_Wiring"] = OrderedDict()


def finish(tasks: Sequence[Task], donated: Sequence[Any] = ()) -> None:
    """Does tasks, and what they need, as one program.

    Args:
      tasks: the tasks.
      donated: operands that the program may take over. No other operand shares buffers with them.
    """
    with _lock:
        todo = _needed(tasks)
        if donated and len(waiting := _still_waiting()) > len(todo):
            finish([task for task in waiting if task not in todo])
            todo = _needed(tasks)
        if not todo:
            return
        if get_opaque_trace_state(convention="nnx") == _TOP:
            with wide():
                _do(todo, donated)
        else:  # in the middle of a trace too, the numbers are wanted
            with jax.ensure_compile_time_eval(), wide():
                _do(todo, donated)


def _needed(tasks: Sequence[Task]) -> list[Task]:
    """Tasks that are to be done and those whose results they read, in an order to do them in."""
    found: set[Task] = set()
    stack = {task for task in tasks if task.operands}
    while stack:
        task = stack.pop()
        found.add(task)
        stack.update(
            [t for x in task.operands if type(x) is Later and (t := x.task) and t not in found]
        )
    return sorted(found, key=_number_of)


_number_of = attrgetter("number")


def _do(todo: Sequence[Task], donated: Sequence[Any]) -> None:
    wiring, values = _wired(todo, donated)
    for task in todo:
        task.operands = ()
    # What only these tasks held is not held any more.
    laters = [each() for task in todo for each in task.laters]
    live = tuple(map(bool, laters))
    before, _current.tasks = _current.tasks, todo
    try:
        program = wiring.programs.get(live)
        if program is None:
            program = wiring.programs[live] = wiring.program(live)
        results = iter(program(donated, values))
    except BaseException:
        wiring.restore(todo, donated, values)
        raise
    finally:
        _current.tasks = before
    for later in laters:
        if later is not None:
            later.value, later.task = next(results), None
    for task in todo:
        task.laters = []


def _wired(todo: Sequence[Task], donated: Sequence[Any]) -> "tuple[_Wiring, list[Any]]":
    """How tasks are put together, and the values that they read beside those that are donated.

    A loop does the same in each step, so what is the same is found out with as little as can be: by
    numbering all that the tasks read and give, and noting for each where it was seen first.
    """
    things, kinds = [None, *donated], []
    for task in todo:
        things += task.operands
        things += [each() for each in task.laters]
        kinds.append(task.kind)
    first: dict[int, int] = {}
    places = tuple(map(first.setdefault, map(id, things), range(len(things))))
    key = (len(donated), *kinds, places)
    wiring = _wirings.get(key)
    if wiring is None:
        wiring = _wirings[key] = _Wiring(todo, len(donated), places)
        if len(_wirings) > _KEPT:
            _wirings.popitem(last=False)
    values = [things[i] for i in wiring.read]
    if Later in map(type, values):  # done since the task was made
        for task in todo:
            task.operands = [
                x.value if type(x) is Later and x.task is None else x for x in task.operands
            ]
        return _wired(todo, donated)
    return wiring, values


class _Wiring:
    """How tasks are put together.

    All that they read and give stands in a row: None, what is donated, and for each task its operands
    and its results.

    Args:
      todo: the tasks, in order.
      donated: how many values are donated.
      places: for each in the row the place where it stands first.

    Attributes:
      read: the places of what comes from outside and is not donated.
      programs: by which results they return.
    """

    def __init__(self, todo: Sequence[Task], donated: int, places: Sequence[int]):
        self._donated, self._places = donated, places
        self._operands: list[range] = []
        self._results: list[range] = []
        place = 1 + donated
        for task in todo:
            self._operands.append(range(place, place + len(task.operands)))
            place += len(task.operands)
            self._results.append(range(place, place + len(task.laters)))
            place += len(task.laters)
        self.read = [i for mine in self._operands for i in mine if places[i] == i]
        self.programs: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def _given(self, donated: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
        return {0: None, **dict(enumerate(donated, 1)), **dict(zip(self.read, values, strict=True))}

    def program(self, live: Sequence[bool]) -> Callable[..., Any]:
        """One program for such tasks: a function of what is donated and of the values read.

        Args:
          live: for each result whether the program returns it.
        """

        def together(donated: Sequence[Any], values: Sequence[Any]) -> list[Any]:
            known, made = self._given(donated, values), []
            for task, operands, results in zip(
                _current.tasks, self._operands, self._results, strict=True
            ):
                given = task.trace(*(known[self._places[i]] for i in operands))
                known.update(zip(results, given, strict=True))
                made += given
            return [value for value, is_live in zip(made, live, strict=True) if is_live]

        return jax.jit(together, donate_argnums=0)

    def restore(self, todo: Sequence[Task], donated: Sequence[Any], values: Sequence[Any]) -> None:
        """Gives tasks their operands again, after their program has failed."""
        known = self._given(donated, values)
        for task, operands, results in zip(todo, self._operands, self._results, strict=True):
            task.operands = [known[self._places[i]] for i in operands]
            mine = [each() or Later(task, None) for each in task.laters]
            task.laters = list(map(ref, mine))
            known.update(zip(results, mine, strict=True))
