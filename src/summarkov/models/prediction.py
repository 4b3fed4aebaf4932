"""What comes next, from what was learned: probabilities at any place of a sequence, and how good they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.engines import IN_A_ROW, EventSource, Layout, StateCounts, make_source
from summarkov.engines.source import Shard
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, cuts, recoded
from summarkov.events.vocabulary import Unknown, translation
from summarkov.frames import MOST, Column, Records, Sheet, Tabular
from summarkov.kernels import Index
from summarkov.settings import Progress, check_whole, reporter
from summarkov.simulate.draw import after_histories, flat
from summarkov.summaries import Summary
from summarkov.typing import CodeArray, FloatArray, IntArray
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted


class Residual(Enum):
    """The outcome that stands for every label outside the target: no label, not even "other", is it."""

    OTHER = "OTHER"

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__


OTHER = Residual.OTHER
#: Bytes of what is predicted at once.
_AT_ONCE = 1 << 28
#: A printed row names at most this many outcomes.
_LIKELIEST = 3


class Distribution(ABC):
    """What was learned, as far as it predicts: the probability of every outcome at any place of a sequence.

    ``labels`` is the vocabulary, ``layout`` what the data had beside events in a row.
    """

    labels: tuple[str, ...]
    layout: Layout = IN_A_ROW

    @property
    @abstractmethod
    def outcomes(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for."""

    @property
    def outcome_of(self) -> CodeArray:
        """The column of every label, and last that of events of no known label; -1 for none."""
        found = translation(self.labels, [x for x in self.outcomes if isinstance(x, str)])
        return np.where(found < 0, len(self.outcomes) - 1, found) if OTHER in self.outcomes else found

    @property
    @abstractmethod
    def horizon(self) -> int | None:
        """How many of the last positions can matter; None: the whole history."""

    @abstractmethod
    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of every outcome at some positions, one row per position."""

    @property
    @abstractmethod
    def overall(self) -> FloatArray:
        """Probability of every outcome if the past is never looked at."""

    @property
    def parts(self) -> Sequence[Fitted]:
        """The models of one target each that it is made of; none where all targets are told at once."""
        return ()

    @property
    def is_apart(self) -> bool:
        """Whether each of the parts tells its target for itself, and nothing tells which label comes next."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether one of the outcomes comes at every position."""
        return True

    def check_complete(self) -> None:
        """Refuse models of some labels only, which give no distribution of what comes next."""
        if not self.is_complete:
            raise SettingError(
                "the next-event distribution needs a model for every label; fit the graph without targets="
            )

    def after(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        self.check_complete()
        codes, offsets, ends = after_histories(*flat(histories, self.horizon), None)
        return self.at(Index(codes, offsets, len(self.labels)), ends)

    def read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        """New events in the vocabulary of the model; such as lack what it was learned from are refused."""
        from summarkov.read import read_events

        data = read_events(events)
        time = None if data.time_unit is None else data.time_unit.kind
        check_new_data(self.layout, data.attributes is not None, time)
        return recoded(data, self.labels, unknown)


# ---------------------------------------------------------------------- new data


def check_new_data(layout: Layout, has_attributes: bool, time: str | None) -> None:
    """Refuse data that lack what a model was learned from; ``time`` is as in :class:`Layout`."""
    if layout.attributes and not has_attributes:
        from summarkov.read.case_attributes import cuts_of

        cuts = cuts_of(layout.attributes)
        where = {column: numbers for column, numbers in cuts.items() if numbers is not None}
        raise DataError(
            f"the model was learned with attributes of sequences, and these events have none; read them with "
            f"attributes={list(cuts)}{f', cuts={where}' if where else ''}"
        )
    if layout.time is not None and time is None:
        raise DataError(
            "the model looks back in time, and these events have no times; read them with order_by= and "
            "times=True"
        )
    if layout.time is not None and layout.time != time:
        learned, given = ("dates and times" if each == "clock" else "numbers" for each in (layout.time, time))
        raise DataError(
            f"the model was learned from times that are {learned}, and these are {given}; read the same kind"
        )


def check_drawable(layout: Layout, summaries: Iterable[Summary]) -> None:
    """Refuse to simulate from a model that asks for what simulated sequences do not have."""
    told = "is drawn with simulated sequences; learn a graph from the events alone"
    if layout.attributes:
        raise SettingError(f"the graph asks for attributes of sequences, and none {told}, without attributes")
    if any(summary.durations for summary in summaries):
        raise SettingError(
            f"the graph looks back in time, and no time {told}, with look-backs that are numbers"
        )


# ---------------------------------------------------------------------- predictions


def column_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """The names of columns of probabilities; no label can be taken for that of all the others.

    Of one label and all the others the first says it all.

    >>> column_names(["A", "B"]), column_names(["A", OTHER]), column_names(["A", "B", OTHER])
    (['p(A)', 'p(B)'], ['p(A)'], ['p(A)', 'p(B)', 'p_other'])
    """
    names = ["p_other" if isinstance(x, Residual) else f"p({x})" for x in outcomes]
    return names[:1] if len(names) == 2 and names[1] == "p_other" else names


def likeliest(p: FloatArray, most: int | None = None) -> IntArray:
    """The columns of the ``most`` likeliest outcomes of every row, the likeliest first; ties in order."""
    return np.argsort(-p, axis=1, kind="stable")[:, :most]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Tabular):
    """Probabilities, one row per place in a sequence; ``numpy.asarray`` gives them, too.

    The frame has the columns ``sequence``, ``position``, ``event`` where it is known, and one ``p(label)``
    for each outcome.

    Attributes
    ----------
    outcomes : tuple
        What the columns of ``probabilities`` stand for.
    probabilities : array
        One row per place, one column per outcome.
    ids : tuple of str
        The names of the sequences.
    sequences, positions : array of int
        For each row the number of its sequence in ``ids``, and the position there, counted from 1.
    events : tuple of str or None
        What happened at each place; None where that is still to come.
    """

    outcomes: tuple[str | Residual, ...]
    probabilities: npt.NDArray[np.float64]
    ids: tuple[str, ...]
    sequences: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    events: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype, copy=copy)

    @property
    def most_likely(self) -> tuple[str | Residual, ...]:
        """The most likely outcome of every row."""
        return tuple(self.outcomes[x] for x in self.probabilities.argmax(axis=1).tolist())

    def top(self, k: int) -> tuple[tuple[tuple[str | Residual, float], ...], ...]:
        """The ``k`` most likely outcomes of every row with their probabilities, the most likely first.

        Equally likely ones are in the order of the alphabet; ``k`` above their number gives all.
        """
        likely = likeliest(self.probabilities, check_whole("k", k, 1))
        return tuple(
            tuple((self.outcomes[x], float(p[x])) for x in each.tolist())
            for p, each in zip(self.probabilities, likely, strict=True)
        )

    def _columns(self) -> Mapping[str, Column]:
        known = {} if self.events is None else {"event": Column(str, self.events)}
        return {
            "sequence": Column(str, [self.ids[s] for s in self.sequences.tolist()]),
            "position": Column(int, self.positions),
            **known,
            **{
                name: Column(float, np.ascontiguousarray(self.probabilities[:, x]))
                for x, name in enumerate(column_names(self.outcomes))
            },
        }

    def summary(self) -> Sheet:
        """The first rows, with the outcomes that are most likely; or with the one that was asked about."""
        asked = str(self.outcomes[0]) if len(self.outcomes) == 1 else None
        known = [] if self.events is None else ["event", "probability"]
        head = ["sequence", "position", *known, asked or "most likely"]
        column = {str(outcome): x for x, outcome in enumerate(self.outcomes)}

        def own(row: int) -> str:
            """The probability of what happened."""
            at = column.get((self.events or ())[row], column.get(str(OTHER)))
            return "" if at is None else percent(self.probabilities[row, at])

        few = replace(self, probabilities=self.probabilities[:MOST]).top(_LIKELIEST)
        rows = [
            [
                self.ids[self.sequences[row]],
                str(self.positions[row]),
                *([] if self.events is None else [self.events[row], own(row)]),
                ", ".join(percent(p) if asked else f"{outcome} {percent(p)}" for outcome, p in likely),
            ]
            for row, likely in enumerate(few)
        ]
        title = f"Probabilities of {plural(len(self.outcomes), 'outcome')} at {plural(len(self), 'place')}"
        return Sheet(title, head, rows, len(self))


