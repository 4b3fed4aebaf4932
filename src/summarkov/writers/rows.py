"""Events as tables, one event per row: CSV, TSV and Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.writers.chunks import pieces

if TYPE_CHECKING:
    import pyarrow as pa

#: How texts begin that spreadsheets take for formulas.
_FORMULA = r"^[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
#: Some rows of a table, by column: texts, whole numbers or probabilities.
Rows = Mapping[str, Any]


def write_csv(events: EventSequences, file: Any, *, safe_csv: bool = False) -> None:
    """Write comma-separated values."""
    write_table(event_rows(events), file, "csv", safe_csv=safe_csv)


def write_tsv(events: EventSequences, file: Any, *, safe_csv: bool = False) -> None:
    """Write tab-separated values."""
    write_table(event_rows(events), file, "tsv", safe_csv=safe_csv)


def write_parquet(events: EventSequences, file: Any) -> None:
    """Write Parquet."""
    write_table(event_rows(events), file, "parquet")


def event_rows(events: EventSequences) -> Iterator[Rows]:
    """All events, one row per event, some sequences at a time; refuse what rows cannot hold."""
    empty = np.flatnonzero(events.lengths == 0)
    if len(empty):
        raise DataError(
            f"sequence {events.ids[empty[0]]!r} is empty, which a table with one event per row cannot hold; "
            "write .jsonl, .xes or .spmf, or leave such sequences out: events[events.lengths > 0]"
        )
    name, most = next(iter(Counter(events.ids).most_common(1)), ("", 1))
    if most > 1:
        raise DataError(
            f"{most} sequences are named {name!r}, which a table with one event per row would make one; "
            "write .jsonl or .xes, or give them different ids"
        )
    for part in pieces(events, 3):
        yield event_columns(part)


def event_columns(events: EventSequences) -> dict[str, Any]:
    """Sequence, position (from 1 on) and label of every event; columns that ``read_events`` recognises."""
    lengths = events.lengths
    starts = np.repeat(events.offsets[:-1], lengths)
    of_sequence = np.repeat(np.arange(len(events)), lengths)
    ids, labels = events.ids, events.labels
    return {
        "sequence": [ids[s] for s in of_sequence.tolist()],
        "position": np.arange(events.n_events) - starts + 1,
        "event": [labels[code] for code in events.codes.tolist()],
    }


def write_table(parts: Iterable[Rows], to: Any, format: str, *, safe_csv: bool = False) -> None:
    """Write a table part by part; every part has the same columns. ``safe_csv``: for spreadsheets."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    each = iter(parts)
    first = pa.table(_typed(next(each)))
    if format == "parquet":
        writer = parquet.ParquetWriter(to, first.schema)
    else:
        options = csv.WriteOptions(delimiter="\t" if format == "tsv" else ",")
        writer = csv.CSVWriter(to, first.schema, write_options=options)
    with writer:
        for table in chain([first], (pa.table(_typed(part)) for part in each)):
            writer.write_table(for_spreadsheets(table) if safe_csv else table)


def for_spreadsheets(table: pa.Table) -> pa.Table:
    """Put ' before texts that spreadsheets take for formulas, which may send data away or start programs.

    >>> import pyarrow
    >>> for_spreadsheets(pyarrow.table({"event": ["=1+1", "a=b"]})).column("event").to_pylist()
    ["'=1+1", 'a=b']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, name in enumerate(table.column_names):
        texts = table.column(number)
        if pa.types.is_string(texts.type):
            formulas = pc.match_substring_regex(texts, _FORMULA)
            texts = pc.if_else(formulas, pc.binary_join_element_wise("'", texts, ""), texts)
            table = table.set_column(number, name, texts)
    return table


def _typed(part: Rows) -> dict[str, Any]:
    """Lists are texts, whatever they hold, even nothing."""
    import pyarrow as pa

    return {name: pa.array(v, pa.string()) if isinstance(v, list) else v for name, v in part.items()}
