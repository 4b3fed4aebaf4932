"""From files of any size to codes on disk, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import UnknownLabelError
from summarkov.readers.batches import Batch, Files
from summarkov.readers.encoding import Encoded, encode
from summarkov.readers.grouping import count_ties, repeats, run_starts, sorted_within
from summarkov.readers.line_files import jsonl_sequences
from summarkov.readers.ordering import as_ordered, sort_keys
from summarkov.readers.regroup import Rows, regroup
from summarkov.readers.scratch import Scratch
from summarkov.readers.spill import Spill, SpillWriter
from summarkov.readers.tables import flat_lists
from summarkov.readers.vocabulary import which_occur

if TYPE_CHECKING:
    import pyarrow as pa

CodeArray = npt.NDArray[np.int32]
#: ``progress(what, done, total)``: how far reading ("reading") or grouping ("grouping") has come.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """What to read, in how much memory, and whom to tell."""

    files: Files
    memory: int
    progress: Progress | None = None

    @property
    def n_rows(self) -> int:
        """Rows to read at a time."""
        return max(1, min(1 << 17, self.memory >> 12))

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far the work has come."""
        if self.progress is not None:
            self.progress(what, done, total)


class Vocabulary:
    """A code for every label: those declared, or in the order in which they come."""

    def __init__(self, declared: Sequence[str] | None) -> None:
        self._declared = declared
        self._codes = {label: code for code, label in enumerate(declared or ())}

    def code(self, label: str) -> int:
        """The code of a label; one that was not declared is an error."""
        if self._declared is None:
            return self._codes.setdefault(label, len(self._codes))
        if label not in self._codes:
            raise UnknownLabelError(label, self._declared)
        return self._codes[label]

    def recode(self, column: Encoded) -> CodeArray:
        """The codes of the labels of a column."""
        occurs = which_occur(column.codes, len(column.texts)).tolist()
        each = [self.code(text) if here else -1 for text, here in zip(column.texts, occurs, strict=True)]
        return np.asarray(np.array(each, np.int32)[column.codes])

    def settled(self) -> tuple[list[str], CodeArray]:
        """The labels in sorted order, and the final code for every one given out."""
        labels = sorted(self._codes)
        final = {label: code for code, label in enumerate(labels)}
        return labels, np.array([*(final[label] for label in self._codes)], np.int32)


def spill(task: Task, scratch: Scratch, labels: Sequence[str] | None, *, names: bool = False) -> Spill:
    """Read all files once (twice if they must be grouped) and write their sequences as codes."""
    vocabulary = Vocabulary(labels)
    writer = SpillWriter(scratch.path, names=names)
    try:
        if task.files.format == "jsonl":
            _lines(task, vocabulary, writer)
        elif task.files.of_lists:
            _lists(task, vocabulary, writer)
        else:
            try:
                _Grouped(task, vocabulary, writer, scratch.path).read()
            except NotGroupedError:
                writer.close()
                (scratch.path / "runs").unlink()
                writer = SpillWriter(scratch.path, names=names, firsts=True)
                _regrouped(task, vocabulary, writer, scratch.path)
        return writer.finish(*vocabulary.settled())
    finally:
        writer.close()


class NotGroupedError(Exception):
    """The rows of a case are not together, or not in order."""


