"""Why a label has its probability: what counts of the past, and a product of factors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from summarkov.frames import Column, Sheet, Tabular
from summarkov.wording import interval, percent, plural, several


@dataclass(frozen=True)
class Active:
    """An influencer, ``label``, that occurred where the model looks for it.

    ``lags`` is how many positions before the next one it stands, the nearest first, and ``positions`` are the
    same as places in the history, from 1; attributes have none. ``unit`` is what a position is, an "event" or
    a "tick". Where the model looks for it in time, ``ages`` is how long ago each was at the last event.
    """

    label: str
    lags: tuple[int, ...]
    positions: tuple[int, ...]
    unit: str = "event"
    ages: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.lags:
            return self.label
        if self.lags == (1,):
            return f"{self.label} just before"
        if self.ages:
            return f"{self.label} {several(self.ages)} before"
        return f"{self.label} {several(map(str, self.lags))} {self.unit}s before"


@dataclass(frozen=True)
class Counterfactual:
    """The same history, had one ``label`` not occurred, or had it occurred just now.

    Not occurred: all its occurrences become events of no known label, so that the others stay where they are.
    Occurred: one more event at the end. It is what the model says about such a history, not what would have
    come of an intervention. ``occurred`` is whether the label occurs in the changed history, ``is_attribute``
    whether it is an attribute, which has this value or another instead. ``state``, ``words``, ``support``,
    ``seen``, ``probability``, ``interval`` and ``is_nearby`` are as in :class:`Explanation`.
    """

    label: str
    occurred: bool
    state: Hashable
    words: str
    support: float
    probability: float
    interval: tuple[float, float]
    seen: str
    is_attribute: bool = False
    is_nearby: bool = False

    def __str__(self) -> str:
        had = f"{'' if self.occurred else 'not '}{'been so' if self.is_attribute else 'occurred'}"
        had += " just now" if self.occurred and not self.is_attribute else ""
        if self.seen == "never":
            return f"had {self.label} {had}: never seen; the prior alone says {percent(self.probability)}"
        mark = ", at moments around this one" if self.is_nearby else ""
        mark += ", hardly seen" if self.seen == "hardly" else ""
        return f"had {self.label} {had}: {percent(self.probability)} ({interval(*self.interval)}{mark})"


@dataclass(frozen=True, repr=False)
class Explanation(Tabular):
    """The state a history is in, how often it was seen, and what that makes of the target's probability.

    Printed, it is a sentence, and one per counterfactual; the frame has a row for each. Of the outcome of an
    open case ``support`` and ``base_rate`` count the cases that were open at that moment.

    Attributes
    ----------
    target : str
        The label that is explained.
    state, words : value, str
        The state as a value to compare by, and the same for people.
    support, seen : float, str
        How often the state was seen, and the same in a word: "never", "hardly" or "often".
    probability, interval : float, pair of float
        The probability of the target, and the exact 95% interval from the counts of the state, extended to
        the probability where the prior took that outside.
    base_rate : float
        The share of the target among all events.
    active : tuple of Active
        The influencers that occurred, with their places.
    counterfactuals : tuple of Counterfactual
        The same history, had one of them not, or another one, occurred.
    in_sequences : bool
        Whether ``support`` counts sequences and not positions.
    is_certain : bool
        Whether the outcome has come about already.
    moment : int or None
        For the outcome of an open case: after how many events cases were counted.
    is_nearby : bool
        Whether fewer than 20 cases were in the state at that moment, so that moments around it count too.
    """

    target: str
    state: Hashable
    words: str
    support: float
    probability: float
    interval: tuple[float, float]
    base_rate: float
    seen: str
    active: tuple[Active, ...]
    counterfactuals: tuple[Counterfactual, ...]
    in_sequences: bool = False
    is_certain: bool = False
    moment: int | None = None
    is_nearby: bool = False

    shown_columns: ClassVar[tuple[str, ...]] = ("target", "probability", "base_rate", "words", "support")

    def certain(self) -> Explanation:
        """The same of what has come about already."""
        nothing: dict[str, Any] = {"active": (), "counterfactuals": ()}
        return replace(self, probability=1.0, interval=(1.0, 1.0), is_certain=True, **nothing)

    def scaled(self, probability: float) -> Explanation:
        """The same where the probabilities of all labels are divided by their sum."""
        low, high = (min(1.0, bound * probability / self.probability) for bound in self.interval)
        return replace(self, probability=probability, interval=(low, high), counterfactuals=())

    def _columns(self) -> Mapping[str, Column]:
        rows: list[tuple[str, Explanation | Counterfactual]] = [("as it is", self)]
        rows += [
            (f"with{'' if each.occurred else 'out'} {each.label}", each) for each in self.counterfactuals
        ]
        cells = [
            (self.target, how, x.words, x.support, x.seen, x.probability, *x.interval, self.base_rate)
            for how, x in rows
        ]
        names = {"target": str, "history": str, "state": str, "support": float, "seen": str}
        names |= {"probability": float, "low": float, "high": float, "base_rate": float}
        return _table(names, cells)

    def summary(self) -> Sheet:
        """The sentences, which notebooks show in HTML."""
        return Sheet(str(self))

    def __str__(self) -> str:
        if self.is_certain:
            return f"{self.target}: already reached"
        p, usual = percent(self.probability), percent(self.base_rate)
        if not self.support:
            never = f"{self.target}: history state never seen: {self.words}; the prior alone says"
            return "\n  ".join([f"{never} {p}, its base rate is {usual}", *map(str, self.counterfactuals)])
        lift = self.probability / self.base_rate if self.base_rate > 0 else math.inf
        often = plural(self.support, "case") if self.in_sequences else f"seen {plural(self.support, 'time')}"
        often += " at the moments around this one" if self.is_nearby else ""
        first = (
            f"{self.target}: {p} (95% interval {interval(*self.interval)}), {lift:.2g} times its base rate "
            f"{usual}, in history state: {self.words} ({often}{', hardly' if self.seen == 'hardly' else ''})"
        )
        return "\n  ".join([first, *map(str, self.counterfactuals)])


def _table(kinds: Mapping[str, type], rows: Iterable[Sequence[Any]]) -> Mapping[str, Column]:
    """Rows as columns of these names and types."""
    columns = zip(kinds.items(), zip(*rows, strict=True), strict=True)
    return {name: Column(kind, values) for (name, kind), values in columns}


# ---------------------------------------------------------------------- a product of factors


@dataclass(frozen=True)
class Share:
    """``label`` occurred last ``lag`` events ago and multiplies the target's probability by ``factor``."""

    label: str
    lag: int
    factor: float

    def __str__(self) -> str:
        return f"{self.label}, {self.lag} before: ×{self.factor:.2f}"


