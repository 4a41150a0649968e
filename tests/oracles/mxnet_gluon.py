"""Programs in Gluon, and what MXNet 1.9.1 makes of them.

Run with MXNet's Python, this writes `tests/gluon/mxnet_gluon.json`. The tests run the same functions
with `rarefy` in place of `mxnet` and compare. Everything here is within what both can do.
"""

import base64
import contextlib
import io
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np

FEATURES = 12


def kind(call):
    """The kinds of error that what a call raises is, as far as Python knows them; none if nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:
            return [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][:-3]
    return []


def a_net(mx, **settings):
    """A block that has children inside and outside its scope and a parameter of its own."""

    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.outer = mx.gluon.nn.Dense(3)
            with self.name_scope():
                self.inner = mx.gluon.nn.Dense(2, activation="tanh")
                self.scale = self.params.get("scale", shape=(1, 2), init="ones")

        def hybrid_forward(self, F, x, scale):
            return F.broadcast_mul(self.inner(self.outer(x)), scale)

    return Net(**settings)


def names(mx):
    """Names, prefixes and what is printed, in the order in which blocks are made."""
    nn = mx.gluon.nn
    with mx.name.NameManager():
        nets = [a_net(mx), a_net(mx), a_net(mx, prefix="mine_"), a_net(mx, prefix="")]
        stack = nn.HybridSequential()
        stack.add(nn.Dense(3), nn.Dense(2))
        with stack.name_scope():
            stack.add(nn.Dense(4, activation="relu"), a_net(mx))
        twin = nn.Dense(4, params=stack[2].params)
        found = {}
        for i, block in enumerate([*nets, stack, stack[1:], twin]):
            found[f"block {i}"] = [
                block.name,
                block.prefix,
                list(block.collect_params()),
                list(block.collect_params(".*weight|.*scale")),
                block.params.prefix,
                repr(block),
            ]
        stack.initialize()
        stack(mx.nd.ones((2, 5)))
        found["params"] = repr(stack.collect_params("hybridsequential0_.*"))
        found["shapes"] = [list(p.shape) for p in stack.collect_params().values()]
        return found


def summary(mx):
    """What `summary` prints."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.BatchNorm(), nn.Dense(3, activation="relu"))
    shared = nn.Dense(3, params=net[2].params)
    net.add(shared)
    net.initialize()
    net(mx.nd.ones((4, 5)))
    net[0].collect_params().setattr("grad_req", "null")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        net.summary(mx.nd.ones((4, 5)))
    return [line.rstrip() for line in text.getvalue().splitlines()]


