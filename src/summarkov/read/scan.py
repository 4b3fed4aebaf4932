"""``scan_events``: files of any size as events on memory maps; DuckDB groups, sorts and spills."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np

from summarkov.arrow import arrow_of, numpy_of, pa, text_array
from summarkov.errors import SettingError, StoreError, TooLargeError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.draws import sequence_keys
from summarkov.events.sequences import map_events
from summarkov.read.columns import TABLE, Reading, Wanted
from summarkov.read.files import Format, find_files
from summarkov.read.lines import line_source
from summarkov.read.ordering import run_starts
from summarkov.read.rows import Assembly, Coded
from summarkov.read.tables import ROWS, file_source, is_table, table_source
from summarkov.settings import is_whole, reporter

#: ``progress(done, total, what)``: how far reading (bytes) or grouping (rows) has come; or True.
Progress = Callable[[int, int, str], None] | bool | None
#: Bytes for DuckDB unless told otherwise, and at least.
MEMORY, _LEAST = 1 << 30, 1 << 27
#: Rows to fetch from DuckDB at a time.
_ROWS = 1 << 17
#: How temporary folders are called.
PREFIX = "summarkov-"
#: How messages call files, where a row may be of any.
FILES = "the files"


def scan_events(
    source: Any,
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
    source
        The path of a file or a folder (with all its subfolders), or a pattern such as
        ``"log/2024-*.parquet"``; or a list of these, in the order in which they are to be read. A file that
        is there by several names, by links, is read once. Folders of Delta and Iceberg tables are refused, as
        they also hold files that are no longer part of the table. Or whatever speaks Arrow, such as a
        relation of DuckDB or a reader of ``pyarrow.dataset``, which may be of object stores: its batches are
        read one after the other.
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
        ``case``, ``event``, ``order_by``, ``labels`` and all other settings of :func:`read_events`. A list
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
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    sizes, paths, tell = dict[str, int](), list[str](), reporter(progress)
    if is_table(source):
        if format is not None:
            raise SettingError(f"format={format!r} is for files; leave it out for a table")
        read = table_source(source, wanted, ROWS)
    else:
        given = [source] if isinstance(source, str | os.PathLike) else source
        listed = isinstance(given, list | tuple) and bool(given)
        if not listed or not all(isinstance(one, str | os.PathLike) for one in given):
            raise SettingError(
                "source must be the path of a file or a folder, a pattern such as 'log/*.parquet', a list of "
                f"these, or a stream of Arrow, not {type(source).__name__}; events in memory are learned "
                "from as they are"
            )
        kind, paths = find_files(given, format)
        sizes = dict(zip(paths, accumulate(map(os.path.getsize, paths)), strict=True))
        name = paths[0] if len(paths) == 1 else FILES
        if kind == "jsonl":
            read = line_source(paths, name, kind, wanted, told=True)
        else:
            read = file_source(paths, name, kind, wanted)
    assembly = Assembly(read)
    folder = TemporaryFolder(scratch)
    try:
        rows = _Rows(folder.path, assembly, memory, n_jobs)
        with naming_the_disk(folder.path.parent), rows:
            for block in read.blocks:
                rows.add(assembly.code(block))
                if block.path in sizes:
                    tell(sizes[block.path], sizes[paths[-1]], "reading")
            assembly.refuse_none_left(paths[0] if paths else TABLE)
            return _mapped(assembly, rows, folder, tell, keep_names=names)
    except BaseException:
        folder.remove()
        raise


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


def _mapped(
    assembly: Assembly, rows: _Rows, folder: TemporaryFolder, tell: Callable[..., None], *, keep_names: bool
) -> EventSequences:
    """All events, on memory maps."""
    ids, keys = list[str](), [np.empty(0, np.uint64)]
    keeps = keep_names or assembly.needs_names

    def chunks() -> Iterator[EventSequences]:
        for chunk in assembly.chunks(rows.parts()):
            keys.append(sequence_keys(chunk.ids))
            ids.extend(chunk.ids if keeps else ())
            yield chunk
            tell(assembly.n_events, rows.n_rows, "grouping")

    def about() -> dict[str, Any]:
        kept = tuple(ids) if keep_names else None
        tied = assembly.ties.n
        return {"ids": kept, "keys": np.concatenate(keys), "tied_order": tied, "origin": assembly.origin()}

    return assembly.finished(map_events(chunks(), folder, about), ids)


class _Rows:
    """Rows in DuckDB, which groups them by case, sorts them, and writes to a folder what does not fit.

    Whatever takes long runs in a thread, for DuckDB does not listen to Ctrl-C while it sorts.
    """

    def __init__(self, folder: Path, assembly: Assembly, memory: int, n_jobs: int | None) -> None:
        import duckdb

        try:
            os.fspath(folder).encode()
        except UnicodeEncodeError:
            raise SettingError(
                f"DuckDB cannot write to {os.fspath(folder.parent)!r}, whose name is not UTF-8; "
                "choose another folder for temporary files (scratch=, or TMPDIR)"
            ) from None
        self._errors, self._memory, self._assembly = duckdb, memory, assembly
        self._kinds, self._n_keys, self.n_rows = list[pa.DataType](), 0, 0
        threads = 1 if n_jobs is None else (os.cpu_count() or 1) if n_jobs < 0 else max(1, n_jobs)
        self._db = duckdb.connect(
            config={
                "memory_limit": f"{max(memory, _LEAST) >> 20}MiB",
                "temp_directory": os.fspath(folder / "spill"),
                "threads": threads,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._db.execute("SET enable_progress_bar = false")  # it would go to the standard output
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
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

    def add(self, coded: Coded) -> None:
        """Take some more rows, numbered."""
        if not (n := len(coded.case)):
            return
        self._settle()
        coded, self._n_keys = self._assembly.settled(coded), len(coded.keys)
        values = {f"v{at}": arrow_of(each) for at, each in enumerate(coded.values.values())}
        keys = {f"k{at}": arrow_of(each) for at, each in enumerate(coded.keys)}
        case = pa.DictionaryArray.from_arrays(arrow_of(coded.case), text_array(map(str, coded.names)))
        number = np.arange(self.n_rows, self.n_rows + n)
        columns = {"c": case, "r": arrow_of(number), "code": arrow_of(coded.codes), **keys, **values}
        if self._assembly.by_place:  # the first row of each case is known
            starts = run_starts(coded.case)
            lengths = np.diff(np.append(starts, n))
            columns["f"] = arrow_of(np.repeat(number[starts], lengths))
        self._db.register("new_rows", pa.table(columns))
        into = "INSERT INTO rows BY NAME" if self.n_rows else "CREATE TABLE rows AS"
        self._run(self._db.execute, f"{into} SELECT * FROM new_rows")
        self._db.unregister("new_rows")
        self.n_rows += n

    def _settle(self) -> None:
        """Bring the keys of earlier rows to the types that all rows so far have in common."""
        before, self._kinds = self._kinds, self._assembly.kinds
        for at, (old, new) in enumerate(zip(before, self._kinds, strict=False)):
            if old != new and pa.types.is_floating(new):
                self._run(self._db.execute, f"ALTER TABLE rows ALTER k{at} TYPE DOUBLE")
            elif old != new:
                ends = self._db.execute(f"SELECT min(k{at}), max(k{at}) FROM rows").fetchone()
                self._assembly.order[at].settled(np.array(ends), old)  # refuses what is too far
                self._run(self._db.execute, f"UPDATE rows SET k{at} = k{at} * 1000")

    def parts(self) -> Iterator[Coded]:
        """All rows in order, some whole sequences at a time.

        Rows come by the first row of their case, by the keys, and by row. A case is known by the number of
        its first row, and only that has its name.
        """
        if not self.n_rows:
            yield self._assembly.together([])
            return
        order = ", ".join(["f", *(f"k{at}" for at in range(self._n_keys)), "r"])
        first = (
            "" if self._assembly.by_place else "JOIN (SELECT c, min(r) AS f FROM rows GROUP BY c) USING (c)"
        )
        found = self._db.sql(
            f"SELECT * EXCLUDE (c), CASE WHEN r = f THEN c END AS c FROM rows {first} ORDER BY {order}"
        )
        make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        reader, held, case = self._run(make, _ROWS), list[pa.RecordBatch](), None
        while (batch := self._run(next, reader, None)) is not None:
            cases = numpy_of(pa.chunked_array([batch.column("f")]))
            last = int(np.searchsorted(cases, cases[-1]))  # where the last case begins, which may go on
            if last or (held and cases[-1] != case):
                yield self._part([*held, batch[:last]])
                held = []
            held, case = [*held, batch[last:]], cases[-1]
        yield self._part(held)

    def _part(self, batches: Sequence[pa.RecordBatch]) -> Coded:
        """Rows of whole cases, in order."""
        table = pa.Table.from_batches(batches)
        column = {name: numpy_of(table.column(name)) for name in table.column_names if name != "c"}
        first = column["f"]
        return Coded(
            np.cumsum(np.diff(first, prepend=first[:1]) != 0),
            table.column("c").drop_null().to_pylist(),
            column["code"],
            [column[f"k{at}"] for at in range(self._n_keys)],
            self._kinds,
            {name: column[f"v{at}"] for at, name in enumerate(self._assembly.texts)},
        )
