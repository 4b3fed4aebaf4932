"""Sequences of codes in files: written once, read block by block, copied in the order of first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.block import Block
from summarkov.typing import CodeArray, HashArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

#: Ends of sequences, or of their names, to read at a time.
AT_ONCE = 1 << 16
#: Bytes of an event on disk.
CODE_BYTES = 4


@dataclass(frozen=True)
class Spill:
    """Sequences in a folder: int32 codes in the order in which labels were found, int64 ends, uint64 keys.

    ``labels`` is the vocabulary in sorted order and ``translate`` its codes for those in the file. Sequences
    are in the order of their first rows.
    """

    folder: Path
    n_events: int
    n_sequences: int
    labels: tuple[str, ...]
    label_counts: IntArray
    translate: CodeArray
    tied_order: int
    has_names: bool
    n_held: int  # sequences that are not empty
    n_values: int  # of each sequence: the columns that do not change during a case

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

        ``weights`` has one weight per sequence.
        """
        with (
            open(self.folder / "codes", "rb") as codes_file,
            open(self.folder / "ends", "rb") as ends_file,
            _Names(self.folder) if self.has_names else nullcontext() as names,
        ):
            ends, start, ended = np.empty(0, np.int64), 0, 0
            while start < self.n_events or start == 0:
                codes = self.translate[np.fromfile(codes_file, np.int32, n_events)]
                stop = start + len(codes)
                while not len(ends) or ends[-1] <= stop:
                    more = np.fromfile(ends_file, np.int64, AT_ONCE)
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
                )
                start = stop
                if not len(codes):
                    break


class SpillWriter:
    """Writes a :class:`Spill`."""

    def __init__(self, folder: Path, *, names: bool = False, firsts: bool = False, n_values: int = 0) -> None:
        self.folder, self.keeps_names, self.n_values = folder, names, n_values
        self._opened = ExitStack()
        self._codes, self._ends, self._keys = (self._open(name) for name in ("codes", "ends", "keys"))
        self._names = (self._open("names"), self._open("name_ends")) if names else None
        self._firsts = self._open("firsts") if firsts else None
        self._values = self._open("values") if n_values else None
        self.n_events = self.n_sequences = self.tied_order = 0
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
    ) -> None:
        """Go on writing: ``ends`` are the places in ``codes`` where sequences end (0: before the first).

        ``keys`` are those of the names of the sequences that begin here, ``names`` these names, which may be
        left out if they are not kept, ``firsts`` the numbers of their first rows, and ``values`` codes for
        the values of their columns that do not change, one row per sequence.
        """
        if self._values is not None and values is not None:
            _write(self._values, values.astype(np.int32, copy=False))
        _write(self._keys, keys)
        if self._firsts is not None and firsts is not None:
            _write(self._firsts, firsts)
        if len(ends):
            places = ends + self.n_events
            self._n_held += int(np.count_nonzero(np.diff(places, prepend=self._last_end)))
            self._last_end = int(places[-1])
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

    def finish(self, labels: Sequence[str], translate: CodeArray) -> Spill:
        """Close the files; ``translate`` has the final code of every one written."""
        self.close()
        label_counts = np.zeros(len(labels), np.int64)
        label_counts[translate[: len(self.counts)]] = self.counts
        return Spill(
            self.folder,
            self.n_events,
            self.n_sequences,
            tuple(labels),
            label_counts,
            translate,
            self.tied_order,
            self.keeps_names,
            self._n_held,
            self.n_values,
        )

    def close(self) -> None:
        """Close the files, also if they are not complete."""
        self._opened.close()

    def _open(self, name: str) -> IO[bytes]:
        return self._opened.enter_context(open(self.folder / name, "wb"))


