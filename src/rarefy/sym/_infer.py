"""What `Symbol` says about shapes, dtypes and storage types."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from rarefy._config import config
from rarefy._ops.dtypes import Dtype
from rarefy._ops.shapes import Shape, is_known
from rarefy._ops.storage import SType
from rarefy.base import MXNetError
from rarefy.sym._graph import Graph
from rarefy.sym._infer_shape import for_user, from_user, infer_graph_shapes
from rarefy.sym._infer_storage import (
    Stored,
    gradient_requests,
    gradient_storage,
    infer_graph_storage,
    require_stype,
)
from rarefy.sym._infer_type import infer_graph_types
from rarefy.sym._node import Node
from rarefy.sym._optimise import optimise


class Inference(Graph):
    """A graph that can be asked for what follows from the properties of its variables."""

    __slots__ = ()

    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The shapes of arguments, results and auxiliary states from those of some variables.

        Args:
          *args: a shape for each argument in order, None where it is not known.
          **kwargs: shapes by name. A size of 0 is not known; with NumPy's shapes switched on
            (`util.np_shape`) it is a size, and -1 is not known.

        Returns:
          Three lists of shapes; three None, and a warning, where one does not follow.

        Raises:
          MXNetError: an operator does not take such shapes, or there is no variable of a name.
        """
        found = self._shapes("infer_shape", args, kwargs)
        if all(map(is_known, (s for group in found for s in group))):
            return self._for_user(found)
        names = self.list_arguments()
        missing = [
            f"{n}: {for_user(s)}" for n, s in zip(names, found[0], strict=True) if not is_known(s)
        ]
        warnings.warn(
            "Cannot decide shape for the following arguments (0s in shape means unknown "
            "dimensions). Consider providing them as input:\n\t" + "\n\t".join(missing),
            stacklevel=2,
        )
        return None, None, None

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """As `infer_shape`, with 0 for a size and () for a shape that does not follow; -1 and None
        with NumPy's shapes switched on."""
        return self._for_user(self._shapes("infer_shape", args, kwargs))

    def _shapes(self, what: str, args: tuple, kwargs: Mapping[str, Any]) -> list[list[Shape]]:
        given = {}
        for name, shape in self._given(what, args, kwargs).items():
            if shape is None:
                continue
            if not isinstance(shape, tuple | list):
                raise TypeError(
                    f"Arguments need to be shapes (tuple), but {name} is {type(shape)}."
                )
            given[name] = from_user(shape)
        found = infer_graph_shapes(self._entries, given)
        return self._by_kind(lambda node, i: found[id(node), i])

    @staticmethod
    def _for_user(found: list[list[Shape]]) -> tuple[Any, Any, Any]:
        arguments, results, states = ([for_user(s) for s in group] for group in found)
        return arguments, results, states

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The dtypes of arguments, results and auxiliary states from those of some variables.

        Args:
          *args: a dtype for each argument in order, None where it is not known.
          **kwargs: dtypes by name.

        Returns:
          Three lists of NumPy types; three None, and a warning, where one does not follow.

        Raises:
          MXNetError: an operator does not take such dtypes, or there is no variable of a name.
        """
        found = self.infer_type_partial(*args, **kwargs)
        if all(t is not None for group in found for t in group):
            return found
        names = self.list_arguments()
        missing = [f"{n}: {t}" for n, t in zip(names, found[0], strict=True) if t is None]
        warnings.warn(
            "Cannot decide type for the following arguments. Consider providing them as input:"
            "\n\t" + "\n\t".join(missing),
            stacklevel=2,
        )
        return None, None, None

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """As `infer_type`, with None for a dtype that does not follow."""
        given: dict[str, Dtype] = {
            name: np.dtype(dtype).name
            for name, dtype in self._given("infer_type", args, kwargs).items()
            if dtype is not None
        }
        found = infer_graph_types(self._entries, given)
        arguments, results, states = self._by_kind(lambda node, i: _type(found[id(node), i]))
        return arguments, results, states

    def infer_storage_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """The storage types of arguments, results and auxiliary states.

        Args:
          *args: a storage type for each argument in order, None for what it declares.
          **kwargs: storage types by name. A variable declares its own with `stype`, else it is
            'default'.

        Returns:
          Three lists of storage types.

        Raises:
          MXNetError: a storage type does not exist, or there is no variable of a name.
        """
        given: dict[str, SType] = {
            name: require_stype(stype, name)
            for name, stype in self._given("infer_storage_type", args, kwargs).items()
            if stype is not None
        }
        found = infer_graph_storage(self._entries, given)
        arguments, results, states = self._by_kind(lambda node, i: found[id(node)].outputs[i])
        return arguments, results, states

    def storage_plan(self, *, grad_req: Any = None, **stypes: str) -> str:
        """A table of how every node is stored and where sparse arrays go dense.

        Args:
          grad_req: what is done with the gradient of each argument, as `simple_bind` takes it; None
            for the forward pass alone.
          **stypes: storage types of variables by name, where they do not declare them.

        Returns:
          A line for each node: its name, its operator, the storage types of what it reads and of its
          results; then `fallback` where it works on dense copies of sparse arrays, or `dense` where its
          rule for sparse arrays has a dense result of their shape; or what an executor makes of it:
          `removed` (a cast that undoes another, a retain that is done earlier) or `on kept rows`
          (`rarefy.config.optimise_graphs` switches that off).

          With `grad_req` a second table follows, with a line for each argument: its name, what is done
          with its gradient, the storage type that `simple_bind` gives that; then `dense at` and the
          nodes that make it so, where its array is sparse or other nodes give rows of it, or
          `fallback at`, where one of those nodes works on dense copies of sparse arrays.

        Raises:
          MXNetError: a storage type does not exist, or there is no variable of a name.
          ValueError: `grad_req` is none of the three, names what is no argument, or is a list of another
            length than the arguments.
        """
        kinds = self._given("storage_plan", (), stypes)
        given: dict[str, SType] = {n: require_stype(s, n) for n, s in kinds.items()}
        plan = infer_graph_storage(self._entries, given)
        changes = optimise(self._entries, plan)[1] if config.optimise_graphs else {}
        rows = [("node", "operator", "inputs", "outputs", "")]
        for stored in plan.values():
            node = stored.node
            rows.append(
                (
                    node.name,
                    node.op.name if node.op else "variable",
                    ", ".join(s for s in stored.inputs if s),
                    ", ".join(stored.outputs),
                    changes.get(id(node), stored.note),
                )
            )
        if grad_req is None:
            return _table(rows)
        return f"{_table(rows)}\n\n{_table(self._gradient_rows(plan, grad_req))}"

    def _gradient_rows(self, plan: Mapping[int, Stored], grad_req: Any) -> list[tuple[str, ...]]:
        found, names = gradient_storage(self._entries, plan), self.list_arguments()
        rows = [("argument", "grad_req", "gradient", "")]
        unknown = sorted(set(grad_req) - set(names)) if isinstance(grad_req, Mapping) else ()
        if unknown:
            raise ValueError(
                f"storage_plan: grad_req names {', '.join(unknown)}; the arguments are "
                f"{', '.join(names)}"
            )
        for name, req in zip(names, gradient_requests(grad_req, names), strict=True):
            gradient = found[name]
            if req == "null":
                rows.append((name, req, "", ""))
                continue
            note = gradient.note and f"{gradient.note} at {', '.join(gradient.spread_at)}"
            rows.append((name, req, gradient.stype, note))
        return rows

    def _given(self, what: str, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What is given of variables, by name."""
        if args and kwargs:
            raise ValueError(
                "Can only specify known argument shapes either by positional or kwargs way."
            )
        if args:
            names = self.list_arguments()
            if len(args) > len(names):
                raise MXNetError(f"{what}: {len(args)} given for the arguments {names}")
            return dict(zip(names, args, strict=False))
        known = self.list_inputs()
        for name in kwargs:
            if name not in known:
                raise MXNetError(
                    f"{what}: Keyword argument name {name} not found. Candidate arguments: "
                    + ", ".join(known)
                )
        return dict(kwargs)

    def _by_kind(self, of) -> list[list[Any]]:
        """Something of each argument, each result and each auxiliary state."""
        states = self._states()
        variables: list[Node] = self._variables()
        return [
            [of(v, 0) for v in variables if id(v) not in states],
            [of(e.node, e.index) for e in self._entries],
            [of(v, 0) for v in variables if id(v) in states],
        ]


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _type(name: Dtype) -> Any:
    return None if name is None else np.dtype(name).type
