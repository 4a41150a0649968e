"""rarefy's adapter for a side-by-side benchmark harness that provides the module `common`."""

import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from common import (
    CHECK_STEP,
    DATA,
    Rows,
    Run,
    Skip,
    batches,
    cold_steps,
    csr_shape,
    cycle,
    dense,
    linear_metrics,
    load,
    mlp_rest,
    mlp_table,
    op,
    step_result,
)
from jax.scipy import optimize

try:
    import rarefy as rf
    from rarefy import io, nd, sparse
    from rarefy.optimizer import TrainStep
    from rarefy.sparse import _csr as csr_functions
    from rarefy.sparse import _row_sparse as row_sparse_functions
    from rarefy.sparse._capacity import host_csr
except ImportError as error:
    raise Skip("absent: rarefy is not installed") from error

try:
    from sklearn.datasets import make_classification
except ImportError:
    make_classification = None

F1M = 1_000_000
wait = jax.block_until_ready


def version(label):
    return f"{rf.__version__} (jax {jax.__version__})"


def bcsr(name):
    d = load(name)
    parts = tuple(jnp.array(d[k]) for k in ("data", "indices", "indptr"))
    return sparse.BCSR(parts, shape=csr_shape(d), indices_sorted=True, unique_indices=True)


def bcoo(name):
    return bcsr(name).to_bcoo()


def rhs(n, k):
    return jnp.array(dense((n, k) if k > 1 else (n,)))


def densified(value):
    return np.asarray(value.todense() if hasattr(value, "todense") else value)


def keep(f, *args, out=densified, note=""):
    f = jax.jit(f)
    return Run(lambda: f(*args), wait, lambda: out(f(*args)), note)


def rows_of(value):
    ids = np.asarray(value.indices)[:, 0]
    real = ids < value.shape[0]
    return Rows(ids[real], np.asarray(value.data)[real], value.shape)


@op("spmm", "rarefy")
def spmm(data, k):
    a = bcsr(data)
    return keep(lambda a, b: a @ b, a, rhs(a.shape[1], k))


@op("spmm_t", "rarefy")
def spmm_t(data, k):
    a = bcsr(data)
    g = rhs(a.shape[0], k)
    if k == 1:
        return keep(lambda a, g: a.T @ g, a, g)
    f = row_sparse_functions.csr_transpose_dot
    return keep(f, a, g, out=rows_of, note="row_sparse output")


@op("coo_mm", "rarefy")
def coo_mm(data, k):
    a = bcoo(data)
    return keep(lambda a, b: a @ b, a, rhs(a.shape[1], k))


@op("coo_t_mm", "rarefy")
def coo_t_mm(data, k):
    a = bcoo(data)
    return keep(lambda a, g: a.T @ g, a, rhs(a.shape[0], k))


@op("csr_add", "rarefy")
def csr_add(a, b):
    return keep(csr_functions.csr_add, bcsr(a), bcsr(b))


@op("csr_mul", "rarefy")
def csr_mul(a, b):
    return keep(csr_functions.csr_multiply, bcsr(a), bcsr(b))


@op("csr_to_dense", "rarefy")
def csr_to_dense(a):
    return keep(lambda a: a.todense(), bcsr(a))


@op("dense_to_csr", "rarefy")
def dense_to_csr(a):
    a = bcsr(a)
    return keep(lambda x: sparse.BCSR.fromdense(x, nse=a.nse), a.todense(), note="nse given")


@op("dense_to_rsp", "rarefy")
def dense_to_rsp():
    x = np.zeros((100_000, 64), np.float32)
    x[::100] = dense((1000, 64))
    f = partial(row_sparse_functions.row_sparse_from_dense, capacity=1000)
    return keep(f, jnp.array(x), out=rows_of, note="capacity given")


@op("row_slice", "rarefy")
def row_slice(a):
    return keep(lambda a: a[500:1500], bcsr(a), note="keeps nse")


@op("spgemm", "rarefy")
def spgemm(a, b):
    a, b = bcsr(a), bcsr(b)
    return Run(lambda: a @ b, wait, lambda: densified(a @ b), "slots as needed")


@op("retain", "rarefy")
def retain():
    want = np.sort(np.random.default_rng(1).choice(100_000, 1000, False)).astype(np.int32)
    value = row_sparse_functions.row_sparse(
        jnp.array(dense((100_000, 64))), jnp.arange(100_000, dtype=jnp.int32), (100_000, 64)
    )
    f = row_sparse_functions.retain
    return keep(f, value, jnp.array(want), out=rows_of)


@op("csr_sum", "rarefy")
def csr_sum(a, axis):
    return keep(lambda a: a.sum(axis=axis), bcsr(a))


