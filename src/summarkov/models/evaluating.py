"""How well models predict new events, beside never looking at the past: figures, calibration, accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from summarkov.engines import CountSource, Layout, make_source
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events.vocabulary import Unknown
from summarkov.frames import Column, Records, Sheet, Tabular
from summarkov.models.learning import n_positions
from summarkov.models.measures import (
    Binned,
    Measured,
    MeasureWork,
    ReliabilityBin,
    Tallied,
    reliability_bins,
    states_seen,
)
from summarkov.scores import probabilities
from summarkov.settings import Progress, reporter

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.predictor import Predictor

#: Models that are counted in one pass.
_AT_ONCE = 64


@dataclass(frozen=True)
class Figures:
    """How well a target, or the next event, was predicted.

    Attributes
    ----------
    n_positions : int
        How many positions were predicted: events, or ticks where events happened together; with weights
        their sum, rounded.
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
    top_1, top_3 : float or None
        How often the next event was the most likely one, or among the three most likely ones; of equally
        likely ones the first by name counts. Events of unknown labels are left out. None where no next event
        is predicted.
    tables : dict
        Calibration, by label: one row per bin, with the number of predictions, their sum, and how many came
        true. See :meth:`reliability`.
    """

    n_sequences: int
    n_events: int
    targets: Mapping[tuple[str, ...], Figures]
    next_event: Figures | None = None
    n_ticks: int | None = None
    top_1: float | None = None
    top_3: float | None = None
    tables: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    def reliability(self, label: str | None = None) -> Records[ReliabilityBin]:
        """Calibration: mean prediction and share that occurred, per bin of predictions.

        Over all labels of the targets, or of one of them. Empty bins are left out.
        """
        if label is not None and label not in self.tables:
            some = f"; choose one such as {', '.join(list(self.tables)[:5])}"
            raise SettingError(f"there is no label {label!r}{nearest(str(label), self.tables) or some}")
        return reliability_bins(list(self.tables.values()) if label is None else [self.tables[label]])

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
        if self.next_event is not None:
            named["(next event)"] = self.next_event
        rows = [
            [name, f"{each.log_loss:.4f}", f"{each.base_rate_log_loss:.4f}", f"{100 * each.gain:.1f}%"]
            for name, each in named.items()
        ]
        head = ["target", "log loss", "base rate", "gain"]
        title = f"Log loss per {self.unit}, in nats: smaller is better"
        return Sheet(title, head, rows, len(rows), [self.accuracy_words] if self.accuracy_words else [])

    @property
    def accuracy_words(self) -> str:
        """How often the next event was among the most likely ones, as a sentence; nothing where unknown."""
        if self.top_1 is None or self.top_3 is None:
            return ""
        return (
            f"The next event was the most likely one in {self.top_1:.1%}, and among the three most likely "
            f"ones in {self.top_3:.1%}; of equally likely ones the first by name counts."
        )


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
    tables: dict[str, list[list[float]]] = {}
    for start in range(0, len(models), _AT_ONCE):
        some = models[start : start + _AT_ONCE]
        for fitted, (n, theta) in zip(some, states_seen(some, source), strict=True):
            found = Measured.of_counts(n / source.scale, theta)
            counts = _label_counts(source, fitted.target.codes)
            if fitted.target.has_residual:
                counts.append(float(found.weight) - sum(counts))
            brier = found.brier / 2 if len(counts) == 2 else found.brier
            names = tuple(fitted.labels[code] for code in fitted.target.codes)
            targets[names] = _figures(found, counts, _overall(fitted), brier)
            for x, name in enumerate(names):
                tables[name] = Binned.of(theta[:, x], n.sum(axis=1), n[:, x]).rows(source.scale)
        tell(len(targets), total)
    if graph is None:
        return Evaluation(source.n_sequences, n_events, targets, None, n_ticks, tables=tables)
    data = make_source(events).recode(graph.labels_, unknown="ignore")
    tally = data.run(MeasureWork(graph, data.scale, accuracy=True))
    shares = [_overall(fitted)[0] for fitted in models]
    base = [share / sum(shares) for share in shares]
    counts = _label_counts(source, [fitted.target.codes[0] for fitted in models])
    next_event = _figures(tally.whole, counts, base, tally.whole.brier)
    tell(total, total)
    return Evaluation(source.n_sequences, n_events, targets, next_event, n_ticks, *_accuracy(tally), tables)


def evaluate_distribution(
    model: Predictor, rates: Sequence[float], events: Any, unknown: Unknown, progress: Progress = None
) -> Evaluation:
    """Evaluate one distribution with these base rates: every label against all else, and the next event."""
    data = make_source(events)
    source, tell = data.recode(model.labels_, unknown=unknown), reporter(progress)
    n_events, names = _check_any(source, data), [x for x in model.outcomes_ if isinstance(x, str)]
    counts = _label_counts(source, [model.labels_.index(x) for x in names])
    is_complete = len(names) == len(model.outcomes_)
    tally = source.run(MeasureWork(model, source.scale, tuple(range(len(names))), is_complete))
    targets: dict[tuple[str, ...], Figures] = {
        (x,): _figures(found, [n, float(found.weight) - n], [rate, 1 - rate], found.brier / 2)
        for x, found, n, rate in zip(names, tally.each, counts, rates, strict=False)
    }
    if not is_complete:
        counts.append(float(tally.whole.weight) - sum(counts))
    tell(len(names), len(names))
    next_event = _figures(tally.whole, counts, rates, tally.whole.brier)
    top_1, top_3 = _accuracy(tally) if is_complete else (None, None)
    tables = {x: binned.rows(source.scale) for x, binned in zip(names, tally.binned, strict=True)}
    return Evaluation(source.n_sequences, n_events, targets, next_event, None, top_1, top_3, tables)


def _label_counts(source: CountSource, codes: Sequence[int]) -> list[float]:
    """How often some labels occurred, weighted."""
    counts: list[float] = (source.label_counts[list(codes)] / source.scale).tolist()
    return counts


def _accuracy(tally: Tallied) -> tuple[float, float]:
    best, best_three = tally.hits
    return best / tally.n, best_three / tally.n


def _check_any(source: CountSource, events: Any) -> int:
    """How many events there are to evaluate a model on; refuse none, and such as it knows nothing of."""
    if not events.n_events:
        raise DataError("there are no events to evaluate the model on")
    if not source.label_counts.any():
        raise DataError(
            "no event has a label that the model knows; give events like those that it was learned from"
        )
    return int(events.n_events)


def _figures(found: Measured, counts: Sequence[float], base: Sequence[float], brier: float) -> Figures:
    n = float(found.weight)
    loss = -sum(each * math.log(p) for each, p in zip(counts, base, strict=True) if each) / n
    return Figures(round(n), found.log_likelihood, -found.log_likelihood / n, loss, brier)


def _overall(fitted: Fitted) -> list[float]:
    """The same estimate with no influencers: what the model would say if it never looked at the past."""
    overall: list[float] = probabilities(fitted.counts.sum(axis=0), fitted.pseudo).tolist()
    return overall
