"""Random numbers, each a function of a key and of its place."""

import math

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.interpreters import batching

from rarefy._primitives._batching import one_by_one
from rarefy._primitives._define import Form, bind, define, like, public

BLOCKS = 32
"""Blocks of four words that are drawn together; it fixes which element gets which word."""


@public("shape", "dtype")
def random_uniform(
    key, low=0.0, high=1.0, *, shape: tuple[int, ...], dtype, form: Form = "auto"
) -> jax.Array:
    """Draws uniform random numbers.

    An element depends on the key and its place alone, so neither threads nor the rest of the array
    change it. Element i of a float32 array comes from word `i // 32 % 4` of block
    `i // 128 * 32 + i % 32` of the generator, whose leading 24 bits make a number in [0, 1); a
    float64 takes the words 2w and 2w + 1 of a block, w = `i // 32 % 2`, in arrays of 64 in place of
    128, and 53 bits.

    Args:
      key: a key of `jax.random` (`()`, its type free), or its data, `(2,)` or `(4,)` uint32.
      low, high: scalars, operands: new bounds compile nothing.
      shape: of the result.
      dtype: float32, float64, float16 or bfloat16.
      form: which implementation to use.

    Returns:
      `shape`, `dtype`: `low + (high - low) * u`, less than `high` where `low < high`; 16-bit floats
      are rounded from float32. Both forms give the same bits, but for the last one where only one
      of them contracts the multiplication and the addition.

    Raises:
      ValueError: the key has another shape, or the array 2**34 elements or more.
      TypeError: `dtype` is no such type.

    Cost: O(size). The kernel is bound by the memory that it fills first, which it asks for in huge
    pages: some eight times faster than `jax.random.uniform`.
    Source: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3;
    SC 2011).
    """
    dtype = jnp.dtype(dtype)
    if not jnp.issubdtype(dtype, jnp.floating) or dtype.itemsize < 2:
        raise TypeError(f"random_uniform: dtype must be a float of 16 to 64 bits, got {dtype}")
    if math.prod(shape) >= 2**34:
        raise ValueError(f"random_uniform: at most 2**34 - 1 elements, got {shape}")
    wide = jnp.promote_types(dtype, jnp.float32)
    low, high = jnp.asarray(low, wide), jnp.asarray(high, wide)
    top = jnp.nextafter(high.astype(dtype), low.astype(dtype)).astype(wide)
    bounds = jnp.stack([low, high - low, top])
    return bind("random_uniform", _words(key), bounds, shape=shape, dtype=dtype, form=form)


def random_normal(key, *, shape: tuple[int, ...], dtype, form: Form = "auto") -> jax.Array:
    """Draws standard normal random numbers: quantiles of uniform ones.

    Args:
      key, shape, form: as `random_uniform` has them.
      dtype: float32 or float64.

    Returns:
      `shape`, `dtype`.

    Raises:
      As `random_uniform`.

    Cost: O(size).
    """
    dtype = jnp.dtype(dtype)
    above = np.nextafter(dtype.type(-1), dtype.type(0))  # the quantile of -1 itself is infinite
    u = random_uniform(key, above, 1, shape=shape, dtype=dtype, form=form)
    return dtype.type(math.sqrt(2)) * lax.erf_inv(u)


def _words(key):
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    if key.dtype != jnp.uint32 or key.shape not in ((2,), (4,)):
        raise ValueError(f"random_uniform: key must be (2,) or (4,) uint32, got {jax.typeof(key)}")
    return key if key.shape == (2,) else key[:2] ^ key[2:]


def _random_uniform_xla(key, bounds, *, shape, dtype):
    size, wide = math.prod(shape), bounds.dtype
    per_word = 1 if wide == jnp.float32 else 2
    chunk = 4 * BLOCKS // per_word
    chunks = -(-size // chunk)
    counter = lax.iota(jnp.uint32, chunks * BLOCKS).reshape(chunks, BLOCKS)
    words = philox(key[0], key[1], counter)
    if per_word == 1:
        u = [(w >> 8).astype(wide) * wide.type(2**-24) for w in words]
    else:
        u = [
            words[i].astype(wide) * wide.type(2**-32)
            + (words[i + 1] >> 11).astype(wide) * wide.type(2**-53)
            for i in (0, 2)
        ]
    low, scale, top = bounds
    values = jnp.minimum(jnp.stack(u, axis=1) * scale + low, top)
    return values.reshape(-1)[:size].reshape(shape).astype(dtype)


def philox(key0, key1, counter) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """The four words of Philox4x32-10 for the counters `(counter, 0, 0, 0)`.

    Args:
      key0, key1: `()`, uint32.
      counter: any shape, uint32.

    Returns:
      Four arrays of uint32, each of the shape of `counter`.
    """
    key0, key1 = jnp.asarray(key0), jnp.asarray(key1)
    zero = jnp.zeros_like(counter)
    c0, c1, c2, c3 = counter, zero, zero, zero
    for _ in range(10):
        high0, low0 = _multiply(c0, 0xD2511F53)
        high2, low2 = _multiply(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = high2 ^ c1 ^ key0, low2, high0 ^ c3 ^ key1, low0
        key0, key1 = key0 + np.uint32(0x9E3779B9), key1 + np.uint32(0xBB67AE85)
    return c0, c1, c2, c3


def _multiply(x, factor: int):
    """The high and the low word of a product of words, without 64-bit integers."""
    x_high, x_low = x >> 16, x & np.uint32(0xFFFF)
    f_high, f_low = np.uint32(factor >> 16), np.uint32(factor & 0xFFFF)
    cross, other = x_low * f_high, x_high * f_low
    carry = (x_low * f_low >> 16) + (cross & np.uint32(0xFFFF)) + (other & np.uint32(0xFFFF))
    high = x_high * f_high + (cross >> 16) + (other >> 16) + (carry >> 16)
    return high, x * np.uint32(factor)


def _random_uniform_abstract(key, bounds, *, shape, dtype):
    return like(bounds, shape, dtype)


def _supports(key, bounds) -> bool:
    return bounds.dtype in (np.float32, np.float64)


random_uniform_p = define(
    "random_uniform",
    abstract=_random_uniform_abstract,
    xla=_random_uniform_xla,
    supports=_supports,
)
batching.primitive_batchers[random_uniform_p] = one_by_one(random_uniform_p)
