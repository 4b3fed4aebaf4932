"""Temporary files and folders, gone whatever happens; and files that are written all or nothing."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from summarkov.errors import SettingError, StoreError, naming_the_disk
from summarkov.io.addresses import is_address, local_name, name_of, send

try:
    import fcntl
except ImportError:  # on Windows leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]  # elsewhere it is a module

#: How the folders are called, and the file in each that says what it is and holds the lock of its process.
PREFIX = "summarkov-scratch-"
_NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{12}")
_MARK, _MARKED = (
    ".summarkov",
    b"temporary files of summarkov, to be removed if no process holds a lock here\n",
)
#: What must not make opening wait, or lead elsewhere: pipes and links that are called like ours.
_CAREFULLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


class Scratch:
    """A temporary folder, which only its owner may enter.

    It is removed by :meth:`remove`, when the object is no longer used, or when Python ends; never by a
    process that was forked meanwhile. A process that is killed cannot remove anything, so every new folder
    begins by removing those beside it that killed processes of the same user have left.
    """

    def __init__(self, beside: str | os.PathLike[str] | None = None) -> None:
        parent = Path(tempfile.gettempdir() if beside is None else beside)
        if not parent.is_dir():
            raise SettingError(f"there is no folder {parent} for temporary files; make it first")
        remove_leftovers(parent)
        self.path = parent / f"{PREFIX}{secrets.token_hex(6)}"
        held: list[int] = []
        # from before the folder is there, for Ctrl-C may come the moment it is
        self._finalizer = weakref.finalize(self, _remove, self.path, held, os.getpid())
        _remove_when_terminated(self)
        self.path.mkdir(mode=0o700)
        _mark(self.path / _MARK, held)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._finalizer()
        _living.discard(self)
        if not _living and _may_listen(_terminated):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    @contextlib.contextmanager
    def removed_on_error(self) -> Iterator[Scratch]:
        """Remove the folder if what follows fails or is interrupted."""
        try:
            with naming_the_disk(self.path.parent):
                yield self
        except BaseException:
            self.remove()
            raise


#: Folders to be removed when the process is asked to end.
_living: weakref.WeakSet[Scratch] = weakref.WeakSet()


def _remove_when_terminated(scratch: Scratch) -> None:
    """Remove a folder also on SIGTERM, on which Python cleans nothing up, unless somebody else listens."""
    _living.add(scratch)
    if _may_listen(signal.SIG_DFL):
        signal.signal(signal.SIGTERM, _terminated)


def _may_listen(before: object) -> bool:
    """Whether this is the thread that may ask for signals, and SIGTERM has been left to ``before``."""
    return (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is before
    )


def _terminated(number: int, frame: FrameType | None) -> None:
    """Remove all folders, then end as if nobody had listened."""
    for scratch in list(_living):
        scratch.remove()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def remove_leftovers(parent: Path) -> None:
    """Remove the folders of processes that were killed.

    Only those that have a name of ours, belong to this user, carry our mark, and are held by no process.
    """
    if fcntl is None:
        return
    with os.scandir(parent) as entries:
        paths = [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]
    for path in paths:
        with contextlib.suppress(OSError), _opened(path, os.O_DIRECTORY) as folder:
            if _is_mine(folder, stat.S_IFDIR):
                _remove_if_dead(path, folder)


def _remove_if_dead(path: Path, folder: int) -> None:
    with _opened(Path(_MARK), folder=folder) as mark:
        if _is_mine(mark, stat.S_IFREG) and os.read(mark, len(_MARKED) + 1) == _MARKED:
            _lock(mark, wait=False)
            shutil.rmtree(path, ignore_errors=True)


def _mark(path: Path, held: list[int]) -> None:
    """Lock a new file, and only then say in it that what is beside it may go without the lock."""
    held.append(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    _lock(held[0])
    os.write(held[0], _MARKED)


def _remove(path: Path, held: list[int], owner: int) -> None:
    if os.getpid() != owner:  # a fork, whose parent still needs it
        return
    if fcntl is None:  # where an open file cannot be removed
        _let_go(held)
    shutil.rmtree(path, ignore_errors=True)
    _let_go(held)


def _let_go(held: list[int]) -> None:
    while held:
        os.close(held.pop())


# ---------------------------------------------------------------------- files that are written all or nothing


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty file beside ``path`` to write to; on success it takes that name, else it is gone.

    Whatever stood there before stays whole until then, and after an error. A process that is killed cannot
    remove its file; the next one that writes to the same path does. Every process holds a lock on its own,
    which goes with the process, so that files of the living are told from those of the dead. What is written
    to an address is sent there when it is complete.
    """
    if is_address(path):
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "file")
            yield made
            send(made, name_of(path))
        return
    final = Path(os.path.realpath(local_name(path)))  # what a link leads to, and not the link
    if final.exists() and not (final.is_file() or final.is_dir()):
        raise StoreError(f"{path}: cannot be written, it is not a regular file; name one")
    _remove_unfinished(final)
    temporary = final.with_name(f"{_beginning(final)}{secrets.token_hex(6)}.tmp")
    lock = None
    try:  # from before the file is there, for Ctrl-C may come the moment it is
        with naming_the_disk(path):
            lock = _make(temporary, final)
            yield temporary
            _to_disk(temporary)
            os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _make(temporary: Path, final: Path) -> int:
    """Make a file that may be read by whoever may read the one that it replaces, and lock it."""
    while True:
        try:
            before = os.stat(final)
        except FileNotFoundError:
            before = None
        mode = 0o666 if before is None else 0o600
        lock = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        if before is not None:
            _keep_access(lock, before)
        _lock(lock)
        if temporary.exists():  # else another process took it for a leftover before it was locked
            return lock
        os.close(lock)


