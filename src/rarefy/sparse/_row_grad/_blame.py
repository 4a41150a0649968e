"""The error for a dense use of a table: which operation, on which line."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jaxlib

_LIBRARIES = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep
    for path in (jax.__file__, jaxlib.__file__, os.path.dirname(os.path.dirname(__file__)))
)

Place = tuple[str, int, str]
"""File, line and function."""


class DenseUseError(ValueError):
    """A table marked `row_sparse` is used by something other than a read of rows."""


class DenseUse(Exception):
    """Raised where the walk meets a dense use; what it passes on the way out is added to `trail`.

    Attributes:
      leaf: which marked leaf.
      trail: the equations, outermost first.
      note: more about the reason, or empty.
    """

    def __init__(self, leaf: int, eqn: Any = None, note: str = ""):
        super().__init__(note)
        self.leaf, self.note = leaf, note
        self.trail = [] if eqn is None else [eqn]


def place_of(eqn: Any) -> Place | None:
    """The line of the user's program that an equation comes from."""
    traceback = eqn.source_info.traceback
    for frame in traceback.frames if traceback is not None else ():
        path = os.path.abspath(frame.file_name)
        if not path.startswith(_LIBRARIES) and not frame.file_name.startswith("<"):
            return frame.file_name, frame.line_num, frame.function_name
    return None


def name_of(eqn: Any) -> str:
    """How a user knows an equation: the function's name for a compiled one, else the primitive's."""
    name = eqn.primitive.name
    if name in ("jit", "pjit"):
        return str(eqn.params.get("name", name)).lstrip("_")
    return name


def error_of(use: DenseUse, name: str, jaxpr: Any, index: int) -> DenseUseError:
    """Makes the error that the user sees.

    Args:
      use: what the walk found in the derivative.
      name: of the marked leaf.
      jaxpr: of the function itself, if there is one; the derivative of `tanh(table)` is a
        multiplication, and only the function says `tanh`.
      index: the position of the marked leaf among its inputs.
    """
    what, place = _named(use.trail)
    if use.trail and not use.note and jaxpr is not None:
        uses = _dense_uses(jaxpr, {jaxpr.invars[index]}, ())
        here = [n for n, p in map(_named, uses) if p == place]
        what = here[0] if here and what not in here else what
    where = f" at {place[0]}:{place[1]} (in {place[2]})" if place is not None else ""
    why = f": {use.note}" if use.note else ""
    return DenseUseError(
        f"row_sparse: {name} is used densely by {what}{where}{why}. A table marked row_sparse may only "
        f"be read by rows (table[ids], jnp.take(table, ids, axis=0), csr @ table). Gather the rows "
        f"first, use jax.lax.stop_gradient({name}) where no gradient is wanted, or do not mark it."
    )


def _named(trail: Sequence[Any]) -> tuple[str, Place | None]:
    """The name and line of the innermost equation that was written by the user."""
    inner = ""
    for eqn in reversed(trail):
        place, name = place_of(eqn), name_of(eqn)
        if place is not None:
            same = not inner or inner == name
            return (f"'{name}'" if same else f"'{name}' (which does '{inner}')"), place
        inner = inner or name
    return f"'{inner}'", None


READS = frozenset({"gather", "take_rows", "stop_gradient"})
VIEWS = frozenset(
    {"convert_element_type", "reshape", "pvary", "copy", "copy_p"}
    | {"slice", "dynamic_slice", "squeeze", "broadcast_in_dim"}
)


def _dense_uses(jaxpr: Any, tables: set[Any], trail: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The equations of a function, not of its derivative, that use a table densely."""
    for eqn in jaxpr.eqns:
        used = [v for v in eqn.invars if not hasattr(v, "val") and v in tables]
        name = eqn.primitive.name
        if not used or name in READS or name.startswith("csr_"):
            continue
        if name in VIEWS:
            tables = {*tables, *eqn.outvars}
            continue
        inner_jaxprs = list(bodies(eqn))
        for body, operands in inner_jaxprs:
            inside = {
                inner
                for inner, outer in zip(body.invars, operands, strict=True)
                if not hasattr(outer, "val") and outer in tables
            }
            yield from _dense_uses(body, inside, (*trail, eqn))
        if not inner_jaxprs:
            yield (*trail, eqn)


def bodies(eqn: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The jaxprs inside an equation whose inputs are the equation's, one for one."""
    branches = eqn.params.get("branches")
    if branches is not None:
        for branch in branches:
            yield branch.jaxpr, eqn.invars[1:]
    for key in ("jaxpr", "call_jaxpr"):
        inner = eqn.params.get(key)
        inner = getattr(inner, "jaxpr", inner)
        if inner is not None and len(inner.invars) == len(eqn.invars):
            yield inner, eqn.invars
