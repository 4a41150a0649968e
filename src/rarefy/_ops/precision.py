"""64-bit types for the MXNet-style layer, without a global setting."""

import jax


def wide():
    """A context in which float64 and int64 exist. All operators of the MXNet-style layer run in it.

    It is local to the thread; dtypes never widen by themselves in it, as every operator keeps the
    dtypes of its arrays.
    """
    return jax.enable_x64(True)
