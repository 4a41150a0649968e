"""Comparing optimizers."""

from rarefy.test_utils._arrays import rand_ndarray
from rarefy.test_utils._compare import assert_almost_equal, compare_ndarray_tuple


def compare_optimizer(
    opt1,
    opt2,
    shape,
    dtype,
    w_stype="default",
    g_stype="default",
    rtol=1e-4,
    atol=1e-5,
    compare_states=True,
    ntensors=1,
) -> None:
    """Asserts that two optimizers make the same step from the same weights and gradients.

    Args:
      opt1: the reference. Its arrays are dense, so that it may be written row by row, and it updates
        one parameter a call.
      opt2: the optimizer to test, with arrays of the storage types asked for.
      shape: the shape of the weight, or a list of `ntensors` of them: then `opt2` updates all of them
        in one call.
      dtype: the dtype of weights and gradients.
      w_stype: the storage type of the weights; a row_sparse one holds all its rows.
      g_stype: that of the gradients; half the places of a sparse one are stored.
      rtol, atol: tolerances.
      compare_states: whether the states are compared too.
      ntensors: how many parameters there are.

    Raises:
      AssertionError: weights or states differ.
    """
    several = isinstance(shape, list)
    shapes = list(shape) if several else [shape] * ntensors
    weights = [rand_ndarray(s, w_stype, _density(w_stype, 1), dtype) for s in shapes]
    grads = [rand_ndarray(s, g_stype, _density(g_stype, 0.5), dtype) for s in shapes]
    expected = []
    for i, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
        weight, grad = (a.tostype("default").copy() for a in (weight, grad))
        state = opt1.create_state_multi_precision(i, weight)
        opt1.update_multi_precision(i, weight, grad, state)
        expected.append((weight, state))
    states = [opt2.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    if several:
        opt2.update_multi_precision(list(range(len(weights))), weights, grads, states)
    else:
        opt2.update_multi_precision(0, weights[0], grads[0], states[0])
    for (want, before), weight, state in zip(expected, weights, states, strict=True):
        if compare_states:
            compare_ndarray_tuple(before, state, rtol=rtol, atol=atol)
        assert_almost_equal(want, weight, rtol=rtol, atol=atol)


def _density(stype: str, stored: float) -> float | None:
    return None if stype == "default" else stored
