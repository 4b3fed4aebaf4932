"""``scan_events``: files of any size as events on memory maps; DuckDB groups, sorts and spills."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import SettingError, StoreError, TooLargeError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.draws import sequence_keys
from summarkov.events.mapped import map_events
from summarkov.read.addresses import plain_name
from summarkov.read.encoding import arrow_of, numpy_of, text_array
from summarkov.read.files import Format
from summarkov.read.finding import find_files, stream_format
from summarkov.read.lines import line_source, with_told_ends
from summarkov.read.ordering import count_falls, run_starts
from summarkov.read.parts import Assembly, Part
from summarkov.read.rows import Coded
from summarkov.read.tables import file_source
from summarkov.read.ticks import warn_of_ties
from summarkov.read.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter
from summarkov.typing import HashArray

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
    given = [path] if isinstance(path, str | os.PathLike) else path
    listed = isinstance(given, list | tuple) and bool(given)
    if not listed or not all(isinstance(one, str | os.PathLike) for one in given):
        raise SettingError(
            "path must be that of a file or a folder, a pattern such as 'log/*.parquet', or a list of these, "
            f"not {type(path).__name__}; events in memory are learned from as they are"
        )
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    kind = stream_format(given, format)
    paths, repeated = find_files(given, kind)
    if repeated:
        shown = ", ".join(repeated[:3]) + (", ..." if len(repeated) > 3 else "")
        told = f"files that are there by several names, by links, are read once; left out: {shown}"
        warnings.warn(told, stacklevel=2)
    name = plain_name(paths[0]) if len(paths) == 1 else FILES
    if kind == "jsonl":
        wanted = with_told_ends(paths[0], wanted)
        source = line_source(paths, name, kind, wanted, told=True, whole=False)
    else:
        source = file_source(paths, name, kind, wanted, whole=False)
    assembly, tell = Assembly(source, wanted), reporter(progress)
    folder = TemporaryFolder(scratch)
    try:
        with naming_the_disk(folder.path.parent), _Rows(folder.path, assembly) as rows:
            for block in source.blocks:
                rows.add(assembly.coding.code(block))
                tell(block.done, source.n_bytes, "reading")
            assembly.left_out.refuse_all(assembly.wanted, rows.n_rows, paths[0])
            if not rows.are_in_order():
                rows.sort(memory, n_jobs)
            events = _mapped(assembly, rows, folder, tell, keep_names=names)
        warn_of_ties(events.tied_order, events.n_events, events.origin, wanted, name)
        return events
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

    def chunks() -> Iterator[EventSequences]:
        for chunk in assembly.chunks(rows.parts):
            keys.append(sequence_keys(chunk.ids))
            ids.extend(chunk.ids if keep_names else ())
            yield chunk
            tell(assembly.n_events, rows.n_rows, "grouping")

    def about() -> dict[str, Any]:
        kept = tuple(ids) if keep_names else None
        tied = assembly.ties.n
        return {"ids": kept, "keys": np.concatenate(keys), "tied_order": tied, "origin": assembly.origin()}

    return map_events(chunks(), folder, about)


class _Piece(NamedTuple):
    """Some rows in order, by column: codes, keys, values, which ``begin`` a case, and which have its name.

    That is any one row of the case; ``names`` are those of the rows that have one (``named``).
    """

    columns: dict[str, npt.NDArray[Any]]
    names: list[str]


class _Rows:
    """Rows of codes in a file, put in order by DuckDB unless they are: those of a case together, and sorted.

    Each block in the file is an Arrow stream of its own, with the names of cases as a dictionary.
    """

    def __init__(self, folder: Path, assembly: Assembly) -> None:
        self._folder, self._assembly = folder, assembly
        self._path = folder / "rows"
        self._file = pa.OSFile(os.fsencode(self._path), "wb")
        self._blocks: list[Coded] = []  # without what is large
        self._hashes: list[HashArray] = []  # of the names of cases, each time that one begins
        self._last: tuple[Any, ...] = ()  # the last name and keys
        self._rises = True
        self._sorted: _Sorted | None = None
        self.n_rows = 0

    def __enter__(self) -> _Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._sorted is not None:
            self._sorted.close()
        self._path.unlink(missing_ok=True)

    def add(self, coded: Coded) -> None:
        """Take some more rows."""
        by_place = coded.n_sequences is not None
        if not by_place:
            if not len(coded.case):
                return
            self._look(coded)
        columns: dict[str, pa.Array] = {"c": arrow_of(coded.case.astype(np.int32))}
        if coded.names is not None:
            names = text_array(coded.names)
            columns["c"] = pa.DictionaryArray.from_arrays(columns["c"], names)
        columns["code"] = arrow_of(coded.codes)
        columns |= {f"k{at}": arrow_of(key) for at, key in enumerate(coded.keys)}
        if not by_place:
            columns |= {f"v{at}": arrow_of(each) for at, each in enumerate(coded.values.values())}
        elif coded.starts is not None:
            columns["start"] = arrow_of(coded.starts.view(np.int8))
        table = pa.table(columns)
        with pa.ipc.new_stream(self._file, table.schema) as writer:
            writer.write_table(table)
        nothing = np.empty(0, np.int32)
        values = coded.values if by_place else {}
        names = None if len(coded.case) else coded.names
        self._blocks.append(replace(coded, case=nothing, names=names, codes=nothing, keys=[], values=values))
        self.n_rows += len(coded.case)

    def _look(self, coded: Coded) -> None:
        """Whether rows are in order, as far as a block and the end of the one before tell."""
        if not self._rises:
            return
        names, starts = coded.names or [], run_starts(coded.case)
        first, last = ((names[coded.case[at]], *(key[at].item() for key in coded.keys)) for at in (0, -1))
        goes_on = bool(self._last) and first[0] == self._last[0]
        same_kinds = not self._blocks or self._blocks[-1].kinds == coded.kinds
        falls = bool(coded.keys) and count_falls(coded.keys, starts) > 0
        self._rises = same_kinds and not falls and not (goes_on and first < self._last)
        used, which = np.unique(coded.case[starts], return_inverse=True)
        self._hashes.append(sequence_keys(names[code] for code in used.tolist())[which][int(goes_on) :])
        self._last = last

    def are_in_order(self) -> bool:
        """Whether all rows are in order. (Two names with one hash only look as if a case came again.)"""
        self._file.close()
        hashes = np.concatenate([np.empty(0, np.uint64), *self._hashes])
        return self._rises and len(np.unique(hashes)) == len(hashes)

    def sort(self, memory: int, n_jobs: int | None) -> None:
        """Let DuckDB put rows in order."""
        self._sorted = _Sorted(self._folder / "spill", memory, n_jobs, len(self._assembly.coding.order))
        self._sorted.fill(self._tables())

    def _tables(self) -> Iterator[pa.Table]:
        """The blocks, as they were added, with keys of one type."""
        with pa.OSFile(os.fsencode(self._path)) as file:
            for block in self._blocks:
                table = pa.ipc.open_stream(file).read_all()
                for at, (one, kind) in enumerate(zip(self._assembly.coding.order, block.kinds, strict=True)):
                    keys = one.settled(numpy_of(table.column(f"k{at}")), kind)
                    table = table.set_column(table.column_names.index(f"k{at}"), f"k{at}", arrow_of(keys))
                yield table

    def parts(self) -> Iterator[Part]:
        """All events, some whole sequences at a time."""
        if self._assembly.source.by_place and self._blocks:
            yield from self._lists()
            return
        held = list[_Piece]()
        for piece in self._pieces() if self._sorted is None else self._sorted.pieces():
            begins = np.flatnonzero(piece.columns["begin"])
            if len(begins) and (held or begins[-1] > 0):
                before, after = (
                    {name: each[some] for name, each in piece.columns.items()}
                    for some in (slice(0, begins[-1]), slice(begins[-1], None))
                )
                n = int(before["named"].sum())
                yield self._part([*held, _Piece(before, piece.names[:n])])
                held, piece = [], _Piece(after, piece.names[n:])
            held.append(piece)
        yield self._part(held)

    def _part(self, pieces: Sequence[_Piece]) -> Part:
        coding = self._assembly.coding

        def joined(name: str, kind: Any = np.int64) -> npt.NDArray[Any]:
            return np.concatenate([piece.columns[name] for piece in pieces] or [np.empty(0, kind)])

        begins = joined("begin", bool)
        return Part(
            coding.labels.settled()[1][joined("code")],
            np.append(np.flatnonzero(begins), len(begins)),
            [name for piece in pieces for name in piece.names],
            [joined(f"k{at}") for at in range(len(coding.order))],
            {name: joined(f"v{at}") for at, name in enumerate(coding.values)},
        )

    def _pieces(self) -> Iterator[_Piece]:
        """The blocks, which are in order."""
        last = None
        for table in self._tables():
            column = table.column("c").combine_chunks()
            case: Any = np.from_dlpack(column.indices)
            starts = run_starts(case)
            names = column.dictionary.take(arrow_of(case[starts])).to_pylist()
            begins = np.zeros(len(case), bool)
            begins[starts] = True
            if names[0] == last:
                begins[0], names = False, names[1:]
            last = names[-1] if names else last
            columns = {name: numpy_of(table.column(name)) for name in table.column_names if name != "c"}
            yield _Piece({**columns, "begin": begins, "named": begins}, names)

    def _lists(self) -> Iterator[Part]:
        n = 0
        for table, block in zip(self._tables(), self._blocks, strict=True):
            column, n = table.column("c").combine_chunks(), n + (block.n_sequences or 0)
            if block.names is not None:
                names, column = block.names, arrow_of(block.case)
            elif pa.types.is_dictionary(column.type):
                names, column = column.dictionary.to_pylist(), column.indices
            else:
                names = [str(at) for at in range(n - (block.n_sequences or 0), n)]
            starts = None if block.starts is None else numpy_of(table.column("start")).view(bool)
            keys = [numpy_of(table.column(f"k{at}")) for at in range(len(block.kinds))]
            kinds = [one.kind for one in self._assembly.coding.order]
            codes = numpy_of(table.column("code"))
            yield self._assembly.part(
                replace(
                    block,
                    case=np.from_dlpack(column).astype(np.int64, copy=False),
                    names=names,
                    codes=codes,
                    keys=keys,
                    kinds=kinds,
                    starts=starts,
                )
            )


class _Sorted:
    """Rows in DuckDB, which groups them by case, sorts them, and writes to a folder what does not fit.

    Whatever takes long runs in a thread, for DuckDB does not listen to Ctrl-C while it sorts.
    """

    def __init__(self, folder: Path, memory: int, n_jobs: int | None, n_keys: int) -> None:
        import duckdb

        try:
            os.fspath(folder).encode()
        except UnicodeEncodeError:
            raise SettingError(
                f"DuckDB cannot write to {os.fspath(folder.parent.parent)!r}, whose name is not UTF-8; "
                "choose another folder for temporary files (scratch=, or TMPDIR)"
            ) from None
        self._errors, self._memory, self._n_keys = duckdb, memory, n_keys
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

    def close(self) -> None:
        """Forget all rows."""
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

    def fill(self, tables: Iterable[pa.Table]) -> None:
        """Take the rows, numbered."""
        n = 0
        for table in tables:
            numbered = table.append_column("r", arrow_of(np.arange(n, n + table.num_rows)))
            self._db.register("new_rows", numbered)
            into = "INSERT INTO rows" if n else "CREATE TABLE rows AS"
            self._run(self._db.execute, f"{into} SELECT * FROM new_rows")
            n += table.num_rows
        self._db.unregister("new_rows")

    def pieces(self) -> Iterator[_Piece]:
        """All rows, sorted by the first row of their case, by the keys, and by row."""
        keys = "".join(f"k{at}, " for at in range(self._n_keys))
        found = self._db.sql(
            "SELECT * EXCLUDE (c), CASE WHEN r = f THEN c END AS c FROM rows JOIN "
            f"(SELECT c, min(r) AS f FROM rows GROUP BY c) USING (c) ORDER BY f, {keys} r"
        )  # f is the first row of the case, and only that has the name of the case
        make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        reader, last = self._run(make, _ROWS), -1
        while (batch := self._run(next, reader, None)) is not None:
            table = pa.Table.from_batches([batch])
            columns = {name: numpy_of(table.column(name)) for name in table.column_names if name != "c"}
            first = columns.pop("f")
            columns["named"] = columns.pop("r") == first
            columns["begin"], last = first != np.append(last, first[:-1]), int(first[-1])
            yield _Piece(columns, table.column("c").drop_null().to_pylist())
