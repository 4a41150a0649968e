"""What every test shares: the device, and how hypothesis searches."""

import os

# Before jax starts. Tests run on CPU unless a device is asked for; a plot never opens a window.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
# Most of the time goes into compiling programs that run once. The kernels are compiled as ever.
os.environ["XLA_FLAGS"] = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    + os.environ.get("XLA_FLAGS", "")
)

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
