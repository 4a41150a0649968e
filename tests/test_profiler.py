"""The profiler: what is recorded and when, tables, traces, and nothing while it is off."""

import json
import re
import threading

import numpy as np
import pytest

import rarefy as mx
from rarefy import autograd, nd, profiler
from rarefy._watch import watch

A = nd.ones((4, 8))


@pytest.fixture(autouse=True)
def alone(tmp_path):
    profiler.set_config(**dict.fromkeys(profiler._KINDS, False), filename=tmp_path / "profile.json")
    yield tmp_path / "profile.json"
    profiler.stop()
    profiler.dumps(reset=True)


def counts():
    return {
        category: {name: row["Count"] for name, row in rows.items()}
        for category, rows in json.loads(profiler.dumps(format="json"))["Time"].items()
    }


def test_operators_are_counted_while_it_runs():
    A + A
    profiler.start()
    b = nd.dot(A, A, transpose_b=True)
    for _ in range(3):
        A * 2
    profiler.pause()
    nd.exp(A)
    profiler.resume()
    other = threading.Thread(target=lambda: nd.square(A))
    other.start()
    other.join()
    profiler.set_state("stop")
    b + b
    assert counts() == {"operator": {"dot": 1, "_mul_scalar": 3, "square": 1}}
    assert watch.run is None
    found = json.loads(profiler.dumps(format="json", reset=True))
    # dot reads two arrays of 4 * 8 floats and writes one of 4 * 4.
    assert found["Memory"]["operator"]["dot"]["Total"] == (2 * 32 + 16) * 4 / 1000
    assert counts() == {}


def test_gradients_and_sparse_arrays_are_counted():
    x = nd.sparse.csr_matrix(([1.0, 2.0], [5, 7], [0, 1, 2]), shape=(2, 1_000_000))
    w = nd.ones((1_000_000, 1))
    w.attach_grad(stype="row_sparse")
    profiler.start()
    with autograd.record():
        y = nd.sparse.dot(x, w)
    y.backward()
    profiler.stop()
    assert counts()["operator"] == {"dot": 1, "_backward_dot": 1}
    sizes = json.loads(profiler.dumps(format="json"))["Memory"]["operator"]
    assert sizes["dot"]["Total"] < 4100  # the weight, and what csr stores: not the cells of x


def test_what_is_only_compiled_takes_no_time():
    net = mx.gluon.nn.Dense(3)
    net.initialize()
    net.hybridize()
    net(A)
    profiler.start()
    net(A)
    profiler.stop()
    assert "FullyConnected" not in counts().get("operator", {})


def test_table():
    profiler.start()
    for name, array in (("exp", A), ("log", nd.ones((512, 512)))):
        getattr(nd, name)(array)
    for _ in range(3):
        nd.exp(A)
    profiler.stop()
    (head,) = re.findall("Name .*", profiler.dumps())
    assert head.split("  ")[0] == "Name" and head.split()[-2:] == ["Bytes", "(kB)"]

    def order(**options):
        return re.findall(r"^(exp|log) +(\d+)", profiler.dumps(**options), re.MULTILINE)

    assert order(sort_by="count") == [("exp", "4"), ("log", "1")]
    assert order(sort_by="count", ascending=True) == [("log", "1"), ("exp", "4")]
    row = next(line for line in profiler.dumps().splitlines() if line.startswith("exp")).split()
    total, least, most, mean = map(float, row[2:6])
    assert least <= mean <= most <= total and mean == pytest.approx(total / 4, abs=1e-4)
    for wrong in ({"sort_by": "x"}, {"format": "x"}):
        with pytest.raises(AssertionError, match="must be"):
            profiler.dumps(**wrong)


def test_trace_file_and_marks(alone):
    domain = profiler.Domain("mine")
    task, frame, event = domain.new_task("t"), domain.new_frame("f"), profiler.Event("e")
    task.start()
    task.stop()  # it does not run yet
    profiler.start()
    for span in (task, frame, event):
        with span:
            A + A
        span.stop()  # without a start
    counter = domain.new_counter("c", 5)
    counter += 3
    counter -= 1
    domain.new_marker("m").mark("thread")
    profiler.dump()
    assert watch.run is None
    events = json.loads(alone.read_text())["traceEvents"]
    found = [(e["cat"], e["name"], e["ph"]) for e in events]
    assert found == [
        *[("operator", "broadcast_add", "X"), ("mine", "t", "X")],
        *[("operator", "broadcast_add", "X"), ("mine,frame", "f", "X")],
        *[("operator", "broadcast_add", "X"), ("event", "e", "X")],
        *[("mine", "c", "C")] * 3,
        ("mine,instant_marker", "m", "i"),
    ]
    assert [e["args"]["c"] for e in events if e["ph"] == "C"] == [5, 8, 7]
    inner, outer = events[:2]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert str(domain) == "mine" and str(task) == "t" and str(counter) == "c"
    with pytest.raises(AssertionError, match="scope"):
        domain.new_marker("m").mark("x")


def test_compiled_programs_are_traced(alone):
    profiler.set_config(profile_all=True)
    profiler.start()
    profiler.start()
    A + A
    profiler.stop()
    assert counts() == {"operator": {"broadcast_add": 1}}
    assert list((alone.parent / "profile-xla").rglob("*.xplane.pb"))


def test_other_kinds_leave_operators_alone():
    profiler.set_config(profile_memory=True, aggregate_stats=True, continuous_dump=False)
    profiler.start()
    A + A
    profiler.stop()
    assert counts() == {}


def test_settings_are_checked():
    with pytest.raises(mx.MXNetError, match="no setting 'profile_everything'; there are filename"):
        profiler.set_config(profile_everything=True)
    with pytest.raises(AssertionError, match="'run' or 'stop'"):
        profiler.set_state("go")
    profiler.profiler_set_config("imperative")
    profiler.profiler_set_state("run")
    np.testing.assert_array_equal(nd.relu(A).asnumpy(), A.asnumpy())
    profiler.profiler_set_state("stop")
    assert counts() == {"operator": {"relu": 1}}
