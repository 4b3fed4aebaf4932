"""Columns of lists: a row is a whole sequence, and a list among its labels a tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.columns import Columns
from summarkov.io.encoding import Encoded, count, encode, missing_rows, numpy_of, refuse_missing, settle
from summarkov.io.files import LISTED_BYTES, refuse_beyond
from summarkov.io.rows import LeftOut, filled, labels_of, origin_of, per_sequence, read_per_case
from summarkov.io.ticks import refuse_no_order
from summarkov.io.wanted import Wanted
from summarkov.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from summarkov.io.scan import Found, Task
    from summarkov.io.spill import SpillWriter


@dataclass(frozen=True)
class Lists:
    """The labels of all lists of a column as codes, and where each list begins and the last ends.

    ``starts`` tells of every label whether it begins a tick, where lists hold lists; an empty one has the
    code -1. ``names`` are those of the sequences, if they have any, and ``per_case`` the columns of weights
    and attributes.
    """

    event: Encoded
    offsets: IntArray
    starts: BoolArray | None
    names: list[str] | None
    per_case: list[Encoded]


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def flat_values(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """What is in lists, however deep they are."""
    while is_list(column.type):
        column = pc.list_flatten(column)
    return column


def read_lists(
    table: pa.Table, chosen: Columns, wanted: Wanted, source: str, left_out: LeftOut, first_row: int = 0
) -> Lists:
    """Read rows, from ``first_row`` on, that are sequences.

    >>> import pyarrow as pa
    >>> table = pa.table({"events": [[["b", "a"], []], [["b"]]]})
    >>> found = read_lists(table, Columns(event=("events",)), Wanted(), "the table", LeftOut())
    >>> found.event.codes.tolist(), found.offsets.tolist(), found.starts.tolist()
    ([0, 1, -1, 0], [0, 3, 4], [True, False, True, True])
    """
    event, offsets, starts = _events(
        table.column(chosen.event[0]), chosen.event[0], wanted, source, left_out, first_row
    )
    names = None
    if chosen.case is not None:
        case = encode(table.column(chosen.case), chosen.case, source, first_row)
        names = [case.texts[code] for code in case.codes.tolist()]
    return Lists(event, offsets, starts, names, read_per_case(table, chosen, source, first_row))


def sequences_of_lists(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """Turn the lists of a table into sequences; they may be empty."""
    if wanted.gap is not None:
        refuse_no_order(wanted, source)
    left_out = LeftOut()
    found = read_lists(table, chosen, wanted, source, left_out)
    codes, vocabulary = settle(found.event.codes, found.event.texts, wanted.labels)
    offsets, moments = found.offsets, None
    if found.starts is not None:
        codes, offsets, moments = Moments.made(codes, offsets, found.starts, has_ticks=True)
    names = found.names or [str(at) for at in range(len(offsets) - 1)]
    of_cases = dict(zip(chosen.per_case, found.per_case, strict=True))
    return EventSequences(
        codes,
        offsets,
        vocabulary,
        found.names,
        moments=moments,
        origin=origin_of(chosen, left_out),
        **per_sequence(of_cases, wanted, source, names),
    )


def add_lists(task: Task, found: Found, writer: SpillWriter) -> None:
    """Write the lists of all files to disk."""
    files, chosen, n = task.files, task.files.chosen, 0
    for block in files.blocks(task.n_rows):
        n_events = len(flat_values(block.table.column(chosen.event[0])))
        refuse_beyond(task.memory, LISTED_BYTES * n_events, f"lists of {block.path} that are very long")
        found.budget.share = block.done / files.n_bytes
        some = read_lists(block.table, chosen, files.wanted, block.path, found.left_out, block.first_row)
        codes = found.labels.recode(some.event)
        if (codes < 0).any():  # the codes of empty ticks
            codes[codes < 0] = found.labels[None]
        names = some.names or [str(number) for number in range(n, n + block.table.num_rows)]
        values = found.values.recode([*some.per_case, *task.from_table(names)])
        moments = None if some.starts is None else Moments(some.starts)
        writer.add(codes, some.offsets[1:], sequence_keys(names), names, values=values, moments=moments)
        n += block.table.num_rows
        task.tell(block.done, files.n_bytes, "reading")


#: Labels, where each list begins and the last ends, and whether each label begins a tick.
_Events = tuple[Encoded, IntArray, BoolArray | None]


def _events(
    column: pa.ChunkedArray, name: str, wanted: Wanted, source: str, left_out: LeftOut, first_row: int
) -> _Events:
    """The labels of a column of lists."""
    refuse_missing(column, name, source, first_row)
    events, offsets = _flat(column)
    if not is_list(events.type):
        event = _labels(events, offsets, name, wanted, source, first_row)
        kept = event.codes >= 0
        left_out.unlabelled += int(np.count_nonzero(~kept))
        before = np.append(0, np.cumsum(kept))
        return Encoded(event.codes[kept], event.texts), before[offsets], None
    _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
    labels, bounds = _flat(events)
    event = _labels(labels, bounds[offsets], name, wanted, source, first_row)
    return _ticks(event, bounds, _absent(events), offsets, wanted, left_out)


def _ticks(
    event: Encoded, bounds: IntArray, absent: BoolArray, offsets: IntArray, wanted: Wanted, left_out: LeftOut
) -> _Events:
    """Labels in lists between ``bounds``, some of which are ``absent``; ``offsets`` cut these into sequences.

    A list that is absent, or in which every label is, is left out or gets a label, as asked.
    """
    kept = event.codes >= 0
    sizes = np.diff(bounds)
    tick = np.repeat(np.arange(len(sizes)), sizes)[kept]
    left_out.unlabelled += int(np.count_nonzero(~kept))
    alone = (sizes == 0) & ~absent  # an empty tick stays, as a row of no label
    instead, texts = -1, event.texts
    if wanted.missing == "skip":
        left_out.unlabelled += int(np.count_nonzero(absent))
    elif absent.any():
        named = filled(Encoded(np.append(event.codes, -1), texts), wanted.missing)
        instead, texts, alone = int(named.codes[-1]), named.texts, alone | absent
    n = np.bincount(tick, minlength=len(sizes))
    before, more = np.cumsum(n) - n, np.flatnonzero(alone)
    codes = np.insert(event.codes[kept], before[more], np.where(absent[more], instead, -1))
    tick = np.insert(tick, before[more], more)
    rows = np.append(0, np.cumsum(n + alone))
    return Encoded(codes, texts), rows[offsets], np.append(True, tick[1:] != tick[:-1])[: len(tick)]


def _flat(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, IntArray]:
    """What is in the lists of a column, and where each begins and the last ends; a missing one is empty."""
    offsets = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(numpy_of(pc.fill_null(pc.list_value_length(column), 0)), out=offsets[1:])
    return pc.list_flatten(column), offsets


def _absent(column: pa.ChunkedArray) -> BoolArray:
    found = np.zeros(len(column), bool)
    found[missing_rows(column)] = True
    return found


def _labels(
    events: pa.ChunkedArray, offsets: IntArray, name: str, wanted: Wanted, source: str, first_row: int
) -> Encoded:
    """The labels in lists; those that are missing are an error, have the code -1, or another label."""
    _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
    return labels_of(events, name, wanted, source, first_row)


def _refuse_unlabelled(
    absent: npt.NDArray[np.integer], offsets: IntArray, name: str, wanted: Wanted, source: str, first_row: int
) -> None:
    """Refuse events without a label, unless that is allowed; ``offsets`` cut all into rows."""
    if len(absent) and wanted.missing == "error":
        row = first_row + int(np.searchsorted(offsets, absent[0], side="right"))
        raise DataError(
            f"column {name!r} of {source} has {count(len(absent), 'event')} without a label, "
            f"the first in row {row} (the first row of data is 1); fill or drop them"
        )
