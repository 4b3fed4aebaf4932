"""Keep what is done, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarkov import __version__
from summarkov.baselines import Contender
from summarkov.engines import make_source
from summarkov.engines.work import Part
from summarkov.errors import SettingError, naming_the_disk
from summarkov.evaluation.tuning import Split, Tuned

#: How every line begins: what begins otherwise is somebody's file, and not to be removed.
_START = '{"name": "'


def contents(split: Split) -> str:
    """What train, dev and test hold, as a checksum.

    It depends on where the parts of a source are cut too: so it is never that of other data, but opened
    with other settings the same data may have another one.
    """
    digest = hashlib.sha256()
    for part in (split.train, split.dev, split.test):
        source = make_source(part)
        found = source.run(ChecksumWork())
        for number, checksum in sorted(found):
            digest.update(f"{number} {checksum} ".encode())
        for keys in source.sequence_keys():
            digest.update(keys.tobytes())
        digest.update("\0".join(part.labels).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class ChecksumWork:
    """A checksum of the codes of every part and of where its sequences end, however it is read."""

    def run(self, part: Part) -> tuple[tuple[int, str], ...]:
        """Block by block."""
        codes, ends, start = hashlib.sha256(), hashlib.sha256(), 0
        for block in part.blocks(1 << 4):
            codes.update(np.ascontiguousarray(block.codes, np.int32).data)
            ended = len(block.offsets) - block.goes_on
            ends.update((block.offsets[1:ended] + start).data)
            start += len(block.codes)
        return ((part.number, codes.hexdigest() + ends.hexdigest()),)

    def total(self, answers: Sequence[tuple[tuple[int, str], ...]]) -> tuple[tuple[int, str], ...]:
        """All of them."""
        return sum(answers, ())


def fingerprint(contents: str, targets: Sequence[str], contender: Contender) -> str | None:
    """Name a trial, a contender on a split, by everything that its result depends on.

    A contender counts by its ``repr``, which tells all settings if it is a dataclass. None if that tells
    nothing but an address: such a trial must not be taken for another one.
    """
    told = repr(contender)
    if " at 0x" in told:
        return None
    return hashlib.sha256(
        repr((contents, tuple(targets), contender.name, told, __version__)).encode()
    ).hexdigest()[:24]


class Checkpoint:
    """A file of finished trials, one line each; no file, nothing kept. One without a name is not kept."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._done: dict[str, dict[str, Any]] = {}
        self._last: tuple[Split, str] | None = None  # and what it holds
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise SettingError(f"cannot write {self.path}: there is no folder {self.path.parent}")
        if self.path.exists() and not self.path.is_file():  # a pipe, which would wait for somebody to write
            raise SettingError(f"{self.path} is not a regular file; name another file to go on from")
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

    def trial(self, split: Split, targets: Sequence[str], contender: Contender) -> str | None:
        """The name of a trial; None if it cannot be kept."""
        if self.path is None:
            return None
        if self._last is None or self._last[0] is not split:
            self._last = split, contents(split)
        return fingerprint(self._last[1], targets, contender)

    def get(self, name: str | None) -> Tuned | None:
        """The result of a trial, if it is finished."""
        return None if name is None or name not in self._done else Tuned.from_dict(self._done[name])

    def put(self, name: str | None, result: Tuned) -> None:
        """Add a finished trial."""
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