@dataclass(frozen=True, repr=False)
class SharedExplanation(Tabular):
    """Why a joint model gives a label its probability after a history.

    The probability is exactly the base rate times all factors. The frame has one row per factor.

    Attributes
    ----------
    target : str
        The label that is explained.
    probability, base_rate : float
        Its probability after the history, and its share of all events, half an event added to each label.
    shares : tuple of Share
        The factors of influencers, the strongest first.
    habits, place, trees, contexts : float
        The factors of the habits of this sequence, of the place in it, of the trees, and of what followed the
        last labels in all sequences.
    competition : float
        What makes the probabilities of all labels sum to 1: one number for all of them after a history.
    """

    target: str
    probability: float
    base_rate: float
    shares: tuple[Share, ...]
    habits: float
    place: float
    trees: float
    contexts: float
    competition: float

    @property
    def _rest(self) -> list[tuple[str, float]]:
        """The factors that are not of a single influencer; competition comes last."""
        return [(name, getattr(self, name)) for name in _REST]

    def strongest(self, most: int) -> list[tuple[str, float]]:
        """The factors that change most, by name: at most ``most``, none near 1, and not competition."""
        every = [(share.label, share.factor) for share in self.shares]
        every += [(_SAYS.get(name, name), value) for name, value in self._rest[:-1]]
        strong = [(name, value) for name, value in every if abs(math.log(value)) > _NEAR_ONE]
        return sorted(strong, key=lambda each: -abs(math.log(each[1])))[:most]

    def _columns(self) -> Mapping[str, Column]:
        rows: list[tuple[Any, ...]] = [(self.target, one.label, one.lag, one.factor) for one in self.shares]
        rows += [(self.target, name, None, value) for name, value in self._rest]
        return _table({"target": str, "because_of": str, "lag": int, "factor": float}, rows)

    def summary(self) -> Sheet:
        """The factors, as a table that prints well and that notebooks show in HTML."""
        rows = [(f"{share.label}, {share.lag} before", share.factor) for share in self.shares]
        rows += [(_SAYS.get(name, name), value) for name, value in self._rest if value != 1]
        title = f"{self.target}: {percent(self.probability)} instead of {percent(self.base_rate)}"
        return Sheet(title, ["because of", "factor"], [(name, f"×{by:.2f}") for name, by in rows], len(rows))


_REST = ("habits", "place", "trees", "contexts", "competition")
_SAYS = {"contexts": "last two labels"}
#: A factor whose logarithm is this small is not among the strongest.
_NEAR_ONE = 0.05


def ordered(shares: list[Share]) -> tuple[Share, ...]:
    """The strongest first, in either direction."""
    return tuple(sorted(shares, key=lambda share: (-abs(math.log(share.factor)), share.label)))
