"""How well models predict: sums that add up, wherever the events are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from summarkov.engines import CountSource, Layout, StateCounts, make_source
from summarkov.engines.messages import travels
from summarkov.engines.work import Part
from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import Unknown, check_unknown
from summarkov.frames import Column, Sheet, Tabular
from summarkov.models.learning import n_positions
from summarkov.models.predictions import blocks_to_predict
from summarkov.scores import probabilities
from summarkov.scores.estimates import ExactSum
from summarkov.settings import Progress, reporter
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.predictor import Predictor

#: Models that are counted in one pass.
_AT_ONCE = 64


travels(ExactSum)


@travels
@dataclass(frozen=True)
class Measured:
    """Sums over events: of weights, of w log p of what happened, and of w times the squared error.

    The squared error is summed over outcomes. The sums are exact, so they do not depend on where the events
    are nor on how they are cut.
    """

    weight: ExactSum = field(default_factory=ExactSum)
    logs: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)

    @property
    def log_likelihood(self) -> float:
        """Summed over all events; minus infinity where what happened was ruled out."""
        return float(self.logs)

    @property
    def score(self) -> float:
        """Mean log-likelihood per event."""
        return float(self.logs) / max(float(self.weight), 1e-300)

    @property
    def brier(self) -> float:
        """Mean over events of the squared error."""
        return float(self.squares) / max(float(self.weight), 1e-300)

    @classmethod
    def of(cls, p: FloatArray, outcome: npt.NDArray[np.integer], weight: FloatArray) -> Measured:
        """Measure probabilities ``p[i, x]`` of events whose outcomes were these; -1 is not counted."""
        known = np.flatnonzero(outcome >= 0)
        hit, weight = p[known, outcome[known]], weight[known]
        squares = 1 - 2 * hit + (p[known] ** 2).sum(axis=1)
        with np.errstate(divide="ignore"):
            terms = (weight, weight * np.log(hit), weight * squares)
        return cls(*map(ExactSum.of, terms))

    @classmethod
    def of_counts(cls, n: FloatArray, theta: FloatArray) -> Measured:
        """Measure the probabilities ``theta[s, x]`` of states that were followed ``n[s, x]`` times by x."""
        squares = n * (1 - 2 * theta + (theta**2).sum(axis=1, keepdims=True))
        return cls(*(ExactSum.of(each.ravel()) for each in (n, n * np.log(theta), squares)))

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.weight + other.weight, self.logs + other.logs, self.squares + other.squares)


# ---------------------------------------------------------------------- models of one target, from counts


def measure_models(models: Sequence[Fitted], source: CountSource) -> list[Measured]:
    """Measure models of one target each on events in their vocabulary, in one pass."""
    found = []
    for fitted, table in zip(models, source.count([each.request for each in models]), strict=True):
        assert isinstance(table, StateCounts)
        found.append(Measured.of_counts(table.counts / source.scale, fitted.theta[fitted.rows(table.keys)]))
    return found


# ---------------------------------------------------------------------- all that predict, event by event


@dataclass(frozen=True)
class MeasureWork:
    """Measures predictions on every part of a source: the whole distribution, and each of ``labels``.

    ``labels`` are the numbers of outcomes that are measured one by one, each against all else.
    """

    model: Predictor
    scale: int = 1  # of the weights
    labels: tuple[int, ...] = ()

    def run(self, part: Part) -> list[Measured]:
        """Block by block."""
        found = [Measured()] * (1 + len(self.labels))
        for block, index in blocks_to_predict(self.model, part):
            p, weight = self.model._at(index), np.ones(len(block.codes))
            if block.weights is not None:
                weight = np.repeat(block.weights / self.scale, np.diff(block.offsets))
            rows = index.begins
            p, happened, weight = p[rows], self.model._outcomes_at(index)[rows], weight[rows]
            found[0] += Measured.of(p, happened, weight)
            for at, x in enumerate(self.labels, 1):
                found[at] += Measured.of(np.stack([p[:, x], 1 - p[:, x]], 1), 1 * (happened != x), weight)
        return found

    def total(self, answers: Sequence[list[Measured]]) -> list[Measured]:
        """Add up several parts."""
        none = [Measured()] * (1 + len(self.labels))
        return [sum(each, Measured()) for each in zip(none, *answers, strict=True)]


def measure(model: Predictor, events: Any, unknown: Unknown, sample_weight: Any = None) -> Measured:
    """Measure predictions event by event, on events or on a source of them."""
    source = make_source(events, sample_weight=sample_weight).recode(model.labels_, unknown=unknown)
    (found,) = source.run(MeasureWork(model, source.scale))
    return found


# ---------------------------------------------------------------------- beside the base rate


@dataclass(frozen=True)
class Figures:
    """How well a target, or the next event, was predicted.

    Attributes
    ----------
    n_positions : int
        How many positions were predicted: events, or ticks where events happened together.
    log_likelihood : float
        The sum of the logarithms of the probabilities of what happened.
    log_loss, base_rate_log_loss : float
        Minus the mean of these logarithms; and the same of never looking at the past.
    brier_score : float
        The mean squared error of the probabilities.
    """

    n_positions: int
    log_likelihood: float
    log_loss: float
    base_rate_log_loss: float
    brier_score: float

    @property
    def gain(self) -> float:
        """Which share of the base rate's log loss the model saves."""
        return 1 - self.log_loss / self.base_rate_log_loss if self.base_rate_log_loss else 0.0


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """How well a model or graph predicts new events.

    The frame has one row per target.

    Attributes
    ----------
    n_sequences, n_events : int
        The sizes of the new data.
    targets : dict of Figures
        How well each target was predicted.
    next_event : Figures or None
        How well the next event was predicted, by a graph over all labels or a joint
        model.
    n_ticks : int or None
        The number of positions, where some events happened together.
    """

    n_sequences: int
    n_events: int
    targets: Mapping[tuple[str, ...], Figures]
    next_event: Figures | None = None
    n_ticks: int | None = None

    @property
    def unit(self) -> str:
        """What a position is: an "event", or a "tick" where events happened together."""
        return "event" if self.n_ticks is None else "tick"

    def _columns(self) -> Mapping[str, Column]:
        names = ("n_positions", "log_likelihood", "log_loss", "base_rate_log_loss", "gain", "brier_score")
        figures = self.targets.values()
        return {
            "target": Column(str, [" + ".join(target) for target in self.targets]),
            **{
                name: Column(
                    int if name == "n_positions" else float, [getattr(each, name) for each in figures]
                )
                for name in names
            },
        }

    def summary(self) -> Sheet:
        """The figures, as a table that prints well and that notebooks show in HTML."""
        named = {" + ".join(target): each for target, each in self.targets.items()}
        rows = [
            [name, f"{each.log_loss:.4f}", f"{each.base_rate_log_loss:.4f}", f"{100 * each.gain:.1f}%"]
            for name, each in (
                named if self.next_event is None else named | {"(next event)": self.next_event}
            ).items()
        ]
        head = ["target", "log loss", "base rate", "gain"]
        return Sheet(f"Log loss per {self.unit}, in nats: smaller is better", head, rows, len(rows))


