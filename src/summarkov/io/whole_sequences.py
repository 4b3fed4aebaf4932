"""Files in which a row, or a line, is a whole sequence, as codes on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summarkov.events.draws import sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.addresses import size_of
from summarkov.io.encoding import encode
from summarkov.io.files import LEAST, LISTED_BYTES, refuse_beyond
from summarkov.io.line_files import Line, jsonl_sequences, times_key
from summarkov.io.list_columns import flat_values, read_lists
from summarkov.io.ordering import OrderColumn
from summarkov.io.rows import LeftOut, read_per_case, text_of
from summarkov.io.spill import SpillWriter
from summarkov.io.table_files import ROW_BYTES
from summarkov.io.ticks import as_column, times_of_texts

if TYPE_CHECKING:
    from summarkov.io.scan import Found, Task

#: What a byte of a line of JSON takes while it is parsed.
_PARSED_BYTES = 16


def add_lists(task: Task, found: Found, writer: SpillWriter) -> None:
    """A row is a whole sequence."""
    files, chosen, n = task.files, task.files.chosen, 0
    name = chosen.event[0]
    for block in files.blocks(task.n_rows):
        column, where = block.table.column(name), (block.path, block.first_row)
        n_events = len(flat_values(column))
        refuse_beyond(task.memory, LISTED_BYTES * n_events, f"lists of {block.path} that are very long")
        found.budget.share = block.done / files.n_bytes
        event, offsets, starts = read_lists(
            column, name, files.wanted, block.path, found.left_out, block.first_row
        )
        codes = found.labels.recode(event)
        if (codes < 0).any():  # the codes of empty ticks
            codes[codes < 0] = found.labels.code(None)
        names = [str(number) for number in range(n, n + len(column))]
        if chosen.case is not None:
            case = encode(block.table.column(chosen.case), chosen.case, *where)
            names = [case.texts[code] for code in case.codes.tolist()]
        per_case = [*read_per_case(block.table, chosen, *where), *task.from_table(names)]
        values = found.values.recode(per_case)
        moments = None if starts is None else Moments(starts)
        writer.add(codes, offsets[1:], sequence_keys(names), names, values=values, moments=moments)
        n += len(column)
        task.tell(block.done, files.n_bytes, "reading")


def add_lines(task: Task, found: Found, writer: SpillWriter) -> None:
    """A line is a whole sequence. What kind of times they have is decided by all lines."""
    order = _looked_at(task) if task.files.wanted.times else None
    codes: list[int] = []
    ends: list[int] = []
    names: list[str] = []
    values: list[list[int]] = []
    together: list[int] = []  # the events that happened together with the one before
    times: list[str | None] = []  # as they are written
    n = done = held = 0

    def write(path: str) -> None:
        some = np.array(values, np.int32).reshape(len(values), len(task.per_case))
        starts = np.ones(len(codes), bool)
        starts[together] = False
        moments = Moments(starts)
        if order is not None:
            moments = Moments(starts, *times_of_texts(order, as_column(times), [0, *ends], names, path))
        writer.add(
            np.array(codes, np.int32),
            np.array(ends, np.int64),
            sequence_keys(names),
            names,
            values=some,
            moments=moments,
        )
        for each in (codes, ends, names, values, together, times):
            each.clear()

    for path in task.files.paths:
        done += size_of(path)
        found.budget.share = done / task.files.n_bytes
        for line in jsonl_sequences(path, task.files.wanted, found.left_out, _longest(task)):
            together.extend(len(codes) + place for place in line.together)
            times.extend(line.times)
            codes.extend(map(found.labels.code, line.labels))
            ends.append(len(codes))
            names.append(str(n) if line.name is None else line.name)
            more = (text_of(each, int(each.codes[0])) for each in task.from_table(names[-1:]))
            values.append(found.values.codes([*line.values, *more]))
            n += 1
            held += _n_rows(line)
            if held >= task.n_rows:
                write(path)
                held = 0
        write(path)
        task.tell(done, task.files.n_bytes, "reading")


def _looked_at(task: Task) -> OrderColumn:
    """The times of all lines, looked at."""
    wanted = task.files.wanted
    order = OrderColumn(times_key(wanted), wanted.date_format, "time")
    for path in task.files.paths:
        times: list[str | None] = []
        row = held = 0
        for line in jsonl_sequences(path, wanted, LeftOut(), _longest(task)):
            times.extend(line.times)
            held += _n_rows(line)
            if held >= task.n_rows:
                order.look(as_column(times), path, row)
                row, held = row + len(times), 0
                times.clear()
        order.look(as_column(times), path, row)
    return order


def _n_rows(line: Line) -> int:
    """How many rows of a table take as much memory as a line: names and times may be long texts."""
    long = len(line.name or "") + sum(len(time or "") for time in line.times)
    return 2 + len(line.labels) + long // ROW_BYTES


def _longest(task: Task) -> int:
    """How many bytes a line may have."""
    return max(task.memory, LEAST) // (2 * _PARSED_BYTES)
