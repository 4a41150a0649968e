"""The random state of the process: a key that every drawing operator moves on."""

import jax
import jax.numpy as jnp
import numpy as np

from rarefy._cell import Cell

_SEED = 0


def _fresh(seed: int) -> jax.Array:
    return jnp.asarray([seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF, 0], jnp.uint32)


STATE = Cell(_fresh(_SEED))
"""`(3,)` uint32: the two words of the seed and the number of keys drawn so far."""


def seed(seed_state: int, ctx="all") -> None:
    """Sets the random state; the same seed draws the same numbers.

    Args:
      seed_state: an integer.
      ctx: accepted for MXNet's sake; there is one state for all devices.

    Raises:
      ValueError: `seed_state` is no integer.
    """
    if isinstance(seed_state, bool) or not isinstance(seed_state, int | np.integer):
        raise ValueError(f"seed_state must be an integer; got {seed_state!r}")
    STATE.store(_fresh(int(seed_state)))


@jax.jit
def _draw(state):
    key = jax.random.fold_in(jax.random.wrap_key_data(state[:2]), state[2])
    return jax.random.key_data(key), state.at[2].add(jnp.uint32(1))


def next_key() -> jax.Array:
    """Draws a key, `(2,)` uint32, and moves the state on."""
    key, state = _draw(STATE.value)
    STATE.store(state)
    return key


def get_state() -> np.ndarray:
    """The random state, `(3,)` uint32, for a checkpoint."""
    return np.asarray(STATE.value)


def set_state(state) -> None:
    """Sets the random state to one that `get_state` returned.

    Raises:
      ValueError: it is no such state.
    """
    state = np.asarray(state)
    if state.shape != (3,) or state.dtype != np.uint32:
        raise ValueError(f"a random state is 3 uint32; got shape {state.shape}, {state.dtype}")
    STATE.store(jnp.asarray(state))
