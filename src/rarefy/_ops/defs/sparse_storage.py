"""Operators about storage: conversion and the choice of rows."""

import numpy as np

from rarefy._ops import deferred
from rarefy._ops.defs._ids import as_ids, padded_ids, require_ids
from rarefy._ops.defs._sparse import toward
from rarefy._ops.opdef import operator
from rarefy._ops.places import rows_at, rows_of, with_data
from rarefy._ops.storage import (
    STYPES,
    SType,
    convert,
    empty_row_sparse,
    is_traced,
    to_dense,
)
from rarefy.sparse._capacity import capacity
from rarefy.sparse._row_sparse import retain, retain_known


@operator("cast_storage", eager=True, converts=True)
def cast_storage(data, *, stype: SType):
    """Converts an array to a storage type.

    Args:
      data: any storage type. csr and row_sparse do not convert to each other.
      stype: 'default', 'csr' (two dimensions) or 'row_sparse' (one dimension or more).

    Returns:
      Shape and dtype of `data`. Zeros of a dense array (for row_sparse: rows of zeros) are not stored.

    Raises:
      MXNetError: the storage type is unknown, needs other dimensions, or cannot be had from this one.

    Cost: O(size of the dense form).
    """
    return convert(data, stype)


def _stored_as(stype: SType) -> SType:
    return stype


def _cast_rules(have: SType, other: SType) -> None:
    def only(stype_asked: SType):
        return lambda stype: stype if stype == stype_asked else None

    @cast_storage.rule(have, out=only("default"))
    def _(data, *, stype):
        return to_dense(data)

    @cast_storage.rule(have, out=only(have))
    def _(data, *, stype):
        return data

    @cast_storage.rule(have, out=only(other), refuses=True)
    def _(data, *, stype):
        raise ValueError(
            f"{have} does not convert to {stype}; convert to 'default' first if the dense array fits"
        )


_cast_rules("csr", "row_sparse")
_cast_rules("row_sparse", "csr")


@cast_storage.rule("default", out=_stored_as, eager=True)
def _(data, *, stype):
    return convert(data, stype)


def _cast_back(want, inputs, output, cotangent, *, stype):
    return (toward(want[0], inputs[0], cotangent),)


for _stype in STYPES:
    cast_storage.gradient(_stype)(_cast_back)


def _check_retain(values, params) -> None:
    data, indices = values
    require_ids("indices", indices, data.shape[0], "rows of data")


@operator("_sparse_retain", aliases=("retain", "gs_retain"), eager=True, check=_check_retain)
def sparse_retain(data, indices):
    """Keeps the rows that are named and drops the others.

    Args:
      data: row_sparse `(n, *d)`.
      indices: `(k,)`, any numeric dtype: row ids in any order; repeated ones count once.

    Returns:
      row_sparse `(n, *d)`: exactly the named rows, ascending; those that `data` lacks are zero. Where
      `data` stores nothing the result stores nothing.

    Raises:
      MXNetError: `data` is not row_sparse, or an id is outside `[0, n)`.

    Cost: O(k * (log(rows stored) + prod(d))).
    """
    raise TypeError(
        "retain takes a row_sparse array; convert with tostype('row_sparse'), or use take for the "
        "rows of a dense array"
    )


def _stores_nothing(value) -> bool:
    return value.nse == 0 or bool(np.asarray(value.indices)[0, 0] >= value.shape[0])


@sparse_retain.rule("row_sparse", "default", out="row_sparse", eager=True, checks=True)
def _(data, indices):
    n = data.shape[0]
    if is_traced(data) or is_traced(indices):
        deferred.check(sparse_retain, (data, indices), {})
        return retain(data, padded_ids(as_ids(indices, n).reshape(-1), n))
    ids = np.asarray(indices).reshape(-1)
    ascending = bool((ids[1:] > ids[:-1]).all())
    if not ascending or (ids.size and not (ids[0] >= 0 and ids[-1] < n)):
        _check_retain((data, indices), {})
        ids = np.unique(ids)
    if _stores_nothing(data):
        return empty_row_sparse(data.shape, data.dtype)
    return retain_known(data, ids, capacity(ids.size))


@sparse_retain.gradient("row_sparse", "default")
def _(want, inputs, output, cotangent):
    """The named rows get their cotangent, those that `data` lacks too; others none."""
    if want[0] is None:
        return None, None
    named, (data, ids) = output, inputs
    if not is_traced(output) and _stores_nothing(output):  # then it does not name them
        n = data.shape[0]
        named = retain(data, padded_ids(as_ids(ids, n).reshape(-1), n))
    return with_data(named, rows_at(cotangent, rows_of(named))), None
