"""A folder of its own for temporary files, gone whatever happens."""

from __future__ import annotations

import contextlib
import os
import secrets
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
        self.path = parent / f"{PREFIX}{secrets.token_hex(6)}"
        held: list[int] = []
        # from before the folder is there, for Ctrl-C may come the moment it is
        self._finalizer = weakref.finalize(self, _remove, self.path, held)
        _make(self.path, held)

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
        held: list[int] = []
        _lock(path, held)
        if held:
            _remove(path, held)


def _make(path: Path, held: list[int]) -> None:
    """Make a folder and lock it."""
    while not path.exists():  # another process may take it for a leftover before it is locked
        while held:
            os.close(held.pop())
        path.mkdir(mode=0o700)
        _lock(path, held, wait=True)


def _lock(path: Path, held: list[int], *, wait: bool = False) -> None:
    """Lock a folder and put the lock among those held, unless somebody else has it, or there are no locks."""
    if fcntl is None:
        return
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:  # gone meanwhile, or somebody else's
        return
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(opened)
    else:
        held.append(opened)


def _remove(path: Path, held: list[int]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    while held:
        os.close(held.pop())
