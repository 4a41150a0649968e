"""What MXNet 1.9.1 answers to calls of modules that are made of modules, and of the rest of `Module`.

    python tests/oracles/mxnet_modules.py       # with MXNet installed

writes the answers to tests/cases/mxnet_modules.json, as tests/oracles/mxnet_training.py does.
"""

import json
from pathlib import Path

try:
    from oracles.mxnet_training import answer
except ImportError:  # run as a program
    from mxnet_training import answer

FILE = Path(__file__).parents[1] / "cases" / "mxnet_modules.json"

_BUCKETS = """
def gen(n):
    x = mx.sym.Embedding(mx.sym.Variable('data'), input_dim=7, output_dim=3, name='embed')
    x = mx.sym.FullyConnected(mx.sym.sum(x, axis=1), num_hidden=2, name='fc')
    return mx.sym.SoftmaxOutput(x, name='softmax'), ('data',), ('softmax_label',)
def batch(n, seed, rows=4):
    ids = np.random.RandomState(seed).randint(0, 7, size=(rows, n))
    return mx.io.DataBatch([nd.array(ids)], [nd.array(ids[:, 0] % 2)], bucket_key=n, pad=0,
        provide_data=[mx.io.DataDesc('data', (rows, n))],
        provide_label=[mx.io.DataDesc('softmax_label', (rows,))])
shapes = {'embed_weight': (7, 3), 'fc_weight': (2, 3), 'fc_bias': 2}
start = {k: nd.array(np.random.RandomState(i).normal(size=s))
         for i, (k, s) in enumerate(sorted(shapes.items()))}
class It(mx.io.DataIter):
    def __init__(self):
        super().__init__(4)
        self.provide_data = [mx.io.DataDesc('data', (4, 5))]
        self.provide_label = [mx.io.DataDesc('softmax_label', (4,))]
        self.at = 0
    def reset(self):
        self.at = 0
    def next(self):
        if self.at == 6: raise StopIteration
        self.at += 1
        return batch((5, 2, 3)[self.at % 3], self.at)
    __next__ = next
def params(m): return sorted(m.get_params()[0].items())
m = mx.mod.BucketingModule(gen, 5)
"""

_BOUND = (
    _BUCKETS + "m.bind(It().provide_data, It().provide_label); m.init_params(None, start, {})\n"
)

BUCKETS = [
    _BUCKETS + "note(m.data_names, m.output_names, m.binded, m.params_initialized)",
    _BOUND + "note(m.data_shapes, m.label_shapes, m.output_shapes, m.symbol.list_arguments())\n"
    "note(params(m)); m.forward(batch(2, 1)); note(m.get_outputs(), m.data_shapes, m._curr_bucket_key)\n"
    "m.switch_bucket(5, None); note(m.data_shapes); m.forward(batch(2, 1, 3)); note(m.get_outputs())",
    _BOUND + "m.init_optimizer(optimizer_params={'learning_rate': .5, 'momentum': .9, 'wd': .01})\n"
    "m.init_optimizer()\n"
    "for i, n in enumerate((5, 2, 3, 2, 5)):\n"
    "    m.prepare(batch(n, i)); m.forward_backward(batch(n, i)); note(m.get_outputs()); m.update()\n"
    "    note(params(m))\n"
    "m.set_params(start, {}); note(params(m))\n"
    "m.set_params({'fc_bias': nd.ones(2)}, {}, allow_missing=True); note(params(m))\n"
    "m.forward(batch(3, 1), is_train=False); note(m.get_outputs())",
    _BUCKETS + "m.fit(It(), It(), ['acc', 'ce'], num_epoch=2, arg_params=start, aux_params={},\n"
    "      optimizer='adam', optimizer_params={'learning_rate': .1})\n"
    "note(params(m), m.score(It(), 'ce')); note([x for x in m.predict(It(), merge_batches=False)])",
    _BOUND + "m.forward(batch(3, 1)); m.save_checkpoint(folder + '/b', 7)\n"
    "n = mx.mod.BucketingModule.load(folder + '/b', 7, gen, 5)\n"
    "note(n.params_initialized, n.binded, sorted(n._buckets))\n"
    "n.bind(It().provide_data, It().provide_label)\n"
    "n.forward(batch(2, 3)); note(n.get_outputs(), params(n))\n"
    "o = mx.mod.BucketingModule.load_dict({5: gen(5)[0]}, gen, 5, start, {})\n"
    "o.bind(It().provide_data, It().provide_label, for_training=False)\n"
    "o.forward(batch(3, 3), is_train=False); note(o.get_outputs())",
    _BOUND + "m.bind([('data', (2, 5))], [('softmax_label', (2,))]); note(m.data_shapes)\n"
    "m.bind([('data', (2, 5))], [('softmax_label', (2,))], force_rebind=True)\n"
    "note(m.data_shapes, params(m))",
    _BUCKETS + "m.bind(It().provide_data, It().provide_label, grad_req='add')\n"
    "m.init_params(None, start, {}); m.init_optimizer(optimizer_params={'learning_rate': 1})\n"
    "for n in (2, 2, 3): m.forward_backward(batch(n, 1))\n"
    "m.update(); note(params(m))",
    _BUCKETS + "m.forward(batch(2, 1))",
    _BUCKETS + "m.get_params()",
    _BUCKETS + "m.switch_bucket(2, None)",
    _BUCKETS + "m.init_params()",
    _BOUND + "m.update()",
    _BOUND + "m.get_input_grads()",
    _BOUND + "n = mx.mod.BucketingModule(gen, 5)\n"
    "n.bind(It().provide_data, It().provide_label, shared_module=m)",
    _BUCKETS + "mx.mod.BucketingModule(gen)",
    _BUCKETS + "m.save_checkpoint(folder + '/b', 7)",
    _BUCKETS + "mx.mod.BucketingModule.load(folder + '/b', 7)",
    _BUCKETS + "mx.mod.BucketingModule(lambda n: (gen(n)[0], ('x',), ()), 5)",
]