def evaluate(
    models: Sequence[Fitted],
    source: CountSource,
    events: Any,
    *,
    graph: Predictor | None = None,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate models on ``events``, which ``source`` has in their vocabulary; a complete graph as well."""
    n_events, tell = _check_any(source, events), reporter(progress)
    total = len(models) + (graph is not None)
    n_ticks = n_positions(source) if Layout.of(source).together else None
    targets: dict[tuple[str, ...], Figures] = {}
    for start in range(0, len(models), _AT_ONCE):
        some = models[start : start + _AT_ONCE]
        for fitted, found in zip(some, measure_models(some, source), strict=True):
            counts = source.label_counts[list(fitted.target.codes)].tolist()
            if fitted.target.has_residual:
                counts.append((n_events if n_ticks is None else n_ticks) - sum(counts))
            brier = found.brier / 2 if len(counts) == 2 else found.brier
            names = tuple(fitted.labels[code] for code in fitted.target.codes)
            targets[names] = _figures(found, counts, _overall(fitted), brier)
        tell(len(targets), total)
    next_event = None
    if graph is not None:
        found = measure(graph, events, "ignore")
        shares = [_overall(fitted)[0] for fitted in models]
        base = [share / sum(shares) for share in shares]
        counts = source.label_counts[[fitted.target.codes[0] for fitted in models]].tolist()
        next_event = _figures(found, counts, base, found.brier)
        tell(total, total)
    return Evaluation(source.n_sequences, n_events, targets, next_event, n_ticks)


def evaluate_distribution(
    model: Predictor, rates: Sequence[float], events: Any, unknown: Unknown, progress: Progress = None
) -> Evaluation:
    """Evaluate one distribution with these base rates: every label against all else, and the next event."""
    data = make_source(events)
    source, tell = data.recode(model.labels_, unknown=unknown), reporter(progress)
    n_events, names = _check_any(source, data), [x for x in model.outcomes_ if isinstance(x, str)]
    counts = [int(source.label_counts[model.labels_.index(x)]) for x in names]
    whole, *each = source.run(MeasureWork(model, source.scale, tuple(range(len(names)))))
    targets: dict[tuple[str, ...], Figures] = {
        (x,): _figures(found, [n, n_events - n], [rate, 1 - rate], found.brier / 2)
        for x, found, n, rate in zip(names, each, counts, rates, strict=False)
    }
    if len(names) < len(model.outcomes_):
        counts.append(n_events - sum(counts))
    tell(len(names), len(names))
    next_event = _figures(whole, counts, rates, whole.brier)
    return Evaluation(source.n_sequences, n_events, targets, next_event)


def _check_any(source: CountSource, events: Any) -> int:
    """How many events there are to evaluate a model on; refuse none, and such as it knows nothing of."""
    if not events.n_events:
        raise DataError("there are no events to evaluate the model on")
    if not source.label_counts.any():
        raise DataError(
            "no event has a label that the model knows; give events like those that it was learned from"
        )
    return int(events.n_events)


def _figures(found: Measured, counts: Sequence[int], base: Sequence[float], brier: float) -> Figures:
    n = sum(counts)
    loss = -sum(each * math.log(p) for each, p in zip(counts, base, strict=True) if each) / n
    return Figures(n, found.log_likelihood, -found.log_likelihood / n, loss, brier)


def _overall(fitted: Fitted) -> list[float]:
    """The same estimate with no influencers: what the model would say if it never looked at the past."""
    overall: list[float] = probabilities(fitted.counts.sum(axis=0), fitted.pseudo).tolist()
    return overall


Measure = Literal["log_likelihood", "brier"]


def scorer(measure: Measure = "log_likelihood", *, unknown: Unknown = "error") -> EventScorer:
    """What to give scikit-learn as ``scoring=``, for models, graphs, bags, and pipelines that end in one.

    Parameters
    ----------
    measure : {"log_likelihood", "brier"}
        The mean log-likelihood per event, as ``score`` has it; or the Brier score, times -1, so that larger
        is better.
    unknown : {"error", "ignore"}
        What to do about labels that occur in the part to test and not in that to learn from.

    >>> from sklearn.model_selection import cross_val_score
    >>> from summarkov import BSuMM
    >>> events = [["a", "b"], ["b", "a"], ["a", "b", "c"]] * 4
    >>> cross_val_score(BSuMM("b", lookback=1), events, cv=3, scoring=scorer(unknown="ignore")).round(2)
    array([-0.31, -0.51, -0.31])
    """
    if measure not in ("log_likelihood", "brier"):
        raise SettingError(f"measure must be 'log_likelihood' or 'brier', not {measure!r}")
    check_unknown(unknown)
    return EventScorer(measure, unknown)


@dataclass(frozen=True)
class EventScorer:
    """A measure of a fitted model on events; larger is better."""

    measure: Measure
    unknown: Unknown

    def __call__(self, estimator: Any, events: Any, y: None = None) -> float:
        """Measure a model, or the last step of a pipeline after the steps before it."""
        if hasattr(estimator, "steps"):
            *steps, (_, estimator) = estimator.steps
            for _, step in steps:
                events = events if step is None or step == "passthrough" else step.transform(events)
        if self.measure == "brier":
            return -float(estimator.brier_score(events, unknown=self.unknown))
        return float(estimator.score(events, unknown=self.unknown))
