"""What MXNet's metrics share: sums since the last reset and over all time, names, configurations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from rarefy.nd._handle import Handle
from rarefy.registry import get_alias_func, get_create_func, get_register_func

Names = Sequence[str] | None


def host(array: Any) -> numpy.ndarray:
    """An array of this library, or anything NumPy takes, as a NumPy array."""
    return array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


def check_label_shapes(
    labels: Any, preds: Any, wrap: bool = False, shape: bool = False
) -> tuple[Any, Any]:
    """Checks that labels and predictions go together.

    Args:
      labels: a list of arrays, or an array.
      preds: the same of predictions.
      wrap: whether an array is returned as a list of one.
      shape: whether the shapes are compared, not the lengths.

    Returns:
      Labels and predictions.

    Raises:
      ValueError: they do not agree.
    """
    sizes = tuple(x.shape if shape else len(x) for x in (labels, preds))
    if sizes[0] != sizes[1]:
        raise ValueError(f"labels {sizes[0]} and predictions {sizes[1]} do not have the same shape")
    if wrap:
        labels, preds = ([x] if isinstance(x, Handle) else x for x in (labels, preds))
    return labels, preds


def pairs(labels: Any, preds: Any) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Labels with their predictions as NumPy arrays."""
    labels, preds = check_label_shapes(labels, preds, wrap=True)
    return [(host(label), host(pred)) for label, pred in zip(labels, preds, strict=True)]


class EvalMetric:
    """Base of the metrics: a mean over what was taken in since `reset`, or since `reset_local`.

    A metric of one's own overrides `update`, which adds to `sum_metric` and `num_inst`.

    Args:
      name: what `get` calls it.
      output_names: predictions that `update_dict` uses, in this order; None for all.
      label_names: labels that `update_dict` uses; None for all.
      **kwargs: arguments that `get_config` gives back; `has_global_stats` says whether `update` also
        adds to `global_sum_metric` and `global_num_inst`, which only `reset` clears.
    """

    sum_metric: Any
    num_inst: Any
    global_sum_metric: Any
    global_num_inst: Any

    def __init__(
        self, name: str, output_names: Names = None, label_names: Names = None, **kwargs: Any
    ):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """The arguments that `create(**config)` makes the same metric from."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Takes in labels and predictions by name."""
        preds = pred.values() if self.output_names is None else [pred[n] for n in self.output_names]
        labels = (
            label.values() if self.label_names is None else [label[n] for n in self.label_names]
        )
        self.update(list(labels), list(preds))

    def update(self, labels: Any, preds: Any) -> None:
        """Takes in a list of labels and a list of predictions, array for array."""
        raise NotImplementedError(f"{type(self).__name__} must override update")

    def _add(self, total: Any, count: Any) -> None:
        if isinstance(total, numpy.floating):
            total = float(total)  # a sum of float32 numbers would stay float32
        self.sum_metric += total
        self.num_inst += count
        self.global_sum_metric += total
        self.global_num_inst += count

    def reset(self) -> None:
        """Forgets everything."""
        self.reset_local()
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self) -> None:
        """Forgets all but what `get_global` gives."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def get(self) -> tuple[Any, Any]:
        """Name and value since the last reset; NaN where there was nothing."""
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """Name and value since `reset`, whatever `reset_local` has cleared."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def _value(self, total: Any, count: Any) -> Any:
        return total / count if count else float("nan")

    def get_name_value(self) -> list[tuple[str, Any]]:
        """Pairs of name and value."""
        return _as_pairs(*self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """Pairs of name and value since `reset`."""
        return _as_pairs(*(self.get_global() if self._has_global_stats else self.get()))


def _as_pairs(names: Any, values: Any) -> list[tuple[str, Any]]:
    names, values = (x if isinstance(x, list) else [x] for x in (names, values))
    return list(zip(names, values, strict=True))


register = get_register_func(EvalMetric, "metric")
alias = get_alias_func(EvalMetric, "metric")
_create = get_create_func(EvalMetric, "metric")


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Makes a metric.

    Args:
      metric: its name, in any case; a function of labels and predictions (see `CustomMetric`); a list
        of metrics, which makes a `CompositeEvalMetric`; a configuration; or a metric.
      *args: arguments of the class.
      **kwargs: arguments of the class.

    Raises:
      ValueError: there is no metric of this name.
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics at once.

    Args:
      metrics: a list of what `create` takes.
      name: of the whole.
      output_names, label_names: those that the metrics get to see in `update_dict`.
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Names = None,
        label_names: Names = None,
    ):
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Adds a metric, or what `create` makes one from."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """One of the metrics.

        Raises:
          ValueError: there is none at this place.
        """
        if not -len(self.metrics) <= index < len(self.metrics):
            raise ValueError(f"there are {len(self.metrics)} metrics; none has index {index}")
        return self.metrics[index]

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        if self.label_names is not None:
            label = {name: array for name, array in label.items() if name in self.label_names}
        if self.output_names is not None:
            pred = {name: array for name, array in pred.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(label, pred)

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        for metric in self.metrics:
            metric.reset_local()

    def get(self) -> tuple[list[str], list[Any]]:
        """Names and values of the metrics."""
        return self._gathered(metric.get() for metric in self.metrics)

    def get_global(self) -> tuple[list[str], list[Any]]:
        """Names and values of the metrics since `reset`."""
        return self._gathered(metric.get_global() for metric in self.metrics)

    def _gathered(self, found: Any) -> tuple[list[str], list[Any]]:
        every = [pair for names, values in found for pair in _as_pairs(names, values)]
        return [name for name, _ in every], [value for _, value in every]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "metrics": [m.get_config() for m in self.metrics]}


@register
class CustomMetric(EvalMetric):
    """The mean of a function of labels and predictions.

    Args:
      feval: takes a label and a prediction as NumPy arrays; returns a value, or a sum and the number
        of terms in it.
      name: the function's name by default.
      allow_extra_outputs: whether there may be more predictions than labels, which are left out.
      output_names, label_names: of `EvalMetric`.
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Names = None,
        label_names: Names = None,
    ):
        if name is None:
            own = str(getattr(feval, "__name__", type(feval).__name__))
            name = f"custom({own})" if "<" in own else own
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs
        super().__init__(
            name,
            output_names,
            label_names,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )

    def update(self, labels: Any, preds: Any) -> None:
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, wrap=True)
        for pred, label in zip(preds, labels, strict=False):
            result = self._feval(host(label), host(pred))
            self._add(*(result if isinstance(result, tuple) else (result, 1)))

    def get_config(self) -> dict[str, Any]:
        """Not there, as a function has no name to make it from.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError("a CustomMetric has no configuration")


def np(
    numpy_feval: Callable[[Any, Any], Any],
    name: str | None = None,
    allow_extra_outputs: bool = False,
) -> CustomMetric:
    """A `CustomMetric` of a function on NumPy arrays."""
    return CustomMetric(numpy_feval, name, allow_extra_outputs)
