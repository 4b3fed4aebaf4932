"""From files of any size to codes on disk, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.events.keys import any_twice, sequence_keys
from summarkov.io.addresses import size_of
from summarkov.io.encoding import Encoded, Vocabulary, encode
from summarkov.io.files import LEAST, LISTED_BYTES, refuse_beyond
from summarkov.io.grouping import count_ties, repeats, run_starts, sorted_within
from summarkov.io.line_files import jsonl_sequences
from summarkov.io.ordering import OrderColumn, as_ordered, is_ranked, sort_keys
from summarkov.io.regroup import CaseBlock, regroup
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.table_files import ROW_BYTES, Files, TableBlock
from summarkov.io.tables import flat_lists
from summarkov.io.temporary import Scratch
from summarkov.typing import CodeArray, IntArray

#: ``progress(what, done, total)``: how far reading ("reading") or grouping ("grouping") has come.
Progress = Callable[[str, int, int], None]
#: What a byte of a line of JSON takes while it is parsed.
_PARSED_BYTES = 16


@dataclass(frozen=True)
class Task:
    """What to read, and whom to tell."""

    files: Files
    progress: Progress | None = None

    @property
    def memory(self) -> int:
        """Bytes to get along with."""
        return self.files.memory

    @property
    def n_rows(self) -> int:
        """Rows to read at a time: an eighth of the memory, if they are not large."""
        return max(1, min(1 << 17, self.memory // (8 * ROW_BYTES)))

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far the work has come."""
        if self.progress is not None:
            self.progress(what, done, total)


def spill(task: Task, scratch: Scratch, labels: Sequence[str] | None, *, names: bool = False) -> Spill:
    """Read all files once (twice if they must be grouped) and write their sequences as codes."""
    vocabulary = Vocabulary(labels, task.memory)
    writer = SpillWriter(scratch.path, names=names)
    try:
        if task.files.format == "jsonl":
            _lines(task, vocabulary, writer)
        elif task.files.of_lists:
            _lists(task, vocabulary, writer)
        elif not _grouped(task, vocabulary, writer, scratch.path):
            writer.close()
            writer = SpillWriter(scratch.path, names=names)
            _regrouped(task, vocabulary, writer, scratch.path)
        return writer.finish(*vocabulary.settled())
    finally:
        writer.close()


def _grouped(task: Task, vocabulary: Vocabulary, writer: SpillWriter, folder: Path) -> bool:
    """Write rows that are together and in order; whether they are. What was held to find out is let go."""
    runs = folder / "runs"
    try:
        _Grouped(task, vocabulary, writer, runs).read()
        return True
    except NotGroupedError:
        return False
    finally:
        runs.unlink(missing_ok=True)


class NotGroupedError(Exception):
    """The rows of a case are not together, or not in order."""


