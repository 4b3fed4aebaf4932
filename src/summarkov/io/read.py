"""``read_events``: one door for every source of events."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import iterate, vocabulary_of
from summarkov.io.addresses import local_name
from summarkov.io.columns import Columns
from summarkov.io.files import format_of
from summarkov.io.grouping import Gap


def read_events(
    source: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order: str | Literal[False] | None = None,
    labels: Iterable[object] | None = None,
    format: str | None = None,
    session_gap: str | float | timedelta | None = None,
) -> EventSequences:
    """Read sequences of events from lists, tables and files.

    Parameters
    ----------
    source
        - a list of lists of labels, or a dict from id to list;
        - a table: anything with the Arrow interface (pandas, polars, pyarrow, a DuckDB relation);
        - the path of a file: CSV or TSV with a header line, Parquet, JSON lines (a list of labels or
          ``{"id": ..., "events": [...]}`` a line; blank lines are skipped), plain text (a sequence a
          line, labels separated by white space; an empty line is an empty sequence, and the line
          break at the end of the last line begins no other), SPMF text, or an XES log. All but Parquet may
          be packed by gzip or zstd, and in UTF-16 with a byte order mark instead of UTF-8;
        - ``EventSequences``, returned as they are, or in the vocabulary ``labels``.
    case, event, order
        The columns of a table that name the sequence, the event's label, and the event's place in its
        sequence. Where they are not given, these names are recognised, in capitals or not:
        ``case:concept:name``, else case, case id, case key, sequence, sequence id;
        ``concept:name``, else event, activity, label, events, activity name, event name, activity en;
        ``time:timestamp``, else timestamp, time, order, position, event time, else complete or end
        timestamp or time, else start timestamp or time. Blanks, hyphens and underscores do not matter.
        Two columns that are equally fit are an error. ``order=False`` keeps the order of the rows even
        if a column looks like an order. In JSON lines, ``case`` and ``event`` name the two keys; in XES, the
        keys of attributes (``concept:name``), and ``order`` is only sorted by if it is given.
    labels
        The vocabulary, in any order, where labels may be missing from the data; any other label is
        an ``UnknownLabelError``. By default the labels that occur.
    format
        "csv", "tsv", "parquet", "jsonl", "text", "spmf" or "xes", where the end of the file's name (.csv,
        .tsv, .tab, .parquet, .pq, .jsonl, .ndjson, .txt, .spmf, .xes, and before .gz, .zst or .zstd) does
        not tell it.
    session_gap
        Begin a new sequence wherever more than this lies between an event and the one before it in the
        order column: ``"30min"`` or ``"90 days"`` (ms, s, min, h, d, w), a timedelta of Python, NumPy or
        pandas, or a number in the unit of the column (seconds, if it holds dates or times). Case ``a``
        becomes the sequences ``a/1``, ``a/2``, ...

    Notes
    -----
    The rows of a case need not be together; sequences come in the order in which their cases first
    appear. Rows are sorted by ``order`` (numbers, dates or times), else kept as they come. Rows with the
    same place keep the order of the input, and ``tied_order`` counts them. If the event column holds
    lists, a row is a whole sequence, ``case`` (or a column "id") is optional and need not be unique.

    Labels and ids are text. In files they stay as they stand (``7``, ``007``, ``1.50``); an empty cell of
    a CSV file is a missing value, a quoted one an empty text. Numbers of tables and lists become what
    Python writes: 7 is ``7``, 1.0 is ``1.0``. Categories that never occur do not enter the vocabulary.
    Missing values (null, nan) in a column that is used are an error.

    Examples
    --------
    >>> events = read_events([["A", "B", "A"], ["B"], []])
    >>> events
    EventSequences(3 sequences, 4 events, 2 labels)
    >>> import pyarrow
    >>> table = pyarrow.table({"case": [1, 2, 1], "activity": ["pay", "order", "order"], "time": [9, 1, 4]})
    >>> events = read_events(table)
    >>> dict(zip(events.ids, events.to_lists()))
    {'1': ['order', 'pay'], '2': ['order']}
    """
    asked = Columns(case, event, order)
    asked.check()
    vocabulary = None if labels is None else vocabulary_of(labels)
    gap = None if session_gap is None else Gap.of(session_gap)
    if isinstance(source, str | os.PathLike):
        return _read_file(local_name(source), asked, vocabulary, gap, format)
    if format is not None:
        raise SettingError(f"format={format!r} is for files; leave it out for {_kind(source)}")
    if not isinstance(source, EventSequences):
        from summarkov.io.tables import is_table, read_table, refuse_cut_rows

        if is_table(source):
            refuse_cut_rows()
            return read_table(source, asked, vocabulary, gap)
    if asked.names() or gap is not None:
        raise SettingError(
            f"case, event, order and session_gap are about columns, and {_kind(source)} has none; "
            "make it a table first, for example with pandas.DataFrame"
        )
    if isinstance(source, EventSequences):
        return source if vocabulary is None else source.recode(vocabulary)
    return _read_lists(source, vocabulary)


def _read_file(
    path: str, asked: Columns, labels: Sequence[str] | None, gap: Gap | None, format: str | None
) -> EventSequences:
    """Call the reader of a file's format; what it needs is imported only now."""
    from summarkov.io import csv_files, line_files, parquet_files, xes_files

    kind = format_of(path, format)
    if kind in ("csv", "tsv"):
        return csv_files.read_csv(path, asked, labels, gap, format=kind)
    if kind == "parquet":
        return parquet_files.read_parquet(path, asked, labels, gap)
    if kind == "xes":
        return xes_files.read_xes(path, asked, labels, gap)
    if gap is not None:
        raise SettingError(f"session_gap needs the time of every event, and {path} has no times")
    if kind == "jsonl":
        return line_files.read_jsonl(path, asked, labels)
    if kind == "spmf":
        return line_files.read_spmf(path, asked, labels)
    return line_files.read_text(path, asked, labels, told=format is not None)


def _read_lists(source: object, labels: Sequence[str] | None) -> EventSequences:
    if hasattr(source, "tocsr"):
        raise DataError("a sparse matrix holds numbers and no sequences of events; give lists of labels")
    if isinstance(source, Mapping):
        if any(name is None for name in source):
            raise DataError("a sequence has no id (None); give it a name")
        return EventSequences.from_lists(source.values(), labels=labels, ids=[str(name) for name in source])
    if hasattr(source, "label_counts"):
        raise DataError(
            f"this needs the events in memory, and {_kind(source)} counts them where they are; "
            "give events that were read with read_events"
        )
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):
        raise DataError(f"{_kind(source)} is not read yet; give its rows with .collect()")
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise DataError(
            f"cannot read events from {_kind(source)}; give lists of labels, a dict of them, "
            "a table (pandas, polars, pyarrow, DuckDB) or the path of a file"
        )
    return EventSequences.from_lists((iterate(sequence) for sequence in source), labels=labels)


def _kind(source: object) -> str:
    name = type(source).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
