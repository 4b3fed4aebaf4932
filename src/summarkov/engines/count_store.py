"""Data that grow by the day: named parts as Parquet files, listed in a small database beside them."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import quote

import numpy as np

from summarkov.arrow import pa, parquet
from summarkov.errors import DataError, SettingError, StoreError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.moments import Moments, TimeUnit, join_moments
from summarkov.events.prepare import RARE
from summarkov.events.vocabulary import iterate, label_text, refuse_unknown_labels, vocabulary_of
from summarkov.read import read_events

NewLabels = Literal["add", "refuse", "pool"]

#: The database, the journal that SQLite keeps beside it, and what files of parts are called.
_MANIFEST, _JOURNAL, _FILE = "store.sqlite", "store.sqlite-journal", re.compile(r"part-[0-9a-f]{32}\.parquet")
#: Seconds to wait for another process that changes the store.
_WAIT = 600
#: ``about`` has the labels of a part, its unit of time, and how much is in it.
_TABLES = (
    "CREATE TABLE settings (version INTEGER, labels TEXT, new_labels TEXT)",
    "CREATE TABLE parts (number INTEGER PRIMARY KEY, name TEXT UNIQUE, file TEXT UNIQUE, about TEXT)",
    "CREATE TABLE waiting (name TEXT PRIMARY KEY, labels TEXT)",
)


class _Part(NamedTuple):
    """A part as the database has it."""

    name: str
    file: str
    about: dict[str, Any]


class _Listed(NamedTuple):
    """All that the database says."""

    labels: list[str] | None
    new_labels: NewLabels
    parts: list[_Part]
    waiting: dict[str, list[str]]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The labels of all parts together."""
        found = {label for part in self.parts for label in part.about["labels"]}
        fixed = {*(self.labels or ()), *([RARE] if self.new_labels == "pool" else [])}
        return tuple(sorted(fixed | found if self.new_labels == "add" else fixed))


