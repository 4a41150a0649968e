"""What MXNet 1.9.1 answers to calls of what training is made of: stores, iterators, logs.

    python tests/oracles/mxnet_training.py       # with MXNet installed

writes the answers to tests/cases/mxnet_training.json; the tests run the same calls on rarefy. A call is
a few statements; what they `note` is the answer, and the kinds of an exception where one ends them.
"""

import json
import logging
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "cases" / "mxnet_training.json"

STORE = [
    "kv.init('a', A); kv.pull('a', out=O); note(O, kv.type, kv.rank, kv.num_workers)",
    "kv.init('a', A); kv.init('a', A)",
    "kv.init(['a', 'b'], [A, B]); kv.pull(['a', 'b'], out=[O, P]); note(O, P)",
    "kv.init(['a', 'b'], [A])",
    "kv.init('a', A); kv.init(3, A)",
    "kv.init([3, 'a'], [A, A])",
    "kv.init(1.5, A)",
    "kv.init('a', np.ones(3))",
    "kv.push('a', A)",
    "kv.pull('a', out=O)",
    "kv.init('a', A); kv.pull('a')",
    "kv.init(9, A); kv.push(9, [A, B, A * 5]); kv.pull(9, out=[O, P]); note(O, P)",
    "kv.init('a', A); kv.push('a', [A, B]); kv.push('a', B); kv.pull('a', out=O); note(O, B)",
    "kv.init('a', A); kv.push('a', nd.ones((3, 3))); kv.pull('a', out=O); note(O)",
    "kv.init(['a', 'b'], [A, A]); kv.push(['a', 'b'], [[A, B], [B, B]]); kv.pull('b', out=O); note(O)",
    "kv.init('a', A); kv.push(['a', 'a'], [A, B]); kv.pull('a', out=O); note(O)",
    "kv.init('a', A); kv.push('a', B.astype('float64')); kv.pull('a', out=O); note(O)",
    "kv.init('a', A); kv.pushpull('a', [A, B], out=O); note(O, A)",
    "kv.init('a', A); kv.pushpull('a', B); note(B)",
    "kv.broadcast('a', B, out=[O, P]); note(O, P)",
    "kv.broadcast('a', B, out=O); kv.broadcast('a', B, out=O)",
    "kv.init('r', R); kv.pull('r', out=Z); note(Z)",
    "kv.init('r', R); kv.pull('r', out=Z, ignore_sparse=False); note(Z)",
    "kv.init('r', R); kv.pull('r', out=D, ignore_sparse=False); note(D)",
    "kv.init('r', R); kv.row_sparse_pull('r', out=Z, row_ids=nd.array([3, 0, 3])); note(Z)",
    "kv.init('r', R); kv.row_sparse_pull('r', out=Z, row_ids=[nd.array([[4, 1], [1, 2]])]); note(Z)",
    "kv.init('r', R); kv.row_sparse_pull('r', out=[Z, Y], row_ids=nd.array([1, 0])); note(Z, Y)",
    "kv.init('r', R); kv.row_sparse_pull('r', out=[Z, Y],"
    " row_ids=[nd.array([1]), nd.array([3, 2], dtype='int64')]); note(Z, Y)",
    "kv.init(['r', 's'], [R, S]); kv.row_sparse_pull(['r', 's'], out=[Z, Y],"
    " row_ids=[nd.array([1]), nd.array([3, 2])]); note(Z, Y)",
    "kv.init(['r', 's'], [R, S]); kv.row_sparse_pull(['r', 's'], out=[Z, Y], row_ids=nd.array([1]))",
    "kv.init('r', R); kv.row_sparse_pull('r', out=D, row_ids=nd.array([1]))",
    "kv.init('r', R); kv.row_sparse_pull('r', out=Z)",
    "kv.init('r', R); kv.row_sparse_pull('r', row_ids=nd.array([1]))",
    "kv.init('r', D); kv.row_sparse_pull('r', out=Z, row_ids=nd.array([1]))",
    "kv.init('r', Z); kv.row_sparse_pull('r', out=Y, row_ids=nd.array([1, 3])); note(Y)",
    "kv.init('r', R); kv.push('r', [R, S]); kv.pull('r', out=Z, ignore_sparse=False); note(Z)",
    "kv.init('r', R); kv.push('r', D + 1); kv.pull('r', out=D, ignore_sparse=False); note(D)",
    "kv.init('d', D); kv.push('d', [R, D + 1]); kv.pull('d', out=D); note(D)",
    "kv.init('d', D); kv.push('d', [R, S]); kv.pull('d', out=D); note(D)",
    "kv.init('d', D); kv.push('d', D.tostype('csr'))",
    "kv.set_gradient_compression({'type': '2bit'})",
    "kv = device; kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5}); kv.init('a', A)\n"
    "for i in range(4):\n    kv.push('a', [G, G * 2]); kv.pull('a', out=O); note(O)",
    "kv = device; kv.set_gradient_compression({'type': '2bit'}); kv.init('a', A)\n"
    "for i in range(3):\n    kv.push('a', G); kv.pull('a', out=O); note(O)",
    "device.set_gradient_compression({'type': '3bit'})",
    "device.set_gradient_compression({'threshold': 1})",
    "device.set_gradient_compression({'type': '2bit', 'threshold': -1})",
    "kv.init(0, A); kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))\n"
    "for i in range(3):\n    kv.push(0, [A, B]); kv.pull(0, out=O); note(O)",
    "kv.init('r', R); kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, wd=0.1))\n"
    "kv = kv; kv.init('w', nd.ones((5, 2)).tostype('row_sparse')); kv.push('w', [R, S])\n"
    "kv.row_sparse_pull('w', out=Z, row_ids=nd.array([0, 1, 3])); note(Z)",
    "kv.init('a', A); kv._set_updater(lambda k, g, w: w.__iadd__(g * 2))\n"
    "kv.push('a', [A, B]); kv.pull('a', out=O); note(O, A, B)",
    "kv.init(5, A); kv._set_updater(lambda k, g, w: note(k, g, w)); kv.push(5, [A, B])",
    "kv.save_optimizer_states(folder + '/s')",
    "kv.load_optimizer_states(folder + '/s')",
    "mx.kv.create(3)",
    "note(kv.is_capable('optimizer')); kv.is_capable('x')",
]

