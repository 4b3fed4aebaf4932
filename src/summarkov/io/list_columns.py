"""Columns of lists: a row is a whole sequence, and a list among its labels a tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.encoding import Encoded, count, encode, encode_some, missing_rows, numpy_of, refuse_missing
from summarkov.io.files import LISTED_BYTES, refuse_beyond
from summarkov.io.rows import LeftOut, filled, read_per_case
from summarkov.io.wanted import Wanted
from summarkov.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from summarkov.io.scan import Found, Task
    from summarkov.io.spill import SpillWriter


class Lists(NamedTuple):
    """The labels of all lists of a column as codes, and where each list begins and the last ends.

    ``starts`` tells of every label whether it begins a tick, where lists hold lists; an empty one has the
    code -1.
    """

    event: Encoded
    offsets: IntArray
    starts: BoolArray | None = None


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
    column: pa.ChunkedArray, name: str, wanted: Wanted, source: str, left_out: LeftOut, first_row: int = 0
) -> Lists:
    """Read a column whose rows, from ``first_row`` on, are sequences.

    >>> import pyarrow as pa
    >>> column = pa.chunked_array([[[["b", "a"], []], [["b"]]]])
    >>> found = read_lists(column, "events", Wanted(), "the table", LeftOut())
    >>> found.event.codes.tolist(), found.offsets.tolist(), found.starts.tolist()
    ([0, 1, -1, 0], [0, 3, 4], [True, False, True, True])
    """
    refuse_missing(column, name, source, first_row)
    events, offsets = _flat(column)
    if not is_list(events.type):
        event = _labels(events, offsets, name, wanted, source, first_row)
        kept = event.codes >= 0
        left_out.unlabelled += int(np.count_nonzero(~kept))
        before = np.append(0, np.cumsum(kept))
        return Lists(Encoded(event.codes[kept], event.texts), before[offsets])
    _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
    labels, bounds = _flat(events)
    event = _labels(labels, bounds[offsets], name, wanted, source, first_row)
    return _ticks(event, bounds, _absent(events), offsets, wanted, left_out)


def add_lists(task: Task, found: Found, writer: SpillWriter) -> None:
    """Write the lists of all files to disk: a row is a whole sequence."""
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
            codes[codes < 0] = found.labels[None]
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


def _ticks(
    event: Encoded, bounds: IntArray, absent: BoolArray, offsets: IntArray, wanted: Wanted, left_out: LeftOut
) -> Lists:
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
    return Lists(Encoded(codes, texts), rows[offsets], np.append(True, tick[1:] != tick[:-1])[: len(tick)])


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
    if wanted.missing == "error":
        _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
        return encode(events, name, source, first_row)
    event = encode_some(events, name, source, first_row)
    return event if wanted.missing == "skip" else filled(event, wanted.missing)


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
