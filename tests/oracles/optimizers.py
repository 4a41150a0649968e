"""The optimizers in NumPy, row by row, as their papers and MXNet's documentation give them."""

import numpy as np

N_STATES = {"sgd": 0, "sgd_mom": 1, "adam": 2, "adagrad": 1, "ftrl": 2}
DEFAULTS = {
    "sgd": {"learning_rate": 0.01, "momentum": 0.0},
    "adam": {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
    "adagrad": {"learning_rate": 0.01, "eps": 1e-7},
    "ftrl": {"learning_rate": 0.1, "lamda1": 0.01, "beta": 1.0},
}


def trajectory(name, weight, gradients, *, lazy, states=None, **params):
    """Runs an optimizer in float64.

    Args:
      name: sgd, adam, adagrad or ftrl.
      weight: `(n, *d)`.
      gradients: for each step a dense array, or pairs of row and gradient; a row that comes twice
        has the sum of its gradients.
      lazy: whether pairs move their own rows only.
      states: what the states start from; zeros by default.
      **params: as the optimizer of this name takes them.

    Returns:
      The weight after each step, and the states at the end.
    """
    p = {"wd": 0.0, "rescale_grad": 1.0, "clip_gradient": None, **DEFAULTS[name], **params}
    w = np.array(weight, np.float64)
    count = N_STATES["sgd_mom" if name == "sgd" and p["momentum"] else name]
    s = [np.array(x, np.float64) for x in states] if states else [w * 0 for _ in range(count)]
    after = []
    for t, gradient in enumerate(gradients, 1):
        dense = np.zeros_like(w)
        rows = range(len(w))
        if isinstance(gradient, np.ndarray):
            dense += gradient
        else:
            for row, g in gradient:
                dense[row] += g
            rows = sorted({row for row, _ in gradient}) if lazy else rows
        for row in rows:
            own = [x[row] for x in s]
            w[row], own = _step(name, w[row], dense[row], own, t, p)
            for x, value in zip(s, own, strict=True):
                x[row] = value
        after.append(w.copy())
    return after, s


def _clip(g, bound):
    return g if not bound else np.clip(g, -bound, bound)


def _step(name, w, g, s, t, p):
    lr, wd = p["learning_rate"], p["wd"]
    g = g * p["rescale_grad"]
    if name == "sgd":
        step = -lr * (_clip(g, p["clip_gradient"]) + wd * w)
        if not s:
            return w + step, s
        mom = p["momentum"] * s[0] + step
        return w + mom, [mom]
    if name == "adam":
        g = _clip(g + wd * w, p["clip_gradient"])
        mean = p["beta1"] * s[0] + (1 - p["beta1"]) * g
        var = p["beta2"] * s[1] + (1 - p["beta2"]) * g**2
        rate = lr * np.sqrt(1 - p["beta2"] ** t) / (1 - p["beta1"] ** t)
        return w - rate * mean / (np.sqrt(var) + p["epsilon"]), [mean, var]
    g = _clip(g, p["clip_gradient"])
    if name == "adagrad":
        history = s[0] + g**2
        return w - lr * (g / np.sqrt(history + p["eps"]) + wd * w), [history]
    z, n = s
    sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / lr
    z, n = z + g - sigma * w, n + g**2
    shrunk = np.sign(z) * np.maximum(np.abs(z) - p["lamda1"], 0)
    return -shrunk / ((p["beta"] + np.sqrt(n)) / lr + wd), [z, n]