_EPOCHS = (
    "def epochs(it, n, reset='reset'):\n"
    "    for _ in range(n):\n"
    "        for b in it: note(b.data[0], b.label[0] if b.label else [], b.pad)\n"
    "        getattr(it, reset)()\n"
)
ITERATORS = [
    _EPOCHS + f"np.random.seed({size})\nepochs(mx.io.NDArrayIter(X, Y, {size}, shuffle={shuffle}, "
    f"last_batch_handle='{handle}'), 3, '{reset}')"
    for size, shuffle, handle, reset in [
        (3, False, "pad", "reset"),
        (3, True, "pad", "reset"),
        (3, True, "discard", "reset"),
        (3, False, "roll_over", "reset"),
        (3, True, "roll_over", "reset"),
        (3, False, "roll_over", "hard_reset"),
        (7, False, "roll_over", "reset"),
        (7, True, "pad", "reset"),
        (4, False, "roll_over", "reset"),
    ]
] + [
    "it = mx.io.NDArrayIter({'b': X, 'a': nd.array(Y, dtype='int32')}, [Y, X], 2)\n"
    "b = it.next(); note(b.data, b.label, it.provide_data, it.provide_label)",
    "it = mx.io.NDArrayIter([X, Y], None, 2, data_name='d'); note(it.provide_data, it.provide_label)",
    "it = mx.io.NDArrayIter(X, Y, 3, last_batch_handle='roll_over'); it.next(); it.reset()\n"
    "note(it.next().data[0], it.iter_next(), it.getpad(), it.getlabel())",
    "it = mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 3), 5)\n"
    + _EPOCHS
    + "note(it.provide_data, it.batch_size); epochs(it, 2)",
    "it = mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 3), 2, reset_internal=False)\n"
    + _EPOCHS
    + "epochs(it, 3); it.next(); note(it.getdata(), it.getpad())",
    "it = mx.io.PrefetchingIter([mx.io.NDArrayIter(X, Y, 3), mx.io.NDArrayIter({'q': Y}, None, 3)],"
    " rename_data=[{'data': 'u'}, {'q': 'v'}])\n"
    "note(it.provide_data, it.provide_label, it.batch_size)\n"
    "for _ in range(2):\n"
    "    for b in it: note(b.data, b.label, b.pad, b.provide_data)\n"
    "    it.reset()",
    "it = mx.io.PrefetchingIter(mx.io.NDArrayIter(X, Y, 3)); note(it.iter_next(), it.getpad())\n"
    "note(it.getdata(), it.getlabel(), it.getindex()); it.reset(); note(it.next().data)",
    "it = mx.io.CSVIter(data_csv=D, data_shape=(3,), label_csv=L, batch_size=2)\n"
    "note(it.provide_data, it.provide_label)\n"
    "for b in it: note(b.data, b.label, b.pad, b.index, it.getdata(), it.getlabel(), it.getpad())",
    "it = mx.io.CSVIter(data_csv=D, data_shape=(3, 1), batch_size=5, dtype='int64')\n"
    "for b in it: note(b.data, b.label, b.pad)",
    "it = mx.io.CSVIter(data_csv=D, data_shape=(3,), label_csv=D, label_shape=(3,), batch_size=5)\n"
    "for b in it: note(b.label)",
    "list(mx.io.CSVIter(data_csv=D, data_shape=(4,), batch_size=5))",
    "list(mx.io.LibSVMIter(data_libsvm=V, data_shape=(9,), batch_size=2))",
]

