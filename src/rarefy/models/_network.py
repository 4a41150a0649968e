"""Loss and compiled step of a model in training."""

from typing import Any

import numpy as np

from rarefy import nd
from rarefy.models._kinds import Formula
from rarefy.models._optimizers import GrowingFtrl, WithL2, make_optimizer
from rarefy.models._settings import Settings
from rarefy.optimizer import TrainStep

# A network learns by far smaller steps than tables, of whose rows a batch has few.
_LAYER_RATES = {"adagrad": 0.02, "adam": 0.1, "sgd": 0.1}


class Network:
    """A model that learns batch by batch.

    Args:
      formula: what the model computes; its numbers are trained.
      loss: 'squared', 'logistic' or 'softmax'.
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
        formula: Formula,
        loss: str,
        settings: Settings,
        steps: int,
        strengths: np.ndarray | None = None,
        rows_a_step: float | None = None,
        scale: np.ndarray | None = None,
    ):
        self._formula = formula
        self._params = formula.params
        self._settings = settings
        rows_a_step = settings.batch_size if rows_a_step is None else rows_a_step
        self._loss = _LOSSES[loss]
        self._squeeze = loss != "softmax"
        names = dict(enumerate(self._params))
        rates = dict.fromkeys(formula.vectors, settings.factor_lr)
        rates |= dict.fromkeys(formula.layers, _LAYER_RATES.get(settings.optimizer, 1.0))
        optimizer = make_optimizer(settings, names, rates, steps, rows_a_step, scale)
        self._ftrl = optimizer if isinstance(optimizer, GrowingFtrl) else None
        if strengths is not None:
            tables = formula.tables
            penalized = {i: strengths[tables[name]] for i, name in names.items() if name in tables}
            optimizer = WithL2(optimizer, penalized)
        self.step = TrainStep(self._forward, self._params, optimizer)

    def _forward(self, labels: Any, weights: Any, *arguments: Any) -> Any:
        scores = self._formula.scores(*arguments)
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
        _, scores = self.step(padded, weight, *self._formula.arguments(x, size))
        return scores

    def numbers(self) -> dict[str, np.ndarray]:
        """The numbers as they are now; under FTRL with the L1 term of this moment."""
        arrays = {name: param.asnumpy() for name, param in self._params.items()}
        if self._ftrl is not None and self._settings.l1:
            for i, name in enumerate(self._params):
                z, n = (state.asnumpy() for state in self.step.states[name][:2])
                arrays[name] = self._ftrl.weights(i, z, n)
        return arrays

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