@op("transpose", "rarefy")
def transpose(a):
    return keep(lambda a: a.T, bcsr(a))


# ---- optimizers and training steps ----


def optimizer(name, lr=0.01):
    if name == "sgd_mom":
        return rf.optimizer.SGD(learning_rate=lr, momentum=0.9)
    if name == "adagrad":
        return rf.optimizer.AdaGrad(learning_rate=lr, eps=1e-20)
    return rf.optimizer.create(name, learning_rate=lr)


@op("lazy_opt", "rarefy")
def lazy_opt(opt, F, k):
    d = load(f"grads_{F}")
    weight = nd.array(dense((F, k), 1))
    rows = np.unique(d["ids"][:CHECK_STEP])
    before = weight.take(nd.array(rows, dtype="int64")).asnumpy()
    grads = [
        nd.sparse.row_sparse_array((v, i), shape=(F, k))
        for i, v in zip(d["ids"], d["values"], strict=True)
    ]
    rule, nxt, n, at = optimizer(opt), cycle(grads), [0], []
    state = rule.create_state(0, weight)

    def f():
        rule.update(0, weight, nxt(), state)
        n[0] += 1
        if n[0] == CHECK_STEP:
            moved = weight.take(nd.array(rows, dtype="int64")).asnumpy() - before
            at.append(step_result(0.0, moved))
        return weight._value

    def result():
        while not at:
            f()
        return at[0]

    return Run(f, wait, result, "eager optimizer.update")


def csr_batch(b):
    csr = nd.sparse.csr_matrix((b["data"], b["indices"], b["indptr"]), shape=b["shape"])
    return csr, nd.array(b["y"].reshape(-1, 1))


def bce(z, y):
    return (nd.Activation(z, act_type="softrelu") - z * y).mean()


def trainer(loss, params, tables, opt, nxt, rows, lr=0.01):
    for name, p in params.items():
        p.attach_grad(stype="row_sparse" if name in tables else None)
    step = TrainStep(loss, params, optimizer(opt, lr))
    # The last table is the one whose movement is compared.
    table = params[tables[-1]]
    ids = nd.array(rows, dtype="int64")
    before, n, at = table.take(ids).asnumpy(), [0], []

    def f():
        value = step(*nxt())
        n[0] += 1
        if n[0] == CHECK_STEP:
            at.append(step_result(float(value.asscalar()), table.take(ids).asnumpy() - before))
        return value._value, table._value

    def result():
        while not at:
            f()
        return at[0]

    return Run(f, wait, result)


def first_rows(name):
    return np.unique(load(name)["ids" if "emb" in name else "indices"][0])


def mlp_params(table):
    names = ("table", "b0", "w1", "b1", "w2", "b2")
    return dict(zip(names, [table, *(nd.array(x) for x in mlp_rest())], strict=True))


def mlp_loss(p, x, y):
    h = nd.sigmoid(nd.dot(x, p["table"]) + p["b0"])
    h = nd.sigmoid(nd.dot(h, p["w1"]) + p["b1"])
    return bce(nd.dot(h, p["w2"]) + p["b2"], y)


@op("mlp_step", "rarefy")
def mlp_step(batch, opt):
    name = f"mlp_{batch}"
    params = mlp_params(nd.array(mlp_table(F1M)))
    nxt = cycle([csr_batch(b) for b in batches(name)])
    return trainer(partial(mlp_loss, params), params, ["table"], opt, nxt, first_rows(name))


@op("lr_step", "rarefy")
def lr_step():
    params = {"w": nd.zeros((F1M, 1)), "b": nd.zeros((1,))}
    nxt = cycle([csr_batch(b) for b in batches("lr_1024")])

    def loss(x, y):
        return bce(nd.dot(x, params["w"]) + params["b"], y)

    return trainer(loss, params, ["w"], "adagrad", nxt, first_rows("lr_1024"))


@op("fm_step", "rarefy")
def fm_step():
    params = {
        "w": nd.zeros((F1M, 1)),
        "b": nd.zeros((1,)),
        "v": nd.array(dense((F1M, 16), 4, 0.05)),
    }
    nxt = cycle([csr_batch(b) for b in batches("lr_1024")])

    def loss(x, y):
        pairs = nd.sparse.factorization_machine(x, params["v"])
        return bce(nd.dot(x, params["w"]) + params["b"] + pairs.reshape((-1, 1)), y)

    return trainer(loss, params, ["w", "v"], "adagrad", nxt, first_rows("lr_1024"))