METRICS = [
    "m = mx.metric.create('f1'); m.update([nd.array([0, 1, 2])], [nd.array(np.eye(3))])",
    "m = mx.metric.create('mcc'); m.update([nd.array([0, 1, 2])], [nd.array(np.eye(3))])",
    "m = mx.metric.create('acc'); m.update([nd.array([0, 1])], [nd.array(np.eye(3))])",
    "m = mx.metric.create('top_k_accuracy', top_k=1)",
    "m = mx.metric.create('nope')",
    "m = mx.metric.create(['acc', 'ce']); m.update([nd.array([0, 2])], [nd.array(np.eye(3)[:2])])\n"
    "note(m.get(), m.get_name_value())",
    "m = mx.metric.np(lambda l, p: float((l == p.argmax(1)).sum()), name='hits')\n"
    "m.update([nd.array([0, 2])], [nd.array(np.eye(3)[:2])]); note(m.get())",
    "m = mx.metric.create('perplexity', ignore_label=0)\n"
    "m.update([nd.array([0, 1])], [nd.array([[.5, .5], [.25, .75]])]); note(m.get())",
    "m = mx.metric.create('acc'); m.update_dict({'l': nd.array([0, 1])}, {'o': nd.array([1, 1])})\n"
    "note(m.get(), m.get_global())",
    "m = mx.metric.Loss(); m.update(None, [nd.array([1, 2, 3])]); note(m.get())",
]

LOGS = [
    f"m = mx.metric.create('acc'); m.update([nd.array([0, 1])], [nd.array([[.9, .1], [.9, .1]])])\n"
    f"c = {made}\n"
    f"for i in range(7):\n    c(mx.model.BatchEndParam(2, i, {metric}, None))"
    for made, metric in [
        ("mx.callback.Speedometer(10, 2)", "m"),
        ("mx.callback.Speedometer(10, 3, auto_reset=False)", "m"),
        ("mx.callback.Speedometer(10, 2)", "None"),
        ("mx.callback.ProgressBar(6, 10)", "m"),
        ("mx.callback.log_train_metric(2)", "m"),
        ("mx.callback.log_train_metric(3, auto_reset=True)", "m"),
        ("mx.callback.LogValidationMetricsCallback()", "m"),
    ]
] + [
    "note(mx.model.BatchEndParam(1, 2, 3, 4)._asdict())",
]

