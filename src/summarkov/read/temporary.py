"""Files that are written all or nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from summarkov.errors import StoreError, naming_the_disk
from summarkov.read.addresses import is_address, local_name, name_of, send


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty file beside ``path`` to write to; on success it takes that name, else it is gone.

    Whatever stood there before stays whole until then, and after an error. What is written to an address is
    sent there when it is complete.
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
    temporary = final.with_name(f".{final.name[:40]}.{secrets.token_hex(6)}.tmp")  # names have 255 bytes
    try:  # from before the file is there, for Ctrl-C may come the moment it is
        with naming_the_disk(path):
            _make(temporary, final)
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())  # a name that comes before its bytes would be lost with the power
            os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _make(temporary: Path, final: Path) -> None:
    """Make a file that may be read by whoever may read the one that it replaces, and nobody else."""
    before = os.stat(final) if final.exists() else None
    file = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600)
    try:
        if before is not None and hasattr(os, "fchown"):
            mode = before.st_mode & 0o7777
            try:
                os.fchown(file, -1, before.st_gid)
            except PermissionError:
                mode &= ~0o070  # another group must not read it
            with contextlib.suppress(PermissionError):
                os.fchown(file, before.st_uid, -1)
            os.fchmod(file, mode)
    finally:
        os.close(file)


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write text, so that readers see the old file or the whole new one and never a part."""
    try:
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise StoreError(f"{name_of(path)}: cannot be written ({problem.strerror or problem})") from None
