"""Sparse storage types for machine learning, on JAX with C++ kernels.

`import rarefy as mx` gives MXNet's names; `from rarefy import sparse` gives those of
`jax.experimental.sparse`.
"""

from rarefy import (
    attribute,
    autograd,
    base,
    callback,
    context,
    engine,
    executor,
    gluon,
    initializer,
    io,
    kvstore,
    lr_scheduler,
    metric,
    model,
    models,
    module,
    monitor,
    name,
    nd,
    operator,
    optim,
    optimizer,
    profiler,
    random,
    registry,
    sparse,
    sym,
    test_utils,
    util,
    visualization,
)
from rarefy import initializer as init
from rarefy import kvstore as kv
from rarefy import module as mod
from rarefy import monitor as mon
from rarefy import nd as ndarray
from rarefy import random as rnd
from rarefy import sym as symbol
from rarefy import visualization as viz
from rarefy._config import config
from rarefy._version import __version__ as __version__
from rarefy.attribute import AttrScope
from rarefy.base import MXNetError
from rarefy.context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from rarefy.executor import Executor
from rarefy.util import is_np_array, is_np_shape, np_shape, set_np_shape, use_np_shape
