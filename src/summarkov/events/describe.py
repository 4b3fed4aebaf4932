"""What is in a data set and how it was read, in numbers and in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from summarkov.events.vocabulary import START, count_codes
from summarkov.frames import Column, Sheet, Tabular
from summarkov.typing import IntArray
from summarkov.wording import cut, number, percent, plural

#: Show at most this many labels.
MOST_LABELS = 20


def look_alikes(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Labels that differ only in capitals, in blanks, or in how Unicode writes their characters."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        key = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
        groups.setdefault(key, []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


class Start(NamedTuple):
    """A label, its share among first events, and its share among the others."""

    label: str
    first: float
    others: float

    def sentence(self) -> str:
        """What its being first means.

        >>> Start("register", 1.0, 0.0).sentence()
        "Hint: every case begins with 'register', which is no influence; drop_first (--drop-first) \
leaves it out."
        """
        name = f"'{cut(self.label, 40)}'"
        if self.first == 1:
            return (
                f"Hint: every case begins with {name}, which is no influence; drop_first (--drop-first) "
                "leaves it out."
            )
        return (
            f"Hint: {name} is the first event of {percent(self.first)} of the cases, and "
            f"{percent(self.others)} of the other events. That it stands first is no influence. The order "
            "test allows for that; rate ratios of its edges do not."
        )


def special_starts(labels: Sequence[str], starts: IntArray, label_counts: IntArray) -> list[Start]:
    """Labels that begin sequences far more often than they come later, the most frequent first.

    They begin at least a fifth of all sequences, three times their share among the other events, and four
    standard deviations more than that; or all of several sequences.
    """
    others = label_counts - starts
    n_starts, n_others = int(starts.sum()), int(others.sum())
    if not n_starts or not n_others:
        return []
    found = []
    for label, first, rest in zip(labels, starts / n_starts, others / n_others, strict=True):
        if label == START:
            continue
        beyond = first - rest > 4 * np.sqrt(rest * (1 - rest) * (1 / n_starts + 1 / n_others))
        if (first == 1 and n_starts > 1) or (first >= 0.2 and first >= 3 * rest and beyond):
            found.append(Start(label, float(first), float(rest)))
    return sorted(found, key=lambda start: -start.first)


class Lifecycles(NamedTuple):
    """Rows that begin an activity and rows that end one: the column, what they are called, how many."""

    column: str
    start: str
    n_starts: int
    end: str
    n_ends: int


@dataclass(frozen=True)
class CaseEnds:
    """How many cases are taken as complete, and what speaks against it.

    ``one_length`` is the number of events of every case, if all have the same; ``late`` counts the cases with
    an event near the end of the data, at ``late_since`` or later.
    """

    n_cases: int
    n_complete: int
    one_length: int | None = None
    late: int = 0
    late_since: str | None = None

    @classmethod
    def of(cls, n_complete: int, lengths: IntArray, origin: Origin | None = None) -> CaseEnds:
        """Those of cases of some lengths."""
        one_length = int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else None
        known = origin or Origin()
        return cls(len(lengths), n_complete, one_length, known.late, known.late_since)

    def sentences(self) -> list[str]:
        """What was assumed, why it may be wrong, and how to change it.

        >>> CaseEnds(20, 20, one_length=30).sentences()[1]
        "Every case has 30 events, as if it had been cut off there; if so, use --cut-off (ends='cut off')."
        """
        n, complete = self.n_cases, self.n_complete
        if n < 2:
            return []
        if not complete:
            return [f"All {n:,} cases are taken as cut off: their ends do not count."]
        if complete < n:
            return [f"{complete:,} of {n:,} cases are taken as complete, the others as cut off."]
        told = [f"All {n:,} cases are taken as complete; where they go on: ends= (--cut-off)."]
        if self.one_length is not None and self.one_length > 1:
            told.append(
                f"Every case has {self.one_length:,} events, as if it had been cut off there; if so, use "
                "--cut-off (ends='cut off')."
            )
        elif self.late_since is not None:
            told.append(
                f"{self.late:,} of {n:,} cases have an event at {self.late_since} or later, near the end of "
                f"the data, and may go on; if so, use --open-since {self.late_since} (open_since=)."
            )
        return told


def late_cases(times: IntArray, offsets: IntArray) -> tuple[int, int] | None:
    """How many cases may go on after the data end, and from which time on they have events.

    Near the end is what nine of ten gaps between the events of a case are shorter than. Reported are at least
    one in fifty of all cases, and three times as many as end there if cases come and go evenly.

    >>> times = np.array([0, 1, 2, 50, 51, 52, 97, 98, 99, 98, 99])
    >>> late_cases(times, np.array([0, 3, 6, 9, 11]))
    (2, 98)
    """
    filled = np.diff(offsets) > 0
    within = np.ones(len(times), bool)
    within[offsets[:-1][filled]] = False
    gaps = np.diff(times, prepend=0)[within]
    last = times[offsets[1:][filled] - 1]
    if not len(gaps) or len(last) < 2:
        return None
    end = int(times.max())
    near, span = max(1, int(np.quantile(gaps, 0.9))), max(1, end - int(times.min()))
    n = int((last >= end - near).sum())
    many = n >= 2 and n > 0.02 * len(last) and n > 3 * len(last) * near / span
    return (n, end - near) if many and near < span else None


@dataclass(frozen=True)
class Origin:
    """How events were read.

    ``case``, ``event``, ``order``, ``weight``, ``lifecycle`` and ``attributes`` are names of columns, keys of
    JSON objects or attributes in XES. ``unlabelled``, ``other_lifecycle``, ``caseless`` and ``dropped`` count
    the events, the rows without a case and the duplicates that were left out as asked, ``duplicates`` those
    that were not, and ``backwards`` the events after one of a later time. ``tied_case`` is the first case
    with events of the same place. ``late`` cases have an event at ``late_since`` or later, near the end of
    the data. ``mixed`` are rows that begin activities beside rows that end them.
    """

    case: str | None = None
    event: str | None = None
    order: tuple[str, ...] = ()
    weight: str | None = None
    lifecycle: str | None = None
    attributes: tuple[str, ...] = ()
    unlabelled: int = 0
    other_lifecycle: int = 0
    backwards: int = 0
    tied_case: str | None = None
    caseless: int = 0
    duplicates: int = 0
    dropped: int = 0
    mixed: Lifecycles | None = None
    late: int = 0
    late_since: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain values, for JSON."""
        columns = ("case", "event", "order", "weight", "lifecycle", "attributes")
        found = ((name, getattr(self, name)) for name in columns)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found}

    def sentences(self) -> Iterator[str]:
        """What there is to say of how events were read.

        >>> list(Origin("user", "page", ("time",), unlabelled=3).sentences())
        ["Read from: case 'user', event 'page', order 'time'.", 'Left out: 3 events without a label.']
        """
        roles = {
            "case": _one(self.case),
            "event": _one(self.event),
            "order": self.order,
            "weight": _one(self.weight),
            "lifecycle": _one(self.lifecycle),
            "attribute" if len(self.attributes) == 1 else "attributes": self.attributes,
        }
        if self.event:
            words = {role: " and ".join(map(repr, names)) for role, names in roles.items()}
            words["order"] = words["order"] or "as in the input"
            yield f"Read from: {', '.join(f'{role} {names}' for role, names in words.items() if names)}."
        if self.weight is not None:
            yield "Counts of cases and events that a model shows are sums of weights."
        left_out = (
            (self.caseless, "row", " without a case"),
            (self.unlabelled, "event", " without a label"),
            (self.other_lifecycle, "event", " of another lifecycle"),
            (self.dropped, "duplicate row", ""),
        )
        if gone := [f"{plural(n, thing)}{which}" for n, thing, which in left_out if n]:
            yield f"Left out: {' and '.join(gone)}."

    def hints(self) -> Iterator[str]:
        """What rows may better be left out or sorted, and the option that does so."""
        if self.backwards:
            one = self.backwards == 1
            yield (
                f"{self.backwards:,} event{' stands' if one else 's stand'} after an event of a later time; "
                f"{'it keeps' if one else 'they keep'} the order of the input (--order-by time:timestamp "
                "sorts them)."
            )
        if self.mixed is not None:  # whose rows may look like duplicates
            column, start, n_starts, end, n_ends = self.mixed
            yield (
                f"Hint: column {column!r} has {start!r} in {plural(n_starts, 'row')} and {end!r} in "
                f"{n_ends:,}, so an activity may count twice; lifecycle={end!r} (--lifecycle {end}) keeps "
                "one row of each."
            )
        elif self.duplicates:
            one, same = self.duplicates == 1, " and ".join(map(repr, self.order)) or "time"
            rows = "1 row is a duplicate" if one else f"{self.duplicates:,} rows are duplicates"
            yield (
                f"Hint: {rows}: same case, event and {same} as an earlier row; drop_duplicates=True "
                f"(--drop-duplicates) leaves {'it' if one else 'them'} out."
            )

    def tied(self, n: int, source: str | None = None) -> str:
        """How many events have the same place as the one before, and where.

        >>> Origin("user", "page", ("time",), tied_case="ann").tied(2, "log.csv")
        "2 events of log.csv with the same 'time' as the one before, for example in case 'ann'"
        """
        same = " and ".join(map(repr, self.order)) or ("time" if self.event else "place")
        of = "" if source is None else f" of {source}"
        where = "" if self.tied_case is None else f", for example in case {self.tied_case[:40]!r}"
        return f"{plural(n, 'event')}{of} with the same {same} as the one before{where}"

    def ties(self, n: int, source: str | None = None) -> str:
        """The same, and in which order these events are taken."""
        return f"{self.tied(n, source)}; {'it keeps' if n == 1 else 'they keep'} the order of the input"


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def reading_notes(
    origin: Origin | None, ends: CaseEnds | None, labels: Iterable[str], tied_order: int
) -> Iterator[str]:
    """From which columns events were read, what was left out and assumed, and what may be wrong."""
    known = origin or Origin()
    yield from known.sentences()
    yield from [] if ends is None else ends.sentences()
    if tied_order:
        yield f"{known.ties(tied_order)}."
    yield from known.hints()
    if alike := look_alikes(labels):
        some = "; ".join(" and ".join(f"'{cut(label, 40)}'" for label in group[:4]) for group in alike[:3])
        yield (
            f"Hint: {some}{'; ...' if len(alike) > 3 else ''} differ only in capitals, blanks or how "
            "characters are written. They are kept apart; map_labels (--map FILE) makes them one."
        )


