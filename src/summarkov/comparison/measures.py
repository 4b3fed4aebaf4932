"""How good probabilities are: predictors are asked about events, and measured against what happened."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.comparison.contenders import Predictor
from summarkov.comparison.learners import is_target
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.models.measures import Binned, hits
from summarkov.typing import BoolArray, FloatArray

#: How far outside 0 to 1 a probability may be.
_ROUNDING = 1e-9
#: Rows to ask about at once, and numbers to keep of them, at most (unless one sequence has more).
_MOST_ROWS, _MOST_CELLS = 1 << 22, 10**8


@dataclass(frozen=True)
class Measures:
    """One target's probabilities against what happened in all test sequences."""

    log_likelihood: float  # summed over positions; -inf where what happened was ruled out
    brier: float  # mean of (p - [it occurred])^2 over positions
    reliability: FloatArray  # one row per bin: positions, sum of p, occurrences

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "reliability": self.reliability.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Measures:
        """Read what :meth:`to_dict` returned."""
        return cls(**{**given, "reliability": np.array(given["reliability"])})


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one target, and how it did on test."""

    target: str
    settings: dict[str, Any]
    dev_log_likelihood: float
    n_influencers: int | None
    measures: Measures
    influencers: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "measures": self.measures.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Chosen:
        """Read what :meth:`to_dict` returned."""
        found, measures = given.get("influencers"), Measures.from_dict(given["measures"])
        return cls(**{**given, "measures": measures, "influencers": found if found is None else tuple(found)})


@dataclass(frozen=True)
class Tuned:
    """One contender on one split: the settings that were chosen, and how they did on test."""

    name: str
    chosen: tuple[Chosen, ...]
    by_sequence: FloatArray  # log-likelihood of each test sequence, mean over the targets
    seconds: float
    top_1: float | None
    top_3: float | None
    next_event_log_loss: float | None = None
    one_for_all: bool = False  # whether all targets have the same settings

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        chosen = [each.to_dict() for each in self.chosen]
        return {**vars(self), "chosen": chosen, "by_sequence": self.by_sequence.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Tuned:
        """Read what :meth:`to_dict` returned."""
        chosen = tuple(Chosen.from_dict(each) for each in given["chosen"])
        return cls(**{**given, "chosen": chosen, "by_sequence": np.array(given["by_sequence"])})

    @property
    def n_positions(self) -> int:
        """The number of positions in the test part: events, or ticks where events happened together."""
        return int(self.chosen[0].measures.reliability[:, 0].sum())

    @property
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.measures.log_likelihood for each in self.chosen]))


def total_of(each: Sequence[Tuned]) -> float:
    """The log-likelihood of a contender, mean over splits."""
    return float(np.mean([tuned.log_likelihood for tuned in each]))


# ---------------------------------------------------------------------- asking


def pieces(events: EventSequences, n_targets: int) -> list[EventSequences]:
    """Events in pieces of whole sequences, small enough to keep the probabilities of all targets."""
    most = min(_MOST_ROWS, _MOST_CELLS // max(1, n_targets))
    if events.n_rows <= most:
        return [events]
    starts = [0]
    for end in range(1, len(events) + 1):
        if events.offsets[end] - events.offsets[starts[-1]] > most and end - 1 > starts[-1]:
            starts.append(end - 1)
    return [events[a:b] for a, b in zip(starts, [*starts[1:], len(events)], strict=True)]


def logs(p: FloatArray, occurred: BoolArray) -> FloatArray:
    """Log p where the target occurred and log(1 - p) where it did not.

    It is minus infinity, without a warning, if something that happened was given no probability at all.

    >>> logs(np.array([0.5, 0.0]), np.array([True, False])).round(4).tolist()
    [-0.6931, 0.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(occurred, p, 1 - p)))


class Answer(NamedTuple):
    """What a predictor said of a target, position by position, and what it comes to for each sequence."""

    p: FloatArray
    occurred: BoolArray
    by_sequence: FloatArray


def ask(contender: str, predictor: Predictor, events: EventSequences, target: str) -> Answer:
    """The probabilities of a target, refused if they are none."""
    p, n = np.asarray(predictor.probability(events, target), dtype=np.float64), events.n_ticks
    if p.shape != (n,):
        raise SettingError(
            f"{contender} must give {target!r} one probability per position, {n} of them, not an "
            f"array of shape {p.shape}"
        )
    if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
        raise SettingError(f"{contender} gives {target!r} a probability that is not between 0 and 1")
    p, occurred = np.clip(p, 0.0, 1.0), is_target(events, target)
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    if events.moments is not None:
        sequence = sequence[events.moments.starts]
    return Answer(p, occurred, np.bincount(sequence, weights=logs(p, occurred), minlength=len(events)))


