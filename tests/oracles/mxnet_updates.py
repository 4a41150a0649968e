"""What MXNet 1.9.1's update operators make of given arrays.

    python tests/oracles/mxnet_updates.py       # with MXNet installed

writes what each call of `CALLS` returns, and what its arrays hold then, to
tests/optimizer/mxnet_updates.json.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "optimizer/mxnet_updates.json"
W, G = [[1.0, -1.0], [0.5, 2.0], [-0.25, 0.75]], [[0.5, -2.0], [1.0, 0.25], [-1.0, 0.125]]
S, P = [[0.25, -0.5], [0.125, 0.0], [-1.0, 0.5]], [[0.5, 0.25], [1.0, 2.0], [0.75, 1.5]]
ARRAYS = {"w": W, "g": G, "m": S, "v": P, "a": P, "b": P, "c": S, "r": [5.0], "q": [2.0]}
ARRAYS["k"] = [[0.1, -0.2], [0.05, 0.0], [-0.3, 0.2]]
ARRAYS |= {"lrs": [0.1, 0.2], "wds": [0.1, 0.0], "sums": [4.0, 9.0], "norms": [1.0, 0.0]}
FULL = {"lr": 0.1, "wd": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.4}
TWO = {"lrs": (0.1, 0.2), "wds": (0.1, 0.0), "rescale_grad": 0.5, "clip_gradient": 0.4}
LAMB = {"wd": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.4, "t": 3, "beta1": 0.8}
ONE = {**TWO, "lrs": (0.1,), "wds": (0.1,)}
SEVERAL = {**TWO, "num_weights": 2}
STEPS = {"step_count": (1, 3), "lrs": (0.1, 0.2), "wds": (0.1, 0.0)}
LOADED = {k: v for k, v in SEVERAL.items() if k not in ("lrs", "wds")}
# Name, arrays (`x16` in float16), parameters, and which arrays are `out`.
CALLS = [
    ("sgd_update", "w g", FULL, "w"),
    ("sgd_mom_update", "w g m", {**FULL, "momentum": 0.9}, ""),
    ("mp_sgd_update", "w16 g16 w", FULL, "w16"),
    ("mp_sgd_mom_update", "w16 g16 m w", {**FULL, "momentum": 0.9}, "w16"),
    ("nag_mom_update", "w g m", {**FULL, "momentum": 0.9}, "w"),
    ("mp_nag_mom_update", "w16 g16 m w", {**FULL, "momentum": 0.9}, "w16"),
    ("signsgd_update", "w g", FULL, "w"),
    ("signum_update", "w g m", {**FULL, "momentum": 0.9, "wd_lh": 0.1}, "w"),
    ("adam_update", "w g m v", FULL, "w"),
    ("ftrl_update", "w g m v", {**FULL, "lamda1": 0.1}, "w"),
    ("ftml_update", "w g v a m", {"lr": 0.1, "wd": 0.1, "clip_grad": 0.4, "t": 3}, "w"),
    ("rmsprop_update", "w g v", {**FULL, "clip_weights": 0.9}, "w"),
    ("rmspropalex_update", "w g v k c", {**FULL, "clip_weights": 0.9}, "w"),
    ("contrib.adamw_update", "w g m v 0.5", {"lr": 0.1, "wd": 0.1, "eta": 0.5}, "w"),
    ("contrib.adamw_update", "w g m v r", {"lr": 0.1, "wd": 0.1, "eta": 0.5}, "w"),
    ("contrib.adamw_update", "w g m v nan", {"lr": 0.1, "wd": 0.1, "eta": 0.5}, "w"),
    ("contrib.adamw_update", "w g m v inf", {"lr": 0.1, "wd": 0.1, "eta": 0.5}, "w"),
    ("contrib.adamw_update", "w g m v 0.0", {"lr": 0.1, "wd": 0.1, "eta": 0.5}, "w"),
    ("contrib.mp_adamw_update", "w16 g16 m v w 0.5", {"lr": 0.1, "eta": 0.5}, "w16"),
    ("lamb_update_phase1", "w g m v", LAMB, ""),
    ("lamb_update_phase1", "w g m v", {**LAMB, "bias_correction": False}, ""),
    ("mp_lamb_update_phase1", "w16 g16 m v w", LAMB, ""),
    ("lamb_update_phase2", "w g r q", {"lr": 0.1}, "w"),
    ("lamb_update_phase2", "w g r q", {"lr": 0.1, "upper_bound": 3.0}, "w"),
    ("lamb_update_phase2", "w g r q", {"lr": 0.1, "lower_bound": 8.0}, "w"),
    ("multi_sgd_update", "w g v m", SEVERAL, "w v"),
    ("multi_sgd_mom_update", "w g m v c a", {**SEVERAL, "momentum": 0.9}, "w v"),
    ("multi_mp_sgd_update", "w16 g16 w m16 c16 v", SEVERAL, "w16 m16"),
    ("multi_mp_sgd_mom_update", "w16 g16 m w", {**ONE, "momentum": 0.9}, "w16"),
    ("preloaded_multi_sgd_update", "w g v m lrs wds", LOADED, "w v"),
    ("preloaded_multi_sgd_mom_update", "w g m v c a lrs wds", {**LOADED, "momentum": 0.9}, "w v"),
    ("preloaded_multi_mp_sgd_update", "w16 g16 w m16 c16 v lrs wds", LOADED, "w16 m16"),
    ("multi_lars", "lrs sums norms wds", {"eta": 0.5, "eps": 0.1, "rescale_grad": 2.0}, ""),
    (
        "contrib.multi_adamw_update",
        "w,v g,c m,b a,q 0.5",
        {"lrs": (0.1, 0.2), "wds": (0.1, 0.0), "etas": (0.5, 1.0)},
        "w v",
    ),
    (
        "contrib.multi_lamb_update",
        "w,v g,c m,b a,q",
        {**STEPS, "lower_bound": 1.0, "upper_bound": 2.0, "rescale_grad": 0.5},
        "w v",
    ),
]


def run(nd, call):
    """Makes a call; returns a list of what it returned, and the arrays that it was given by name.

    Args:
      nd: the module of MXNet or of what is to be like it.
      call: one of `CALLS`.
    """
    name, words, params, out = call
    made = {}

    def array(word):
        if word in made:
            return made[word]
        try:
            return float(word)
        except ValueError:
            dtype = "float16" if word.endswith("16") else "float32"
            values = ARRAYS[word.removesuffix("16")]
            if word == "q" and "," in words:
                values = P
            made[word] = nd.array(values, dtype=dtype)
            return made[word]

    special = {"nan": np.nan, "inf": np.inf}
    given = []
    for word in words.split():
        if word in special:
            given.append(nd.array([special[word]]))
        elif "," in word:
            given.append([array(part) for part in word.split(",")])
        else:
            given.append(array(word))
    function = nd
    for part in name.split("."):
        function = getattr(function, part)
    outs = [made[word] for word in out.split()]
    if outs:
        params = {**params, "out": outs[0] if len(outs) == 1 else outs}
    result = function(*given, **params)
    result = list(result) if isinstance(result, list | tuple) else [result]
    return result, made


def record() -> None:
    """Runs MXNet and writes the file."""
    import mxnet as mx

    lines = []
    for call in CALLS:
        result, made = run(mx.nd, call)
        arrays = {word: _numbers(a) for word, a in made.items()}
        found = {"call": [call[0], call[1]], "result": [_numbers(r) for r in result]}
        lines.append(json.dumps({**found, "arrays": arrays}))
    calls = ",\n".join(lines)
    FILE.write_text(f'{{"source": "MXNet 1.9.1, CPU", "calls": [\n{calls}\n]}}\n')


def _numbers(array):
    return np.vectorize(lambda x: float(f"{x:.8g}"))(array.asnumpy()).tolist()


if __name__ == "__main__":
    record()
