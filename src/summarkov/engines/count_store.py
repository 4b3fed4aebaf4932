"""Data that grow by the day: named parts in a small database."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from summarkov.errors import SettingError, StoreError, naming_the_disk
from summarkov.events import EventSequences
from summarkov.events.moments import Moments, TimeUnit
from summarkov.events.sequences import join_events

#: The database, and the journal that SQLite keeps beside it.
_FILE, _JOURNAL = "store.sqlite", "store.sqlite-journal"
#: Seconds to wait for another process that changes the store.
_WAIT = 600
#: Of a table such as this; labels and units are JSON.
_VERSION = 3
_TABLES = (
    "CREATE TABLE parts (number INTEGER PRIMARY KEY, name TEXT UNIQUE, labels TEXT, unit TEXT, events BLOB)",
    f"PRAGMA user_version = {_VERSION}",
)
#: Bytes of a part at most, when it is packed; SQLite takes no more.
_MOST = 10**9


class CountStore:
    """Events in named parts, such as days, in a folder. ``fit`` takes a store as it takes events.

    A model or a graph that is fitted to a store is that of all parts together. The folder holds one SQLite
    database. Several processes may add parts at the same time. A process that is killed loses at most the
    part that it was adding. The original files are not needed any more.

    Parameters
    ----------
    folder : path
        Where the store is; it is made if there is none.

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

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / _FILE).exists():
            if {*os.listdir(self.folder)} - {_FILE, _JOURNAL}:  # which another process may just have made
                raise StoreError(
                    f"{self.folder} holds something else, or was written by an earlier version of summarkov; "
                    "name a folder that is empty or not there, and add every part from its files"
                )
            (self.folder / _FILE).touch()
        if not self._version():  # also of a process that was killed
            with self._changing() as database:
                if not database.execute("SELECT * FROM sqlite_master").fetchall():  # nobody else has
                    for statement in _TABLES:
                        database.execute(statement)
        if self._version() != _VERSION:
            raise StoreError(
                f"{self.folder} was written by another version of summarkov; name a new folder, and add "
                "every part to it from the files that it was made of"
            )

    def __repr__(self) -> str:
        return f"CountStore({str(self.folder)!r}, {len(self.names)} parts)"

    # ------------------------------------------------------------------ the database

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database; to undo what a process that was killed has left half done, readers may write."""
        for name in (_FILE, _JOURNAL):
            if (self.folder / name).is_symlink():
                raise StoreError(f"{self.folder / name} is a link, which a store does not follow; remove it")
        address = f"file:{quote(str((self.folder / _FILE).absolute()))}?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=_WAIT, isolation_level=None)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                yield database
        except sqlite3.Error as problem:
            helps = "make the store anew"
            if isinstance(problem, sqlite3.OperationalError) and "no such" not in str(problem):
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

    def _version(self) -> int:
        with self._opened() as database:
            return int(database.execute("PRAGMA user_version").fetchone()[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which they were added."""
        with self._opened() as database:
            return tuple(name for (name,) in database.execute("SELECT name FROM parts ORDER BY number"))

    def to_events(self, names: Iterable[str] | None = None) -> EventSequences:
        """The events of all parts, or of some, in the vocabulary of all."""
        with self._opened() as database:
            database.execute("BEGIN")  # nobody removes a part in between
            all_labels = dict(database.execute("SELECT name, labels FROM parts ORDER BY number").fetchall())
            chosen, parts, labels = [*all_labels] if names is None else list(names), [], set[str]()
            for name in chosen:
                self._check_part(name, all_labels)
            for name, given in all_labels.items():
                try:
                    labels |= set(json.loads(given))
                    if name in chosen:
                        asked = "SELECT labels, unit, events FROM parts WHERE name = ?", (name,)
                        parts.append(_unpacked(*database.execute(*asked).fetchone()))
                except Exception as problem:  # whatever a damaged part makes NumPy or zlib say
                    raise StoreError(
                        f"part {name!r} of {self.folder} is damaged ({problem}); forget it, and add it anew "
                        "from its files"
                    ) from problem
        return join_events([*parts, EventSequences([], [0], sorted(labels))])

    def _check_part(self, name: str, known: Iterable[str]) -> None:
        if name not in known:
            raise SettingError(f"{self.folder} has no part {name!r}; it has {', '.join(known) or 'none'}")

    # ------------------------------------------------------------------ change

    def add(self, name: str, events: Any) -> None:
        """Add a part; one of a name that is there already is refused.

        Parameters
        ----------
        name : str
            Such as ``"2024-05-17"``.
        events
            Whatever :func:`read_events` takes. Its sequences may have weights (``weight=``). A sequence that
            goes on in a later part would be two, and the first events of the second have no past: add it
            when it is over.
        """
        from summarkov.read import read_events

        if not isinstance(name, str) or not name:
            raise SettingError(f"a part needs a name, such as '2024-05-17', not {name!r}")
        added = read_events(events)
        added.refuse_unknown()
        if added.attributes is not None:
            raise SettingError(
                "attributes are named from all of the data at once; read parts without attributes=, or learn "
                "with read_events, scan_events or scan_spark"
            )
        packed, unit = _packed(added), json.dumps(added.time_unit)
        if len(packed) > _MOST:
            raise SettingError(f"part {name!r} is too large for a store; add it in several parts")
        with self._changing() as database:
            if database.execute("SELECT name FROM parts WHERE name = ?", (name,)).fetchall():
                raise SettingError(f"there is a part {name!r} already; forget it first to replace it")
            if {each for (each,) in database.execute("SELECT unit FROM parts")} - {unit}:
                raise SettingError(
                    f"some parts of {self.folder} have times and others have none, or times of another type; "
                    "read all parts alike"
                )
            row = name, json.dumps(added.labels), unit, packed
            database.execute("INSERT INTO parts (name, labels, unit, events) VALUES (?, ?, ?, ?)", row)

    def forget(self, name: str) -> None:
        """Remove a part."""
        with self._changing() as database:
            self._check_part(name, [each for (each,) in database.execute("SELECT name FROM parts")])
            database.execute("DELETE FROM parts WHERE name = ?", (name,))


# ---------------------------------------------------------------------- parts


def _packed(events: EventSequences) -> bytes:
    """The arrays of a part, and beside them its names as JSON."""
    moments, file = events.moments, io.BytesIO()
    ids = None if events._ids is None else events.ids
    about = json.dumps({"ids": ids, "tied_order": events.tied_order}).encode()
    arrays: dict[str, Any] = {"codes": events.codes, "offsets": events.offsets, "complete": events.complete}
    arrays |= {"about": np.frombuffer(about, np.uint8), "weights": events.weights}
    if not moments.is_plain:
        arrays |= {"starts": moments.starts, "times": moments.times}
    np.savez_compressed(file, **{name: array for name, array in arrays.items() if array is not None})
    return file.getvalue()


def _unpacked(labels: str, unit: str, packed: bytes) -> EventSequences:
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        arrays = dict(file)
    about, moments = json.loads(arrays["about"].tobytes()), None
    if "starts" in arrays:
        kind, codes = json.loads(unit), arrays["codes"]
        measured = TimeUnit(1, True) if kind is None else TimeUnit(*kind)
        moments = Moments(arrays["starts"], arrays.get("times"), measured, has_empty=bool((codes < 0).any()))
    return EventSequences(
        arrays["codes"],
        arrays["offsets"],
        json.loads(labels),
        about["ids"],
        moments=moments,
        weights=arrays.get("weights"),
        ends=arrays["complete"],
        tied_order=int(about["tied_order"]),
    )
