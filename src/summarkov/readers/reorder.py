"""Sequences on disk, copied in the order of their first rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from summarkov.readers.spill import AT_ONCE, CODE_BYTES, SpillWriter
from summarkov.typing import IntArray

#: What a sequence takes while it waits for its turn, and an event.
_SEQUENCE_BYTES, _EVENT_BYTES = 1024, 128


def copy_in_order(folder: Path, n_rows: int, memory: int, writer: SpillWriter) -> None:
    """Copy what another writer put into ``folder``, with the first rows of all sequences, to ``writer``.

    The sequences of some rows are looked up at a time, so that only these are held in memory.
    """
    step = max(1, memory // _SEQUENCE_BYTES)
    with open(folder / "codes", "rb") as codes:
        for low in range(0, n_rows, step):
            some = _Waiting.between(folder, low, low + step, names=writer.keeps_names)
            _copy(some, codes, folder, memory, writer)


@dataclass(frozen=True)
class _Waiting:
    """Where some sequences, and their names, begin and end, in the order in which they are to be copied."""

    starts: IntArray
    stops: IntArray
    name_starts: IntArray
    name_stops: IntArray

    @classmethod
    def between(cls, folder: Path, low: int, high: int, *, names: bool) -> _Waiting:
        """Those whose first rows are from ``low`` on and below ``high``."""
        files = ["ends", "name_ends"] if names else ["ends"]
        rows, found = [], []
        for firsts, *spans in zip(
            _numbers(folder / "firsts"), *(_spans(folder / file) for file in files), strict=True
        ):
            here = (firsts >= low) & (firsts < high)
            rows.append(firsts[here])
            found.append(np.concatenate([span[:, here] for span in spans]))
        order = np.argsort(np.concatenate(rows), kind="stable")
        every = np.concatenate(found, axis=1)[:, order]
        return cls(every[0], every[1], *(every[2:] if names else np.zeros((2, len(order)), np.int64)))


def _copy(some: _Waiting, codes: IO[bytes], folder: Path, memory: int, writer: SpillWriter) -> None:
    most = max(1, memory // _EVENT_BYTES)
    names = _names(folder, some) if writer.keeps_names else None
    held: list[bytes] = []
    ends: list[int] = []
    begun: list[str] = []
    n = 0

    def flush() -> None:
        nonlocal n
        writer.add(np.frombuffer(b"".join(held), np.int32), np.array(ends, np.int64), begun)
        for each in (held, ends, begun):
            each.clear()
        n = 0

    for start, stop in zip(some.starts.tolist(), some.stops.tolist(), strict=True):
        if names is not None:
            begun.append(next(names))
        while n + stop - start > most:
            held.append(_read(codes, start, most - n))
            start += most - n
            flush()
        held.append(_read(codes, start, stop - start))
        n += stop - start
        ends.append(n)
    flush()


def _read(codes: IO[bytes], start: int, n: int) -> bytes:
    codes.seek(start * CODE_BYTES)
    return codes.read(n * CODE_BYTES)


def _names(folder: Path, some: _Waiting) -> Iterator[str]:
    with open(folder / "names", "rb") as file:
        for start, stop in zip(some.name_starts.tolist(), some.name_stops.tolist(), strict=True):
            file.seek(start)
            yield file.read(stop - start).decode()


def _numbers(path: Path) -> Iterator[IntArray]:
    with open(path, "rb") as file:
        while len(some := np.fromfile(file, np.int64, AT_ONCE)):
            yield some


def _spans(path: Path) -> Iterator[IntArray]:
    """Where each of some stretches begins and ends, from the ends of all."""
    last = 0
    for ends in _numbers(path):
        yield np.stack([np.concatenate([[last], ends[:-1]]), ends])
        last = int(ends[-1])
