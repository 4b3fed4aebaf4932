"""Random tables, and every way in which one of them can be read."""

from __future__ import annotations

import random
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from summarkov.errors import SummarkovError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows
from summarkov.read import read_events, scan_events

#: What may stand in an order column as text; a table takes most of its cells from one line.
TEXTS = (
    ("1", "2", "3", "10", "-5", "007", " 4 ", "9007199254740993", "9007199254740992"),
    ("1.5", "2", "1e3", "inf", "-inf", "0.1", "9007199254740993", "18446744073709551615"),
    ("2024-01-31", "2024-01-31 18:30:00", "2024-02-01T00:00:00.5", "1969-12-31 23:59:59"),
    ("2024/01/31", "31.01.2024", "2024-01-30"),
    ("2024-01-31T10:00:00Z", "2024-01-31T10:00:00+02:00", "2024-01-31 09:30:00-01:00"),
    ("09:00", "09:00:30", "18:30:00.25", "00:00"),
    ("2024-01-31T00:00:00.000000001", "2024-01-31T00:00:00.000000002"),
)
HOSTILE = ("nan", "NaN", "NaT", "soon", "true", "0x10", "+3", "1_000", "2024-13-01", "25:00", "٣", "x" * 300)
#: Types of an order column that is not text.
TYPES = (
    pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.date32(), pa.timestamp("s"),
    pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Europe/Berlin"),
    pa.time64("us"), pa.decimal128(10, 2), pa.bool_(),
)  # fmt: skip
LABELS = (
    "a",
    "b",
    "c",
    "",
    "A",
    "é",
    "=1+1",
    "a b",
    "1",
    "nan",
    "NA",
    "-",
    "漢字",
    "'x'",
    "a,b",
    'q"q',
    "l\nf",
)


#: What texts that nobody thought of are made of.
CHARACTERS = "0123456789" * 3 + "-:.+ eETZ/_,;'\"\t\\#xNa٣é€\N{ZERO WIDTH SPACE}\N{NO-BREAK SPACE}"


class FromBytes(random.Random):
    """Draws that bytes tell, so that who chooses the bytes chooses the table; zeros come after them."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data, self._at = data, 0

    def getrandbits(self, k: int, /) -> int:
        """A number of ``k`` bits: the lowest of the next bytes."""
        n = (k + 7) // 8
        found = int.from_bytes(self._data[self._at : self._at + n], "little")
        self._at += n
        return found & ((1 << k) - 1)

    def random(self) -> float:
        """A number from 0 on and below 1: the next byte."""
        return self.getrandbits(8) / 256


def random_table(rng: random.Random) -> pa.Table:
    """A table of cases, events and mostly times; grouped and sorted, or not; hostile now and then."""
    n = rng.choice((0, 1, 2, 5, 20, 60))
    cases = [rng.choice(("x", "y", "z", "7", "x y", " x", "é")) for _ in range(n)]
    if rng.random() < 0.4:
        cases.sort()
    labels = rng.sample(LABELS, rng.randint(1, 6))
    if rng.random() < 0.1:
        labels[0] = _odd_text(rng)
    columns = {"case": pa.array(cases, pa.string())}
    columns["event"] = pa.array([rng.choice(labels) for _ in range(n)], pa.string())
    if rng.random() < 0.9:
        columns["time"] = _times(rng, n)
    for name in list(columns):
        if n and rng.random() < 0.03:  # a missing value
            values = columns[name].to_pylist()
            values[rng.randrange(n)] = None
            columns[name] = pa.array(values, columns[name].type)
    if rng.random() > 0.7:  # an attribute of the cases
        of_case = {name: rng.choice(("north", "south", "é", "1")) for name in sorted(set(cases))}
        regions: list[str | None] = [of_case[name] for name in cases]
        if n and rng.random() > 0.8:  # it changes, or is missing
            regions[rng.randrange(n)] = rng.choice(("west", None))
        columns["region"] = pa.array(regions, pa.string())
    return pa.table(columns)


def random_reading(rng: random.Random, table: pa.Table) -> dict[str, Any]:
    """Settings to read a table with: what happens together, times, attributes."""
    reading: dict[str, Any] = {}
    if "time" in table.column_names:
        if rng.random() > 0.6:
            reading["ties"] = "together"
        if rng.random() > 0.7:
            reading["times"] = True
    if "region" in table.column_names:
        reading["attributes"] = ["region"]
    return reading


def _times(rng: random.Random, n: int) -> pa.Array:
    if rng.random() < 0.6:
        line = rng.choice(TEXTS)
        cells = [rng.choice(line) for _ in range(n)]
        for _ in range(rng.choice((0, 0, 0, 1, 2)) if n else 0):
            cells[rng.randrange(n)] = _odd_text(rng)
        if rng.random() < 0.3:
            cells.sort()
        return pa.array(cells, rng.choice((pa.string(), pa.large_string(), pa.string_view())))
    kind = rng.choice(TYPES)
    numbers = [rng.randint(0, 100) for _ in range(n)]
    if rng.random() < 0.3:
        numbers.sort()
    if pa.types.is_floating(kind):
        odd = [float("inf"), float("nan"), -0.0, 0.0, 1e300, 2.0**53, 2.0**53 + 2]
        return pa.array([rng.choice(odd) if rng.random() < 0.1 else v / 4 for v in numbers], kind)
    if pa.types.is_boolean(kind):
        return pa.array([v % 2 == 0 for v in numbers], kind)
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(v) / 4 for v in numbers], kind)
    if kind in (pa.int64(), pa.uint64()):
        return pa.array([v + 2**53 if rng.random() < 0.2 else v for v in numbers], kind)
    width = {8: pa.int8(), 32: pa.int32()}.get(kind.bit_width, pa.int64())
    return pa.array(numbers, width).cast(kind)


def _odd_text(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice((*HOSTILE, *rng.choice(TEXTS)))
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 12)))


#: What a row says: its label, whether it begins a tick, and its time, in nanoseconds or billionths.
Row = tuple[str, bool, int | None]
#: The rows of every case in the order of first rows, and ties; or None if the table is refused.
Outcome = tuple[list[tuple[str, tuple[Row, ...]]], int] | None


def outcome(read: Callable[[], Outcome]) -> Outcome:
    """What reading gives; a refusal is one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return read()
    except SummarkovError as refused:
        if "\n" in str(refused).replace("\\n", ""):
            raise AssertionError("an error must be one line") from refused
        return None


