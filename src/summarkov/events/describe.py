"""What is in a data set, in numbers and in words; and all of it as a table, one row per event."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.moments import BILLIONTHS, WHOLE_NUMBERS, Moments
from summarkov.events.origin import Origin
from summarkov.frames import Column, Sheet, Tabular
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.events.attributes import Attributes
    from summarkov.events.sequences import EventSequences

#: Show at most this many labels.
MOST_LABELS = 20


def many_labels(n_labels: int, n_events: float) -> bool:
    """Whether some labels will look like influencers by chance: from 30 labels on, if they are above sqrt(N).

    The best of M labels that mean nothing gains about log(M) in log-likelihood, and BIC asks the first
    influencer of a label for log(N) / 2; so beyond M = sqrt(N) chance alone gets through.

    >>> many_labels(305, 8000), many_labels(305, 100_000), many_labels(10, 50)
    (True, False, False)
    """
    return n_labels >= 30 and n_labels**2 > n_events


def look_alikes(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Labels that differ only in capitals, in blanks, or in how Unicode writes their characters.

    >>> look_alikes(["Pay", "pay ", "leave"])
    [('Pay', 'pay ')]
    """
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


def special_starts(labels: Sequence[str], starts: IntArray, label_counts: IntArray) -> list[Start]:
    """Labels that begin sequences far more often than they come later, the most frequent first.

    They begin at least a fifth of all sequences, at least three times their share among the other events, and
    at least four standard deviations more than that share lets one expect.

    >>> special_starts(["go", "stop"], np.array([90, 10]), np.array([100, 100]))
    [Start(label='go', first=0.9, others=0.1)]
    """
    others = label_counts - starts
    n_starts, n_others = int(starts.sum()), int(others.sum())
    if not n_starts or not n_others:
        return []
    found = []
    for label, first, rest in zip(labels, starts / n_starts, others / n_others, strict=True):
        beyond = first - rest > 4 * np.sqrt(rest * (1 - rest) * (1 / n_starts + 1 / n_others))
        if first >= 0.2 and first >= 3 * rest and beyond:
            found.append(Start(label, float(first), float(rest)))
    return sorted(found, key=lambda start: -start.first)


