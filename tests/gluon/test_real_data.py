"""Gluon models on well-known data sets, held against scikit-learn 1.9.1.

The files are not part of the repository. `RAREFY_DATA` names a folder with `corel5k_train.libsvm`,
`corel5k_test.libsvm` and `rcv1_small.libsvm`; without it these tests are skipped.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from rarefy import gluon, nd
from rarefy.gluon.loss import SigmoidBCELoss
from rarefy.gluon.nn import SparseDense
from rarefy.io import load_libsvm
from rarefy.metric import auc

DATA = Path(os.environ.get("RAREFY_DATA", ""))
pytestmark = pytest.mark.skipif("RAREFY_DATA" not in os.environ, reason="RAREFY_DATA is not set")


def scores_of_trained(net, x, y, test, optimizer, rate, batch_size):
    """Trains a layer on csr rows and labels by 20 epochs of compiled steps."""
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer)
    step = gluon.TrainStep(net, SigmoidBCELoss(), trainer)
    rows = gluon.data.ArrayDataset(x, y)
    loader = gluon.data.DataLoader(rows, batch_size, shuffle=True, seed=0)
    for epoch in range(20):
        trainer.set_learning_rate(rate * (1 - epoch / 20))
        for batch in loader:
            step(*batch)
    assert step.compilations <= 5
    return net(nd.sparse.csr_matrix(test)).asnumpy()


def test_corel5k_has_several_labels_a_row():
    """Labels are csr as well. A logistic regression for each label has a precision of 0.356."""
    train, test = (
        load_libsvm(DATA / f"corel5k_{part}.libsvm", multilabel=True, n_features=499, index_base=1)
        for part in ("train", "test")
    )
    labels, expected = (part.y.to_indicator(374) for part in (train, test))
    net = SparseDense(374, in_units=499)
    scores = scores_of_trained(net, train.X, labels, test.X, "adam", 0.01, 64)
    first = expected.toarray()[np.arange(len(scores)), scores.argmax(axis=1)]
    assert first.mean() >= 0.37


def test_rcv1_is_text():
    """Logistic regression at its optimum has an AUC of 0.9619 and an accuracy of 0.865."""
    data = load_libsvm(DATA / "rcv1_small.libsvm", n_features=50_000, index_base=0)
    y = (data.y > 0).astype(np.float32)
    net = SparseDense(1, in_units=50_000)
    scores = scores_of_trained(net, data.X[:800], y[:800], data.X[800:], "adagrad", 0.5, 16)[:, 0]
    assert auc(y[800:], scores) >= 0.96
    assert ((scores > 0) == y[800:]).mean() >= 0.865
