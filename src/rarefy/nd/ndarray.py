"""MXNet's module of the array class, for programs that import from it."""

from typing import Any

from rarefy._ops.storage import stype_of
from rarefy.base import MXNetError as MXNetError
from rarefy.nd._arithmetic import add as add
from rarefy.nd._arithmetic import divide as divide
from rarefy.nd._arithmetic import equal as equal
from rarefy.nd._arithmetic import greater as greater
from rarefy.nd._arithmetic import greater_equal as greater_equal
from rarefy.nd._arithmetic import lesser as lesser
from rarefy.nd._arithmetic import lesser_equal as lesser_equal
from rarefy.nd._arithmetic import logical_and as logical_and
from rarefy.nd._arithmetic import logical_or as logical_or
from rarefy.nd._arithmetic import logical_xor as logical_xor
from rarefy.nd._arithmetic import maximum as maximum
from rarefy.nd._arithmetic import minimum as minimum
from rarefy.nd._arithmetic import modulo as modulo
from rarefy.nd._arithmetic import multiply as multiply
from rarefy.nd._arithmetic import not_equal as not_equal
from rarefy.nd._arithmetic import power as power
from rarefy.nd._arithmetic import subtract as subtract
from rarefy.nd._arithmetic import true_divide as true_divide
from rarefy.nd._codes import DTYPE_CODES, DTYPES, STYPE_CODES
from rarefy.nd._create import arange as arange
from rarefy.nd._create import array as array
from rarefy.nd._create import concatenate as concatenate
from rarefy.nd._create import empty as empty
from rarefy.nd._create import eye as eye
from rarefy.nd._create import full as full
from rarefy.nd._create import histogram as histogram
from rarefy.nd._create import linspace as linspace
from rarefy.nd._create import moveaxis as moveaxis
from rarefy.nd._create import onehot_encode as onehot_encode
from rarefy.nd._create import ones as ones
from rarefy.nd._create import split_v2 as split_v2
from rarefy.nd._create import waitall as waitall
from rarefy.nd._create import zeros as zeros
from rarefy.nd._interchange import from_dlpack as from_dlpack
from rarefy.nd._interchange import from_numpy as from_numpy
from rarefy.nd._interchange import to_dlpack_for_read as to_dlpack_for_read
from rarefy.nd._interchange import to_dlpack_for_write as to_dlpack_for_write
from rarefy.nd._ndarray import NDArray as NDArray

_STORAGE_TYPE_STR_TO_ID = dict(STYPE_CODES)
_STORAGE_TYPE_ID_TO_STR = {code: name for name, code in STYPE_CODES.items()}
_STORAGE_TYPE_UNDEFINED = STYPE_CODES["undefined"]
_STORAGE_TYPE_DEFAULT = STYPE_CODES["default"]
_STORAGE_TYPE_ROW_SPARSE = STYPE_CODES["row_sparse"]
_STORAGE_TYPE_CSR = STYPE_CODES["csr"]
_DTYPE_MX_TO_NP: dict[int, Any] = {-1: None, **{c: d.type for c, d in DTYPES.items()}}
_DTYPE_NP_TO_MX: dict[Any, int] = {None: -1, **{d.type: c for d, c in DTYPE_CODES.items()}}
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}


def _storage_type(handle: Any) -> int:
    """The number that stands for the storage type of an array, given its `handle`."""
    return STYPE_CODES[stype_of(handle.value)]
