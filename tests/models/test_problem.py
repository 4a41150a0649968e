"""Which problem labels pose."""

import numpy as np
import pytest

from rarefy.models._problem import class_index, pose

CHOICES = [
    ({-1.0: 5, 1.0: 3}, "logistic", (-1, 1)),
    ({0.0: 5, 1.0: 3}, "logistic", (0, 1)),
    ({2.5: 5, 1.5: 3}, "logistic", (1.5, 2.5)),
    ({float(k): 1 for k in range(7)}, "softmax", tuple(range(7))),
    ({float(k): 1 for k in range(1, 21)}, "softmax", tuple(range(1, 21))),
    ({float(k): 1 for k in range(1, 22)}, "squared", None),
    ({0.5: 1, 1.0: 1, 1.5: 4}, "squared", None),
    (None, "squared", None),
]


@pytest.mark.parametrize(("counts", "loss", "classes"), CHOICES)
def test_loss_follows_from_the_labels(counts, loss, classes):
    problem = pose(counts)
    assert (problem.loss, problem.classes) == (loss, classes)
    assert problem.reason
    assert all(
        type(a) is type(b) for a, b in zip(problem.classes or (), classes or (), strict=True)
    )


@pytest.mark.parametrize("counts", [{1.0: 3, 2.0: 3, 5.0: 1}, {1.0: 4, 2.0: 2}])
def test_loss_can_be_set(counts):
    assert pose(counts, "softmax").outputs == len(counts)
    assert pose(counts, "squared").classes is None


REFUSED = [
    ({}, None, "no rows"),
    ({1.0: 9}, None, "all labels are 1"),
    ({1.0: 9}, "logistic", "all labels are 1"),
    ({0.0: 1, 1.0: 1, 2.0: 1}, "logistic", "two different labels; found 3: 0, 1, 2"),
    (None, "logistic", "two different labels; found more than"),
    (None, "softmax", "countable"),
]


@pytest.mark.parametrize(("counts", "loss", "message"), REFUSED)
def test_labels_that_a_loss_cannot_take_are_refused(counts, loss, message):
    with pytest.raises(ValueError, match=message):
        pose(counts, loss)


def test_one_label_is_legal_for_squared():
    assert pose({1.0: 9}, "squared").loss == "squared"


def test_classes_are_encoded_in_ascending_order():
    problem = pose({-1.0: 1, 1.0: 1})
    assert problem.encode(np.array([1.0, -1, 1])).tolist() == [1, 0, 1]
    assert pose({3.0: 1, 7.0: 1, 1.0: 1}).encode(np.array([7.0, 1, 3])).tolist() == [2, 0, 1]


def test_unknown_label_is_named_with_its_row():
    """Counted from 1, like lines, and over the batches that came before."""
    problem, labels = pose({-1.0: 1, 1.0: 1}), np.array([1.0, -1, 0])
    message = "has the label 0, which is none of the classes -1, 1"
    with pytest.raises(ValueError, match=f"row 3 {message}"):
        problem.encode(labels)
    with pytest.raises(ValueError, match=f"row 1003 {message}"):
        problem.encode(labels, first_row=1000)


def test_class_index_of_strangers_is_minus_one():
    assert class_index((-1, 2), np.array([-2.0, -1, 0, 2, 3, np.nan])).tolist() == [
        -1, 0, -1, 1, -1, -1,
    ]  # fmt: skip