_CHAIN = """
one = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=4, name='fc1')
one = mx.sym.Activation(one, act_type='tanh', name='act')
two = mx.sym.FullyConnected(mx.sym.Variable('scores'), num_hidden=2, name='fc2')
loss = mx.sym.SoftmaxOutput(two, name='softmax')
def start(m):
    shapes = {'fc1_weight': (4, 3), 'fc1_bias': 4, 'fc2_weight': (2, 4), 'fc2_bias': 2}
    m.init_params(None, {k: nd.array(np.random.RandomState(i).normal(size=s))
                         for i, (k, s) in enumerate(sorted(shapes.items()))}, {}, allow_extra=True)
def params(m): return sorted(m.get_params()[0].items())
def grad(scores, labels):
    p = np.exp(scores.asnumpy()); p /= p.sum(axis=1, keepdims=True)
    return p - np.eye(2)[labels.asnumpy().astype(int)]
m = mx.mod.SequentialModule()
it = batches()
first, second = mx.mod.Module(one, label_names=None), mx.mod.Module(loss, ['scores'])
"""
_JOINED = _CHAIN + "m.add(first).add(second, take_labels=True, auto_wiring=True)\n"
_PYTHON = (
    _CHAIN + "m.add(first).add(mx.mod.Module(two, ['scores'], None), auto_wiring=True)\n"
    "m.add(mx.mod.PythonLossModule(grad_func=grad), take_labels=True, auto_wiring=True)\n"
)
_TRAIN = (
    "m.bind(it.provide_data, it.provide_label); start(m)\n"
    "m.init_optimizer(optimizer_params={'learning_rate': .5, 'momentum': .5})\n"
    "for b in it:\n    m.forward_backward(b); note(m.get_outputs()); m.update()\n"
    "note(params(m), m.data_shapes, m.output_shapes, m.data_names, m.output_names)\n"
)
CHAINS = [
    _JOINED + _TRAIN + "note(m.label_shapes[0][0], m.score(it, ['acc', 'ce']), m.predict(it))",
    _PYTHON + _TRAIN + "note(m.score(it, 'acc'))",
    _JOINED + "m.fit(it, it, 'ce', num_epoch=2, arg_params=None, initializer=mx.init.One())\n"
    "note(params(m))",
    _CHAIN + "note(m.data_names, m.output_names, m.META_TAKE_LABELS, m.META_AUTO_WIRING)",
    _CHAIN + "m.add(first, take_label=True)",
    _CHAIN + "m.bind(it.provide_data)",
    _JOINED + "m.forward(it.next())",
    _JOINED + "m.get_params()",
    _JOINED + "m.bind(it.provide_data, it.provide_label); m.update()",
    _JOINED + "m.bind(it.provide_data, it.provide_label, shared_module=m)",
    _CHAIN + "m.add(first).add(mx.mod.Module(one, label_names=None), auto_wiring=True)\n"
    "m.bind([('data', (4, 4))]); m.init_params(mx.init.One())",
    _CHAIN
    + "m.add(first).add(second, take_labels=True)\nm.bind(it.provide_data, it.provide_label)",
    "p = mx.mod.PythonLossModule(grad_func=lambda s, l: s - 1)\n"
    "p.bind([('data', (2, 3))], [('softmax_label', (2,))])\n"
    "p.forward(mx.io.DataBatch([B], [nd.ones(2)])); p.backward()\n"
    "note(p.get_outputs(), p.get_input_grads(), p.output_shapes, p.get_params(), p.output_names)\n"
    "p.backward(B)",
    "mx.mod.PythonLossModule(data_names=('a', 'b'))",
    "mx.mod.PythonLossModule(grad_func=3)",
    "mx.mod.PythonLossModule().bind([('x', (2, 3))])",
    "mx.mod.PythonLossModule().bind([('data', (2, 3))], grad_req='add')",
    "p = mx.mod.PythonLossModule(); p.bind([('data', (2, 3))], [('softmax_label', (2,))])\n"
    "p.forward(mx.io.DataBatch([B], [nd.ones(2)])); p.backward()",
    "mx.mod.PythonLossModule().install_monitor(None)",
    "mx.mod.PythonModule(('data',), None, ['out']).bind([('data', (2, 3))])",
]

