"""Every operator with a sparse rule: how it is called on an awkward array, and what NumPy answers.

A `Use` names the storage type of each array, how the arrays beside the awkward one are made of its
shape, and a formula in dense NumPy. `tests/ops/test_awkward.py` runs them, and fails where an
operator has a rule that no use reaches.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.special

from cases.operators import UNARY, WITH_NUMBER

Shape = tuple[int, ...]
Make = Callable[[Shape], Shape | np.ndarray]


@dataclass(frozen=True)
class Use:
    """A call of an operator.

    Attributes:
      op: the operator's name.
      stypes: storage types of its arrays; None for one that is absent.
      arrays: for each array None (the awkward one), or a function of the awkward array's shape that
        gives a shape, to be filled with numbers, or ids.
      fn: the answer in NumPy, of dense float64 arrays; parameters by name.
      out: storage type of the result.
      params: parameters.
      low, high: where the numbers lie.
      deep: whether it is run on many structures: where elements are stored matters for the result,
        and no other test sees to it.
      fits: which shapes of the awkward array it takes.
      slope: whether finite differences give its gradient.
      dtype: dtype of the result where it is not that of the awkward array.
    """

    op: str
    stypes: tuple[str | None, ...]
    arrays: tuple[Make | None, ...]
    fn: Callable
    out: str
    params: dict[str, Any] = field(default_factory=dict)
    low: float = -8.0
    high: float = 8.0
    deep: bool = True
    fits: Callable[[Shape], bool] = lambda shape: True
    slope: bool = True
    dtype: str | None = None

    def __str__(self) -> str:
        params = ",".join(f"{k}={v}" for k, v in self.params.items() if not callable(v))
        return f"{self.op}({','.join(s or 'none' for s in self.stypes)};{params})".replace(" ", "")


def numbers(shape: Shape, seed: int = 0) -> np.ndarray:
    """Multiples of 1/4 between -4 and 4, half of them zero; float64."""
    rng = np.random.default_rng(seed)
    return rng.integers(-16, 17, shape) / 4 * (rng.random(shape) < 0.5)


def _is_matrix(shape: Shape) -> bool:
    return len(shape) == 2


def _has_cells(shape: Shape) -> bool:
    return 0 not in shape


def _same(shape: Shape) -> Shape:
    return shape


def _between(shape: Shape) -> np.ndarray:
    """Numbers that no awkward array has, but for zero: where two are equal there is no slope."""
    found = numbers(shape, 7)
    return found + 0.1 * (found != 0)


def _row(shape: Shape) -> Shape:
    return (1, *shape[1:])


def _column(shape: Shape) -> Shape:
    return (shape[0], *(1,) * (len(shape) - 1))


SPARSE = ("csr", "row_sparse")
MORE_UNARY = {
    "erfinv": (scipy.special.erfinv, -0.9, 0.9, True),
    "gamma": (scipy.special.gamma, 0.5, 4, False),
    "gammaln": (scipy.special.gammaln, 0.5, 4, False),
    "logical_not": (lambda x: (x == 0) * 1.0, -8, 8, False),
    "ones_like": (np.ones_like, -8, 8, False),
}
MORE_WITH_NUMBER = {
    "_rdiv_scalar": (lambda x, s: s / x, ()),
    "_rmod_scalar": (lambda x, s: np.where(x == 0, 0, np.mod(s, np.where(x == 0, 1, x))), ()),
    "_rpower_scalar": (lambda x, s: abs(s) ** x, ()),
    "_logical_and_scalar": (lambda x, s: np.logical_and(x, s) * 1.0, (0, 1.5)),
    "_logical_or_scalar": (lambda x, s: np.logical_or(x, s) * 1.0, (0,)),
    "_logical_xor_scalar": (lambda x, s: np.logical_xor(x, s) * 1.0, (0,)),
}


def _light() -> Iterator[Use]:
    """Operators that only change numbers."""
    for stype in SPARSE:
        one = {"stypes": (stype,), "arrays": (None,), "deep": False}
        for name, op in UNARY.items():
            if name not in MORE_UNARY:
                out = stype if op.zero else "default"
                yield Use(name, fn=op.fn, out=out, low=op.low, high=op.high, **one)
        for name, (fn, low, high, zero) in MORE_UNARY.items():
            yield Use(name, fn=fn, out=stype if zero else "default", low=low, high=high, **one)
        for name, op in WITH_NUMBER.items():
            for s in _numbers_for(name, (0.0, 1.5, -1.5)):
                if (name, s) in (("_div_scalar", 0.0), ("_power_scalar", -1.5)):
                    continue
                out = stype if op.keeps(s) else "default"
                low = 0.1 if name == "_power_scalar" else -8.0
                more = {"params": {"scalar": s}, "low": low, "slope": s != 0}
                yield Use(name, fn=_with_number(op.fn), out=out, **more, **one)
        for name, (fn, kept) in MORE_WITH_NUMBER.items():
            for s in _numbers_for(name, (0.0, 1.5)):
                if (name, s) == ("_rpower_scalar", 0.0):
                    continue
                out = stype if s in kept else "default"
                more = {"params": {"scalar": s}, "slope": s != 0}
                yield Use(name, fn=_with_number(fn), out=out, **more, **one)
        for name, sign in (("_scatter_plus_scalar", 1), ("_scatter_minus_scalar", -1)):
            more = {"params": {"scalar": 2.0}, "low": 0.1}
            yield Use(name, fn=_to_stored(sign), out=stype, **more, **one)
        limits = {"a_min": -1.5, "a_max": 1.25}
        yield Use(
            "clip",
            fn=lambda x, a_min, a_max: np.clip(x, a_min, a_max),
            out=stype,
            params=limits,
            **one,
        )
        yield Use("smooth_l1", fn=_smooth_l1, out=stype, params={"scalar": 0.7}, **one)
        for name in ("_copy", "BlockGrad", "make_loss"):
            yield Use(name, fn=lambda x: x, out=stype, slope=name == "_copy", **one)
        yield Use("zeros_like", fn=np.zeros_like, out=stype, slope=False, **one)
        yield Use(
            "_astype",
            fn=lambda x, dtype: x,
            out=stype,
            params={"dtype": "float64"},
            dtype="float64",
            **one,
        )
        more = {"params": {"scalar": -0.5, "is_int": False}, "slope": False}
        yield Use(
            "_contrib_gradientmultiplier", fn=lambda x, scalar, is_int: x, out=stype, **more, **one
        )
        for name, fn in (("round", UNARY["round"].fn), ("sign", np.sign)):
            yield Use(f"_contrib_{name}_ste", fn=fn, out=stype, slope=False, **one)
    more = {"params": {"a": 1.0, "b": 2.0, "c": 0.0}, "deep": False}
    yield Use("_contrib_quadratic", ("csr",), (None,), _quadratic, "csr", **more)
    yield Use(
        "_ftrl_warm_start",
        fn=_warm_start,
        out="row_sparse",
        slope=False,
        params={"lr": 0.5, "lamda1": 0.25, "beta": 1.0, "wd": 0.125},
        **{**one, "stypes": ("row_sparse",)},
    )


def _numbers_for(name: str, given: tuple[float, ...]) -> tuple[float, ...]:
    """The numbers of a use; `mod` jumps at multiples, which 1.3 has none of among the values."""
    return tuple(s / 1.5 * 1.3 for s in given) if "mod" in name else given


def _with_number(fn: Callable) -> Callable:
    return lambda x, scalar: fn(x, scalar)


def _quadratic(x, a, b, c):
    return a * x * x + b * x + c


def _to_stored(sign: int) -> Callable:
    return lambda x, scalar: x + sign * scalar * (x != 0)


def _smooth_l1(x, scalar):
    square = scalar**2
    return np.where(abs(x) < 1 / square, 0.5 * square * x * x, abs(x) - 0.5 / square)


def _warm_start(x, lr, lamda1, beta, wd):
    return -x * (beta / lr + wd) - np.sign(x) * lamda1


PAIRS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def _two_arrays() -> Iterator[Use]:
    mixes = [("csr", "csr"), ("row_sparse", "row_sparse")]
    mixes += [pair for s in SPARSE for pair in ((s, "default"), ("default", s))]
    for name, fn in PAIRS.items():
        for stypes in mixes:
            is_product = name == "mul"
            equal = stypes[0] == stypes[1]
            out = next(s for s in stypes if s != "default") if equal or is_product else "default"
            for at in (0, 1) if equal else (stypes.index(out if is_product else _sparse(stypes)),):
                arrays = (None, _same) if at == 0 else (_same, None)
                yield Use(f"elemwise_{name}", stypes, arrays, fn, out)
                if not is_product:
                    yield Use(f"broadcast_{name}", stypes, arrays, fn, out)
    for make in (_same, _row, _column):
        yield Use("broadcast_mul", ("csr", "default"), (None, make), np.multiply, "csr")
        for name, fn in (("broadcast_add", np.add), ("broadcast_sub", np.subtract)):
            for stype in SPARSE:
                if make is not _same:
                    yield Use(name, (stype, "default"), (None, make), fn, "default")
                    yield Use(name, ("default", stype), (make, None), fn, "default")
    for make in (_row, _column):
        yield Use("broadcast_div", ("csr", "default"), (None, _nonzero(make)), np.divide, "csr")
    for stype in SPARSE:
        yield Use(
            "_scatter_elemwise_div", (stype, "default"), (None, _nonzero(_same)), np.divide, stype
        )
    for stype in SPARSE:
        yield Use("add_n", (stype,) * 3, (None, _same, None), lambda *x: sum(x), stype)
    pair = ("csr", "csr")
    yield Use("broadcast_mul", pair, (None, _same), np.multiply, "csr")
    extremes = {"maximum": np.maximum, "minimum": np.minimum, "hypot": np.hypot}
    for stype in SPARSE:
        for name, fn in extremes.items():
            yield Use(f"broadcast_{name}", (stype,) * 2, (None, _between), fn, stype)
            yield Use(f"_{name}", (stype,) * 2, (_between, None), fn, stype)
    yield Use(
        "where",
        ("csr", "default", "default"),
        (None, _same, _same),
        lambda c, x, y: np.where(c != 0, x, y),
        "default",
        slope=False,
    )


def _sparse(stypes):
    return next(s for s in stypes if s != "default")


def _nonzero(make: Callable[[Shape], Shape]) -> Make:
    return lambda shape: numbers(make(shape), 5) + 5.0


def _reductions() -> Iterator[Use]:
    kinds = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
    for name, fn in kinds.items():
        for stype in SPARSE if name in ("sum", "mean") else ("csr",):
            for axis in (None, 0, 1):
                for keepdims in (False, True) if name == "sum" else (False,):
                    yield Use(
                        name,
                        (stype,),
                        (None,),
                        _at_least_1d(fn),
                        "default",
                        {"axis": axis, "keepdims": keepdims},
                        fits=(
                            _is_matrix
                            if name == "sum"
                            else lambda s: _is_matrix(s) and _has_cells(s)
                        ),
                    )
    # Of each what differs: the axes of csr, of row_sparse the one that the rows are on.
    for stype, name, fn, axis, deep in (
        ("row_sparse", "max", np.max, 0, True),
        ("row_sparse", "min", np.min, 1, False),
        ("csr", "nansum", np.nansum, 1, False),
        ("row_sparse", "nansum", np.nansum, 0, False),
        ("csr", "prod", np.prod, 1, True),
        ("csr", "nanprod", np.nanprod, 0, False),
        ("csr", "argmax", np.argmax, 1, True),
        ("csr", "argmin", np.argmin, None, False),
        ("row_sparse", "argmax", np.argmax, None, True),
        ("row_sparse", "argmin", np.argmin, 1, False),
    ):
        yield Use(
            name,
            (stype,),
            (None,),
            _at_least_1d(fn),
            "default",
            {"axis": axis, "keepdims": False},
            deep=deep,
            fits=lambda s: _is_matrix(s) and _has_cells(s),
            slope="arg" not in name,
        )
    for stype in SPARSE:
        for ord in (1, 2):
            yield Use("norm", (stype,), (None,), _norm, "default", {"ord": ord})
            if stype == "csr":
                more = {"ord": ord, "axis": 1, "keepdims": True}
                yield Use("norm", (stype,), (None,), _norms, "default", more, fits=_has_cells)
        for axis in (None, 0, 1):
            yield Use(
                "_square_sum",
                (stype,),
                (None,),
                _square_sum,
                "default",
                {"axis": axis},
                fits=_is_matrix,
            )
    yield Use(
        "_square_sum",
        ("row_sparse",),
        (None,),
        _square_sum,
        "row_sparse",
        {"axis": 1, "keepdims": True},
        fits=_is_matrix,
    )


def _at_least_1d(fn):
    def reduce(x, **params):
        out = np.asarray(fn(x, **params))
        return out.reshape(out.shape or (1,))

    return reduce


def _norm(x, ord):
    return np.array([np.abs(x).sum() if ord == 1 else np.sqrt((x * x).sum())])


def _norms(x, ord, axis, keepdims):
    return np.linalg.norm(x, ord=ord, axis=axis, keepdims=keepdims)


def _square_sum(x, axis, keepdims=False):
    return _at_least_1d(np.sum)(x * x, axis=axis, keepdims=keepdims)


def _dots() -> Iterator[Use]:
    for a in (False, True):
        for b in (False, True):
            turns = {"transpose_a": a, "transpose_b": b}
            left, right = _left_factor(a, b), _right_factor(a, b)
            plain, turned = ("row_sparse" if a else "default"), ("default" if a else "csr")
            yield Use("dot", ("csr", "default"), (None, right), _dot, plain, turns)
            yield Use("dot", ("csr", "row_sparse"), (None, right), _dot, plain, turns)
            yield Use("dot", ("default", "csr"), (left, None), _dot, turned, turns)
            arrays = (left, None) if a else (None, right)
            yield Use("dot", ("csr", "csr"), arrays, _dot, "csr", turns)
            yield Use(
                "dot", ("csr", "row_sparse"), (left, None), _dot, plain, turns, fits=_is_matrix
            )
        turned = {"transpose_a": a}
        out, right = ("default" if a else "row_sparse"), _right_factor(a, False)
        yield Use(
            "dot", ("row_sparse", "default"), (None, right), _dot, out, turned, fits=_is_matrix
        )
    more = {"transpose_a": True, "forward_stype": "default"}
    yield Use("dot", ("csr", "default"), (None, lambda s: (s[0], 3)), _dot, "default", more)
    more = {"forward_stype": "default"}
    yield Use("dot", ("default", "csr"), (lambda s: (3, s[0]), None), _dot, "default", more)


def _layers() -> Iterator[Use]:
    for table in ("default", "row_sparse"):
        yield Use(
            "factorization_machine", ("csr", table), (None, lambda s: (s[1], 3)), _fm, "default"
        )
        yield Use(
            "field_aware_factorization_machine",
            ("csr", table, "default"),
            (None, lambda s: (s[1], 2, 3), lambda s: np.arange(s[1]) % 2),
            _ffm,
            "default",
            deep=table == "default",
        )
        yield Use(
            "field_embedding",
            ("csr", table, "default"),
            (None, lambda s: (s[1], 3), lambda s: np.arange(s[1]) % 2),
            lambda x, w, f, n_fields: np.stack([(x * (f == i)) @ w for i in range(n_fields)], 1),
            "default",
            {"n_fields": 2},
            deep=False,
        )
        for mode in ("sum", "mean", "max"):
            yield Use(
                "embedding_bag",
                ("csr", table),
                (None, lambda s: (s[1], 3)),
                _bag,
                "default",
                {"mode": mode},
                low=0.1,
                deep=mode == "sum" and table == "default",
            )
    for offsets in (None, lambda s: np.array([0, 2, 2])):
        for weights in (None, (2, 3) if offsets is None else (6,)):
            of = lambda s, offsets=offsets: _ids(s) if offsets is None else _ids(s).reshape(-1)  # noqa: E731
            yield Use(
                "embedding_bag_of_ids",
                ("default", "row_sparse", offsets and "default", weights and "default"),
                (of, None, offsets, weights and (lambda s, weights=weights: weights)),
                partial(_bag_of_ids, offsets is None, weights is None),
                "default",
                {"mode": "sum" if weights else "mean"},
                deep=False,
                fits=_is_matrix,
            )
    for bias in (None, "default"):
        of = None if bias is None else (lambda shape: (3,))
        params = {"num_hidden": 3, "no_bias": bias is None}
        for weight in ("default", "row_sparse"):
            arrays = (None, lambda s: (3, s[1]), of)
            yield Use("FullyConnected", ("csr", weight, bias), arrays, _layer, "default", params)
        yield Use(
            "FullyConnected",
            ("default", "row_sparse", bias),
            (lambda s: (2, s[1]), None, None if bias is None else (lambda s: (s[0],))),
            _layer,
            "default",
            {**params, "num_hidden": lambda s: s[0]},
            fits=_is_matrix,
        )
    for name in ("Embedding", "_contrib_SparseEmbedding"):
        yield Use(
            name,
            ("default", "row_sparse"),
            (_ids, None),
            _embedding,
            "default",
            {"input_dim": lambda s: s[0], "output_dim": lambda s: s[1]},
            deep=name == "Embedding",
            slope=name == "Embedding",
            fits=lambda s: _is_matrix(s) and s[0] > 0,
        )


def _with_csr_labels() -> Iterator[Use]:
    """Outputs whose gradient is that of a loss; finite differences do not give it."""
    for name, link in (
        ("Linear", lambda x: x),
        ("Logistic", UNARY["sigmoid"].fn),
        ("MAE", lambda x: x),
    ):
        fn = lambda x, label, link=link: link(x)  # noqa: E731
        name += "RegressionOutput"
        yield Use(name, ("default", "csr"), (_same, None), fn, "default", deep=False, slope=False)


def _counts() -> Iterator[Use]:
    """What a csr array stores, without zeros."""
    more = {"low": 0.1, "deep": False, "slope": False}
    for axis in (None, 0, 1):
        params = {"axis": axis}
        fn = _at_least_1d(np.count_nonzero)
        yield Use(
            "_contrib_getnnz", ("csr",), (None,), fn, "default", params, dtype="int64", **more
        )
    yield Use(
        "_contrib_edge_id",
        ("csr", "default", "default"),
        (None, lambda s: _edges(s)[0], lambda s: _edges(s)[1]),
        lambda x, u, v: np.where(x[u, v] == 0, -1, x[u, v]),
        "default",
        fits=_has_cells,
        **more,
    )


def _edges(shape: Shape) -> np.ndarray:
    return np.random.default_rng(2).integers(0, shape, (20, 2)).T


def _left_factor(a: bool, b: bool) -> Make:
    return lambda shape: _factor(shape[1] if b else shape[0], 3, not a)


def _right_factor(a: bool, b: bool) -> Make:
    return lambda shape: _factor(shape[0] if a else shape[1], 3, b)


def _factor(inner: int, outer: int, turned: bool) -> Shape:
    return (outer, inner) if turned else (inner, outer)


def _dot(a, b, transpose_a=False, transpose_b=False, forward_stype=None):
    return (a.T if transpose_a else a) @ (b.T if transpose_b else b)


def _fm(x, v):
    return 0.5 * ((x @ v) ** 2 - (x * x) @ (v * v)).sum(axis=1, keepdims=True)


def _ffm(x, v, fields):
    out = np.zeros((len(x), 1), x.dtype)
    for i in range(x.shape[1]):
        for j in range(i):
            product = v[i, int(fields[j])] @ v[j, int(fields[i])]
            out[:, 0] += product * x[:, i] * x[:, j]
    return out


def _bag(x, weight, mode):
    if mode == "max":
        rows = [weight[row != 0] for row in x]
        none = np.zeros(weight.shape[1], weight.dtype)
        return np.array([r.max(axis=0) if len(r) else none for r in rows]).reshape(len(x), -1)
    total = x.sum(axis=1, keepdims=True)
    return x @ weight / (1 if mode == "sum" else np.where(total == 0, 1, total))


def _bag_of_ids(whole, unweighted, ids, table, *more, mode):
    """`more` are offsets, unless each row of the ids is a bag, and weights, unless there are none."""
    bags = (
        np.arange(len(ids)) if whole else np.searchsorted(more[0], np.arange(len(ids)), "right") - 1
    )
    rows = table[ids] if unweighted else table[ids] * more[-1][..., None]
    if whole:
        return rows.mean(axis=1) if mode == "mean" else rows.sum(axis=1)
    found = [rows[bags == bag] for bag in range(len(more[0]))]
    total = np.array([r.sum(axis=0) for r in found])
    return total / np.array([[len(r) or 1] for r in found]) if mode == "mean" else total


def _layer(x, w, bias=None, **_):
    return x @ w.T + (0 if bias is None else bias)


def _ids(shape: Shape) -> np.ndarray:
    return np.random.default_rng(3).integers(0, max(shape[0], 1), (2, 3))


def _embedding(ids, table, **_):
    return table[ids]


def _shapes() -> Iterator[Use]:
    for begin, end in (((1,), (3,)), ((0, 1), (None, None)), ((1, 0), (-1, 2)), ((2,), (2,))):
        keys = tuple(slice(b, e) for b, e in zip(begin, end, strict=True))
        yield Use(
            "slice",
            ("csr",),
            (None,),
            lambda x, keys=keys, **_: x[keys],
            "csr",
            {"begin": begin, "end": end},
        )
    for axis, begin, end in ((0, 1, None), (1, 0, 2), (-1, -1, None)):
        key = (slice(None),) * (axis % 2) + (slice(begin, end),)
        yield Use(
            "slice_axis",
            ("csr",),
            (None,),
            lambda x, key=key, **_: x[key],
            "csr",
            {"axis": axis, "begin": begin, "end": end},
        )
    yield Use("transpose", ("csr",), (None,), lambda x: x.T, "csr")
    for dim in (0, 1):
        yield Use(
            "Concat",
            ("csr",) * 3,
            (None, _same, None),
            lambda *x, dim: np.concatenate(x, axis=dim),
            "csr",
            {"dim": dim},
        )
    yield Use(
        "Concat",
        ("row_sparse",) * 2,
        (None, _same),
        lambda *x, dim: np.concatenate(x, axis=dim),
        "row_sparse",
        {"dim": 0},
    )
    yield Use(
        "slice",
        ("row_sparse",),
        (None,),
        lambda x, **_: x[1:5],
        "row_sparse",
        {"begin": (1,), "end": (5,)},
    )
    for mode in ("clip", "wrap"):
        for stype, out in (("csr", "csr"), ("row_sparse", "default")):
            yield Use(
                "take",
                (stype, "default"),
                (None, _taken_ids),
                _take,
                out,
                {"mode": mode},
                fits=lambda s: s[0] > 0,
            )
    for stype in SPARSE:
        for to in ("default", stype):
            yield Use("cast_storage", (stype,), (None,), lambda x, stype: x, to, {"stype": to})
    yield Use(
        "_sparse_retain",
        ("row_sparse", "default"),
        (None, _ids),
        _retained,
        "row_sparse",
        fits=lambda s: s[0] > 0,
    )


def _taken_ids(shape: Shape) -> np.ndarray:
    return np.array([shape[0] - 1, 0, 0, shape[0], -1, 7])


def _take(x, ids, mode):
    return x[np.clip(ids, 0, len(x) - 1) if mode == "clip" else ids % len(x)]


def _retained(x, ids):
    out = np.zeros_like(x)
    out[ids.reshape(-1)] = x[ids.reshape(-1)]
    return out


def _shallow(uses: Iterator[Use]) -> Iterator[Use]:
    """Uses of operators that have a test of their own on every structure."""
    return (replace(use, deep=False) for use in uses)


USES: tuple[Use, ...] = (
    *_light(),
    *_shallow(_two_arrays()),
    *_shallow(_reductions()),
    *_shallow(_dots()),
    *_layers(),
    *_with_csr_labels(),
    *_counts(),
    *_shapes(),
)
