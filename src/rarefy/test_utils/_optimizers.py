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
      opt1, opt2: the optimizers.
      shape: the shape of the weight, or a list of `ntensors` of them.
      dtype: the dtype of weights and gradients.
      w_stype: the storage type of the weights; a row_sparse one holds all its rows.
      g_stype: that of the gradients; half the places of a sparse one are stored.
      rtol, atol: tolerances.
      compare_states: whether the states are compared too.
      ntensors: how many parameters are updated, all in one call if there are several.

    Raises:
      AssertionError: weights or states differ.
    """
    shapes = list(shape) if isinstance(shape, list) else [shape] * ntensors
    kinds = list(dtype) if isinstance(dtype, list) else [dtype] * len(shapes)
    weights = [
        rand_ndarray(s, w_stype, None if w_stype == "default" else 1, d)
        for s, d in zip(shapes, kinds, strict=True)
    ]
    grads = [
        rand_ndarray(s, g_stype, None if g_stype == "default" else 0.5, d)
        for s, d in zip(shapes, kinds, strict=True)
    ]
    results = []
    for optimizer in (opt1, opt2):
        mine, theirs = [w.copy() for w in weights], [g.copy() for g in grads]
        states = [optimizer.create_state_multi_precision(i, w) for i, w in enumerate(mine)]
        if len(mine) == 1:
            optimizer.update_multi_precision(0, mine[0], theirs[0], states[0])
        else:
            optimizer.update_multi_precision(list(range(len(mine))), mine, theirs, states)
        results.append((mine, states))
    (weights1, states1), (weights2, states2) = results
    if compare_states:
        compare_ndarray_tuple(tuple(states1), tuple(states2), rtol=rtol, atol=atol)
    for one, other in zip(weights1, weights2, strict=True):
        assert_almost_equal(one, other, rtol=rtol, atol=atol)
