"""How a primitive of ours is made: one contract, a C++ kernel for CPU and an XLA form for the rest."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from rarefy._primitives._ffi import TARGETS

Form = Literal["auto", "kernel", "xla"]
"""Which implementation a primitive uses: `auto` is the kernel on CPU where it supports the dtypes and
the XLA form elsewhere. It is a parameter of the primitive, so a compiled program never goes stale."""

PRIMITIVES: dict[str, Primitive] = {}
"""Every primitive of the package by name; the tests walk it."""

KERNEL_FLOATS = frozenset(map(np.dtype, ("float32", "float64", jax.numpy.bfloat16, "float16")))


def floats_and_indices(*avals) -> bool:
    """Whether every operand is of a type that the kernels know: a float of theirs, int32 or int64."""
    known = KERNEL_FLOATS | {np.dtype("int32"), np.dtype("int64")}
    return all(a.dtype in known for a in avals)


def define(
    name: str,
    *,
    abstract: Callable[..., Any],
    xla: Callable[..., Any],
    multiple_results: bool = False,
    supports: Callable[..., bool] = floats_and_indices,
    attributes: Sequence[str] = (),
    aliases: dict[int, int] | None = None,
) -> Primitive:
    """Makes the primitive `name`, whose kernel is the FFI target `rarefy_<name>`.

    Args:
      name: the primitive's name; `form` becomes one of its static parameters.
      abstract: `(*avals, **params)` (without `form`) to the result's aval or avals.
      xla: `(*arrays, **params)` (without `form`) in `jax.lax`: the same contract as the kernel.
      multiple_results: whether `abstract` and `xla` return a tuple.
      supports: `(*avals)`: whether the kernel takes operands of these types.
      attributes: names of the integer, float or bool parameters that the kernel receives.
      aliases: operand number to result number, for kernels that work in place when donated.

    Returns:
      The primitive. Bind it with all parameters and `form`.
    """
    primitive = Primitive(name)
    primitive.multiple_results = multiple_results
    primitive.def_abstract_eval(lambda *avals, form, **params: abstract(*avals, **params))

    @lru_cache(maxsize=512)
    def compiled(params):
        return jax.jit(partial(primitive.bind, **dict(params)))

    primitive.def_impl(lambda *args, **params: compiled(tuple(sorted(params.items())))(*args))

    target = f"rarefy_{name}"
    assert target in TARGETS, f"the compiled module has no {target}"
    kernel = jax.ffi.ffi_lowering(target, operand_output_aliases=aliases)
    lower_xla = mlir.lower_fun(
        lambda *args, form, **params: xla(*args, **params), multiple_results=multiple_results
    )

    def on_cpu(ctx, *operands, form, **params):
        if form == "xla" or (form == "auto" and not supports(*ctx.avals_in)):
            return lower_xla(ctx, *operands, form=form, **params)
        if not supports(*ctx.avals_in):
            types = ", ".join(str(a.dtype) for a in ctx.avals_in)
            raise NotImplementedError(f"{name}: the kernel does not take ({types}); use form='xla'")
        return kernel(ctx, *operands, **{key: _attribute(params[key]) for key in attributes})

    def elsewhere(ctx, *operands, form, **params):
        if form == "kernel":
            raise NotImplementedError(f"{name}: the kernel exists for CPU only; use form='auto'")
        return lower_xla(ctx, *operands, form=form, **params)

    mlir.register_lowering(primitive, elsewhere)
    mlir.register_lowering(primitive, on_cpu, platform="cpu")
    PRIMITIVES[name] = primitive
    return primitive


def _attribute(value):
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float64(value)
    return value