@op("emb_step", "rarefy")
def emb_step():
    target = nd.array(dense((4096, 64), 7))
    params = {"v": nd.array(dense((F1M, 64), 4, 0.05))}
    nxt = cycle([(nd.array(i, dtype="int32"),) for i in load("emb_4096")["ids"]])

    def loss(ids):
        e = nd.Embedding(ids, params["v"], input_dim=F1M, output_dim=64, sparse_grad=True)
        return nd.square(e - target).sum(axis=1).mean()

    return trainer(loss, params, ["v"], "adam", nxt, first_rows("emb_4096"))


# ---- files ----


@op("epoch", "rarefy")
def epoch():
    """Streams the file in batches of 1024 into the compiled step; compiling is part of the time."""
    params = {"w": nd.zeros((F1M, 1)), "b": nd.zeros((1,))}
    for name, p in params.items():
        p.attach_grad(stype="row_sparse" if name == "w" else None)

    def loss(x, y, share):
        z = nd.dot(x, params["w"]) + params["b"]
        return ((nd.Activation(z, act_type="softrelu") - z * y) * share).sum()

    # eps as MXNet has it by default: it keeps features that are seen for the first time in check.
    step = TrainStep(loss, params, rf.optimizer.AdaGrad(learning_rate=0.1, eps=1e-7))
    started, size = time.perf_counter(), 1024
    reader = io.LibSVMReader(f"{DATA}/train.svm", batch_size=size, n_features=F1M, index_base=0)
    compiled, slots = None, 0
    for b in reader:
        x = host_csr(b.data, b.indices, b.indptr, (size, F1M), slots=slots)
        slots, rows = max(slots, x.nse), len(b.labels)
        y, share = np.zeros((2, size, 1), np.float32)
        y[:rows, 0], share[:rows] = b.labels, 1 / rows
        value = step(x, y, share)
        if compiled is None:
            wait(value._value)
            compiled = time.perf_counter() - started
    wait(params["w"]._value)
    seconds = time.perf_counter() - started
    w, b = params["w"].asnumpy()[:, 0], float(params["b"].asscalar())
    return dict(seconds=seconds, first_step_s=compiled, **linear_metrics(w, b))


@op("parse", "rarefy")
def parse():
    def f():
        return io.load_libsvm(f"{DATA}/part.svm", n_features=F1M, index_base=0)

    return Run(f, lambda r: None, lambda: np.array([f().X.sum(), f().y.sum()]))


def sigmoid(x):
    return 0.5 * (jnp.tanh(x / 2) + 1)


def logistic_loss(params, X, y):
    y_hat = sigmoid(jnp.dot(X, params[1:]) + params[0])
    return -jnp.mean(y * jnp.log(y_hat) + (1 - y) * jnp.log(1 - y_hat))


@op("bfgs", "rarefy")
def bfgs(n, jit):
    if n == 100:
        if make_classification is None:
            raise Skip("the data of the documentation needs scikit-learn")
        X, y = make_classification(n_classes=2, random_state=1701)
        M, y = sparse.BCOO.fromdense(jnp.array(X, jnp.float32)), jnp.array(y, jnp.float32)
        options = None
    else:
        M = bcoo("struct_c")
        p = sigmoid(M @ jnp.array(dense((M.shape[1],), 6)))
        y = (jnp.array(np.random.default_rng(2).random(n)) < p).astype(jnp.float32)
        options = {"maxiter": 5}
    X = M.todense()

    def fit(X, y):
        loss = partial(logistic_loss, X=X, y=y)
        start = jnp.zeros(X.shape[1] + 1)
        return optimize.minimize(loss, x0=start, method="BFGS", options=options).x

    f = sparse.sparsify(fit)
    f = jax.jit(f) if jit else f
    return Run(lambda: f(M, y), wait, lambda: logistic_loss(f(M, y), X, y))


@op("logloss_grad", "rarefy")
def logloss_grad():
    a = bcsr("struct_c")
    y = jnp.array((dense((a.shape[0],), 5) > 0).astype(np.float32))
    w = jnp.array(dense((a.shape[1],), 6, 0.1))

    def loss(w, a, y):
        z = a @ w
        return jnp.mean(jnp.logaddexp(z, 0) - z * y)

    f = jax.jit(jax.value_and_grad(loss))
    return Run(lambda: f(w, a, y), wait, lambda: np.asarray(f(w, a, y)[1]))


@op("cold", "rarefy")
def cold():
    def build():
        table = nd.random.uniform(-0.05, 0.05, shape=(F1M, 128))
        params = mlp_params(table)
        for name, p in params.items():
            p.attach_grad(stype="row_sparse" if name == "table" else None)
        step = TrainStep(partial(mlp_loss, params), params, optimizer("adam"))
        nxt = cycle([csr_batch(b) for b in batches("mlp_10")])
        return lambda: wait(step(*nxt())._value)

    return cold_steps(build)
