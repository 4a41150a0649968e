"""Files that are there whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Opens a new file that takes the place of `path` when the block ends, and not before.

    The content is on the disk before the name points to it, so that after a crash at any moment the
    name has the old content or the new. If the block raises, the old file stays and the new one is
    removed. Permissions are those of the old file, or those that a new file gets. What is no ordinary
    file (a pipe, `/dev/stdout`) keeps its place and is written to.

    Raises:
      OSError: the folder cannot be written to.
    """
    path = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as special:
            yield special
        return
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder or ".", prefix=f".{name}.")
    except OSError as error:  # it names the temporary file, which says nothing to anyone
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