_RUN = (
    "def run(mod, it, n=2, **options):\n"
    "    mod.bind(it.provide_data, it.provide_label, **options)\n"
    "    mod.init_params(arg_params=weights(mod), aux_params={}, allow_missing=True)\n"
    "    mod.init_optimizer(kvstore=store, optimizer=optimizer, optimizer_params=params)\n"
    "    for _ in range(n):\n"
    "        it.reset()\n"
    "        for b in it:\n"
    "            mod.prepare(b, sparse_row_id_fn=row_ids); mod.forward_backward(b)\n"
    "            note(mod.get_outputs()); mod.update()\n"
    "    note(sorted(mod.get_params()[0].items()))\n"
)
_SETUP = "store, optimizer, params, row_ids = 'local', 'sgd', {'learning_rate': 0.5}, None\n"
_TWO = "context=[mx.cpu(0), mx.cpu(1)]"
MODULE = [
    _SETUP + _RUN + call
    for call in [
        "store = mx.kv.create('device')\nrun(mx.mod.Module(mlp()), batches())",
        "store = None\n" + f"run(mx.mod.Module(mlp(), {_TWO}), batches())",
        f"m = mx.mod.Module(mlp(), {_TWO}, work_load_list=[1, 3])\n"
        "run(m, batches(), inputs_need_grad=True)\n"
        "note(m.get_input_grads(), m.get_outputs(False), m.output_shapes, m.data_shapes)",
        "run(mx.mod.Module(mlp(), fixed_param_names=['fc1_weight', 'fc1_bias']), batches())",
        "run(mx.mod.Module(mlp()), batches(), grad_req='add')",
        "run(mx.mod.Module(sparse('row_sparse'), label_names=['label']), rows())",
        "store = mx.kv.create('local')\n"
        "row_ids = lambda b: {'weight': nd.array(np.flatnonzero(b.data[0].asnumpy().any(axis=0)))}\n"
        "optimizer, params = 'adagrad', {'learning_rate': 0.3}\n"
        "run(mx.mod.Module(sparse('row_sparse'), label_names=['label']), rows())",
        "m = mx.mod.Module(mlp()); run(m, batches()); it = batches()\n"
        "note(m.predict(it), m.predict(it, num_batch=1, always_output_list=True))\n"
        "note(m.predict(it, merge_batches=False), m.score(it, ['acc', 'ce']))\n"
        "for o, i, b in m.iter_predict(it): note(o, i, b.pad)\n"
        "note(m.score(it, 'acc', num_batch=2)); it.reset(); it.next()\n"
        "note(m.predict(it, reset=False))\n"
        "m.save_checkpoint(folder + '/m', 3, True); m.save_params(folder + '/p')\n"
        "n = mx.mod.Module.load(folder + '/m', 3, True)\n"
        "n.bind(batches().provide_data, batches().provide_label); note(n.params_initialized)\n"
        "n.init_optimizer(optimizer_params={'learning_rate': 0.5}); note(sorted(n.get_params()[0]))\n"
        "n.forward_backward(batches().next()); n.update(); note(sorted(n.get_params()[0].items()))\n"
        "n.load_params(folder + '/p'); note(sorted(n.get_params()[0].items()))\n"
        "m.forward(mx.io.DataBatch([nd.ones((7, 3))], [nd.ones(7)]), is_train=False)\n"
        "note(m.get_outputs())\n"
        "m.forward(mx.io.DataBatch([nd.ones((2, 3))], [nd.array([0, 1])])); m.backward()\n"
        "m.update(); note(m.data_shapes, m.label_shapes, sorted(m.get_params()[0].items()))\n"
        "m.reshape([('data', (1, 3))], [('softmax_label', (1,))]); note(m.data_shapes)\n"
        "m.get_input_grads()",
        "s = mx.sym.broadcast_add(mx.sym.Variable('data'), mx.sym.Variable('state'))\n"
        "m = mx.mod.Module(s, label_names=None, state_names=['state'])\n"
        "m.bind([('data', (2, 3)), ], for_training=False); m.init_params(); m.set_states(value=4)\n"
        "m.forward(mx.io.DataBatch([A])); note(m.get_outputs(), m.get_states(False))",
        "m = mx.mod.Module(mlp()); m.bind([('data', (4, 3))], [('softmax_label', (4,))])\n"
        "m.init_params(arg_params={}, aux_params={})",
        "m = mx.mod.Module(mlp()); m.bind([('data', (4, 3))], [('softmax_label', (4,))])\n"
        "m.init_params(arg_params={**weights(m), 'q': A}, aux_params={})",
        "mx.mod.Module(mlp(), data_names=['x'])",
        "mx.mod.Module(mlp()).bind([('x', (4, 3))])",
        "mx.mod.Module(mlp()).init_params()",
        "mx.mod.Module(mlp()).forward(batches().next())",
        f"mx.mod.Module(mlp(), {_TWO}).bind([('data', (1, 3))], [('softmax_label', (1,))])",
        "m = mx.mod.Module(mlp()); run(m, batches(), for_training=False)",
        "mx.mod.Module(mlp()).fit(batches())",
        "m = mx.mod.Module(mlp()); m.bind(batches().provide_data); m.predict('a')",
    ]
] + [
    "seen = []\n"
    "def look(p): seen.append((p.epoch, p.nbatch))\n"
    "def end(epoch, net, args, states): seen.append((epoch, net.name, sorted(args), sorted(states)))\n"
    f"m = mx.mod.Module(mlp(), {context})\n"
    "m.fit(batches(), eval_data=batches(), eval_metric=['acc', 'ce'], num_epoch=3, begin_epoch=1,\n"
    f"      optimizer='{optimizer}', optimizer_params={params}, kvstore={store},\n"
    "      arg_params=weights(m), aux_params={},\n"
    "      batch_end_callback=[look, mx.callback.Speedometer(4, 2)], epoch_end_callback=end,\n"
    "      eval_end_callback=look)\n"
    "note(seen, sorted(m.get_params()[0].items()), m.get_outputs())\n"
    "m.fit(batches(), num_epoch=1); note(sorted(m.get_params()[0].items()))"
    for context, optimizer, params, store in [
        ("context=mx.cpu()", "sgd", {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01}, "'local'"),
        ("context=mx.cpu()", "adam", {"learning_rate": 0.1}, "mx.kv.create()"),
        (_TWO, "sgd", {"learning_rate": 0.5}, "'device'"),
    ]
]

