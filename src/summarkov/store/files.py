"""Write a file all or nothing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from summarkov.errors import StoreError, naming_the_disk


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to; on success it takes that name, else it is gone.

    Whatever stood there before stays whole until then, and after an error.
    """
    final = Path(path)
    temporary = final.with_name(f".{final.name[:40]}.{secrets.token_hex(6)}.tmp")  # names have 255 bytes
    try:
        with naming_the_disk(final):
            yield temporary
            _to_disk(temporary)
            os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


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
        with replacing(path) as temporary, open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise StoreError(f"{os.fspath(path)}: cannot be written ({problem.strerror or problem})") from None
