"""How well models predict: sums that add up wherever the events are, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource, Layout, StateCounts, make_source
from summarkov.engines.source import Shard
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events.vocabulary import Unknown
from summarkov.frames import Column, Records, Sheet, Tabular
from summarkov.models.distribution import Distribution, check_new_data, most_rows
from summarkov.settings import Progress, reporter
from summarkov.typing import FloatArray, IntArray
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted

#: Edges of the bins of a reliability table; finer next to 0, where rare labels live.
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Models that are counted in one pass.
_AT_ONCE = 64


class Sums(NamedTuple):
    """Sums over events: of weights, of w log p of what happened, and of w times the squared error.

    The squared error is summed over outcomes. What was ruled out and happened has minus infinity.
    """

    weight: float
    logs: float
    squares: float

    @classmethod
    def of(cls, p: FloatArray, n: FloatArray) -> Self:
        """For the probabilities ``p[i, x]`` of rows of which outcome x came with the weight ``n[i, x]``."""
        came = n > 0
        squares = n * (1 - 2 * p + (p**2).sum(axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            logs = n[came] * np.log(p[came])
        return cls(*(float(each.sum()) for each in (n, logs, squares)))

    @property
    def score(self) -> float:
        """Mean log-likelihood per event."""
        return self.logs / max(self.weight, 1e-300)

    @property
    def brier(self) -> float:
        """Mean over events of the squared error."""
        return self.squares / max(self.weight, 1e-300)


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


def binned(p: FloatArray, n: FloatArray | IntArray, occurred: FloatArray | IntArray) -> FloatArray:
    """Probabilities that were each given ``n`` times and came true ``occurred`` times, in bins of ``BINS``.

    One row per bin: how many predictions, the sum of them, and how many came true.
    """
    bins = np.clip(np.searchsorted(BINS, p, side="right") - 1, 0, len(BINS) - 2)
    each = (np.bincount(bins, weights=w, minlength=len(BINS) - 1) for w in (n, n * p, occurred))
    return np.stack(list(each), axis=1)


def reliability_bins(tables: Sequence[npt.ArrayLike]) -> Records[ReliabilityBin]:
    """The bins that are not empty of some tables as :func:`binned` makes them, added up."""
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
) -> EventSource:
    """New data in the vocabulary of a model."""
    source = make_source(data, sample_weight=sample_weight, n_jobs=n_jobs)
    check_new_data(model.layout, bool(source.attributes), Layout.of(source).time)
    return source.recode(model.labels, unknown=unknown)


def states_seen(models: Sequence[Fitted], source: EventSource) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Of each model how often each outcome came in every state, weighted, and the probabilities told there.

    Models have one target each, and events are in their vocabulary. All are counted in one pass.
    """
    for fitted, table in zip(models, source.count([each.request for each in models]), strict=True):
        assert isinstance(table, StateCounts)
        yield table.counts / source.scale, fitted.theta[fitted.rows(table.keys)]


def measure(
    model: Distribution, events: Any, unknown: Unknown, sample_weight: Any = None, n_jobs: int | None = None
) -> Sums:
    """Measure predictions of new events: from counts where targets are told apart, else event by event."""
    model.check_complete()
    source = new_source(model, events, unknown, sample_weight, n_jobs)
    if model.is_apart:
        each = [Sums.of(theta, n) for n, theta in states_seen(model.parts, source)]
        return Sums(each[0].weight, sum(one.logs for one in each), sum(one.squares for one in each))
    return Sums(*_tally(source, model).whole.tolist())


class Tally(NamedTuple):
    """Predictions of some events, measured; each entry is an array that adds."""

    whole: FloatArray  # of the whole distribution: as Sums has it
    each: FloatArray  # of single labels, each against all else: [label, sum]
    bins: FloatArray  # [label, bin, number]
    known: FloatArray  # events of known labels, those whose label was the most probable, or among the three


def _measured(
    model: Distribution, scale: int, labels: tuple[int, ...], accuracy: bool, shard: Shard
) -> Tally:
    """Measure predictions of some sequences, which are in the codes of the model.

    ``labels`` are the numbers of outcomes that are measured one by one, each against all else. ``accuracy``
    asks how often the next event was among the most probable ones.
    """
    index, rows = shard.index, shard.index.begins
    ones = np.ones(len(shard.codes), np.int64)
    weight = (ones if shard.weights is None else shard.of_rows(shard.weights))[rows]
    p, happened = model.at(index)[rows], model.outcome_of[index.codes][rows]
    n = weight[:, None] * (happened[:, None] == np.arange(p.shape[1])) / scale
    known = np.array([weight[happened >= 0].sum(), 0, 0], float)
    pairs = [(np.column_stack([p[:, x], 1 - p[:, x]]), n[:, x], weight / scale) for x in labels]
    if accuracy:
        names = [str(x) for x in model.outcomes]
        order = sorted(range(len(names)), key=names.__getitem__)  # ties go to the first name
        code = np.append(np.argsort(order), -1)[happened]
        known[1:] = hits(code, p[:, order], 1, weight), hits(code, p[:, order], 3, weight)
    return Tally(
        np.array(Sums.of(p, n)),
        np.array([Sums.of(both, np.column_stack([hit, all_ - hit])) for both, hit, all_ in pairs]),
        np.array([binned(both[:, 0], all_, hit) for both, hit, all_ in pairs]),
        known,
    )


