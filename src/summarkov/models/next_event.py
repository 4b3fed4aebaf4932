"""The distribution of the next event, sequences followed one event at a time, and what comes at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from summarkov.engines import IN_A_ROW, Layout
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events.vocabulary import END, UNKNOWN, Unknown, check_unknown, iterate, label_text
from summarkov.kernels import Index, Places
from summarkov.models.fitted import Fitted
from summarkov.models.parameters import codes_of
from summarkov.settings import check_whole
from summarkov.simulate.draw import after_histories, flat
from summarkov.typing import CodeArray, FloatArray, IntArray
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


class _Following:
    """One sequence that is followed: as much of its past as is needed for what comes next."""

    def __init__(
        self, labels: tuple[str, ...], horizon: int | None, unknown: Unknown, layout: Layout
    ) -> None:
        check_unknown(unknown)
        if layout.attributes or layout.time is not None:
            raise SettingError(
                "a history of labels has no attributes and no times, which this model looks at; give "
                "predict_next events that have them"
            )
        self._labels, self._horizon, self._unknown = labels, horizon, unknown
        self._together = layout.together
        self._codes = {label: code for code, label in enumerate(labels)}
        self._ticks: list[list[int]] = []  # the codes of what happened at each position
        self._n_observed = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({plural(self._n_observed, 'event')} observed)"

    def observe(self, event: object) -> None:
        """Tell it the event that happened next; or a list of those that happened together."""
        self._n_observed += 1
        several = self._together and isinstance(event, list | tuple | Set)
        codes = sorted({self._code(each) for each in (event if several else [event])})  # type: ignore[attr-defined]  # a list
        self._ticks.append(codes or [UNKNOWN])
        if self._horizon is not None:
            del self._ticks[: -self._horizon or None]

    def _code(self, event: object) -> int:
        label = label_text(event)
        code = self._codes.get(label, UNKNOWN)
        if code == UNKNOWN and self._unknown != "ignore":
            raise UnknownLabelError(label, self._labels)
        return code

    def _next_place(self) -> Index:
        """What happened, and last the place where the next event will stand."""
        codes = np.array([*(code for tick in self._ticks for code in tick), UNKNOWN], np.int32)
        places = None
        if self._together:
            starts = [at == 0 for tick in self._ticks for at in range(len(tick))]
            places = Places(np.array([*starts, True]), np.zeros(len(self._labels) + 1, bool))
        return Index(codes, np.array([0, len(codes)], np.int64), len(self._labels), places)


class Follower(_Following):
    """The probabilities of the next event, kept up to date.

    >>> from summarkov import BSuMM
    >>> model = BSuMM("B", lookback=1).fit([["A", "B", "A", "B", "C"]] * 9)
    >>> follower = model.follow()
    >>> follower.observe("A")
    >>> round(float(follower.probabilities()[0]), 2)
    0.99
    """

    def __init__(self, fitted: Fitted, unknown: Unknown) -> None:
        super().__init__(fitted.labels, fitted.summary.horizon, unknown, fitted.layout)
        self._fitted = fitted

    def probabilities(self) -> FloatArray:
        """Probability of each outcome (as in ``outcomes_``) for the event to come."""
        return np.asarray(self._fitted.theta[self.row])

    @property
    def row(self) -> int:
        """The row of the model's probabilities that holds now."""
        return int(self._fitted.predict(self._next_place())[-1])


