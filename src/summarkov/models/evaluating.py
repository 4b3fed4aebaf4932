"""How well models predict new events, beside never looking at the past: figures, calibration, accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from summarkov.engines import CountSource, Layout, make_source
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events.vocabulary import Unknown
from summarkov.frames import Column, Records, Sheet, Tabular
from summarkov.models.distribution import Distribution
from summarkov.models.learning import n_positions
from summarkov.models.measures import (
    Binned,
    Measured,
    MeasureWork,
    ReliabilityBin,
    new_source,
    reliability_bins,
    run_on,
    states_seen,
)
from summarkov.settings import Progress, reporter
from summarkov.typing import FloatArray

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
    model: Distribution, events: Any, unknown: Unknown, n_jobs: int | None, progress: Progress
) -> Evaluation:
    """Evaluate what was learned on new events: every target, and the next event where that is told."""
    data, tell = make_source(events), reporter(progress)
    source = new_source(model, data, unknown, None, n_jobs)
    n_events = _check_any(source, data)
    targets: dict[tuple[str, ...], Figures] = {}
    tables: dict[str, list[list[float]]] = {}
    tells_next = model.is_complete and not model.is_apart
    total = len(model.parts) + tells_next
    for start in range(0, len(model.parts), _AT_ONCE):
        some = model.parts[start : start + _AT_ONCE]
        for fitted, (n, theta) in zip(some, states_seen(some, source), strict=True):
            found = Measured.of_counts(n / source.scale, theta)
            names = tuple(fitted.labels[code] for code in fitted.target.codes)
            targets[names] = _figures(found, _counts(source, fitted, found), fitted.overall)
            for x, name in enumerate(names):
                tables[name] = Binned.of(theta[:, x], n.sum(axis=1), n[:, x]).rows(source.scale)
        tell(len(targets), total)
    n_ticks = n_positions(source) if Layout.of(source).together else None
    if not tells_next:
        return Evaluation(source.n_sequences, n_events, targets, None, n_ticks, tables=tables)
    labels = tuple(x for x in model.outcomes if isinstance(x, str))
    each, accuracy = () if model.parts else tuple(range(len(labels))), len(labels) == len(model.outcomes)
    tally = run_on(source, MeasureWork(model, source.scale, each, accuracy))
    counts = _counts(source, model, tally.whole)
    rates = zip(labels, tally.each, tally.binned, counts, model.overall.tolist(), strict=False)
    for label, found, binned, n_x, rate in rates:
        apart = np.array([n_x, found.weight - n_x]), np.array([rate, 1 - rate])
        targets[(label,)] = _figures(found, *apart)
        tables[label] = binned.rows(source.scale)
    next_event = _figures(tally.whole, counts, model.overall, of_one=False)
    top_1, top_3 = (n / tally.n if accuracy else None for n in tally.hits)
    tell(max(total, 1), max(total, 1))
    return Evaluation(source.n_sequences, n_events, targets, next_event, n_ticks, top_1, top_3, tables)


def _counts(source: CountSource, model: Distribution, found: Measured) -> FloatArray:
    """How often each outcome occurred, weighted."""
    codes = [source.labels.index(x) for x in model.outcomes if isinstance(x, str)]
    counts = np.asarray(source.label_counts[codes] / source.scale)
    return counts if len(codes) == len(model.outcomes) else np.append(counts, found.weight - counts.sum())


def _check_any(source: CountSource, events: Any) -> int:
    """How many events there are to evaluate a model on; refuse none, and such as it knows nothing of."""
    if not events.n_events:
        raise DataError("there are no events to evaluate the model on")
    if not source.label_counts.any():
        raise DataError(
            "no event has a label that the model knows; give events like those that it was learned from"
        )
    return int(events.n_events)


def _figures(found: Measured, counts: FloatArray, base: FloatArray, of_one: bool = True) -> Figures:
    """The figures, beside those of base rates; the squared error of one label counts once, not twice."""
    n, some = found.weight, counts > 0
    loss = -float((counts[some] * np.log(base[some])).sum()) / n
    brier = found.brier / 2 if of_one and len(counts) == 2 else found.brier
    return Figures(round(n), found.log_likelihood, -found.log_likelihood / n, loss, brier)
