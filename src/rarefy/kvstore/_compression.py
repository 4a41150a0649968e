"""Gradients in two bits an element, with what is lost carried over to the next."""

from collections.abc import Mapping
from typing import Any

from rarefy.base import MXNetError
from rarefy.nd._ndarray import NDArray
from rarefy.nd.op import where, zeros_like


class TwoBit:
    """Turns each element into `threshold`, `-threshold` or 0 and keeps the difference, which is added
    to the next gradient of the same key and place.

    Args:
      params: `type`, which must be '2bit', and `threshold`, 0.5 by default.

    Raises:
      MXNetError: the type is another or missing, or the threshold is not above zero.

    Source: the 2bit compression of MXNet.
    """

    def __init__(self, params: Mapping[str, Any]):
        if params.get("type") != "2bit":
            raise MXNetError(
                f"gradient compression must have the type '2bit'; got {params.get('type')!r}"
            )
        self._threshold = float(params.get("threshold", 0.5))
        if not self._threshold > 0:
            raise MXNetError(f"threshold must be greater than 0; got {self._threshold}")
        self._lost: dict[Any, NDArray] = {}

    def __call__(self, key: Any, place: int, grad: NDArray) -> NDArray:
        """The gradient as it arrives; `place` tells those of one key apart."""
        limit, zero = self._threshold, zeros_like(grad)
        total = grad + self._lost.get((key, place), zero)
        sent = where(total >= limit, zero + limit, where(total <= -limit, zero - limit, zero))
        self._lost[key, place] = total - sent
        return sent
