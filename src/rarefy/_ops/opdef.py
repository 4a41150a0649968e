"""What an operator is: one dense meaning, and what is known about it beyond that."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from rarefy._ops.storage import SType

Scalar = Annotated[float, "operand"]
"""Annotation of a parameter that is an operand of the compiled program, not part of it: a learning
rate, the 2.5 of `x * 2.5`. Its value may change without compiling anything again. A plain `float`
is part of the program."""

Scalars = Annotated[tuple[float, ...], "operands"]
"""Annotation of a parameter that is several such operands: a learning rate for each weight."""

Signature = tuple[SType | None, ...]
"""Storage types of an operator's arrays in order; None for an optional array that is absent."""

Out = SType | tuple[SType, ...] | Callable[..., SType | tuple[SType, ...] | None]


@dataclass(frozen=True, eq=False)
class Rule:
    """How an operator works on one signature of storage types.

    Attributes:
      fn: takes the values (sparse ones as BCSR or BCOO) and the parameters, returns value or tuple.
      out: the storage type of the result (or of each result), or a function of the parameters that
        returns it, or None where the rule does not apply.
      eager: whether the function picks sizes from what it is given (how many slots the result has)
        and calls compiled parts itself; then it is not compiled as a whole, and its signature needs a
        gradient of its own.
      spreads: whether the result is dense and as large as the dense form of the sparse arrays; it
        counts against the byte budget of dense copies.
      places_of: the position of the csr array in whose places the result has its elements; then only
        the numbers come from the compiled program, which would copy indices that it passes on.
      one_shape: whether it takes only arrays of one shape; others fall back.
      refuses: whether the function only raises, as no result would be right.
      checks: whether the function makes the operator's check itself, where numbers are known.
    """

    fn: Callable[..., Any]
    out: Out
    eager: bool = False
    spreads: bool = False
    places_of: int | None = None
    one_shape: bool = False
    refuses: bool = False
    checks: bool = False


@dataclass(eq=False)
class Operator:
    """An operator, described once. See `operator` for how one is made."""

    name: str
    fn: Callable[..., Any]
    arrays: tuple[str, ...]
    optional: frozenset[str]
    variadic: bool
    parameters: dict[str, inspect.Parameter]
    scalars: frozenset[str]
    aliases: tuple[str, ...] = ()
    updates: tuple[str, ...] | Callable[..., tuple[int, ...]] = ()
    returned: int | Callable[..., int] = 1
    aux: tuple[str, ...] = ()
    needs_key: bool | Callable[..., bool] = False
    needs_training: bool = False
    differentiable: bool = True
    results: int | Callable[..., int] = 1
    visible: Literal["public", "internal"] = "public"
    eager: bool = False
    converts: bool = False
    hint: str | None = None
    mixes: bool = False
    check: Callable[..., None] | None = None
    rules: dict[Signature, tuple[Rule, ...]] = field(default_factory=dict)
    gradients: dict[Signature, Callable[..., Any]] = field(default_factory=dict)

    def rule(self, *signature: SType | None, out: Out, **options):
        """Registers a rule for a signature; the options are other fields of `Rule`.

        For a variadic operator one storage type means all.

        Where a signature has several, the first one that applies is used.
        """

        def register(fn):
            rule = Rule(fn, out, **options)
            self.rules[signature] = (*self.rules.get(signature, ()), rule)
            return fn

        return register

    def gradient(self, *signature: SType | None):
        """Registers the pullback for a signature, where it is not the one JAX derives.

        The function gets `(want, inputs, output, cotangent, **parameters)`: `want` has for each input
        the storage type that its cotangent should have, or None where none is needed. It returns a
        tuple with a cotangent (of any storage type) or None for each input.
        """

        def register(fn):
            self.gradients[signature] = fn
            return fn

        return register

    @property
    def is_sparse(self) -> bool:
        """Whether the operator has a rule for sparse storage: then it is in the sparse namespaces."""
        return bool(self.rules) or self.mixes

    def draws(self, params: dict[str, Any]) -> bool:
        """Whether a call with these parameters takes a random key."""
        return self.needs_key(**params) if callable(self.needs_key) else self.needs_key

    def updated(self, params: dict[str, Any]) -> tuple[int, ...]:
        """Positions of the arrays that the results replace, in the order of the results."""
        if callable(self.updates):
            return self.updates(**params)
        return tuple(self.arrays.index(name) for name in self.updates)

    def n_returned(self, params: dict[str, Any]) -> int:
        """How many results of an operator with `updates` a call returns or writes to `out`."""
        return self.returned if isinstance(self.returned, int) else self.returned(**params)

    def n_results(self, params: dict[str, Any]) -> int:
        return self.results if isinstance(self.results, int) else self.results(**params)


def operator(name: str | None = None, **options):
    """Makes the decorated function the dense meaning of an operator and registers it.

    The function's positional parameters are arrays (one with default None may be left out; `*name`
    makes the operator variadic), its keyword-only parameters are parameters: hashable and static,
    unless annotated `Scalar`. Two names are special: `key`, a random key, given when `needs_key`, and
    `training`, given when `needs_training`. Its docstring documents the operator in every namespace.

    Args:
      name: the operator's name; the function's name by default.
      **options: fields of `Operator`: `aliases`, `updates` (arrays that the results replace, in the
        order of the results; they may be donated; for a variadic operator a function from the parameters
        to their positions), `returned` (how many of the results are returned: the weights, not their
        states; a number or a function of the parameters), `aux` (arrays of state, as running means,
        that the last results replace in training; these results are not returned), `needs_key` (true,
        false, or a function of the parameters), `needs_training`, `differentiable`, `results` (their
        number with those of `aux`, or a function of the parameters), `visible`, `eager` (as for a
        `Rule`, of the dense meaning), `converts` (whether a sparse result stores just what is not zero
        in a dense array, so that its cotangent is dense too), `hint` (the parameter, None by default,
        that names the storage type wanted of the result: where no rule gives it the result is
        converted), `mixes` (whether the dense meaning of a variadic operator with `updates` takes every
        mix of default and row_sparse arrays, and gives the storage types of what it replaces),
        `check` (called with the values and the
        parameters before an operator runs on concrete values, to refuse values that no kernel can
        refuse).

    Returns:
      A decorator that returns the `Operator`.
    """

    def make(fn) -> Operator:
        signature = inspect.signature(fn)
        kinds = signature.parameters.values()
        arrays = [p for p in kinds if p.kind is p.POSITIONAL_OR_KEYWORD]
        rest = [p for p in kinds if p.kind is p.VAR_POSITIONAL]
        parameters = {
            p.name: p
            for p in kinds
            if p.kind is p.KEYWORD_ONLY and p.name not in ("key", "training")
        }
        op = Operator(
            name=name or fn.__name__,
            fn=fn,
            arrays=tuple(p.name for p in arrays + rest),
            optional=frozenset(p.name for p in arrays if p.default is None),
            variadic=bool(rest),
            parameters=parameters,
            scalars=frozenset(
                n for n, p in parameters.items() if p.annotation in (Scalar, Scalars)
            ),
            **options,
        )
        register(op)
        return op

    return make


OPERATORS: dict[str, Operator] = {}
"""Every operator by name and alias."""


def register(op: Operator) -> None:
    for name in (op.name, *op.aliases):
        if name in OPERATORS:
            raise ValueError(f"operator {name!r} is registered twice")
        OPERATORS[name] = op
