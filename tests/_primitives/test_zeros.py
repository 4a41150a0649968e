import jax
import ml_dtypes
import numpy as np
import pytest

from rarefy._primitives.zeros import zeros


@pytest.mark.parametrize("form", ["kernel", "xla"])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (2000, 300)])
def test_zeros(shape, dtype, form):
    for _ in range(2):  # the second may get memory that was in use before
        out = zeros(shape=shape, dtype=dtype, form=form)
        assert out.shape == shape
        assert out.dtype == dtype
        assert not np.asarray(out).any()
        del out
        jax.block_until_ready(jax.numpy.ones((2000, 300)))
