"""Executors of one graph on several devices: a batch is split among them and results are joined."""

from collections.abc import Mapping, Sequence
from typing import Any

from rarefy.base import ArgumentError
from rarefy.context import Context, cpu
from rarefy.executor import Executor
from rarefy.io import DataDesc
from rarefy.nd import NDArray, concat, slice_axis
from rarefy.sym import Symbol


def split_rows(batch_size: int, workload: Sequence[float]) -> list[slice]:
    """Which rows of a batch each device gets, in shares as the workload has them.

    Raises:
      ValueError: a device would get none.
    """
    total, begin, slices = sum(workload), 0, []
    counts = [round(share * batch_size / total) for share in workload]
    counts[-1] += batch_size - sum(counts)
    for count in counts:
        end = min(begin + count, batch_size)
        if begin >= end:
            raise ValueError(
                f"Too many slices. {batch_size} rows cannot be split among {len(workload)} devices "
                "so that each gets one"
            )
        slices.append(slice(begin, end))
        begin = end
    return slices


class ExecutorGroup:
    """An executor for each device. Parameters are the same arrays for all shapes of the input.

    Args:
      symbol: the graph.
      contexts: the devices.
      workload: the share of the batch that each gets.
      data_shapes, label_shapes: descriptions of the inputs of a whole batch.
      param_names: which arguments are parameters.
      for_training: whether there are gradients.
      inputs_need_grad: whether data has gradients too.
      shared: another group, whose arrays are used for parameters and states of the same name.
      fixed: parameters without gradients.
      grad_req: 'write', 'add' or 'null' for all, or a list or dict of them.
      state_names: arguments that keep what they hold from batch to batch.
      group2ctxs: for each device the contexts of the groups of nodes that have a `ctx_group`.

    Attributes:
      execs: the executors.
      param_arrays, grad_arrays, aux_arrays, state_arrays: for each name the arrays on the devices.
      batch_size: rows in a batch.
    """

    def __init__(
        self,
        symbol: Symbol,
        contexts: Sequence[Context],
        workload: Sequence[float],
        data_shapes: Sequence[DataDesc],
        label_shapes: Sequence[DataDesc] | None,
        param_names: Sequence[str],
        *,
        for_training: bool,
        inputs_need_grad: bool,
        shared: "ExecutorGroup | None" = None,
        fixed: Sequence[str] = (),
        grad_req: Any = "write",
        state_names: Sequence[str] = (),
        group2ctxs: Sequence[Mapping[str, Context] | None] | None = None,
    ):
        self.symbol = symbol
        self.contexts = list(contexts)
        self._group2ctxs = group2ctxs or [None] * len(self.contexts)
        self.workload = list(workload)
        self.param_names = list(param_names)
        self.aux_names = symbol.list_auxiliary_states()
        self.state_names = list(state_names)
        self.output_names = symbol.list_outputs()
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        data_names = [desc.name for desc in data_shapes]
        self.grad_req = self._requests(grad_req if for_training else "null", data_names, set(fixed))
        self.output_axes = [
            DataDesc.get_batch_axis(symbol[i].attr("__layout__"))
            for i in range(len(self.output_names))
        ]
        self._by_shape: dict[Any, list[Executor]] = {}
        self._describe(data_shapes, label_shapes)
        self.execs = [self._bound(i, shared) for i in range(len(self.contexts))]
        self._first = self._by_shape[self._shapes(0)] = self.execs
        self._collect()

    def _requests(self, grad_req: Any, data_names: Sequence[str], fixed: set[str]) -> dict:
        names = self.symbol.list_arguments()
        if isinstance(grad_req, list | tuple):
            if len(grad_req) != len(names):
                raise ArgumentError(
                    f"grad_req has {len(grad_req)} entries for {len(names)} arguments"
                )
            return dict(zip(names, grad_req, strict=True))
        if not isinstance(grad_req, str | Mapping):
            raise ValueError("grad_req must be one of str, list, tuple, or dict.")
        default = grad_req if isinstance(grad_req, str) else "write"
        wanted = {name for name in self.param_names if name not in fixed}
        wanted |= set(data_names) if self.inputs_need_grad else set()
        requests = {name: default if name in wanted else "null" for name in names}
        return requests if isinstance(grad_req, str) else {**requests, **grad_req}

    def _describe(
        self, data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None
    ) -> None:
        self.data_shapes = list(data_shapes)
        self.label_shapes = None if label_shapes is None else list(label_shapes)
        sizes = {
            desc.name: desc.shape[DataDesc.get_batch_axis(desc.layout)]
            for desc in self.data_shapes + (self.label_shapes or [])
            if DataDesc.get_batch_axis(desc.layout) >= 0 and desc.shape
        }
        if len(set(sizes.values())) > 1:
            raise ArgumentError(f"all data must have the same batch size; got {sizes}")
        self.batch_size = next(iter(sizes.values()), 1)
        self.slices = split_rows(self.batch_size, self.workload)

    def _shapes(self, i: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The shapes of the inputs of a device."""
        rows = self.slices[i].stop - self.slices[i].start
        shapes = []
        for desc in self.data_shapes + (self.label_shapes or []):
            shape, axis = list(desc.shape), DataDesc.get_batch_axis(desc.layout)
            if axis >= 0 and shape:
                shape[axis] = rows
            shapes.append((desc.name, tuple(shape)))
        return tuple(shapes)

    def _bound(self, i: int, shared: "ExecutorGroup | None") -> Executor:
        inputs = self.data_shapes + (self.label_shapes or [])
        shapes: dict[str, Any] = dict(self._shapes(i))
        return self.symbol.simple_bind(
            self.contexts[i],
            grad_req=self.grad_req,
            group2ctx=self._group2ctxs[i],
            type_dict={desc.name: desc.dtype for desc in inputs},
            shared_exec=None if shared is None else shared.execs[i],
            shared_arg_names=self.param_names,
            **shapes,
        )

    def reshape(
        self, data_shapes: Sequence[DataDesc], label_shapes: Sequence[DataDesc] | None
    ) -> None:
        """Takes inputs of other shapes from now on."""
        self._describe(data_shapes, label_shapes)
        found = self._by_shape.get(self._shapes(0))
        if found is None:
            shapes: list[dict[str, Any]] = [dict(self._shapes(i)) for i in range(len(self._first))]
            found = [
                first.reshape(allow_up_sizing=True, **own)
                for first, own in zip(self._first, shapes, strict=True)
            ]
            self._by_shape[self._shapes(0)] = found
        self.execs = found
        self._collect()

    def _collect(self) -> None:
        def arrays(names: Sequence[str], kind: str) -> list[list[Any]]:
            found = [getattr(e, kind) for e in self.execs]
            return [[each[name] for each in found] for name in names]

        self.param_arrays = arrays(self.param_names, "arg_dict")
        self.grad_arrays = arrays(self.param_names, "grad_dict") if self.for_training else None
        self.aux_arrays = arrays(self.aux_names, "aux_dict")
        self.state_arrays = arrays(self.state_names, "arg_dict")

    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any], *, allow_extra: bool
    ) -> None:
        """Copies parameters to all devices."""
        for each in self.execs:
            each.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any]) -> None:
        """Writes the mean of what the devices hold into the arrays given."""
        for names, blocks, found in (
            (self.param_names, self.param_arrays, arg_params),
            (self.aux_names, self.aux_arrays, aux_params),
        ):
            for name, block in zip(names, blocks, strict=True):
                mean = block[0]
                if len(block) > 1:
                    mean = block[0].as_in_context(cpu())
                    for other in block[1:]:
                        mean = mean + other.as_in_context(cpu())
                    mean = mean / len(block)
                mean.copyto(found[name])

    def load(self, batch: Any) -> None:
        """Copies a batch, or a list of one for each device, to the executors' arrays."""
        self._load([d.name for d in self.data_shapes], self.data_shapes, batch, "data")
        first = batch[0] if isinstance(batch, list) else batch
        # Where there are no labels a batch need not have the attribute.
        if self.label_shapes and first.label:
            self._load([d.name for d in self.label_shapes], self.label_shapes, batch, "label")

    def _load(
        self, names: Sequence[str], described: Sequence[DataDesc], batch: Any, kind: str
    ) -> None:
        for i, each in enumerate(self.execs):
            arguments = each.arg_dict
            sliced = getattr(batch[i], kind) if isinstance(batch, list) else None
            for k, (name, desc) in enumerate(zip(names, described, strict=True)):
                if name not in arguments:
                    continue  # a label that the graph does not use
                if sliced is not None:
                    array = sliced[k]
                else:
                    array = self._part(getattr(batch, kind)[k], desc, i)
                array.copyto(arguments[name])

    def _part(self, array: NDArray, desc: DataDesc, i: int) -> NDArray:
        """The rows of an input that belong to a device."""
        return self._rows(array, DataDesc.get_batch_axis(desc.layout), i)

    def _rows(self, array: NDArray, axis: int, i: int) -> NDArray:
        if len(self.execs) == 1 or axis < 0:
            return array
        rows = self.slices[i]
        if axis == 0:
            return array[rows.start : rows.stop]
        return slice_axis(array, axis=axis, begin=rows.start, end=rows.stop)

    def forward(self, batch: Any, is_train: bool | None = None) -> None:
        """Loads a batch and runs all executors."""
        self.load(batch)
        self.run(is_train)

    def run(self, is_train: bool | None = None) -> None:
        """Runs all executors on what is loaded."""
        for each in self.execs:
            each.forward(is_train=self.for_training if is_train is None else is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Writes the gradients on all devices.

        Raises:
          ArgumentError: there are none, as the group is not for training.
        """
        if not self.for_training:
            raise ArgumentError("re-bind with for_training=True to run backward")
        grads = [out_grads] if isinstance(out_grads, NDArray) else list(out_grads or ())
        for i, each in enumerate(self.execs):
            parts = [
                self._rows(grad, axis, i).as_in_context(self.contexts[i])
                for grad, axis in zip(grads, self.output_axes, strict=False)
            ]
            each.backward(parts)

    def get_outputs(self, merge: bool = True, begin: int = 0, end: int | None = None) -> list[Any]:
        """The results, joined or a list of one for each device."""
        found = [
            [each.outputs[i] for each in self.execs]
            for i in range(len(self.output_names))[begin:end]
        ]
        return _merged(found, self.output_axes[begin:end]) if merge else found

    def get_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of each result of a whole batch."""
        inputs = {d.name: d.shape for d in self.data_shapes + (self.label_shapes or [])}
        _, shapes, _ = self.symbol.infer_shape(**inputs)
        return list(zip(self.output_names, shapes or (), strict=True))

    def get_input_grads(self, merge: bool = True) -> list[Any]:
        """The gradients of the data, joined or a list of one for each device."""
        found = [[each.grad_dict[desc.name] for each in self.execs] for desc in self.data_shapes]
        axes = [DataDesc.get_batch_axis(desc.layout) for desc in self.data_shapes]
        return _merged(found, axes) if merge else found

    def get_states(self, merge: bool = True) -> list[Any]:
        """The states, joined or a list of one for each device."""
        return (
            _merged(self.state_arrays, [0] * len(self.state_arrays)) if merge else self.state_arrays
        )

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Copies states, given for each device, or fills them with a number."""
        if (states is None) == (value is None):
            raise ArgumentError("set_states takes either states or a value")
        for k, arrays in enumerate(self.state_arrays):
            for i, array in enumerate(arrays):
                if value is not None:
                    array[:] = value
                elif isinstance(states[k], NDArray):
                    self._rows(states[k], 0, i).copyto(array)
                else:
                    states[k][i].copyto(array)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool) -> None:
        """Takes labels and the results of each device into a metric."""
        for named, outputs in self.results(labels, pre_sliced):
            eval_metric.update_dict(named, outputs)

    def results(self, labels: Any, pre_sliced: bool) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The labels of each device by name, and its results by name."""
        described, found = self.label_shapes or [], []
        for i, each in enumerate(self.execs):
            parts = labels[i] if pre_sliced else labels or ()
            if not pre_sliced:
                parts = [self._part(a, d, i) for a, d in zip(parts, described, strict=False)]
            named = {d.name: a for d, a in zip(described, parts, strict=False)}
            found.append((named, dict(zip(self.output_names, each.outputs, strict=True))))
        return found

    def install_monitor(self, monitor: Any) -> None:
        """Lets a monitor look at all executors."""
        for each in self.execs:
            monitor.install(each)


def _merged(found: Sequence[Sequence[Any]], axes: Sequence[int]) -> list[NDArray]:
    """What the devices hold, joined; what has no batch axis is the same everywhere."""
    return [
        arrays[0]
        if len(arrays) == 1 or axis < 0
        else concat(*(a.as_in_context(arrays[0].context) for a in arrays), dim=axis)
        for arrays, axis in zip(found, axes, strict=True)
    ]
