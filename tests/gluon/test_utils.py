"""Splitting batches, clipping gradients, checking files; expected values are MXNet 1.9.1's."""

import numpy as np
import pytest
import scipy.sparse

import rarefy as mx
from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon import utils


def test_split_data_keeps_the_storage():
    dense = np.arange(10, dtype=np.float32).reshape(5, 2)
    for stype in ("default", "csr", "row_sparse"):
        x = nd.array(dense).tostype(stype)
        parts = utils.split_data(x, 2, even_split=False)
        assert [p.stype for p in parts] == [stype] * 2
        assert [p.asnumpy().tolist() for p in parts] == [dense[:3].tolist(), dense[3:].tolist()]
        if stype != "row_sparse":
            left, right = utils.split_data(x, 2, batch_axis=1)
            assert (left.stype, left.asnumpy().tolist()) == (stype, dense[:, :1].tolist())
            assert right.asnumpy().tolist() == dense[:, 1:].tolist()
    sizes = [p.shape[0] for p in utils.split_data(nd.array(dense), 7, even_split=False)]
    assert sizes == [1, 1, 1, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="no 2 equal parts along axis 0"):
        utils.split_data(nd.array(dense), 2)
    with pytest.raises(ValueError, match="got 0"):
        utils.split_data(nd.array(dense), 0)


def test_split_and_load():
    contexts = [mx.cpu(0), mx.cpu(1)]
    eye = scipy.sparse.eye_array(4, dtype=np.float32, format="csr")
    for data, stype in ((np.eye(4), "default"), (eye, "csr"), (nd.sparse.csr_matrix(eye), "csr")):
        parts = utils.split_and_load(data, contexts)
        assert [(p.stype, p.context, p.dtype) for p in parts] == [
            (stype, c, np.float32) for c in contexts
        ]
        assert np.concatenate([p.asnumpy() for p in parts]).tolist() == np.eye(4).tolist()
        (whole,) = utils.split_and_load(data, contexts[1:])
        assert (whole.context, whole.shape) == (contexts[1], (4, 4))


def test_clip_global_norm():
    def arrays():
        rows = nd.sparse.row_sparse_array(([[4.0, 0.0]], [1]), shape=(3, 2))
        return [nd.array([3.0, 0.0]), rows]

    for limit, first, second in ((1.0, 0.6, 0.8), (10.0, 3.0, 4.0)):
        for check in (True, False):
            dense, rows = both = arrays()
            norm = utils.clip_global_norm(both, limit, check_isfinite=check)
            assert isinstance(norm, nd.NDArray) != check
            assert np.asarray(norm if check else norm.asnumpy()).tolist() == (5 if check else [5])
            np.testing.assert_allclose(dense.asnumpy(), [first, 0])
            assert (rows.stype, rows.indices.asnumpy().tolist()) == ("row_sparse", [1])
            np.testing.assert_allclose(rows.data.asnumpy(), [[second, 0]])
    apart = [nd.array([3.0, 4.0]).as_in_context(mx.cpu(1)), nd.array([12.0])]
    assert utils.clip_global_norm(apart, 1.0) == 13
    np.testing.assert_allclose(apart[0].asnumpy(), [3 / 13, 4 / 13], rtol=1e-6)
    assert apart[0].context == mx.cpu(1)
    half = [nd.array([300.0] * 4, dtype="float16")]  # whose squares are no numbers of 16 bits
    assert utils.clip_global_norm(half, 6.0) == 600
    assert half[0].asnumpy().tolist() == [3.0] * 4
    for bad in (np.nan, np.inf):
        with pytest.warns(UserWarning, match="nan or inf"):
            utils.clip_global_norm([nd.array([bad, 1.0])], 1.0)
    with pytest.raises(ArgumentError, match="at least one"):
        utils.clip_global_norm([], 1.0)


def test_check_sha1(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert utils.check_sha1(tmp_path / "a", "a9993e364706816aba3e25717850c26c9cd0d89d")
    assert not utils.check_sha1(tmp_path / "a", "a9993e36")
