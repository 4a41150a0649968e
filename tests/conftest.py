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
