"""Storage types through a graph, and those of the gradients."""

from collections import defaultdict
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

GRAD_REQS = ("null", "write", "add")

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


@dataclass(frozen=True)
class Gradient:
    """How the gradient of a variable is stored where the user says nothing.

    Attributes:
      spread_at: names of the nodes that make it dense though its variable is sparse, or another node
        gives rows of it, or the node works on dense copies of sparse arrays.
      note: 'fallback' if one of them works on such copies, 'dense' if none does.
    """

    stype: SType
    spread_at: tuple[str, ...] = ()
    note: Literal["", "fallback", "dense"] = ""


class _Kinds:
    """What the readers of one result make of its gradient.

    Attributes:
      stypes: the storage types that they give it.
      spread_at: the nodes, by name, that make it dense.
    """

    def __init__(self):
        self.stypes: set[SType] = set()
        self.spread_at: dict[str, Stored] = {}

    @property
    def stype(self) -> SType:
        return "row_sparse" if self.stypes == {"row_sparse"} else "default"


def gradient_storage(entries: Sequence[Entry], stored: Mapping[int, Stored]) -> dict[str, Gradient]:
    """How the gradients of variables are stored where the user says nothing: as in MXNet.

    That of the weight of `dot(csr, weight)`, of a table read by csr input and of one read with
    `sparse_grad` is row_sparse, and it stays so through operators that keep rows; where an array is
    read by several operators all must agree.

    Args:
      entries: the heads.
      stored: from `infer_graph_storage`.
    """
    kinds: defaultdict[tuple[int, int], _Kinds] = defaultdict(_Kinds)
    for entry in entries:
        stype = stored[id(entry.node)].outputs[entry.index]
        kinds[id(entry.node), entry.index].stypes.add(
            "row_sparse" if stype == "row_sparse" else "default"
        )
    nodes = in_order(entries)
    for node in reversed(nodes):
        if node.op is None:
            continue
        mine = [kinds[id(node), i] for i in range(node.n_outputs)]
        above: SType = "row_sparse" if any(k.stype == "row_sparse" for k in mine) else "default"
        own = stored[id(node)]
        for i, entry in enumerate(node.inputs):
            if entry is None:
                continue
            below, kind = _below(node, own, i, above), kinds[id(entry.node), entry.index]
            kind.stypes.add(below)
            if below == "default":
                # What would have kept rows is not to blame for what came to it.
                keeps = _below(node, own, i, "row_sparse") == "row_sparse"
                kind.spread_at.update((keeps and mine[0].spread_at) or {node.name: own})
    return {
        node.name: _gradient(kinds[id(node), 0], stored[id(node)].outputs[0])
        for node in nodes
        if node.op is None
    }


def _gradient(kinds: _Kinds, variable: SType) -> Gradient:
    if kinds.stype == "row_sparse":
        return Gradient("row_sparse")
    fallback = any(stored.note == "fallback" for stored in kinds.spread_at.values())
    if not (fallback or variable != "default" or "row_sparse" in kinds.stypes):
        return Gradient("default")
    return Gradient("default", tuple(kinds.spread_at), "fallback" if fallback else "dense")


def gradient_requests(grad_req: Any, names: Sequence[str]) -> list[str]:
    """What is to be done with the gradient of each argument.

    Args:
      grad_req: 'write', 'add' or 'null' for all; a list of them; or a dict by name, where what is not
        in it is 'null'.
      names: of the arguments.

    Raises:
      ValueError: it is none of the three, or they are not as many as the arguments.
    """
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, Mapping):
        reqs = [grad_req.get(name, "null") for name in names]
    elif grad_req is None:
        reqs = ["null"] * len(names)
    else:
        reqs = list(grad_req)
        if len(reqs) != len(names):
            raise ValueError(
                "The length of grad_req list does not match the number of input arguments, expected "
                f"{len(names)}, provided {len(reqs)}"
            )
    for req in reqs:
        if req not in GRAD_REQS:
            raise ValueError(f"grad_req must be in {', '.join(GRAD_REQS)}; got {req!r}")
    return reqs


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
