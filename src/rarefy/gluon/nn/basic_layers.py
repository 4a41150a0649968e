"""Layers that most models are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rarefy import nd
from rarefy.base import ArgumentError
from rarefy.gluon.block import Block, HybridBlock
from rarefy.gluon.nn._sequential import HybridSequential, Sequential
from rarefy.gluon.nn.activations import Activation
from rarefy.gluon.parameter import Parameter

__all__ = [
    "BatchNorm",
    "BatchNormReLU",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "Sequential",
]


class Dense(HybridBlock):
    """`activation(x @ weight.T + bias)`.

    Args:
      units: columns of the result.
      activation: the name of an activation function, or None.
      use_bias: whether there is a bias.
      flatten: whether all axes of `x` but the first are taken together.
      dtype: of the parameters.
      weight_initializer, bias_initializer: None for that of the model.
      in_units: columns of `x`; 0 to find them out from the first batch.
      **kwargs: of HybridBlock.

    Called with `x`, `(b, *d)`, dense or csr; returns `(b, units)`, or without flatten
    `(*x.shape[:-1], units)`. Parameters: `weight`, `(units, in_units)`, and `bias`, `(units,)`. For
    csr input of many columns `SparseDense` has the gradient by rows.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._units = units
        self._flatten = flatten
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(units, in_units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias",
                    shape=(units,),
                    init=bias_initializer,
                    dtype=dtype,
                    allow_deferred_init=True,
                )
            self.act = None if activation is None else _activation(activation)

    def __repr__(self) -> str:
        units, inputs = self.weight.shape or (0, 0)
        return f"{type(self).__name__}({inputs or None} -> {units}, {self.act or 'linear'})"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        out = F.FullyConnected(
            x,
            weight,
            bias,
            num_hidden=self._units,
            no_bias=bias is None,
            flatten=self._flatten,
            name="fwd",
        )
        return out if self.act is None else self.act(out)


def _activation(name: str) -> Activation:
    return Activation(name, prefix=f"{name}_")


class Dropout(HybridBlock):
    """Sets random elements to zero in training and scales the others up.

    Args:
      rate: the share that becomes zero.
      axes: axes along which all elements share their fate.
      **kwargs: of HybridBlock.
    """

    def __init__(self, rate: float, axes: tuple[int, ...] = (), **kwargs: Any):
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd") if self._rate else x


class Embedding(HybridBlock):
    """Looks up rows of a table by number.

    Args:
      input_dim: rows of the table.
      output_dim: columns.
      dtype: of the table.
      weight_initializer: of the table; None for that of the model.
      sparse_grad: whether its gradient is row_sparse, with the rows that were looked up.
      **kwargs: of HybridBlock.

    Called with numbers of any shape; returns `(*x.shape, output_dim)`. Parameter: `weight`,
    `(input_dim, output_dim)`.
    """

    _table_stype = "default"

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            stype=self._table_stype,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def __repr__(self) -> str:
        kwargs = self._kwargs
        return (
            f"{type(self).__name__}({kwargs['input_dim']} -> {kwargs['output_dim']}, "
            f"{kwargs['dtype']})"
        )

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        return F.Embedding(x, weight, name="fwd", **self._kwargs)


class Flatten(HybridBlock):
    """Takes all axes but the first together: `(b, *d)` to `(b, prod(d))`."""

    def __repr__(self) -> str:
        return type(self).__name__

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Flatten(x)


