"""What is said where a program cannot be sparsified."""

from collections.abc import Sequence
from typing import Any

from rarefy.sparse._sparsify._values import Call, describe

USE_TODENSE = (
    "If this is your intent, use sparse.todense() to convert your arguments to dense matrices."
)
# These texts are the whole message, as their users know it; what else there is to say is a note.
SAID_ALONE = {"complex"}


def densifies(name: str) -> str:
    """Why a result is refused whose cells outside of the pattern are not zero."""
    if name in ("add", "add_any"):
        return (
            "Addition between a sparse array X and a dense array Y is not implemented when the "
            "output shape is larger than Y.shape: every cell of the result would be stored. "
            "Reduce the sum in the same function, or use sparse.todense() on X."
        )
    if name == "sub":
        return (
            "Subtraction between sparse and dense array. It is implemented where the dense array has "
            "the shape of the result; otherwise use sparse.todense()."
        )
    if name == "div":
        return (
            "Division by a sparse array is not implemented because it would result in dense output. "
            + USE_TODENSE
        )
    return (
        f"sparse rule for {name} is not implemented because it would result in dense output. "
        f"{USE_TODENSE} A sum, mean, maximum or product of the result in the same function needs none."
    )


def no_power(y: int) -> str:
    """Why `x ** y` is refused for `y <= 0`."""
    return (
        f"sparse rule for integer_pow with non-positive exponent {y} is not implemented because it "
        f"would result in dense output. {USE_TODENSE}"
    )


def unsupported(call: Call, ins: Sequence[Any], way_out: str = "") -> NotImplementedError:
    """The error for a primitive, or a use of it, that has no rule."""
    text = f"sparse rule for {call.name} is not implemented."
    operands = ", ".join(map(describe, ins))
    more = f"The operands are {operands}. {way_out or 'Use sparse.todense() on the sparse ones.'}"
    if call.name not in SAID_ALONE:
        return NotImplementedError(f"{text} {more}")
    error = NotImplementedError(text)
    error.add_note(more)
    return error


def refused(text: str, value: Any) -> NotImplementedError:
    """The error for a result that would be dense."""
    error = NotImplementedError(text)
    error.add_note(f"The result is {describe(value)}.")
    return error
