"""Outputs that are losses at the same time: what comes back through them is the gradient of their
loss, whatever the gradient of the result."""

import math
from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp

from rarefy._ops.defs._numbers import require_same_dtype
from rarefy._ops.opdef import operator
from rarefy._ops.places import add_to, is_real, sample, with_data
from rarefy._ops.storage import to_dense
from rarefy.sparse import BCSR

Normalization = Literal["null", "batch", "valid"]


def _require_normalization(normalization: str) -> None:
    if normalization not in ("null", "batch", "valid"):
        raise ValueError(f"normalization must be null, batch or valid; got {normalization!r}")


@operator("SoftmaxOutput", aliases=("Softmax",))
def softmax_output(
    data,
    label,
    *,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Normalization = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
):
    """Computes the softmax; the gradient of `data` is that of the cross entropy with the labels.

    Args:
      data: `(n, *d)`, floating; sparse arrays go dense. The softmax runs over all of an example, or
        over axis 1 with multi_output, or over the last axis with preserve_shape.
      label: dtype of `data`: class numbers, one for each softmax, or probabilities in the shape of
        `data`. A number outside the classes is no class.
      grad_scale: scales the gradient.
      ignore_label: a class number that counts for nothing with use_ignore.
      multi_output, preserve_shape: what the softmax runs over.
      use_ignore: whether examples with the label `ignore_label` get no gradient.
      normalization: by what the gradient is divided: nothing ('null'), the number of examples
        ('batch'), or the number of labels that are not `ignore_label` ('valid'). With multi_output,
        'null' and 'batch' divide by the number of softmaxes of an example as well. Probabilities are
        never divided.
      out_grad: whether the gradient is multiplied by that of the result.
      smooth_alpha: the share of a class number's weight that goes to the other classes; not used with
        multi_output.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    _require_normalization(normalization)
    require_same_dtype(data, label)
    shape = _softmax_shape(data.shape, multi_output, preserve_shape)
    if label.shape != data.shape and label.size != shape[0] * shape[2]:
        raise ValueError(
            f"label has shape {label.shape}; data {data.shape} takes {shape[0] * shape[2]} class "
            "numbers or probabilities of its own shape"
        )
    wide = jnp.promote_types(data.dtype, jnp.float32)
    out = jax.nn.softmax(data.astype(wide).reshape(shape), axis=1)
    return out.reshape(data.shape).astype(data.dtype)


def _softmax_shape(shape, multi_output: bool, preserve_shape: bool) -> tuple[int, int, int]:
    """The shape of data as softmaxes over axis 1."""
    if len(shape) < 2:
        raise ValueError(f"data must have at least two axes; got {shape}")
    if multi_output:
        return shape[0], shape[1], math.prod(shape[2:])
    if preserve_shape:
        return math.prod(shape[:-1]), shape[-1], 1
    return shape[0], math.prod(shape[1:]), 1


@softmax_output.gradient("default", "default")
def _(
    want,
    inputs,
    output,
    cotangent,
    *,
    grad_scale,
    ignore_label,
    multi_output,
    use_ignore,
    preserve_shape,
    normalization,
    out_grad,
    smooth_alpha,
):
    data, label = inputs
    if label.shape == data.shape:
        g = (output - label) * grad_scale
    else:
        n, k, places = _softmax_shape(data.shape, multi_output, preserve_shape)
        out = output.reshape(n, k, places)
        ids = label.reshape(n, 1, places).astype(jnp.int32)
        hit = ids == jnp.arange(k, dtype=jnp.int32)[:, None]
        ignored = ids == int(ignore_label)
        alpha = 0.0 if multi_output else smooth_alpha
        g = out - jnp.where(hit, 1 - alpha, alpha / max(k - 1, 1)).astype(out.dtype)
        if use_ignore:
            g = jnp.where(ignored, jnp.zeros((), g.dtype), g)
        count = {"null": 1, "batch": n, "valid": jnp.maximum((~ignored).sum(), 1)}[normalization]
        by = count if normalization == "valid" else count * places
        g = (g * jnp.asarray(grad_scale / by).astype(g.dtype)).reshape(data.shape)
    if out_grad:
        g = g * to_dense(cotangent)
    return g.astype(data.dtype), jnp.zeros_like(label)


def _regression_doc(says: str, loss: str) -> str:
    return (
        f"Returns {says}; the gradient of `data` is that of {loss} with the labels.\n\n"
        "The gradient is divided by the number of labels of an example.\n\n"
        "Args:\n"
        "  data: `(n, *d)`, floating, dense.\n"
        "  label: shape and dtype of `data`, or `(n,)` for data of `(n, 1)`; dense or csr.\n"
        "  grad_scale: scales the gradient.\n\n"
        "Returns:\n"
        "  Shape and dtype of `data`, dense.\n\n"
        "Raises:\n"
        "  MXNetError: shapes or dtypes do not fit.\n"
    )


def _regression(name: str, link: Callable, slope: Callable, says: str, loss: str) -> None:
    """Registers an output with a link function, whose loss has the slope `slope(out, label)`."""

    def meaning(data, label, *, grad_scale: float = 1.0):
        require_same_dtype(data, label)
        size = math.prod(label.shape)
        if label.shape != data.shape and (data.size != size or label.ndim + 1 != data.ndim):
            raise ValueError(
                f"label has shape {label.shape}, data {data.shape}; they must be equal"
            )
        return link(data)

    meaning.__doc__ = _regression_doc(says, loss)
    op = operator(name)(meaning)

    def back(want, inputs, output, cotangent, *, grad_scale):
        _, label = inputs
        scale = jnp.asarray(grad_scale / max(math.prod(label.shape[1:]), 1), output.dtype)
        if not isinstance(label, BCSR):
            return scale * slope(output, label.reshape(output.shape)), jnp.zeros_like(label)
        # What is not stored is a label of zero.
        blank = slope(output, jnp.zeros((), output.dtype))
        there = sample(label, output)
        change = slope(there, label.data) - slope(there, jnp.zeros((), output.dtype))
        change = jnp.where(is_real(label), change, jnp.zeros((), change.dtype))
        total = add_to(blank, with_data(label, change))
        return scale * total, with_data(label, jnp.zeros_like(label.data))

    op.gradient("default", "default")(back)
    op.rule("default", "csr", out="default")(op.fn)
    op.gradient("default", "csr")(back)


_regression(
    "LinearRegressionOutput", jnp.copy, jnp.subtract, "the array", "half the squared difference"
)
_regression(
    "LogisticRegressionOutput",
    jax.nn.sigmoid,
    jnp.subtract,
    "the logistic function, element by element",
    "the cross entropy",
)
_regression(
    "MAERegressionOutput",
    jnp.copy,
    lambda out, label: jnp.sign(out - label),
    "the array",
    "the absolute difference",
)


@operator("MakeLoss")
def make_loss_output(
    data,
    *,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: Normalization = "null",
):
    """Returns the array as a loss: its gradient is `grad_scale`, whatever comes from above.

    Args:
      data: any shape, floating; sparse arrays go dense.
      grad_scale: the gradient.
      valid_thresh: what an element must exceed to be counted.
      normalization: by what the gradient is divided: nothing ('null'), the number of rows ('batch') or
        the number of elements above `valid_thresh` ('valid').

    Returns:
      Shape and dtype of `data`, dense.
    """
    _require_normalization(normalization)
    return jnp.copy(data)


@make_loss_output.gradient("default")
def _(want, inputs, output, cotangent, *, grad_scale, valid_thresh, normalization):
    (data,) = inputs
    count = {"null": 1, "batch": max(data.shape[0], 1)}.get(normalization)
    if count is None:
        count = jnp.maximum((data > jnp.asarray(valid_thresh, data.dtype)).sum(), 1)
    return (jnp.full(data.shape, jnp.asarray(grad_scale / count).astype(data.dtype)),)


@operator("SVMOutput")
def svm_output(
    data,
    label,
    *,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
):
    """Returns the scores of classes; the gradient of `data` is that of the hinge loss.

    Args:
      data: `(n, classes)`, floating; sparse arrays go dense.
      label: `(n,)`, dtype of `data`: class numbers.
      margin: by how much the score of the right class must exceed, that of the others fall short.
      regularization_coefficient: scales the gradient.
      use_linear: whether the hinge loss is linear; else it is squared.

    Returns:
      Shape and dtype of `data`, dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.
    """
    require_same_dtype(data, label)
    if data.ndim != 2 or label.shape != data.shape[:1]:
        raise ValueError(f"data {data.shape} must be a matrix with a label for each row")
    return jnp.copy(data)


@svm_output.gradient("default", "default")
def _(want, inputs, output, cotangent, *, margin, regularization_coefficient, use_linear):
    data, label = inputs
    right = label.astype(jnp.int32)[:, None] == jnp.arange(data.shape[1], dtype=jnp.int32)
    side = jnp.where(right, -1, 1).astype(data.dtype)  # of the slope: up for the wrong classes
    short = jnp.asarray(margin, data.dtype) + side * data
    slope = (short > 0).astype(data.dtype) if use_linear else 2 * jnp.maximum(short, 0)
    g = side * slope * jnp.asarray(regularization_coefficient, data.dtype)
    return g, jnp.zeros_like(label)


@operator("IdentityAttachKLSparseReg", aux=("moving_avg",), needs_training=True, results=2)
def identity_attach_kl_sparse_reg(
    data,
    moving_avg,
    *,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    training: bool = False,
):
    """Returns the activations of sigmoid units; adds to their gradient that of a penalty which keeps
    each unit inactive most of the time.

    The penalty is the Kullback-Leibler divergence of a unit's mean activation `m`, a moving average
    over batches, from the target `t`; it adds `penalty * ((1 - t) / (1 - m) - t / m)` to the gradient.

    Args:
      data: `(n, units)`, floating, within (0, 1); sparse arrays go dense.
      moving_avg: `(units,)`, dtype of `data`; in training it becomes
        `momentum * moving_avg + (1 - momentum) * mean of the batch`, which is what the gradient uses.
      sparseness_target: the mean activation wanted, within (0, 1).
      penalty: scales the penalty.
      momentum: how much of the moving average stays.

    Returns:
      `data`, dense.

    Raises:
      MXNetError: shapes or dtypes do not fit.

    Source: Hinton, A Practical Guide to Training Restricted Boltzmann Machines (2010), section 11.
    """
    require_same_dtype(data, moving_avg)
    if data.ndim != 2 or moving_avg.shape != data.shape[1:]:
        raise ValueError(
            f"data {data.shape} must be a matrix with a number in moving_avg {moving_avg.shape} for "
            "each column"
        )
    wide = jnp.promote_types(data.dtype, jnp.float32)
    mean = data.mean(axis=0, dtype=wide)
    moved = momentum * moving_avg.astype(wide) + (1 - momentum) * mean
    return jnp.copy(data), moved.astype(data.dtype) if training else moving_avg


@identity_attach_kl_sparse_reg.gradient("default", "default")
def _(want, inputs, output, cotangent, *, sparseness_target, penalty, momentum, training):
    mean = output[1]
    slope = (1 - sparseness_target) / (1 - mean) - sparseness_target / mean
    g = jnp.zeros_like(output[0]) if cotangent[0] is None else to_dense(cotangent[0])
    return g + (penalty * slope).astype(g.dtype), None