def errors(mx):
    """The kinds of error of each of many calls, the nearest first."""
    gluon, nn = mx.gluon, mx.gluon.nn
    unset = gluon.Parameter("unset", shape=(2, 2))
    later = gluon.Parameter("later", shape=(2, 0), allow_deferred_init=True)
    later.initialize()
    ready = gluon.Parameter("ready", shape=(2, 2))
    ready.initialize()
    frozen = gluon.Parameter("frozen", shape=(2, 2), grad_req="null")
    frozen.initialize()
    rows = gluon.Parameter("rows", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    rows.initialize()
    params = gluon.ParameterDict("d_")
    params.get("w", shape=(2, 0), allow_deferred_init=True)
    params.get_constant("c", [[1.0, 2.0]])
    other = gluon.ParameterDict("d_")
    other.get("w", shape=(2, 3))
    other.initialize()
    dense = nn.Dense(2)
    dense.initialize()
    hybrid = nn.HybridSequential()
    x = mx.nd.ones((2, 3))

    def assign(block, name, value):
        setattr(block, name, value)

    def trained(**settings):
        trainer = gluon.Trainer([rows], "sgd", {}, **settings)
        trainer._init_kvstore()

    net = a_net(mx)
    made = gluon.Trainer([ready], mx.optimizer.SGD())
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "x.params")
        plain = nn.Dense(2, in_units=3)
        plain.initialize()
        plain.save_parameters(file)
        wide = nn.HybridSequential()
        wide.add(nn.Dense(2, in_units=3))
        wide.initialize()
        wide_file = os.path.join(folder, "y.params")
        wide.save_parameters(wide_file)
        two = nn.HybridSequential()
        two.add(nn.Dense(2, in_units=3), nn.Dense(2, in_units=2))
        narrow = nn.HybridSequential()
        narrow.add(nn.Dense(2, in_units=4))
        half = nn.HybridSequential()
        half.add(nn.Dense(2, in_units=3, dtype="float16"))
        loads = {
            "load: missing": kind(lambda: two.load_parameters(wide_file)),
            "load: missing allowed": kind(
                lambda: two.load_parameters(wide_file, allow_missing=True)
            ),
            "load: too much": kind(lambda: hybrid.load_parameters(wide_file)),
            "load: shape": kind(lambda: narrow.load_parameters(wide_file)),
            "load: dtype": kind(lambda: half.load_parameters(wide_file)),
            "load: dtype cast": kind(lambda: half.load_parameters(wide_file, cast_dtype=True)),
            "load: contexts": kind(lambda: wide.load_parameters(wide_file, ctx=mx.cpu(1))),
            "load: no prefix": kind(lambda: plain.collect_params().load(file)),
        }
    calls = {
        "data of unset": unset.data,
        "grad of unset": unset.grad,
        "list_ctx of unset": unset.list_ctx,
        "reset_ctx of unset": lambda: unset.reset_ctx(mx.cpu()),
        "set_data of unset": lambda: unset.set_data(mx.nd.ones((2, 2))),
        "data of later": later.data,
        "list_ctx of later": later.list_ctx,
        "zero_grad of unset": unset.zero_grad,
        "initialize without a shape": gluon.Parameter("p", shape=(0, 2)).initialize,
        "shape that is another": lambda: assign(ready, "shape", (3, 2)),
        "set_data of another shape": lambda: ready.set_data(mx.nd.ones((3, 2))),
        "grad_req": lambda: assign(ready, "grad_req", "never"),
        "stype": lambda: gluon.Parameter("p", stype="coo"),
        "grad_stype": lambda: gluon.Parameter("p", grad_stype="coo"),
        "grad of frozen": frozen.grad,
        "list_grad of frozen": frozen.list_grad,
        "other context": lambda: ready.data(mx.cpu(3)),
        "data of rows": rows.data,
        "list_data of rows": rows.list_data,
        "row_sparse_data of default": lambda: ready.row_sparse_data(mx.nd.array([1])),
        "second trainer of rows": lambda: [gluon.Trainer([rows], "sgd") for _ in range(2)],
        "get: shape": lambda: (params.get("w", shape=(2, 3)), params.get("w", shape=(2, 4))),
        "get: shape known now": lambda: params.get("w", shape=(0, 3)),
        "get: dtype": lambda: params.get("w", dtype="float16"),
        "get_constant: none": lambda: params.get_constant("d"),
        "get_constant: same": lambda: params.get_constant("c", np.array([[1.0, 2.0]])),
        "get_constant: other": lambda: params.get_constant("c", np.array([[1.0, 3.0]])),
        "get_constant: no constant": lambda: params.get_constant("w", [1.0]),
        "update: same name": lambda: params.update(other),
        "no such parameter": lambda: params["w"],
        "save: prefix": lambda: other.save(os.devnull, strip_prefix="e_"),
        "load: restore_prefix": lambda: other.load(os.devnull, restore_prefix="e_"),
        "attribute of another type": lambda: assign(net, "inner", 3),
        "parameter again": lambda: assign(net, "scale", ready),
        "child that is no hybrid": lambda: hybrid.add(nn.Sequential()),
        "no array": lambda: dense(3),
        "summary of hybridized": lambda: (hybrid.hybridize(), hybrid.summary(x)),
        "forward not overridden": lambda: mx.gluon.Block()(x),
        "hybrid_forward not overridden": lambda: mx.gluon.HybridBlock()(x),
        "trainer of a number": lambda: gluon.Trainer([1], "sgd"),
        "trainer of nothing": lambda: gluon.Trainer(3, "sgd"),
        "trainer of unset": lambda: gluon.Trainer([unset], "sgd"),
        "trainer: settings twice": lambda: gluon.Trainer(
            [ready], mx.optimizer.SGD(), {"learning_rate": 1}
        ),
        "trainer: unknown optimizer": lambda: gluon.Trainer([ready], "nothing"),
        "stale": lambda: made.step(1),
        "stale ignored": lambda: made.step(1, ignore_stale_grad=True),
        "learning rate of a schedule": lambda: gluon.Trainer(
            [ready], "sgd", {"lr_scheduler": mx.lr_scheduler.FactorScheduler(2)}
        ).set_learning_rate(1),
    }
    found = {name: kind(call) for name, call in calls.items()}
    rows._trainer = None
    found["rows: update_on_kvstore"] = kind(lambda: trained(update_on_kvstore=False))
    return {**found, **loads}


