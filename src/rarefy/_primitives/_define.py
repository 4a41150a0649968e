"""How a primitive of ours is made: one contract, a C++ kernel for CPU, an XLA form for the rest."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import jax
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

from rarefy._primitives._ffi import TARGETS

Form = Literal["auto", "kernel", "xla"]
"""Which implementation a primitive uses: `auto` is the kernel on CPU where it supports the dtypes,
else the XLA form. It is a parameter of the primitive, so a compiled program never goes stale."""

PRIMITIVES: dict[str, Primitive] = {}
"""Every primitive of the package by name; the tests walk it."""

KERNEL_FLOATS = frozenset(map(np.dtype, ("float32", "float64", jax.numpy.bfloat16, "float16")))


def public(*static: str):
    """Decorates the public function of a primitive that has the static parameters `static`.

    The function becomes a compiled one. Called on arrays, it then costs what a compiled function
    costs; `Primitive.bind` alone takes two to three times that (16 us more, measured on a call of
    15). Under a trace it is inlined and leaves no mark.
    """
    return partial(jax.jit, static_argnames=(*static, "form"), inline=True)


def aligned(*operands):
    """Gives operands one type of distribution, as a primitive of several operands needs.

    Inside `shard_map` those that are equal on every device become varying where another operand
    varies. Under explicit sharding they are gathered: a kernel sees whole arrays.
    """
    types = [jax.typeof(x) for x in operands]
    varying = frozenset().union(*(_varying(t) for t in types))
    out = []
    for x, t in zip(operands, types, strict=True):
        if any(part is not None for part in t.sharding.spec):
            x = jax.sharding.reshard(x, PartitionSpec())
        if missing := varying - _varying(t):
            x = lax.pcast(x, tuple(missing), to="varying")
        out.append(x)
    return out


def _varying(aval) -> frozenset[str]:
    return aval.manual_axis_type.varying


def like(aval, shape, dtype):
    """The aval of a result that is distributed like `aval`, an aligned operand."""
    spec = PartitionSpec(*(None,) * len(shape))
    return aval.update(
        shape=tuple(shape), dtype=dtype, sharding=NamedSharding(aval.sharding.mesh, spec)
    )


def bind(name: str, *operands, **params):
    """Binds a primitive by its name, the operands aligned.

    The rules of the products name one another; their files cannot import each other in a circle.
    """
    return PRIMITIVES[name].bind(*aligned(*operands), **params)


def floats_and_indices(*avals) -> bool:
    """Whether every operand is of a type that the kernels know: their floats, int32 or int64."""
    known = KERNEL_FLOATS | {np.dtype("int32"), np.dtype("int64")}
    return all(a.dtype in known for a in avals)


def float_values(*positions: int) -> Callable[..., bool]:
    """Makes a `supports` for kernels whose operands at `positions` are floats, others indices."""
    return lambda *avals: all(avals[i].dtype in KERNEL_FLOATS for i in positions)


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
