"""Sequences of codes in files: written once, in any pieces, and read block by block ever after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]

#: Ends of sequences, or their names, to read at a time.
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Block:
    """Some events in a row.

    ``offsets`` cut them into sequences; the first may be the continuation of one that began in an earlier
    block, the last may go on in the next. ``begin`` is where the last begins, 0 if it began earlier.
    ``names`` has one a sequence, continuations included, if names were kept.
    """

    codes: CodeArray
    offsets: IntArray
    begin: int
    names: pa.Array | None = None

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


@dataclass(frozen=True)
class Spill:
    """Sequences in a folder: int32 codes in the order in which labels were found, and int64 ends.

    ``labels`` is the vocabulary in sorted order and ``translate`` its codes for those in the file. If
    sequences are not in the order of their first rows, a file has the numbers of these, and none is empty.
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
    has_firsts: bool

    def places(self) -> range | IntArray:
        """The place of every sequence that is not empty, in the order in which their first rows came."""
        if not self.has_firsts:
            return range(self.n_held)
        order = np.argsort(np.fromfile(self.folder / "firsts", np.int64), kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return places

    def numbers(self) -> range | IntArray:
        """The number of every sequence, empty ones included, in that order."""
        return self.places() if self.has_firsts else range(self.n_sequences)

    def blocks(self, n_events: int) -> Iterator[Block]:
        """Read all sequences, so many events at a time; one empty block if there are none."""
        names = _Names(self.folder / "names") if self.has_names else None
        with open(self.folder / "codes", "rb") as codes_file, open(self.folder / "ends", "rb") as ends_file:
            ends, start = np.empty(0, np.int64), 0
            while start < self.n_events or start == 0:
                codes = self.translate[np.fromfile(codes_file, np.int32, n_events)]
                stop = start + len(codes)
                while not len(ends) or ends[-1] <= stop:
                    more = np.fromfile(ends_file, np.int64, _AT_ONCE)
                    if not len(more):
                        break
                    ends = np.concatenate([ends, more])
                here = int(np.searchsorted(ends, stop, side="right"))
                inside, ends = ends[:here] - start, ends[here:]
                block = Block.of(codes, inside)
                yield replace(block, names=names.take(here, block.goes_on)) if names else block
                start = stop
                if not len(codes):
                    break


class SpillWriter:
    """Writes a :class:`Spill`."""

    def __init__(self, folder: Path, *, names: bool = False, firsts: bool = False) -> None:
        self.folder, self.keeps_names = folder, names
        self._firsts = open(folder / "firsts", "wb") if firsts else None  # noqa: SIM115  # by finish()
        self._codes = open(folder / "codes", "wb")  # noqa: SIM115  # closed by finish()
        self._ends = open(folder / "ends", "wb")  # noqa: SIM115  # so are these
        self._names: Any = None
        if names:
            import pyarrow as pa

            self._names = pa.ipc.new_stream(folder / "names", pa.schema([("name", pa.string())]))
        self.n_events = self.n_sequences = self.tied_order = 0
        self._n_held = self._last_end = 0
        self.counts = np.zeros(0, np.int64)

    def add(
        self,
        codes: CodeArray,
        ends: IntArray,
        names: Sequence[str] | pa.Array = (),
        firsts: IntArray | None = None,
    ) -> None:
        """Go on writing: ``ends`` are the places in ``codes`` where sequences end (0: before the first).

        ``names`` are those of the sequences that begin here, and ``firsts`` the numbers of their first rows.
        """
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
        if self._names is not None and len(names):
            import pyarrow as pa

            self._names.write_batch(pa.record_batch({"name": pa.array(names, pa.string())}))

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
            self._firsts is not None,
        )

    def close(self) -> None:
        """Close the files, also if they are not complete."""
        for file in (self._codes, self._ends, self._names, self._firsts):
            if file is not None:
                file.close()


class _Names:
    """The names of sequences, in order."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._batches = iter(pa.ipc.open_stream(path))
        self._left: Any = pa.array([], pa.string())

    def take(self, ended: int, goes_on: bool) -> pa.Array:
        """The next names: ``ended`` that are used up, and one more that the next block may go on with."""
        import pyarrow as pa

        parts, n = [self._left], len(self._left)
        while n < ended + goes_on:
            parts.append(next(self._batches).column(0))
            n += len(parts[-1])
        names = pa.concat_arrays(parts)
        self._left = names[ended:]
        return names[: ended + goes_on]


def _write(file: IO[bytes], array: npt.NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(array).data)
