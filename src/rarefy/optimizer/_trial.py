"""An optimizer for tests of programs."""

from typing import Any

from rarefy._ops.defs.rule_update import test_update
from rarefy.nd._handle import Handle
from rarefy.optimizer._optimizer import State, register
from rarefy.optimizer._rule_optimizer import RuleOptimizer


@register
class Test(RuleOptimizer):
    """Adds the gradient: `weight = weight + rescale_grad * grad`, and the state is the new weight."""

    __test__ = False  # not a test case of pytest
    operator = test_update

    def create_state(self, index: Any, weight: Handle) -> State:
        """The copy of the weight, zeros at first."""
        return super().create_state(index, weight)[0]
