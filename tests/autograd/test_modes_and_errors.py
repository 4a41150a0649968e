"""The scopes of recording, and what is refused."""

import threading

import jax
import numpy as np
import pytest

from rarefy import MXNetError, autograd, nd
from rarefy._cell import TraceError
from rarefy._ops.precision import wide
from rarefy.autograd import GradientError
from rarefy.nd._handle import Handle


def variable(shape=(2, 3), **options):
    made = nd.ones(shape)
    made.attach_grad(**options)
    return made


def test_a_scope_ends_with_an_error_too():
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert not autograd.is_recording()
    assert not autograd.is_training()


def test_set_recording_and_set_training_return_what_was():
    assert autograd.set_recording(True) is False
    assert autograd.set_training(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(False) is True


def test_each_thread_has_its_own_modes():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
        assert autograd.is_recording()
    assert seen == [False]


def test_nothing_is_recorded_outside():
    x = variable()
    y = x * 2
    with pytest.raises(GradientError, match=r"head 0 was not computed under autograd\.record"):
        y.backward()


def test_nothing_is_recorded_without_a_variable():
    with autograd.record():
        y = nd.ones((2,)) * 2
    with pytest.raises(GradientError, match="attach_grad"):
        y.backward()


def test_backward_twice():
    x = variable()
    with autograd.record():
        y = x * 2
    y.backward()
    with pytest.raises(GradientError, match="retain_graph=True"):
        y.backward()


def test_an_error_in_backward_leaves_the_gradient():
    x = variable()
    with autograd.record():
        y = x * 2
    y.backward()
    with pytest.raises(GradientError):
        y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)
    assert not autograd.is_recording()


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(slice(None), 1),
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__setitem__((slice(None), 1), 1),
        lambda x: x.__setitem__([0, 1], 1),
        lambda x: x.__iadd__(1),
        lambda x: x.__imul__(nd.ones((2, 3))),
        lambda x: nd.square(nd.ones((2, 3)), out=x),
        lambda x: nd.ones((2, 3)).copyto(x),
        lambda x: nd.sgd_update(x, nd.ones((2, 3)), lr=0.1, out=x),
    ],
    ids=["[:]", "[0]", "[:, 1]", "[[0, 1]]", "+=", "*=", "out", "copyto", "update"],
)
@pytest.mark.parametrize("of", ["variable", "result"])
def test_what_takes_part_cannot_be_changed_while_recording(write, of):
    x = variable()
    with autograd.record():
        array = x if of == "variable" else x * 1
        with pytest.raises(MXNetError, match="cannot be changed in place"):
            write(array)
    np.testing.assert_array_equal(array.asnumpy(), 1)
    write(array)


def test_a_view_of_what_takes_part_cannot_be_changed_either():
    x = variable()
    before = x[0]
    with autograd.record():
        y = x * x
        with pytest.raises(MXNetError, match="cannot be changed in place"):
            x[1][:] = 5
        before[:] = 3  # it was taken outside and takes no part
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)
    np.testing.assert_array_equal(x.asnumpy(), [[3] * 3, [1] * 3])


def test_a_changed_result_has_lost_its_record():
    x = variable()
    with autograd.record():
        y = x * 2
    y[:] = 7
    with pytest.raises(GradientError, match="not computed under"):
        y.backward()


def test_a_write_from_another_trace():
    x = nd.ones((2,))

    def leak(value):
        x[:] = Handle._wrap(value)
        return value

    with wide(), pytest.raises(TraceError, match="outside a compiled function"):
        jax.jit(leak)(np.ones(2, np.float32))
    np.testing.assert_array_equal(x.asnumpy(), 1)


def test_a_gradient_from_another_trace():
    x = variable((2,))

    def leak(value):
        with autograd.record():
            y = x * Handle._wrap(value)
        y.backward()
        return value

    with wide(), pytest.raises(TraceError, match="outside a compiled function"):
        jax.jit(leak)(np.ones(2, np.float32))
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


def test_head_gradients_must_fit():
    x = variable()
    with autograd.record():
        y = x * 2
    with pytest.raises(ValueError, match=r"head gradient 0 has shape \(3,\).*\(2, 3\)"):
        y.backward(nd.ones((3,)))
    with pytest.raises(ValueError, match="1 heads but 2 head_grads"):
        autograd.backward(y, [nd.ones((2, 3)), None])
    with pytest.raises(TypeError, match="head gradient 0 must be an array of rarefy"):
        y.backward(np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"head gradient 0 is float64, its head float32"):
        y.backward(nd.ones((2, 3), dtype="float64"))
    y.backward()


def test_heads_must_be_arrays():
    with pytest.raises(TypeError, match="head 1 must be an array of rarefy; got float"):
        autograd.backward([variable(), 2.0])


def test_grad_wants_variables_that_the_heads_depend_on():
    x, y = variable(), variable()
    with autograd.record():
        z = x * 2
        w = z * 1
    with pytest.raises(GradientError, match="variable 0 is no variable"):
        autograd.grad(w, z, retain_graph=True)
    with pytest.raises(GradientError, match="do not depend on variable 1"):
        autograd.grad(z, [x, y], retain_graph=True)


def test_mark_variables_checks_its_lists():
    x = nd.ones((2,))
    with pytest.raises(ValueError, match="1 variables, 2 gradients and 1"):
        autograd.mark_variables([x], [x, x])
    with pytest.raises(ValueError, match=r"gradient 0 has shape \(3,\), its variable \(2,\)"):
        autograd.mark_variables(x, nd.ones((3,)))
    with pytest.raises(ValueError, match="grad_req must be one of write, add, null; got 'plus'"):
        autograd.mark_variables(x, nd.ones((2,)), "plus")


@pytest.mark.parametrize("options", [{"stype": "coo"}, {"grad_req": "plus"}], ids=str)
def test_attach_grad_names_what_it_takes(options):
    with pytest.raises(ValueError, match="must be one of"):
        nd.ones((2,)).attach_grad(**options)


def test_a_csr_gradient_needs_a_matrix():
    with pytest.raises(ValueError, match="two dimensions"):
        nd.ones((2,)).attach_grad(stype="csr")


def test_training_is_known_to_operators():
    x = variable((1000,))
    with autograd.record():
        y = nd.Dropout(x, p=0.75)
    y.backward()
    kept = y.asnumpy() != 0
    assert 150 < kept.sum() < 350
    np.testing.assert_array_equal(y.asnumpy()[kept], 4)
    np.testing.assert_array_equal(x.grad.asnumpy(), 4.0 * kept)
    with autograd.record(train_mode=False):
        y = nd.Dropout(x, p=0.75)
    np.testing.assert_array_equal(y.asnumpy(), 1)
    for p in (-0.1, 1.0):
        with autograd.record(), pytest.raises(MXNetError, match=r"p must lie in \[0, 1\)"):
            nd.Dropout(x, p=p)


def test_scopes_are_decorators_too_and_may_be_used_again():
    seen = []

    @autograd.record()
    def inside(depth):
        seen.append((autograd.is_recording(), autograd.is_training()))
        if depth:
            with autograd.pause():
                inside(depth - 1)
            seen.append((autograd.is_recording(), autograd.is_training()))

    inside(1)
    assert seen == [(True, True)] * 3
    scope = autograd.record(train_mode=False)
    for _ in range(2):
        with scope, scope:
            assert (autograd.is_recording(), autograd.is_training()) == (True, False)
        assert not autograd.is_recording()