@dataclass(frozen=True, repr=False)
class Description(Tabular):
    """Sizes of a data set, how long its sequences are and how often its labels occur.

    The frame has one row per label.

    Attributes
    ----------
    n_sequences, n_events, n_labels : int
        How many sequences, events and labels there are.
    n_empty : int
        How many sequences have no events.
    shortest, median_length, longest : number
        Of the sequences, in events.
    label_counts : dict
        How often each label occurs.
    tied_order : int
        How many events have the same place in the order column as the one before.
    look_alikes : list
        Labels that differ only in capitals, blanks or the way Unicode writes characters.
    origin : Origin or None
        Which columns were read.
    n_ticks : int or None
        The number of positions, where some events happened together.
    attribute_counts : dict
        How many sequences have each value of an attribute.
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        plain = {name: value for name, value in vars(self).items() if name != "origin"}
        return plain | as_read(self.origin, self.tied_order)

    def _columns(self) -> Mapping[str, Column]:
        events = max(self.n_events, 1)
        return {
            "label": Column(str, list(self.label_counts)),
            "count": Column(int, list(self.label_counts.values())),
            "share": Column(float, [n / events for n in self.label_counts.values()]),
        }

    def summary(self) -> Sheet:
        """Sizes in words, then the most frequent labels."""
        common = self._most_frequent()
        events = max(self.n_events, 1)
        rows = [(name, f"{count:,}", f"{count / events:.1%}") for name, count in common]
        return Sheet("\n".join(self._sizes()), ("label", "events", "share"), rows, self.n_labels)

    def __str__(self) -> str:
        lines = [*self._sizes(), *(f"  {name}: {count}" for name, count in self._most_frequent())]
        if self.n_labels > MOST_LABELS:
            lines.append(f"  ... and {self.n_labels - MOST_LABELS} more labels")
        return "\n".join(lines)

    def _most_frequent(self) -> list[tuple[str, int]]:
        return sorted(self.label_counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_LABELS]

    def beside(self) -> list[str]:
        """What there is beside events in a row: ticks, and how many sequences have each attribute."""
        lines = [] if self.n_ticks is None else [f"ticks: {self.n_ticks:,}, of one event or several together"]
        if self.attribute_counts:
            shown = list(self.attribute_counts.items())[:MOST_LABELS]
            more = len(self.attribute_counts) - len(shown)
            told = ", ".join(f"{name} {n:,}" for name, n in shown) + (f" and {more} more" if more else "")
            lines.append(f"sequences by attribute: {told}")
        return lines

    def _sizes(self) -> list[str]:
        """Everything but the labels, in one line each."""
        lines = [
            ", ".join(
                f"{n} {thing}{'' if n == 1 else 's'}"
                for n, thing in (
                    (self.n_sequences, "sequence"),
                    (self.n_events, "event"),
                    (self.n_labels, "label"),
                )
            ),
            f"events per sequence: {self.shortest} to {self.longest}, median {self.median_length:g}",
        ]
        lines += self.beside()
        lines += [] if self.origin is None else self.origin.sentences()
        if self.n_empty:
            lines.append(f"empty sequences: {self.n_empty}")
        if self.tied_order:
            lines.append((self.origin or Origin()).ties(self.tied_order))
        if self.origin is not None and self.origin.backwards:
            lines.append(self.origin.falls())
        if self.look_alikes:
            shown = "; ".join(", ".join(map(repr, group)) for group in self.look_alikes[:3])
            more = "; ..." if len(self.look_alikes) > 3 else ""
            lines.append(f"labels that differ only in capitals, blanks or characters: {shown}{more}")
        return lines


def describe(
    labels: Sequence[str],
    label_counts: IntArray,
    lengths: IntArray,
    n_events: int,
    tied_order: int,
    origin: Origin | None = None,
    *,
    n_ticks: int | None = None,
    attribute_counts: Mapping[str, int],
) -> Description:
    """Describe a data set from its label counts and sequence lengths."""
    return Description(
        n_sequences=len(lengths),
        n_events=n_events,
        n_labels=len(labels),
        n_empty=int((lengths == 0).sum()),
        shortest=int(lengths.min()) if len(lengths) else 0,
        median_length=float(np.median(lengths)) if len(lengths) else 0.0,
        longest=int(lengths.max()) if len(lengths) else 0,
        label_counts=dict(zip(labels, label_counts.tolist(), strict=True)),
        tied_order=tied_order,
        look_alikes=look_alikes(labels),
        origin=origin,
        n_ticks=n_ticks,
        attribute_counts=dict(attribute_counts),
    )


def as_read(origin: Origin | None, tied_order: int) -> dict[str, Any]:
    """How events were read, as plain values for JSON: the columns, events that were left out, and ties."""
    found = origin or Origin()
    return {
        "columns": None if origin is None else origin.to_dict(),
        "left_out": {"unlabelled": found.unlabelled, "other_lifecycle": found.other_lifecycle},
        "backwards": found.backwards,
        "tied_order": tied_order,
        "tied_case": found.tied_case,
    }


#: The columns of a table of events, beside those of attributes. Of tick and position there is one.
NAMES = ("sequence", "tick", "position", "time", "event", "weight")
#: What a missing value of an attribute is called.
MISSING = "(missing)"
#: The units of NumPy's times, by their nanoseconds.
_UNITS = {1: "ns", 10**3: "us", 10**6: "ms", 10**9: "s", 86400 * 10**9: "D"}


def event_table(events: EventSequences) -> dict[str, Column]:
    """Sequence, position (or tick) and label of every event; times, attributes and weights, if there are any.

    An empty tick is a row without a label.

    >>> from summarkov import EventSequences
    >>> found = event_table(EventSequences.from_lists([["a", ["b", "c"]]]))
    >>> {name: list(map(str, column.values)) for name, column in found.items()}
    {'sequence': ['0', '0', '0'], 'tick': ['1', '2', '2'], 'event': ['a', 'b', 'c']}
    """
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    moments = events.moments
    is_ticks = moments is not None and moments.has_ticks
    columns = {
        "sequence": Column(str, np.array(events.ids, object)[sequence]),
        "tick" if is_ticks else "position": Column(int, events.positions),
    }
    if moments is not None and moments.times is not None:
        columns["time"] = time_column(moments)
    labels = [*events.labels, None if is_ticks else "?"]
    columns["event"] = Column(str, [labels[code] for code in events.codes.tolist()])
    for name, values in attribute_values(events.attributes, NAMES).items():
        columns[name] = Column(str, np.array(values, object)[sequence])
    if events.weights is not None:
        columns["weight"] = Column(float, events.weights[sequence])
    return columns


def attribute_values(given: Attributes | None, taken: tuple[str, ...]) -> dict[str, list[str | None]]:
    """The value that every sequence has of each attribute, None if it is missing.

    ``taken`` are names that attributes must not have.
    """
    found = {}
    for column in () if given is None else given.columns:
        if column in taken:
            raise DataError(
                f"there is an attribute {column!r}, and {', '.join(map(repr, taken))} are the names of other "
                "columns; read it under another name"
            )
        assert given is not None
        values = (name.removeprefix(column) for name in given.values(column))
        texts = [value.removeprefix("=") for value in values]
        found[column] = [None if text == MISSING else text for text in texts]
    return found


def time_column(moments: Moments) -> Column:
    """The times of events as they were: dates and times, whole numbers, or others."""
    times, unit = moments.times, moments.unit
    assert times is not None
    if unit.is_clock:
        return Column(datetime, times.astype(f"datetime64[{_UNITS[unit.size]}]"))
    if unit == WHOLE_NUMBERS:
        return Column(int, times)
    assert unit == BILLIONTHS
    return Column(float, _in_billionths(times))


def _in_billionths(times: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The numbers that are read as these billionths of one.

    >>> _in_billionths(np.array([1_500_000_000]))
    array([1.5])
    """
    found = times / 10**9
    for nearby in (np.inf, -np.inf):
        wrong = np.rint(found * 10**9) != times
        found = np.where(wrong, np.nextafter(times / 10**9, nearby), found)
    if (np.rint(found * 10**9) != times).any():
        raise DataError("some times have more digits than a number holds; read them as whole numbers")
    return found
