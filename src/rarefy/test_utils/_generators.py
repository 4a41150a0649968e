"""Whether random numbers follow the distribution that they should."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy import special

Generator = Callable[[int], np.ndarray]
"""Takes a number of samples and returns that many."""


def gen_buckets_probs_with_ppf(ppf: Callable, nbuckets: int) -> tuple[list, list[float]]:
    """Intervals of equal probability.

    Args:
      ppf: the quantile function of the distribution.
      nbuckets: how many.

    Returns:
      The intervals as `(low, high)`, and their probabilities.

    Raises:
      AssertionError: `nbuckets` is not positive.
    """
    if nbuckets <= 0:
        raise AssertionError(f"nbuckets must be positive; got {nbuckets}")
    edges = [float(ppf(i / nbuckets)) for i in range(nbuckets + 1)]
    return list(pairwise(edges)), [1.0 / nbuckets] * nbuckets


def mean_check(generator: Generator, mu: float, sigma: float, nsamples=1000000) -> bool:
    """Whether the mean of samples lies within three standard errors of `mu`."""
    mean = np.asarray(generator(nsamples), np.float64).mean()
    return bool(abs(mean - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator: Generator, sigma: float, nsamples=1000000) -> bool:
    """Whether the variance of samples lies within three standard errors of `sigma ** 2`, those of
    a normal distribution."""
    samples = np.asarray(generator(nsamples), np.float64)
    error = np.sqrt(2 * sigma**4 / (nsamples - 1))
    return bool(abs(samples.var(ddof=1) - sigma**2) < 3 * error)


def chi_square_check(
    generator: Generator, buckets: Sequence, probs: Sequence[float], nsamples=1000000
) -> tuple[float, np.ndarray, np.ndarray]:
    """Pearson's chi-square test of a generator.

    Args:
      generator: takes a number of samples and returns that many.
      buckets: intervals `(low, high)`, each with its upper end excluded, or single values.
      probs: the probability of each bucket.
      nsamples: how many samples to draw.

    Returns:
      The p-value, how many samples each bucket had, and how many were expected.

    Raises:
      AssertionError: there are no buckets, or not a probability for each.
    """
    if len(buckets) == 0 or len(buckets) != len(probs):
        raise AssertionError(f"{len(buckets)} buckets need as many probabilities, not {len(probs)}")
    samples = np.asarray(generator(nsamples)).reshape(-1)
    if isinstance(buckets[0], list | tuple):
        observed = [int(((samples >= low) & (samples < high)).sum()) for low, high in buckets]
    else:
        observed = [int((samples == value).sum()) for value in buckets]
    observed, expected = np.array(observed), len(samples) * np.asarray(probs, np.float64)
    statistic = ((observed - expected) ** 2 / expected).sum()
    # Samples outside all buckets, where there should be none, show as too few inside.
    p = float(special.chdtrc(max(len(buckets) - 1, 1), statistic))
    return p, observed, expected


def verify_generator(
    generator: Generator,
    buckets: Sequence,
    probs: Sequence[float],
    nsamples=1000000,
    nrepeat=5,
    success_rate=0.2,
    alpha=0.05,
) -> list[float]:
    """Repeats the chi-square test and asserts that it passes often enough.

    Args:
      generator, buckets, probs, nsamples: see `chi_square_check`.
      nrepeat: how often.
      success_rate: the share that must pass.
      alpha: the p-value that passes.

    Returns:
      The p-values.

    Raises:
      AssertionError: too few passed; with what was observed and expected.
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    values = [p for p, _, _ in results]
    if sum(p > alpha for p in values) < nrepeat * success_rate:
        raise AssertionError(
            f"Generator test fails, Chi-square p={values}, "
            f"observed={[o.tolist() for _, o, _ in results]}, "
            f"expected={results[0][2].tolist()}; buckets={buckets}, probs={probs}"
        )
    return values
