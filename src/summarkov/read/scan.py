"""``scan_events``: files of any size as events on memory maps; DuckDB groups, sorts and spills."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Unpack

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import SettingError, StoreError, TooLargeError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit
from summarkov.events.names import Names
from summarkov.read.addresses import plain_name, size_of
from summarkov.read.case_attributes import attributes_of
from summarkov.read.encoding import Encoded, NoCaseError, Vocabulary, caseless_rows, numpy_of
from summarkov.read.files import Format
from summarkov.read.finding import find_files, stream_format
from summarkov.read.lines import Collected, jsonl_origin, jsonl_sequences, times_column, with_told_ends
from summarkov.read.ordering import is_ranked, sort_keys
from summarkov.read.parts import Part, read_lists
from summarkov.read.read import with_asked
from summarkov.read.rows import LeftOut, origin_of, read_rows, weights_of
from summarkov.read.tables import TableFiles
from summarkov.read.ticks import Order, Ties, as_column, refuse_no_order
from summarkov.read.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter
from summarkov.typing import IntArray

#: ``progress(done, total, what)``: how far reading (bytes) or grouping (rows) has come; or True.
Progress = Callable[[int, int, str], None] | bool | None
#: Bytes for DuckDB unless told otherwise, and at least.
MEMORY, _LEAST = 1 << 30, 1 << 27
#: Events to work on at a time.
_ROWS = 1 << 17
#: How messages call files, where a row may be of any.
FILES = "the files"


def scan_events(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: Format | None = None,
    memory: int = MEMORY,
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    names: bool = True,
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
        The names of sequences are always kept, on disk.
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
    if scratch is not None and not Path(scratch).is_dir():
        raise SettingError(f"there is no folder {scratch} for temporary files; make it first")
    folder = tempfile.TemporaryDirectory(prefix="summarkov-", dir=scratch, ignore_cleanup_errors=True)
    try:
        with naming_the_disk(folder.name):
            scan = _Scan(found.paths, kind, wanted, Path(folder.name), memory, n_jobs, reporter(progress))
            events = scan.read()
        source = plain_name(found.paths[0]) if len(found.paths) == 1 else FILES
        return with_asked(events, scan.wanted, source).owning(folder)
    except BaseException:
        folder.cleanup()
        raise


def _are_paths(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(isinstance(p, str | os.PathLike) for p in given)
    )


class Arrays:
    """Arrays in the files of a folder, to which more is added until they are mapped."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._files = folder, dict[str, IO[bytes]]()

    def add(self, name: str, values: npt.NDArray[Any]) -> None:
        """Write some more values."""
        if name not in self._files:
            self._files[name] = open(self._folder / name, "wb")  # noqa: SIM115  # closed by mapped()
        self._files[name].write(np.ascontiguousarray(values).data)

    def mapped(self, name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """All values."""
        if name in self._files:
            self._files[name].close()
        path = self._folder / name
        if not path.exists() or not path.stat().st_size:
            return np.empty(0, kind)
        return np.memmap(path, kind, "r")

    def close(self) -> None:
        for file in self._files.values():
            file.close()


class _Scan:
    """Files on their way to arrays."""

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
        self.labels = Vocabulary(wanted.labels)
        self.values = {name: Vocabulary() for name in wanted.columns.per_case}
        self.left_out, self.ties = LeftOut(), Ties()
        self.unit: TimeUnit = NANOSECONDS
        self.arrays, self.n_sequences, self.n_rows = Arrays(folder / "events"), 0, 0
        self.has_starts = self.has_times = self.has_periods = self.has_empty = self.has_names = False

    def read(self) -> EventSequences:
        """Read everything."""
        if self.kind == "jsonl":
            parts = self._again(self._lines())
        elif self.files.of_lists:
            if self.wanted.gap is not None:
                refuse_no_order(self.wanted, self.paths[0])
            parts = self._again(self._lists())
        else:
            if not self.files.chosen.order:
                refuse_no_order(self.wanted, self.paths[0])
            parts = self._rows()
        try:
            for part in parts:
                self._write(part)
        finally:
            self.arrays.close()
        self.left_out.refuse_all(self.wanted, self.n_rows, self.paths[0])
        return self._events()

    def _events(self) -> EventSequences:
        """What has been written."""
        arrays, asked, mapped = self.arrays, self.wanted.columns, self.arrays.mapped
        moments = None
        if self.has_starts or self.has_times or self.has_periods:
            moments = Moments(
                mapped("starts", bool),
                mapped("times", np.int64) if self.has_times else None,
                self.unit,
                mapped("periods", np.int64) if self.has_periods else None,
                self.has_empty,
            )
        ids = Names(mapped("names", np.uint8), mapped("name ends", np.int64)) if self.has_names else None
        values = mapped("values", np.int32).reshape(self.n_sequences, len(self.values)).T
        of_cases = {
            name: Encoded(codes, known.texts)
            for (name, known), codes in zip(self.values.items(), values, strict=True)
        }
        if self.kind == "jsonl":
            origin = jsonl_origin(self.wanted, self.left_out)
        else:
            origin = origin_of(self.files.chosen, self.left_out, self.ties.case)
        named = {name: of_cases[name] for name in asked.attributes}
        arrays.add("offsets", np.empty(0, np.int64))
        return EventSequences(
            mapped("codes", np.int32),
            np.append(np.zeros(1, np.int64), mapped("offsets", np.int64)),
            self.labels.settled()[0],
            ids,
            moments=moments,
            tied_order=self.ties.n,
            origin=origin,
            attributes=attributes_of(named, self.wanted, self.paths[0], ids or range(self.n_sequences)),
            weights=None if asked.weight is None else weights_of(of_cases[asked.weight]),
        )

    def _write(self, part: Part) -> None:
        """Write some sequences, whose codes are final."""
        found = part.finish(self.wanted, self.left_out, FILES if len(self.paths) > 1 else self.paths[0])
        self.ties = Ties(self.ties.n + found.ties.n, self.ties.case or found.ties.case)
        codes, offsets, moments, arrays = found.codes, found.offsets, found.moments, self.arrays
        if moments is not None:
            codes, offsets, moments = Moments.made(
                codes,
                offsets,
                moments.starts,
                moments.times,
                moments.unit,
                moments.periods,
                has_ticks=part.starts is not None or moments.has_ticks,
            )
        starts = np.ones(len(codes), bool) if moments is None else moments.starts
        arrays.add("codes", codes.astype(np.int32, copy=False))
        arrays.add("starts", starts)
        arrays.add("offsets", offsets[1:] + self.n_rows)
        if moments is not None:
            self.has_starts |= moments.has_ticks
            self.has_empty |= moments.has_empty
            if moments.times is not None:
                arrays.add("times", moments.times)
                self.has_times, self.unit = True, moments.unit
            if moments.periods is not None:
                arrays.add("periods", moments.periods)
                self.has_periods = True
        if found.ids is not None:
            self.has_names = True
            texts = [name.encode("utf-8", "surrogatepass") for name in found.ids]
            ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
            arrays.add("name ends", ends + self.n_name_bytes)
            self.n_name_bytes += int(ends[-1]) if len(ends) else 0
            arrays.add("names", np.frombuffer(b"".join(texts), np.uint8))
        if self.values:
            arrays.add(
                "values",
                np.stack([found.of_cases[name].codes for name in self.values], axis=1).astype(np.int32),
            )
        self.n_rows += len(codes)
        self.n_sequences += len(offsets) - 1

    n_name_bytes = 0

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
        """The same with final codes, once all labels are known; meanwhile the parts are in a file."""
        import pickle

        path = self.folder / "parts"
        with open(path, "wb") as file:
            n = 0
            for part in parts:
                pickle.dump(part, file)
                n += 1
        translate = self.labels.settled()[1]
        with open(path, "rb") as file:
            for _ in range(n):
                part = pickle.load(file)  # written just now
                yield _with_codes(part, translate)
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
            case = pa.DictionaryArray.from_arrays(pa.array(some.case.codes.astype(np.int32)), some.case.texts)
            columns = {"c": case, "code": pa.array(self.labels.recode(some.event))}
            for at, (key, kind, place) in enumerate(zip(keys, found, order.values(places), strict=True)):
                column = place.combine_chunks() if is_ranked(kind) else pa.array(key)
                columns[f"k{at}"] = column if some.kept is None else column.filter(pa.array(some.kept))
            if some.periods is not None:
                columns["period"] = pa.array(some.periods)
            for at, (known, each) in enumerate(zip(self.values.values(), some.per_case, strict=True)):
                columns[f"v{at}"] = pa.array(known.recode(each))
            if not changed:
                rows.add(pa.table(columns))
            self.tell(block.done, files.n_bytes, "reading")
        return None if changed else kinds

    def _part(self, table: pa.Table, order: Order, kinds: Sequence[pa.DataType], translate: IntArray) -> Part:
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
            numpy_of(table.column("period")) if "period" in table.column_names else None,
            of_rows=of_rows,
        )


