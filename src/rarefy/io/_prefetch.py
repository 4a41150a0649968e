"""Working ahead in a thread."""

import threading
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
_JOIN_SECONDS = 5.0


def prefetched(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yields `items`, up to `depth` of which a thread prepares ahead.

    An exception of `items` is raised at its place in the order. When the generator is closed, or
    collected as garbage, the thread ends after the item that it works on, and `items` is closed.

    Args:
      items: iterated in the thread only.
      depth: 0 does without a thread.
    """
    if depth == 0:
        yield from items
        return
    channel = _Channel(depth)
    thread = threading.Thread(
        target=_pump, args=(items, channel), name="rarefy-prefetch", daemon=True
    )
    thread.start()
    try:
        while True:
            done, value = channel.get()
            if done:
                if value is not None:
                    raise value
                return
            yield value
            del value
    finally:
        channel.close()
        # A thread that waits for a pipe cannot be woken; it is left behind, and ends with the pipe.
        thread.join(_JOIN_SECONDS)


def _pump(items: Iterator[Any], channel: "_Channel") -> None:
    failure = None
    try:
        for item in items:
            if not channel.put((False, item)):
                break
            del item
    except BaseException as error:
        failure = error
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    channel.put((True, failure))


class _Channel:
    """A bounded queue whose two ends can be closed."""

    def __init__(self, depth: int):
        self._depth = depth
        self._items: deque = deque()
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item: Any) -> bool:
        """Waits for room; `False` if nobody will ever want the item."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if self._closed:
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def get(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._items)
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
