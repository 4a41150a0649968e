"""Finding out shapes of parameters from a first batch, by running a model on shapes alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rarefy import _key, autograd
from rarefy._cell import holding
from rarefy._ops.precision import wide
from rarefy._ops.storage import Value
from rarefy.base import MXNetError
from rarefy.gluon._parameter import Parameter, shape_is_known
from rarefy.nd._handle import Handle
from rarefy.nd._unknown import OpenCell
from rarefy.sparse._row_sparse import row_sparse


def infer_shapes(run: Callable[..., Any], params: Iterable[Parameter], args: Sequence[Any]) -> None:
    """Gives parameters their shapes, so that a model fits its inputs. Nothing is computed.

    The model runs on stand-ins. The first operator that reads a parameter of unknown shape tells
    what it must be (`rarefy._ops.shapes`).

    Args:
      run: the model.
      params: its parameters.
      args: its inputs, arrays in nested lists.

    Raises:
      ValueError: a shape does not follow from the inputs.
    """
    waiting = [p for p in params if p._data is None and p._deferred_init is not None]
    leaves, form = jax.tree.flatten(tuple(args), is_leaf=lambda x: x is None)
    values = [leaf._value if isinstance(leaf, Handle) else None for leaf in leaves]

    def on_shapes(values: list[Value | None]) -> None:
        again = [
            leaf if value is None else Handle._wrap(value)
            for leaf, value in zip(leaves, values, strict=True)
        ]
        for param in waiting:
            param._data = [_stand_in(param)]
        try:
            with holding([_key.STATE], [_key.STATE.value]), autograd.pause():
                run(*jax.tree.unflatten(form, again))
        finally:
            for param in waiting:
                param._data = None

    try:
        with wide():
            jax.eval_shape(on_shapes, values)
    except (MXNetError, TypeError, ValueError) as error:
        if all(shape_is_known(p._shape) for p in waiting):
            return  # what is wrong is told better when the model runs on numbers
        raise ValueError(
            f"Deferred initialization failed because shape cannot be inferred. {error}"
        ) from error


def _stand_in(param: Parameter) -> Any:
    """An array in a parameter's place."""
    dtype = np.dtype(param.dtype)

    def value(shape: tuple[int, ...]) -> Value:
        with wide():
            data = jnp.zeros(shape, dtype)
            if param.stype == "row_sparse":
                return row_sparse(data, jnp.arange(shape[0]), shape)
            return data

    def settle(shape: tuple[int, ...]) -> None:
        param.shape = shape

    def known() -> tuple[int, ...] | None:
        return param._shape and tuple(n if n > 0 else -1 for n in param._shape)

    cell: Any = OpenCell(param.name, known, settle, value)
    return Handle._classes[param.stype](cell)
