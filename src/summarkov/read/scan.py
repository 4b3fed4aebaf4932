"""``scan_events``: files of any size as events on memory maps; DuckDB groups, sorts and spills."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Unpack

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import SettingError, StoreError, TooLargeError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.draws import sequence_keys
from summarkov.events.ends import AskedEnds
from summarkov.events.mapped import map_events
from summarkov.events.moments import Moments
from summarkov.read.addresses import plain_name, size_of
from summarkov.read.case_attributes import AttributeNames, CaseTable, attribute_names
from summarkov.read.encoding import Encoded, NoCaseError, Vocabulary, arrow_of, caseless_rows, numpy_of
from summarkov.read.files import Format
from summarkov.read.finding import find_files, stream_format
from summarkov.read.lines import Collected, jsonl_origin, jsonl_sequences, times_column, with_told_ends
from summarkov.read.ordering import is_ranked, sort_keys
from summarkov.read.parts import Part, read_lists
from summarkov.read.read import with_ends
from summarkov.read.rows import LeftOut, origin_of, read_rows, weights_of
from summarkov.read.tables import TableFiles
from summarkov.read.ticks import Order, Ties, as_column, refuse_no_order, warn_of_ties
from summarkov.read.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter
from summarkov.typing import CodeArray, HashArray

#: ``progress(done, total, what)``: how far reading (bytes) or grouping (rows) has come; or True.
Progress = Callable[[int, int, str], None] | bool | None
#: Bytes for DuckDB unless told otherwise, and at least.
MEMORY, _LEAST = 1 << 30, 1 << 27
#: Events to work on at a time.
_ROWS = 1 << 17
#: How temporary folders are called.
PREFIX = "summarkov-"
#: How messages call files, where a row may be of any.
FILES = "the files"


def scan_events(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: Format | None = None,
    memory: int = MEMORY,
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    names: bool = False,
    progress: Progress = None,
    **reading: Unpack[Reading],
) -> EventSequences:
    """Read Parquet, comma- or tab-separated files or JSON lines of any size.

    The files are read some rows at a time. DuckDB puts the rows of each case together and in order, within
    ``memory``, and their events are written as codes (4 bytes per event, 8 more for its time with
    ``times=True``, and the names of the cases) to a temporary folder. The arrays of the events that are
    returned are memory maps of these files. One sequence must fit into memory.

    Parameters
    ----------
    path
        A file, a folder (with all its subfolders), or a pattern such as ``"log/2024-*.parquet"``; or a list
        of these, in the order in which they are to be read. A file that is there by several names, by
        links, is read once. Folders of Delta and Iceberg tables are refused, as they also hold files that
        are no longer part of the table.
    format
        "parquet", "csv", "tsv" or "jsonl", where the ends of the files' names do not tell it, or a folder
        holds files of several formats.
    memory
        Bytes that DuckDB may use; 1 GiB by default. The process needs some more beside it.
    n_jobs
        Threads of DuckDB: None is one, -1 one per core. The result does not depend on it.
    scratch
        Where to make the temporary folder; by default where Python does (``TMPDIR``). It is removed by
        ``close()``, at the end of a ``with`` block, on an error, and when Python ends.
    names
        Keep the names of the sequences too, for predictions of every event.
    progress
        Called as ``progress(done, total, what)``, with "reading" (bytes) and "grouping" (rows); True writes
        that to the standard error.
    **reading
        ``case``, ``event``, ``order``, ``labels`` and all other settings of :func:`read_events`. A list
        column of Parquet holds one sequence per row, and so does a line of JSON.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow, pyarrow.parquet, summarkov as sm
    >>> events = {"case": [1, 1, 1, 2, 2, 2] * 2, "event": ["A", "B", "C", "C", "A", "B"] * 2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pyarrow.table(events), pathlib.Path(folder, "events.parquet"))
    ...     with sm.scan_events(folder) as events:
    ...         sm.BSuMM("B", lookback=1).fit(events).influencers_
    ('A',)
    """
    wanted = Wanted.of(**reading)
    if wanted.gap is not None:
        raise SettingError(
            'session_gap needs the events in memory: read them with engine="memory", or cut the files into '
            "sessions first (read_events and write_events; summarkov convert)"
        )
    if not isinstance(path, str | os.PathLike) and not _are_paths(path):
        raise SettingError(
            "path must be that of a file or a folder, a pattern such as 'log/*.parquet', or a list of these, "
            f"not {type(path).__name__}; events in memory are learned from as they are"
        )
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    kind = stream_format(path, format)
    found = find_files(path, kind)
    if found.repeated:
        warnings.warn(str(found), stacklevel=2)
    if kind == "jsonl":
        wanted = with_told_ends(found.paths[0], wanted)
    source = plain_name(found.paths[0]) if len(found.paths) == 1 else FILES
    folder = TemporaryFolder(scratch)
    try:
        with naming_the_disk(folder.path.parent):
            scan = _Scan(found.paths, kind, wanted, folder.path, memory, n_jobs, reporter(progress))
            scan.ids = [] if names else None
            events = map_events(scan.chunks(), folder, scan.about)
            warn_of_ties(events.tied_order, events.n_events, events.origin, wanted, source)
        return events
    except BaseException:
        folder.remove()
        raise


def _are_paths(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(isinstance(p, str | os.PathLike) for p in given)
    )


class TemporaryFolder:
    """A temporary folder, which only its owner may enter; removed with the object, or when Python ends."""

    def __init__(self, beside: str | os.PathLike[str] | None = None) -> None:
        if beside is not None and not Path(beside).is_dir():
            raise SettingError(f"there is no folder {beside} for temporary files; make it first")
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside)).absolute()
        self._remove = weakref.finalize(self, _remove_folder, self.path, os.getpid())

    def remove(self) -> None:
        """Remove the folder and all that is in it; a fork leaves that to the process that made it."""
        self._remove()


def _remove_folder(path: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(path, ignore_errors=True)


class _Scan:
    """Files on their way to events: parts of whole sequences, whose labels are settled at the end."""

    def __init__(
        self,
        paths: list[str],
        kind: str,
        wanted: Wanted,
        folder: Path,
        memory: int,
        n_jobs: int | None,
        tell: Callable[[int, int, str], None],
    ) -> None:
        self.paths, self.kind, self.folder, self.tell = paths, kind, folder, tell
        self.memory, self.n_jobs = memory, n_jobs
        self.files = TableFiles(paths, kind, wanted)
        self.wanted = wanted if kind == "jsonl" else wanted.for_columns(self.files.chosen)
        self.cases = None if wanted.cases is None else CaseTable.of(wanted.cases, wanted.columns.case)
        self.labels = Vocabulary(wanted.labels)
        self.values = {name: Vocabulary() for name in wanted.columns.per_case}
        self.left_out, self.ties, self.n_events = LeftOut(), Ties(), 0
        self.named: AttributeNames | None = None
        self.ids: list[str] | None = None  # of all sequences, if they are kept
        self.keys: list[HashArray] = []

    def about(self) -> dict[str, Any]:
        """What is known of the events once all have been read."""
        if self.kind == "jsonl":
            origin = jsonl_origin(self.wanted, self.left_out)
        else:
            origin = origin_of(self.files.chosen, self.left_out, self.ties.case)
        return {
            "ids": self.ids,
            "keys": np.concatenate([np.empty(0, np.uint64), *self.keys]),
            "tied_order": self.ties.n,
            "origin": origin,
        }

    def chunks(self) -> Iterator[EventSequences]:
        """All events, some whole sequences at a time."""
        if self.kind == "jsonl":
            if self.wanted.drop_duplicates:
                raise SettingError(
                    f"duplicates are rows of a table, and {self.paths[0]} has none; leave out "
                    "drop_duplicates=True"
                )
            parts = self._again(self._lines())
        elif self.files.of_lists:
            refuse_no_order(self.wanted, self.paths[0])
            parts = self._again(self._lists())
        else:
            if not self.files.chosen.order:
                refuse_no_order(self.wanted, self.paths[0])
            parts = self._rows()
        part = None
        for part in parts:
            yield self._events(part)
        if part is None:
            nothing = {name: Encoded(np.empty(0, np.int32), []) for name in (*self.values, *self._attributes)}
            self._name_attributes({name: nothing[name] for name in self._attributes})
            codes, offsets = np.empty(0, np.int32), np.zeros(1, np.int64)
            yield self._events(Part(codes, offsets, [], Order((), self.wanted), of_cases=nothing))
        self.left_out.refuse_all(self.wanted, self.n_events, self.paths[0])

    def _events(self, part: Part) -> EventSequences:
        """Some sequences, whose codes are final."""
        wanted = self.wanted
        source = self.paths[0] if len(self.paths) == 1 else FILES
        found = part.finish(wanted, self.left_out, source)
        self.ties = Ties(self.ties.n + found.ties.n, self.ties.case or found.ties.case)
        codes, offsets, moments = found.codes, found.offsets, found.moments
        if moments is not None:
            ticks = part.starts is not None or moments.has_ticks
            codes, offsets, moments = Moments.made(
                codes, offsets, moments.starts, moments.times, moments.unit, has_ticks=ticks
            )
        self.n_events += len(codes)
        ids = list(found.ids or ())
        self.keys.append(sequence_keys(ids))
        if self.ids is not None:
            self.ids += ids
        of_cases = {**found.of_cases, **({} if self.cases is None else self.cases.values(ids))}
        weight = wanted.columns.weight
        events = EventSequences(
            codes,
            offsets,
            self.labels.settled()[0],
            ids,
            moments=moments,
            attributes=None if self.named is None else self.named.attributes(of_cases),
            weights=None if weight is None else weights_of(found.of_cases[weight]),
        )
        return with_ends(events, wanted.ends or AskedEnds.default())

    @property
    def _attributes(self) -> Sequence[str]:
        """The columns of attributes."""
        return self.wanted.columns.attributes if self.cases is None else [*self.cases.columns]

    def _name_attributes(self, values: dict[str, Encoded], ids: Sequence[str] | None = None) -> None:
        """Name the values of attributes, which numbers are cut by: all sequences are needed for that."""
        source = self.paths[0] if self.cases is None else self.cases.source
        if values:
            self.named = attribute_names(values, self.wanted, source, ids)

    # ------------------------------------------------------------------ sequences as they come

    def _lines(self) -> Iterator[Part]:
        """The lines of all files. What kind of times they have is decided by all of them."""
        order, n, done, total = None, 0, 0, sum(map(size_of, self.paths))
        if self.wanted.times:
            order = times_column(self.wanted)
            for path in self.paths:
                for line in jsonl_sequences(path, self.wanted, LeftOut()):
                    order.look(as_column(line.times), path)
        for path in self.paths:
            collected = Collected(self.labels, self.values, n)
            for line in jsonl_sequences(path, self.wanted, self.left_out):
                collected.add(
                    line.labels, line.name or collected.next_name(), line.together, line.times, line.values
                )
                if len(collected.codes) + len(collected) >= _ROWS:
                    yield collected.part(self.wanted, order, path)
                    n += len(collected)
                    collected = Collected(self.labels, self.values, n)
            yield collected.part(self.wanted, order, path)
            n, done = n + len(collected), done + size_of(path)
            self.tell(done, total, "reading")

    def _lists(self) -> Iterator[Part]:
        """The rows of all files, each of which is a sequence."""
        files, n = self.files, 0
        for block in files.blocks():
            part, texts = read_lists(
                block.table, files.chosen, self.wanted, block.path, self.left_out, block.first_row
            )
            codes = self.labels.recode(Encoded(part.codes, texts))
            of_cases = {
                name: Encoded(self.values[name].recode(each), []) for name, each in part.of_cases.items()
            }
            names = part.ids or [str(number) for number in range(n, n + block.table.num_rows)]
            yield Part(codes, part.offsets, names, part.order, starts=part.starts, of_cases=of_cases)
            n += block.table.num_rows
            self.tell(block.done, files.n_bytes, "reading")

    def _again(self, parts: Iterator[Part]) -> Iterator[Part]:
        """The same with final codes, once all labels and values are known; meanwhile they are in a file."""
        path, light, values = self.folder / "parts", list[Part](), list[Mapping[str, Encoded]]()
        with open(path, "wb") as file:
            for part in parts:
                light.append(_put(part, file))
                values.append(part.of_cases if self.cases is None else self.cases.values(part.ids or ()))
        self._name_attributes({name: _joined([each[name] for each in values]) for name in self._attributes})
        translate = self.labels.settled()[1]
        with open(path, "rb") as file:
            for part in light:
                whole = _got(part, file)
                yield replace(whole, codes=translate[whole.codes])
        path.unlink()

    # ------------------------------------------------------------------ rows in any order

    def _rows(self) -> Iterator[Part]:
        """Rows, grouped by case and sorted."""
        order = Order(self.files.chosen.order or (), self.wanted)
        try:
            with _Sorted(self.folder / "spill", self.memory, self.n_jobs) as rows:
                kinds = self._add_rows(rows, order)
                if kinds is None:  # what all text of an order column is, is known only now
                    rows.clear()
                    self.left_out = LeftOut()
                    kinds = self._add_rows(rows, order)
                self._name_attributes(self._values_in(rows))
                translate, n = self.labels.settled()[1], 0
                for table in rows.parts(len(order.columns)):
                    yield self._part(table, order, kinds or [], translate)
                    n += table.num_rows
                    self.tell(n, rows.n_rows, "grouping")
        except NoCaseError as error:  # of the first block that has some
            case, blocks = self.files.chosen.case, self.files.blocks()
            raise error.of_all(
                sum(len(caseless_rows(block.table.column(case))) for block in blocks)
            ) from None

    def _add_rows(self, rows: _Sorted, order: Order) -> list[pa.DataType] | None:
        """Read all rows; the types of the order columns, or None if these changed on the way."""
        files, kinds, changed = self.files, list[pa.DataType](), False
        for block in files.blocks():
            some = read_rows(
                block.table, files.chosen, self.wanted, block.path, self.left_out, block.first_row
            )
            places = [some.table.column(one.name) for one in order.columns]
            order.look(places, block.path, block.first_row)
            keys, found = order.read(places, block.path)
            changed = changed or bool(kinds and found != kinds)
            kinds = kinds or (found if some.table.num_rows else [])
            codes, texts = arrow_of(some.case.codes.astype(np.int32)), pa.array(some.case.texts, pa.string())
            columns = {"c": pa.DictionaryArray.from_arrays(codes, texts)}
            columns["code"] = arrow_of(self.labels.recode(some.event))
            for at, (key, kind, place) in enumerate(zip(keys, found, order.values(places), strict=True)):
                if is_ranked(kind):
                    columns[f"k{at}"] = place if some.kept is None else place.filter(pa.array(some.kept))
                else:
                    columns[f"k{at}"] = arrow_of(key if some.kept is None else key[some.kept])
            for at, (known, each) in enumerate(zip(self.values.values(), some.per_case, strict=True)):
                columns[f"v{at}"] = arrow_of(known.recode(each))
            if not changed:
                rows.add(pa.table(columns))
            self.tell(block.done, files.n_bytes, "reading")
        return None if changed else kinds

    def _values_in(self, rows: _Sorted) -> dict[str, Encoded]:
        """The values of attributes, one per case."""
        if not self._attributes or not rows.n_rows:
            return {}
        columns = [f"v{at}" for at, name in enumerate(self.values) if name in self._attributes]
        parts = list[dict[str, Encoded]]()
        for batch in rows.cases(columns if self.cases is None else ["c"]):
            if self.cases is not None:
                parts.append(self.cases.values(batch.column(0).to_pylist()))
            else:
                each = zip(self._attributes, batch.columns, strict=True)
                codes = {name: numpy_of(pa.chunked_array([column])) for name, column in each}
                parts.append({name: Encoded(found, self.values[name].texts) for name, found in codes.items()})
        return {name: _joined([each[name] for each in parts]) for name in self._attributes}

    def _part(
        self, table: pa.Table, order: Order, kinds: Sequence[pa.DataType], translate: CodeArray
    ) -> Part:
        first = numpy_of(table.column("f"))
        starts = np.flatnonzero(np.append(True, first[1:] != first[:-1]))
        keys = [table.column(f"k{at}") for at in range(len(order.columns))]
        named = table.column("c").drop_null()
        each = zip(keys, kinds, order.columns, strict=True)
        of_rows = {
            name: Encoded(numpy_of(table.column(f"v{at}")), known.texts)
            for at, (name, known) in enumerate(self.values.items())
        }
        return Part(
            translate[numpy_of(table.column("code"))],
            np.append(starts, len(first)),
            named.to_pylist(),
            order,
            [
                sort_keys(key, one.name, FILES) if is_ranked(kind) else numpy_of(key)
                for key, kind, one in each
            ],
            kinds,
            of_rows=of_rows,
        )


def _joined(parts: Sequence[Encoded]) -> Encoded:
    """A column from its parts, which have the same codes."""
    codes = [each.codes for each in parts]
    return Encoded(np.concatenate([np.empty(0, np.int32), *codes]), parts[-1].texts if parts else [])


def _put(part: Part, file: BinaryIO) -> Part:
    """Write what is large of some sequences; the part without that is returned."""
    for array in _arrays(part):
        np.lib.format.write_array(file, array, allow_pickle=False)
    file.write(json.dumps(part.ids).encode() + b"\n")
    starts, times, nothing = part.starts, part.times, np.empty(0, np.int64)
    return replace(
        part,
        codes=nothing,
        offsets=nothing,
        ids=None,
        starts=None if starts is None else np.empty(0, bool),
        times=None if times is None else times._replace(values=nothing),
    )


def _got(part: Part, file: BinaryIO) -> Part:
    """The part that was written, from what :func:`_put` has returned."""
    codes, offsets, *others = (np.lib.format.read_array(file, allow_pickle=False) for _ in _arrays(part))
    times = None if part.times is None else part.times._replace(values=others.pop())
    starts = None if part.starts is None else others.pop()
    return replace(
        part, codes=codes, offsets=offsets, ids=json.loads(file.readline()), starts=starts, times=times
    )


def _arrays(part: Part) -> list[Any]:
    each = (part.codes, part.offsets, part.starts, None if part.times is None else part.times.values)
    return [array for array in each if array is not None]


class _Sorted:
    """Rows in DuckDB, which groups them by case, sorts them, and writes to a folder what does not fit.

    Whatever takes long runs in a thread, for DuckDB does not listen to Ctrl-C while it sorts.
    """

    def __init__(self, folder: Path, memory: int, n_jobs: int | None) -> None:
        import duckdb

        try:
            os.fspath(folder).encode()
        except UnicodeEncodeError:
            raise SettingError(
                f"DuckDB cannot write to {os.fspath(folder.parent.parent)!r}, whose name is not UTF-8; "
                "choose another folder for temporary files (scratch=, or TMPDIR)"
            ) from None
        self._errors = duckdb
        threads = 1 if n_jobs is None else (os.cpu_count() or 1) if n_jobs < 0 else max(1, n_jobs)
        self._db = duckdb.connect(
            config={
                "memory_limit": f"{max(memory, _LEAST) >> 20}MiB",
                "temp_directory": os.fspath(folder),
                "threads": threads,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._db.execute("SET enable_progress_bar = false")  # it would go to the standard output
        self._pool = ThreadPoolExecutor(1)
        self._memory, self.n_rows = memory, 0

    def __enter__(self) -> _Sorted:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.interrupt()
        self._pool.shutdown()
        self._db.close()

    def _run(self, call: Callable[..., Any], *given: Any) -> Any:
        """Do something in the thread; whatever interrupts the waiting interrupts DuckDB, too."""
        future = self._pool.submit(call, *given)
        try:
            return future.result()
        except self._errors.OutOfMemoryException as error:
            raise TooLargeError(
                f"sorting needs more than memory={self._memory}: {' '.join(str(error).split())[:200]}; set "
                "it higher, or make room where temporary files go"
            ) from None
        except self._errors.Error as error:
            raise StoreError(f"DuckDB cannot sort the rows: {' '.join(str(error).split())[:300]}") from error
        except BaseException:
            self._db.interrupt()
            raise

    def add(self, table: pa.Table) -> None:
        """Take some more rows."""
        if table.num_rows:
            self._run(self._add, table)

    def _add(self, table: pa.Table) -> None:
        numbers = arrow_of(np.arange(self.n_rows, self.n_rows + table.num_rows))
        numbered = table.append_column("r", numbers)
        self._db.register("new_rows", numbered)
        into = "INSERT INTO rows" if self.n_rows else "CREATE TABLE rows AS"
        self._db.execute(f"{into} SELECT * FROM new_rows")
        self._db.unregister("new_rows")
        self.n_rows += table.num_rows

    def clear(self) -> None:
        """Forget all rows."""
        if self.n_rows:
            self._run(self._db.execute, "DROP TABLE rows")
        self.n_rows = 0

    def cases(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of one row of every case, in the order of first rows."""
        each = ", ".join("c" if name == "c" else f"arg_min({name}, r)" for name in columns)
        yield from self._batches(f"SELECT {each} FROM rows GROUP BY c ORDER BY min(r)")

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        found = self._db.sql(query)
        make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        reader = self._run(make, _ROWS)
        while (batch := self._run(next, reader, None)) is not None:
            yield batch

    def parts(self, n_keys: int) -> Iterator[pa.Table]:
        """All rows, sorted by the first row of their case, by the keys, and by row; some cases at a time.

        ``f`` is the first row of the case, and only that has the name of the case, ``c``.
        """
        if not self.n_rows:
            return
        keys = "".join(f"k{at}, " for at in range(n_keys))
        query = (
            "SELECT * EXCLUDE (c, r), CASE WHEN r = f THEN c END AS c FROM rows JOIN "
            f"(SELECT c, min(r) AS f FROM rows GROUP BY c) USING (c) ORDER BY f, {keys} r"
        )
        held: list[pa.RecordBatch] = []
        for batch in self._batches(query):
            first = numpy_of(pa.chunked_array([batch.column("f")]))
            ends = np.flatnonzero(first[1:] != first[:-1]) + 1  # of a case, and begin another
            if held and first[0] != held[-1].column("f")[-1].as_py():
                ends = np.append(0, ends)
            if len(ends):
                yield pa.Table.from_batches([*held, batch.slice(0, int(ends[-1]))])
                held, batch = [], batch.slice(int(ends[-1]))
            held.append(batch)
        if held:
            yield pa.Table.from_batches(held)