class _Grouped:
    """Rows that are together case by case, and in order, streamed as they are.

    That they are is checked while reading: cases that come again in the same batch at once, all others at the
    end, by a file with a hash of 64 bits for each run of rows of one case. Equal cases have equal hashes; if
    different ones have too, the files are merely grouped for nothing.
    """

    def __init__(self, task: Task, vocabulary: Vocabulary, writer: SpillWriter, folder: Path) -> None:
        self.task, self.vocabulary, self.writer = task, vocabulary, writer
        self.runs = folder / "runs"
        self.case: str | None = None  # of the last row so far
        self.kind: Any = None  # type of the order column
        self.key: Any = None  # order of the last row so far

    def read(self) -> None:
        """Read everything, or raise ``NotGroupedError``."""
        n_runs = 0
        with open(self.runs, "wb") as file:
            for batch in self.task.files.batches(self.task.n_rows):
                hashes = self.add(batch)
                n_runs += len(hashes)
                file.write(hashes.data)
                self.task.tell("reading", batch.done, self.task.files.n_bytes)
        if self.case is not None:
            self.writer.add(np.empty(0, np.int32), np.zeros(1, np.int64))
        if any_twice(self.runs, n_runs, max(1, self.task.memory // 32)):
            raise NotGroupedError
        self.runs.unlink()

    def add(self, batch: Batch) -> npt.NDArray[np.int64]:
        """Write the events of some rows; the hashes of the cases that begin in them."""
        chosen = self.task.files.chosen
        case, codes = columns_of(batch, self.task.files, self.vocabulary)
        starts = run_starts(case.codes)
        if repeats(case.codes[starts]):
            raise NotGroupedError
        begun = case.codes[starts].tolist()
        continues = bool(begun) and case.texts[begun[0]] == self.case
        if isinstance(chosen.order, str):
            self.check_order(batch, chosen.order, starts, continues)
        names = [case.texts[code] for code in begun[continues:]]
        ends = starts[1:] if continues or self.case is None else starts
        self.writer.add(codes, ends, names)
        if begun:
            self.case = case.texts[begun[-1]]
        return np.array([hash(name) for name in names], np.int64)

    def check_order(self, batch: Batch, name: str, starts: npt.NDArray[np.int64], continues: bool) -> None:
        """Count ties; rows that are out of order, or keys that cannot be compared, must be grouped."""
        import pyarrow as pa

        column = as_ordered(batch.table.column(name), name, batch.path, batch.first_row)
        if self.kind not in (None, column.type) or pa.types.is_decimal(column.type):
            raise NotGroupedError
        keys = sort_keys(column, name, batch.path)
        if not len(keys):
            return
        if not sorted_within(keys, starts) or (continues and keys[0] < self.key):
            raise NotGroupedError
        self.writer.tied_order += count_ties(keys, starts) + (continues and bool(keys[0] == self.key))
        self.kind, self.key = column.type, keys[-1]


def any_twice(path: Path, n: int, most: int) -> bool:
    """Whether a number comes twice in a file of ``n`` numbers, of which ``most`` are looked at at a time.

    They are looked at by remainders, so that equal ones are looked at together.
    """
    parts = -(-n // most)
    for part in range(parts):
        found = []
        with open(path, "rb") as file:
            while len(some := np.fromfile(file, np.int64, most)):
                found.append(some if parts == 1 else some[some % parts == part])
        together = np.concatenate(found)
        together.sort()
        if (together[1:] == together[:-1]).any():
            return True
    return False


def columns_of(batch: Batch, files: Files, vocabulary: Vocabulary) -> tuple[Encoded, CodeArray]:
    """The cases and the codes of the events of some rows."""
    case, event = files.chosen.case, files.chosen.event
    assert case is not None
    assert event is not None
    where = batch.path, batch.first_row
    encoded = encode(batch.table.column(event), event, *where)
    return encode(batch.table.column(case), case, *where), vocabulary.recode(encoded)


def _regrouped(task: Task, vocabulary: Vocabulary, writer: SpillWriter, folder: Path) -> None:
    """Group rows that are in any order."""
    import pyarrow as pa

    order = task.files.chosen.order

    def rows() -> Any:
        n = 0
        for batch in task.files.batches(task.n_rows):
            case, codes = columns_of(batch, task.files, vocabulary)
            columns: dict[str, Any] = {"code": pa.array(codes), "row": pa.array(np.arange(n, n + len(codes)))}
            n += len(codes)
            if isinstance(order, str):
                column = batch.table.column(order)
                as_ordered(column, order, batch.path, batch.first_row)  # refuses what has no order
                columns["order"] = _undictionaried(column)
            yield Rows(case, pa.table(columns))
            task.tell("reading", batch.done, task.files.n_bytes)

    regroup(rows(), folder, task.memory, writer, order if isinstance(order, str) else None, task.tell)


def _undictionaried(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _lists(task: Task, vocabulary: Vocabulary, writer: SpillWriter) -> None:
    """A row is a whole sequence."""
    chosen, n = task.files.chosen, 0
    assert chosen.event is not None
    for batch in task.files.batches(task.n_rows):
        column = batch.table.column(chosen.event)
        events, offsets = flat_lists(column, chosen.event, batch.path, batch.first_row)
        encoded = encode(events, chosen.event, batch.path, batch.first_row)
        names = [str(number) for number in range(n, n + len(column))]
        if chosen.case is not None:
            case = encode(batch.table.column(chosen.case), chosen.case, batch.path, batch.first_row)
            names = [case.texts[code] for code in case.codes.tolist()]
        writer.add(vocabulary.recode(encoded), offsets[1:], names)
        n += len(column)
        task.tell("reading", batch.done, task.files.n_bytes)


def _lines(task: Task, vocabulary: Vocabulary, writer: SpillWriter) -> None:
    """A line is a whole sequence."""
    codes: list[int] = []
    ends: list[int] = []
    names: list[str] = []
    n = done = 0

    def write() -> None:
        writer.add(np.array(codes, np.int32), np.array(ends, np.int64), names)
        for some in (codes, ends, names):
            some.clear()

    for path in task.files.paths:
        for labels, name in jsonl_sequences(path, task.files.asked):
            codes.extend(map(vocabulary.code, labels))
            ends.append(len(codes))
            names.append(str(n) if name is None else name)
            n += 1
            if len(codes) + len(ends) >= task.n_rows:
                write()
        done += os.path.getsize(path)
        task.tell("reading", done, task.files.n_bytes)
    write()
