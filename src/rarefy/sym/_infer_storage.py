"""Storage types through a graph, and those of the gradients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rarefy._ops.custom import CustomOperator
from rarefy._ops.infer import Plan, infer
from rarefy._ops.opdef import Operator, Signature
from rarefy._ops.storage import STYPES, SType
from rarefy.base import MXNetError
from rarefy.sym._infer_shape import Found as Shapes
from rarefy.sym._node import Entry, Node, in_order

CODES: dict[str, SType] = {"0": "default", "1": "row_sparse", "2": "csr"}
"""The numbers that stand for storage types in the attribute `__storage_type__`."""


@dataclass(frozen=True)
class Stored:
    """How the arrays and results of one node are stored.

    Attributes:
      inputs: the storage types of its arrays, None for an absent one.
      outputs: those of its results.
      note: 'fallback' if sparse arrays are made dense to compute it, 'dense' if a rule for sparse arrays
        has a dense result of their shape.
    """

    node: Node
    inputs: Signature
    outputs: tuple[SType, ...]
    note: Literal["", "fallback", "dense"] = ""


def code_of(stype: str) -> str:
    """The number that stands for a storage type in `__storage_type__`."""
    for code, known in CODES.items():
        if known == stype:
            return code
    raise ValueError(f"stype must be one of {', '.join(STYPES)}; got {stype!r}")


def infer_graph_storage(
    entries: Sequence[Entry], given: Mapping[str, SType], shapes: Shapes | None = None
) -> dict[int, Stored]:
    """How the results of all nodes in a graph are stored, by the identity of the node.

    Args:
      entries: results of the graph.
      given: storage types of variables by name; what the variable declares, else 'default', where
        there is none.
      shapes: what is known of shapes: some rules take only arrays of one shape.
    """
    found: dict[int, Stored] = {}
    for node in in_order(entries):
        if node.op is None:
            declared = CODES.get(node.attrs.get("__storage_type__", "0"), "default")
            stype = given.get(node.name, declared)
            found[id(node)] = Stored(node, (), (stype,))
            continue
        signature: Signature = tuple(e and found[id(e.node)].outputs[e.index] for e in node.inputs)
        one_shape = shapes is None or _one_shape(node, shapes)
        if isinstance(node.op, CustomOperator):
            count = len(node.op.prop.list_arguments())
            told = node.op.prop.infer_storage_type(list(signature[:count]))
            found[id(node)] = Stored(node, signature, tuple(told[1]))
            continue
        plan, outputs = _planned(node.op, signature, node.params, one_shape)
        note = "fallback" if plan.fallback else "dense" if plan.spreads else ""
        found[id(node)] = Stored(node, signature, outputs[: node.n_outputs], note)
    return found


def _one_shape(node: Node, shapes: Shapes) -> bool:
    if len(node.inputs) != 2:
        return True
    a, b = (e and shapes[id(e.node), e.index] for e in node.inputs)
    return a is None or b is None or a == b


def _planned(
    op: Operator, signature: Signature, params: dict[str, Any], one_shape: bool
) -> tuple[Plan, tuple[SType, ...]]:
    plan = infer(op, signature, params, one_shape=one_shape)
    wanted = params[op.hint] if op.hint else None
    if op.hint and wanted is not None and (plan.fallback or wanted not in plan.out):
        # The result is converted to what the caller asks for.
        return infer(op, signature, {**params, op.hint: None}, one_shape=one_shape), (wanted,)
    return plan, plan.out


_LINEAR = frozenset(
    (
        "elemwise_add",
        "elemwise_sub",
        "add_n",
        "negative",
        "_mul_scalar",
        "_div_scalar",
        "_copy",
        "cast_storage",
        "_identity_with_attr_like_rhs",
        "square",
        "abs",
        "sign",
        "relu",
        "sqrt",
    )
)
"""Elementwise operators through which the gradient of a row_sparse result stays so."""


_TABLES = frozenset(
    (
        "embedding_bag",
        "field_embedding",
        "factorization_machine",
        "field_aware_factorization_machine",
    )
)
"""Operators that read the rows of a table, their second array, that csr input names."""


def gradient_storage(entries: Sequence[Entry], stored: Mapping[int, Stored]) -> dict[str, SType]:
    """How the gradients of variables are stored where the user says nothing: as in MXNet.

    That of the weight of `dot(csr, weight)`, of a table read by csr input and of one read with
    `sparse_grad` is row_sparse, and it stays so through operators that keep rows; where an array is
    read by several operators all must agree.

    Args:
      entries: the heads.
      stored: from `infer_graph_storage`.
    """
    kinds: dict[tuple[int, int], set[SType]] = {}
    for entry in entries:
        stype = stored[id(entry.node)].outputs[entry.index]
        _add(kinds, entry, "row_sparse" if stype == "row_sparse" else "default")
    for node in reversed(in_order(entries)):
        if node.op is None:
            continue
        mine = [kinds.get((id(node), i), set()) for i in range(node.n_outputs)]
        above: SType = "row_sparse" if any(k == {"row_sparse"} for k in mine) else "default"
        for i, entry in enumerate(node.inputs):
            if entry is not None:
                _add(kinds, entry, _below(node, stored[id(node)], i, above))
    return {
        node.name: "row_sparse" if kinds.get((id(node), 0)) == {"row_sparse"} else "default"
        for node in in_order(entries)
        if node.op is None
    }


def _add(kinds: dict[tuple[int, int], set[SType]], entry: Entry, stype: SType) -> None:
    kinds.setdefault((id(entry.node), entry.index), set()).add(stype)


def _below(node: Node, stored: Stored, i: int, above: SType) -> SType:
    """The storage type of an array's gradient from that of the result's."""
    op, params = node.op, node.params
    assert op is not None
    if op.name == "dot":
        plain = not params["transpose_a"] and not params["transpose_b"]
        return "row_sparse" if i == 1 and stored.inputs[0] == "csr" and plain else "default"
    if op.name in _TABLES:
        return "row_sparse" if i == 1 and stored.inputs[0] == "csr" else "default"
    if op.name == "Embedding":
        return "row_sparse" if i == 1 and params["sparse_grad"] else "default"
    if op.name == "_contrib_SparseEmbedding":
        return "row_sparse" if i == 1 else "default"
    if op.name == "_sparse_retain":
        return above if i == 0 else "default"
    return above if op.name in _LINEAR and above == "row_sparse" else "default"


def require_stype(stype: Any, name: str) -> SType:
    """A storage type that a user gives for a variable.

    Raises:
      MXNetError: it is none.
    """
    if stype not in STYPES:
        raise MXNetError(
            f"the storage type of {name} must be one of {', '.join(STYPES)}; got {stype!r}"
        )
    return stype
