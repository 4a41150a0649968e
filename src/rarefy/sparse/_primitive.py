"""JAX's names for primitives: a function of buffers as one equation, with every rule derived.

The functions and classes of the layer do not go through these: theirs are the kernels below. They
are here for programs that bind a primitive by its name or look for it in a jaxpr.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
from jax import numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from rarefy.sparse._base import JAXSparse


def primitive_of(
    name: str, function: Callable[..., Any], *, multiple_results: bool, eager: Any = None
) -> Primitive:
    """Makes the primitive `name` of a traceable function `(*buffers, **static)`.

    Its abstract evaluation, lowering, derivatives and batching are those of the function.

    Args:
      name: the primitive's name.
      function: what it computes; a tuple where `multiple_results`.
      multiple_results: whether there are several results.
      eager: what runs instead outside of a trace, where sizes may depend on numbers.
    """
    primitive = Primitive(name)
    primitive.multiple_results = multiple_results

    @lru_cache(maxsize=256)
    def compiled(params):
        return jax.jit(partial(function, **dict(params)))

    def run(*buffers, **params):
        if eager is not None:
            return eager(*buffers, **params)
        return compiled(tuple(sorted(params.items())))(*buffers)

    primitive.def_impl(run)

    def abstract(*avals, **params):
        out = jax.eval_shape(partial(function, **params), *avals)
        found = jax.tree.map(lambda o: ShapedArray(o.shape, o.dtype), out)
        return tuple(found) if multiple_results else found

    primitive.def_abstract_eval(abstract)
    mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=multiple_results))

    def jvp(primals, tangents, **params):
        moving = [i for i, t in enumerate(tangents) if type(t) is not ad.Zero]

        def restricted(*values):
            full = list(primals)
            for i, v in zip(moving, values, strict=True):
                full[i] = v
            return function(*full, **params)

        out, dots = jax.jvp(restricted, [primals[i] for i in moving], [tangents[i] for i in moving])
        del out  # bound again, so that the primal program keeps its equation
        primal = primitive.bind(*primals, **params)
        if not multiple_results:
            return primal, dots
        dots = [
            ad.Zero(jax.typeof(p).to_tangent_aval()) if d.dtype == jax.dtypes.float0 else d
            for p, d in zip(primal, dots, strict=True)
        ]
        return primal, dots

    ad.primitive_jvps[primitive] = jvp

    def batch(args, dims, **params):
        out = jax.vmap(partial(function, **params), in_axes=tuple(dims))(*args)
        return out, jax.tree.map(lambda _: 0, out)

    batching.primitive_batchers[primitive] = batch
    return primitive


def _todense(*buffers, tree):
    arr = jax.tree_util.tree_unflatten(tree, buffers)
    return arr.todense() if isinstance(arr, JAXSparse) else jnp.asarray(arr)


todense_p = primitive_of("todense", _todense, multiple_results=False)
