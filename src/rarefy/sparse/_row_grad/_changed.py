"""Tables that are changed as a whole before rows are read.

The derivative of `(table + 1)[ids]` only reads rows, since the sum leaves the tangent as it is. But
the sum itself has the table's size, so it is looked for in the function.
"""

from collections.abc import Sequence
from typing import Any

from jax import numpy as jnp
from jax.extend.core import Literal

from rarefy.sparse._row_grad._blame import READS, VIEWS, DenseUse, bodies

NOTE = "it is done to the whole table, of which only rows are read afterwards"


class _Table:
    """A table in the function, or what was made of it.

    Attributes:
      leaf: which marked leaf.
      trail: the equations that changed it, outermost first; empty where it is the table still.
    """

    def __init__(self, leaf: int, trail: tuple[Any, ...] = ()):
        self.leaf, self.trail = leaf, trail


def check_reads(jaxpr: Any, tables: dict[int, int]) -> None:
    """Checks that rows are read of the tables themselves.

    Args:
      jaxpr: of the function.
      tables: from the position of an argument to the number of its marked leaf.

    Raises:
      DenseUse: rows are read of something as large that was made of a table.
    """
    _follow(jaxpr, [_Table(tables[i]) if i in tables else None for i in range(len(jaxpr.invars))])


def _follow(jaxpr: Any, inputs: Sequence[_Table | None]) -> list[_Table | None]:
    env = {v: x for v, x in zip(jaxpr.invars, inputs, strict=True) if x is not None}

    def value(atom):
        return None if isinstance(atom, Literal) else env.get(atom)

    for eqn in jaxpr.eqns:
        ins = [value(v) for v in eqn.invars]
        table = next((x for x in ins if x is not None), None)
        if table is not None:
            outs = _outputs(eqn, ins, table)
            env.update((v, x) for v, x in zip(eqn.outvars, outs, strict=True) if x is not None)
    return [value(v) for v in jaxpr.outvars]


def _outputs(eqn: Any, ins: Sequence[Any], table: _Table) -> Sequence[_Table | None]:
    name, nothing = eqn.primitive.name, [None] * len(eqn.outvars)
    if name == "stop_gradient":
        return nothing
    inside = []
    for body, operands in bodies(eqn):
        outs = _follow(body, ins[len(ins) - len(operands) :])
        inside.append(outs if len(outs) == len(nothing) else nothing)
    if inside:
        return [
            next((x for x in outs if x is not None), None) for outs in zip(*inside, strict=True)
        ]
    if name not in READS and not name.startswith("csr_"):
        operand = next(v.aval for v, x in zip(eqn.invars, ins, strict=True) if x is not None)
        out = eqn.outvars[0].aval
        if not jnp.issubdtype(out.dtype, jnp.inexact):
            return nothing
        if out.shape[:1] == operand.shape[:1]:
            is_view = name in VIEWS or name == "transpose"
            return [table if is_view else _Table(table.leaf, table.trail or (eqn,)), *nothing[1:]]
        if name not in VIEWS:
            return nothing
    if table.trail:
        use = DenseUse(table.leaf, note=NOTE)
        use.trail = list(table.trail)
        raise use
    return nothing
