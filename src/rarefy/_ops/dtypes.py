"""Dtypes of arrays and results from what is known of them, by name; None where nothing is."""

from collections.abc import Callable, Sequence
from typing import Any

from rarefy._ops.opdef import Operator

Dtype = str | None
Dtypes = list[Dtype]

_FREE: dict[str, tuple[int, ...]] = {
    "Embedding": (0,),
    "_contrib_SparseEmbedding": (0,),
    "take": (1,),
    "pick": (1,),
    "batch_take": (1,),
    "one_hot": (0,),
    "where": (0,),
    "gather_nd": (1,),
    "scatter_nd": (1,),
    "_sparse_retain": (1,),
    "softmax": (1,),
    "SequenceMask": (1,),
    "SequenceLast": (1,),
    "SequenceReverse": (1,),
    "_contrib_boolean_mask": (1,),
    "_contrib_index_copy": (1,),
    "_contrib_edge_id": (1, 2),
    "reshape_like": (1,),
    "slice_like": (1,),
    "broadcast_like": (1,),
}
"""Positions of arrays whose dtype is their own affair: indices, conditions, lengths."""

_OF_RESULT: dict[str, Callable[[dict[str, Any], Dtypes], Dtype]] = {
    "shape_array": lambda p, a: "int64",
    "size_array": lambda p, a: "int64",
    "_contrib_getnnz": lambda p, a: "int64",
    "_contrib_index_array": lambda p, a: "int64",
    "norm": lambda p, a: p["out_dtype"] or a[0],
    "argsort": lambda p, a: p["dtype"],
    "_contrib_allclose": lambda p, a: "uint8",
    "all_finite": lambda p, a: "float32",
    "multi_all_finite": lambda p, a: "float32",
    "Embedding": lambda p, a: a[1],
    "_contrib_SparseEmbedding": lambda p, a: a[1],
}


def infer_dtypes(
    op: Operator, params: dict[str, Any], arrays: Sequence[Dtype], results: Sequence[Dtype]
) -> tuple[Dtypes, Dtypes]:
    """Fills in the dtypes of an operator's arrays and results as far as they follow.

    Args:
      op: the operator.
      params: all its parameters.
      arrays: the dtype of each array; None where it is not known or the array is absent.
      results: the same of the results.

    Raises:
      ValueError: arrays that must have one dtype have several.
    """
    arrays, results = list(arrays), list(results)
    if op.name == "BatchNorm":
        return _normalised(arrays, results)
    free = _FREE.get(op.name, ())
    if op.name in ("Embedding", "_contrib_SparseEmbedding") and arrays[1] is None:
        arrays[1] = params["dtype"]
    own: Dtype | bool = False
    if op.name in _OF_RESULT:
        own = _OF_RESULT[op.name](params, arrays)
    elif op.name == "topk":
        own = arrays[0] if params["ret_typ"] == "value" else params["dtype"]
    elif params.get("dtype") is not None:
        own = params["dtype"]
    alike = [a for i, a in enumerate(arrays) if i not in free]
    first = [r for r in results if own is False]
    kinds = list(dict.fromkeys(k for k in (*alike, *first) if k is not None))
    if len(kinds) > 1:
        raise ValueError(f"its arrays must have one dtype; got {', '.join(kinds)}")
    kind = kinds[0] if kinds else None
    arrays = [a if i in free else kind for i, a in enumerate(arrays)]
    if op.name == "topk" and params["ret_typ"] == "both":
        return arrays, [kind, params["dtype"]]
    return arrays, [kind if own is False else own] * len(results)  # type: ignore[list-item]


def _normalised(arrays: Dtypes, results: Dtypes) -> tuple[Dtypes, Dtypes]:
    """Of a batch norm: scales, shifts and moments of narrow data are float32."""
    kind = arrays[0] or results[0]
    wide = "float32" if kind in ("float16", "bfloat16") else kind
    return [kind, *[a or wide for a in arrays[1:]]], [kind] * len(results)
