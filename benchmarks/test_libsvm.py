"""Reading and writing LibSVM text.

Ids say what is in the text: rows x columns, entries a row, threads. `MB/s` of text stands in the extra
information of each benchmark.
"""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from rarefy.io import LibSVMReader, load_libsvm, save_libsvm, scan_libsvm
from rarefy.io._options import default_threads

# rows, columns, entries a row, decimals of a value (None: all 17 digits; 0: the value is 1)
TEXTS = {
    "20000x1000000-40-decimals4": (20_000, 1_000_000, 40, 4),
    "20000x1000000-40-digits17": (20_000, 1_000_000, 40, None),
    "60000x300-12-ones": (60_000, 300, 12, 0),
}
THREADS = sorted({1, default_threads()})


def matrix_of(rows, columns, per_row, decimals):
    rng = np.random.default_rng(7)
    indices = np.sort(rng.integers(0, columns - per_row, (rows, per_row)), axis=1)
    indices = (indices + np.arange(per_row)).astype(np.int32).ravel()
    values = rng.random(rows * per_row)
    if decimals is not None:
        values = np.round(values + 10.0**-decimals, decimals) if decimals else np.ones_like(values)
    indptr = np.arange(rows + 1) * per_row
    return sp.csr_array((values, indices, indptr), shape=(rows, columns))


@pytest.fixture(scope="module", params=TEXTS.values(), ids=TEXTS.keys())
def text(request, tmp_path_factory):
    """(path, matrix, labels)"""
    X = matrix_of(*request.param)
    y = np.random.default_rng(8).integers(0, 2, X.shape[0])
    path = tmp_path_factory.mktemp("libsvm") / "data.svm"
    save_libsvm(path, X, y)
    return path, X, y


def note_speed(benchmark, path):
    megabytes = path.stat().st_size / 1e6
    benchmark.extra_info["MB"] = round(megabytes, 1)
    if benchmark.stats is not None:
        benchmark.extra_info["MB/s"] = round(megabytes / benchmark.stats.stats.min)


@pytest.mark.parametrize("threads", THREADS)
def test_load(benchmark, text, threads):
    path, X, _ = text
    known = {"index_base": 0, "n_features": X.shape[1]}
    data = benchmark(load_libsvm, path, n_threads=threads, **known)
    assert data.X.nnz == X.nnz
    note_speed(benchmark, path)


@pytest.mark.parametrize("threads", THREADS)
def test_stream(benchmark, text, threads):
    path, X, _ = text
    reader = LibSVMReader(
        path,
        batch_size=1024,
        index_base=0,
        n_features=X.shape[1],
        n_threads=threads,
        cache="never",
    )
    assert benchmark(lambda: sum(batch.nnz for batch in reader)) == X.nnz
    note_speed(benchmark, path)


@pytest.mark.parametrize("threads", THREADS)
def test_scan(benchmark, text, threads):
    path, X, _ = text
    found = benchmark(scan_libsvm, path, n_threads=threads, fingerprint=False)
    assert found.nnz == X.nnz
    note_speed(benchmark, path)


def test_shuffled_pass_over_kept_rows(benchmark, text):
    path, X, _ = text
    reader = LibSVMReader(path, batch_size=1024, index_base=0, n_features=X.shape[1])
    assert sum(batch.nnz for batch in reader.epoch(1)) == X.nnz
    assert benchmark(lambda: sum(batch.nnz for batch in reader.epoch(2))) == X.nnz
    note_speed(benchmark, path)


@pytest.mark.parametrize("threads", THREADS)
def test_save(benchmark, text, threads):
    path, X, y = text
    stream = io.BytesIO()

    def save():
        stream.seek(0)
        save_libsvm(stream, X, y, n_threads=threads)

    benchmark(save)
    note_speed(benchmark, path)
