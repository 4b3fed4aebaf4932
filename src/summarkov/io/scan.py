"""From files of any size to codes on disk, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import SettingError
from summarkov.events.describe import Origin
from summarkov.events.draws import any_twice, sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.buckets import CaseBlock
from summarkov.io.case_attributes import AttributeNames, CaseTable, attribute_names
from summarkov.io.encoding import Encoded, NoCaseError, Vocabulary, caseless_rows
from summarkov.io.files import ROW_BYTES, TextBudget
from summarkov.io.jsonl_files import add_lines, jsonl_origin
from summarkov.io.list_columns import add_lists
from summarkov.io.ordering import Repeated, is_ranked, kept_offsets, repeats, run_starts, sorted_within, tied
from summarkov.io.regroup import regroup
from summarkov.io.rows import CaseValues, LeftOut, Rows, origin_of, read_rows, weights_of
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.table_files import Files, TableBlock
from summarkov.io.temporary import Scratch
from summarkov.io.ticks import Order, Ties, refuse_no_order, refuse_ties
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

#: ``progress(done, total, what)``: how far reading ("reading") or grouping ("grouping") has come; or True.
Progress = Callable[[int, int, str], None] | bool | None


@dataclass(frozen=True)
class Task:
    """What to read, and whom to tell."""

    files: Files
    tell: Callable[..., None]
    cases: CaseTable | None = None  # attributes from a second table

    @property
    def memory(self) -> int:
        """Bytes to get along with."""
        return self.files.memory

    @property
    def n_rows(self) -> int:
        """Rows to read at a time: an eighth of the memory, if they are not large."""
        return max(1, min(1 << 17, self.memory // (8 * ROW_BYTES)))

    @property
    def per_case(self) -> tuple[str, ...]:
        """The columns, or keys, that must not change during a case; or come from a second table."""
        return (*self.files.wanted.columns.per_case, *(() if self.cases is None else self.cases.columns))

    def from_table(self, cases: Sequence[str]) -> list[Encoded]:
        """What the second table tells of cases, if there is one."""
        return [] if self.cases is None else [*self.cases.values(cases).values()]

    def order(self) -> Order:
        """The order columns, not looked at yet."""
        chosen = self.files.chosen
        return Order(chosen.order or (), self.files.wanted.for_columns(chosen))


@dataclass(frozen=True)
class Content:
    """What files hold: codes on disk, weights and attributes of sequences if any, and how it was read.

    ``values`` are the codes of the columns of attributes, one row per sequence.
    """

    spill: Spill
    weights: FloatArray | None
    attributes: AttributeNames | None
    values: CodeArray
    origin: Origin | None


class Found:
    """What is found while files are read: labels, the values of cases, and events that are left out."""

    def __init__(self, task: Task) -> None:
        self.budget = TextBudget(task.memory)
        self.labels = Vocabulary(task.files.wanted.labels, self.budget)
        self.values = CaseValues(task.per_case, self.budget)
        self.left_out = LeftOut()


def spill(task: Task, scratch: Scratch, *, names: bool = False) -> Content:
    """Read all files once (twice if they must be grouped) and write their sequences as codes."""
    files = task.files
    found = Found(task)
    if files.format == "jsonl" and files.wanted.drop_duplicates:
        raise SettingError(
            f"duplicates are rows of a table, and {files.paths[0]} has none; leave out drop_duplicates=True"
        )
    if files.format != "jsonl" and (files.of_lists or not files.chosen.order):
        refuse_no_order(files.wanted, files.paths[0])
    writer = SpillWriter(scratch.path, names=names, n_values=len(task.per_case))
    try:
        if files.format == "jsonl":
            add_lines(task, found, writer)
        elif files.of_lists:
            add_lists(task, found, writer)
        elif not _grouped(task, found, writer, scratch.path):
            writer.close()
            writer = SpillWriter(scratch.path, names=names, n_values=len(task.per_case))
            found.left_out = LeftOut()
            _regrouped(task, found, writer, scratch.path)
        found.left_out.refuse_all(files.wanted, writer.n_events, files.paths[0])
        if writer.ties.n:
            refuse_ties(writer.ties, files.wanted, (files.chosen.order or ("",))[0], files.paths[0])
            writer.ties = Ties() if task.order().together else writer.ties
        content = writer.finish(*found.labels.settled())
    except NoCaseError as error:  # of the first block that has some
        raise error.of_all(_n_caseless(task)) from None
    finally:
        writer.close()
    asked, values = files.wanted.columns, content.values()
    of_cases = found.values.columns(values)
    weights = None if asked.weight is None else weights_of(of_cases[0])
    columns = asked.attributes if task.cases is None else (*task.cases.columns,)
    named = dict(zip(columns, of_cases[len(of_cases) - len(columns) :], strict=True))
    source = files.paths[0] if task.cases is None else task.cases.source
    attributes = attribute_names(named, files.wanted, source) if named else None
    if files.format == "jsonl":
        origin = jsonl_origin(files.wanted, found.left_out)
    else:
        origin = origin_of(files.chosen, found.left_out, writer.ties.case)
    return Content(content, weights, attributes, values[:, values.shape[1] - len(named) :], origin)


def _n_caseless(task: Task) -> int:
    """How many rows of all files name no case."""
    case, blocks = task.files.chosen.case, task.files.blocks(task.n_rows)
    return sum(len(caseless_rows(block.table.column(case))) for block in blocks)


def _grouped(task: Task, found: Found, writer: SpillWriter, folder: Path) -> bool:
    """Write rows that are together and in order; whether they are. What was held to find out is let go."""
    runs = folder / "runs"
    try:
        _Grouped(task, found, writer, runs).read()
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

    def __init__(self, task: Task, found: Found, writer: SpillWriter, runs: Path) -> None:
        self.task, self.found, self.writer, self.runs = task, found, writer, runs
        self.case: str | None = None  # of the last row so far
        self.values: CodeArray = np.empty((0, len(task.per_case)), np.int32)  # of the same
        self.kinds: list[Any] = []  # types of the order columns
        self.keys: list[npt.NDArray[Any]] = []  # order of the last row so far
        self.repeated = Repeated()

    def read(self) -> None:
        """Read everything, or raise ``NotGroupedError``."""
        n_runs = 0
        with open(self.runs, "wb") as file:
            for block in self.task.files.blocks(self.task.n_rows):
                keys = self.add(block)
                n_runs += len(keys)
                file.write(keys.data)
                self.task.tell(block.done, self.task.files.n_bytes, "reading")
        if self.case is not None:
            self.writer.add(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint64))
        keys = np.memmap(self.runs, np.uint64, "r") if n_runs else np.empty(0, np.uint64)
        if any_twice(keys, max(1, self.task.memory // 32)):
            raise NotGroupedError

    def add(self, block: TableBlock) -> npt.NDArray[np.uint64]:
        """Write the events of some rows; the keys of the cases that begin in them."""
        rows, codes, values = rows_of(block, self.task, self.found)
        case = rows.case
        starts = run_starts(case.codes)
        if repeats(case.codes[starts]):
            raise NotGroupedError
        begun = case.codes[starts].tolist()
        continues = bool(begun) and case.texts[begun[0]] == self.case
        moments, same = self.check_order(block, rows, starts, continues)
        self.check_values(block, rows, values, starts, continues)
        names = [case.texts[code] for code in begun[continues:]]
        ends = starts[1:] if continues or self.case is None else starts
        keys = sequence_keys(names)
        of_cases = values[starts[continues:]] if len(values) else None
        of_rows, order = case.codes, self.task.order()
        keep = None if order.together else self.found.left_out.drop(self.repeated.of(codes, same), order)
        if keep is not None:
            codes, ends, same, of_rows = codes[keep], kept_offsets(ends, keep), same[keep], of_rows[keep]
            moments = None if moments is None else moments[keep]
        if same.any():
            tied_case = case.texts[of_rows[same.argmax()]]
            self.writer.add_ties(Ties(int(np.count_nonzero(same)), tied_case))
        self.writer.add(codes, ends, keys, names, None, of_cases, moments)
        if begun:
            self.case = case.texts[begun[-1]]
        return keys

    def check_values(
        self, block: TableBlock, rows: Rows, values: CodeArray, starts: IntArray, continues: bool
    ) -> None:
        """Refuse columns that change during a case."""
        if not len(values):
            return
        before = len(self.values) if continues else 0
        values, runs = np.concatenate([self.values[:before], values]), starts + before
        runs[:1] = 0
        codes = rows.case.codes
        self.found.values.refuse_change(
            values, runs, lambda row: rows.case.texts[codes[max(0, row - before)]], block.path
        )
        self.values = values[-1:]

    def check_order(
        self, block: TableBlock, rows: Rows, starts: IntArray, continues: bool
    ) -> tuple[Moments | None, BoolArray]:
        """When events happened, as far as it is asked, and whether each has the place of the one before.

        Rows that are out of order, or keys that cannot be compared, must be grouped.
        """
        order = self.task.order()
        columns = [rows.table.column(one.name) for one in order.columns]
        order.look(columns, block.path, block.first_row)
        keys, kinds = order.read(columns, block.path)
        keys = keys if rows.kept is None else [each[rows.kept] for each in keys]
        if not keys or not len(keys[0]):
            moments = order.moments(keys, kinds, None, block.path)
            return moments, np.zeros(len(rows.case.codes), bool)
        if (self.kinds and self.kinds != kinds) or any(map(is_ranked, kinds)):
            raise NotGroupedError
        of_rows = keys
        if continues:  # with the last row of the block before
            keys = [np.concatenate(pair) for pair in zip(self.keys, keys, strict=True)]
            starts = starts + 1
            starts[0] = 0
        if not sorted_within(keys, starts):
            raise NotGroupedError
        same = tied(keys, starts)[int(continues) :]
        self.kinds, self.keys = kinds, [each[-1:] for each in keys]
        return order.moments(of_rows, kinds, same, block.path), same


def rows_of(block: TableBlock, task: Task, found: Found) -> tuple[Rows, CodeArray, CodeArray]:
    """Some rows, the codes of their labels, and those of what does not change during a case."""
    files = task.files
    found.budget.share = block.done / files.n_bytes
    rows = read_rows(block.table, files.chosen, files.wanted, block.path, found.left_out, block.first_row)
    of_rows = [Encoded(each.codes[rows.case.codes], each.texts) for each in task.from_table(rows.case.texts)]
    per_case = [*rows.per_case, *of_rows]
    return rows, found.labels.recode(rows.event), found.values.recode(per_case)


def _regrouped(task: Task, found: Found, writer: SpillWriter, folder: Path) -> None:
    """Group rows that are in any order."""
    files = task.files
    order = task.order()

    def rows() -> Any:
        n = 0
        for block in files.blocks(task.n_rows):
            some, codes, values = rows_of(block, task, found)
            columns: dict[str, Any] = {"code": pa.array(codes), "row": pa.array(np.arange(n, n + len(codes)))}
            n += len(codes)
            places = [some.table.column(one.name) for one in order.columns]
            order.look(places, block.path, block.first_row)
            for at, column in enumerate(places):
                columns[f"order{at}"] = column if some.kept is None else column.filter(pa.array(some.kept))
            for at in range(len(task.per_case)):
                columns[f"value{at}"] = pa.array(values[:, at])
            yield CaseBlock(some.case, pa.table(columns))
            task.tell(block.done, files.n_bytes, "reading")

    regroup(rows(), folder, task.memory, writer, order, found.values, task.tell)
    n = writer.n_duplicates
    found.left_out.duplicates, found.left_out.dropped = n, n if order.drops_duplicates else 0