def hints_of(events: Any) -> list[str]:
    """How events were read and what may be wrong, as :func:`reading_notes`, and what begins most of them."""
    first = count_codes(events.codes[events.positions == 1], len(events.labels))
    ends = CaseEnds.of(int(events.complete.sum()), events.lengths, events.origin)
    notes = reading_notes(events.origin, ends, events.labels, events.tied_order)
    starts = special_starts(events.labels, first, events.label_counts)
    return [*notes, *(start.sentence() for start in starts[:3])]


@dataclass(frozen=True, repr=False)
class Description(Tabular):
    """Sizes of a data set, how long its sequences are and how often its labels occur.

    The frame has one row per label.

    Attributes
    ----------
    n_sequences, n_events, n_labels, n_empty : int
        How many sequences, events and labels there are, and how many sequences have no events.
    shortest, median_length, longest : number
        Of the sequences, in events.
    label_counts : dict
        How often each label occurs.
    tied_order : int
        How many events have the same place in the order column as the one before.
    look_alikes : list
        Labels that differ only in capitals, blanks or how Unicode writes characters.
    origin : Origin or None
        Which columns were read.
    n_ticks : int or None
        The number of positions, where some events happened together.
    attribute_counts : dict
        How many sequences have each value of an attribute.
    ends : CaseEnds or None
        How many sequences are taken as complete.
    first_event : str or None
        The label that every sequence begins with, if there are several and they all begin alike.
    """

    n_sequences: int
    n_events: int
    n_labels: int
    n_empty: int
    shortest: int
    median_length: float
    longest: int
    label_counts: dict[str, int]
    tied_order: int
    look_alikes: list[tuple[str, ...]]
    origin: Origin | None = None
    n_ticks: int | None = None
    attribute_counts: dict[str, int] = field(default_factory=dict)
    ends: CaseEnds | None = None
    first_event: str | None = None

    @classmethod
    def of(cls, events: Any) -> Description:
        """Describe events."""
        lengths, n = events.lengths, len(events)
        return cls(
            n_sequences=n,
            n_events=events.n_events,
            n_labels=len(events.labels),
            n_empty=int((lengths == 0).sum()),
            shortest=int(lengths.min()) if n else 0,
            median_length=float(np.median(lengths)) if n else 0.0,
            longest=int(lengths.max(initial=0)),
            label_counts=dict(zip(events.labels, events.label_counts.tolist(), strict=True)),
            tied_order=events.tied_order,
            look_alikes=look_alikes(events.labels),
            origin=events.origin,
            n_ticks=events.n_ticks if events.has_ticks else None,
            attribute_counts={} if events.attributes is None else events.attributes.counts,
            ends=CaseEnds.of(int(events.complete.sum()), lengths, events.origin),
            first_event=_first_event(events),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        plain = {name: value for name, value in vars(self).items() if name != "origin"}
        ends = None if self.ends is None else vars(self.ends)
        return plain | {"ends": ends} | as_read(self.origin, self.tied_order)

    def _columns(self) -> Mapping[str, Column]:
        events = max(self.n_events, 1)
        return {
            "label": Column(str, list(self.label_counts)),
            "count": Column(int, list(self.label_counts.values())),
            "share": Column(float, [n / events for n in self.label_counts.values()]),
        }

    @property
    def by_count(self) -> list[tuple[str, int]]:
        """Labels with their counts, the most frequent first."""
        return sorted(self.label_counts.items(), key=lambda item: (-item[1], item[0]))

    def sentences(self) -> Iterator[str]:
        """Everything but the labels: sizes, how the events were read, and what is worth knowing."""
        sizes = {"sequence": self.n_sequences, "event": self.n_events, "label": self.n_labels}
        yield ", ".join(plural(n, thing) for thing, n in sizes.items())
        yield f"Events per sequence: {self.shortest:,} to {self.longest:,}, median {self.median_length:,g}"
        if self.n_ticks is not None:
            yield f"Ticks: {self.n_ticks:,}, of one event or several together"
        if self.attribute_counts:
            shown = list(self.attribute_counts.items())[:MOST_LABELS]
            more = len(self.attribute_counts) - len(shown)
            told = ", ".join(f"{name} {n:,}" for name, n in shown) + (f" and {more} more" if more else "")
            yield f"Sequences by attribute: {told}"
        yield from reading_notes(self.origin, self.ends, self.label_counts, self.tied_order)
        if self.n_empty:
            yield f"Empty sequences: {self.n_empty:,}"
        if self.first_event is not None:
            yield Start(self.first_event, 1.0, 0.0).sentence()

    def summary(self) -> Sheet:
        """Sizes in words, then the most frequent labels."""
        return self.sheet(MOST_LABELS)

    def sheet(self, most: int | None) -> Sheet:
        """The same with ``most`` labels, or all of them."""
        events = max(self.n_events, 1)
        rows = [(name, number(n), percent(n / events)) for name, n in self.by_count[:most]]
        return Sheet("\n".join(self.sentences()), ("label", "events", "share"), rows, self.n_labels)


def _first_event(events: Any) -> str | None:
    """The label that begins all sequences that have events, if these are several and it was not added."""
    n = np.count_nonzero(events.lengths)
    counts = count_codes(events.codes[events.positions == 1], len(events.labels))
    found = [events.labels[at] for at in np.flatnonzero(counts == n).tolist()] if n > 1 else []
    return found[0] if len(found) == 1 and found != [START] else None


def as_read(origin: Origin | None, tied_order: int) -> dict[str, Any]:
    """How events were read, as plain values for JSON: the columns, events that were left out, and ties."""
    found = origin or Origin()
    return {
        "columns": None if origin is None else origin.to_dict(),
        "left_out": {
            "unlabelled": found.unlabelled,
            "other_lifecycle": found.other_lifecycle,
            "caseless": found.caseless,
            "duplicates": found.dropped,
        },
        "duplicates": found.duplicates,
        "mixed_lifecycles": None if found.mixed is None else found.mixed._asdict(),
        "backwards": found.backwards,
        "tied_order": tied_order,
        "tied_case": found.tied_case,
    }
