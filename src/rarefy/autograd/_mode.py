"""Whether operators are recorded, and whether they behave as in training. One state per thread."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any


class _Mode(threading.local):
    recording = False
    training = False


_mode = _Mode()


def is_recording() -> bool:
    """Whether operators are being recorded in this thread."""
    return _mode.recording


def is_training() -> bool:
    """Whether operators such as Dropout behave as in training in this thread."""
    return _mode.training


def set_recording(is_recording: bool) -> bool:
    """Sets whether operators are recorded; returns what it was."""
    before, _mode.recording = _mode.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Sets whether operators behave as in training; returns what it was."""
    before, _mode.training = _mode.training, bool(train_mode)
    return before


class _scope:
    """A scope, for `with` or as a decorator; None leaves as it is."""

    def __init__(self, recording: bool | None, training: bool | None):
        self._wanted = (recording, training)
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        recording, training = self._wanted
        self._before.append((_mode.recording, _mode.training))
        if recording is not None:
            _mode.recording = recording
        if training is not None:
            _mode.training = training

    def __exit__(self, *failure: object) -> None:
        _mode.recording, _mode.training = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with _scope(*self._wanted):
                return function(*args, **kwargs)

        return inside


def record(train_mode: bool = True):
    """A scope in which operators are recorded for `backward`, in training mode by default."""
    return _scope(True, train_mode)


def pause(train_mode: bool = False):
    """A scope in which operators are not recorded."""
    return _scope(False, train_mode)


def train_mode():
    """A scope in which operators behave as in training; recording stays as it is."""
    return _scope(None, True)


def predict_mode():
    """A scope in which operators behave as in prediction; recording stays as it is."""
    return _scope(None, False)
