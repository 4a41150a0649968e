"""Running graphs: what `Symbol.bind` and `Symbol.simple_bind` return."""

from rarefy.executor._bind import Binding
from rarefy.executor._executor import Executor
