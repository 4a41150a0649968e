"""Tables and numbers for the rules of optimizers."""

import numpy as np

from rarefy._primitives.rows_update import RULES

MORE = {"momentum": 0.9, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-4, "lamda1": 0.3, "beta": 0.5}


def hyper_of(rule, dtype=np.float32, **changed):
    """The numbers of a rule, `changed` in place of the usual ones."""
    values = {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 1.0, **MORE, **changed}
    return np.array([values[name] for name in RULES[rule].hyper], dtype)


def tables_of(rng, rule, shape, dtype=np.float32):
    """A weight and its states, which are not negative."""
    states = [np.abs(rng.standard_normal(shape)) for _ in RULES[rule].states]
    return tuple(x.astype(dtype) for x in (rng.standard_normal(shape), *states))