def _tally(
    source: EventSource, model: Distribution, labels: tuple[int, ...] = (), accuracy: bool = False
) -> Tally:
    """Measure predictions event by event."""
    measure = partial(_measured, model, source.scale, labels, accuracy)
    return source.map(measure, most_rows=most_rows(model))


# ---------------------------------------------------------------------- what is said of it


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
            named["(next event)" if self.top_1 is not None else "(these, or any other)"] = self.next_event
        rows = [
            [
                name,
                f"{each.log_likelihood:,.2f}",
                f"{each.log_loss:.4f}",
                f"{each.base_rate_log_loss:.4f}",
                f"{100 * each.gain:.1f}%",
                f"{each.brier_score:.4f}",
            ]
            for name, each in named.items()
        ]
        head = ["target", "log-likelihood", "log loss", "base rate", "gain", "Brier"]
        ticks = "" if self.n_ticks is None else f"{plural(self.n_ticks, 'tick')} of "
        title = f"{plural(self.n_sequences, 'sequence')} with {ticks}{plural(self.n_events, 'event')}"
        read = (
            f"Log loss per {self.unit}, in nats: smaller is better. Base rate: the log loss of never looking "
            "at the past; gain: how much of it the model saves."
        )
        return Sheet(title, head, rows, len(rows), [read, *filter(None, [self.accuracy_words])])

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
    if not data.n_events:
        raise DataError("there are no events to evaluate the model on")
    if not source.label_counts.any():
        raise DataError(
            "no event has a label that the model knows; give events like those that it was learned from"
        )
    targets: dict[tuple[str, ...], Figures] = {}
    tables: dict[str, list[list[float]]] = {}
    tells_next = model.is_complete and not model.is_apart
    total = len(model.parts) + tells_next
    for start in range(0, len(model.parts), _AT_ONCE):
        some = model.parts[start : start + _AT_ONCE]
        for fitted, (n, theta) in zip(some, states_seen(some, source), strict=True):
            found = Sums.of(theta, n)
            names = tuple(fitted.labels[code] for code in fitted.target.codes)
            targets[names] = _figures(found, _counts(source, fitted, found), fitted.overall)
            for x, name in enumerate(names):
                tables[name] = binned(theta[:, x], n.sum(axis=1), n[:, x]).tolist()
        tell(len(targets), total)
    sizes = source.n_sequences, int(data.n_events)
    n_ticks = source.n_positions if Layout.of(source).together else None
    if not tells_next:
        return Evaluation(*sizes, targets, None, n_ticks, tables=tables)
    labels = tuple(x for x in model.outcomes if isinstance(x, str))
    each, accuracy = () if model.parts else tuple(range(len(labels))), len(labels) == len(model.outcomes)
    tally = _tally(source, model, each, accuracy)
    whole = Sums(*tally.whole.tolist())
    counts = _counts(source, model, whole)
    for x in each:
        one, rate = Sums(*tally.each[x].tolist()), float(model.overall[x])
        apart = np.array([counts[x], one.weight - counts[x]]), np.array([rate, 1 - rate])
        targets[(labels[x],)] = _figures(one, *apart)
        tables[labels[x]] = tally.bins[x].tolist()
    next_event = _figures(whole, counts, model.overall, of_one=False)
    top_1, top_3 = (float(n / tally.known[0]) if accuracy else None for n in tally.known[1:])
    tell(max(total, 1), max(total, 1))
    return Evaluation(*sizes, targets, next_event, n_ticks, top_1, top_3, tables)


def _counts(source: EventSource, model: Distribution, found: Sums) -> FloatArray:
    """How often each outcome occurred, weighted."""
    codes = [source.labels.index(x) for x in model.outcomes if isinstance(x, str)]
    counts = np.asarray(source.label_counts[codes] / source.scale)
    return counts if len(codes) == len(model.outcomes) else np.append(counts, found.weight - counts.sum())


def _figures(found: Sums, counts: FloatArray, base: FloatArray, of_one: bool = True) -> Figures:
    """The figures, beside those of base rates; the squared error of one label counts once, not twice."""
    n, some = found.weight, counts > 0
    loss = -float((counts[some] * np.log(base[some])).sum()) / n
    brier = found.brier / 2 if of_one and len(counts) == 2 else found.brier
    return Figures(round(n), found.logs, -found.logs / n, loss, brier)
