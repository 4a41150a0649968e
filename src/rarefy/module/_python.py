"""Modules that compute in Python."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rarefy.module._base import BaseModule
from rarefy.module._names import require
from rarefy.nd import NDArray
from rarefy.nd import array as nd_array


class PythonModule(BaseModule):
    """A module without parameters: what it does to a batch is for a subclass to say.

    A subclass has `forward`, `backward`, `get_outputs`, `get_input_grads` and `_compute_output_shapes`.

    Args:
      data_names: the names of the data.
      label_names: the names of the labels; None without.
      output_names: the names of the results.
      logger: what to log to.
    """

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: Sequence[str],
        logger: Any = logging,
    ):
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = list(output_names)
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> list[str]:
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """None: two empty dicts."""
        return {}, {}

    def init_params(
        self,
        initializer: Any = None,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Does nothing, as there are none; the arguments are those of `Module.init_params`."""
        self.params_initialized = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Does nothing; the arguments are those of `Module.init_optimizer`."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Does nothing."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Takes labels and the last results into a metric, if the module is bound to labels.

        Raises:
          RuntimeError: `pre_sliced` is set.
        """
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("PythonModule does not support presliced labels")
        eval_metric.update(labels, self.get_outputs())

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Takes up shapes.

        Args:
          data_shapes, label_shapes: descriptions, or pairs of name and shape.
          for_training: whether there will be a backward pass.
          inputs_need_grad: whether gradients of the data are wanted.
          force_rebind: whether to do it again.
          shared_module: accepted for MXNet's sake.
          grad_req: 'write'.

        Raises:
          ArgumentError: the names are others, or `grad_req` is.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        require(grad_req == "write", "Python module only support write gradient")
        found = [each[0] for each in data_shapes]
        require(found == self._data_names, f"data_shapes: expected {self._data_names}; got {found}")
        if label_shapes is not None:
            found = [each[0] for each in label_shapes]
            require(
                found == self._label_names,
                f"label_shapes: expected {self._label_names}; got {found}",
            )
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        """Name and shape of each result; the shapes of the inputs are known."""
        raise NotImplementedError


class PythonLossModule(PythonModule):
    """A loss: its result is its data, the scores, and its gradient is computed in Python.

    Args:
      name: its result is called `name_output`.
      data_names: the name of the data.
      label_names: the name of the labels.
      logger: what to log to.
      grad_func: takes scores and labels and returns the gradient of the scores, as an array of this
        library or of NumPy. Without, a subclass has `_backward_impl`, which sets `_scores_grad`.

    Raises:
      ArgumentError: there are several names, or `grad_func` is no function.
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ):
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        require(len(data_names) == len(label_names) == 1, "a loss has one data and one label")
        require(grad_func is None or callable(grad_func), "grad_func must be a function")
        self._name = name
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None
        self._grad_func = grad_func

    def _compute_output_shapes(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        return [(self._output_names[0], self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Keeps the scores and, for training, the labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The scores."""
        require(merge_multi_context is True, "a Python module has one device")
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradient of the scores.

        Raises:
          ArgumentError: a gradient of the result is given, or the module is not bound for training.
        """
        require(out_grads is None, "For a loss module, out_grads should be None")
        require(self.for_training, "re-bind with for_training=True to run backward")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise NotImplementedError("pass grad_func, or define _backward_impl in a subclass")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, NDArray) else nd_array(grad)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradient of the scores."""
        require(merge_multi_context is True, "a Python module has one device")
        return [self._scores_grad]

    def install_monitor(self, mon: Any) -> None:
        raise NotImplementedError("a Python module has no operators to look at")