_MODULE = """
def shapes(n=4): return [('data', (n, 3))], [('softmax_label', (n,))]
def ready(**options):
    m = mx.mod.Module(mlp()); m.bind(*shapes(), **options)
    m.init_params(arg_params=weights(m), aux_params={})
    return m
def params(m): return sorted(m.get_params()[0].items())
b = batches().next()
"""
MODULE = [
    _MODULE + call
    for call in [
        "m = ready(); m.init_optimizer(); o = m._optimizer; m.init_optimizer(optimizer='adam')\n"
        "note(m._optimizer is o); m.init_optimizer(optimizer='adam', force_init=True)\n"
        "note(m._optimizer is o, type(m._optimizer).__name__, m._optimizer.rescale_grad)",
        "m = ready(); m.bind(*shapes(2)); note(m.data_shapes); m.bind(*shapes(2), force_rebind=True)\n"
        "note(m.data_shapes, params(m)); m.forward(b); note(m.get_outputs())",
        "m = ready(inputs_need_grad=True); m.init_optimizer(); m.forward_backward(b)\n"
        "note(m.get_input_grads()); m.update(); note(m.get_input_grads(), params(m))",
        "m = ready(grad_req={'fc1_bias': 'null', 'fc2_weight': 'add'}); m.init_optimizer()\n"
        "m.forward_backward(b); m.forward_backward(b); m.update(); note(params(m))",
        "m = ready(grad_req='null'); m.init_optimizer(); m.forward_backward(b); m.update()\n"
        "note(params(m))",
        "m = ready(grad_req=['null', 'write', 'null', 'write', 'write', 'null']); m.init_optimizer()\n"
        "m.forward_backward(b); m.update(); note(params(m))",
        "m = ready(); n = mx.mod.Module(mlp()); m.init_optimizer(optimizer_params={'momentum': .9})\n"
        "n.bind(*shapes(2), shared_module=m); note(n.params_initialized, n.optimizer_initialized)\n"
        "m.forward_backward(b); m.update()\n"
        "n.forward_backward(mx.io.DataBatch([nd.ones((2, 3))], [nd.ones(2)])); n.update()\n"
        "note(params(m), params(n))",
        "m = ready(); n = ready(); m.init_optimizer(optimizer='adam'); n.borrow_optimizer(m)\n"
        "for each in (m, n, m):\n    each.forward_backward(b); each.update()\n"
        "note(params(m), params(n))",
        "m = ready(); m.init_params(mx.init.One(), force_init=True); note(params(m))\n"
        "m.set_params({'fc1_bias': nd.array([1, 2, 3, 4])}, {}, allow_missing=True); note(params(m))\n"
        "m.set_params({'fc1_bias': nd.zeros(4)}, {}, allow_missing=True, force_init=False)\n"
        "note(params(m)); m.set_params({'q': A}, {}, allow_missing=True, allow_extra=True)\n"
        "note(params(m)); m.set_params({'q': A}, {}, allow_missing=True)",
        "m = ready(); m.set_params({'fc1_bias': nd.zeros(4)}, {})",
        "m = ready(); m.init_params(arg_params={'fc1_bias': nd.zeros(4)}, allow_missing=True,\n"
        "    initializer=mx.init.One(), force_init=True); note(params(m))",
        "m = ready(for_training=False); m.forward(b); note(m.get_outputs()); m.backward()",
        "m = ready(); m.forward(b, is_train=False); note(m.get_outputs(), m.get_outputs(False))\n"
        "m.score(batches(), 'acc', score_end_callback=lambda p: note(p.epoch, p.nbatch,\n"
        "    p.eval_metric.get()), batch_end_callback=lambda p: note(p.nbatch), epoch=3)",
        "m = ready(); note(m.predict(b.data[0])); note(m.predict(b.data[0].asnumpy()))",
        "m = ready(); m.init_optimizer(); m.forward_backward(b); m.update(); note(m.get_outputs())\n"
        "m.forward_backward(b); m.forward(b); m.backward(); m.update(); note(params(m))\n"
        "m.forward_backward(b); note(m.score(batches(), 'acc')); m.update()",
        "m = mx.mod.Module(sparse('row_sparse'), ['data'], ['label'],\n"
        "    context=[mx.cpu(0), mx.cpu(1)], work_load_list=[3, 1]); it = rows()\n"
        "ids = lambda b: {'weight': nd.arange(6)}\n"
        "m.fit(it, num_epoch=2, eval_metric='mse', kvstore=mx.kv.create('device'),\n"
        "    arg_params=weights(m), aux_params={}, allow_missing=True, sparse_row_id_fn=ids,\n"
        "    optimizer_params={'learning_rate': .5, 'momentum': .9})\n"
        "note(params(m), m.score(it, 'mse', sparse_row_id_fn=ids))",
        "m = ready(); m.get_input_grads()",
        "mx.mod.Module(mlp()).bind(*shapes(), for_training=False, inputs_need_grad=True)",
        "m = ready(); m.init_optimizer(optimizer=3)",
        "m = ready(); m.init_optimizer(kvstore=3)",
        "m = mx.mod.Module(mlp(), fixed_param_names=['x'])",
        "m = mx.mod.Module(mlp(), state_names=['x'])",
        "m = mx.mod.Module(mlp()); m.save_optimizer_states(folder + '/s')",
        "m = ready(); m.prepare(b, sparse_row_id_fn=lambda b: {})",
        "m = ready(); note(m.get_states(False)); m.set_states(value=1)",
        "mx.mod.Module(mlp()).borrow_optimizer(ready())",
        "m = ready(grad_req=3)",
        "m = ready(); m.forward(mx.io.DataBatch([nd.ones((4, 5))], [nd.ones(4)]))",
        "m = ready(); m.load_params(folder + '/none')",
        "nd.save(folder + '/p', {'x': A}); m = ready(); m.load_params(folder + '/p')",
        "mx.mod.BaseModule().get_params()",
        "mx.mod.BaseModule().forward(b)",
        "m = mx.mod.Module(mlp()); m.fit(batches(), num_epoch=2, begin_epoch=2, arg_params=weights(m),\n"
        "    aux_params={}); note(params(m))",
        "m = ready(); m.fit(batches(), num_epoch=1, force_init=True, initializer=mx.init.One())\n"
        "note(params(m))",
    ]
]

TOPICS = {"buckets": BUCKETS, "chains": CHAINS, "module": MODULE}


def main():
    import mxnet as mx

    lines = [f'{{"mxnet": "{mx.__version__}"']
    for topic, calls in TOPICS.items():
        answers = [json.dumps(answer(mx, call)) for call in calls]
        lines.append(f'"{topic}": [\n' + ",\n".join(answers) + "\n]")
    FILE.write_text(",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