def in_memory(source: Any, **reading: Any) -> Outcome:
    """The events of a table or a file, read into memory."""
    return _told(read_events(source, **reading))


def streamed(path: Path, memory: int, scratch: Path, **reading: Any) -> Outcome:
    """The events of a file, on memory maps."""
    with scan_events(path, memory=memory, scratch=scratch, names=True, **reading) as events:
        return _told(events)


def _told(events: EventSequences) -> Outcome:
    """All rows, by sequence; with ends and attributes, as they are counted."""
    rows = Rows.of(events, ends=True)
    moments = rows.moments
    n = len(rows.codes)
    starts = [True] * n if moments is None else moments.starts.tolist()
    times: list[int | None] = [None] * n
    if moments is not None and moments.times is not None:
        times = [moments.unit.size * time for time in moments.times.tolist()]
    labels = [rows.labels[code] for code in rows.codes.tolist()]
    each = list(zip(labels, starts, times, strict=True))
    cut = [tuple(each[start:stop]) for start, stop in pairwise(rows.offsets.tolist())]
    return list(zip(events.ids, cut, strict=True)), events.tied_order


def ways(
    table: pa.Table, folder: Path, reading: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """Every way to read a table: as a file of every format, streamed or not, and as every data frame."""
    import duckdb
    import pandas as pd
    import polars as pl

    yield "pyarrow", lambda: in_memory(table, **reading)
    whole = folder / "t.parquet"
    parquet.write_table(table, whole, row_group_size=11)
    yield "Parquet", lambda: in_memory(whole, **reading)
    yield "Parquet streamed", lambda: streamed(whole, 1 << 26, folder, **reading)
    parts = _in_parts(table, folder / "parts.parquet", parquet.write_table)
    yield "Parquet in parts, streamed", lambda: streamed(parts, 1 << 14, folder, **reading)
    chunked = pa.Table.from_batches(table.to_batches(max_chunksize=3), table.schema)
    yield "in chunks", lambda: in_memory(chunked, **reading)
    yield "dictionaries", lambda: in_memory(_encoded(table), **reading)
    yield "polars", lambda: in_memory(pl.from_arrow(table), **reading)
    yield (
        "polars, categories",
        lambda: in_memory(pl.from_arrow(table).with_columns(pl.col("event").cast(pl.Categorical)), **reading),
    )
    yield "DuckDB", lambda: in_memory(duckdb.from_arrow(table), **reading)
    yield "pandas", lambda: in_memory(table.to_pandas(), **reading)
    objects = _objects(table)
    if objects is not None:
        yield "Python objects", lambda: in_memory(objects, case="case", **reading)
        frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in objects.items()})
        yield "pandas, objects", lambda: in_memory(frame, **reading)
    if all(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        for kind in table.schema.types
    ):
        text = folder / "t.csv"
        plain = table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))
        csv.write_csv(plain, text, csv.WriteOptions(quoting_style="needed"))
        if not any(
            "" in column.to_pylist() for column in plain.columns
        ):  # which CSV may take for a missing value
            yield "CSV", lambda: in_memory(text, **reading)
            yield "CSV streamed", lambda: streamed(text, 1 << 26, folder, **reading)
            files = _in_parts(plain, folder / "parts.csv", csv.write_csv)
            yield "CSV in parts, streamed", lambda: streamed(files, 1 << 14, folder, **reading)


def _objects(table: pa.Table) -> dict[str, list[Any]] | None:
    """Columns of Python objects; order as numbers, dates and times, if all of its text is written as such."""
    if not len(table):
        return None
    columns: dict[str, list[Any]] = table.to_pydict()
    times = columns.get("time")
    if times is None or not any(isinstance(cell, str) for cell in times):
        return columns
    try:
        return {**columns, "time": [None if cell is None else _object(cell) for cell in times]}
    except ValueError:
        return None


def _object(cell: str) -> Any:
    """What a text says, as Python has it."""
    if re.fullmatch("-?[0-9]+", cell):
        return int(cell)
    found = re.fullmatch(f"({_DATE})?[T ]?({_TIME}({_ZONE})?)?", cell)
    if not found or not cell:
        raise ValueError(cell)
    kind = date if found[2] is None else time if found[1] is None else datetime
    return kind.fromisoformat(cell)


#: Dates and times that Python can hold.
_DATE, _TIME, _ZONE = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?",
    r"Z|[+-][0-9]{2}:[0-9]{2}",
)


def _in_parts(table: pa.Table, folder: Path, write: Callable[[pa.Table, Path], None]) -> Path:
    """A folder with the rows of a table in files that are read in their order."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, start in enumerate(range(0, max(len(table), 1), 17)):
        write(table.slice(start, 17), folder / f"{number}{folder.suffix}")
    return folder


def _encoded(table: pa.Table) -> pa.Table:
    """Texts as dictionaries."""
    columns = {
        name: column.dictionary_encode() if pa.types.is_string(column.type) else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pa.table(columns)
