"""What the optimizers share whose whole update is one operator."""

from typing import Any, ClassVar

from rarefy._ops.opdef import Operator
from rarefy._ops.storage import stype_of
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import Hyper, Optimizer, State, run_update, zeros_like


class RuleOptimizer(Optimizer):
    """An optimizer that one operator updates by, with states that start at zero.

    Attributes:
      operator: the operator; its arrays are weight, gradient and states.
      numbers: the further parameters of the operator that are attributes here.
      keeps_stype: whether states have the weight's storage type; otherwise they are default.
      lazy_update: whether a row_sparse gradient moves only the rows that it stores.
    """

    operator: ClassVar[Operator]
    numbers: ClassVar[tuple[str, ...]] = ()
    keeps_stype: ClassVar[bool] = False

    def __init__(self, lazy_update: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """A tuple of the operator's states."""
        stype = stype_of(weight._value) if self.keeps_stype or self.lazy_update else "default"
        return tuple(zeros_like(weight, stype) for _ in self.operator.arrays[2:])

    def hyper(self, index: Any) -> dict[str, float]:
        own = {name: float(getattr(self, name)) for name in self.numbers}
        return {**super().hyper(index), **own}

    def apply(self, index: Any, weight: Handle, grad: Handle, state: State, hyper: Hyper) -> None:
        states = () if state is None else state if isinstance(state, tuple | list) else (state,)
        run_update(self.operator, weight, grad, states, hyper, self.lazy_update)
