"""Working ahead: order, bounds, exceptions, and threads that end."""

import gc
import threading

import pytest

from rarefy.io import prefetched


def threads():
    return [t for t in threading.enumerate() if t.name == "rarefy-prefetch"]


def counted(log, stop=10, fail_at=None):
    try:
        for i in range(stop):
            if i == fail_at:
                raise KeyError(i)
            log.append(i)
            yield i
    finally:
        log.append("closed")


@pytest.mark.parametrize("depth", [0, 1, 2, 50])
def test_items_come_in_order(depth):
    log = []
    assert list(prefetched(counted(log), depth)) == list(range(10))
    assert log == [*range(10), "closed"] and threads() == []


@pytest.mark.parametrize("depth", [0, 1, 50])
def test_an_exception_comes_at_its_place(depth):
    ahead = prefetched(counted([], fail_at=3), depth)
    assert [next(ahead) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError):
        next(ahead)
    assert threads() == []


def test_no_more_is_made_than_asked_for():
    log, made = [], threading.Event()

    def items():
        for i in range(100):
            log.append(i)
            if i == 3:
                made.set()
            yield i

    ahead = prefetched(items(), 2)
    assert next(ahead) == 0
    assert made.wait(5)  # one taken, two waiting, one that finds no room
    made.clear()
    assert not made.wait(0.05) and log == [0, 1, 2, 3]
    ahead.close()


@pytest.mark.parametrize("how", ["close", "garbage", "exception"])
def test_leaving_early_ends_the_thread_and_closes_the_items(how):
    log = []
    ahead = prefetched(counted(log, stop=1000), 2)
    next(ahead)
    assert len(threads()) == 1
    if how == "close":
        ahead.close()
    elif how == "garbage":
        del ahead
        gc.collect()
    else:
        with pytest.raises(RuntimeError):
            ahead.throw(RuntimeError())
    assert threads() == [] and log[-1] == "closed" and len(log) < 10


def test_a_generator_that_was_never_started_has_no_thread():
    ahead = prefetched(counted([]), 2)
    assert threads() == []
    ahead.close()
