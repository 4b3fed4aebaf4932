"""From Arrow tables, and whatever offers itself as one, to sequences."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import late_cases
from summarkov.io.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.io.encoding import Encoded, settle
from summarkov.io.list_columns import is_list, sequences_of_lists
from summarkov.io.ordering import Keys, Repeated, group
from summarkov.io.rows import LeftOut, one_per_case, origin_of, per_sequence, read_rows
from summarkov.io.ticks import Order, Ties, cut_sessions, refuse_no_order, refuse_ties
from summarkov.io.wanted import Wanted
from summarkov.typing import BoolArray, CodeArray, IntArray


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
        names = [name for name in chosen.to_read() if name in reader.schema.names]
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
    if is_list(table.column(chosen.event[0]).type):
        return sequences_of_lists(table, chosen, wanted, source)
    return _from_rows(table, chosen, wanted, source)


def _from_rows(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """A row is an event; rows of one case make a sequence, or several with a session gap between them."""
    if not chosen.order:
        refuse_no_order(wanted, source)
    left_out = LeftOut()
    rows = read_rows(table, chosen, wanted, source, left_out)
    left_out.refuse_all(wanted, len(rows.event.codes), source)
    order = Order(chosen.order or (), wanted)
    columns = [rows.table.column(name) for name in chosen.order or ()]
    order.look(columns, source)
    keys, kinds = order.read(columns, source)
    keys = keys if rows.kept is None else [each[rows.kept] for each in keys]
    grouping = group(rows.case.codes, keys)
    if grouping.tied is not None and not order.together:
        keep = left_out.drop(Repeated().of(grouping.placed(rows.event.codes), grouping.tied), order)
        grouping = grouping if keep is None else grouping.only(keep)
    placed = grouping.placed
    codes, vocabulary = settle(placed(rows.event.codes), rows.event.texts, wanted.labels)
    ids = [rows.case.texts[code] for code in grouping.cases.tolist()]
    of_cases = {
        name: one_per_case(Encoded(placed(each.codes), each.texts), grouping.offsets, name, ids, source)
        for each, name in zip(rows.per_case, chosen.per_case, strict=True)
    }
    keys = [placed(each) for each in keys]
    found = InOrder(codes, grouping.offsets, vocabulary, ids, keys, kinds, grouping.tied, of_cases)
    return found.finish(order, chosen, wanted, left_out, source)


@dataclass(frozen=True)
class InOrder:
    """Events case by case and in order, and what they were sorted by.

    ``tied`` tells which have the place of the one before. ``of_cases`` are the columns that do not change
    during a case, with one value per sequence.
    """

    codes: CodeArray
    offsets: IntArray
    labels: Sequence[str]
    ids: Sequence[str]
    keys: Keys
    kinds: Sequence[pa.DataType]
    tied: BoolArray | None
    of_cases: Mapping[str, Encoded]

    def finish(
        self,
        order: Order,
        chosen: Columns,
        wanted: Wanted,
        left_out: LeftOut,
        source: str,
        backwards: int = 0,
    ) -> EventSequences:
        """Cut into sessions if asked to, with ties and moments, and with weights and attributes."""
        codes, offsets, ids, of_cases = self.codes, self.offsets, self.ids, self.of_cases
        if wanted.gap is not None:
            limit = wanted.gap.in_keys(self.kinds[0], order.columns[0].name, source)
            offsets, ids, of = cut_sessions(self.keys[0], offsets, ids, limit)
            of_cases = {name: Encoded(each.codes[of], each.texts) for name, each in of_cases.items()}
        ties = Ties.of(self.tied, offsets, ids)
        if order.columns:
            refuse_ties(ties, wanted, order.columns[0].name, source)
        moments = order.moments(self.keys, self.kinds, self.tied, source)
        if moments is not None:
            codes, offsets, moments = moments.of_rows(codes, offsets)
        ties = Ties() if order.together else ties
        origin = origin_of(chosen, left_out, ties.case, backwards)
        if self.kinds and pa.types.is_timestamp(self.kinds[0]):
            late = late_cases(self.keys[0], self.offsets if wanted.gap is None else offsets)
            if late is not None:
                since = np.datetime64(late[1], self.kinds[0].unit)
                origin = replace(origin, late=late[0], late_since=str(since.astype("datetime64[s]")))
        return EventSequences(
            codes,
            offsets,
            self.labels,
            ids,
            moments=moments,
            tied_order=ties.n,
            origin=origin,
            **per_sequence(of_cases, wanted, source, ids),
        )


def _without_other_columns(source: Any, asked: Columns) -> tuple[Any, list[str], list[str]]:
    """Drop the columns of a pandas frame that cannot be meant; return their names, and which hold times.

    pandas hands all its columns to Arrow, and one of mixed types, which nobody asked for, would stop it.
    """
    if type(source).__module__.partition(".")[0] != "pandas" or getattr(source, "ndim", 0) != 2:
        return source, [], []
    meant = [
        asked.may_mean(str(name)) and not (asked.only_looks_at(str(name)) and _is_mixed(source.iloc[:, at]))
        for at, name in enumerate(source.columns)
    ]
    left_out = [
        (str(name), kind)
        for name, kind, keep in zip(source.columns, source.dtypes, meant, strict=True)
        if not keep
    ]
    times = [name for name, kind in left_out if getattr(kind, "kind", "") == "M"]
    return source.loc[:, meant], [name for name, _ in left_out], times


def _is_mixed(column: Any) -> bool:
    """Whether Arrow cannot take a column of pandas, as it has values of different types."""
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError):
        return True
    return False


def one_line(error: Exception) -> str:
    """Return an error's own words as one line: pandas hands over several texts, Arrow adds tracebacks."""
    text = " ".join(" ".join(str(part) for part in error.args).split())
    return text.partition(". Detail: Python exception")[0]
