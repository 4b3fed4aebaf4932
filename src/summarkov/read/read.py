"""``read_events``: one door for every source of events."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import iterate
from summarkov.read.columns import CASE_NAMES, EVENT_NAMES, Columns, Cuts, Wanted, plain
from summarkov.read.files import Format, format_of, name_of, open_file
from summarkov.read.ordering import TieKind
from summarkov.read.rows import Assembly, Line, Lines, Source


def read_events(
    source: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order_by: str | Sequence[str] | Literal[False] | None = None,
    labels: Iterable[object] | None = None,
    format: Format | None = None,
    session_gap: str | float | timedelta | None = None,
    date_format: str | None = None,
    weight: str | None = None,
    lifecycle: str | None = None,
    missing: str = "error",
    ties: TieKind | None = None,
    times: bool = False,
    attributes: str | Sequence[str] | None = None,
    cuts: Cuts | None = None,
    ends: Literal["complete", "cut off"] | None = None,
    closed_by: Iterable[object] | None = None,
    open_since: Any = None,
    ends_column: str | None = None,
    drop_duplicates: bool = False,
) -> EventSequences:
    """Read sequences of events from lists, tables and files.

    Parameters
    ----------
    source
        - a list of lists of labels, a series of lists (pandas, whose index has the ids, or polars), or a
          dict from id to list (a dict of columns is read as a table if ``case`` or ``event`` names one of
          them);
        - a table: anything with the Arrow interface (pandas, polars, pyarrow, a DuckDB relation);
        - the path of a file: CSV or TSV with a header line, Parquet, JSON lines (each line a list of labels
          or ``{"id": ..., "events": [...]}``; blank lines are skipped), plain text (one sequence per line,
          labels separated by white space; an empty line is an empty sequence, and the line break at the end
          of the last line begins no other), SPMF text, or an XES log. All but Parquet may
          be packed by gzip or zstd, and in UTF-16 with a byte order mark instead of UTF-8;
        - ``EventSequences``, returned as they are, or in the vocabulary ``labels``; or a ``CountStore``.
    case, event, order_by
        The columns of a table that name the sequence, the event's label, and the event's place in its
        sequence. Where they are not given, these names are recognised, in capitals or not:
        ``case:concept:name``, else case, case id, case key, sequence, sequence id;
        ``concept:name``, else event, activity, label, events, activity name, event name, activity en;
        ``time:timestamp``, else timestamp, time, order, position, tick, event time, else complete or
        end timestamp or time, else start timestamp or time. Blanks, hyphens and underscores do not matter.
        Two columns that are equally fit are an error, but time with position or tick. ``order_by=False``
        keeps the order of the rows even if a column looks like an order. In JSON lines, ``case`` and
        ``event`` name two keys, and ``order_by`` with ``times=True`` that of a list of times, else "times";
        in XES, the keys of attributes (``concept:name``), and ``order_by`` is only sorted by if it is given.
        Several order columns, ``["time", "step"]``, are sorted by in turn.
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
        becomes the sequences ``a/1``, ``a/2``, ... Of several order columns it is the first that counts.
    date_format
        How dates are written in order columns of text, such as ``"%d/%m/%Y %H:%M"``, where that is not as ISO
        has it; with %Y %y %m %b %B %d %H %I %p %M %S %f %z %F %T. Columns of numbers stay numbers.
    weight
        A column of numbers, constant per case: how much each sequence counts in whatever is learned from the
        events (``sample_weight``). In XES an attribute of the trace, in JSON lines a key.
    lifecycle
        Keep only events of this lifecycle, such as ``"complete"``, in capitals or not; the column (or key) is
        ``lifecycle:transition``, or lifecycle.
    missing
        What to do with an event without a label: "error", "skip", or any other text, which becomes its
        label. Cases of a table none of whose events is left are left out. With "skip", rows of a table
        without a case are left out, too; otherwise they are an error. A case of nothing but blanks is none.
    ties
        What rows of a case with the same place are: "in row order", one after the other as they come;
        "together", one tick, a set of labels without order; or an "error". If nothing is said they are taken
        in row order, with a ``TiesWarning`` if they are more than one event in a hundred. In SPMF text, where
        the items of an itemset have one place, and in a column called tick, they are together if nothing is
        said.
    times
        Keep the times of events, that is the values of the (first) order column, for look-backs in time.
    attributes
        What holds of a sequence from its start to its end, such as a region or an age: a list of columns that
        are constant per case (keys of JSON lines, attributes of traces in XES). A missing value is one of
        its own, "(missing)".
    cuts
        Where to cut numbers into ranges: ``{"age": [30, 50]}`` makes "age=below 30", "age=30 to <50" and
        "age=50 or more"; None leaves a column as it is. By default at the quartiles, if there are more than 5
        numbers.
    ends
        "complete": every sequence is a case that is over, and its end is what comes next after its last
        event. That is the default. "cut off": a window onto something that goes on, as in the paper, where
        nothing is known of what comes after the last event.
    closed_by
        Labels that close a case, such as ``["Closed"]``: a sequence whose last event is another is cut off.
    open_since
        A date, a time, or a number of the order column: a sequence with an event then or later is cut off,
        for it may go on. The times of events are kept.
    ends_column
        A column, constant per case, that is true for complete sequences and false for those that are cut off.
    drop_duplicates
        Leave out rows of the case, the event and the place of an earlier row. They need an order column.

    Notes
    -----
    The rows of a case need not be together; sequences come in the order in which their cases first
    appear. Rows are sorted by ``order_by`` (numbers, dates or times), else kept as they come. Rows with the
    same place keep the order of the input, and ``tied_order`` counts them; in XES it counts, with no
    ``order_by``, equal time stamps in a row. ``origin`` tells which columns were read. In a table
    a row is one event.

    Labels and ids are text. In files they stay as they stand (``7``, ``007``, ``1.50``); an empty cell of
    a CSV file is a missing value, a quoted one an empty text. Numbers of tables and lists become what
    Python writes: 7 is ``7``, 1.0 is ``1.0``. Categories that never occur do not enter the vocabulary.
    Missing values (null, nan) in a column that is used are an error, unless ``missing`` says otherwise.

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
    given = {name: value for name, value in locals().items() if name not in ("source", "format")}
    wanted = Wanted.of(**given)
    if hasattr(source, "sparkSession"):
        raise SettingError(
            "a Spark dataframe stays on its cluster: learn from scan_spark(frame, case=..., event=..., "
            "order_by=...), predict with predict_spark, or bring its rows into memory with frame.toArrow()"
        )
    if hasattr(source, "to_events"):  # a store of events
        source = source.to_events()
    if isinstance(source, str | os.PathLike):
        return Assembly(_file_source(name_of(source), wanted, format)).in_memory()
    if format is not None:
        raise SettingError(f"format={format!r} is for files; leave it out for {_kind(source)}")
    if not isinstance(source, EventSequences):
        from summarkov.read.tables import is_table, refuse_cut_rows, table_source

        source = _lists_of_series(source)
        if is_table(source) or _is_dict_of_columns(source, wanted):
            refuse_cut_rows()
            return Assembly(table_source(source, wanted)).in_memory()
    wanted.refuse_columns(_kind(source))
    if not isinstance(source, EventSequences):
        return Assembly(_list_source(source, wanted)).in_memory()
    events = source if wanted.labels is None else source.recode(wanted.labels)
    return events if wanted.ends is None else wanted.ended(events)


