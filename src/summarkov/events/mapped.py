"""Events on disk: written some sequences at a time as the rows that are counted, then memory-mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from summarkov.events.attributes import Attributes
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit
from summarkov.events.rows import Rows
from summarkov.events.sequences import EventSequences, Folder
from summarkov.events.vocabulary import END, translation
from summarkov.typing import BoolArray, IntArray

#: Rows that are changed at a time.
_AT_ONCE = 1 << 20


class TemporaryFolder(Folder, Protocol):
    """A folder for files, which can be removed."""

    @property
    def path(self) -> Path:
        """Where it is."""


def map_events(
    chunks: Iterable[EventSequences], folder: TemporaryFolder, about: Callable[[], dict[str, Any]]
) -> EventSequences:
    """Write events, some whole sequences at a time, and map them: they need not fit into memory together.

    All chunks have the same labels, attributes and kind of times. The events own the folder, and ``about``
    returns what else they take once all are written, see :meth:`EventSequences.of_rows`. Weights are those
    of the chunks.

    >>> from summarkov.read.scan import TemporaryFolder
    >>> chunks = [EventSequences.from_lists(each, labels=["A", "B"]) for each in ([["A", "B"]], [["B"], []])]
    >>> with map_events(chunks, TemporaryFolder(), dict) as events:
    ...     events.to_lists(), events.rows.codes.tolist()
    ([['A', 'B'], ['B'], []], [1, 2, 0, 2, 0, 0])
    """
    writer = _Writer(folder.path)
    try:
        for chunk in chunks:
            writer.add(chunk)
    finally:
        writer.close()
    return EventSequences.of_rows(
        writer.rows(), attributes=writer.attributes(), weights=writer.weights(), folder=folder, **about()
    )


class _Writer:
    """Writes rows: codes, and where it is needed which begin a tick, and times."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._files = folder, {}  # type: ignore[var-annotated]
        self._lengths: list[IntArray] = [np.zeros(1, np.int64)]
        self._present: list[BoolArray] = []
        self._weights: list[Any] = []
        self._labels: tuple[str, ...] = ()
        self._named: Attributes | None = None
        self._unit: TimeUnit | None = None
        self._all_start, self._has_empty, self._any_end = True, False, False

    def add(self, chunk: EventSequences) -> None:
        """Go on with some sequences."""
        rows, given = chunk.rows, chunk.attributes
        self._labels = tuple(sorted({*rows.labels, END}))
        self._any_end |= END in rows.labels
        self._lengths.append(np.diff(rows.offsets))
        if given is not None:
            self._named = given
            self._present.append(given.present)
        if chunk.weights is not None:
            self._weights.append(chunk.weights)
        moments = rows.moments or Moments(np.ones(len(rows.codes), bool))
        self._all_start &= bool(moments.starts.all())
        self._has_empty |= moments.has_empty
        if moments.times is not None:
            self._unit = moments.unit
        self._write("rows", translation(rows.labels, self._labels)[rows.codes])
        self._write("starts", moments.starts)
        self._write("times", moments.times)

    def _write(self, name: str, values: Any) -> None:
        if values is None:
            return
        if name not in self._files:
            self._files[name] = open(self._folder / f"{name}.map", "wb")  # noqa: SIM115  # closed at the end
        self._files[name].write(np.ascontiguousarray(values).data)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    def rows(self) -> Rows:
        """All rows, mapped."""
        offsets = np.cumsum(np.concatenate(self._lengths))
        codes, labels = self._mapped("rows", np.int32, "r" if self._any_end else "r+"), self._labels
        if not self._any_end:  # it is no label then
            labels = tuple(label for label in labels if label != END)
            codes_without = translation(self._labels, labels)
            for start in range(0, len(codes), _AT_ONCE):
                codes[start : start + _AT_ONCE] = codes_without[codes[start : start + _AT_ONCE]]
            codes.flags.writeable = False
        times = self._mapped("times", np.int64) if "times" in self._files else None
        moments = None
        if not self._all_start or self._has_empty or times is not None:
            starts = self._mapped("starts", np.bool_)
            moments = Moments(starts, times, self._unit or NANOSECONDS, self._has_empty)
        held = np.zeros(len(labels) + 1, bool)
        if self._named is not None:
            held[translation(self._named.names, labels)[:-1]] = True
        return Rows(codes, offsets, labels, held, moments)

    def _mapped(self, name: str, kind: Any, mode: Any = "r") -> Any:
        path = self._folder / f"{name}.map"
        if not path.exists() or not path.stat().st_size:
            return np.empty(0, kind)
        return np.asarray(np.memmap(path, kind, mode))

    def attributes(self) -> Attributes | None:
        """Those of all sequences."""
        if self._named is None:
            return None
        return Attributes(self._named.names, self._named.of, np.concatenate(self._present))

    def weights(self) -> Any:
        """Those of all sequences, if they have some."""
        return np.concatenate(self._weights) if self._weights else None
