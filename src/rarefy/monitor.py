"""Looking at what an executor computes."""

import logging
import re
from collections.abc import Callable
from math import sqrt
from typing import Any

from rarefy.nd._ndarray import NDArray
from rarefy.nd.op import norm


def _mean_size(array: NDArray) -> NDArray:
    """|x| / sqrt(size): the root of the mean square."""
    size = 1
    for extent in array.shape:
        size *= extent
    return norm(array) / sqrt(max(size, 1))


class Monitor:
    """Collects statistics of results, arguments and gradients, every few batches.

    Args:
      interval: how many batches lie between two looks.
      stat_func: of an array, returns an array or a list of them; |x| / sqrt(size) by default.
      pattern: only what has a name that this regular expression matches.
      sort: whether the results are sorted by name.
      monitor_all: whether the inputs of operators are looked at, not only their results.

    Attributes:
      queue: what was collected since `tic`: step, name, statistic.
    """

    def __init__(
        self,
        interval: int,
        stat_func: Callable[[NDArray], Any] | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ):
        self.interval = interval
        self.stat_func = stat_func or _mean_size
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []

    def stat_helper(self, name: str, array: NDArray) -> None:
        """What executors call with each result: collects its statistic between `tic` and `toc`."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any) -> None:
        """Lets an executor be looked at; there may be several."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Begins to collect, if it is time to; call it before the forward pass of a batch."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Ends collecting; call it after the batch.

        Returns:
          Step, name and statistic as text, of results, arguments and auxiliary states; empty where it
          was not time to.
        """
        if not self.activated:
            return []
        for exe in self.exes:
            symbol = exe._symbol
            named = [
                *zip(symbol.list_arguments(), exe.arg_arrays, strict=True),
                *zip(symbol.list_auxiliary_states(), exe.aux_arrays, strict=True),
            ]
            for name, array in named:
                self.stat_helper(name, array)
        self.activated = False
        found, self.queue = self.queue, []
        if self.sort:
            found.sort(key=lambda item: item[1])
        return [(step, name, _text(statistic)) for step, name, statistic in found]

    def toc_print(self) -> None:
        """Ends collecting and logs what was found."""
        for step, name, text in self.toc():
            logging.info(f"Batch: {step:7d} {name:30s} {text}")


def _text(statistic: Any) -> str:
    arrays = statistic if isinstance(statistic, list) else [statistic]
    text = ""
    for array in arrays:
        if not isinstance(array, NDArray):
            raise TypeError(f"stat_func must return arrays; got {type(array).__name__}")
        text += str(array.asscalar() if array.shape == (1,) else array.asnumpy()) + "\t"
    return text
