"""Going dense is counted, said once, and can be refused."""

import warnings

import numpy as np
import pytest

from rarefy import MXNetError, autograd, config, nd
from rarefy._ops import fallback
from rarefy._ops.fallback import StorageFallbackError, StorageFallbackWarning

A = np.array([[1, 0, 2], [0, 0, 0]], np.float32)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(config, "storage_fallback", "warn")
    config.storage_fallbacks.clear()


def csr(array=A):
    return nd.array(array).tostype("csr")


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if issubclass(w.category, StorageFallbackWarning)]


def test_a_fallback_is_said_once_for_an_operator_its_storage_types_and_parameters():
    (text,) = said(lambda: nd.log_softmax(csr()))
    assert "log_softmax(csr) of shape (2, 3)" in text
    assert "no sparse rule" in text
    assert said(lambda: nd.log_softmax(csr())) == []
    assert said(lambda: nd.log_softmax(csr(np.eye(5)))) == []  # whatever the shape
    assert len(said(lambda: nd.log_softmax(csr(), axis=0))) == 1
    assert len(said(lambda: nd.log_softmax(nd.array(A).tostype("row_sparse")))) == 1


def test_the_warning_points_at_the_call():
    for call in (nd.log_softmax, nd.CSRNDArray.log_softmax, lambda c: c == c, lambda c: c**c):
        with pytest.warns(StorageFallbackWarning) as caught:
            call(csr())
        fallback._warned.clear()
        assert caught[0].filename == __file__


def test_every_fallback_is_counted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            nd.log_softmax(csr())
        nd.flip(csr(), axis=0)
    assert config.storage_fallbacks == {("log_softmax", ("csr",)): 3, ("reverse", ("csr",)): 1}


@pytest.mark.parametrize("how", ["setting", "environment"])
def test_it_can_be_silent(how, monkeypatch):
    if how == "setting":
        monkeypatch.setattr(config, "storage_fallback", "silent")
    else:
        monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    assert said(lambda: nd.log_softmax(csr())) == []
    assert config.storage_fallbacks["log_softmax", ("csr",)] == 1


def test_it_can_be_refused(monkeypatch):
    monkeypatch.setattr(config, "storage_fallback", "error")
    with pytest.raises(
        StorageFallbackError, match=r"log_softmax\(csr\).*tostype\('default'\)"
    ) as caught:
        nd.log_softmax(csr())
    assert isinstance(caught.value, MXNetError)
    assert nd.sum(csr()).asscalar() == 3


def test_what_would_be_too_large_is_refused():
    wide = nd.sparse.csr_matrix(([1.0], ([0], [2])), shape=(1_000_000, 1_000_000), dtype="float32")
    for call in (lambda: nd.log_softmax(wide), lambda: wide + 2, lambda: nd.cos(wide)):
        with pytest.raises(StorageFallbackError, match=r"4e\+06 MB dense.*storage_fallback_bytes"):
            call()


def test_a_dense_gradient_that_would_be_too_large_is_refused(monkeypatch):
    array = csr()
    array.attach_grad(stype="default")
    with autograd.record():
        y = nd.sum(array * 2)
    monkeypatch.setattr(config, "storage_fallback_bytes", 20)
    with pytest.raises(
        StorageFallbackError,
        match=r"gradient of sum\(csr\) of shape \(2, 3\) takes 2.4e-05 MB",
    ):
        y.backward(retain_graph=True)
    with pytest.raises(StorageFallbackError, match=r"attach_grad.*\(2, 3\).*24 bytes"):
        array.attach_grad(stype="default")
    array.attach_grad()
    with autograd.record():
        y = nd.sum(array * 2)
    y.backward()
    assert array.grad.data.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize(("value", "records"), [("1", 2), ("0", 0)])
def test_storage_types_are_logged_where_the_environment_asks(value, records, monkeypatch, caplog):
    monkeypatch.setenv("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", value)
    array, weight = csr(), nd.array(A.T)
    caplog.clear()
    nd.dot(array, weight)
    nd.log_softmax(array)
    texts = [r.getMessage() for r in caplog.records if r.name == "rarefy.storage"]
    assert len(texts) == records
    if records:
        assert texts == [
            "dot: fcompute_ex\n\t\tinput 0: csr\n\t\tinput 1: default\n\t\toutput 0: default",
            "log_softmax: fcompute_fallback\n\t\tinput 0: csr\n\t\toutput 0: default",
        ]


def test_arrays_of_other_shapes_go_dense_where_a_rule_takes_one_shape():
    row = csr(A[:1])
    for call in (nd.broadcast_add, nd.broadcast_mul, nd.broadcast_maximum):
        assert len(said(lambda call=call: call(csr(), row))) == 1
        assert said(lambda call=call: call(csr(), csr())) == []


def test_rules_and_dense_operators_are_no_fallback():
    array, rows = csr(), nd.array(A).tostype("row_sparse")

    def call():
        _ = array + 2, array + nd.ones((2, 3)), array * array, rows + rows, nd.cos(array)
        nd.dot(array, nd.ones((3, 1)))
        nd.log_softmax(nd.ones((2, 3)))

    assert said(call) == []
    assert not config.storage_fallbacks


def test_the_result_of_a_fallback_goes_to_out_in_its_storage_type():
    out = nd.sparse.zeros("row_sparse", (2, 3))
    with pytest.warns(StorageFallbackWarning):
        assert nd.flip(csr(), axis=0, out=out) is out
    assert out.stype == "row_sparse"
    assert out.indices.asnumpy().tolist() == [1]
    np.testing.assert_array_equal(out.asnumpy(), A[::-1])