class Distribution(ABC):
    """Something fitted that gives every label, or other outcome, its probability at any place."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The vocabulary."""

    @property
    @abstractmethod
    def horizon(self) -> int | None:
        """How many of the last positions can matter, see ``Summary.horizon``."""

    @abstractmethod
    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of every outcome at some positions, one row per position."""

    @property
    def layout(self) -> Layout:
        """What the data it was learned from had beside events in a row."""
        return IN_A_ROW

    @abstractmethod
    def check_complete(self) -> None:
        """Refuse what does not tell all labels apart."""

    def after(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        self.check_complete()
        codes, offsets, ends = after_histories(*flat(histories), self.horizon)
        return self.at(Index(codes, offsets, len(self.labels)), ends)


@dataclass(frozen=True)
class NextEvent(Distribution):
    """Fitted models of one vocabulary, one per label."""

    models: Mapping[str, SummaryModel]

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary."""
        return next(iter(self.models.values())).labels_

    @property
    def horizon(self) -> int | None:
        """How many of the last positions can matter to one of the models."""
        found = [model.fitted.summary.horizon for model in self.models.values()]
        return max((k for k in found if k is not None), default=0) if None not in found else None

    def check_complete(self) -> None:
        """Refuse models of some labels only."""
        if not self.is_complete:
            raise SettingError(
                "the next-event distribution needs a model for every label; fit the graph without targets="
            )

    @property
    def is_complete(self) -> bool:
        """Whether there is a model for every label of events."""
        first = next(iter(self.models.values())).fitted
        return len(self.models) == len(self.labels) - len(first.layout.attributes)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of every target at some positions, one row per position.

        Models of some labels only are not normalised: each of them stands for itself.
        """
        p = np.column_stack([model._at(index, positions)[:, 0] for model in self.models.values()])
        return np.asarray(p / p.sum(axis=1, keepdims=True)) if self.is_complete and not self.together else p

    @property
    def layout(self) -> Layout:
        return next(iter(self.models.values())).fitted.layout

    @property
    def together(self) -> bool:
        """Whether several labels can come at once, each with a probability of its own."""
        return self.layout.together


class GraphFollower(_Following):
    """The next-event distribution of a graph or a joint model, kept up to date."""

    def __init__(self, next_event: Distribution, unknown: Unknown) -> None:
        super().__init__(next_event.labels, next_event.horizon, unknown, next_event.layout)
        self._next = next_event

    def probabilities(self) -> FloatArray:
        """Probability of every outcome (as in ``outcomes_``) for the event to come."""
        return np.asarray(self._next.at(self._next_place(), np.array([-1]))[0])


#: Different pasts that are followed at once; where there are more, sequences are drawn.
_MOST_PASTS = 20_000
#: Sequences that are drawn.
_DRAWN = 10_000
#: What may be left undecided of an event that may come at any time.
_LEFT = 1e-9
#: Events after which such a one is not waited for any longer.
_LONGEST = 10_000


@dataclass(frozen=True)
class Reached:
    """The probability that a label comes, and how it was found.

    Attributes
    ----------
    probability : float
        The probability.
    error : float
        Its standard error; 0 where it was worked out exactly from all that may happen.
    method : str
        "exact" or "drawn".
    """

    probability: float
    error: float
    method: Literal["exact", "drawn"]


def reach(
    model: Distribution, history: Iterable[object], label: object, within: int | None, seed: int
) -> Reached:
    """See :meth:`InfluenceGraph.probability_of`."""
    model.check_complete()
    labels = model.labels
    past = np.array(codes_of(iterate(history), labels), np.int32)
    (x,) = codes_of([label], labels)
    end = labels.index(END) if END in labels else None
    if within is None and end is None:
        raise SettingError(
            "without within=, a number of events, it must be known when a sequence ends; learn from complete "
            "sequences (ends='complete')"
        )
    if within is not None:
        check_whole("within", within, 1, _LONGEST)
    steps = _LONGEST if within is None else within
    recent = model.horizon
    if recent is not None:
        found = _exactly(model, past[max(0, len(past) - recent) :], x, end, steps, recent)
        if found is not None:
            return Reached(found, 0.0, "exact")
    return _by_drawing(model, past, x, end, steps, recent, seed)


def _exactly(
    model: Distribution, past: CodeArray, x: int, end: int | None, steps: int, recent: int
) -> float | None:
    """Follow all that may happen; None where there is too much of it."""
    pasts, reached = past[None, :], 0.0
    mass: FloatArray = np.ones(1)
    for _ in range(steps):
        p = model.after(pasts)
        reached += float(mass @ p[:, x])
        p = p * mass[:, None]
        p[:, [x] if end is None else [x, end]] = 0.0
        if p.sum() < _LEFT:
            break
        came, label = np.nonzero(p)
        longer = np.column_stack([pasts[came], label.astype(np.int32)])
        longer = longer[:, max(0, longer.shape[1] - recent) :]
        pasts, which = np.unique(longer, axis=0, return_inverse=True)
        if len(pasts) > _MOST_PASTS:
            return None
        mass = np.bincount(which.reshape(-1), p[came, label], len(pasts)).astype(float)
    return min(reached, 1.0)


def _by_drawing(
    model: Distribution, past: CodeArray, x: int, end: int | None, steps: int, recent: int | None, seed: int
) -> Reached:
    """Draw sequences that go on from the history, and count."""
    rng = np.random.default_rng(seed)
    pasts, reached = np.repeat(past[None, :], _DRAWN, axis=0), 0
    for _ in range(steps):
        if not len(pasts):
            break
        p: FloatArray = model.after(pasts)
        drawn = (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)).sum(axis=1).astype(np.int32)
        drawn = np.minimum(drawn, p.shape[1] - 1)
        reached += int((drawn == x).sum())
        on = (drawn != x) & (True if end is None else drawn != end)
        pasts = np.column_stack([pasts[on], drawn[on]])
        if recent is not None:
            pasts = pasts[:, max(0, pasts.shape[1] - recent) :]
    share = reached / _DRAWN
    return Reached(share, float(np.sqrt(max(share * (1 - share), 1 / _DRAWN) / _DRAWN)), "drawn")
