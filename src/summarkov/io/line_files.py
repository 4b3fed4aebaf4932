"""Files with one sequence per line: plain text, and SPMF text; and what is collected of lines."""

from __future__ import annotations

import json
import re
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.encoding import Encoded, Vocabulary, settle
from summarkov.io.files import TextBudget, text_lines
from summarkov.io.ordering import OrderColumn
from summarkov.io.rows import CaseValues
from summarkov.io.ticks import Ties, as_column, refuse_ties, times_of_texts
from summarkov.io.wanted import Wanted

if TYPE_CHECKING:
    from summarkov.io.spill import SpillWriter

#: A file without sequences is not empty, as one is that was cut short.
NOTHING = b"\n"
#: Labels that SPMF can have for numbers of its own.
_OWN_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
#: The name of the next sequence; to SPMF, which has no such names, a comment.
NAMED = "# sequence "
_ITEM = re.compile(r"@ITEM=(-?[0-9]+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


class Collected:
    """Sequences as they are read one by one: they stay in memory, or are written to disk now and then.

    >>> collected = Collected()
    >>> collected.add(["b", "a"], "x")
    >>> collected.finish(None).to_lists()
    [['b', 'a']]
    """

    def __init__(self, labels: Vocabulary | None = None, values: CaseValues | None = None) -> None:
        budget = TextBudget(sys.maxsize)
        self.labels = Vocabulary(None, budget) if labels is None else labels
        self.values = CaseValues((), budget) if values is None else values
        self._n_written = 0
        self._clear()

    def _clear(self) -> None:
        self.codes = array("i")
        self._offsets = array("q", [0])
        self._ids: list[str] | None = None  # once a sequence has a name
        self._of_sequences: list[list[int]] = []  # codes of what does not change
        self._together = array("q")  # the events that happened together with the one before
        self._times: list[str | None] = []  # as they are written

    def add(
        self,
        labels: Iterable[str | None],
        name: str | None = None,
        together: Iterable[int] = (),
        times: Iterable[str | None] = (),
        values: Sequence[str | None] = (),
    ) -> None:
        """Add a sequence; one without a name has its number. None is an empty tick.

        ``together`` are the places in it of events that happened together with the one before.
        """
        self._together.extend(len(self.codes) + place for place in together)
        self._times.extend(times)
        if values:
            self._of_sequences.append(self.values.codes(values))
        if name is not None and self._ids is None:
            self._ids = self.names()
        if self._ids is not None:
            self._ids.append(self.next_name() if name is None else name)
        self.codes.extend(map(self.labels.__getitem__, labels))
        self._offsets.append(len(self.codes))

    def next_name(self) -> str:
        """The name of the next sequence, if it has no other."""
        return str(self._n_written + len(self._offsets) - 1)

    def names(self) -> list[str]:
        """The names of the sequences."""
        first = self._n_written
        return self._ids or [str(number) for number in range(first, first + len(self._offsets) - 1)]

    def columns(self) -> dict[str, Encoded]:
        """What does not change, by name, with one value per sequence."""
        return dict(zip(self.values.names, self.values.columns(self._of_sequences), strict=True))

    def finish(
        self,
        labels: Sequence[str] | None,
        order: OrderColumn | None = None,
        source: str = "",
        *,
        tied_order: int = 0,
    ) -> EventSequences:
        """All sequences, with the vocabulary declared or that of the labels that occur.

        ``order`` is the column of times, if these are asked for.
        """
        if order is not None:
            order.look(as_column(self._times), source)
        moments = self._moments(order, source)
        found = np.asarray(self.codes)
        empty = self.labels.get(None)
        if empty is not None:
            found = np.where(found == empty, -1, found - (found > empty))
        codes, vocabulary = settle(found, self.labels.found, labels)
        codes, offsets, made = Moments.made(
            codes,
            np.asarray(self._offsets),
            moments.starts,
            moments.times,
            moments.unit,
            has_ticks=empty is not None,
        )
        return EventSequences(codes, offsets, vocabulary, self._ids, moments=made, tied_order=tied_order)

    def write(self, writer: SpillWriter, order: OrderColumn | None, source: str) -> None:
        """Write what was added since the last time, and let go of it; ``order`` has looked at all times."""
        names = self.names()
        writer.add(
            np.array(self.codes, np.int32),
            np.array(self._offsets[1:], np.int64),
            sequence_keys(names),
            names,
            values=np.array(self._of_sequences, np.int32).reshape(len(names), len(self.values.names)),
            moments=self._moments(order, source),
        )
        self._n_written += len(names)
        self._clear()

    def _moments(self, order: OrderColumn | None, source: str) -> Moments:
        starts = np.ones(len(self.codes), bool)
        starts[np.array(self._together, np.int64)] = False
        if order is None:
            return Moments(starts)
        texts = as_column(self._times)
        return Moments(starts, *times_of_texts(order, texts, self._offsets, self.names(), source))


def read_text(path: str, wanted: Wanted, *, told: bool = True) -> EventSequences:
    """Read labels separated by white space; an empty line is an empty sequence.

    Unless ``told`` that it is plain text, what looks like SPMF text is refused.
    """
    refuse_columns(path, wanted, "plain text")
    collected = Collected()
    for number, line in text_lines(path):
        words = line.split()
        if number == 1 and not told and words[-1:] == ["-2"] and "-1" in words:
            raise DataError(
                f"{path} looks like SPMF text, where -1 and -2 end itemsets and sequences; say which "
                "it is with format=: 'spmf', or 'text' if they are labels"
            )
        collected.add(words)
    return collected.finish(wanted.labels)


def refuse_columns(path: str, wanted: Wanted, what: str) -> None:
    if wanted.is_about_columns:
        raise SettingError(
            f"case, event, order, weight and lifecycle name columns, and {path} is {what}, which has none"
        )


def read_spmf(path: str, wanted: Wanted) -> EventSequences:
    """Read one sequence per line: ``1 -1 2 3 -1 -2``, with names for the numbers if there are any.

    A line is a sequence of itemsets; ``-1`` ends an itemset and ``-2`` the sequence. The items of one itemset
    happened at once, and are a tick; with ``ties="in row order"`` they become events in the order in which
    they stand, and are counted as ties, as rows with the same time are. Labels are the names of items, or
    their numbers where they have none.
    """
    refuse_columns(path, wanted, "SPMF text")
    collected, names, numbers = Collected(), dict[str, str](), dict[str, str]()
    name, tied = None, list[str]()  # the sequence of each event that is not the first of a set
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        if line.startswith("@ITEM"):
            _name_item(line, names, numbers, where)
        elif line.startswith(NAMED):
            name = _name(line)
        elif line.strip() and line[0] not in "#%@":
            items, together = _items(line.split(), where)
            at_once = wanted.ties in (None, "together")
            tied += [] if at_once else [collected.next_name() if name is None else name] * len(together)
            collected.add([names.get(item, item) for item in items], name, together if at_once else ())
            name = None
    found = collected.finish(wanted.labels, tied_order=len(tied))
    ties = Ties(len(tied), tied[0] if tied else None)
    refuse_ties(ties, wanted, "itemset", path)
    return found.with_origin(Origin(tied_case=ties.case)) if tied else found


def _items(tokens: list[str], where: str) -> tuple[list[str], list[int]]:
    """The items of a line, and the places of those that are not the first of their itemset."""
    if tokens[-1] != "-2":
        raise DataError(
            f"{where}: a sequence must end in -2, and this ends in {tokens[-1][:40]!r}; write -1 after every "
            "itemset and -2 after the sequence (transactions have neither, and no order to learn from)"
        )
    items, together, open_ = list[str](), list[int](), False
    for token in tokens[:-1]:
        if token == "-1":
            open_ = False
        elif _NUMBER.fullmatch(token):
            if open_:
                together.append(len(items))
            items.append(token.lstrip("0") or "0")
            open_ = True
        else:
            raise DataError(
                f"{where}: items are whole numbers from 0 on, and this has {token[:40]!r}; mend it"
            )
    return items, together


def _name_item(line: str, names: dict[str, str], items: dict[str, str], where: str) -> None:
    """Note the name of an item; ``items`` are the items by name."""
    found = _ITEM.fullmatch(line)
    if found is None:
        raise DataError(f"{where}: a name of an item is written @ITEM=1=name, not {line[:40]!r}; mend it")
    item, name = found.groups()
    if item.startswith("-"):
        return  # SPMF may name its -1, too
    item = item.lstrip("0") or "0"
    if names.get(item, name) != name:
        raise DataError(f"{where}: item {item[:40]} has the names {names[item]!r} and {name!r}; keep one")
    twin = items.setdefault(name, item)
    if twin != item:
        raise DataError(
            f"{where}: items {twin[:40]} and {item[:40]} are both named {name!r}; give them two names"
        )
    names[item] = name


def _name(line: str) -> str | None:
    """The name of a sequence as it was written here; any other comment says nothing."""
    try:
        name = json.loads(line.removeprefix(NAMED))
    except (ValueError, RecursionError):
        return None
    return name if isinstance(name, str) else None


def write_spmf(events: EventSequences, file: Any) -> None:
    """Write an itemset for every tick; names of items, and of sequences, where they need them."""
    if not len(events):
        file.write(NOTHING)
    labels = [label for label, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    items = {label: label for label in labels}
    if not all(map(_OWN_NUMBER.fullmatch, labels)):
        items = {label: str(item) for item, label in enumerate(labels, start=1)}
        file.write(b"@CONVERTED_FROM_TEXT\n")
        for label, item in items.items():
            if "\n" in label or "\r" in label:
                raise DataError(
                    f"the label {label[:80]!r} has a line break, which SPMF text cannot hold; write .jsonl, "
                    "or rename it: events.map_labels({...})"
                )
            file.write(f"@ITEM={item}={label}\n".encode())
    for number, (name, sequence) in enumerate(zip(events.ids, events, strict=True)):
        if name != str(number):
            file.write(f"{NAMED}{json.dumps(name)}\n".encode())
        ticks = ([tick] if isinstance(tick, str) else tick for tick in sequence)
        written = (f"{' '.join(items[label] for label in tick)} -1 " for tick in ticks)
        file.write(("".join(written) + "-2\n").encode())