def _with_codes(part: Part, translate: IntArray) -> Part:
    from dataclasses import replace

    return replace(part, codes=translate[part.codes])


class _Sorted:
    """Rows in DuckDB, which groups them by case, sorts them, and writes to a folder what does not fit.

    Whatever takes long runs in a thread, for DuckDB does not listen to Ctrl-C while it sorts.
    """

    def __init__(self, folder: Path, memory: int, n_jobs: int | None) -> None:
        import duckdb

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
                f"sorting needs more than memory={self._memory}: {' '.join(str(error).split())[:200]}; set it "
                "higher, or make room where temporary files go"
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
        numbered = table.append_column("r", pa.array(np.arange(self.n_rows, self.n_rows + table.num_rows)))
        self._db.register("some", numbered)
        into = "INSERT INTO rows" if self.n_rows else "CREATE TABLE rows AS"
        self._db.execute(f"{into} SELECT * FROM some")
        self._db.unregister("some")
        self.n_rows += table.num_rows

    def clear(self) -> None:
        """Forget all rows."""
        if self.n_rows:
            self._run(self._db.execute, "DROP TABLE rows")
        self.n_rows = 0

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
        found = self._db.sql(query)
        make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        reader = self._run(make, _ROWS)
        held: list[pa.RecordBatch] = []
        while True:
            try:
                batch = self._run(reader.read_next_batch)
            except StopIteration:
                break
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
