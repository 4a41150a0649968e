"""The ladder of sizes: how many slots to make, so that few shapes are compiled."""

SMALLEST = 16
LAST_DOUBLING = 2**20

# Up to here an eager result has the slots that a compiled one has, which nobody has to count; beyond,
# as many as it needs.
FEW_SLOTS = 4096


def capacity(n: int, limit: int | None = None) -> int:
    """Rounds a number of stored elements up to the next rung of the ladder.

    The rungs are the powers of two from 16 to 2**20 and from there 1, 1.25, 1.5 and 1.75 times a
    power of two, so that a big buffer wastes at most a fifth of its slots.

    Args:
      n: how many elements must fit; not negative.
      limit: the most that can ever be stored, such as the number of rows. None: no limit.

    Returns:
      The smallest rung `>= n`, or `limit` where that is smaller.

    Raises:
      ValueError: `n` is negative or exceeds `limit`.
    """
    if n < 0:
        raise ValueError(f"capacity: n must not be negative, got {n}")
    if limit is not None and n > limit:
        raise ValueError(f"capacity: n {n} exceeds the limit {limit}")
    rung = max(SMALLEST, 1 << max(n - 1, 0).bit_length())
    if rung > LAST_DOUBLING:
        step = rung // 8
        rung = -(-n // step) * step
    return rung if limit is None else min(rung, limit)
