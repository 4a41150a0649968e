"""Philox4x32-10 in Python integers, after Salmon and others (SC 2011)."""

import numpy as np


def block(counter, key):
    """The four words for a counter of four words and a key of two."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return c


def uniform(key, size, double=False):
    """The numbers in [0, 1) of `random_uniform`, float64."""
    out = []
    for i in range(size):
        if double:
            words, w = block((i // 64 * 32 + i % 32, 0, 0, 0), key), i // 32 % 2
            out.append((words[2 * w] << 21 | words[2 * w + 1] >> 11) / 2.0**53)
        else:
            words = block((i // 128 * 32 + i % 32, 0, 0, 0), key)
            out.append((words[i // 32 % 4] >> 8) / 2.0**24)
    return np.array(out)


def random_uniform(key, bounds, *, shape, dtype):
    """Numbers from `bounds[0]` on over a range of `bounds[1]`, at most `bounds[2]`."""
    low, scale, top = bounds.astype(np.float64)
    u = uniform(key.tolist(), int(np.prod(shape)), double=dtype == np.float64)
    return np.minimum(u * scale + low, top).reshape(shape).astype(dtype)
