"""Recording operators and going back through them, with gradients of any storage type."""

from rarefy.autograd._backward import backward, grad, mark_variables
from rarefy.autograd._function import Function
from rarefy.autograd._mode import (
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from rarefy.autograd._tape import GradientError
