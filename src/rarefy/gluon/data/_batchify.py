"""Items put together to a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rarefy import nd
from rarefy.gluon.data._rows import is_sparse, stacked


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Puts items together to a batch.

    Args:
      data: the items, all alike; see below.

    Returns:
      | the items | the batch |
      |---|---|
      | csr arrays or SciPy matrices `(1, n)` | csr `(b, n)` |
      | row_sparse arrays `(1, *d)` | row_sparse `(b, *d)` |
      | dense arrays `(*d)` | dense `(b, *d)` |
      | tuples | a list: a batch of the first parts, of the second ones ... |
      | dicts | a dict of batches |
      | NumPy arrays, numbers, lists of them | a dense array of NumPy's dtype for the list |

    Raises:
      ValueError: shapes, or numbers of parts, differ.
      KeyError: dicts have different keys.
    """
    first = data[0]
    if is_sparse(first):
        return stacked(data)
    if isinstance(first, nd.NDArray):
        return nd.stack(*data)
    if isinstance(first, tuple):
        sizes = {len(item) for item in data}
        if len(sizes) > 1:
            raise ValueError(f"items of a batch have {sorted(sizes)} parts; they must be alike")
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    if isinstance(first, Mapping):
        return {key: default_batchify_fn([item[key] for item in data]) for key in first}
    array = np.asarray(data)
    return nd.array(array, dtype=array.dtype)


default_mp_batchify_fn = default_batchify_fn