class _Names:
    """The names of sequences, in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> _Names:
        import pyarrow as pa

        self._texts, self._ends = open(self._folder / "names", "rb"), open(self._folder / "name_ends", "rb")
        self._left: Any = pa.array([], pa.string())
        self._read = 0  # bytes of names
        return self

    def __exit__(self, *error: object) -> None:
        self._texts.close()
        self._ends.close()

    def take(self, ended: int, goes_on: bool) -> pa.Array:
        """The next names: ``ended`` that are used up, and one more that the next block may go on with."""
        import pyarrow as pa

        wanted = max(0, ended + goes_on - len(self._left))
        ends = np.concatenate([[self._read], np.fromfile(self._ends, np.int64, wanted)])
        texts = self._texts.read(int(ends[-1]) - self._read)
        buffers = [None, pa.py_buffer(ends - self._read), pa.py_buffer(texts)]
        more = pa.Array.from_buffers(pa.large_string(), wanted, buffers).cast(pa.string())
        self._read = int(ends[-1])
        names = pa.concat_arrays([self._left, more])
        self._left = names[ended:]
        return names[: ended + goes_on]


def _encoded(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"the name {name[:40]!r} of a sequence holds half of a character, which cannot be kept; mend it"
        ) from None


def _write(file: IO[bytes], array: npt.NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(array).data)


#: What a sequence takes while it waits for its turn, and an event.
_SEQUENCE_BYTES, _EVENT_BYTES = 1024, 128


def copy_in_order(folder: Path, n_rows: int, memory: int, writer: SpillWriter) -> None:
    """Copy what another writer put into ``folder``, with the first rows of all sequences, to ``writer``.

    The sequences of some rows are looked up at a time, so that only these are held in memory.
    """
    step = max(1, memory // _SEQUENCE_BYTES)
    with open(folder / "codes", "rb") as codes:
        for low in range(0, n_rows, step):
            some = _Waiting.between(
                folder, low, low + step, names=writer.keeps_names, n_values=writer.n_values
            )
            _copy(some, codes, folder, memory, writer)


@dataclass(frozen=True)
class _Waiting:
    """Where some sequences, and their names, begin and end, in the order in which they are to be copied."""

    starts: IntArray
    stops: IntArray
    keys: HashArray
    values: CodeArray
    name_starts: IntArray
    name_stops: IntArray

    @classmethod
    def between(cls, folder: Path, low: int, high: int, *, names: bool, n_values: int) -> _Waiting:
        """Those whose first rows are from ``low`` on and below ``high``."""
        files = ["ends", "name_ends"] if names else ["ends"]
        rows, found, keyed, valued = [], [], [], []
        for firsts, keys, values, *spans in zip(
            *(_numbers(folder / file) for file in ("firsts", "keys")),
            _values(folder, n_values),
            *(_spans(folder / file) for file in files),
            strict=n_values > 0,
        ):
            here = (firsts >= low) & (firsts < high)
            rows.append(firsts[here])
            keyed.append(keys[here])
            valued.append(values[here] if n_values else np.empty((int(here.sum()), 0), np.int32))
            found.append(np.concatenate([span[:, here] for span in spans]))
        order = np.argsort(np.concatenate(rows), kind="stable")
        every = np.concatenate(found, axis=1)[:, order]
        of_names = every[2:] if names else np.zeros((2, len(order)), np.int64)
        keys = np.concatenate(keyed)[order].view(np.uint64)
        return cls(every[0], every[1], keys, np.concatenate(valued)[order], *of_names)


def _copy(some: _Waiting, codes: IO[bytes], folder: Path, memory: int, writer: SpillWriter) -> None:
    most = max(1, memory // _EVENT_BYTES)
    names = _names(folder, some) if writer.keeps_names else None
    held: list[bytes] = []
    ends: list[int] = []
    begun: list[str] = []
    keys: list[int] = []
    n = at = 0  # events held, and sequences whose values are written

    def flush() -> None:
        nonlocal n, at
        found = np.frombuffer(b"".join(held), np.int32)
        values = some.values[at : at + len(keys)]
        at += len(keys)
        writer.add(found, np.array(ends, np.int64), np.array(keys, np.uint64), begun, values=values)
        for each in (held, ends, begun, keys):
            each.clear()
        n = 0

    each = zip(some.starts.tolist(), some.stops.tolist(), some.keys.tolist(), strict=True)
    for start, stop, key in each:
        keys.append(key)
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


def _values(folder: Path, n_values: int) -> Iterator[CodeArray]:
    """The values of sequences, as many at a time as there are numbers; nothing, again and again, if none."""
    if not n_values:
        yield from repeat(np.empty((0, 0), np.int32))
    with open(folder / "values", "rb") as file:
        while len(some := np.fromfile(file, np.int32, AT_ONCE * n_values)):
            yield some.reshape(-1, n_values)


def _spans(path: Path) -> Iterator[IntArray]:
    """Where each of some stretches begins and ends, from the ends of all."""
    last = 0
    for ends in _numbers(path):
        yield np.stack([np.concatenate([[last], ends[:-1]]), ends])
        last = int(ends[-1])
