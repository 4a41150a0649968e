"""What every benchmark shares: waiting for results.

A benchmark says in its id what it measures: `test_csr_dot_dense[kernel-20000x100000-50-64]`.
"""

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest


@pytest.fixture
def measure(benchmark) -> Callable[..., Any]:
    """Measures a function until its result is there; the call that compiles is left out.

    `measure(f, *args)` returns the result. `measure(f, *args, size=...)` also notes the bytes or
    elements that one call works on in the report's extra information.
    """

    def run(function: Callable[..., Any], *args: Any, size: int | None = None) -> Any:
        result = jax.block_until_ready(function(*args))
        if size is not None:
            benchmark.extra_info["size"] = size
        benchmark.pedantic(
            lambda: jax.block_until_ready(function(*args)),
            warmup_rounds=2,
            **_rounds(function, args),
        )
        return result

    return run


def _rounds(function: Callable[..., Any], args: tuple) -> dict[str, int]:
    """Rounds for about a second, and enough calls in each that the grain of the clock is small."""
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    seconds = max(time.perf_counter() - start, 1e-7)
    iterations = max(1, int(2e-4 / seconds))
    return {"iterations": iterations, "rounds": int(min(max(1.0 / (seconds * iterations), 5), 500))}
