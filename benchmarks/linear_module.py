"""Linear classification by `Module`, of rarefy or of MXNet.

`python benchmarks/linear_module.py --opt adagrad` runs it by itself, also with MXNet's Python: a line
for the step (`forward_backward` and `update`), one for a batch inside `fit`. The data has 1,000,000
features, 1024 rows a batch and 40 stored elements a row.
"""

import argparse
import logging
import os
import time
import warnings

import numpy as np

os.environ.setdefault("JAX_PLATFORMS", "cpu")

FEATURES, ROWS, PER_ROW, BATCHES = 1_000_000, 1024, 40, 16


class Job:
    """A bound module and its batches, in either library."""

    def __init__(self, mx, optimizer: str):
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        indptr = np.arange(ROWS + 1) * PER_ROW
        self.mx = mx
        self.batches = []
        for _ in range(BATCHES):
            # Skewed, as words are: some features are in most rows, most in none.
            ids = np.sort((FEATURES * rng.random((ROWS, PER_ROW)) ** 2).astype(np.int64), axis=1)
            ids = np.minimum(ids + np.arange(PER_ROW), FEATURES - PER_ROW + np.arange(PER_ROW))
            data = rng.random(ids.size).astype(np.float32)
            x = mx.nd.sparse.csr_matrix((data, ids.ravel(), indptr), shape=(ROWS, FEATURES))
            y = mx.nd.array(rng.integers(0, 2, ROWS).astype(np.float32))
            self.batches.append(mx.io.DataBatch([x], [y], 0))
        self.module = mx.mod.Module(self._net())
        self.module.bind([("data", (ROWS, FEATURES))], [("softmax_label", (ROWS,))])
        self.module.init_params()
        self.module.init_optimizer(
            kvstore=None, optimizer=optimizer, optimizer_params={"learning_rate": 0.1}
        )

    def _net(self):
        sym, init = self.mx.sym, self.mx.init
        weight = sym.Variable(
            "weight", stype="row_sparse", shape=(FEATURES, 2), init=init.Normal(0.01)
        )
        scores = sym.broadcast_add(
            sym.sparse.dot(sym.Variable("data", stype="csr"), weight),
            sym.Variable("bias", shape=(2,), init=init.Zero()),
        )
        return sym.SoftmaxOutput(scores, sym.Variable("softmax_label"), name="softmax")

    def steps(self) -> None:
        """A step on each batch."""
        for batch in self.batches:
            self.module.forward_backward(batch)
            self.module.update()
        self.mx.nd.waitall()

    def fit(self) -> None:
        """An epoch of `fit`, cross-entropy as its metric."""
        logging.disable(logging.WARNING)
        self.module.fit(again(self), eval_metric="ce", num_epoch=1)


def again(job):
    """An iterator over a job's batches, of the library's own kind."""

    class Again(job.mx.io.DataIter):
        def __init__(self):
            super().__init__(ROWS)
            self.provide_data = [job.mx.io.DataDesc("data", (ROWS, FEATURES))]
            self.provide_label = [job.mx.io.DataDesc("softmax_label", (ROWS,))]
            self.reset()

        def reset(self):
            self.rest = iter(job.batches)

        def next(self):
            return next(self.rest)

        __next__ = next

    return Again()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", default="sgd")
    optimizer = parser.parse_args().opt
    try:
        import mxnet as mx
    except ImportError:
        import rarefy as mx
    job = Job(mx, optimizer)
    for what in ("steps", "fit"):
        run, times = getattr(job, what), []
        for _ in range(23):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) / BATCHES * 1000)
        times = times[3:]
        print(
            f"{mx.__name__} {optimizer} {what}: {min(times):.3f} ms a batch at least, "
            f"{np.median(times):.3f} in the median"
        )


if __name__ == "__main__":
    main()
