"""Parameters, loss and compiled step of a model in training."""

from typing import Any

import numpy as np

from rarefy import nd
from rarefy.models._optimizers import GrowingFtrl, WithL2, make_optimizer
from rarefy.models._settings import Settings
from rarefy.optimizer import TrainStep
from rarefy.sparse._capacity import host_csr


class Network:
    """A linear model or a factorization machine that learns batch by batch.

    Args:
      loss: 'squared', 'logistic' or 'softmax'.
      width: number of columns.
      bias: `(outputs,)`, what the bias starts with.
      settings: of the training.
      steps: number of updates of a whole training.
      strengths: `(width, 1)` float32, of the L2 penalty (`l2_strengths`); None for none.
      rows_a_step: on average; by default all batches are full.
      scale: `(width,)`, what the columns were divided by; None for nothing.

    Attributes:
      step: the compiled step.
    """

    def __init__(
        self,
        loss: str,
        width: int,
        bias: np.ndarray,
        settings: Settings,
        steps: int,
        strengths: np.ndarray | None = None,
        rows_a_step: float | None = None,
        scale: np.ndarray | None = None,
    ):
        self._settings = settings
        rows_a_step = settings.batch_size if rows_a_step is None else rows_a_step
        self._width = width
        self._loss = _LOSSES[loss]
        self._squeeze = loss != "softmax"
        self._params = {"weight": nd.zeros((width, len(bias))), "bias": nd.array(bias)}
        if settings.factors:
            # From NumPy's generator: the numbers that a seed stands for must not change.
            first = np.random.default_rng(settings.seed).standard_normal(
                (width, settings.factors), np.float32
            )
            self._params["factors"] = nd.array(first * np.float32(settings.factor_std))
        for name, param in self._params.items():
            param.attach_grad(stype="default" if name == "bias" else "row_sparse")
        names = dict(enumerate(self._params))
        optimizer = make_optimizer(settings, names, steps, rows_a_step, scale)
        self._ftrl = optimizer if isinstance(optimizer, GrowingFtrl) else None
        if strengths is not None:
            penalized = {i: strengths for i, name in names.items() if name != "bias"}
            optimizer = WithL2(optimizer, penalized)
        self.step = TrainStep(self._forward, self._params, optimizer)

    def _forward(self, x: Any, labels: Any, weights: Any) -> Any:
        scores = nd.dot(x, self._params["weight"]) + self._params["bias"]
        if "factors" in self._params:
            scores = scores + nd.sparse.factorization_machine(x, self._params["factors"])
        if self._squeeze:
            scores = nd.reshape(scores, shape=(-1,))
        return nd.sum(self._loss(scores, labels) * weights), scores

    def learn(self, x: Any, labels: np.ndarray, weights: np.ndarray | None) -> Any:
        """Does a step on a batch of at most `batch_size` rows.

        Args:
          x: csr with `data`, `indices` and `indptr`; columns sorted and unique in each row.
          labels: `(rows,)` float32, encoded.
          weights: `(rows,)`, or None for ones.

        Returns:
          The scores before the step, an array of `batch_size` rows whose last may be padding. The
          computation may still run.
        """
        size, rows = self._settings.batch_size, len(labels)
        weight = np.zeros(size, np.float32)
        weight[:rows] = 1 if weights is None else weights
        padded = np.zeros(size, np.float32)
        padded[:rows] = labels
        # Host arrays go straight into the compiled call: made into device arrays one by one they
        # would cost more than the whole step of a small batch (0.6 against 1.6 ms).
        csr = host_csr(x.data, x.indices, x.indptr, (size, self._width))
        _, scores = self.step(csr, padded, weight)
        return scores

    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Weight, bias and factors as they are now; under FTRL with the L1 term of this moment."""
        arrays = {name: param.asnumpy() for name, param in self._params.items()}
        if self._ftrl is not None and self._settings.l1:
            for i, name in enumerate(self._params):
                z, n = (state.asnumpy() for state in self.step.states[name][:2])
                arrays[name] = self._ftrl.weights(i, z, n)
        return arrays["weight"], arrays["bias"], arrays.get("factors")

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """All arrays by name and all counts, from which `load_state` goes on exactly."""
        saved = self.step.state_dict()
        arrays = {f"param.{name}": param.asnumpy() for name, param in self._params.items()}
        arrays |= {f"state.{name}": array for name, array in saved["states"].items()}
        return arrays, saved["optimizer"]

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arrays of `state`, all float32."""
        shapes = {f"param.{name}": param.shape for name, param in self._params.items()}
        for name, states in self.step.states.items():
            shapes |= {f"state.{name}.{i}": state.shape for i, state in enumerate(states)}
        return shapes

    def load_state(self, arrays: dict[str, np.ndarray], counts: dict[str, Any]) -> None:
        """Takes over what `state` returned."""
        for name, param in self._params.items():
            param[:] = arrays[f"param.{name}"]
        states = {
            name.removeprefix("state."): array
            for name, array in arrays.items()
            if name.startswith("state.")
        }
        self.step.load_state_dict({"optimizer": counts, "states": states})


def _squared(scores: Any, labels: Any) -> Any:
    return 0.5 * nd.square(scores - labels)


def _logistic(scores: Any, labels: Any) -> Any:
    return nd.Activation(scores, act_type="softrelu") - labels * scores


def _softmax(scores: Any, labels: Any) -> Any:
    return -nd.pick(nd.log_softmax(scores, axis=-1), labels, axis=-1)


_LOSSES = {"squared": _squared, "logistic": _logistic, "softmax": _softmax}
