"""Settings of the process, as attributes of one object."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal


@dataclass
class Config:
    """Settings that take effect at the next call.

    Attributes:
      storage_fallback: what to do where an operator has no rule for its arrays' storage types and
        works on dense copies: 'warn' once for each case, 'silent', or 'error'.
      storage_fallback_bytes: dense copies above this many bytes are always an error.
      storage_fallbacks: counts how often that happened, by (operator, storage types of its arrays);
        `storage_fallbacks.clear()` starts anew.
      optimise_graphs: whether executors leave out casts of storage that undo one another and keep rows
        before they compute with them; takes effect where a graph is bound.
    """

    storage_fallback: Literal["warn", "silent", "error"] = "warn"
    storage_fallback_bytes: int = 4 << 30
    storage_fallbacks: Counter[tuple[str, tuple[str | None, ...]]] = field(default_factory=Counter)
    optimise_graphs: bool = True

    def __setattr__(self, name, value):
        if name == "storage_fallback" and value not in ("warn", "silent", "error"):
            raise ValueError(f"storage_fallback must be warn, silent or error; got {value!r}")
        if name not in self.__dataclass_fields__:
            known = ", ".join(self.__dataclass_fields__)
            raise AttributeError(f"no setting {name!r}; there are {known}")
        object.__setattr__(self, name, value)


config = Config()