def weights(shapes, seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes]


def sparse_net(mx):
    """A sparse layer, statistics, and dense layers; with first values that do not depend on chance."""
    nn = mx.gluon.nn

    class Sparse(mx.gluon.HybridBlock):
        def __init__(self, features, units):
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get(
                    "weight", shape=(features, units), grad_stype="row_sparse", lr_mult=2.0
                )
                self.bias = self.params.get("bias", shape=(units,), init="zeros")

        def hybrid_forward(self, F, x, weight, bias):
            return F.broadcast_add(F.sparse.dot(x, weight), bias)

    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Sparse(FEATURES, 4), nn.BatchNorm(), nn.Dense(3, activation="sigmoid"), nn.Dense(1))
    net.initialize()
    net(mx.nd.zeros((2, FEATURES)).tostype("csr"))
    params = list(net.collect_params().values())
    for param, value in zip(params, weights([p.shape for p in params], 5), strict=True):
        if "running" not in param.name:
            param.set_data(mx.nd.array(value))
    return net


def batches(mx, sizes=(6, 6)):
    for i, rows in enumerate(sizes):
        rng = np.random.default_rng(i)
        x = rng.standard_normal((rows, FEATURES)).astype(np.float32)
        x *= rng.random((rows, FEATURES)) < 0.3
        y = rng.standard_normal((rows, 1)).astype(np.float32)
        yield mx.nd.array(x).tostype("csr"), mx.nd.array(y)


OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
    "adam": {"learning_rate": 0.05, "wd": 0.01},
    "adagrad": {"learning_rate": 0.1},
}


def eager_step(mx, net, loss, trainer):
    """The step that a loop in Gluon does."""

    def step(x, y):
        with mx.autograd.record():
            value = loss(net(x), y)
        value.backward()
        trainer.step(x.shape[0])
        return value

    return step


def train(mx, name, make_step=eager_step, hybridize=False):
    """Losses and all parameters after some steps."""
    net = sparse_net(mx)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), name, dict(OPTIMIZERS[name]))
    step = make_step(mx, net, mx.gluon.loss.L2Loss(), trainer)
    losses = [step(x, y).asnumpy().tolist() for x, y in batches(mx)]
    return {"losses": losses, "params": values_of(net)}, trainer, net, step


def values_of(net):
    return {name: p.data().asnumpy().tolist() for name, p in net.collect_params().items()}


def encoded(path):
    return base64.b64encode(Path(path).read_bytes()).decode()


def files(mx):
    """Parameters and states in files, and how training goes on from them."""
    _, trainer, net, step = train(mx, "adam")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        net.save_parameters(path)
        found["parameters"] = encoded(path)
        net.collect_params().save(path)
        found["full names"] = encoded(path)
        net.collect_params().save(path, strip_prefix=net.prefix)
        found["without prefix"] = encoded(path)
        trainer.save_states(path)
        found["states"] = encoded(path)
    found["values"] = values_of(net)
    for x, y in batches(mx):
        step(x, y)
    found["further"] = values_of(net)
    return found


if __name__ == "__main__":
    import mxnet

    warnings.simplefilter("ignore")
    recorded = {
        "names": names(mxnet),
        "summary": summary(mxnet),
        "errors": errors(mxnet),
        "training": {name: train(mxnet, name)[0] for name in OPTIMIZERS},
        "files": files(mxnet),
    }
    out = Path(__file__).parents[1] / "gluon" / "mxnet_gluon.json"
    out.write_text(json.dumps(recorded, indent=1) + "\n")
