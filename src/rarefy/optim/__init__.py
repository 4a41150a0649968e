"""Optimizers for JAX programs whose gradients are partly row_sparse; the form is that of optax."""

from rarefy.optim._apply import apply_updates
from rarefy.optim._norm import clip_by_global_norm, global_norm
from rarefy.optim._on_rows import on_rows
from rarefy.optim._optimizers import adagrad, adam, ftrl, sgd
from rarefy.optim._rule import RuleState
from rarefy.optim._transformation import GradientTransformation
