"""How well models predict: sums that add up, wherever the events are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import CountSource, EventSource, Layout, StateCounts, make_source
from summarkov.engines.source import refuse_weights
from summarkov.engines.work import Shard
from summarkov.errors import DataError
from summarkov.events.vocabulary import Unknown
from summarkov.frames import Records
from summarkov.models.distribution import Distribution, check_new_data, most_rows
from summarkov.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted

#: Edges of the bins of a reliability table; finer next to 0, where rare labels live.
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Measured:
    """Sums over events: of weights, of w log p of what happened, and of w times the squared error.

    The squared error is summed over outcomes.
    """

    weight: float = 0.0
    logs: float = 0.0
    squares: float = 0.0

    @property
    def log_likelihood(self) -> float:
        """Summed over all events; minus infinity where what happened was ruled out."""
        return self.logs

    @property
    def score(self) -> float:
        """Mean log-likelihood per event."""
        return self.logs / max(self.weight, 1e-300)

    @property
    def brier(self) -> float:
        """Mean over events of the squared error."""
        return self.squares / max(self.weight, 1e-300)

    @classmethod
    def of(cls, p: FloatArray, outcome: npt.NDArray[np.integer], weight: FloatArray) -> Measured:
        """Measure probabilities ``p[i, x]`` of events whose outcomes were these; -1 is not counted."""
        known = np.flatnonzero(outcome >= 0)
        hit, weight = p[known, outcome[known]], weight[known]
        squares = 1 - 2 * hit + (p[known] ** 2).sum(axis=1)
        with np.errstate(divide="ignore"):
            return cls(*(float(each.sum()) for each in (weight, weight * np.log(hit), weight * squares)))

    @classmethod
    def of_counts(cls, n: FloatArray, theta: FloatArray) -> Measured:
        """Measure the probabilities ``theta[s, x]`` of states that were followed ``n[s, x]`` times by x."""
        squares = n * (1 - 2 * theta + (theta**2).sum(axis=1, keepdims=True))
        return cls(*(float(each.sum()) for each in (n, n * np.log(theta), squares)))

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.weight + other.weight, self.logs + other.logs, self.squares + other.squares)


# ---------------------------------------------------------------------- calibration and accuracy


@dataclass(frozen=True)
class ReliabilityBin:
    """Predictions of about the same probability, and what came of them.

    Attributes
    ----------
    low, high : float
        The predictions are from ``low`` to below ``high``.
    n : int
        How many there are; with weights their sum, rounded.
    predicted, occurred : float
        Their mean, and the share of them that came true.
    """

    low: float
    high: float
    n: int
    predicted: float
    occurred: float

    def to_dict(self) -> dict[str, float]:
        """As plain values, for JSON."""
        return dict(zip(("from", "to", "n", "predicted", "occurred"), vars(self).values(), strict=True))


@dataclass(frozen=True)
class Binned:
    """Predictions of one label in the bins of ``BINS``: how many, the sum of them, and how many came true."""

    sums: FloatArray = field(default_factory=lambda: np.zeros((len(BINS) - 1, 3)))

    @classmethod
    def of(cls, p: FloatArray, n: IntArray, occurred: IntArray) -> Binned:
        """Bin probabilities that were each told ``n`` times and came true ``occurred`` times."""
        bins = np.clip(np.searchsorted(BINS, p, side="right") - 1, 0, len(BINS) - 2)
        each = (np.bincount(bins, weights=w, minlength=len(BINS) - 1) for w in (n, n * p, occurred))
        return cls(np.stack(list(each), axis=1))

    def __add__(self, other: Binned) -> Binned:
        return Binned(self.sums + other.sums)

    def rows(self, scale: int = 1) -> list[list[float]]:
        """One row per bin: predictions, the sum of them, and how many came true, in units of ``scale``."""
        found: list[list[float]] = (self.sums / scale).tolist()
        return found


def reliability_bins(tables: Sequence[npt.ArrayLike]) -> Records[ReliabilityBin]:
    """The bins that are not empty of some tables as :meth:`Binned.rows` has them, added up."""
    total: list[list[float]] = np.sum([np.asarray(table) for table in tables], axis=0).tolist()
    bins = (
        ReliabilityBin(low, high, round(n), p / n, y / n)
        for low, high, (n, p, y) in zip(BINS[:-1], BINS[1:], total, strict=True)
        if n
    )
    return Records(bins, ReliabilityBin)


def hits(codes: npt.NDArray[np.integer], p: FloatArray, k: int, n: IntArray | None = None) -> int:
    """How many events have a label among the k most probable; ``p[i, m]``, ties to the first labels.

    An event of no label (code -1) can be nobody's prediction and counts as missed. Event i counts ``n[i]``
    times; without ``n``, once.

    >>> hits(np.array([0, 1, -1]), np.array([[0.5, 0.5]] * 3), 1)
    1
    """
    known = np.flatnonzero(codes >= 0)
    own = p[known, codes[known]][:, None]
    ahead = (p[known] > own).sum(axis=1)
    ahead += ((p[known] == own) & (np.arange(p.shape[1]) < codes[known][:, None])).sum(axis=1)
    return int((ahead < k).sum() if n is None else n[known][ahead < k].sum())


# ---------------------------------------------------------------------- new data


def new_source(
    model: Distribution, data: Any, unknown: Unknown, sample_weight: Any = None, n_jobs: int | None = None
) -> CountSource:
    """New data in the vocabulary of a model."""
    if isinstance(data, CountSource) and not isinstance(data, EventSource):
        refuse_weights(data, sample_weight)
        if tuple(data.labels) != model.labels:
            raise DataError("this source has another vocabulary than the model; give it the model's labels_")
        return data
    source = make_source(data, sample_weight=sample_weight, n_jobs=n_jobs)
    check_new_data(model.layout, bool(source.attributes), Layout.of(source).time)
    return source.recode(model.labels, unknown=unknown)


def states_seen(models: Sequence[Fitted], source: CountSource) -> Iterator[tuple[IntArray, FloatArray]]:
    """Of each model what followed every state, in units of ``1 / scale``, and the probabilities told there.

    Models have one target each, and events are in their vocabulary. All are counted in one pass.
    """
    for fitted, table in zip(models, source.count([each.request for each in models]), strict=True):
        assert isinstance(table, StateCounts)
        yield table.counts, fitted.theta[fitted.rows(table.keys)]


def measure(
    model: Distribution, events: Any, unknown: Unknown, sample_weight: Any = None, n_jobs: int | None = None
) -> Measured:
    """Measure predictions of new events: from counts where targets are told apart, else event by event."""
    model.check_complete()
    source = new_source(model, events, unknown, sample_weight, n_jobs)
    if model.is_apart:
        seen = states_seen(model.parts, source)
        each = [Measured.of_counts(n / source.scale, theta) for n, theta in seen]
        return replace(sum(each, Measured()), weight=each[0].weight)
    return run_on(source, MeasureWork(model, source.scale)).whole


def run_on(source: CountSource, work: MeasureWork) -> Tallied:
    """Measure predictions event by event, which takes events and not only counts."""
    if not isinstance(source, EventSource):
        raise DataError("this source only counts; to measure the next event, give the events themselves")
    return source.run(work)


@dataclass(frozen=True)
class Tallied:
    """Predictions of some events, measured: the whole distribution, and single labels, each against all else.

    Numbers of events are in units of ``1 / scale``.
    """

    whole: Measured
    each: tuple[Measured, ...] = ()
    binned: tuple[Binned, ...] = ()
    n: int = 0  # events of labels that are known
    hits: tuple[int, int] = (0, 0)  # events whose label was the most probable, or among the three

    def __add__(self, other: Tallied) -> Tallied:
        return Tallied(
            self.whole + other.whole,
            tuple(a + b for a, b in zip(self.each, other.each, strict=True)),
            tuple(a + b for a, b in zip(self.binned, other.binned, strict=True)),
            self.n + other.n,
            (self.hits[0] + other.hits[0], self.hits[1] + other.hits[1]),
        )


@dataclass(frozen=True)
class MeasureWork:
    """Measures predictions on every shard: the whole distribution, and each of ``labels``.

    ``labels`` are the numbers of outcomes that are measured one by one, each against all else. ``accuracy``
    asks how often the next event was among the most probable ones.
    """

    model: Distribution
    scale: int = 1  # of the weights
    labels: tuple[int, ...] = ()
    accuracy: bool = False

    @property
    def most_rows(self) -> int:
        """How many rows to predict at once."""
        return most_rows(self.model)

    def run(self, shard: Shard) -> Tallied:
        """Measure predictions of some sequences, which are in the codes of the model."""
        index, rows = shard.index, shard.index.begins
        n = np.ones(len(shard.codes), np.int64) if shard.weights is None else shard.of_rows(shard.weights)
        return self._tally(self.model.at(index)[rows], self.model.outcome_of[index.codes][rows], n[rows])

    def _tally(self, p: FloatArray, happened: npt.NDArray[np.integer], n: IntArray) -> Tallied:
        weight, each, binned = n / self.scale, [], []
        for x in self.labels:
            occurred = happened == x
            each.append(Measured.of(np.stack([p[:, x], 1 - p[:, x]], 1), 1 * ~occurred, weight))
            binned.append(Binned.of(p[:, x], n, n * occurred))
        right = (0, 0)
        if self.accuracy:
            names = [str(x) for x in self.model.outcomes]
            order = sorted(range(len(names)), key=names.__getitem__)  # ties go to the first name
            code = np.append(np.argsort(order), -1)[happened]
            right = hits(code, p[:, order], 1, n), hits(code, p[:, order], 3, n)
        known = int(n[happened >= 0].sum())
        return Tallied(Measured.of(p, happened, weight), tuple(each), tuple(binned), known, right)

    def total(self, answers: Sequence[Tallied]) -> Tallied:
        """Add up several shards."""
        n = len(self.labels)
        return sum(answers, Tallied(Measured(), (Measured(),) * n, (Binned(),) * n))
