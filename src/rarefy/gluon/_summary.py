"""A table of the layers of a block."""

import math
from typing import Any

from rarefy.base import ArgumentError
from rarefy.nd import NDArray

_LINE = "{:>20}  {:>42} {:>15}"


def print_summary(block: Any, inputs: tuple[Any, ...]) -> None:
    """Runs a block once and prints what each layer gave.

    Args:
      block: the block.
      inputs: what it is called with.

    Raises:
      ArgumentError: it, or a part of it, is hybridized.
    """
    rows = [("Input", _shapes(inputs), 0)]
    seen: set[int] = set()
    counts = {"total": 0, "trainable": 0, "shared": 0}

    def note(layer: Any, _: Any, outputs: Any) -> None:
        own = 0
        for param in layer.params.values():
            size = math.prod(param.shape)
            own += size
            counts["trainable"] += 0 if param.grad_req == "null" else size
            counts["shared"] += size if id(param) in seen else 0
            seen.add(id(param))
        counts["total"] += own
        rows.append((f"{type(layer).__name__}-{len(rows)}", _shapes(outputs), own))

    hooks = []

    def register(layer: Any) -> None:
        if getattr(layer, "_active", False):
            raise ArgumentError(f'"{layer.name}" must not be hybridized to print summary.')
        if not layer._is_container:
            hooks.append(layer.register_forward_hook(note))

    try:
        block.apply(register)
        block(*inputs)
    finally:
        for hook in hooks:
            hook.detach()
    total, trainable, shared = counts["total"], counts["trainable"], counts["shared"]
    print("-" * 80)
    print(_LINE.format("Layer (type)", "Output Shape", "Param #"))
    print("=" * 80)
    for name, shape, count in rows:
        print(_LINE.format(name, shape, count))
    print("=" * 80)
    print("Parameters in forward computation graph, duplicate included")
    print(f"   Total params: {total}")
    print(f"   Trainable params: {trainable}")
    print(f"   Non-trainable params: {total - trainable}")
    print(f"Shared params in forward computation graph: {shared}")
    print(f"Unique parameters in model: {total - shared}")
    print("-" * 80)


def _shapes(arrays: Any) -> str:
    if isinstance(arrays, list | tuple):
        text = str([_nested(a) for a in arrays])
        return text[1:-1]
    return str(_nested(arrays))


def _nested(array: Any) -> Any:
    if isinstance(array, list | tuple):
        return [_nested(a) for a in array]
    return array.shape if isinstance(array, NDArray) else array
