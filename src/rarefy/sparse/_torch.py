"""Buffers of PyTorch's sparse tensors, without a dense step and without importing PyTorch here."""

from typing import Any

import jax
import numpy as np
from jax import numpy as jnp


def array_of(tensor: Any) -> jax.Array:
    """Copies a dense tensor on any device to an array; 16-bit floats keep their type."""
    tensor = tensor.detach().resolve_conj().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        return jnp.asarray(tensor.view(_torch().int16).numpy().view(jnp.bfloat16).copy())
    return jnp.asarray(tensor.numpy().copy())


def tensor_of(array: Any) -> Any:
    """Copies an array to a dense tensor on the CPU."""
    torch = _torch()
    value = np.array(array)
    if value.dtype == jnp.bfloat16:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    if value.dtype in (np.uint16, np.uint32, np.uint64):
        raise TypeError(f"to_torch: PyTorch has no sparse tensors of {value.dtype}")
    return torch.from_numpy(value)


def indices_of(tensor: Any) -> np.ndarray:
    """Copies a tensor of indices, which may be 64 bits wide, to the host."""
    return tensor.detach().cpu().numpy().copy()


def _torch() -> Any:
    import torch  # pyright: ignore[reportMissingImports] - an option of the user's

    return torch


def layout_of(tensor: Any) -> str:
    """The storage of a tensor: "coo", "csr", "csc", "bsr", "bsc" or "strided".

    Raises:
      TypeError: it is no tensor.
    """
    if not hasattr(tensor, "layout") or not hasattr(tensor, "detach"):
        raise TypeError(f"from_torch: expected a tensor, got {type(tensor)}")
    return str(tensor.layout).removeprefix("torch.").removeprefix("sparse_")


def coo_parts(tensor: Any) -> tuple[jax.Array, np.ndarray, tuple[int, ...], bool]:
    """Values, indices `(nse, n_sparse)`, shape and whether it is coalesced, of a coo tensor."""
    indices = indices_of(tensor._indices()).T
    return array_of(tensor._values()), indices, tuple(tensor.shape), bool(tensor.is_coalesced())


def coo_tensor(data: Any, indices: Any, shape: tuple[int, ...], *, canonical: bool) -> Any:
    """A coo tensor of entries that are all in range; sorted and unique where `canonical`."""
    torch = _torch()
    places = torch.from_numpy(np.array(indices, np.int64).T.copy())
    options = {"is_coalesced": canonical, "check_invariants": True}
    return torch.sparse_coo_tensor(places, tensor_of(data), shape, **options)


def csr_parts(tensor: Any) -> tuple[jax.Array, np.ndarray, np.ndarray, tuple[int, ...]]:
    """Values, columns, row starts and shape of a csr tensor."""
    return (
        array_of(tensor.values()),
        indices_of(tensor.col_indices()),
        indices_of(tensor.crow_indices()),
        tuple(tensor.shape),
    )


def csr_tensor(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> Any:
    """A csr tensor of entries that are all in range."""
    torch = _torch()
    starts, columns = (torch.from_numpy(np.array(i, np.int64)) for i in (indptr, indices))
    options = {"check_invariants": True}
    return torch.sparse_csr_tensor(starts, columns, tensor_of(data), shape, **options)
