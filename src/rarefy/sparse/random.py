"""`jax.experimental.sparse.random` under its name."""

from rarefy.sparse._random import random_bcoo as random_bcoo