def _file_source(path: str, wanted: Wanted, format: str | None) -> Source:
    """What reads a file of its format, which is imported only now."""
    kind = format_of(path, format)
    if kind in ("csv", "tsv", "parquet"):
        from summarkov.read.tables import file_source

        with open_file(path) as file:  # which says what is wrong with it
            if not file.seekable():  # it is opened once more
                raise DataError(f"{path} is not a regular file; save it as one first")
        return file_source([path], path, kind, wanted)
    if kind == "xes":
        from summarkov.read.xes_files import xes_source

        return xes_source(path, wanted)
    from summarkov.read.lines import line_source

    return line_source([path], path, kind, wanted, told=format is not None)


def _lists_of_series(source: Any) -> Any:
    """What a series holds, one sequence per row, by the names in its index; all else stays as it is."""
    if type(source).__name__ != "Series":  # of pandas, whose index may have names, or of polars
        return source
    index, lists = getattr(source, "index", None), source.to_list()
    return lists if index is None or not index.is_unique else dict(zip(index, lists, strict=True))


def _is_dict_of_columns(source: Any, wanted: Wanted) -> bool:
    """Whether columns of a dict are named, which is a table then; one that looks like such is refused."""
    if not isinstance(source, Mapping):
        return False
    sizes = {len(column) for column in source.values() if hasattr(column, "__len__")}
    asked = wanted.columns
    if any(name in source for name in (asked.case, asked.event) if name is not None):
        if len(sizes) > 1:
            raise DataError("the dict cannot be read as a table; give columns of one length")
        return True
    names = {plain(name) for name in source if isinstance(name, str)}
    roles = [{plain(name) for line in known for name in line} & names for known in (CASE_NAMES, EVENT_NAMES)]
    if all(roles) and len(sizes) == 1:
        raise DataError(
            "this dict looks like a table, one list per column, and a dict is read as one sequence per name; "
            "say case= and event= to read it as a table, or give a list of lists"
        )
    return False


def _list_source(source: object, wanted: Wanted) -> Source:
    """Lists of labels, or a dict of them by the names of sequences."""
    if hasattr(source, "label_counts"):
        raise DataError(
            f"this needs the events in memory, and {_kind(source)} counts them where they are; "
            "give events that were read with read_events"
        )
    if not isinstance(source, Iterable) or isinstance(source, bytes) or hasattr(source, "tocsr"):
        raise DataError(
            f"cannot read events from {_kind(source)}; give lists of labels, a dict of them, "
            "a table (pandas, polars, pyarrow, DuckDB; of a lazy one .collect()) or the path of a file"
        )
    if isinstance(source, Mapping):
        if any(name is None for name in source):
            raise DataError("a sequence has no id (None); give it a name")
        lines = [Line(_listed(sequence), str(name)) for name, sequence in source.items()]
    else:
        lines = [Line(_listed(sequence)) for sequence in source]
    return Source("the lists", wanted, Columns(order=()), [Lines("the lists", 0, lines)], "line")


def _listed(sequence: object) -> list[object]:
    return sequence if isinstance(sequence, list) else [*iterate(sequence)]


def _kind(source: object) -> str:
    name = "sparse matrix" if hasattr(source, "tocsr") else type(source).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
