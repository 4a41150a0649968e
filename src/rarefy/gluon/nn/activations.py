"""Activation functions as blocks."""

from typing import Any

from rarefy.base import ArgumentError
from rarefy.gluon.block import HybridBlock
from rarefy.initializer import Constant

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "SiLU", "Swish"]


class Activation(HybridBlock):
    """Applies an activation function by name.

    Args:
      activation: 'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign', 'log_sigmoid' or 'mish'.
      **kwargs: of HybridBlock.
    """

    def __init__(self, activation: str, **kwargs: Any):
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Activation(x, act_type=self._act_type, name="fwd")


class LeakyReLU(HybridBlock):
    """`x` above zero, `alpha * x` below.

    Raises:
      ArgumentError: `alpha` is negative.
    """

    def __init__(self, alpha: float, **kwargs: Any):
        if alpha < 0:
            raise ArgumentError(f"alpha of LeakyReLU must not be negative; got {alpha}")
        super().__init__(**kwargs)
        self._alpha = alpha

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")


class PReLU(HybridBlock):
    """`x` above zero, `alpha * x` below, where `alpha` is learned.

    Args:
      alpha_initializer: of `alpha`.
      in_channels: 1 for one slope, or the size of axis 1 for a slope for each channel.
      **kwargs: of HybridBlock.
    """

    def __init__(
        self,
        alpha_initializer: Any = Constant(0.25),  # noqa: B008 - initializers do not change
        in_channels: int = 1,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """`x` above zero, `alpha * (exp(x) - 1)` below."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """The exponential linear unit whose scale keeps mean and variance (Klambauer et al., 2017)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.LeakyReLU(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """`x` times the probability that a normal variable is below `x` (Hendrycks and Gimpel, 2016)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.LeakyReLU(x, act_type="gelu", name="fwd")


class Swish(HybridBlock):
    """`x * sigmoid(beta * x)` (Ramachandran et al., 2017)."""

    def __init__(self, beta: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * F.sigmoid(self._beta * x, name="fwd")


class SiLU(HybridBlock):
    """`x * sigmoid(x)`."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * F.sigmoid(x, name="fwd")
