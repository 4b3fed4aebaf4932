"""Counts that grow with the data: a folder of named parts, and what was counted in each."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from summarkov.engines.counts import Counts
from summarkov.engines.disk import MEMORY, read_part, write_part
from summarkov.engines.followings import FollowedWork
from summarkov.engines.memory import as_events, make_source
from summarkov.engines.messages import keep_answer, kept_answer, question_name
from summarkov.engines.parts import KnownPart, SeveralParts, among_others, refuse_more, refuse_unlike
from summarkov.engines.source import EventSource
from summarkov.engines.work import Answer, CountWork, Part, Work, threads
from summarkov.errors import DataError, SettingError, StoreError, place
from summarkov.events import EventSequences
from summarkov.events.prepare import RARE
from summarkov.events.vocabulary import iterate, label_text, refuse_unknown_labels, vocabulary_of
from summarkov.store import check_seal, checked, read_document, write_sealed
from summarkov.typing import BoolArray, HashArray

#: What a store calls itself, and the version of the files of one that has held weights; else it is 1.
_FORMAT, _WITH_WEIGHTS = "summarkov-count-store", 2
#: What the folders of parts are called.
_FOLDER = re.compile("part-[0-9a-f]{12}")

NewLabels = Literal["add", "refuse", "pool"]


class CountStore(SeveralParts):
    """Events in named parts, such as days, and all that was counted in them.

    A model or a graph that is fitted to a store is that of all parts together, to the last bit. What was
    counted for it stays with each part, so that after another day the search begins anew, goes through all
    rounds, and counts little but that day. Where it takes another way than before, older parts are counted
    again from their codes, 4 bytes per event. The original files are not needed any more.

    Parameters
    ----------
    folder : path
        Where the store is; it is made if there is none. One process at a time may change it.
    labels : labels, optional
        The vocabulary of a new store. By default the labels that its parts have.
    new_labels : {"add", "refuse", "pool"}
        What a new store does with a label that is not among ``labels``, or not in its first part: it joins
        the vocabulary, and all parts are counted anew when something is asked; it is an error; or its events
        count as ``"(rare)"``.
    memory, n_jobs
        As for :func:`scan_events`.

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
        memory: int = MEMORY,
        n_jobs: int | None = None,
    ) -> None:
        if new_labels not in get_args(NewLabels):
            raise SettingError(f'new_labels must be "add", "refuse" or "pool", not {new_labels!r}')
        self.folder, self.memory, self.n_jobs = Path(folder), memory, threads(n_jobs)
        if not (self.folder / "store.json").exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise StoreError(
                    f"{self.folder} holds something else; name a folder that is empty or not there"
                )
            known = None if labels is None else list(vocabulary_of(labels))
            said = {"version": 1, "labels": known, "new_labels": new_labels}
            self._write({**said, "parts": [], "waiting": {}})
        self._open()

    def _open(self) -> None:
        """Read what the store says of itself."""
        try:
            name, said = read_document(self.folder / "store.json")
            with place(name):
                self._says = _read(said)
            folders = [self.folder / part["folder"] for part in self._says["parts"]]
            self._sources = [read_part(folder, self.memory, self.n_jobs) for folder in folders]
        except (OSError, StoreError) as problem:
            raise StoreError(f"{self.folder} is damaged ({problem}); make the store anew") from problem
        fixed, policy = self._says["labels"] or (), self._says["new_labels"]
        found = {label for part in self._sources for label in part.labels} if policy == "add" else set()
        parts = [KnownPart.of(source) for source in self._sources]
        self._hold(parts, {*fixed, *found, *([RARE] if policy == "pool" else [])})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which they were added."""
        return tuple(part["name"] for part in self._says["parts"])

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of sequences that have not ended, and are counted in a later part."""
        return tuple(self._says["waiting"])

    # ------------------------------------------------------------------ change

    def add(self, name: str, events: Any, *, open: Iterable[object] = ()) -> None:
        """Add a part; one of a name that is there already is refused.

        Parameters
        ----------
        name : str
            Such as ``"2024-05-17"``.
        events
            Whatever :func:`read_events` takes, or a stream that keeps names, made by
            ``scan_events(path, names=True)``. Its sequences may have weights (``weight=``).
        open : names, optional
            The sequences that go on after this part. They are not counted yet, but wait, and what comes
            of the same name in a later part is joined to them. All others have ended, also those that waited.
            Without this, a case that is cut at midnight is two sequences, and the first events of the second
            have no past.
        """
        if not isinstance(name, str) or not name:
            raise SettingError(f"a part needs a name, such as '2024-05-17', not {name!r}")
        if name in self.names:
            raise SettingError(f"there is a part {name!r} already; forget it first to replace it")
        going_on = [label_text(each) for each in iterate(open)]
        source, waiting = self._joined(events, going_on)
        refuse_more(source)
        refuse_unlike([*self._parts, KnownPart.of(source)])
        labels = self._says["labels"]
        if labels is None and self._says["new_labels"] != "add":
            labels = list(source.labels)
        if self._says["new_labels"] == "refuse":
            refuse_unknown_labels(source.labels, source.label_counts, labels)
        folder = f"part-{secrets.token_hex(6)}"
        try:
            write_part(self.folder / folder, source)
            parts = [*self._says["parts"], {"name": name, "folder": folder}]
            version = self._says["version"] if source.weights is None else _WITH_WEIGHTS
            said = {"version": version, "parts": parts, "waiting": waiting, "labels": labels}
            self._write({**self._says, **said})
        except BaseException:
            shutil.rmtree(self.folder / folder, ignore_errors=True)
            raise
        self._open()

    def _joined(self, events: Any, going_on: Sequence[str]) -> tuple[EventSource, dict[str, list[str]]]:
        """What ended in a part, with what waited for it; and what waits now."""
        before: dict[str, list[str]] = self._says["waiting"]
        if not before and not going_on:
            return make_source(events), {}
        held = as_events(events)
        if not isinstance(held, EventSequences):
            raise SettingError("sequences that go on must be in memory; give events that read_events returns")
        if held.weights is not None:
            raise SettingError(
                "a sequence with a weight cannot wait for a later part; add it when it is over"
            )
        if held.moments is not None:
            raise SettingError(
                "only events one after the other, without times, can be joined to those of a later part; add "
                "such a sequence when it is over"
            )
        lists = dict(zip(held.ids, held.to_lists(), strict=True))
        if len(lists) < len(held):
            raise SettingError("two sequences have the same name; give each its own, so that they can go on")
        together = {
            name: before.get(name, []) + lists.get(name, []) for name in dict.fromkeys([*before, *lists])
        }
        for name in going_on:
            if name not in together:
                raise SettingError(f"open= names {name!r}, of which there are no events")
        waiting = {name: together.pop(name) for name in going_on}
        labels = sorted({label for each in together.values() for label in each} | set(held.labels))
        complete = dict(zip(held.ids, held.complete.tolist(), strict=True))
        ends = np.array([complete.get(name, True) for name in together], bool)
        ended = EventSequences.from_lists(together.values(), labels=labels, ids=list(together), ends=ends)
        return make_source(ended), waiting

    def forget(self, name: str) -> None:
        """Remove a part and all that was counted in it."""
        if name not in self.names:
            raise SettingError(
                f"{self.folder} has no part {name!r}; it has {', '.join(self.names) or 'none'}"
            )
        at = self.names.index(name)
        gone = self._says["parts"][at]["folder"]
        self._write({**self._says, "parts": self._says["parts"][:at] + self._says["parts"][at + 1 :]})
        shutil.rmtree(self.folder / gone, ignore_errors=True)
        self._open()

    def merge(self, other: CountStore) -> None:
        """Add all parts of another store, with what was counted in them."""
        twice = sorted(set(self.names) & set(other.names))
        if twice:
            raise SettingError(f"both stores have a part {twice[0]!r}; forget it in one of them")
        if other.waiting:
            raise SettingError(f"{other.waiting[0]!r} has not ended in the other store; end it there first")
        refuse_unlike([*self._parts, *other._parts])
        if self._says["new_labels"] == "refuse" and self._says["labels"] is not None:
            refuse_unknown_labels(other.labels, other.label_counts, self.labels)
        for part in other._says["parts"]:
            shutil.copytree(other.folder / part["folder"], self.folder / part["folder"])
        labels = self._says["labels"]
        if labels is None and self._says["new_labels"] != "add":
            labels = list(other.labels)
        parts = [*self._says["parts"], *other._says["parts"]]
        version = max(self._says["version"], other._says["version"])
        self._write({**self._says, "version": version, "parts": parts, "labels": labels})
        self._open()

    def _write(self, says: dict[str, Any]) -> None:
        write_sealed(self.folder / "store.json", {"format": _FORMAT, **says}, indent=1)

    # ------------------------------------------------------------------ count

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part, unless that was done before, and add up the answers."""
        if not self._parts:
            raise DataError(f"{self.folder} has no parts yet; add one first")
        asked = self._asked(work)
        return work.total([self._run_on(number, work, asked) for number in range(len(self._parts))])

    def run_on(self, name: str, work: Work[Answer]) -> Answer:
        """Do some work on one part, unless that was done before."""
        return self._run_on(self.names.index(name), work, self._asked(work))

    def _asked(self, work: Work[Answer]) -> list[str | None]:
        """The names of the questions of some work, under which parts keep their answers."""
        questions: Sequence[object] = [work] if isinstance(work, FollowedWork) else []
        if isinstance(work, CountWork):
            questions = work.requests
        unit = () if self.scale == 1 else (self.scale,)  # answers are in that
        return [question_name(self.labels, *unit, question) for question in questions]

    def _run_on(self, number: int, work: Work[Answer], asked: Sequence[str | None]) -> Answer:
        part = self._part(number)
        answers = self.folder / str(self._says["parts"][number]["folder"]) / "answers"
        paths = [None if name is None else answers / name for name in asked]
        if isinstance(work, CountWork):
            counted: Any = _counted(part, work, paths)
            return cast(Answer, counted)
        if not paths:
            return work.run(part)
        found: Any = kept_answer(paths[0])
        if found is None:
            found = work.run(part)
            keep_answer(paths[0], found)
        return cast(Answer, found)

    def _part(self, number: int) -> Part:
        """One part, under the vocabulary of all."""
        keys = vars(self)["_keys"][number] if "_keys" in vars(self) else None
        part = self._sources[number].part()
        return among_others(part, number, self._views[number], keys, self._weights[number])

    def _own_keys(self, number: int) -> HashArray:
        return self._sources[number].content.keys()

    def _filled(self, number: int) -> BoolArray:
        filled, weights = self._sources[number].content.lengths() > 0, self._weights[number]
        return filled if weights is None else filled & (weights > 0)


#: What a store says of itself.
_SAID: dict[str, Any] = {
    "version": int,
    "labels": list[str] | None,
    "new_labels": NewLabels,
    "parts": list[dict[str, str]],
    "waiting": dict[str, list[str]],
}


def _read(said: Any) -> dict[str, Any]:
    """What a store says of itself; refused unless a store could have written it."""
    found = {name: checked(said, dict[str, Any]).get(name) for name in (*_SAID, "format")}
    if found.pop("format") != _FORMAT or found["version"] not in (1, _WITH_WEIGHTS):
        raise StoreError.expected("'version' 1 or 2, the versions of stores", found["version"])
    for name, kind in _SAID.items():
        with place(f".{name}"):
            found[name] = checked(found[name], kind)
    for name in ("name", "folder"):
        if len({part.get(name) for part in found["parts"]}) < len(found["parts"]):
            raise StoreError(f".parts: expected a {name} of its own for each part")
    if not all(_FOLDER.fullmatch(part.get("folder", "")) for part in found["parts"]):  # nor a way out of it
        raise StoreError(".parts: expected the names of folders that a store has made")
    found["labels"] = None if found["labels"] is None else sorted(set(found["labels"]))
    check_seal(said)
    return found


def _counted(part: Part, work: CountWork, paths: Sequence[Path | None]) -> list[Counts]:
    """The answer to every request; those that are not kept are counted together."""
    answers = [kept_answer(path) for path in paths]
    new = [at for at, answer in enumerate(answers) if answer is None]
    if new:
        asked = CountWork(tuple(work.requests[at] for at in new))
        for at, counts in zip(new, asked.run(part), strict=True):
            answers[at] = counts
            keep_answer(paths[at], counts)
    return answers
