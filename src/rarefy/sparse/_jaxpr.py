"""Equations of a jaxpr: which of them count, and how one is evaluated.

What changes from one version of JAX to the next in what is read of a jaxpr is here alone.
"""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import Literal


def live(jaxpr: Any) -> list[Any]:
    """The equations that the results, or effects, depend on."""
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(v in needed for v in eqn.outvars):
            kept.append(eqn)
            needed.update(v for v in eqn.invars if not isinstance(v, Literal))
    return kept[::-1]


def evaluate(eqn: Any, ins: Sequence[Any]) -> list[Any]:
    """The results of an equation."""
    primitive, params = eqn.primitive, eqn.params
    # Later versions of JAX bind the parameters as they are.
    if hasattr(primitive, "get_bind_params"):
        params = primitive.get_bind_params(params)
    out = primitive.bind(*ins, **params)
    return list(out) if primitive.multiple_results else [out]


def closed(body: Any) -> tuple[Any, Sequence[Any]]:
    """A jaxpr and its constants, of a closed jaxpr or one without constants."""
    return (body.jaxpr, body.consts) if hasattr(body, "consts") else (body, ())


def scan_sizes(params: dict[str, Any]) -> tuple[int, int]:
    """How many of the inputs of a `scan` are constants and how many are carried, in this order."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    # Later versions of JAX have a tree of the three kinds of inputs.
    consts, carry, _ = params["ft_in"].unpack()
    return len(consts), len(carry)


def reads(jaxpr: Any, wanted: Sequence[bool] | None = None) -> list[bool]:
    """Which of a jaxpr's arguments its results depend on; seen into the bodies of nested `jit`.

    Args:
      jaxpr: without effects.
      wanted: which of its results count; all by default.
    """
    wanted = wanted or [True] * len(jaxpr.outvars)
    results = [v for v, w in zip(jaxpr.outvars, wanted, strict=True) if w]
    needed = {v for v in results if not isinstance(v, Literal)}
    for eqn in reversed(jaxpr.eqns):
        used = [v in needed for v in eqn.outvars]
        if not any(used) and not eqn.effects:
            continue
        body = eqn.params.get("jaxpr") if eqn.primitive.name in ("jit", "pjit") else None
        body = None if body is None else closed(body)[0]
        if body is not None and len(body.invars) == len(eqn.invars) and not eqn.effects:
            read = reads(body, used)
        else:
            read = [True] * len(eqn.invars)
        needed.update(
            v for v, r in zip(eqn.invars, read, strict=True) if r and not isinstance(v, Literal)
        )
    return [v in needed for v in jaxpr.invars]
