"""What is known once a model is fitted: counts, the table of its states, and why a probability is so."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from summarkov.engines import IN_A_ROW, EventSource, Layout, StateCounts, StatesRequest, Target
from summarkov.engines.clusters import Clusters
from summarkov.engines.counts import merge_keys
from summarkov.engines.followings import Followed, Following
from summarkov.engines.weights import refuse_overflow
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import UNKNOWN, Unknown, iterate
from summarkov.evidence import (
    Active,
    Contrast,
    Counterfactual,
    Explanation,
    Influence,
    contrasts_in_table,
    exact_intervals,
    influence_of,
    seen,
)
from summarkov.frames import MOST, Column, Records, Sheet
from summarkov.kernels import Index
from summarkov.models.distribution import OTHER, Distribution, Residual, read_new_events
from summarkov.search import Certificate, Problem, SearchResult, Step
from summarkov.search.criteria import probabilities, pseudo_counts
from summarkov.settings import written
from summarkov.summaries import Names, Reach, Summary
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray
from summarkov.wording import interval, number, percent, with_attributes


@dataclass(frozen=True)
class Fitted(Distribution):
    """Counts of the states of the influencers found, and the settings needed to read them."""

    summary: Summary
    labels: tuple[str, ...]
    target: Target
    influencers: tuple[int, ...]
    table: StateCounts
    scale: int
    n_sequences: int
    label_counts: IntArray
    score: float
    steps: tuple[Step, ...]
    certificate: Certificate | None  # of an exact search, as long as nothing is added
    settings: Mapping[str, Any]  # the model's parameters when it was fitted
    n_targets: int = 1  # how many were learned together, this one included
    followed: Followed | None = None  # how often the target follows influencers
    moments: FloatArray | None = None  # of a tree: totals of each influencer and label, over all positions
    clusters: Clusters | None = None  # how much sequences move the ratios; None where that is not known
    margins: tuple[float, ...] | None = None  # by how much the score exceeds that without each influencer
    layout: Layout = IN_A_ROW

    @classmethod
    def of(
        cls,
        problem: Problem,
        found: SearchResult,
        settings: Mapping[str, Any],
        layout: Layout,
        **counted: Any,
    ) -> Self:
        """What was found by a search, and what else was ``counted`` in its data."""
        margins = replace(problem, summary=found.summary).margins(found.influencers, found.table, found.score)
        return cls(
            **vars(found),
            labels=tuple(problem.labels),
            target=problem.target,
            scale=problem.scale,
            n_targets=problem.n_targets,
            margins=margins,
            settings=settings,
            layout=layout,
            **counted,
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", with_attributes(self.labels, self.layout.attributes))

    # ------------------------------------------------------------------ as a distribution

    @property
    def outcomes(self) -> tuple[str | Residual, ...]:
        """The target's labels, then ``OTHER`` unless the target is the whole vocabulary."""
        names = tuple(self.labels[code] for code in self.target.codes)
        return (*names, OTHER) if self.target.has_residual else names

    @property
    def horizon(self) -> int | None:
        return self.summary.horizon

    @property
    def parts(self) -> tuple[Fitted]:
        return (self,)

    @property
    def is_apart(self) -> bool:
        return True

    @property
    def overall(self) -> FloatArray:
        return probabilities(self.counts.sum(axis=0), self.pseudo)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        return np.asarray(self.theta[self.predict(index)[positions]])

    # ------------------------------------------------------------------ counts and estimates

    @property
    def n_events(self) -> float:
        """N, weighted: the number of positions."""
        from_table = self.layout.together or self.layout.outcomes
        counted = self.table.counts if from_table else self.event_counts
        return float(counted.sum() / self.scale)

    @property
    def event_counts(self) -> IntArray:
        """``label_counts`` without attributes, which are no events."""
        is_attribute = np.isin(np.array(self.labels, object), np.array(self.layout.attributes, object))
        return np.where(is_attribute, 0, self.label_counts)

    @property
    def given(self) -> tuple[int, ...]:
        """The influencers that are there because attributes were given, and are no claims."""
        columns = tuple(f"{column}=" for column in self.settings.get("given", ()))
        return tuple(z for z in self.influencers if columns and self.labels[z].startswith(columns))

    @cached_property
    def counts(self) -> FloatArray:
        """N(x; s), weighted."""
        return np.asarray(self.table.counts / self.scale)

    @cached_property
    def pseudo(self) -> FloatArray:
        """The prior's pseudo-counts."""
        return pseudo_counts(self.counts.sum(axis=0), self.settings["alpha"], self.settings["prior"])

    @cached_property
    def theta(self) -> FloatArray:
        """Probability of each outcome in each state; one more row for states never seen."""
        unseen = np.zeros((1, self.counts.shape[1]))
        return probabilities(np.concatenate([self.counts, unseen]), self.pseudo)

    @property
    def observed(self) -> IntArray:
        """The counts that each state's estimate rests on, in units of ``1 / scale``: N(x; s)."""
        return self.table.counts

    def intervals(self, rows: IntArray | slice = slice(None), level: float = 0.95) -> FloatArray:
        """Intervals ``[row, x, (low, high)]`` for rows of ``theta``: exact ones, from what was counted there.

        Estimates are drawn towards a prior, or averaged over trees, which may take one out of the interval
        from its own counts. Then the interval is extended to it: an estimate is never outside of its own.
        """
        unseen = np.zeros((1, self.counts.shape[1]))
        counts = np.concatenate([self.observed / self.scale, unseen])[rows]
        if counts.shape[1] == 1:  # nothing else can come
            return np.ones((*counts.shape, 2))
        exact = exact_intervals(counts, counts.sum(axis=-1, keepdims=True), level)
        theta = self.theta[rows]
        return np.stack([np.minimum(exact[..., 0], theta), np.maximum(exact[..., 1], theta)], axis=-1)

    def met(self, label: str) -> BoolArray | None:
        """For each state, whether it tells that an influencer is there; None: its window alone does."""
        return None

    @property
    def nodes(self) -> tuple[FloatArray, FloatArray] | None:
        """Counts N(x; s) and estimates of the nodes of a tree whose leaves are the states; None: no tree."""
        return None

    def contrasts(self) -> Iterator[tuple[int, int, Contrast]]:
        """Column, outcome and contrast of each influencer for each label of the target."""
        if self.summary.by_level:
            yield from contrasts_in_table(self.table, self.scale, len(self.target.codes))

    @cached_property
    def influences(self) -> tuple[Influence, ...]:
        """How each influencer changes the probability of each label of the target."""
        names = self.influencer_labels
        return tuple(
            influence_of(
                names[column],
                self.labels[self.target.codes[outcome]],
                found,
                [*names[:column], *names[column + 1 :]] if self.summary.by_level else (),
                self.following(column, outcome),
                None if self.margins is None else self.margins[column],
                None if self.clusters is None else self.clusters.edge(column, outcome),
            )
            for column, outcome, found in self.contrasts()
            if self.influencers[column] not in self.given
        )

    @property
    def presence_requests(self) -> list[StatesRequest]:
        """What to count, for each influencer, where the table does not tell its totals; nothing: it does."""
        return []

    def following(self, column: int, outcome: int) -> Following | None:
        """How often a label of the target follows an influencer; None: not known."""
        return None if self.followed is None else self.followed.of(column, outcome)

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the data it was fitted to."""
        return float((self.counts * np.log(self.theta[:-1])).sum())

    @property
    def influencer_labels(self) -> tuple[str, ...]:
        """The influencers' labels."""
        return tuple(self.labels[z] for z in self.influencers)

    @property
    def names(self) -> Names:
        """What the keys of states are about."""
        return Names(self.influencer_labels, self.labels)

    def reach(self, label: str) -> Reach:
        """How far back an influencer is looked for."""
        return self.summary.reach(label)

    @property
    def request(self) -> StatesRequest:
        """What to have counted on other data to evaluate or update this model."""
        return StatesRequest(self.summary, self.influencers, self.target)

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of ``theta`` for each key."""
        _, (mine, given) = merge_keys([self.table.keys, keys])
        row_of = np.full(len(mine) + len(given), len(mine))
        row_of[mine] = np.arange(len(mine))
        return np.asarray(row_of[given])

    def predict(self, index: Index) -> IntArray:
        """The row of ``theta`` that holds at every position."""
        ids, keys = self.summary.encode(index, self.influencers, self.labels)
        return np.asarray(self.rows(keys)[ids]) if len(keys) else ids

    def plus(self, table: StateCounts, source: EventSource, followed: Followed | None) -> Fitted:
        """Add the counts of further data; the influencers stay."""
        scale = max(self.scale, source.scale)  # 1 or the fixed point, so one divides the other
        old, new = scale // self.scale, scale // source.scale
        refuse_overflow(float(self.label_counts.sum()) * old + float(source.label_counts.sum()) * new, scale)
        return replace(
            self,
            table=StateCounts.total(
                [StateCounts(t.keys, t.counts * by) for t, by in ((self.table, old), (table, new))]
            ),
            scale=scale,
            n_sequences=self.n_sequences + source.n_sequences,
            label_counts=self.label_counts * old + source.label_counts * new,
            certificate=None,
            followed=None if self.followed is None or followed is None else self.followed + followed,
            clusters=None,
        )


@dataclass(frozen=True)
class FittedGraph(Distribution):
    """Fitted models of one vocabulary, one per label.

    The next event has one distribution, in which the probabilities of all labels are divided by their sum.
    Models of some labels only, and of labels that come together, stand each for itself.
    """

    models: Mapping[str, Fitted]

    @property
    def first(self) -> Fitted:
        """One of the models, for what they have in common."""
        return next(iter(self.models.values()))

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]  # that of the models
        return self.first.labels

    @property
    def layout(self) -> Layout:  # type: ignore[override]  # that of the models
        return self.first.layout

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(self.models)

    @property
    def horizon(self) -> int | None:
        found = [fitted.horizon for fitted in self.models.values()]
        return None if None in found else max(k for k in found if k is not None)

    @property
    def parts(self) -> tuple[Fitted, ...]:
        return tuple(self.models.values())

    @property
    def is_apart(self) -> bool:
        return self.layout.together

    @property
    def overall(self) -> FloatArray:
        shares = np.array([fitted.overall[0] for fitted in self.models.values()])
        return np.asarray(shares / shares.sum())

    @property
    def is_complete(self) -> bool:
        """Whether there is a model for every label of events."""
        return len(self.models) == len(self.labels) - len(self.layout.attributes)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        p = np.column_stack([fitted.at(index, positions)[:, 0] for fitted in self.models.values()])
        return np.asarray(p / p.sum(axis=1, keepdims=True)) if self.is_complete and not self.is_apart else p


class Row(NamedTuple):
    """One history state, and what comes next in it.

    Attributes
    ----------
    state, words : value, str
        The state as a value to compare by, and the same for people.
    n, seen : float, str
        How often it was seen, N(s), and the same in a word: "never", "hardly" or "often".
    counts : tuple of float
        How often each outcome followed, N(x; s), in the order of ``outcomes_``.
    probabilities, intervals : tuple
        The probability of each outcome, and its 95% interval: the exact one from the counts, extended to the
        probability where the prior took that outside.
    """

    state: Hashable
    words: str
    n: float
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    seen: str


class StateTable(Records[Row]):
    """The states that were seen, in canonical order: a tuple of :class:`Row`.

    ``outcomes`` names the entries of a row's counts, probabilities and intervals. Printed, it shows those of
    the first outcome. The frame has one row per state, with the columns ``state``, ``n``, ``seen``, and for
    each outcome x ``n(x)``, ``p(x)``, ``low(x)`` and ``high(x)``.
    """

    outcomes: tuple[object, ...]

    @classmethod
    def of(cls, fitted: Fitted) -> Self:
        """The states of a model."""
        names, prior_weight = fitted.names, float(fitted.pseudo.sum())
        rows = (
            Row(
                fitted.summary.state(key, names),
                fitted.summary.words(key, names),
                sum(n),
                tuple(n),
                tuple(theta),
                tuple((low, high) for low, high in bounds),
                seen(sum(n), prior_weight),
            )
            for key, n, theta, bounds in zip(
                fitted.table.keys.tolist(),
                (fitted.observed / fitted.scale).tolist(),
                fitted.theta.tolist(),
                fitted.intervals().tolist(),
                strict=False,  # the last two have one more row, for states never seen
            )
        )
        found = cls(rows, Row)
        found.outcomes = fitted.outcomes
        return found

    def _columns(self) -> Mapping[str, Column]:
        found = {
            "state": Column(str, [row.words for row in self]),
            "n": Column(float, [row.n for row in self]),
            "seen": Column(str, [row.seen for row in self]),
        }
        for x, outcome in enumerate(self.outcomes):
            found[f"n({outcome})"] = Column(float, [row.counts[x] for row in self])
            found[f"p({outcome})"] = Column(float, [row.probabilities[x] for row in self])
            found[f"low({outcome})"] = Column(float, [row.intervals[x][0] for row in self])
            found[f"high({outcome})"] = Column(float, [row.intervals[x][1] for row in self])
        return found

    def summary(self) -> Sheet:
        """The states in their order, as a table that prints well and that notebooks show in HTML."""
        return self.of_rows("", self)

    def of_rows(
        self, title: str, rows: Sequence[Row], most: int | None = MOST, outcomes: Sequence[str] = ()
    ) -> Sheet:
        """Some of its rows under a title, ``most`` shown: a line for each state and outcome of these."""
        every = range(len(self.outcomes))  # of two, one tells the other
        shown = [x for x in every if self.outcomes[x] in outcomes] or list(every)[
            : 1 if len(every) == 2 else None
        ]
        several = len(shown) > 1
        head = ["state", "seen", *(["next"] if several else []), "count"]
        head += ["probability" if several else str(self.outcomes[shown[0]]), "95% interval", ""]
        cells = [
            [
                (row.words or "any history") if x == shown[0] else "",
                number(row.n) if x == shown[0] else "",
                *([str(self.outcomes[x])] if several else []),
                number(row.counts[x]),
                percent(row.probabilities[x]),
                interval(*row.intervals[x]) if row.n else "",
                "" if row.seen == "often" else f"{row.seen} seen",
            ]
            for row in rows[: None if most is None else max(1, most // len(shown))]
            for x in shown
        ]
        return Sheet(title, head, cells, len(rows) * len(shown))


def one_sequence(given: Any) -> EventSequences:
    """A history that is to be explained: labels, or ticks, oldest first; or the events of one sequence."""
    from summarkov.read import read_events

    data = given if isinstance(given, EventSequences) else read_events([list(iterate(given))])
    if len(data) != 1:
        raise DataError(
            f"one history can be explained at a time, and these are {len(data)} sequences; give one, "
            "such as events[0]"
        )
    return data


def read_history(given: Any, labels: tuple[str, ...], layout: Layout, unknown: Unknown) -> Rows:
    """The rows of one sequence in the codes of a model: its attributes, then its events."""
    rows = Rows.of(read_new_events(one_sequence(given), labels, layout, unknown))
    held = set(layout.attributes)
    attributes = np.array([*(label in held for label in labels), False])
    return replace(
        rows, attributes=attributes, moments=rows.moments or Moments(np.ones(len(rows.codes), bool))
    )


def _moments(rows: Rows) -> Moments:
    assert rows.moments is not None  # as read_history makes them
    return rows.moments


def n_positions(rows: Rows) -> int:
    """How many positions there are."""
    return int(_moments(rows).starts.sum())


def _lags(rows: Rows) -> IntArray:
    """How many positions before the next one each event stands."""
    return np.asarray(1 + n_positions(rows) - np.cumsum(_moments(rows).starts))


def _where(rows: Rows, code: int, reach: Reach) -> BoolArray:
    """The rows of a label where it is looked for at the next position, which is at the last time."""
    lags, moments = _lags(rows), _moments(rows)
    delay, lookback = reach.delay_span, reach.lookback_span
    far_enough, near_enough = lags > delay.size, lags <= lookback.size
    if moments.times is not None:
        ages, unit = moments.times[-1:] - moments.times, moments.unit.size
        far_enough = ages > delay.size // unit if delay.in_time else far_enough
        near_enough = ages <= lookback.size // unit if lookback.in_time else near_enough
    return np.asarray((rows.codes == code) & far_enough & near_enough)


def _ages(rows: Rows, there: BoolArray) -> tuple[str, ...]:
    """How long before the last event some events were, the nearest first."""
    moments = _moments(rows)
    assert moments.times is not None
    ages = (int(moments.times[-1]) - moments.times[there][::-1]).tolist()
    return tuple(written(age * moments.unit.size, is_clock=moments.unit.is_clock) for age in ages)


def _of_column(rows: Rows, code: int) -> IntArray:
    """All values of the same column of attributes, such as "region" of "region=north"."""
    column = [label.partition("=")[0] for label in rows.labels]
    same = np.array([*(each == column[code] for each in column), False])
    return np.flatnonzero(rows.attributes & same)


def _without(rows: Rows, there: BoolArray) -> Rows:
    """Some rows taken for ones of no known label, so that the others stay where they are."""
    return replace(rows, codes=np.where(there, np.int32(UNKNOWN), rows.codes))


def _with(rows: Rows, code: int) -> Rows:
    """One more event at the end, at the time of the last; or an attribute with another value."""
    if not rows.attributes[code]:
        after = rows.with_next()
        return replace(after, codes=np.append(rows.codes, np.int32(code)))
    there = np.flatnonzero(np.isin(rows.codes, _of_column(rows, code)))
    if len(there):
        return replace(
            rows, codes=np.where(np.arange(len(rows.codes)) == there[0], np.int32(code), rows.codes)
        )
    codes, moments = np.insert(rows.codes, 0, np.int32(code)), _moments(rows).with_attributes(np.array([0]))
    return replace(rows, codes=codes, offsets=np.array([0, len(codes)]), moments=moments)


def _state(fitted: Fitted, rows: Rows, outcome: int) -> dict[str, Any]:
    """What holds after a history: the fields that an explanation and a counterfactual share."""
    index = rows.with_next().index()
    row = int(fitted.predict(index)[-1])
    if row < len(fitted.table.keys):
        key, support = fitted.table.keys[row].tolist(), float(fitted.observed[row].sum() / fitted.scale)
    else:
        ids, found = fitted.summary.encode(index, fitted.influencers, fitted.labels)
        key, support = found[ids[-1]].tolist(), 0.0
    low, high = fitted.intervals(np.array([row]))[0, outcome]
    return {
        "state": fitted.summary.state(key, fitted.names),
        "words": fitted.summary.words(key, fitted.names),
        "support": support,
        "probability": float(fitted.theta[row, outcome]),
        "interval": (float(low), float(high)),
        "seen": seen(support, float(fitted.pseudo.sum())),
    }


def explain(
    fitted: Fitted, history: Rows, outcome: int, names: Sequence[str], base_rate: float
) -> Explanation:
    """Explain the probability of an outcome after a history; ``names`` are the influencers."""
    code_of = {name: code for code, name in enumerate(fitted.labels)}
    active: list[Active] = []
    edits: list[tuple[str, bool, Rows]] = []  # an influencer, whether it is there then, and the history
    for name in names:
        code = code_of[name]
        is_attribute = bool(history.attributes[code])
        reach = Reach(0, None) if is_attribute else fitted.reach(name)
        there = _where(history, code, reach)
        if not there.any():
            continue
        if is_attribute:
            active.append(Active(name, (), ()))
            if set(_of_column(history, code).tolist()) <= set(
                fitted.influencers
            ):  # it can have no other value
                continue
        else:
            lags = _lags(history)[there][::-1]
            positions = n_positions(history) - lags + 1
            in_time = reach.lookback_span.in_time or reach.delay_span.in_time
            unit, ages = (
                "tick" if fitted.layout.together else "event",
                _ages(history, there) if in_time else (),
            )
            active.append(Active(name, tuple(lags.tolist()), tuple(positions.tolist()), unit, ages))
        edits.append((name, False, _without(history, there)))
    occurred = {each.label for each in active}
    for name in fitted.influencer_labels:
        delay = fitted.reach(name).delay_span
        later = delay.size or delay.in_time  # with a delay it would not count yet
        if name not in occurred and (history.attributes[code_of[name]] or not later):
            edits.append((name, True, _with(history, code_of[name])))
    return Explanation(
        target=fitted.labels[fitted.target.codes[outcome]],
        base_rate=base_rate,
        in_sequences=bool(fitted.layout.outcomes),
        active=tuple(active),
        counterfactuals=tuple(
            Counterfactual(
                label=name,
                occurred=is_there,
                is_attribute=bool(history.attributes[code_of[name]]),
                **_state(fitted, edited, outcome),
            )
            for name, is_there, edited in edits
        ),
        **_state(fitted, history, outcome),
    )
