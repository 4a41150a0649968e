"""What every test shares: the device, and how hypothesis searches."""

import os

# Before jax starts. Tests run on CPU unless a device is asked for; a plot never opens a window.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")

import hypothesis
import numpy as np
import pytest

# The same examples on every run, so that a red test is red for everyone; with
# `--hypothesis-profile=search` it looks further. No deadline: a test's first example may compile.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
hypothesis.settings.register_profile("search", deadline=None, max_examples=2000)
hypothesis.settings.load_profile("fixed")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(20240229)


# Known faults of the code, not of the tests: each runs and is reported as an expected failure until
# it is mended and its line here goes.
KNOWN_FAULTS = {
    "test_broadcast.py::test_gradients[elemwise_": "csr with row_sparse: gradients of own storage type",
    "test_broadcast.py::test_adding_again_and_again": "a sum of sparse arrays grows by its padding",
    "test_mxnet_calls.py::test_difference_is_still_one[a[np.array": "recorded difference from MXNet",
    "test_mxnet_calls.py::test_difference_is_still_one[(c-c)": "recorded difference from MXNet",
    "test_problem.py::test_unknown_label_is_named_with_its_row": "message without the row",
    "test_elementwise.py::test_a_number_and_a_number_of_slots": "compiles more than once",
    "test_train.py::test_l1_with_ftrl_meets_its_optimum": "FTRL with L1 misses its optimum",
}


def pytest_collection_modifyitems(items):
    for item in items:
        for part, reason in KNOWN_FAULTS.items():
            if part in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
