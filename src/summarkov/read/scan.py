"""``scan_events``: files of any size as events on memory maps; DuckDB groups, sorts and spills."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from summarkov.arrow import arrow_of, numpy_of, pa, text_array
from summarkov.errors import SettingError, StoreError, TooLargeError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.draws import sequence_keys
from summarkov.events.sequences import map_events
from summarkov.read.columns import Reading, Wanted
from summarkov.read.files import Format, find_files, plain_name, size_of
from summarkov.read.lines import line_source
from summarkov.read.ordering import count_falls, run_starts
from summarkov.read.rows import Assembly, Coded, Part
from summarkov.read.tables import file_source
from summarkov.settings import is_whole, reporter
from summarkov.typing import Array, HashArray

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
    given = [path] if isinstance(path, str | os.PathLike) else path
    listed = isinstance(given, list | tuple) and bool(given)
    if not listed or not all(isinstance(one, str | os.PathLike) for one in given):
        raise SettingError(
            "path must be that of a file or a folder, a pattern such as 'log/*.parquet', or a list of these, "
            f"not {type(path).__name__}; events in memory are learned from as they are"
        )
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    kind, paths = find_files(given, format)
    name = plain_name(paths[0]) if len(paths) == 1 else FILES
    if kind == "jsonl":
        source = line_source(paths, name, kind, wanted, told=True)
    else:
        source = file_source(paths, name, kind, wanted)
    assembly, tell = Assembly(source), reporter(progress)
    sizes = dict(zip(paths, accumulate(map(size_of, paths)), strict=True))
    folder = TemporaryFolder(scratch)
    try:
        with naming_the_disk(folder.path.parent), _Rows(folder.path, assembly) as rows:
            for block in source.blocks:
                rows.add(assembly.code(block))
                tell(sizes[block.path], sizes[paths[-1]], "reading")
            assembly.left_out.refuse_all(assembly.wanted, rows.n_rows, paths[0])
            if not rows.are_in_order():
                rows.sort(memory, n_jobs)
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
    """Rows of codes in a file of ours, put in order by DuckDB unless they are."""

    def __init__(self, folder: Path, assembly: Assembly) -> None:
        self._folder, self._assembly = folder, assembly
        self._file = open(folder / "rows", "wb+")  # noqa: SIM115  # closed with this
        self._hashes: list[HashArray] = [np.empty(0, np.uint64)]  # of names, each time that a case begins
        self._last: tuple[Any, ...] = ()  # the last name and keys, and their types
        self._rises = True
        self._sorted: _Sorted | None = None
        #: The fields of each block, in which the file has arrays and names.
        self._blocks: list[tuple[type, dict[str, Any]]] = []
        self.n_rows = 0

    def __enter__(self) -> _Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._sorted is not None:
            self._sorted.close()
        (self._folder / "rows").unlink(missing_ok=True)

    def add(self, coded: Coded | Part) -> None:
        """Take some more rows."""
        if isinstance(coded, Coded):
            if not len(coded.case):
                return
            self._look(coded)
        self._blocks.append((type(coded), {name: self._save(value) for name, value in vars(coded).items()}))
        self.n_rows += len(coded.codes)

    def _look(self, coded: Coded) -> None:
        """Whether rows are in order, as far as a block and the end of the one before tell."""
        if not self._rises:
            return
        names, starts, kinds = coded.names, run_starts(coded.case), tuple(coded.kinds)
        first, last = ((names[coded.case[at]], *(key[at].item() for key in coded.keys)) for at in (0, -1))
        goes_on = bool(self._last) and first[0] == self._last[0][0]
        same_kinds = not self._last or self._last[1] == kinds
        falls = bool(coded.keys) and count_falls(coded.keys, starts) > 0
        self._rises = same_kinds and not falls and not (goes_on and first < self._last[0])
        used, which = np.unique(coded.case[starts], return_inverse=True)
        self._hashes.append(sequence_keys(names[code] for code in used.tolist())[which][int(goes_on) :])
        self._last = last, kinds

    def are_in_order(self) -> bool:
        """Whether all rows are in order. (Two names with one hash only look as if a case came again.)"""
        hashes = np.concatenate(self._hashes)
        return self._rises and len(np.unique(hashes)) == len(hashes)

    def sort(self, memory: int, n_jobs: int | None) -> None:
        """Let DuckDB put rows in order."""
        self._sorted = _Sorted(self._folder / "spill", memory, n_jobs, self._assembly)
        self._sorted.fill(self._read())

    def _read(self) -> Iterator[Any]:
        """The blocks, as they were added, with keys of one type."""
        self._file.seek(0)
        for kind, fields in self._blocks:
            yield self._assembly.settled(kind(**{name: self._load(value) for name, value in fields.items()}))

    def _save(self, value: Any) -> Any:
        """What to keep of a field: instead of arrays and names, which go into the file, their types."""
        if isinstance(value, np.ndarray):
            np.save(self._file, value, allow_pickle=False)
            return np.ndarray
        if isinstance(value, Mapping):
            return {name: self._save(each) for name, each in value.items()}
        if isinstance(value, list | tuple) and value and isinstance(value[0], str):
            self._save(np.frombuffer(msgspec.msgpack.encode(value), np.uint8))
            return str
        return [self._save(each) for each in value] if isinstance(value, list) else value

    def _load(self, kept: Any) -> Any:
        """The field of which this was kept."""
        if kept is np.ndarray or kept is str:
            array = np.load(self._file, allow_pickle=False)
            return array if kept is np.ndarray else msgspec.msgpack.decode(array)
        if isinstance(kept, dict):
            return {name: self._load(each) for name, each in kept.items()}
        return [self._load(each) for each in kept] if isinstance(kept, list) else kept

    def parts(self) -> Iterator[Part]:
        """All events, some whole sequences at a time."""
        if self._assembly.source.is_lines:
            yield from self._read()
            return
        held, names = list[Coded](), list[str]()
        plain = ((coded, list[str]()) for coded in self._read())
        for coded, more in plain if self._sorted is None else self._sorted.rows():
            names += more
            last = int(run_starts(coded.case)[-1])
            if last or (held and _last_case(held[-1]) != _last_case(coded)):
                part = self._part([*held, _cut(coded, slice(last))], names)
                yield part
                held, names = [], names[len(part.ids) :]
            held.append(_cut(coded, slice(last, None)))
        yield self._part(held, names)

    def _part(self, held: Sequence[Coded], names: Sequence[str]) -> Part:
        """Rows of whole cases; ``names`` begin with theirs where rows come from the sort."""
        part = self._assembly.part(self._assembly.together(held))
        return replace(part, ids=names[: len(part.ids)]) if names else part


def _last_case(coded: Coded) -> str:
    return str(coded.names[coded.case[-1]])


def _cut(coded: Coded, some: slice) -> Coded:
    """Some of the rows."""
    keys, values = [key[some] for key in coded.keys], {name: v[some] for name, v in coded.values.items()}
    return replace(coded, case=coded.case[some], codes=coded.codes[some], keys=keys, values=values)


def _columns(coded: Coded) -> dict[str, Array]:
    """The codes, keys and values of rows."""
    keys = {f"k{at}": key for at, key in enumerate(coded.keys)}
    return {"code": coded.codes, **keys, **{f"v{at}": each for at, each in enumerate(coded.values.values())}}


class _Sorted:
    """Rows in DuckDB, which groups them by case, sorts them, and writes to a folder what does not fit.

    Whatever takes long runs in a thread, for DuckDB does not listen to Ctrl-C while it sorts.
    """

    def __init__(self, folder: Path, memory: int, n_jobs: int | None, assembly: Assembly) -> None:
        import duckdb

        try:
            os.fspath(folder).encode()
        except UnicodeEncodeError:
            raise SettingError(
                f"DuckDB cannot write to {os.fspath(folder.parent.parent)!r}, whose name is not UTF-8; "
                "choose another folder for temporary files (scratch=, or TMPDIR)"
            ) from None
        self._errors, self._memory = duckdb, memory
        self._kinds, self._values = assembly.kinds, [*assembly.texts]
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

    def fill(self, blocks: Iterable[Coded]) -> None:
        """Take the rows, numbered."""
        n = 0
        for coded in blocks:
            case = pa.DictionaryArray.from_arrays(arrow_of(coded.case), text_array(map(str, coded.names)))
            columns = {name: arrow_of(each) for name, each in _columns(coded).items()}
            rows = pa.table({"c": case, "r": arrow_of(np.arange(n, n + len(case))), **columns})
            self._db.register("new_rows", rows)
            into = "INSERT INTO rows BY NAME" if n else "CREATE TABLE rows AS"
            self._run(self._db.execute, f"{into} SELECT * FROM new_rows")
            n += len(case)
        self._db.unregister("new_rows")

    def rows(self) -> Iterator[tuple[Coded, list[str]]]:
        """All rows, sorted by the first row of their case, by the keys, and by row; and names of cases.

        A case is known by the number of its first row, and only that has its name.
        """
        order = ", ".join(["f", *(f"k{at}" for at in range(len(self._kinds))), "r"])
        found = self._db.sql(
            "SELECT * EXCLUDE (c), CASE WHEN r = f THEN c END AS c FROM rows JOIN "
            f"(SELECT c, min(r) AS f FROM rows GROUP BY c) USING (c) ORDER BY {order}"
        )
        make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        reader = self._run(make, _ROWS)
        while (batch := self._run(next, reader, None)) is not None:
            table = pa.Table.from_batches([batch])
            columns = {name: numpy_of(table.column(name)) for name in table.column_names if name != "c"}
            cases, case = np.unique(columns["f"], return_inverse=True)
            keys = [columns[f"k{at}"] for at in range(len(self._kinds))]
            values = {name: columns[f"v{at}"] for at, name in enumerate(self._values)}
            coded = Coded(case, [*map(str, cases.tolist())], columns["code"], keys, self._kinds, values)
            yield coded, table.column("c").drop_null().to_pylist()
