"""Write a file all or nothing."""

from __future__ import annotations

import glob
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from summarkov.errors import StoreError, naming_the_disk

try:
    import fcntl
except ImportError:  # on Windows leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]  # elsewhere it is a module


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty file beside ``path`` to write to; on success it takes that name, else it is gone.

    Whatever stood there before stays whole until then, and after an error. A process that is killed cannot
    remove its file; the next one that writes to the same path does. Every process holds a lock on its own,
    which goes with the process, so that files of the living are told from those of the dead.
    """
    final = Path(os.path.realpath(path))  # what a link leads to, and not the link
    if final.exists() and not (final.is_file() or final.is_dir()):
        raise StoreError(f"{path}: cannot be written, it is not a regular file; name one")
    _remove_leftovers(final)
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
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
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


def _remove_leftovers(final: Path) -> None:
    """Remove what processes of this user that were killed have left."""
    beginning = os.path.join(final.parent, _beginning(final))
    for name in glob.glob(f"{glob.escape(beginning)}*.tmp") if fcntl is not None else ():
        if not re.fullmatch(r"[0-9a-f]{12}\.tmp", name[len(beginning) :]):
            continue
        try:  # without waiting for whom a pipe of that name may have at its other end
            opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError:  # gone meanwhile, or somebody else's
            continue
        try:
            found = os.fstat(opened)
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name)
        except OSError:  # somebody is writing it
            continue
        finally:
            os.close(opened)


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
        raise StoreError(f"{os.fspath(path)}: cannot be written ({problem.strerror or problem})") from None
