"""Shapes of the arrays that a call leaves out, and of its results, from what is known.

A shape is a tuple in which -1 is a size that is not known, or None where nothing is. So a layer's
weight gets its shape from the data, in a graph and in a block that is told no input size.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from rarefy._ops.compiled import Static, meaning, split_params
from rarefy._ops.opdef import Operator
from rarefy._ops.precision import wide

Shape = tuple[int, ...] | None
Shapes = list[Shape]

_OPTIONAL: dict[str, Callable[[dict[str, Any]], bool]] = {
    "FullyConnected": lambda p: not p["no_bias"],
    "LeakyReLU": lambda p: p["act_type"] == "prelu",
    "softmax": lambda p: p["use_length"],
    "SequenceMask": lambda p: p["use_sequence_length"],
    "SequenceLast": lambda p: p["use_sequence_length"],
    "SequenceReverse": lambda p: p["use_sequence_length"],
}
"""Whether parameters ask for the arrays of an operator that may be left out."""


def needed_arrays(op: Operator, params: dict[str, Any]) -> tuple[str, ...]:
    """The names of the arrays that an operator takes with these parameters."""
    if not op.optional:
        return op.arrays
    all_of_them = op.name in _OPTIONAL and _OPTIONAL[op.name](params)
    return op.arrays if all_of_them else tuple(a for a in op.arrays if a not in op.optional)


def is_known(shape: Shape) -> bool:
    """Whether nothing of a shape is missing."""
    return shape is not None and -1 not in shape


def merged(a: Shape, b: Shape) -> Shape:
    """What two partly known shapes of one array say together.

    Raises:
      ValueError: they contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b) or any(x != y and -1 not in (x, y) for x, y in zip(a, b, strict=True)):
        raise ValueError(f"Shape inconsistent, Provided = {list(a)}, inferred shape={tuple(b)}")
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def infer_shapes(
    op: Operator, params: dict[str, Any], arrays: Sequence[Shape], results: Sequence[Shape]
) -> tuple[Shapes, Shapes]:
    """Fills in the shapes of an operator's arrays and results as far as they follow.

    Args:
      op: the operator.
      params: all its parameters.
      arrays: what is known of the shape of each array; absent ones have None.
      results: what is known of the shape of each result, without those for states.

    Raises:
      ValueError, TypeError: the operator does not take such shapes, or they contradict each other.
    """
    arrays, results = list(arrays), list(results)
    rule = _RULES.get(op.name)
    if rule is not None:
        rule(params, arrays, results)
    elif op.fn.__module__.rsplit(".", 1)[-1] in _ELEMENTWISE or op.name in _SAME:
        _same(params, arrays, results)
    return arrays, results


def result_shapes(
    op: Operator, params: dict[str, Any], arrays: Sequence[Shape], given: Sequence[bool]
) -> Shapes | None:
    """The shapes of an operator's results from those of its arrays, by its dense meaning.

    Args:
      op: the operator.
      params: all its parameters.
      arrays: the shape of each array, sizes that are not known as -1.
      given: whether each array is there at all.

    Returns:
      A shape for each result, without those for states; None where an array's number of dimensions is
      not known, or the results depend on the numbers in the arrays.

    Raises:
      ValueError, TypeError: the operator does not take such shapes.
    """
    if op.name in _STORAGE or any(g and s is None for s, g in zip(arrays, given, strict=True)):
        return None
    static, scalars = split_params(op, params)
    numbers = tuple(sorted(scalars.items()))
    if all(not g or is_known(s) for s, g in zip(arrays, given, strict=True)):
        try:
            return list(_traced(op, static, numbers, tuple(arrays)))
        except NotImplementedError:  # a size depends on numbers
            return None
    # What changes with a size that is not known is not known either.
    try:
        found = [
            _traced(
                op, static, numbers, tuple(s and tuple(_or(n, probe) for n in s) for s in arrays)
            )
            for probe in _PROBES
        ]
    except (TypeError, ValueError, NotImplementedError):
        return None
    if any(len(a) != len(b) for a, b in zip(*found, strict=True)):
        return None
    return [
        tuple(x if x == y else -1 for x, y in zip(a, b, strict=True))
        for a, b in zip(*found, strict=True)
    ]


_PROBES = (7919, 7927)
_STORAGE = ("cast_storage", "_sparse_retain", "Custom")
"""Operators whose meaning does not say it: their rule says all about shapes."""


def _or(size: int, probe: int) -> int:
    return probe if size == -1 else size


