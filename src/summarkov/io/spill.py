"""Sequences of codes in files: written once, read block by block."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError, StoreError
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit
from summarkov.io.ticks import Ties
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: Ends of sequences, or of their names, to read at a time.
AT_ONCE = 1 << 16
#: Bytes of an event on disk, and of its time.
CODE_BYTES, TIME_BYTES = 4, 8
#: This bit of a code says that its event happened together with the one before.
_TOGETHER = np.int32(1 << 30)
#: Events to look at beyond a block, and again, for the one with which the next tick begins.
_AHEAD = 64
#: Events to sort at a time.
_SORTED = 1 << 18


@dataclass(frozen=True)
class Block:
    """Some events in a row.

    ``offsets`` cut them into sequences; the first may be the continuation of one that began in an earlier
    block, the last may go on in the next. ``begin`` is where the last begins, 0 if it began earlier.
    ``names``, ``weights`` and ``keys``, the numbers that stand for names, have one value per sequence,
    continuations included, if there are any. ``moments`` tells which rows stand together and when; a block
    never cuts a tick. Rows may also be attributes of their sequence, which stand before its events: codes
    tell which.
    """

    codes: CodeArray
    offsets: IntArray
    begin: int
    names: pa.Array | None = None
    weights: IntArray | None = None
    keys: HashArray | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, codes: CodeArray, ends: IntArray) -> Block:
        """A block from the places in it where sequences end."""
        begin = int(ends[-1]) if len(ends) else 0
        last = [len(codes)] if begin < len(codes) else []
        return cls(codes, np.concatenate([[0], ends, last]).astype(np.int64), begin)

    @property
    def goes_on(self) -> bool:
        """Whether the last sequence goes on in the next block."""
        return self.begin < len(self.codes)

    def with_events(
        self,
        codes: CodeArray,
        ends: IntArray,
        kept: BoolArray | None = None,
        moments: Moments | None = None,
    ) -> Block:
        """Other events of the same sequences, or of all but the last; or of those that are ``kept``."""
        block = Block.of(codes, ends)
        n = len(block.offsets) - 1
        names = self.names if self.names is None or kept is None else self.names.filter(kept)
        weights = self.weights if self.weights is None or kept is None else self.weights[kept]
        keys = self.keys if self.keys is None or kept is None else self.keys[kept]
        return Block(
            block.codes,
            block.offsets,
            block.begin,
            None if names is None else names[:n],
            None if weights is None else weights[:n],
            None if keys is None else keys[:n],
            moments,
        )


@dataclass(frozen=True)
class Spill:
    """Sequences in a folder: int32 codes in the order in which labels were found, int64 ends, uint64 keys.

    ``labels`` is the vocabulary in sorted order and ``translate`` its codes for those in the file, with -1
    for an empty tick. Sequences are in the order of their first rows. Where events happened together, codes
    tell which, and where they have times, there is a file of these, of int64.
    """

    folder: Path
    n_events: int
    n_sequences: int
    labels: tuple[str, ...]
    label_counts: IntArray
    translate: CodeArray
    ties: Ties
    has_names: bool
    n_held: int  # sequences that are not empty
    n_values: int  # of each sequence: the columns that do not change during a case
    has_ticks: bool = False
    n_ticks: int = 0
    time_unit: TimeUnit | None = None

    @property
    def files(self) -> list[str]:
        """The names of the files that blocks are read from."""
        more = {"times": self.time_unit is not None}
        more |= dict.fromkeys(("names", "name_ends"), self.has_names)
        return ["codes", "ends", *(name for name, here in more.items() if here)]

    def keys(self) -> HashArray:
        """A number for the name of every sequence; on disk."""
        if not self.n_sequences:
            return np.empty(0, np.uint64)
        return np.memmap(self.folder / "keys", np.uint64, "r", shape=(self.n_sequences,))

    def lengths(self) -> IntArray:
        """The number of events of every sequence."""
        ends = np.fromfile(self.folder / "ends", np.int64)
        return np.asarray(np.diff(ends, prepend=np.int64(0)), np.int64)

    def values(self) -> CodeArray:
        """A code for each value of every sequence, one row per sequence; on disk."""
        shape = self.n_sequences, self.n_values
        if not self.n_sequences or not self.n_values:
            return np.empty(shape, np.int32)
        return np.memmap(self.folder / "values", np.int32, "r", shape=shape)

    def blocks(self, n_events: int, weights: IntArray | None = None) -> Iterator[Block]:
        """Read all sequences, at most ``n_events`` events at a time; one empty block if there are none.

        Ticks are not cut: blocks may be larger by those. ``weights`` has one weight per sequence.
        """
        with ExitStack() as opened:
            files = {name: opened.enter_context(open(self.folder / name, "rb")) for name in self.files}
            names = _Names(files["names"], files["name_ends"]) if self.has_names else None
            ends, start, ended = np.empty(0, np.int64), 0, 0
            while start < self.n_events or start == 0:
                codes, moments = self.events(files, n_events)
                stop = start + len(codes)
                while not len(ends) or ends[-1] <= stop:
                    more = np.fromfile(files["ends"], np.int64, AT_ONCE)
                    if not len(more):
                        break
                    ends = np.concatenate([ends, more])
                here = int(np.searchsorted(ends, stop, side="right"))
                inside, ends = ends[:here] - start, ends[here:]
                block = Block.of(codes, inside)
                mine = slice(ended, ended + here + block.goes_on)
                ended += here
                yield replace(
                    block,
                    names=names.take(here, block.goes_on) if names else None,
                    weights=None if weights is None else weights[mine],
                    moments=moments,
                )
                start = stop
                if not len(codes):
                    break

    def events(self, files: Mapping[str, IO[bytes]], n_events: int) -> tuple[CodeArray, Moments | None]:
        """The next events, and when they happened."""
        found = np.fromfile(files["codes"], np.int32, n_events)
        if not self.has_ticks and "times" not in files:
            return self._translated(found), None
        starts = np.ones(len(found), bool)
        if self.has_ticks:
            found, starts = split_codes(_to_the_next_tick(found, files["codes"]))
        times = np.fromfile(files["times"], np.int64, len(found)) if "times" in files else None
        return self._translated(found), Moments(starts, times, self.time_unit or NANOSECONDS)

    def _translated(self, found: CodeArray) -> CodeArray:
        try:
            return self.translate[found.view(np.uint32)]  # which none is below 0
        except IndexError:
            raise StoreError(
                f"{self.folder / 'codes'} is damaged: it holds a code of no label; make it anew from the data"
            ) from None


class _Names:
    """The names of sequences, read as these come."""

    def __init__(self, texts: IO[bytes], ends: IO[bytes]) -> None:
        self._texts, self._ends = texts, ends
        self._left: Any = pa.array([], pa.string())
        self._read = 0  # bytes of names

    def take(self, ended: int, goes_on: bool) -> pa.Array:
        """The next names: ``ended`` that are used up, and one more that the next block may go on with."""
        wanted = max(0, ended + goes_on - len(self._left))
        ends = np.concatenate([[self._read], np.fromfile(self._ends, np.int64, wanted)])
        texts = self._texts.read(int(ends[-1]) - self._read)
        buffers = [None, pa.py_buffer(ends - self._read), pa.py_buffer(texts)]
        more = pa.Array.from_buffers(pa.large_string(), wanted, buffers).cast(pa.string())
        self._read = int(ends[-1])
        names = pa.concat_arrays([self._left, more])
        self._left = names[ended:]
        return names[: ended + goes_on]


def split_codes(found: CodeArray) -> tuple[CodeArray, BoolArray]:
    """Codes as they are in a file as codes, and whether each begins a tick."""
    return found & ~_TOGETHER, found & _TOGETHER == 0


def _to_the_next_tick(found: CodeArray, file: IO[bytes]) -> CodeArray:
    """Some codes, and those that follow in a file up to where the next tick begins."""
    while len(more := np.fromfile(file, np.int32, _AHEAD)):
        begins = np.flatnonzero(split_codes(more)[1])[:1].tolist()
        found = np.concatenate([found, more[: begins[0] if begins else len(more)]])
        if begins:
            file.seek((begins[0] - len(more)) * CODE_BYTES, os.SEEK_CUR)
            break
    return found


class SpillWriter:
    """Writes a :class:`Spill`."""

    def __init__(self, folder: Path, *, names: bool = False, firsts: bool = False, n_values: int = 0) -> None:
        self.folder, self.keeps_names, self.n_values = folder, names, n_values
        self._opened = ExitStack()
        self._codes, self._ends, self._keys = (self._open(name) for name in ("codes", "ends", "keys"))
        self._names = (self._open("names"), self._open("name_ends")) if names else None
        self._firsts = self._open("firsts") if firsts else None
        self._values = self._open("values") if n_values else None
        self._times: IO[bytes] | None = None
        self.time_unit: TimeUnit | None = None
        self.n_together = 0  # events that happened together with the one before
        self.n_events = self.n_sequences = 0
        self.ties, self._tied_row = Ties(), 0
        self.n_duplicates = 0
        self._n_held = self._last_end = self._name_bytes = 0
        self.counts = np.zeros(0, np.int64)

    def add(
        self,
        codes: CodeArray,
        ends: IntArray,
        keys: HashArray,
        names: Sequence[str] = (),
        firsts: IntArray | None = None,
        values: CodeArray | None = None,
        moments: Moments | None = None,
    ) -> None:
        """Go on writing: ``ends`` are the places in ``codes`` where sequences end (0: before the first).

        ``keys`` are those of the names of the sequences that begin here, ``names`` these names, which may be
        left out if they are not kept, ``firsts`` the numbers of their first rows, and ``values`` codes for
        the values of their columns that do not change, one row per sequence. ``moments`` are those of the
        events, the first of which may have happened together with the last one that was written before.
        """
        if len(codes):
            self._write_times(moments)
        if self._values is not None and values is not None:
            _write(self._values, values.astype(np.int32, copy=False))
        _write(self._keys, keys)
        if self._firsts is not None and firsts is not None:
            _write(self._firsts, firsts)
        if len(ends):
            places = ends + self.n_events
            self._n_held += int(np.count_nonzero(np.diff(places, prepend=self._last_end)))
            self._last_end = int(places[-1])
        if moments is not None and not moments.starts.all():
            self.n_together += int(np.count_nonzero(~moments.starts))
            _write(self._codes, np.where(moments.starts, codes, codes | _TOGETHER).astype(np.int32))
        else:
            _write(self._codes, codes.astype(np.int32, copy=False))
        _write(self._ends, ends + self.n_events)
        self.n_events += len(codes)
        self.n_sequences += len(ends)
        counts = np.bincount(codes, minlength=len(self.counts))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        if self._names is not None:
            texts = [_encoded(name) for name in names]
            places = np.cumsum([0, *map(len, texts)], dtype=np.int64)[1:] + self._name_bytes
            self._name_bytes += sum(map(len, texts))
            self._names[0].write(b"".join(texts))
            _write(self._names[1], places)

    def copy(self, block: Block, n_labels: int, keys: HashArray | None = None) -> None:
        """Go on writing with a block under its final codes; ``keys`` are those of sequences that begin in it.

        An empty tick has the code ``n_labels``.
        """
        self.add(
            np.where(block.codes < 0, n_labels, block.codes),
            block.offsets[1 : len(block.offsets) - block.goes_on],
            np.empty(0, np.uint64) if keys is None else keys,
            moments=block.moments,
        )

    def add_ties(self, ties: Ties, row: int = 0) -> None:
        """Count some more ties; ``row`` tells of which case the example is first."""
        if ties.n:
            earlier = not self.ties.n or row < self._tied_row
            self.ties = Ties(self.ties.n + ties.n, ties.case if earlier else self.ties.case)
            self._tied_row = row if earlier else self._tied_row

    def finish(self, labels: Sequence[str], translate: CodeArray, *, is_sorted: bool = False) -> Spill:
        """Close the files; ``translate`` has the final code of every one written.

        The labels of every tick are sorted, each once, unless they are already.
        """
        self.close()
        label_counts = np.zeros(len(labels) + 1, np.int64)
        label_counts[translate[: len(self.counts)]] = self.counts  # the last is for empty ticks
        has_ticks = self.n_together > 0 or bool(label_counts[-1])
        found = Spill(
            self.folder,
            self.n_events,
            self.n_sequences,
            tuple(labels),
            label_counts[:-1],
            translate,
            self.ties,
            self.keeps_names,
            self._n_held,
            self.n_values,
            has_ticks,
            self.n_events - self.n_together,
            self.time_unit,
        )
        return found if is_sorted or not found.has_ticks else _with_sorted_ticks(found)

    def finish_copy(self, labels: Sequence[str]) -> Spill:
        """Close the files of what was copied."""
        codes = np.append(np.arange(len(labels), dtype=np.int32), np.int32(-1))
        return self.finish(labels, codes, is_sorted=True)

    def _write_times(self, moments: Moments | None) -> None:
        """Go on writing times, which all events have, or none."""
        times = None if moments is None else moments.times
        if not self.n_events:
            self._times = None if times is None else self._open("times")
            self.time_unit = None if moments is None or times is None else moments.unit
        if self._times is not None and times is not None:
            _write(self._times, times)

    def close(self) -> None:
        """Close the files, also if they are not complete."""
        self._opened.close()

    def _open(self, name: str) -> IO[bytes]:
        return self._opened.enter_context(open(self.folder / name, "wb"))


def _with_sorted_ticks(spill: Spill) -> Spill:
    """Write the events anew, the labels of every tick sorted and each once."""
    folder = spill.folder / "sorted"
    folder.mkdir()
    writer = SpillWriter(folder)
    try:
        for block in spill.blocks(_SORTED):
            assert block.moments is not None
            codes, offsets, moments = block.moments.of_rows(block.codes, block.offsets)
            ended = offsets[1 : len(offsets) - block.goes_on]
            writer.copy(replace(Block.of(codes, ended), moments=moments), len(spill.labels))
        done = writer.finish_copy(spill.labels)
    finally:
        writer.close()
    for name in done.files:
        os.replace(folder / name, spill.folder / name)
    shutil.rmtree(folder)
    return replace(
        spill,
        n_events=done.n_events,
        label_counts=done.label_counts,
        translate=done.translate,
        has_ticks=done.has_ticks,
        n_ticks=done.n_ticks,
    )


def _encoded(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"the name {name[:40]!r} of a sequence holds half of a character, which cannot be kept; mend it"
        ) from None


def _write(file: IO[bytes], array: npt.NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(array).data)
