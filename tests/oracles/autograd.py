"""Short programs that record and go back, and what MXNet 1.9.1 computes for them.

    python tests/oracles/autograd.py          # with MXNet installed: writes tests/cases/autograd.json

A program takes the library and returns named results; the tests run them on rarefy and compare. Each
is a function here, so that both libraries run the same lines.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "cases/autograd.json"

X = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 0], [0, 3, 0, 0, -1]], np.float32)
W = np.arange(-5, 5, dtype=np.float32).reshape(5, 2) / 4
T = np.array([[1, 0], [0.5, -1], [2, 0.25]], np.float32)
IDS = np.array([[3, 1], [3, 0]], np.float32)


def _csr(mx):
    return mx.nd.array(X).tostype("csr")


def _variable(mx, array, stype="default", grad_req="write"):
    variable = mx.nd.array(array)
    variable.attach_grad(grad_req, stype=stype)
    return variable


def _gradient(name, grad):
    """The gradient as an array, and the rows that it stores."""
    found = {name: grad}
    if grad.stype == "row_sparse":
        found[f"{name} rows"] = grad.indices
    return found


def linear_regression(mx):
    w, b = _variable(mx, W, "row_sparse"), _variable(mx, np.ones((1, 2)))
    with mx.autograd.record():
        error = mx.nd.dot(_csr(mx), w) + b - mx.nd.array(T)
        loss = (error * error).mean()
    loss.backward()
    return {"loss": loss, **_gradient("w", w.grad), "b": b.grad}


def dense_gradient_of_a_table(mx):
    w = _variable(mx, W)
    with mx.autograd.record():
        loss = mx.nd.sigmoid(mx.nd.dot(_csr(mx), w)).sum()
    loss.backward()
    return _gradient("w", w.grad)


def two_layers(mx):
    w, v = _variable(mx, W, "row_sparse"), _variable(mx, T.T)
    with mx.autograd.record():
        hidden = mx.nd.tanh(mx.nd.dot(_csr(mx), w))
        out = mx.nd.dot(hidden, v)
        loss = mx.nd.log(1 + mx.nd.exp(-out)).sum()
    loss.backward()
    return {"loss": loss, **_gradient("w", w.grad), "v": v.grad}


def head_gradient(mx):
    w = _variable(mx, W, "row_sparse")
    with mx.autograd.record():
        y = mx.nd.dot(_csr(mx), w)
    y.backward(mx.nd.array(T))
    return _gradient("w", w.grad)


def several_heads(mx):
    x, y = _variable(mx, W), _variable(mx, W[::-1])
    with mx.autograd.record():
        a, b = x * y, x + 2 * y
    mx.autograd.backward([a, b], [mx.nd.array(W), None])
    return {"x": x.grad, "y": y.grad}


def retained_graph(mx):
    x = _variable(mx, W, grad_req="add")
    with mx.autograd.record():
        y = x * x * x
    y.backward(retain_graph=True)
    first = x.grad.copy()
    y.backward()
    return {"once": first, "twice": x.grad}


def written_anew(mx):
    x = _variable(mx, W)
    for factor in (2, 5):
        with mx.autograd.record():
            y = factor * x
        y.backward()
    return {"x": x.grad}


def added_up(mx):
    x = _variable(mx, W, grad_req="add")
    for factor in (2, 5):
        with mx.autograd.record():
            y = factor * x
        y.backward()
    before = x.grad.copy()
    x.grad[:] = 0
    with mx.autograd.record():
        y = 3 * x
    y.backward()
    return {"sum": before, "after zeroing": x.grad}


def without_gradient(mx):
    x, y = _variable(mx, W, grad_req="null"), _variable(mx, W)
    with mx.autograd.record():
        z = x * y
    z.backward()
    return {"y": y.grad}


def embedding(mx):
    w = _variable(mx, W, "row_sparse")
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array(IDS), w, input_dim=5, output_dim=2, sparse_grad=True)
        loss = (y * y).sum()
    loss.backward()
    return {"y": y, **_gradient("w", w.grad)}


def dense_embedding(mx):
    w = _variable(mx, W)
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array(IDS), w, input_dim=5, output_dim=2)
        loss = (y * y).sum()
    loss.backward()
    return _gradient("w", w.grad)


def a_table_used_twice(mx):
    w = _variable(mx, W, "row_sparse")
    with mx.autograd.record():
        a = mx.nd.Embedding(mx.nd.array([0, 3]), w, input_dim=5, output_dim=2, sparse_grad=True)
        b = mx.nd.Embedding(mx.nd.array([3, 4]), w, input_dim=5, output_dim=2, sparse_grad=True)
        y = 2 * a + b
    y.backward()
    return _gradient("w", w.grad)


def taken_rows(mx):
    w = _variable(mx, W)
    with mx.autograd.record():
        y = mx.nd.take(w, mx.nd.array(IDS))
    y.backward()
    return _gradient("w", w.grad)


def row_sparse_gradient_of_take(mx):
    w = _variable(mx, W, "row_sparse")
    with mx.autograd.record():
        y = mx.nd.take(w, mx.nd.array(IDS))
    y.backward()
    return _gradient("w", w.grad)


def gradient_returned(mx):
    x, y = _variable(mx, W), _variable(mx, W + 1)
    with mx.autograd.record():
        z = x * x * y
    of_x, of_y = mx.autograd.grad([z], [x, y], head_grads=[mx.nd.array(W)])
    return {"x": of_x, "y": of_y, "untouched": x.grad}


def marked(mx):
    x, y = mx.nd.array(W), mx.nd.array(W)
    of_x, of_y = mx.nd.zeros((5, 2)), mx.nd.ones((5, 2))
    mx.autograd.mark_variables([x, y], [of_x, of_y], ["write", "add"])
    with mx.autograd.record():
        z = x * y
    z.backward()
    return {"x": of_x, "y": of_y}


def paused(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x * 2
        with mx.autograd.pause():
            z = y * 3
        loss = z * x + y
    loss.backward()
    return {"x": x.grad}


def detached(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x * x
        loss = y.detach() * x + mx.nd.BlockGrad(x * 7)
    loss.backward()
    return {"x": x.grad}


def variable_in_the_middle(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * y
    z.backward()
    return {"y": y.grad, "x": x.grad}


def slices(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x[1:3] * x[4] + x[0:4:2].sum() + x.reshape((2, 5))[1, 2]
    y.backward()
    return {"y": y, "x": x.grad}


def backward_in_the_scope(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x * x
        y.backward()
    return {"x": x.grad}


def modes(mx):
    """is_recording and is_training in and out of the scopes."""
    ag, seen = mx.autograd, []

    def look():
        seen.append([float(ag.is_recording()), float(ag.is_training())])

    look()
    with ag.record():
        look()
        with ag.predict_mode():
            look()
        with ag.pause():
            look()
            with ag.train_mode():
                look()
        with ag.pause(train_mode=True):
            look()
        look()
    with ag.record(train_mode=False):
        look()
        with ag.train_mode():
            look()
    with ag.train_mode():
        look()
    look()
    return {"seen": mx.nd.array(seen)}


def dropout(mx):
    """What Dropout does in each mode: 1 where it changed something."""
    x = mx.nd.ones((200, 10))

    def drops():
        return float((mx.nd.Dropout(x, p=0.5).asnumpy() != 1).any())

    found = [drops()]
    with mx.autograd.record():
        found.append(drops())
        with mx.autograd.predict_mode():
            found.append(drops())
    with mx.autograd.record(train_mode=False):
        found.append(drops())
    with mx.autograd.train_mode():
        found.append(drops())
    return {"drops": mx.nd.array(found)}


def csr_times_dense(mx):
    d = _variable(mx, X + 1)
    with mx.autograd.record():
        y = _csr(mx) * d
    y.backward()
    return {"d": d.grad}


def sums_of_row_sparse(mx):
    a = mx.nd.array(W * (np.arange(5) % 2)[:, None]).tostype("row_sparse")
    b = mx.nd.array(W * (np.arange(5) < 2)[:, None]).tostype("row_sparse")
    a.attach_grad()
    b.attach_grad()
    with mx.autograd.record():
        y = mx.nd.sparse.add_n(a, b)
    y.backward(mx.nd.array(W).tostype("row_sparse"))
    return {**_gradient("a", a.grad), **_gradient("b", b.grad)}


def fully_connected(mx):
    w, b = _variable(mx, W.T), _variable(mx, np.zeros(2))
    with mx.autograd.record():
        y = mx.nd.FullyConnected(mx.nd.array(X), w, b, num_hidden=2)
        loss = mx.nd.softmax_cross_entropy(y, mx.nd.array([0, 1, 1]))
    loss.backward()
    return {"loss": loss, "w": w.grad, "b": b.grad}


def long_chain(mx):
    x = _variable(mx, W)
    with mx.autograd.record():
        y = x
        for _ in range(30):
            y = mx.nd.tanh(y) * 1.5 + x
    y.backward()
    return {"x": x.grad}


PROGRAMS = {
    name: value
    for name, value in dict(globals()).items()
    if callable(value)
    and getattr(value, "__module__", None) == __name__
    and not name.startswith("_")
}


def plain(array) -> dict:
    """An array as JSON holds it."""
    values = np.asarray(array.asnumpy(), np.float64)
    return {
        "stype": array.stype,
        "shape": list(values.shape),
        "values": values.round(7).ravel().tolist(),
    }


def answers() -> dict:
    """MXNet's answer to each program, by name."""
    return json.loads(FILE.read_text())


def record() -> None:
    """Runs every program on MXNet and writes down what it computes, or that it fails."""
    import mxnet as mx

    lines = []
    for name, program in PROGRAMS.items():
        try:
            found = {key: plain(array) for key, array in program(mx).items()}
        except Exception as error:
            found = {"raises": type(error).__name__}
        lines.append(f"{json.dumps(name)}: {json.dumps(found)}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