class CountStore:
    """Events in named parts, such as days, in a folder. ``fit`` takes a store as it takes events.

    A model or a graph that is fitted to a store is that of all parts together. Every part is a Parquet file
    with one row per sequence; a SQLite database lists the parts. Several processes may add parts at the same
    time. A process that is killed loses at most the part that it was adding. The original files are not
    needed any more.

    Parameters
    ----------
    folder : path
        Where the store is; it is made if there is none.
    labels : labels, optional
        The vocabulary of a new store. By default the labels that its parts have.
    new_labels : {"add", "refuse", "pool"}
        What a new store does with a label that is not among ``labels``, or not in its first part: it joins
        the vocabulary; it is an error; or its events count as ``"(rare)"``.

    Examples
    --------
    >>> import tempfile, summarkov as sm
    >>> days = {"monday": [["A", "B", "C"] * 4] * 5, "tuesday": [["C", "A", "B"] * 4] * 5}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = sm.CountStore(folder)
    ...     for name, events in days.items():
    ...         store.add(name, events)
    ...     store.names, sm.BSuMM("B", lookback=1).fit(store).influencers_
    (('monday', 'tuesday'), ('A',))
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        labels: Iterable[object] | None = None,
        new_labels: NewLabels = "add",
    ) -> None:
        if new_labels not in get_args(NewLabels):
            raise SettingError(f'new_labels must be "add", "refuse" or "pool", not {new_labels!r}')
        self.folder = Path(folder)
        if (self.folder / "store.json").exists():
            raise StoreError(
                f"{self.folder} was written by an earlier version of summarkov; name a new folder, and add "
                "every part to it from the files that it was made of"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / _MANIFEST).exists():
            ours = (_MANIFEST, _JOURNAL)  # of another process, perhaps
            if any(name not in ours and not _FILE.fullmatch(name) for name in os.listdir(self.folder)):
                raise StoreError(
                    f"{self.folder} holds something else; name a folder that is empty or not there"
                )
            (self.folder / _MANIFEST).touch()
        with self._opened() as database:
            made = bool(database.execute("SELECT * FROM sqlite_master").fetchall())
        if not made:  # also by a process that was killed
            said = None if labels is None else json.dumps(list(vocabulary_of(labels)))
            with self._changing() as database:
                if not database.execute("SELECT * FROM sqlite_master").fetchall():  # nobody else has
                    for statement in _TABLES:
                        database.execute(statement)
                    database.execute("INSERT INTO settings VALUES (1, ?, ?)", (said, new_labels))
        self._list()

    def __repr__(self) -> str:
        return f"CountStore({str(self.folder)!r}, {len(self.names)} parts)"

    # ------------------------------------------------------------------ the database

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database; to undo what a process that was killed has left half done, readers may write."""
        for name in (_MANIFEST, _JOURNAL):
            if (self.folder / name).is_symlink():
                raise StoreError(f"{self.folder / name} is a link, which a store does not follow; remove it")
        address = f"file:{quote(str((self.folder / _MANIFEST).absolute()))}?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=_WAIT, isolation_level=None)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                yield database
        except sqlite3.Error as problem:
            helps = "make the store anew"
            if isinstance(problem, sqlite3.OperationalError) and "no such table" not in str(problem):
                helps = "try again when nobody else changes it, and where you may write"
            raise StoreError(f"{self.folder} cannot be used ({problem}); {helps}") from problem

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """The database, while nobody else changes the store; an error leaves everything as it was."""
        with naming_the_disk(self.folder), self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")

    def _list(self, database: sqlite3.Connection | None = None) -> _Listed:
        """Read what there is; refused unless a store could have written it."""
        if database is None:
            with self._opened() as opened:
                return self._list(opened)
        try:
            ((version, labels, new_labels),) = database.execute("SELECT * FROM settings").fetchall()
            rows = database.execute("SELECT name, file, about FROM parts ORDER BY number").fetchall()
            parts = [_Part(str(name), str(file), json.loads(about)) for name, file, about in rows]
            waiting = database.execute("SELECT name, labels FROM waiting ORDER BY rowid").fetchall()
            wrong = [part.file for part in parts if not _FILE.fullmatch(part.file)]
            if version != 1 or new_labels not in get_args(NewLabels) or wrong:
                raise ValueError(f"not what a store says of itself: {(version, new_labels, *wrong)!r:.80}")
            _ = [part.about[x] for part in parts for x in ("labels", "unit", "n_sequences", "n_events")]
            fixed = None if labels is None else json.loads(labels)
            return _Listed(fixed, new_labels, parts, {str(name): json.loads(each) for name, each in waiting})
        except (ValueError, TypeError, KeyError) as problem:
            raise StoreError(f"{self.folder} is damaged ({problem}); make the store anew") from problem

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which they were added."""
        return tuple(part.name for part in self._list().parts)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of sequences that have not ended, and are counted in a later part."""
        return tuple(self._list().waiting)

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary in sorted order."""
        return self._list().vocabulary

    @property
    def n_sequences(self) -> int:
        """The number of sequences of all parts."""
        return sum(int(part.about["n_sequences"]) for part in self._list().parts)

    @property
    def n_events(self) -> int:
        """The number of events of all parts."""
        return sum(int(part.about["n_events"]) for part in self._list().parts)

    # ------------------------------------------------------------------ read

    def to_events(self, names: Iterable[str] | None = None) -> EventSequences:
        """The events of all parts, or of some, in the vocabulary of all."""
        chosen = None if names is None else list(names)
        while True:
            listed = self._list()
            for name in chosen or ():
                self._part(name, listed)
            asked = [part for part in listed.parts if chosen is None or part.name in chosen]
            try:
                return _joined([self._read(part) for part in asked], listed)
            except FileNotFoundError as problem:
                if self._list().parts == listed.parts:  # else somebody has just removed a part
                    raise StoreError(
                        f"{self.folder} is damaged ({problem}); make the store anew"
                    ) from problem

    def _read(self, part: _Part) -> EventSequences:
        """A part, unless it is a link, a pipe or a device."""
        path, flags = self.folder / part.file, getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
                if path.is_symlink() or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise OSError(f"{path.name} is no plain file")
                return _events_of(parquet.read_table(pa.PythonFile(file), use_threads=False))
        except FileNotFoundError:
            raise
        except (pa.ArrowException, DataError, OSError, ValueError, KeyError, TypeError) as problem:
            raise StoreError(
                f"{path} is damaged ({problem}); forget part {part.name!r}, and add it anew from its files"
            ) from problem

    def _part(self, name: str, listed: _Listed) -> _Part:
        for part in listed.parts:
            if part.name == name:
                return part
        known = ", ".join(part.name for part in listed.parts)
        raise SettingError(f"{self.folder} has no part {name!r}; it has {known or 'none'}")

    # ------------------------------------------------------------------ change

    def add(self, name: str, events: Any, *, open: Iterable[object] = ()) -> None:
        """Add a part; one of a name that is there already is refused.

        Parameters
        ----------
        name : str
            Such as ``"2024-05-17"``.
        events
            Whatever :func:`read_events` takes. Its sequences may have weights (``weight=``).
        open : names, optional
            The sequences that go on after this part. They are not counted yet, but wait, and what comes
            of the same name in a later part is joined to them. All others have ended, also those that waited.
            Without this, a case that is cut at midnight is two sequences, and the first events of the second
            have no past.
        """
        if not isinstance(name, str) or not name:
            raise SettingError(f"a part needs a name, such as '2024-05-17', not {name!r}")
        held, going_on = read_events(events), [label_text(each) for each in iterate(open)]
        held.refuse_unknown()
        if held.attributes is not None:
            raise SettingError(
                "attributes are named from all of the data at once; read parts without attributes=, or learn "
                "with read_events, scan_events or scan_spark"
            )
        with self._changing() as database:
            listed = self._list(database)
            ended, waiting = _with_waiting(held, listed.waiting, going_on)
            self._insert(database, listed, [(name, ended)])
            database.execute("DELETE FROM waiting")
            each = [(case, json.dumps(labels)) for case, labels in waiting.items()]
            database.executemany("INSERT INTO waiting VALUES (?, ?)", each)

    def _insert(
        self, database: sqlite3.Connection, listed: _Listed, new: Sequence[tuple[str, EventSequences]]
    ) -> None:
        """Write parts, then list them; and remove what a process that ended has left."""
        parts = [_Part(name, f"part-{uuid.uuid4().hex}.parquet", _about(events)) for name, events in new]
        for name, events in new:
            if name in {each.name for each in listed.parts}:
                raise SettingError(f"there is a part {name!r} already; forget it first to replace it")
            if listed.new_labels == "refuse" and listed.labels is not None:
                refuse_unknown_labels(events.labels, events.label_counts, listed.labels)
        if len({tuple(part.about["unit"] or ()) for part in (*listed.parts, *parts)}) > 1:
            raise SettingError(
                f"some parts of {self.folder} have times and others have none, or times of another type; "
                "read all parts alike"
            )
        known = {part.file for part in listed.parts}
        for left in (file for file in os.listdir(self.folder) if _FILE.fullmatch(file) and file not in known):
            (self.folder / left).unlink(missing_ok=True)
        try:
            for part, (_, events) in zip(parts, new, strict=True):
                _write(self.folder / part.file, events)
                row = (part.name, part.file, json.dumps(part.about))
                database.execute("INSERT INTO parts (name, file, about) VALUES (?, ?, ?)", row)
            if listed.labels is None and listed.new_labels != "add" and not listed.parts:
                fixed = sorted({label for part in parts for label in part.about["labels"]})
                database.execute("UPDATE settings SET labels = ?", (json.dumps(fixed),))
        except BaseException:
            for part in parts:
                with suppress(OSError):
                    (self.folder / part.file).unlink(missing_ok=True)
            raise

    def forget(self, name: str) -> None:
        """Remove a part."""
        with self._changing() as database:
            gone = self._part(name, self._list(database))
            database.execute("DELETE FROM parts WHERE name = ?", (name,))
        (self.folder / gone.file).unlink(missing_ok=True)

    def merge(self, other: CountStore) -> None:
        """Add all parts of another store; what its files link to is not followed."""
        theirs = other._list()
        if theirs.waiting:
            case = next(iter(theirs.waiting))
            raise SettingError(f"{case!r} has not ended in the other store; end it there first")
        twice = sorted({part.name for part in theirs.parts} & set(self.names))
        if twice:
            raise SettingError(f"both stores have a part {twice[0]!r}; forget it in one of them")
        parts = [(part.name, other._read(part)) for part in theirs.parts]
        with self._changing() as database:
            self._insert(database, self._list(database), parts)


# ---------------------------------------------------------------------- parts


def _write(path: Path, events: EventSequences) -> None:
    """Write a part, and make sure that it is on the disk."""
    try:
        table = _table_of(events)
    except UnicodeEncodeError as problem:
        half = problem.object[problem.start : problem.end]
        raise DataError(
            f"a label or the name of a sequence holds {half!r}, half of a character, which no Parquet file "
            "can hold; mend the data"
        ) from problem
    with open(path, "xb") as file:
        parquet.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    if hasattr(os, "O_DIRECTORY"):  # the name of the file, too
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _about(events: EventSequences) -> dict[str, Any]:
    """What the database says of a part."""
    unit = None if events.time_unit is None else [*events.time_unit]
    sizes = {"n_sequences": len(events), "n_events": events.n_events}
    return {"labels": [*events.labels], "unit": unit, **sizes}


def _table_of(events: EventSequences) -> pa.Table:
    """One row per sequence; ``starts`` says which events begin a tick."""
    moments, offsets = events.moments, pa.array(events.offsets)
    codes = pa.array(events.codes, mask=events.codes < 0)  # an empty tick has no label
    lists = {"events": pa.DictionaryArray.from_arrays(codes, pa.array(events.labels, pa.string()))}
    if moments is not None:
        lists["starts"] = pa.array(moments.starts)
    if moments is not None and moments.times is not None:
        lists["times"] = pa.array(moments.times)
    columns = {name: pa.LargeListArray.from_arrays(offsets, values) for name, values in lists.items()}
    columns |= {"id": pa.array(events.ids, pa.string()), "complete": pa.array(events.complete)}
    if events.weights is not None:
        columns["weight"] = pa.array(events.weights)
    about = {**_about(events), "tied_order": events.tied_order, "named": events._ids is not None}
    return pa.table(columns).replace_schema_metadata({"summarkov": json.dumps(about)})


def _events_of(table: pa.Table) -> EventSequences:
    about = json.loads(table.schema.metadata[b"summarkov"])
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    offsets = np.append(0, np.cumsum(np.asarray(columns["events"].value_lengths()), dtype=np.int64))
    labels, texts = pa.array(about["labels"], pa.string()), columns["events"].flatten().cast(pa.string())
    codes = np.asarray(pa.compute.index_in(texts, labels).fill_null(-1)).astype(np.int32)
    moments = None
    if "starts" in columns:
        times = np.asarray(columns["times"].flatten()) if about["unit"] else None
        unit = TimeUnit(*about["unit"]) if about["unit"] else TimeUnit(1, True)
        starts = np.asarray(columns["starts"].flatten())
        moments = Moments(starts, times, unit, has_empty=bool((codes < 0).any()))
    return EventSequences(
        codes,
        offsets,
        about["labels"],
        columns["id"].to_pylist() if about["named"] else None,
        moments=moments,
        weights=np.asarray(columns["weight"]) if "weight" in columns else None,
        ends=np.asarray(columns["complete"]),
        tied_order=int(about["tied_order"]),
    )


def _joined(parts: Sequence[EventSequences], listed: _Listed) -> EventSequences:
    """The sequences of several parts, one after the other."""
    labels, weights = listed.vocabulary, None
    if listed.new_labels == "pool":
        known = set(labels)
        parts = [part.map_labels(lambda label: label if label in known else RARE) for part in parts]
    parts = [part.recode(labels) for part in (*parts, EventSequences([], [0], []))]
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])
    return EventSequences(
        np.concatenate([part.codes for part in parts]),
        np.append(0, np.cumsum(np.concatenate([part.lengths for part in parts]))),
        labels,
        [name for part in parts for name in part.ids],
        moments=join_moments([(part.n_rows, part.moments) for part in parts]),
        weights=weights,
        ends=np.concatenate([part.complete for part in parts]),
        tied_order=sum(part.tied_order for part in parts),
    )


def _with_waiting(
    held: EventSequences, before: dict[str, list[str]], going_on: Sequence[str]
) -> tuple[EventSequences, dict[str, list[str]]]:
    """What ended in a part, with what waited for it; and what waits now."""
    if not before and not going_on:
        return held, {}
    if held.weights is not None:
        raise SettingError("a sequence with a weight cannot wait for a later part; add it when it is over")
    if held.moments is not None:
        raise SettingError(
            "only events one after the other, without times, can be joined to those of a later part; add "
            "such a sequence when it is over"
        )
    lists = dict(zip(held.ids, held.to_lists(), strict=True))
    if len(lists) < len(held):
        raise SettingError("two sequences have the same name; give each its own, so that they can go on")
    together = {name: before.get(name, []) + lists.get(name, []) for name in (*before, *lists)}
    for name in going_on:
        if name not in together:
            raise SettingError(f"open= names {name!r}, of which there are no events")
    waiting = {name: together.pop(name) for name in going_on}
    labels = sorted({label for each in together.values() for label in each} | set(held.labels))
    complete = dict(zip(held.ids, held.complete.tolist(), strict=True))
    ends = np.array([complete.get(name, True) for name in together], bool)
    ended = EventSequences.from_lists(together.values(), labels=labels, ids=list(together), ends=ends)
    return ended, waiting
