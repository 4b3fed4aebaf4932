"""Events in memory: a source of one part, which keeps what kernels look up from pass to pass.

And a source of whatever is given: in memory, or streamed where that is more than memory holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from summarkov.arrow import parquet
from summarkov.engines.disk import scan_events
from summarkov.engines.replicates import ReplicatedSource, UnitWeighing
from summarkov.engines.source import CountSource, EventSource, refuse_weights
from summarkov.engines.weights import fixed_point, refuse_overflow, units_of
from summarkov.engines.work import EVENT_BYTES, SHARD_EVENTS, TABLE_BYTES, Answer, Part, Work, threads
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.draws import Draws, period_numbers
from summarkov.events.moments import Moments
from summarkov.events.rows import Block, Rows, cut_events, recoded, with_keys
from summarkov.events.vocabulary import END, Unknown
from summarkov.io import read_events
from summarkov.io.addresses import name_of, plain_name, size_of
from summarkov.io.files import ENDINGS, STREAMED, Format, format_of, open_file
from summarkov.io.finding import are_several
from summarkov.io.scan import Progress
from summarkov.io.wanted import Reading
from summarkov.settings import is_whole
from summarkov.typing import BoolArray, HashArray, IntArray

#: How a file is named.
Path = str | os.PathLike[str]
#: What a byte of a text file takes in memory while it is read, about.
_TEXT_BYTE = 3
#: How many bytes of an event log a packed one holds, about.
_PACKED = 10


class MemorySource(EventSource):
    """An :class:`EventSource` over events in memory.

    The result does not depend on ``n_jobs``, the number of threads (None: one; -1: one per core), nor on
    where the data is cut.
    """

    def __init__(
        self,
        events: EventSequences,
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        outcomes: tuple[str, ...] = (),
    ) -> None:
        self._given, self.tied_order, self.origin = events, events.tied_order, events.origin
        self.events = events = events.with_end_rows()
        self._rows, self.outcomes = Rows.of(events), outcomes
        self.labels, self.n_sequences = self._rows.labels, len(events)
        self.attributes = () if events.attributes is None else events.attributes.names
        if events.moments is not None:
            self.has_ticks, self.n_ticks = events.moments.has_ticks, events.n_ticks
            self.time_unit = None if events.moments.times is None else events.moments.unit
        self.n_jobs = threads(n_jobs)
        self.memory = max(TABLE_BYTES, SHARD_EVENTS * EVENT_BYTES * self.n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
        self._kept: dict[Hashable, Any] = {}
        self._keys: HashArray | None = None
        if self.weights is not None:
            refuse_overflow(float(self.weights.astype(float) @ events.lengths), self.scale)

    @property
    def n_events(self) -> int:
        return self._given.n_events

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on the events, which are one part."""
        return work.run(self.part())

    def part(self) -> Part:
        """All of the data."""

        def read(most: int) -> Iterator[Block]:
            return with_keys(cut_events(self._rows, most, self.weights), self._keys)

        n = len(self._rows.codes)
        attributes = self._rows.attributes if self.attributes else None
        return Part(
            read, self.labels, self.memory, self.n_jobs, n_events=n, kept=self._kept, attributes=attributes
        )

    def sequence_keys(self) -> Sequence[HashArray]:
        """Numbers for the names of the sequences."""
        if self._keys is None:
            self._keys = self.events.sequence_keys()
        return [self._keys]

    @property
    def _held(self) -> BoolArray:
        """Which sequences have something to count: only these are drawn."""
        filled = self.events.lengths > 0
        return filled if self.weights is None else filled & (self.weights > 0)

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        return self.sequence_keys()[0][self._held]

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return int((self.events.lengths > 0).sum())

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the sequences."""
        return self.events.ids

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> MemorySource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        if tuple(labels) == self.labels and unknown == "error":
            self.events.refuse_unknown()
            return self
        if END not in labels:
            return self._of(recoded(self._given.with_ends("cut off"), labels, unknown), self.weights)
        return self._of(recoded(self._given, labels, unknown), self.weights)

    def without_ends(self) -> MemorySource:
        """The same sequences, all of them taken for cut off."""
        return self if END not in self.labels else self._of(self._given.with_ends("cut off"), self.weights)

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same events under each of many weights of their sequences, or of blocks of them."""
        units, lengths = units_of(self.events, self._names_of(blocks)), self.events.lengths
        unit, held = units.of, np.zeros(units.n, bool)  # only units with something to count are drawn
        held[unit if self.weights is None else unit[np.repeat(self.weights, lengths) > 0]] = True
        keys = units.keys[held]
        among = np.sort(keys)
        weights = np.zeros((units.n, draws.n), np.int64)
        for replicate in range(draws.n):
            weights[held, replicate] = draws.drawn(replicate, among).weights(keys)
        if self.weights is not None:
            sequence = np.repeat(np.arange(len(self.events)), lengths)
            both, unit = np.unique(sequence * units.n + unit, return_inverse=True)
            weights = weights[both % units.n] * self.weights[both // units.n, None]
        weighing = UnitWeighing(self._rows.of_events(unit), np.ascontiguousarray(weights), self.scale)
        return ReplicatedSource(self, weighing, units.kind, len(keys))

    def _names_of(self, blocks: Any) -> Any:
        """Names of blocks, one per event, with one for each end: that of the event before it."""
        given = self._given
        if is_whole(blocks) or not hasattr(blocks, "__len__") or END not in self.labels:
            return blocks
        if isinstance(blocks, str) or len(blocks) != given.n_rows or len(blocks) == len(given):
            return blocks
        ends, held = given.offsets[1:][given.complete], np.array([*map(str, blocks), ""], object)
        return np.insert(held[:-1], ends, held[ends - 1]).tolist()

    def with_periods(self, names: Sequence[object]) -> MemorySource:
        """The same events, each in the period of its name."""
        events = self.events
        is_end = np.zeros(events.n_rows, bool)
        if END in events.labels:
            is_end = events.codes == events.labels.index(END)
        if len(names) != (~is_end).sum():
            raise SettingError(f"there are {(~is_end).sum()} events, and {len(names)} names of periods")
        numbers = np.append(period_numbers([str(name) for name in names]), 0)
        periods = numbers[np.cumsum(~is_end) - 1]  # the end of a case is in that of its last event
        moments = events.moments or Moments(np.ones(events.n_rows, bool))
        return self._of(events.with_moments(replace(moments, periods=periods)), self.weights)

    def _of(self, events: EventSequences, weights: IntArray | None) -> MemorySource:
        """A source of other events, or with other weights in units of ``1 / scale``."""
        made = MemorySource(events, sample_weight=weights, n_jobs=self.n_jobs, outcomes=self.outcomes)
        made.scale = self.scale
        return made


def as_events(data: Any) -> EventSequences | EventSource:
    """A source as it is; whatever else ``read_events`` takes, in memory."""
    return data if isinstance(data, EventSource) else read_events(data)


def make_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> EventSource:
    """A source of events: one already, or whatever ``read_events`` takes; events of no label are fine."""
    events = as_events(data)
    if isinstance(events, EventSequences):
        return MemorySource(events, sample_weight=_weights(events, sample_weight), n_jobs=n_jobs)
    refuse_weights(events, sample_weight)
    return events


def _weights(events: EventSequences, sample_weight: Any) -> Any:
    """The weights that were given, or those that the events have of their own; not both."""
    if sample_weight is not None and events.weights is not None:
        raise SettingError(
            "the events have weights of their own, from a weight column; leave out sample_weight, or give "
            "events.with_weights(None)"
        )
    return events.weights if sample_weight is None else sample_weight


def as_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> CountSource:
    """Turn what ``fit`` was given into a source: one already, events, or whatever ``read_events`` takes."""
    if isinstance(data, CountSource):
        refuse_weights(data, sample_weight)
        return data
    events = read_events(data)
    events.refuse_unknown()
    return MemorySource(events, sample_weight=_weights(events, sample_weight), n_jobs=n_jobs)


# ---------------------------------------------------------------------- in memory or streamed


@contextmanager
def open_events(
    path: Path,
    *,
    engine: str = "auto",
    memory: int | str = "1G",
    format: Format | None = None,
    n_jobs: int | None = None,
    names: bool = False,
    progress: Progress = None,
    **reading: Unpack[Reading],
) -> Iterator[EventSequences | EventSource]:
    """Open the events of a file, a folder or a pattern, in memory or streamed.

    Both can be learned from, and give the same model to the last bit. To be used in a ``with`` statement: a
    stream has temporary files, which are removed at its end.

    Parameters
    ----------
    path : path
        A file; or a folder or a pattern such as ``"log/*.csv"``, which are always streamed.
    engine : {"auto", "memory", "stream"}
        "auto" streams folders, patterns, and files that need more than ``memory``.
    memory : int or str
        What streaming may use: a number of bytes, or a size such as ``"500M"`` or ``"4G"``.
    format : str, optional
        As in :func:`summarkov.read_events`.
    n_jobs : int, optional
        Threads of a stream; -1 for one per core.
    names : bool
        Whether a stream keeps the names of sequences, for tables of predictions.
    progress : function or True, optional
        Called with how much is done, how much there is, and what is being done; True writes that.
    **reading
        ``case``, ``event``, ``order`` and all other settings of :func:`summarkov.read_events`;
        ``session_gap`` needs the events in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.jsonl").write_text('["A", "B"]\\n["B"]\\n')
    ...     for engine in ("memory", "stream"):
    ...         with open_events(Path(folder, "log.jsonl"), engine=engine) as events:
    ...             print(type(events).__name__, events.n_events)
    EventSequences 3
    SeenSource 3
    """
    if not is_streamed(path, engine=engine, memory=memory, format=format):
        yield read_events(path, format=format, **reading)
        return
    how: dict[str, Any] = {"format": format, "n_jobs": n_jobs, "names": names, "progress": progress}
    with scan_events(path, memory=bytes_of(memory), **how, **reading) as source:
        yield source


def is_streamed(
    path: Path, *, engine: str = "auto", memory: int | str = "1G", format: str | None = None
) -> bool:
    """Whether :func:`open_events` streams a file, a folder or a pattern."""
    if engine not in ("auto", "memory", "stream"):
        raise SettingError(f"engine= must be auto, memory or stream, not {engine!r}")
    most = bytes_of(memory)
    several = are_several(path)
    if engine == "auto":
        return several or _needed(path, format) > most
    if engine == "memory" and several:
        raise SettingError(f'{name_of(path)} is not one file; engine="stream" reads folders and patterns')
    return engine == "stream"


def bytes_of(size: int | str) -> int:
    """A number of bytes, also as people write it.

    >>> bytes_of("500M"), bytes_of("1GiB"), bytes_of(2048)
    (524288000, 1073741824, 2048)
    """
    form = r"\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([KMGT]?)(?:i?B)?\s*"
    found = re.fullmatch(form, str(size), re.IGNORECASE)
    n = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if not 1024 <= n < 2**62:
        raise SettingError(f"memory= must be a size such as 500M or 4G, 1K at least, not {str(size)[:40]!r}")
    return n


def _needed(path: Path, format: str | None) -> int:
    """Bytes to read a file into memory, about; 0 if that cannot be told, as reading will say why."""
    try:
        kind = format_of(name_of(path), format)
        if kind == "parquet":
            from summarkov.io.parquet_files import bytes_in_memory

            with open_file(name_of(path)) as file:
                metadata = parquet.read_metadata(file)
            return bytes_in_memory(metadata, metadata.schema.to_arrow_schema().names)
        if kind not in (*STREAMED, "tsv"):
            return 0  # it cannot be streamed
        packed = plain_name(path).lower().endswith(ENDINGS)
        return size_of(path) * _TEXT_BYTE * (_PACKED if packed else 1)
    except Exception:
        return 0