@lru_cache(maxsize=4096)
def _traced(
    op: Operator, static: Static, numbers: tuple[tuple[str, Any], ...], shapes: tuple[Shape, ...]
) -> tuple[tuple[int, ...], ...]:
    compute = meaning(op, None, static, False)
    arrays = [None if s is None else jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
    key = jax.ShapeDtypeStruct((2,), jnp.uint32) if op.needs_key else None
    with wide():
        found = jax.eval_shape(lambda *a: compute(a[:-1], dict(numbers), a[-1]), *arrays, key)
    return tuple(tuple(r.shape) for r in found[: len(found) - len(op.aux)])


_ELEMENTWISE = ("elementwise", "scalar")
_SAME = frozenset(
    (
        "elemwise_add",
        "elemwise_sub",
        "elemwise_mul",
        "elemwise_div",
        "_scatter_elemwise_div",
        "add_n",
        "_mod",
        "_power",
        "_maximum",
        "_minimum",
        "_hypot",
        "_equal",
        "_not_equal",
        "_greater",
        "_greater_equal",
        "_lesser",
        "_lesser_equal",
        "_logical_and",
        "_logical_or",
        "_logical_xor",
        "Activation",
        "log_softmax",
        "softmin",
        "SoftmaxActivation",
        "Dropout",
        "MakeLoss",
        "L2Normalization",
        "LRN",
        "cast_storage",
        "_contrib_quadratic",
        "_contrib_div_sqrt_dim",
        "cumsum",
        "_contrib_gradientmultiplier",
        "_contrib_round_ste",
        "_contrib_sign_ste",
        "sort",
        "amp_cast",
        "_identity_with_attr_like_rhs",
    )
)
"""Operators whose arrays and results have one shape."""


def _same(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    shape: Shape = None
    for other in (*arrays, *results):
        shape = merged(other, shape)
    arrays[:] = [shape] * len(arrays)
    results[:] = [shape] * len(results)


def _first(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """The first array and the first result have one shape."""
    arrays[0] = results[0] = merged(arrays[0], results[0])


def _layer(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    data, hidden = arrays[0], params["num_hidden"]
    if not data:
        return
    width = _size(data[1:] if params["flatten"] else data[-1:])
    arrays[1] = merged(arrays[1], (hidden, width))
    if not params["no_bias"]:
        arrays[2] = merged(arrays[2], (hidden,))
    rows = data[:1] if params["flatten"] else data[:-1]
    results[0] = merged(results[0], (*rows, hidden))
    if results[0] and data[0] == -1:
        arrays[0] = (results[0][0], *data[1:])


def _size(sizes: Sequence[int]) -> int:
    return -1 if -1 in sizes else math.prod(sizes)


def _inner(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """What `dot` sums over has one size on both sides."""
    left, right = arrays
    if not left or not right:
        return
    i = 0 if params["transpose_a"] else len(left) - 1
    j = len(right) - 1 if params["transpose_b"] else 0
    size = max(left[i], right[j])
    arrays[0] = merged(left, (*[-1] * i, size, *[-1] * (len(left) - 1 - i)))
    arrays[1] = merged(right, (*[-1] * j, size, *[-1] * (len(right) - 1 - j)))


def _table(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    arrays[1] = merged(arrays[1], (params["input_dim"], params["output_dim"]))
    if arrays[0] is not None:
        results[0] = merged(results[0], (*arrays[0], params["output_dim"]))


def _per_channel(axis: int | None) -> Callable[[dict[str, Any], Shapes, Shapes], None]:
    """A rule for arrays beside the data that hold a number for each entry of an axis of it."""

    def rule(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
        _first(params, arrays, results)
        data = arrays[0]
        if data is None:
            return
        at = params["axis"] if axis is None else axis
        if not -len(data) <= at < len(data):
            raise ValueError(f"axis {at} is not one of {len(data)} axes")
        arrays[1:] = [merged(a, (data[at],)) for a in arrays[1:]]

    return rule


def _per_group(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    _first(params, arrays, results)
    arrays[1:] = [merged(a, (params["num_groups"],)) for a in arrays[1:]]


def _slope(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    if params["act_type"] != "prelu" or len(arrays) < 2:
        return _first(params, arrays, results)
    if arrays[1] is None:
        return _per_channel(1)(params, arrays, results)
    return _first(params, arrays, results)


def _softmax_label(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    _first(params, arrays, results)
    data = arrays[0]
    if data is None or arrays[1] is not None:
        return
    if params["multi_output"]:
        arrays[1] = (data[0], _size(data[2:]))
    else:
        arrays[1] = data[:-1] if params["preserve_shape"] else data[:1]


def _regression_label(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    _first(params, arrays, results)
    data = arrays[0]
    if data is not None and arrays[1] is None:
        arrays[1] = data[:1] if len(data) == 2 and data[1] == 1 else data


def _class_label(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    _first(params, arrays, results)
    if arrays[0] is not None:
        arrays[1] = merged(arrays[1], arrays[0][:1])


def _joined(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """Arrays that are joined are alike but along one axis."""
    known = [a for a in arrays if a is not None]
    if not known:
        return
    ndim = len(known[0])
    at = params["dim"]
    if not -ndim <= at < ndim:
        raise ValueError(f"dim {at} is not one of {ndim} axes")
    at %= ndim
    shape: Shape = tuple([-1] * ndim)
    for other in (*arrays, *results):
        shape = merged(other and (*other[:at], -1, *other[at + 1 :]), shape)
    assert shape is not None
    arrays[:] = [merged(a, shape) for a in arrays]
    total = _sum([a[at] for a in arrays if a is not None])
    results[0] = merged(results[0], (*shape[:at], total, *shape[at + 1 :]))
    missing = [i for i, a in enumerate(arrays) if a is not None and a[at] == -1]
    if len(missing) == 1 and results[0] and results[0][at] != -1:
        rest = sum(a[at] for i, a in enumerate(arrays) if a is not None and i not in missing)
        arrays[missing[0]] = (*shape[:at], results[0][at] - rest, *shape[at + 1 :])


def _sum(sizes: list[int]) -> int:
    return -1 if -1 in sizes else sum(sizes)


def _parts(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """`SliceChannel`: equal parts of an array along an axis, or what stands at each place of it."""
    shape: Shape = None
    for other in results:
        shape = merged(other, shape)
    ndim = len(shape) + params["squeeze_axis"] if shape is not None else len(arrays[0] or ())
    at, count = params["axis"], params["num_outputs"]
    if not -ndim <= at < ndim:
        return
    at %= ndim
    if shape is not None:
        size = count if params["squeeze_axis"] else _product(shape[at], count)
        rest = shape[at:] if params["squeeze_axis"] else shape[at + 1 :]
        arrays[0] = merged(arrays[0], (*shape[:at], size, *rest))
    elif params["squeeze_axis"] and arrays[0] is not None:
        arrays[0] = merged(arrays[0], (*[-1] * at, count, *[-1] * (ndim - at - 1)))


def _product(size: int, count: int) -> int:
    return -1 if size == -1 else size * count


def _stacked(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    shape: Shape = None
    for other in arrays:
        shape = merged(other, shape)
    arrays[:] = [shape] * len(arrays)


def _lengths(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    if len(arrays) > 1 and params["use_sequence_length"] and arrays[0] is not None:
        arrays[1] = merged(arrays[1], (arrays[0][1 - params.get("axis", 0)],))


def _choice(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """`where`: both sides have one shape, which is that of the result."""
    shape = merged(merged(arrays[1], arrays[2]), results[0])
    arrays[1:], results[0] = [shape, shape], shape


def _picked(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    data, axis = arrays[0], params["axis"]
    if data is not None and axis is not None and arrays[1] is None:
        at = axis % len(data)
        kept = (1,) if params["keepdims"] else ()
        arrays[1] = (*data[:at], *kept, *data[at + 1 :])


def _by_column(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """A table has a row for each column of the data, and there may be a number for each."""
    data, table = arrays[0], arrays[1]
    if data is not None and table is not None:
        arrays[1] = merged(table, (data[-1], *[-1] * (len(table) - 1)))
    if data is not None:
        arrays[2:] = [merged(a, (data[-1],)) for a in arrays[2:]]


def _bias(params: dict[str, Any], arrays: Shapes, results: Shapes) -> None:
    """A vector of which no size is known goes along the last axis."""
    if arrays[0] and arrays[1] == (-1,):
        arrays[1] = arrays[0][-1:]


_RULES: dict[str, Callable[[dict[str, Any], Shapes, Shapes], None]] = {
    "FullyConnected": _layer,
    "dot": _inner,
    "Embedding": _table,
    "_contrib_SparseEmbedding": _table,
    "BatchNorm": _per_channel(None),
    "LayerNorm": _per_channel(None),
    "InstanceNorm": _per_channel(1),
    "IdentityAttachKLSparseReg": _per_channel(1),
    "GroupNorm": _per_group,
    "LeakyReLU": _slope,
    "SoftmaxOutput": _softmax_label,
    "LinearRegressionOutput": _regression_label,
    "LogisticRegressionOutput": _regression_label,
    "MAERegressionOutput": _regression_label,
    "SVMOutput": _class_label,
    "Concat": _joined,
    "SliceChannel": _parts,
    "stack": _stacked,
    "softmax": _first,
    "SequenceMask": lambda p, a, r: (_first(p, a, r), _lengths(p, a, r))[0],
    "SequenceLast": _lengths,
    "SequenceReverse": lambda p, a, r: (_first(p, a, r), _lengths(p, a, r))[0],
    "broadcast_add": _bias,
    "embedding_bag": _by_column,
    "factorization_machine": _by_column,
    "field_aware_factorization_machine": _by_column,
    "field_embedding": _by_column,
    "where": _choice,
    "pick": _picked,
    "_sparse_retain": _first,
}
"""What follows about the shapes of arrays and results, from one another."""