def _keep_access(file: int, before: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of another."""
    if not hasattr(os, "fchown"):  # on Windows
        return
    mode = stat.S_IMODE(before.st_mode)
    try:
        os.fchown(file, before.st_uid, before.st_gid)
    except PermissionError:  # only its own group may be given away, and nothing to another user
        try:
            os.fchown(file, -1, before.st_gid)
        except PermissionError:
            mode &= ~stat.S_IRWXG
    os.fchmod(file, mode)


def _remove_unfinished(final: Path) -> None:
    """Remove what processes of this user that were killed have left."""
    beginning = os.path.join(final.parent, _beginning(final))
    for name in glob.glob(f"{glob.escape(beginning)}*.tmp") if fcntl is not None else ():
        if re.fullmatch(r"[0-9a-f]{12}\.tmp", name[len(beginning) :]):
            with contextlib.suppress(OSError), _opened(Path(name)) as file:
                if _is_mine(file, stat.S_IFREG):
                    _lock(file, wait=False)
                    os.unlink(name)


def _beginning(final: Path) -> str:
    return f".{final.name[:40]}."  # names have 255 bytes


def _to_disk(path: Path) -> None:
    """Wait until a file is written: a name that comes before its bytes would be lost with the power."""
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write text, so that readers see the old file or the whole new one and never a part."""
    try:
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise StoreError(f"{name_of(path)}: cannot be written ({problem.strerror or problem})") from None


# ---------------------------------------------------------------------- what is whose


def _lock(opened: int, *, wait: bool = True) -> None:
    """Hold what was opened for this process; an OSError if another one does and this is not to wait."""
    if fcntl is not None:
        fcntl.flock(opened, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def _opened(path: Path, flags: int = 0, folder: int | None = None) -> Iterator[int]:
    """Open what may be somebody else's; an OSError if it cannot be."""
    opened = os.open(path, _CAREFULLY | flags, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


def _is_mine(opened: int, kind: int) -> bool:
    """Whether what was opened is of a kind, and of this user."""
    found = os.fstat(opened)
    return stat.S_IFMT(found.st_mode) == kind and found.st_uid == os.geteuid()
