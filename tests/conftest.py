"""What every test shares: the device, and how hypothesis searches."""

import ctypes
import gc
import os
from importlib.metadata import version

# Before jax starts. Tests run on CPU unless a device is asked for; a plot never opens a window.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
# Most of the time goes into compiling programs that run once. The kernels are compiled as ever. A
# version of XLA that does not know a flag refuses to start, so others than this one get none.
if version("jaxlib").startswith("0.10."):
    os.environ["XLA_FLAGS"] = (
        "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
        # Half of the time again: small programs gain nothing from emitters of their own and parts.
        "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1 "
        + os.environ.get("XLA_FLAGS", "")
    )

import hypothesis
import jax
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


@pytest.fixture(autouse=True, scope="module")
def _programs_do_not_pile_up():
    """Lets what was compiled go after a file, once it has made the process large."""
    yield
    if _resident_bytes() > 2.5 * 2**30:
        jax.clear_caches()
        gc.collect()
        # What is freed in small pieces stays with the process unless the C library is told.
        if give_back := getattr(ctypes.CDLL(None), "malloc_trim", None):
            give_back(0)


def _resident_bytes() -> int:
    """The memory of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
