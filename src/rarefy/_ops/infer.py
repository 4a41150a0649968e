"""Storage-type inference: which of an operator's meanings applies, and how its results are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rarefy._ops.opdef import Operator, Rule, Signature
from rarefy._ops.storage import SType


@dataclass(frozen=True)
class Plan:
    """What will be done for one call.

    Attributes:
      op: the operator.
      signature: storage types of the arrays as the chosen meaning takes them.
      rule: the sparse rule, or None for the dense meaning.
      fallback: whether sparse arrays have to be made dense first.
      out: storage type of each result.
    """

    op: Operator
    signature: Signature
    rule: Rule | None
    fallback: bool
    out: tuple[SType, ...]

    @property
    def eager(self) -> bool:
        """Whether the meaning is not compiled as a whole."""
        return self.rule.eager if self.rule else self.op.eager

    @property
    def spreads(self) -> bool:
        """Whether the result is dense though the arrays are sparse, and as large as their dense form."""
        return self.rule is not None and self.rule.spreads and self.out == ("default",)


def rules_for(op: Operator, signature: Signature) -> tuple[Rule, ...]:
    """The sparse rules that an operator has for a signature."""
    if op.variadic and len(set(signature)) == 1:
        signature = signature[:1]
    return op.rules.get(signature, ())


def infer(
    op: Operator, signature: Signature, params: dict[str, Any], *, one_shape: bool = True
) -> Plan:
    """Chooses an exact rule, the dense meaning, or the dense meaning after densifying.

    Args:
      op: the operator.
      signature: storage types of the arrays given.
      params: all parameters by name, scalars as numbers where they are known.
      one_shape: whether the arrays have one shape.

    A function of storage types, parameters and shapes, never of values or of the device.
    """
    for rule in rules_for(op, signature):
        if rule.one_shape and not one_shape:
            continue
        out = rule.out(**params) if callable(rule.out) else rule.out
        if out is not None:
            return _sparse_plan(op, signature, rule, out)
    if op.mixes and "row_sparse" in signature and "csr" not in signature:
        out = tuple(signature[i] or "default" for i in op.updated(params))
        return _sparse_plan(op, signature, _mixed(op), out)
    return _dense_plan(op, signature, op.n_results(params))


@cache
def _mixed(op: Operator) -> Rule:
    return Rule(op.fn, "row_sparse")


@cache
def _sparse_plan(
    op: Operator, signature: Signature, rule: Rule, out: SType | tuple[SType, ...]
) -> Plan:
    return Plan(op, signature, rule, False, out if isinstance(out, tuple) else (out,))


@cache
def _dense_plan(op: Operator, signature: Signature, results: int) -> Plan:
    dense: Signature = tuple(s and "default" for s in signature)
    return Plan(op, dense, None, dense != signature, ("default",) * results)


def describe(op: Operator, signature: Sequence[SType | None]) -> str:
    """An operator and the storage types of its arrays; of those left out at the end nothing is said."""
    given = len(signature)
    while given and signature[given - 1] is None:
        given -= 1
    return f"{op.name}({', '.join(s or 'none' for s in signature[:given])})"