def log_likelihoods(
    parts: Sequence[EventSequences], contender: str, asked: Mapping[str, Predictor]
) -> dict[str, float]:
    """The log-likelihood of each target, summed over all positions."""
    found: dict[str, list[float]] = {target: [] for target in asked}
    for part in parts:  # one after the other, so that what predictors keep of a piece is at hand
        for target, predictor in asked.items():
            found[target].append(float(ask(contender, predictor, part, target).by_sequence.sum()))
    return {target: math.fsum(each) for target, each in found.items()}


# ---------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class NextEvent:
    """Probabilities of all targets against the label that came, in some of the events; several add up.

    An event that is no target (code -1) can be nobody's prediction: it counts as missed, and the log loss
    leaves it out.
    """

    top_1: int = 0  # events whose label was the most probable
    top_3: int = 0  # or among the three most probable
    n: int = 0  # events that are targets
    logs: float = 0.0  # of the probability of what came, among all targets

    @classmethod
    def of(cls, codes: npt.NDArray[np.integer], p: FloatArray) -> NextEvent:
        """Measure ``p[i, m]``, the probability of target m at event i, which was ``codes[i]``."""
        found = logs_among_all(codes, p)
        return cls(hits(codes, p, 1), hits(codes, p, 3), len(found), float(found.sum()))

    def __add__(self, other: NextEvent) -> NextEvent:
        return NextEvent(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def log_loss(self) -> float | None:
        """Minus the mean logarithm, infinite where what came had no probability; None without events."""
        return abs(self.logs) / self.n if self.n else None


def logs_among_all(codes: npt.NDArray[np.integer], p: FloatArray) -> FloatArray:
    """Logarithms of what came, where ``p[i, m]`` is divided by the sum of its row; without events of code -1.

    They are minus infinity, without a warning, where what came was given no probability at all.

    >>> logs_among_all(np.array([0, -1, 1]), np.array([[0.5, 1.5], [1, 1], [0, 0]])).round(4).tolist()
    [-1.3863, -inf]
    """
    known = np.flatnonzero(codes >= 0)
    own, total = p[known, codes[known]], p.sum(axis=1)[known]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.divide(own, total, out=np.zeros_like(own), where=own > 0)))


class Report(NamedTuple):
    """All measures on all of the events."""

    measures: dict[str, Measures]  # by target
    by_sequence: FloatArray  # mean over the targets
    next_event: NextEvent | None  # None: not looked at


def report(
    parts: Sequence[EventSequences], contender: str, asked: Mapping[str, Predictor], *, next_event: bool
) -> Report:
    """Measure predictions, and those of the next event too if that is wanted and there is one."""
    first = parts[0]
    next_event &= first.attributes is None and (first.moments is None or not first.moments.has_ticks)
    targets = sorted(asked)
    column_of = np.array([*(targets.index(x) if x in asked else -1 for x in first.labels), -1])
    answers: dict[str, list[tuple[float, float, FloatArray]]] = {target: [] for target in targets}
    by_sequence, told = [], NextEvent()
    for part in parts:
        together, mean = np.empty((part.n_rows, len(targets) if next_event else 0)), np.zeros(len(part))
        for at, target in enumerate(targets):
            p, occurred, each = ask(contender, asked[target], part, target)
            bins = Binned.of(p, np.ones(len(p), np.int64), occurred.astype(np.int64)).rows()
            answers[target].append((float(each.sum()), float(((p - occurred) ** 2).sum()), np.array(bins)))
            mean += each
            if next_event:
                together[:, at] = p
        by_sequence.append(mean / len(targets))
        if next_event:
            told += NextEvent.of(column_of[part.codes], together)
    n = max(1, sum(part.n_ticks for part in parts))
    measures = {}
    for target, some in answers.items():
        likelihoods, squares, tables = zip(*some, strict=True)
        measures[target] = Measures(math.fsum(likelihoods), math.fsum(squares) / n, np.sum(tables, axis=0))
    return Report(measures, np.concatenate(by_sequence), told if next_event else None)
