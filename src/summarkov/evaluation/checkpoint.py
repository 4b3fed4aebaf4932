"""Keep what is done, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from summarkov import __version__
from summarkov.baselines import Contender
from summarkov.errors import SettingError, naming_the_disk
from summarkov.evaluation.tuning import Split, Tuned

#: How every line begins: what begins otherwise is somebody's file, and not to be removed.
_START = '{"name": "'


def fingerprint(split: Split, targets: Sequence[str], contender: Contender) -> str | None:
    """Name a piece of work by everything that its result depends on.

    A contender counts by its ``repr``, which tells all settings if it is a dataclass. None if that tells
    nothing but an address: such a piece must not be taken for another one.
    """
    told = repr(contender)
    if " at 0x" in told:
        return None
    digest = hashlib.sha256()
    for part in (split.train, split.dev, split.test):
        digest.update(part.codes.tobytes() + part.offsets.tobytes() + "\0".join(part.labels).encode())
    digest.update(repr((tuple(targets), contender.name, told, __version__)).encode())
    return digest.hexdigest()[:24]


class Checkpoint:
    """A file of finished pieces, a line each; no file, nothing kept. A piece without a name is not kept."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._done: dict[str, dict[str, Any]] = {}
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise SettingError(f"cannot write {self.path}: there is no folder {self.path.parent}")
        if self.path.exists():
            text = self.path.read_text(encoding="utf-8", errors="replace")
            if not (text.startswith(_START) or _START.startswith(text)):
                raise SettingError(f"{self.path} holds something else; name another file to go on from")
            for line in text.splitlines():
                try:
                    record = json.loads(line)
                    self._done[record["name"]] = record["result"]
                except (json.JSONDecodeError, KeyError, TypeError):
                    continue  # the line that was being written when the run was cut off

    def get(self, name: str | None) -> Tuned | None:
        """A finished piece, if there is one."""
        return None if name is None or name not in self._done else Tuned.from_dict(self._done[name])

    def put(self, name: str | None, result: Tuned) -> None:
        """Add a finished piece."""
        if self.path is not None and name is not None:
            line = json.dumps({"name": name, "result": result.to_dict()})
            with naming_the_disk(self.path), open(self.path, "ab", buffering=0) as file:
                start = "" if _ends_in_newline(self.path) else "\n"
                file.write(f"{start}{line}\n".encode())  # at once, so that two runs do not mix their lines
                os.fsync(file.fileno())

    def clear(self) -> None:
        """Remove the file once everything is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _ends_in_newline(path: Path) -> bool:
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
