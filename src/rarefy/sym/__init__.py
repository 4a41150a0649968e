"""Graphs of operators on variables, in MXNet's style."""

from rarefy._ops import defs as _defs
from rarefy.sym import _internal, contrib, linalg, op, random, sparse
from rarefy.sym._create import (
    Custom,
    Group,
    Variable,
    arange,
    eye,
    fromjson,
    full,
    histogram,
    hypot,
    linspace,
    load,
    load_json,
    maximum,
    minimum,
    ones,
    pow,
    power,
    var,
    zeros,
)
from rarefy.sym._render import namespace as _namespace
from rarefy.sym._symbol import Symbol, split_v2

globals().update(
    {
        name: function
        for name, function in _namespace(module="rarefy.sym").items()
        if name not in globals()
    }
)
