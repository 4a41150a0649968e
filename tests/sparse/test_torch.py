"""To and from PyTorch's sparse tensors, where PyTorch is installed."""

import numpy as np
import pytest
from jax import numpy as jnp
from numpy.testing import assert_array_equal

from rarefy.sparse import BCOO, BCSR


def test_what_is_no_tensor_is_refused():
    for kind in (BCOO, BCSR):
        with pytest.raises(TypeError, match="expected a tensor"):
            kind.from_torch(np.ones(3))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "int32", "complex64"])
def test_round_trips_keep_values_and_types(name):
    torch = pytest.importorskip("torch")
    dense = (torch.arange(12).reshape(3, 4) % 3 - 1).to(getattr(torch, name))
    for kind, tensor in ((BCOO, dense.to_sparse()), (BCSR, dense.to_sparse_csr())):
        value = kind.from_torch(tensor)
        assert value.dtype == jnp.dtype(name)
        back = value.to_torch()
        assert back.dtype == dense.dtype
        assert back.layout == tensor.layout
        assert torch.equal(back.to_dense(), dense)
    assert_array_equal(BCSR.from_torch(dense.to_sparse()).todense(), value.todense())


def test_order_repeats_padding_and_dense_dimensions():
    torch = pytest.importorskip("torch")
    places = torch.tensor([[1, 0, 1], [2, 0, 2]])
    values = torch.tensor([1.0, 2.0, 3.0])
    tensor = torch.sparse_coo_tensor(places, values, (2, 3), check_invariants=True)
    value = BCOO.from_torch(tensor)
    assert not value.indices_sorted
    assert value.data.tolist() == [1, 2, 3]
    assert not value.to_torch().is_coalesced()
    assert value.sum_duplicates().to_torch().is_coalesced()
    hybrid = torch.arange(24.0).reshape(2, 3, 4).to_sparse(2)
    assert repr(BCOO.from_torch(hybrid)) == "BCOO(float32[2, 3, 4], nse=6, n_dense=1)"
    padded = BCOO.fromdense(np.eye(3, dtype=np.float32), nse=7)
    assert padded.to_torch()._nnz() == 3
    assert BCSR.from_bcoo(padded).to_torch()._nnz() == 3