class _Grouped:
    """Rows that are together case by case, and in order, streamed as they are.

    That they are is checked while reading: cases that come again in the same block at once, all others at the
    end, by a file with a key of 64 bits for each run of rows of one case. Equal cases have equal keys; if
    different ones have too, the files are merely grouped for nothing.
    """

    def __init__(self, task: Task, vocabulary: Vocabulary, writer: SpillWriter, runs: Path) -> None:
        self.task, self.vocabulary, self.writer, self.runs = task, vocabulary, writer, runs
        self.case: str | None = None  # of the last row so far
        self.kind: Any = None  # type of the order column
        self.key: Any = None  # order of the last row so far

    def read(self) -> None:
        """Read everything, or raise ``NotGroupedError``."""
        n_runs = 0
        with open(self.runs, "wb") as file:
            for block in self.task.files.blocks(self.task.n_rows):
                keys = self.add(block)
                n_runs += len(keys)
                file.write(keys.data)
                self.task.tell("reading", block.done, self.task.files.n_bytes)
        if self.case is not None:
            self.writer.add(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint64))
        keys = np.memmap(self.runs, np.uint64, "r") if n_runs else np.empty(0, np.uint64)
        if any_twice(keys, max(1, self.task.memory // 32)):
            raise NotGroupedError

    def add(self, block: TableBlock) -> npt.NDArray[np.uint64]:
        """Write the events of some rows; the keys of the cases that begin in them."""
        chosen = self.task.files.chosen
        case, codes = columns_of(block, self.task.files, self.vocabulary)
        starts = run_starts(case.codes)
        if repeats(case.codes[starts]):
            raise NotGroupedError
        begun = case.codes[starts].tolist()
        continues = bool(begun) and case.texts[begun[0]] == self.case
        if isinstance(chosen.order, str):
            self.check_order(block, chosen.order, starts, continues)
        names = [case.texts[code] for code in begun[continues:]]
        ends = starts[1:] if continues or self.case is None else starts
        keys = sequence_keys(names)
        self.writer.add(codes, ends, keys, names)
        if begun:
            self.case = case.texts[begun[-1]]
        return keys

    def check_order(self, block: TableBlock, name: str, starts: IntArray, continues: bool) -> None:
        """Count ties; rows that are out of order, or keys that cannot be compared, must be grouped."""

        column = as_ordered(block.table.column(name), name, block.path, block.first_row)
        if self.kind not in (None, column.type) or is_ranked(column.type):
            raise NotGroupedError
        keys = sort_keys(column, name, block.path)
        if not len(keys):
            return
        if not sorted_within(keys, starts) or (continues and keys[0] < self.key):
            raise NotGroupedError
        self.writer.tied_order += count_ties(keys, starts) + (continues and bool(keys[0] == self.key))
        self.kind, self.key = column.type, keys[-1]


def columns_of(block: TableBlock, files: Files, vocabulary: Vocabulary) -> tuple[Encoded, CodeArray]:
    """The cases and the codes of the events of some rows."""
    case, event = files.chosen.case, files.chosen.event
    assert case is not None
    assert event is not None
    where = block.path, block.first_row
    vocabulary.share = block.done / files.n_bytes
    encoded = encode(block.table.column(event), event, *where)
    return encode(block.table.column(case), case, *where), vocabulary.recode(encoded)


def _regrouped(task: Task, vocabulary: Vocabulary, writer: SpillWriter, folder: Path) -> None:
    """Group rows that are in any order."""
    import pyarrow as pa

    name = task.files.chosen.order
    order = OrderColumn(name) if isinstance(name, str) else None

    def rows() -> Any:
        n = 0
        for block in task.files.blocks(task.n_rows):
            case, codes = columns_of(block, task.files, vocabulary)
            columns: dict[str, Any] = {"code": pa.array(codes), "row": pa.array(np.arange(n, n + len(codes)))}
            n += len(codes)
            if order is not None:
                column = block.table.column(order.name)
                order.look(column, block.path, block.first_row)
                columns["order"] = column
            yield CaseBlock(case, pa.table(columns))
            task.tell("reading", block.done, task.files.n_bytes)

    regroup(rows(), folder, task.memory, writer, order, task.tell)


def _lists(task: Task, vocabulary: Vocabulary, writer: SpillWriter) -> None:
    """A row is a whole sequence."""
    chosen, n = task.files.chosen, 0
    assert chosen.event is not None
    for block in task.files.blocks(task.n_rows):
        column = block.table.column(chosen.event)
        events, offsets = flat_lists(column, chosen.event, block.path, block.first_row)
        refuse_beyond(task.memory, LISTED_BYTES * len(events), f"lists of {block.path} that are very long")
        vocabulary.share = block.done / task.files.n_bytes
        encoded = encode(events, chosen.event, block.path, block.first_row)
        names = [str(number) for number in range(n, n + len(column))]
        if chosen.case is not None:
            case = encode(block.table.column(chosen.case), chosen.case, block.path, block.first_row)
            names = [case.texts[code] for code in case.codes.tolist()]
        writer.add(vocabulary.recode(encoded), offsets[1:], sequence_keys(names), names)
        n += len(column)
        task.tell("reading", block.done, task.files.n_bytes)


def _lines(task: Task, vocabulary: Vocabulary, writer: SpillWriter) -> None:
    """A line is a whole sequence."""
    codes: list[int] = []
    ends: list[int] = []
    names: list[str] = []
    n = done = held = 0

    def write() -> None:
        writer.add(np.array(codes, np.int32), np.array(ends, np.int64), sequence_keys(names), names)
        for some in (codes, ends, names):
            some.clear()

    longest = max(task.memory, LEAST) // (2 * _PARSED_BYTES)
    for path in task.files.paths:
        done += size_of(path)
        vocabulary.share = done / task.files.n_bytes
        for labels, name in jsonl_sequences(path, task.files.asked, longest):
            codes.extend(map(vocabulary.code, labels))
            ends.append(len(codes))
            names.append(str(n) if name is None else name)
            n += 1
            held += 2 + len(labels) + len(names[-1]) // ROW_BYTES
            if held >= task.n_rows:
                write()
                held = 0
        task.tell("reading", done, task.files.n_bytes)
    write()
