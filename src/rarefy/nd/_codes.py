"""The numbers that stand for dtypes, storage types and devices in MXNet's files and interfaces."""

import jax.numpy as jnp
import numpy as np

from rarefy._ops.storage import SType

STYPE_CODES: dict[str, int] = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
STYPE_NAMES: dict[int, SType] = {0: "default", 1: "row_sparse", 2: "csr"}

DTYPES: dict[int, np.dtype] = {
    code: np.dtype(kind)
    for code, kind in {
        0: np.float32,
        1: np.float64,
        2: np.float16,
        3: np.uint8,
        4: np.int32,
        5: np.int8,
        6: np.int64,
        7: np.bool_,
        # MXNet 1.9 knows these four from its C headers, MXNet 2 writes them.
        8: np.int16,
        9: np.uint16,
        10: np.uint32,
        11: np.uint64,
        12: jnp.bfloat16,
    }.items()
}
DTYPE_CODES: dict[np.dtype, int] = {dtype: code for code, dtype in DTYPES.items()}
