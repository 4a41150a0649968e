"""Names of blocks: a prefix for what is made inside a block's scope."""

import threading
from typing import Any

from rarefy.gluon._parameter_dict import ParameterDict
from rarefy.name import Prefix, current


class _Open(threading.local):
    """The scopes that are open in a thread."""

    def __init__(self) -> None:
        self.scopes: list[BlockScope] = []


_open = _Open()


class BlockScope:
    """The scope of a block: used with `with`, what is made inside bears its prefix.

    Args:
      block: the block.
    """

    def __init__(self, block: Any):
        self._block = block
        self._counts: dict[str, int] = {}
        self._names: list[Prefix] = []

    @staticmethod
    def create(
        prefix: str | None, params: ParameterDict | None, hint: str
    ) -> tuple[str, ParameterDict]:
        """The prefix and the parameters of a new block.

        Args:
          prefix: its prefix in the scope it is made in, or None for the hint and a number.
          params: parameters to share, or None.
          hint: what the block is called by default.
        """
        scope = _open.scopes[-1] if _open.scopes else None
        if scope is None:
            prefix = current().get(None, hint) + "_" if prefix is None else prefix
            own = ParameterDict(prefix) if params is None else ParameterDict(params.prefix, params)
            return prefix, own
        if prefix is None:
            number = scope._counts.get(hint, 0)
            scope._counts[hint] = number + 1
            prefix = f"{hint}{number}_"
        outer = scope._block
        if params is None:
            own = ParameterDict(outer.params.prefix + prefix, outer.params._shared)
        else:
            own = ParameterDict(params.prefix, params)
        return outer.prefix + prefix, own

    def __enter__(self) -> "BlockScope":
        if not self._block._empty_prefix:
            _open.scopes.append(self)
            self._names.append(Prefix(self._block.prefix))
            self._names[-1].__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._block._empty_prefix:
            self._names.pop().__exit__()
            _open.scopes.pop()
