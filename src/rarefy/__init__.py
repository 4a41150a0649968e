"""Sparse storage types for machine learning, on JAX with C++ kernels.

`import rarefy as mx` gives MXNet's names; `from rarefy import sparse` gives those of
`jax.experimental.sparse`.
"""

from rarefy import (
    autograd,
    base,
    context,
    initializer,
    io,
    lr_scheduler,
    nd,
    optim,
    optimizer,
    random,
    sparse,
)
from rarefy import initializer as init
from rarefy import nd as ndarray
from rarefy._config import config
from rarefy._version import __version__ as __version__
from rarefy.base import MXNetError
from rarefy.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
