"""A graph of operators, looked at through some of its results: names, attributes, parts."""

from collections.abc import Iterator, Sequence
from typing import Any

from rarefy.base import MXNetError
from rarefy.sym import _json
from rarefy.sym._node import HIDDEN, Entry, Node, in_order, replaced
from rarefy.sym._params import parameters_of


class Graph:
    """Results of nodes, and with them all that they are computed from."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Sequence[Entry]):
        self._entries = tuple(entries)

    @property
    def _node(self) -> Node | None:
        """The node that all results belong to; None for a group."""
        nodes = {id(e.node): e.node for e in self._entries}
        return next(iter(nodes.values())) if len(nodes) == 1 else None

    @property
    def _nodes(self) -> list[Node]:
        """All nodes, each after those it reads."""
        return in_order(self._entries)

    # Names

    @property
    def name(self) -> str | None:
        """The name of the node; None for a group."""
        return None if self._node is None else self._node.name

    def __repr__(self) -> str:
        if self._node is None:
            return f"<Symbol group [{', '.join(e.node.name for e in self._entries)}]>"
        return f"<Symbol {self.name}>"

    def list_outputs(self) -> list[str]:
        """The names of the results."""
        return [e.name for e in self._entries]

    def list_inputs(self) -> list[str]:
        """The names of all variables: arguments and auxiliary states."""
        return [n.name for n in self._variables()]

    def list_arguments(self) -> list[str]:
        """The names of the arguments, in the order that `bind` takes them."""
        states = self._states()
        return [n.name for n in self._variables() if id(n) not in states]

    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables that operators change in training, as running means."""
        states = self._states()
        return [n.name for n in self._variables() if id(n) in states]

    def _variables(self) -> list[Node]:
        return [n for n in self._nodes if n.op is None]

    def _states(self) -> set[int]:
        """The variables that are auxiliary states, by identity."""
        return {id(e.node) for n in self._nodes for e in n.states() if e.node.op is None}

    # Parts

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int | str | slice) -> Any:
        """One result, by number or name; several for a slice.

        Raises:
          ValueError: no result, or more than one, has the name.
          IndexError: there are not as many results.
          TypeError: the index is none of the three.
        """
        if isinstance(index, slice):
            return type(self)(_some(self._entries[index]))
        if isinstance(index, str):
            found = [i for i, name in enumerate(self.list_outputs()) if name == index]
            if not found:
                raise ValueError(f'Cannot find output that matches name "{index}"')
            if len(found) > 1:
                raise ValueError(f'There are multiple outputs with name "{index}"')
            index = found[0]
        if not isinstance(index, int):
            raise TypeError("Symbol only support integer index to fetch i-th output")
        return type(self)([self._entries[index]])

    def get_internals(self) -> Any:
        """All results of all nodes."""
        return type(self)([Entry(n, i) for n in self._nodes for i in range(n.n_outputs)])

    def get_children(self) -> Any:
        """What the nodes of the results read; None if they are variables."""
        nodes = {id(e.node): e.node for e in self._entries}
        entries = [entry for node in nodes.values() for entry in node.given()]
        return type(self)(entries) if entries else None

    # Attributes

    def attr(self, key: str) -> str | None:
        """An attribute or parameter of the node; None where it has none of this name."""
        attrs = self._only("attr").attrs
        return attrs.get(_stored(key)) if key in HIDDEN else attrs.get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The attributes and parameters of the node.

        Raises:
          DeprecationWarning: `recursive`; `attr_dict` does that.
        """
        if recursive:
            raise DeprecationWarning(
                "Symbol.list_attr with recursive=True has been deprecated. "
                "Please use attr_dict instead."
            )
        return _shown(self._only("list_attr").attrs)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes and parameters of every node that has any, by name."""
        return {n.name: _shown(n.attrs) for n in self._nodes if n.attrs}

    def _set_attr(self, **kwargs: str) -> None:
        """Sets attributes of the node.

        Raises:
          ValueError: one is no string.
          MXNetError: the operator has no such parameter; attributes begin and end with `__`.
        """
        node = self._only("_set_attr")
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError("Set Attr only accepts string values")
            attrs = {**node.attrs, _stored(key): value}
            if node.op is not None:
                node.params = parameters_of(node.op, attrs, node.name)
            node.attrs = attrs

    def _only(self, what: str) -> Node:
        if self._node is None:
            raise MXNetError(f"{what} works on one symbol, not on a group")
        return self._node

    # Copies

    def __copy__(self) -> Any:
        return type(self)(replaced(self._entries, {}))

    def __deepcopy__(self, _) -> Any:
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        return {"json": self.tojson()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._entries = tuple(_json.read(state["json"]))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A copy in which other symbols stand for variables.

        Args:
          **kwargs: a symbol with one result for each variable that is replaced, by the variable's
            name; and `name`, for the copy.

        Raises:
          TypeError: an argument is no symbol.
          MXNetError: there is no variable of a name, or a symbol was given by position.
        """
        copy = self.__copy__()
        copy._compose(*args, **kwargs)
        return copy

    def _compose(self, *args: Any, **kwargs: Any) -> None:
        """Replaces variables, as `__call__` does, in this symbol."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise TypeError(
                "compose only accept input Symbols either as positional or keyword arguments, not both"
            )
        for value in (*args, *kwargs.values()):
            if not isinstance(value, Graph):
                raise TypeError("Compose expect `Symbol` as arguments")
        node = self._only("compose")
        if node.op is None:
            return
        if args:
            raise MXNetError(
                "General composition only support kwargs for now; the variables are "
                + ", ".join(self.list_inputs())
            )
        unknown = kwargs.keys() - set(self.list_inputs())
        if unknown:
            raise MXNetError(
                f"Symbol.Compose: Keyword argument name {', '.join(sorted(unknown))} not found. "
                f"Candidate arguments: {', '.join(self.list_inputs())}"
            )
        self._entries = tuple(replaced(self._entries, {k: single(v, k) for k, v in kwargs.items()}))
        if name:
            self._only("compose").name = name

    # Files

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as JSON, which MXNet reads too.

        Args:
          remove_amp_cast: accepted for MXNet's sake.
        """
        return _json.write(self._entries)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Writes `tojson()` to a file.

        Args:
          fname: its path.
          remove_amp_cast: accepted for MXNet's sake.

        Raises:
          TypeError: `fname` is no path.
        """
        _json.save(fname, self.tojson(remove_amp_cast))

    def debug_str(self) -> str:
        """The nodes with their parameters and inputs, a line each."""
        lines = ["Symbol Outputs:"]
        lines += [f"\toutput[{i}]={e.node.name}({e.index})" for i, e in enumerate(self._entries)]
        for node in self._nodes:
            if node.op is None:
                lines.append(f"Variable:{node.name}")
                continue
            lines += ["-" * 20, f"Op:{node.op.name}, Name={node.name}", "Inputs:"]
            states = {id(e.node) for e in node.states()}
            for i, entry in enumerate(node.given()):
                version = f" version={int(id(entry.node) in states)}"
                version = version if entry.node.op is None else ""
                lines.append(f"\targ[{i}]={entry.node.name}({entry.index}){version}")
            if node.attrs:
                lines += ["Attrs:", *(f"\t{k}={v}" for k, v in sorted(node.attrs.items()))]
        return "\n".join(lines) + "\n"


def single(graph: Graph, what: str) -> Entry:
    """The only result of a graph.

    Raises:
      MXNetError: it has several.
    """
    if len(graph._entries) != 1:
        raise MXNetError(
            f"Argument {what} is a tuple, single value is required: {graph!r} has "
            f"{len(graph._entries)} results; choose one with [i]"
        )
    return graph._entries[0]


def _some(entries: Sequence[Entry]) -> Sequence[Entry]:
    if not entries:
        raise TypeError("Expected a list of symbols as input")
    return entries


def _stored(key: str) -> str:
    """The name under which an attribute is stored."""
    return f"__{key}__" if key in HIDDEN else key


def _shown(attrs: dict[str, str]) -> dict[str, str]:
    """Attributes as they may be asked for: those with two names under both."""
    twice = {k: attrs[f"__{k}__"] for k in HIDDEN if f"__{k}__" in attrs}
    return {**attrs, **twice}


def stored_attributes(attrs: dict[str, str]) -> dict[str, str]:
    """Attributes under the names that they are stored by."""
    return {_stored(k): v for k, v in attrs.items()}
