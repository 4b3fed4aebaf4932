"""From Arrow tables, and whatever offers itself as one, to sequences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.moments import Moments
from summarkov.io.case_attributes import attributes_of
from summarkov.io.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.io.encoding import Encoded, encode, settle
from summarkov.io.grouping import cut_sessions, group
from summarkov.io.list_columns import is_list, read_lists
from summarkov.io.ordering import as_ordered, sort_keys
from summarkov.io.rows import LeftOut, one_per_case, read_per_case, read_rows, weights_of
from summarkov.io.ticks import Ties, refuse_no_order, with_moments
from summarkov.io.wanted import Wanted


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


def read_table(source: Any, wanted: Wanted) -> EventSequences:
    """Read a table through the Arrow interface, keeping only the columns that are needed.

    >>> import pyarrow as pa
    >>> table = pa.table({"case": ["x", "y", "x"], "event": ["A", "A", "B"]})
    >>> read_table(table, Wanted()).to_lists()
    [['A', 'B'], ['A']]
    """
    source, left_out, times = _without_other_columns(source, wanted.columns)
    with _open(source) as reader:  # closed also on error: a DuckDB connection serves one at a time
        chosen = columns_of(reader.schema, wanted.columns, TABLE, left_out, times)
        names = chosen.names()
        schema = pa.schema([reader.schema.field(name) for name in names])
        try:
            batches = [batch.select(names) for batch in reader]
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{TABLE} cannot be read by Arrow: {one_line(error)}") from error
    return sequences_of(pa.Table.from_batches(batches, schema), chosen, wanted, TABLE)


def _open(source: Any) -> pa.RecordBatchReader:
    """Open a table as a stream of record batches."""
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
    lists, names = list_columns(schema), [*schema.names, *others]
    chosen = choose_columns(names, asked, source, list_columns=lists)
    if chosen.event[0] not in lists:
        kinds = (pa.types.is_timestamp, pa.types.is_date, pa.types.is_time)
        times = [*times, *(field.name for field in schema if any(is_kind(field.type) for is_kind in kinds))]
        refuse_unused_times(chosen, names, asked, source, time_columns=times)
    return chosen


def sequences_of(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """Turn the chosen columns of a table into sequences: one row per event, or one row per sequence."""
    wanted = wanted.for_columns(chosen)
    if wanted.gap is not None and not chosen.order:
        refuse_no_order(wanted, source)
    if is_list(table.column(chosen.event[0]).type):
        return _from_lists(table, chosen, wanted, source)
    return _from_rows(table, chosen, wanted, source)


def _from_rows(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """A row is an event; rows of one case make a sequence, or several with a session gap between them."""
    left_out = LeftOut()
    rows = read_rows(table, chosen, wanted, source, left_out)
    left_out.refuse_all(wanted, len(rows.event.codes), source)
    order, limit, kind = [], None, None
    for at, name in enumerate(chosen.order or ()):
        column = as_ordered(table.column(name), name, source, date_format=wanted.date_format)
        keys = sort_keys(column, name, source)
        order.append(keys if rows.kept is None else keys[rows.kept])
        if at == 0:
            kind = column.type
            limit = None if wanted.gap is None else wanted.gap.in_keys(kind, name, source)
    grouping = group(rows.case.codes, order)

    def placed(values: Any) -> Any:
        return values if grouping.rows is None else values[grouping.rows]

    codes, vocabulary = settle(placed(rows.event.codes), rows.event.texts, wanted.labels)
    ids = [rows.case.texts[code] for code in grouping.cases.tolist()]
    offsets = grouping.offsets
    columns = [
        one_per_case(Encoded(placed(each.codes), each.texts), offsets, name, ids, source)
        for each, name in zip(rows.per_case, chosen.per_case, strict=True)
    ]
    if limit is not None:
        offsets, ids, of = cut_sessions(placed(order[0]), offsets, ids, limit)
        columns = [Encoded(each.codes[of], each.texts) for each in columns]
    where = (chosen.order or ("",))[0], source
    ties = Ties.of(grouping.tied, offsets, ids)
    codes, offsets, moments, ties = with_moments(
        codes,
        offsets,
        [placed(each) for each in order],
        kind,
        ties,
        wanted,
        where,
        None if rows.periods is None else placed(rows.periods),
    )
    return EventSequences(
        codes,
        offsets,
        vocabulary,
        ids,
        attributes=attributes_of(_named(columns, chosen), wanted, source, ids),
        weights=None if chosen.weight is None else weights_of(columns[0]),
        moments=moments,
        tied_order=ties.n,
        origin=origin_of(chosen, left_out, ties.case),
    )


def origin_of(chosen: Columns, left_out: LeftOut, tied_case: str | None = None) -> Origin:
    """How events were read."""
    return Origin(
        chosen.case,
        chosen.event,
        chosen.order or (),
        chosen.weight,
        chosen.lifecycle,
        chosen.attributes,
        chosen.period,
        left_out.unlabelled,
        left_out.lifecycle,
        tied_case=tied_case,
    )


def _from_lists(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """A row is a sequence; its events are a list, which may be empty."""
    name, left_out = chosen.event[0], LeftOut()
    event, offsets, starts = read_lists(table.column(name), name, wanted, source, left_out)
    codes, vocabulary = settle(event.codes, event.texts, wanted.labels)
    moments = None
    if starts is not None:
        codes, offsets, moments = Moments.made(codes, offsets, starts, has_ticks=True)
    ids = None
    if chosen.case is not None:
        case = encode(table.column(chosen.case), chosen.case, source)
        ids = [case.texts[code] for code in case.codes.tolist()]
    columns = read_per_case(table, chosen, source)
    return EventSequences(
        codes,
        offsets,
        vocabulary,
        ids,
        attributes=attributes_of(
            _named(columns, chosen), wanted, source, ids or [str(at) for at in range(len(offsets) - 1)]
        ),
        weights=None if chosen.weight is None else weights_of(columns[0]),
        moments=moments,
        origin=origin_of(chosen, left_out),
    )


def _named(columns: Sequence[Encoded], chosen: Columns) -> dict[str, Encoded]:
    """The columns of attributes, by name."""
    return dict(zip(chosen.attributes, columns[len(columns) - len(chosen.attributes) :], strict=True))


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