def predict_each(model: Distribution, events: Any, unknown: Unknown) -> FloatArray:
    """Probability of each outcome at every position; models of some labels only stand each for itself."""
    index = Rows.of(model.read(events, unknown)).index()
    return model.at(index)[index.begins]


def predict_rows(model: Distribution, events: EventSequences, unknown: Unknown) -> Predictions:
    """The same with the sequence, position and event of every row."""
    begins = events.moments.starts
    happened = (event for sequence in events for event in sequence)
    return Predictions(
        outcomes=model.outcomes,
        probabilities=predict_each(model, events, unknown),
        ids=events.ids,
        sequences=np.repeat(np.arange(len(events)), events.lengths)[begins],
        positions=events.positions[begins],
        events=tuple(each if isinstance(each, str) else " + ".join(each) for each in happened),
    )


def prediction_rows(
    model: Distribution, events: EventSequences, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """The same as columns, of some sequences at a time: what is predicted at once stays small."""
    for first, last in cuts(events.offsets, most_rows(model)):
        rows = predict_rows(model, events[first:last], unknown)
        yield {
            name: pa.array(column.values, pa.string()) if column.kind is str else column.values
            for name, column in rows._columns().items()
        }


def most_rows(model: Distribution) -> int:
    """How many rows to predict at once."""
    return max(1, _AT_ONCE // (64 * (2 * len(model.outcomes) + 4)))


def predict_next(model: Distribution, histories: Any, unknown: Unknown) -> Predictions:
    """Probability of each outcome after the last event of each sequence."""
    data = model.read(histories, unknown)
    index, ends = next_places(data, model.horizon)
    last = np.append(0, data.positions)[data.offsets[1:]]
    return Predictions(
        outcomes=model.outcomes,
        probabilities=model.at(index, ends),
        ids=data.ids,
        sequences=np.arange(len(data)),
        positions=np.where(data.lengths > 0, last, 0) + 1,
    )


def next_places(data: EventSequences, horizon: int | None = None) -> tuple[Index, IntArray]:
    """The place where the next event of each sequence will stand, as kernels take it, and the rows of these.

    No more than the last positions are there, as many as ``horizon`` says; None: all.
    """
    rows = Rows.of(data)
    if rows.moments.is_plain:
        codes, offsets, ends = after_histories(data.codes, data.offsets, horizon)
        return Index(codes, offsets, len(data.labels)), ends
    rows = rows.with_next()
    return rows.index(), rows.offsets[1:] - 1


#: Edges of the bins of a reliability table; finer next to 0, where rare labels live.
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class Sums(NamedTuple):
    """Sums over events: how often each outcome came, w log p of what came, and w times the squared error.

    The squared error is summed over outcomes. What was ruled out and happened has minus infinity.
    """

    came: FloatArray
    logs: float
    squares: float

    @classmethod
    def of(cls, p: FloatArray, n: FloatArray) -> Self:
        """For the probabilities ``p[i, x]`` of rows of which outcome x came with the weight ``n[i, x]``."""
        some = n > 0
        squares = n * (1 - 2 * p + (p**2).sum(axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            logs = n[some] * np.log(p[some])
        return cls(n.sum(axis=0), float(logs.sum()), float(squares.sum()))

    @property
    def weight(self) -> float:
        """What the events weigh together."""
        return float(self.came.sum())

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


def measure(model: Distribution, source: EventSource) -> Sums:
    """Measure predictions of new events: from counts where targets are told apart, else event by event."""
    if not model.is_apart:
        return _tally(source, model).whole
    each = [Sums.of(theta, n) for n, theta in states_seen(model.parts, source)]
    return Sums(each[0].came, sum(one.logs for one in each), sum(one.squares for one in each))


class Tally(NamedTuple):
    """Predictions of some events, measured; each entry adds."""

    whole: Sums  # of the whole distribution
    each: list[Sums]  # of single labels, each against all else
    bins: list[FloatArray]  # of these labels
    known: FloatArray  # events of known labels, those whose label was the most probable, or among the three


def _measured(
    model: Distribution, scale: int, labels: tuple[int, ...], accuracy: bool, shard: Shard
) -> Tally:
    """Measure predictions of some sequences, which are in the codes of the model.

    ``labels`` are the numbers of outcomes that are measured one by one, each against all else. ``accuracy``
    asks how often the next event was among the most probable ones.
    """
    index, rows = shard.index, shard.index.begins
    weights = np.ones(shard.n_sequences, np.int64) if shard.weights is None else shard.weights
    weight = weights[index.sequence][rows]
    p, happened = model.at(index)[rows], model.outcome_of[index.codes][rows]
    n = weight[:, None] * (happened[:, None] == np.arange(p.shape[1])) / scale
    known = np.array([weight[happened >= 0].sum(), 0, 0], float)
    if accuracy:
        names = [str(x) for x in model.outcomes]
        order = sorted(range(len(names)), key=names.__getitem__)  # ties go to the first name
        code = np.append(np.argsort(order), -1)[happened]
        known[1:] = hits(code, p[:, order], 1, weight), hits(code, p[:, order], 3, weight)
    tally = Tally(Sums.of(p, n), [], [], known)
    for x in labels:
        came = np.column_stack([n[:, x], weight / scale - n[:, x]])
        tally.each.append(Sums.of(np.column_stack([p[:, x], 1 - p[:, x]]), came))
        tally.bins.append(binned(p[:, x], weight / scale, n[:, x]))
    return tally


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


#: Figures as tables have them: the name of a column, and how its numbers are printed.
_PRINTED = {
    "log_likelihood": ("log-likelihood", ",.2f"),
    "log_loss": ("log loss", ".4f"),
    "base_rate_log_loss": ("base rate", ".4f"),
    "gain": ("gain", ".1%"),
    "brier_score": ("Brier", ".4f"),
}


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
        figures = self.targets.values()
        return {
            "target": Column(str, [" + ".join(target) for target in self.targets]),
            "n_positions": Column(int, [each.n_positions for each in figures]),
            **{name: Column(float, [getattr(each, name) for each in figures]) for name in _PRINTED},
        }

    def summary(self) -> Sheet:
        """The figures, as a table that prints well and that notebooks show in HTML."""
        named = {" + ".join(target): each for target, each in self.targets.items()}
        if self.next_event is not None:
            named["(next event)" if self.top_1 is not None else "(these, or any other)"] = self.next_event
        rows = [
            [target, *(format(getattr(each, name), form) for name, (_, form) in _PRINTED.items())]
            for target, each in named.items()
        ]
        head = ["target", *(title for title, _ in _PRINTED.values())]
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
    for fitted, (n, theta) in zip(model.parts, states_seen(model.parts, source), strict=True):
        sums = Sums.of(theta, n)
        names = tuple(fitted.labels[code] for code in fitted.target.codes)
        targets[names] = _figures(sums, fitted.overall)
        for x, name in enumerate(names):
            tables[name] = binned(theta[:, x], n.sum(axis=1), n[:, x]).tolist()
        tell(len(targets), total)
    n_ticks = source.n_positions if Layout.of(source).together else None
    found = Evaluation(source.n_sequences, int(data.n_events), targets, n_ticks=n_ticks, tables=tables)
    if not tells_next:
        return found
    labels = [x for x in model.outcomes if isinstance(x, str)]
    each, accuracy = () if model.parts else tuple(range(len(labels))), len(labels) == len(model.outcomes)
    tally = _tally(source, model, each, accuracy)
    for label, one, rate, bins in zip(labels, tally.each, model.overall, tally.bins, strict=False):
        targets[(label,)] = _figures(one, np.array([rate, 1 - rate]))
        tables[label] = bins.tolist()
    next_event = _figures(tally.whole, model.overall, of_one=False)
    top_1, top_3 = (float(n / tally.known[0]) if accuracy else None for n in tally.known[1:])
    tell(max(total, 1), max(total, 1))
    return replace(found, next_event=next_event, top_1=top_1, top_3=top_3)


def _figures(found: Sums, base: FloatArray, of_one: bool = True) -> Figures:
    """The figures, beside those of base rates; the squared error of one label counts once, not twice."""
    n, some = found.weight, found.came > 0
    loss = -float((found.came[some] * np.log(base[some])).sum()) / n
    brier = found.brier / 2 if of_one and len(base) == 2 else found.brier
    return Figures(round(n), found.logs, -found.logs / n, loss, brier)
