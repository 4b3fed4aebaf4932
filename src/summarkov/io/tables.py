"""From Arrow tables, and whatever offers itself as one, to sequences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.io.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.io.encoding import count, encode, missing_rows, numpy_of, refuse_missing, settle
from summarkov.io.grouping import Gap, cut_sessions, group
from summarkov.io.ordering import as_ordered, sort_keys
from summarkov.typing import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


def is_table(source: object) -> bool:
    """Whether an object speaks Arrow: a data frame, table, relation, record batch or reader."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def refuse_cut_rows() -> None:
    """Refuse a table that scikit-learn's cross-validation has split by row, in the middle of sequences.

    Nothing in such a piece tells that it is one, so it is told by who asks for it to be read.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "sklearn.model_selection._validation":
            raise DataError(
                "cross-validation splits a table by row, in the middle of sequences; read it first, with "
                "events = summarkov.read_events(table), and give the events, which are split by sequence"
            )


def read_table(
    source: Any, asked: Columns, labels: Sequence[str] | None, gap: Gap | None = None
) -> EventSequences:
    """Read a table through the Arrow interface, keeping only the columns that are needed.

    >>> import pyarrow as pa
    >>> table = pa.table({"case": ["x", "y", "x"], "event": ["A", "A", "B"]})
    >>> read_table(table, Columns(), None).to_lists()
    [['A', 'B'], ['A']]
    """
    import pyarrow as pa

    source, left_out, times = _without_other_columns(source, asked)
    with _open(source) as reader:  # closed also on error: a DuckDB connection serves one at a time
        chosen = columns_of(reader.schema, asked, TABLE, left_out, times)
        names = chosen.names()
        schema = pa.schema([reader.schema.field(name) for name in names])
        try:
            batches = [batch.select(names) for batch in reader]
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{TABLE} cannot be read by Arrow: {one_line(error)}") from error
    return sequences_of(pa.Table.from_batches(batches, schema), chosen, labels, TABLE, gap)


def _open(source: Any) -> pa.RecordBatchReader:
    """Open a table as a stream of record batches."""
    import pyarrow as pa

    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(source)
        batch = pa.record_batch(source)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise DataError(f"{TABLE} cannot be read by Arrow: {one_line(error)}") from error


def list_columns(schema: pa.Schema) -> set[str]:
    """Return the names of the columns that hold lists."""
    return {field.name for field in schema if is_list(field.type)}


def columns_of(
    schema: pa.Schema, asked: Columns, source: str, others: Sequence[str] = (), times: Sequence[str] = ()
) -> Columns:
    """Choose the columns of a table by name; ``others`` are more of its names, some of them ``times``.

    A column of dates or times that is not used must have been left out on purpose.
    """
    import pyarrow as pa

    lists, names = list_columns(schema), [*schema.names, *others]
    chosen = choose_columns(names, asked, source, list_columns=lists)
    if chosen.event not in lists:
        kinds = (pa.types.is_timestamp, pa.types.is_date, pa.types.is_time)
        times = [*times, *(field.name for field in schema if any(is_kind(field.type) for is_kind in kinds))]
        refuse_unused_times(chosen, names, asked, source, time_columns=times)
    return chosen


def sequences_of(
    table: pa.Table, chosen: Columns, labels: Sequence[str] | None, source: str, gap: Gap | None = None
) -> EventSequences:
    """Turn the chosen columns of a table into sequences: one row per event, or one row per sequence."""
    assert chosen.event is not None
    if gap is not None and not isinstance(chosen.order, str):
        raise SettingError(
            f"session_gap needs the time of every event, and {source} has no order column; "
            "name it with order="
        )
    if is_list(table.column(chosen.event).type):
        return _from_lists(table, chosen, labels, source)
    return _from_rows(table, chosen, labels, source, gap)


def _from_rows(
    table: pa.Table, chosen: Columns, labels: Sequence[str] | None, source: str, gap: Gap | None
) -> EventSequences:
    """A row is an event; rows of one case make a sequence, or several with ``gap`` between them."""
    assert chosen.case is not None
    assert chosen.event is not None
    case = encode(table.column(chosen.case), chosen.case, source)
    event = encode(table.column(chosen.event), chosen.event, source)
    order, limit = None, None
    if isinstance(chosen.order, str):
        column = as_ordered(table.column(chosen.order), chosen.order, source)
        order = sort_keys(column, chosen.order, source)
        limit = None if gap is None else gap.in_keys(column.type, chosen.order, source)
    grouping = group(case.codes, order)
    codes = event.codes if grouping.rows is None else event.codes[grouping.rows]
    codes, vocabulary = settle(codes, event.texts, labels)
    ids = [case.texts[code] for code in grouping.cases.tolist()]
    offsets = grouping.offsets
    if order is not None and limit is not None:
        keys = order if grouping.rows is None else order[grouping.rows]
        offsets, ids = cut_sessions(keys, offsets, ids, limit)
    return EventSequences(codes, offsets, vocabulary, ids, tied_order=grouping.tied_order)


def _from_lists(
    table: pa.Table, chosen: Columns, labels: Sequence[str] | None, source: str
) -> EventSequences:
    """A row is a sequence; its events are a list, which may be empty."""
    name = chosen.event
    assert name is not None
    events, offsets = flat_lists(table.column(name), name, source)
    event = encode(events, name, source)
    codes, vocabulary = settle(event.codes, event.texts, labels)
    ids = None
    if chosen.case is not None:
        case = encode(table.column(chosen.case), chosen.case, source)
        ids = [case.texts[code] for code in case.codes.tolist()]
    return EventSequences(codes, offsets, vocabulary, ids)


def flat_lists(
    column: pa.ChunkedArray, name: str, source: str, first_row: int = 0
) -> tuple[pa.ChunkedArray, IntArray]:
    """Return the events of all lists of a column and where each list begins; see :func:`encode`."""
    import pyarrow.compute as pc

    refuse_missing(column, name, source, first_row)
    offsets = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(numpy_of(pc.list_value_length(column)), out=offsets[1:])
    events = pc.list_flatten(column)
    missing = missing_rows(events)
    if len(missing):
        row = first_row + int(np.searchsorted(offsets, missing[0], side="right"))
        raise DataError(
            f"column {name!r} of {source} has {count(len(missing), 'event')} without a label, "
            f"the first in row {row} (the first row of data is 1); fill or drop them"
        )
    return events, offsets


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    import pyarrow as pa

    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def _without_other_columns(source: Any, asked: Columns) -> tuple[Any, list[str], list[str]]:
    """Drop the columns of a pandas frame that cannot be meant; return their names, and which hold times.

    pandas hands all its columns to Arrow, and one of mixed types, which nobody asked for, would stop it.
    """
    if type(source).__module__.partition(".")[0] != "pandas" or getattr(source, "ndim", 0) != 2:
        return source, [], []
    meant = [asked.may_mean(str(name)) for name in source.columns]
    left_out = [
        (str(name), kind)
        for name, kind, keep in zip(source.columns, source.dtypes, meant, strict=True)
        if not keep
    ]
    times = [name for name, kind in left_out if getattr(kind, "kind", "") == "M"]
    return source.loc[:, meant], [name for name, _ in left_out], times


def one_line(error: Exception) -> str:
    """Return an error's own words as one line: pandas hands over several texts, Arrow adds tracebacks."""
    text = " ".join(" ".join(str(part) for part in error.args).split())
    return text.partition(". Detail: Python exception")[0]
