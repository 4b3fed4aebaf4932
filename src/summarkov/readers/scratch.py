"""A folder of its own for temporary files, gone whatever happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

from summarkov.errors import SettingError, naming_the_disk

try:
    import fcntl
except ImportError:  # on Windows leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]  # elsewhere it is a module

#: How the names of the folders begin, by which later runs know them.
PREFIX = "summarkov-stream-"


class Scratch:
    """A temporary folder.

    It is removed by :meth:`remove`, when the object is no longer used, or when Python ends. A process that is
    killed cannot remove anything, so every new folder begins by removing those beside it that no living
    process holds: each holds a lock on its own, which goes with the process.
    """

    def __init__(self, beside: str | os.PathLike[str] | None = None) -> None:
        parent = Path(tempfile.gettempdir() if beside is None else beside)
        if not parent.is_dir():
            raise SettingError(f"there is no folder {parent} for temporary files; make it first")
        remove_leftovers(parent)
        self.path, lock = _make(parent)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._finalizer()

    @contextlib.contextmanager
    def removed_on_error(self) -> Iterator[Scratch]:
        """Remove the folder if what follows fails or is interrupted."""
        try:
            with naming_the_disk(self.path.parent):
                yield self
        except BaseException:
            self.remove()
            raise


def remove_leftovers(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for path in parent.glob(f"{PREFIX}*"):
        lock = _lock(path)
        if lock is not None:
            _remove(path, lock)


def _make(parent: Path) -> tuple[Path, int | None]:
    """Make a folder and lock it."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = _lock(path)
        if path.exists():  # else another process took it for a leftover before it was locked
            return path, lock
        if lock is not None:
            os.close(lock)


def _lock(path: Path) -> int | None:
    """Lock a folder; None if somebody else has, or if there are no locks here."""
    if fcntl is None:
        return None
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:  # gone meanwhile, or somebody else's
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _remove(path: Path, lock: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)