TOPICS = {
    "store": STORE,
    "iterators": ITERATORS,
    "metrics": METRICS,
    "logs": LOGS,
    "module": MODULE,
}


def answer(mx, call):
    """What a call notes, the kinds of the exception that ends it, and what it logs, without numbers
    that are times."""
    nd, noted, lines = mx.nd, [], []

    def note(*values):
        noted.extend(_plain(value) for value in values)

    logger, handler = logging.getLogger(), logging.Handler()
    handler.emit = lambda record: lines.append(_without_speed(record.getMessage()))
    logger.addHandler(handler)
    level, kinds = logger.level, None
    logger.setLevel(logging.INFO)
    rows = nd.sparse.row_sparse_array
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, labels, svm = (f"{folder}/{name}" for name in ("d.csv", "l.csv", "v.svm"))
        Path(table).write_text("1,2,3\n4,5,6\n-7,8,9\n10,11,12\n")
        Path(labels).write_text("0\n1\n2\n3\n")
        Path(svm).write_text("1 0:2\n0 -1:2\n")
        given = {
            "mx": mx,
            "nd": nd,
            "np": np,
            "note": note,
            "folder": folder,
            "kv": mx.kv.create("local"),
            "device": mx.kv.create("device"),
            "D": nd.zeros((5, 2)),
            "L": labels,
            "V": svm,
            "A": nd.ones((2, 3)),
            "B": nd.array([[1, 2, 3], [4, 5, 6]]),
            "O": nd.zeros((2, 3)),
            "P": nd.zeros((2, 3)),
            "G": nd.array([[0.3, 0.6, -0.3], [0.5, -2, 1.2]]),
            "R": rows(([[1, 2], [3, 4]], [1, 3]), shape=(5, 2)),
            "S": rows(([[5, 6], [7, 8]], [0, 3]), shape=(5, 2)),
            "Z": nd.sparse.zeros("row_sparse", (5, 2)),
            "Y": nd.sparse.zeros("row_sparse", (5, 2)),
            "X": np.arange(20.0).reshape(10, 2),
        }
        given |= _nets(mx)
        if "mx.io." in call and "mod." not in call:
            given |= {"D": table, "Y": np.arange(10)}
        try:
            exec(call, given)
            nd.waitall()
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__[:-3]]
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
    return {"noted": noted, "kinds": kinds, "lines": lines}


