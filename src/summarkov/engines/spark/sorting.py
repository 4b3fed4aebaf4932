"""Rows case by case and in order: packed by where they go, so that few are shuffled, or sorted by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.engines.messages import pack_error, unpack_error
from summarkov.engines.spark.frames import ROW_BITS, Frame
from summarkov.engines.spark.session import FRAME, map_partitions, types, unstable, windows
from summarkov.engines.spark.session import functions as f
from summarkov.engines.spark.sorted_rows import Sorted
from summarkov.errors import SummarkovError, TooLargeError, UnknownLabelError
from summarkov.io.date_formats import DateFormat, fitting, order_text, text_kinds, unordered, unreadable_row
from summarkov.io.encoding import Vocabulary, encode, numpy_of, refuse_caseless, refuse_missing
from summarkov.io.ordering import group, run_starts, sort_keys
from summarkov.typing import IntArray

#: What a row takes while it is packed or sorted, about.
ROW_BYTES = 96
#: Rows to pack at a time at least, and per partition that they may go to, as far as memory allows.
_AT_ONCE, _PER_PARTITION = 1 << 18, 1 << 10
#: What tells where rows came from, if it is known: the file, and where the part of it begins.
PLACE = ("file", "start")


@dataclass(frozen=True)
class Packing:
    """Puts all rows that go to one partition, some hundred thousand at a time, into one cell.

    Spark then moves few rows. Each has a case of its rows, by which Spark partitions; the place where the
    first of its rows came from; and the rows, as a stream of Arrow's IPC format. There labels are codes, and
    the names of cases are written once. ``part`` of a row is the number of the partition that its case goes
    to. What goes wrong here is told by a row, too.
    """

    columns: tuple[tuple[str, str], ...]  # "case", "event", "order0", ..., and what the user calls each
    labels: tuple[str, ...]
    n_partitions: int
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per partition and some hundred thousand rows."""
        from pyspark import TaskContext

        context = TaskContext.get()
        vocabulary, row = Vocabulary(self.labels), (context.partitionId() if context else 0) << ROW_BITS
        for table in self._tables(batches):
            place = {name: table.column(name)[0].as_py() for name in PLACE if name in table.column_names}
            try:
                yield _rows({**place, "row": row}, *self._packed(table, vocabulary))
            except UnknownLabelError as error:  # all labels were looked up before
                told = unstable(f"there was no label {error.label!r} when labels were looked up")
                yield _told({**place, "row": row}, table, told)
            except SummarkovError as error:
                yield _told({**place, "row": row}, table, error)
            row += table.num_rows

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """As many rows as are packed at a time, all from one part of a file where that is known."""
        most = min(max(_AT_ONCE, _PER_PARTITION * self.n_partitions), self.memory // ROW_BYTES)
        held: list[pa.RecordBatch] = []
        for batch in filter(len, batches):
            for rows in _by_file(batch):
                other = held and _file(held[-1]) != _file(rows)
                if other or sum(each.num_rows for each in held) + rows.num_rows > most:
                    yield from [_whole(held)] if held else []
                    held = []
                held.append(rows)
        if held:
            yield _whole(held)

    def _packed(self, table: pa.Table, vocabulary: Vocabulary) -> tuple[pa.Array, pa.Array]:
        """A case of each partition that rows go to, and these rows."""
        for role, name in self.columns:
            (refuse_caseless if role == "case" else refuse_missing)(table.column(role), name, FRAME)
        event = encode(table.column("event"), "event", FRAME)
        codes = vocabulary.recode(event).astype(np.min_scalar_type(len(self.labels)))
        named = table.column("case").chunk(0).dictionary_encode()
        case = numpy_of(pa.chunked_array([named.indices]))
        part = numpy_of(table.column("part")).astype(np.min_scalar_type(self.n_partitions))
        goes_to = np.empty(len(named.dictionary), part.dtype)
        goes_to[case] = part
        # Those of a partition next to each other; in linear time if partitions are at most 65,535.
        rows, names = (np.argsort(each, kind="stable") for each in (part, goes_to))
        place = np.empty(len(names), np.int32)
        place[names] = np.arange(len(names), dtype=np.int32)
        others = [name for name in table.column_names if name not in ("case", "event", "part", *PLACE)]
        ordered = table.select(others).append_column("event", pa.array(codes)).take(rows).combine_chunks()
        case, cases = place[case[rows]], named.dictionary.take(pa.array(names))
        starts = run_starts(part[rows])
        first = np.append(np.searchsorted(goes_to[names], part[rows[starts]]), len(names))
        packed = []
        for (start, stop), (low, high) in zip(
            pairwise([*starts.tolist(), len(rows)]), pairwise(first.tolist()), strict=True
        ):
            some = pa.DictionaryArray.from_arrays(case[start:stop] - low, cases.slice(low, high - low))
            packed.append(_written(ordered.slice(start, stop - start).append_column("case", some)))
        return cases.take(pa.array(first[:-1])), pa.array(packed, pa.binary())


@dataclass(frozen=True)
class Sorting:
    """Unpacks rows and sorts them by case, then by the columns of the order, then as they came.

    ``orders`` are the columns of the order, by names of ours, with what the user calls each. The result does
    not depend on the order in which rows come, so that a partition that was lost comes out the same again.
    """

    orders: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """All rows in order; an error if they do not fit into memory."""
        held: list[tuple[list[Any], pa.Table]] = []
        n = 0
        for batch in batches:
            places = batch.select(
                [name for name in (*PLACE, "row") if name in batch.schema.names]
            ).to_pylist()
            for at, (place, told) in enumerate(zip(places, batch.column("error").to_pylist(), strict=True)):
                if told is not None:
                    raise unpack_error(told)
                table = pa.ipc.open_stream(batch.column("rows")[at].as_buffer()).read_all()
                held.append(([*place.values()], table))
                n += table.num_rows
            if n * ROW_BYTES > self.memory:
                raise TooLargeError(
                    f"a partition of more than {self.memory // ROW_BYTES:,} rows does not fit into memory; "
                    "give memory= a larger number, or partitions="
                )
        if not n:
            return
        held.sort(key=lambda pair: pair[0])
        table = pa.concat_tables([table for _, table in held]).unify_dictionaries().combine_chunks()
        event = pa.DictionaryArray.from_arrays(table.column("event").chunk(0), pa.array(self.labels))
        table = table.set_column(table.column_names.index("event"), "event", event)
        case: IntArray = numpy_of(pa.chunked_array([table.column("case").chunk(0).indices]))
        rows = group(case, [sort_keys(table.column(role), name, FRAME) for role, name in self.orders]).rows
        yield table if rows is None else table.take(pa.array(rows))


def _whole(batches: list[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches).combine_chunks()  # so that names are looked up once


def _by_file(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows one after the other, each time all from one part of a file."""
    if "file" not in batch.schema.names:
        yield batch
        return
    keys = batch.column("file").dictionary_encode().indices, batch.column("start")
    starts = np.unique(np.concatenate([run_starts(numpy_of(pa.chunked_array([key]))) for key in keys]))
    for start, stop in pairwise([*starts.tolist(), batch.num_rows]):
        yield batch.slice(start, stop - start)


def _file(batch: pa.RecordBatch) -> list[Any]:
    return [batch.column(name)[0] for name in PLACE if name in batch.schema.names]


def _written(table: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    written: bytes = stream.getvalue().to_pybytes()
    return written


def _rows(
    place: dict[str, Any], cases: pa.Array, packed: pa.Array, error: bytes | None = None
) -> pa.RecordBatch:
    """Rows of packed rows, which all came from one place."""
    places = {name: pa.array([value] * len(cases)) for name, value in place.items()}
    errors = pa.array([error] * len(cases), pa.binary())
    return pa.record_batch({"case": cases, **places, "rows": packed, "error": errors})


def _told(place: dict[str, Any], table: pa.Table, error: SummarkovError) -> pa.RecordBatch:
    return _rows(place, table.column("case").chunk(0)[:1], pa.nulls(1, pa.binary()), pack_error(error))


# ---------------------------------------------------------------------- on the driver


def sorted_by_case(
    frame: Frame,
    labels: tuple[str, ...],
    n_partitions: int,
    heads: Sequence[dict[str | None, int]] = (),
    memory: int | None = None,
) -> tuple[Any, Sorted]:
    """The rows of a frame, all of a case in one partition, in order, ties as they come; and how to read them.

    ``heads`` are the codes of attributes, by column and by the text of a value. Spark sorts, and spills
    to disk where it must; or the workers do, in that much ``memory``, in less time: then rows are packed.
    """
    rows, kind, gap = frame.rows, None, None
    for role in frame.order:
        if frame.is_text(role):
            rows, found = _with_keys(frame, rows, role)
        else:
            found = frame.given.select(role).limit(0).toArrow().schema.field(role).type
        kind = found if role == "order0" else kind
    sorting, moved = None, frame.table is not None and frame.table.moves_rows
    if frame.wanted.drop_duplicates and frame.wanted.ties != "together":
        rows, moved = _without_duplicates(frame, rows), True
    if memory is None:
        together = _sorted_by_spark(frame, rows, n_partitions)
    else:
        part = f.pmod(f.hash("case"), f.lit(n_partitions)).alias("part")
        orders = tuple((role, frame.roles[role]) for role in frame.order)
        packing = Packing((("case", frame.roles["case"]), *orders), labels, n_partitions, memory)
        if moved:
            rows, orders = rows.withColumnRenamed("row", "came"), (*orders, ("came", "row"))
        schema = rows.select([name for name in ("case", *PLACE) if name in rows.columns]).schema
        schema = schema.add("row", "long").add("rows", "binary").add("error", "binary")
        packed = map_partitions(rows.drop("row").select("*", part), packing, schema)
        together = packed.repartition(n_partitions, "case")
        sorting = Sorting(orders, labels, memory)
    names = tuple(frame.roles[role] for role in frame.roles if role.startswith("value"))
    if frame.wanted.gap is not None:
        gap = frame.wanted.gap.in_keys(kind, frame.roles["order0"], FRAME)
    return together, Sorted(
        frame.roles["case"],
        frame.roles["event0"],
        labels,
        frame.wanted.ties == "together",
        (kind, frame.roles["order0"]) if frame.wanted.times and kind is not None else None,
        tuple(zip(names, heads, strict=False)),
        sorting,
        frame.chosen.weight,
        gap,
    )


def _without_duplicates(frame: Frame, rows: Any) -> Any:
    """The first of all rows of the same case, event and place."""
    came = [f.col(name) for name in (*PLACE, "row") if name in rows.columns]
    alike = windows.Window.partitionBy("case", "event", *frame.order).orderBy(*came)
    return rows.withColumn("copy", f.row_number().over(alike)).where("copy = 1").drop("copy")


def _sorted_by_spark(frame: Frame, rows: Any, n_partitions: int) -> Any:
    """All rows of a case in one partition, in order."""
    by = [f.col("case")]
    if dict(rows.dtypes)["case"] != "string":
        by.append(f.col("case").cast("string"))  # what is equal may differ as text, such as 0.0 and -0.0
    by += [f.col(name) for name in (*frame.order, *PLACE, "row") if name in rows.columns]
    return rows.repartition(n_partitions, "case").sortWithinPartitions(*by)


def _with_keys(frame: Frame, rows: Any, role: str) -> tuple[Any, Any]:
    """The rows with numbers for the text of an order column: of the first kind that all of it fits.

    Also the type of that kind.
    """
    stated = frame.wanted.date_format
    found = (
        map_partitions(frame.given.select(role), TextKinds(stated), "bits int, value string")
        .toArrow()
        .to_pylist()
    )
    kinds = text_kinds(stated)
    fit = [bit for bit in range(len(kinds)) if all(row["bits"] >> bit & 1 for row in found)]
    if not fit:
        worst = min(found, key=lambda row: row["bits"])
        raise unordered(frame.roles[role], FRAME, f"a row holds {worst['value'][:40]!r}", stated)
    number = "double" if str(kinds[fit[0]].type) == "double" else "long"
    schema = types.StructType()
    for field in rows.schema.fields:
        schema.add(field.name, number if field.name == role else field.dataType)
    keyed = map_partitions(rows, FromText(fit[0], stated, role, frame.roles[role]), schema)
    return keyed, kinds[fit[0]].type


@dataclass(frozen=True)
class TextKinds:
    """Finds out what the text of an order column can be read as, batch by batch."""

    stated: DateFormat | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per batch: whether it fits each kind, as bits, and a value that fits none, or the first."""
        for batch in batches:
            if not batch.num_rows:
                continue
            text = order_text(pa.chunked_array([batch.column(0)]))
            kinds = text_kinds(self.stated)
            bits = sum(1 << kinds.index(kind) for kind in fitting(kinds, text))
            example = text[unreadable_row(text, self.stated) or 0].as_py()
            yield pa.record_batch({"bits": pa.array([bits], pa.int32()), "value": pa.array([example])})


@dataclass(frozen=True)
class FromText:
    """Turns the text of an order column into numbers to sort by."""

    kind: int  # number in text_kinds()
    stated: DateFormat | None
    role: str  # the name of the column here
    order: str  # and what the user calls it

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with numbers."""
        for batch in batches:
            text = order_text(pa.chunked_array([batch.column(self.role)]))
            column = text_kinds(self.stated)[self.kind].read(text)
            keys = pa.array(sort_keys(column, self.order, FRAME))
            at = batch.schema.get_field_index(self.role)
            yield pa.record_batch([*batch.columns[:at], keys, *batch.columns[at + 1 :]], batch.schema.names)