class _Norm(HybridBlock):
    """A layer with a scale and a shift for each channel.

    Args:
      channels: how many; 0 to find out.
      center, scale: whether there is a shift, a scale that is learned.
      beta_initializer, gamma_initializer: of these.
      options: what is shown.
      learn_only: whether a parameter that is not learned is none that could be.
      **kwargs: of HybridBlock.
    """

    gamma: Parameter
    beta: Parameter

    def __init__(
        self,
        channels: int,
        center: bool,
        scale: bool,
        beta_initializer: Any,
        gamma_initializer: Any,
        options: dict[str, Any],
        learn_only: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._kwargs = options
        for name, init, learned in (
            ("gamma", gamma_initializer, scale),
            ("beta", beta_initializer, center),
        ):
            parameter = self.params.get(
                name,
                grad_req="write" if learned else "null",
                shape=(channels,),
                init=init,
                allow_deferred_init=True,
                differentiable=learned or not learn_only,
            )
            setattr(self, name, parameter)

    @property
    def _channels(self) -> int:
        return (self.gamma.shape or (0,))[0]

    def _shown(self, **more: Any) -> str:
        options = ", ".join(f"{k}={v!r}" for k, v in (self._kwargs | more).items())
        return f"{type(self).__name__}({options})"

    def __repr__(self) -> str:
        return self._shown(in_channels=self._channels)


class BatchNorm(_Norm):
    """Normalises each channel by mean and variance over the batch, then scales and shifts it.

    Args:
      axis: the axis of the channels.
      momentum: how much of the running mean and variance stays in a step of training.
      epsilon: added to the variance.
      center, scale: whether there is a shift, a scale that is learned.
      use_global_stats: whether the running mean and variance are used in training too.
      beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer: of
        the parameters.
      in_channels: how many channels; 0 to find out.
      **kwargs: of HybridBlock.

    Parameters: `gamma`, `beta`, `running_mean` and `running_var`, `(channels,)`.
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        options = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        super().__init__(
            in_channels,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            options,
            learn_only=True,
            **kwargs,
        )
        self.running_mean, self.running_var = (
            self.params.get(
                name,
                grad_req="null",
                shape=(in_channels,),
                init=init,
                allow_deferred_init=True,
                differentiable=False,
            )
            for name, init in (
                ("running_mean", running_mean_initializer),
                ("running_var", running_variance_initializer),
            )
        )

    def __repr__(self) -> str:
        return self._shown(in_channels=self._channels or None)

    def cast(self, dtype: Any) -> None:
        """Converts the parameters; for 16-bit floats they stay, or become, float32."""
        super().cast("float32" if np.dtype(dtype).itemsize == 2 else dtype)

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)


class BatchNormReLU(BatchNorm):
    """`BatchNorm`, and zero in place of what is negative then."""

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        return F.relu(super().hybrid_forward(F, x, gamma, beta, running_mean, running_var))


class InstanceNorm(_Norm):
    """Normalises each channel of each example over its places, then scales and shifts it.

    Args:
      axis: the axis of the channels.
      epsilon: added to the variance.
      center, scale: whether there is a shift, a scale that is learned.
      beta_initializer, gamma_initializer: of the parameters.
      in_channels: how many channels; 0 to find out.
      **kwargs: of HybridBlock.

    Called with `x` of three or more axes. Parameters: `gamma` and `beta`, `(channels,)`.
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        options = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        super().__init__(
            in_channels, center, scale, beta_initializer, gamma_initializer, options, **kwargs
        )

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        axis, eps = self._kwargs["axis"], self._kwargs["eps"]
        if axis == 1:
            return F.InstanceNorm(x, gamma, beta, eps=eps, name="fwd")
        x = F.swapaxes(x, dim1=1, dim2=axis)
        out = F.InstanceNorm(x, gamma, beta, eps=eps, name="fwd")
        return F.swapaxes(out, dim1=1, dim2=axis)


class LayerNorm(_Norm):
    """Normalises each example along an axis, then scales and shifts.

    Args:
      axis: the axis.
      epsilon: added to the variance.
      center, scale: whether there is a shift, a scale that is learned.
      beta_initializer, gamma_initializer: of the parameters.
      in_channels: size of the axis; 0 to find it out.
      **kwargs: of HybridBlock.

    Parameters: `gamma` and `beta`, `(channels,)`.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        options = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        super().__init__(
            in_channels, center, scale, beta_initializer, gamma_initializer, options, **kwargs
        )

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        axis, eps = self._kwargs["axis"], self._kwargs["eps"]
        return F.LayerNorm(data, gamma, beta, axis=axis, eps=eps)


class GroupNorm(_Norm):
    """Normalises groups of channels of each example, then scales and shifts each group.

    Args:
      num_groups: how many groups; they divide the channels, which are axis 1.
      epsilon: added to the variance.
      center, scale: whether there is a shift, a scale that is learned.
      beta_initializer, gamma_initializer: of the parameters.
      **kwargs: of HybridBlock.

    Parameters: `gamma` and `beta`, `(num_groups,)`.
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        **kwargs: Any,
    ):
        options = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        super().__init__(
            num_groups, center, scale, beta_initializer, gamma_initializer, options, **kwargs
        )

    def __repr__(self) -> str:
        return self._shown()

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        groups, eps = self._kwargs["num_groups"], self._kwargs["eps"]
        return F.GroupNorm(data, gamma, beta, num_groups=groups, eps=eps)


class Lambda(Block):
    """A function as a block.

    Args:
      function: takes and returns arrays; or the name of an operator of `rarefy.nd`.
      prefix: of Block.

    Raises:
      ArgumentError: there is no such operator.
      ValueError: it is neither.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None):
        super().__init__(prefix=prefix)
        self._name_of_function = _name_of(function)
        self._function = getattr(nd, function) if isinstance(function, str) else function

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name_of_function})"

    def forward(self, *args: Any) -> Any:
        return self._function(*args)


class HybridLambda(HybridBlock):
    """A function as a block that can be compiled.

    Args:
      function: takes the operators (`F`) and arrays, returns arrays; or the name of an operator.
      prefix: of HybridBlock.

    Raises:
      ArgumentError: there is no such operator.
      ValueError: it is neither.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None):
        super().__init__(prefix=prefix)
        self._name_of_function = _name_of(function)
        self._function = function

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name_of_function})"

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        if isinstance(self._function, str):
            return getattr(F, self._function)(x, *args)
        return self._function(F, x, *args)


def _name_of(function: Any) -> str:
    if isinstance(function, str):
        if not hasattr(nd, function):
            raise ArgumentError(f"there is no operator {function!r} in rarefy.nd")
        return function
    if not callable(function):
        raise ValueError(
            f"function must be a function or the name of an operator; got {function!r} of type "
            f"{type(function)}"
        )
    return getattr(function, "__name__", type(function).__name__)