def _nets(mx):
    """Graphs, iterators over their data, and numbers to begin with."""

    def mlp():
        x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
        x = mx.sym.Activation(x, act_type="relu", name="act")
        return mx.sym.SoftmaxOutput(
            mx.sym.FullyConnected(x, num_hidden=2, name="fc2"), name="softmax"
        )

    def sparse(stype):
        data = mx.sym.Variable("data", stype="csr")
        weight = mx.sym.Variable("weight", stype=stype, shape=(6, 1))
        out = mx.sym.broadcast_add(
            mx.sym.sparse.dot(data, weight), mx.sym.Variable("bias", shape=(1,))
        )
        return mx.sym.LinearRegressionOutput(out, mx.sym.Variable("label"), name="lro")

    def weights(module):
        shapes = {"fc1_weight": (4, 3), "fc1_bias": 4, "fc2_weight": (2, 4), "fc2_bias": 2}
        shapes |= {"weight": (6, 1), "bias": (1,)}
        made = {}
        for i, name in enumerate(module._param_names):
            numbers = np.random.RandomState(i).normal(size=shapes[name]).astype("float32")
            array = mx.nd.array(numbers)
            rows = module.symbol.attr_dict().get(name, {}).get("__storage_type__") == "1"
            made[name] = array.tostype("row_sparse") if rows else array
        return made

    def batches():
        X = np.random.RandomState(9).normal(size=(10, 3)).astype("float32")
        return mx.io.NDArrayIter(X, (X.sum(axis=1) > 0).astype("float32"), 4)

    def rows():
        X = np.random.RandomState(8).normal(size=(8, 6)) * (np.arange(48).reshape(8, 6) % 3 == 0)
        csr = mx.nd.array(X).tostype("csr")
        return mx.io.NDArrayIter(
            csr, X.sum(axis=1, keepdims=True), 4, last_batch_handle="discard", label_name="label"
        )

    return {"mlp": mlp, "sparse": sparse, "weights": weights, "batches": batches, "rows": rows}


def _without_speed(line):
    line = re.sub(r"Speed: [0-9.infe+]+", "Speed: *", line)
    line = re.sub(r"cost=[0-9.]+|/tmp/[^ ]*/", "*", line)
    return re.sub(r"(=[0-9]+\.[0-9]{4})[0-9]+", r"\1", line)


def _plain(value):
    if hasattr(value, "stype"):
        rows = value.indices.asnumpy().tolist() if value.stype == "row_sparse" else None
        kind = np.dtype(value.dtype).name
        return [value.stype, kind, rows, np.round(value.asnumpy().astype("float64"), 4).tolist()]
    if hasattr(value, "layout"):
        return [value.name, list(value.shape), np.dtype(value.dtype).name, value.layout]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def alike(found, expected):
    """Whether two answers are equal, floats to four places, as they were rounded."""
    if isinstance(found, list) and isinstance(expected, list):
        same = len(found) == len(expected)
        return same and all(alike(f, e) for f, e in zip(found, expected, strict=True))
    if isinstance(found, float) and isinstance(expected, float):
        return np.isclose(found, expected, rtol=1e-4, atol=2e-4, equal_nan=True)
    return found == expected


def main():
    import mxnet as mx

    found = {topic: [answer(mx, call) for call in calls] for topic, calls in TOPICS.items()}
    lines = [f'{{"mxnet": "{mx.__version__}"']
    for topic, answers in found.items():
        lines.append(f'"{topic}": [\n' + ",\n".join(map(json.dumps, answers)) + "\n]")
    FILE.write_text(",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
