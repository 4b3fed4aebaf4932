"""What is known once a model is fitted: counts, tables of its states and edges, why a probability is so."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np

from summarkov.engines import IN_A_ROW, Layout, StateCounts, StatesRequest, Target
from summarkov.engines.counts import merge_keys
from summarkov.engines.followings import Clusters, Followed, Following
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments, with_more_rows
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
    rate_ratio,
    robust_widening,
    seen,
)
from summarkov.evidence.edges import ranked
from summarkov.evidence.words import cases, effect_word, follow_note, follows, headline, limits, times
from summarkov.frames import MOST, Column, Records, Sheet
from summarkov.kernels import Index, Span
from summarkov.models.prediction import OTHER, Distribution, Residual
from summarkov.search import Certificate, Problem, SearchResult, Step
from summarkov.search.criteria import probabilities, pseudo_counts
from summarkov.settings import written
from summarkov.show import colour
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
    certificate: Certificate | None  # of an exact search
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
        return float(self.table.counts.sum() / self.scale)

    @property
    def event_counts(self) -> IntArray:
        """``label_counts`` without attributes, which are no events."""
        return np.where([label in self.layout.attributes for label in self.labels], 0, self.label_counts)

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

    @property
    def observed(self) -> IntArray:
        """The counts that each state's estimate rests on, in units of ``1 / scale``: N(x; s)."""
        return self.table.counts

    @cached_property
    def rests_on(self) -> FloatArray:
        """The same, weighted, and one more row for states never seen."""
        return np.append(self.observed / self.scale, np.zeros((1, self.table.counts.shape[1])), axis=0)

    @cached_property
    def theta(self) -> FloatArray:
        """Probability of each outcome in each state; one more row for states never seen."""
        return probabilities(self.rests_on, self.pseudo)

    def intervals(self, rows: IntArray | slice) -> FloatArray:
        """95% intervals ``[row, x, (low, high)]`` for rows of ``theta``: exact ones, from what was counted.

        Estimates are drawn towards a prior, which may take one out of the interval from its own counts. Then
        the interval is extended to it: an estimate is never outside of its own.
        """
        counts, theta = self.rests_on[rows], self.theta[rows]
        if counts.shape[1] == 1:  # nothing else can come
            return np.ones((*counts.shape, 2))
        exact = exact_intervals(counts, counts.sum(axis=-1, keepdims=True), 0.95)
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
                margin=None if self.margins is None else self.margins[column],
                wider=self.wider(column, outcome, found),
            )
            for column, outcome, found in self.contrasts()
            if self.influencers[column] not in self.given
        )

    def wider(self, column: int, outcome: int, found: Contrast, level: float = 0.95) -> float | None:
        """How many times wider than from counts an interval is because sequences differ; None: not known."""
        if self.clusters is None:
            return None
        counted = found.estimate if level == 0.95 else rate_ratio(found.strata, level)
        return robust_widening(counted, found.strata, *self.clusters.edge(column, outcome), level)

    def following(self, column: int, outcome: int) -> Following | None:
        """How often a label of the target follows an influencer; None: not known."""
        return None if self.followed is None else self.followed[column][outcome]

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


@dataclass(frozen=True)
class FittedGraph(Distribution):
    """Fitted models of one vocabulary, one per label.

    The next event has one distribution, in which the probabilities of all labels are divided by their sum.
    Models of some labels only, and of labels that come together, stand each for itself.
    """

    models: Mapping[str, Fitted]
    labels: tuple[str, ...]
    layout: Layout

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(self.models)

    @property
    def horizon(self) -> int | None:
        return max((fitted.horizon for fitted in self.parts), key=lambda k: math.inf if k is None else k)

    @property
    def parts(self) -> tuple[Fitted, ...]:
        return tuple(self.models.values())

    @property
    def is_apart(self) -> bool:
        return self.layout.together

    @property
    def overall(self) -> FloatArray:
        shares = np.array([fitted.overall[0] for fitted in self.parts])
        return np.asarray(shares / shares.sum())

    @property
    def is_complete(self) -> bool:
        """Whether there is a model for every label of events."""
        return len(self.models) == len(self.labels) - len(self.layout.attributes)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        p = np.column_stack([fitted.at(index, positions)[:, 0] for fitted in self.parts])
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

    @classmethod
    def each(cls, fitted: Fitted, keys: KeyArray, rows: IntArray | slice) -> list[Self]:
        """Those of some keys, which are in some rows of ``theta``."""
        names, prior_weight = fitted.names, float(fitted.pseudo.sum())
        counts, theta, intervals = fitted.rests_on[rows], fitted.theta[rows], fitted.intervals(rows)
        numbers = zip(counts.tolist(), theta.tolist(), intervals.tolist(), strict=True)
        return [
            cls(
                fitted.summary.state(key, names),
                fitted.summary.words(key, names),
                sum(n),
                tuple(n),
                tuple(p),
                tuple((low, high) for low, high in limits),
                seen(sum(n), prior_weight),
            )
            for key, (n, p, limits) in zip(keys.tolist(), numbers, strict=True)
        ]


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
        found = cls(Row.each(fitted, fitted.table.keys, slice(-1)), Row)
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
            for end, name in enumerate(("low", "high")):
                found[f"{name}({outcome})"] = Column(float, [row.intervals[x][end] for row in self])
        return found

    def summary(self) -> Sheet:
        """The states in their order, as a table that prints well and that notebooks show in HTML."""
        return self.of_rows("", self)

    def of_rows(
        self, title: str, rows: Sequence[Row], most: int | None = MOST, outcomes: Sequence[str] = ()
    ) -> Sheet:
        """Some of its rows under a title, ``most`` shown: a line for each state and outcome of these.

        Shares are as counted; ``probabilities`` are what the model predicts from them and the prior.
        """
        every = range(len(self.outcomes))  # of two, one tells the other
        shown = [x for x in every if self.outcomes[x] in outcomes] or list(every)[
            : 1 if len(every) == 2 else None
        ]
        several = len(shown) > 1
        head = ["state", "seen", *(["next"] if several else []), "count"]
        head += ["share" if several else str(self.outcomes[shown[0]]), "95% interval", ""]
        cells = [
            [
                (row.words or "any history") if x == shown[0] else "",
                number(row.n) if x == shown[0] else "",
                *([str(self.outcomes[x])] if several else []),
                number(row.counts[x]),
                percent(row.counts[x] / row.n) if row.n else "",
                interval(*row.intervals[x]) if row.n else "",
                "" if row.seen == "often" else f"{row.seen} seen",
            ]
            for row in rows[: None if most is None else max(1, most // len(shown))]
            for x in shown
        ]
        return Sheet(title, head, cells, len(rows) * len(shown))


class Edges(Records[Influence]):
    """Influences by evidence: the surest first, then labels on themselves, then faint ones.

    A tuple of :class:`Influence`: all that a search selected. ``passing`` are those that count as found.
    ``to_frame()`` has one row per influence, with the fields of it and ``rate_with``, ``rate_without``,
    ``precedence``, ``evidence``, ``set_aside`` and others that are derived from them.
    """

    def __new__(cls, records: Iterable[Influence] = (), record: type = Influence) -> Self:
        """Rank the influences."""
        return super().__new__(cls, ranked(records), record)

    @property
    def passing(self) -> Edges:
        """The influences that count as found: all but those with a reason in ``set_aside``."""
        return Edges(edge for edge in self if not edge.set_aside)

    def summary(self) -> Sheet:
        """The surest influences, as a table that prints well and that notebooks show in HTML."""
        what = "odds ratios, all else equal" if self._of_odds else "rate ratios with other influencers equal"
        return self.sheet(f"{headline(self)}, the surest first; {what}")

    @property
    def _of_odds(self) -> bool:
        """Whether these are edges of a joint model, whose ratios are odds ratios."""
        return any(edge.interval == "likelihood" for edge in self)

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The surest influences, under a title."""
        columns: dict[str, Callable[[Influence], str]] = {
            "influencer": attrgetter("influencer"),
            "effect": _effect,
            "target": attrgetter("target"),
            "follows": follows,
            "after others": partial(follows, others=True, counts=False),
            "odds ratio" if self._of_odds else "rate ratio": times,
            "95% interval": limits,
            "cases": cases,
        }
        if any(edge.frequency is not None for edge in self):
            columns["found again"] = found_again
        rows = [[cell(edge) for cell in columns.values()] for edge in self[:MOST]]
        colours = [[None, colour(edge), *[None] * (len(columns) - 2)] for edge in self[:MOST]]
        notes = (*notes, *filter(None, [follow_note(self)]))
        return Sheet(title, list(columns), rows, len(self), notes, colours)


def found_again(edge: Influence) -> str:
    """In which share of the resampled graphs an edge is found again; nothing where that is not known."""
    return "" if edge.frequency is None else percent(edge.frequency)


def _effect(edge: Influence) -> str:
    """The effect, and why an edge is faint."""
    word = effect_word(edge)
    return f"{word} ({edge.faint})" if edge.faint not in ("", word) else word


# ---------------------------------------------------------------------- why a probability is so


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


@dataclass(frozen=True)
class History:
    """One sequence in the codes of a model, its attributes first: what is known at its next position."""

    rows: Rows
    moments: Moments

    @classmethod
    def read(cls, given: Any, fitted: Fitted, unknown: Unknown) -> Self:
        """What people give as a history."""
        rows = Rows.of(fitted.read(one_sequence(given), unknown))
        attributes = np.array([*(label in fitted.layout.attributes for label in fitted.labels), False])
        return cls(replace(rows, attributes=attributes), rows.moments)

    @property
    def n_positions(self) -> int:
        """How many positions there are."""
        return int(self.moments.starts.sum())

    @property
    def lags(self) -> IntArray:
        """How many positions before the next one each row stands."""
        return np.asarray(1 + self.n_positions - np.cumsum(self.moments.starts))

    def where(self, code: int, reach: Reach) -> BoolArray:
        """The rows of a label where it is looked for at the next position, which is at the last time."""
        times, unit = self.moments.times, self.moments.unit.size

        def beyond(span: Span) -> IntArray:
            """How much further back than a span rows are, in what it counts."""
            if times is None or not span.in_time:
                return np.asarray(self.lags - span.size)
            return np.asarray(times[-1:] - times - span.size // unit)

        is_there = (beyond(reach.delay_span) > 0) & (beyond(reach.lookback_span) <= 0)
        return np.asarray((self.rows.codes == code) & is_there)

    def ages(self, there: BoolArray) -> tuple[str, ...]:
        """How long before the last event some rows were, the nearest first."""
        times, unit = self.moments.times, self.moments.unit
        assert times is not None
        ages = (int(times[-1]) - times[there][::-1]).tolist()
        return tuple(written(age * unit.size, is_clock=unit.is_clock) for age in ages)

    def of_column(self, code: int) -> IntArray:
        """All values of the same column of attributes, such as "region" of "region=north"."""
        column = [label.partition("=")[0] for label in self.rows.labels]
        return np.flatnonzero(self.rows.attributes & [*(each == column[code] for each in column), False])

    def without(self, there: BoolArray) -> Rows:
        """Some rows taken for ones of no known label, so that the others stay where they are."""
        return replace(self.rows, codes=np.where(there, np.int32(UNKNOWN), self.rows.codes))

    def and_now(self, code: int) -> Rows:
        """One more event at the end, at the time of the last; or an attribute with another value."""
        rows = self.rows
        if not rows.attributes[code]:
            return replace(rows.with_next(), codes=np.append(rows.codes, np.int32(code)))
        other_values = self.without(np.isin(rows.codes, self.of_column(code)))
        first = other_values.codes, rows.offsets, self.moments, np.array([0]), code
        codes, offsets, moments = with_more_rows(*first, begins=False)
        return replace(rows, codes=codes, offsets=offsets, moments=moments)


def _state(fitted: Fitted, rows: Rows, outcome: int) -> dict[str, Any]:
    """What holds after a history: the fields that an explanation and a counterfactual share."""
    ids, keys = fitted.summary.encode(rows.with_next().index(), fitted.influencers, fitted.labels)
    key = keys[ids[-1:]]
    row = fitted.rows(key)
    (found,) = Row.each(fitted, fitted.table.keys[row] if row < len(fitted.table.keys) else key, row)
    return {
        "state": found.state,
        "words": found.words,
        "support": found.n,
        "probability": found.probabilities[outcome],
        "interval": found.intervals[outcome],
        "seen": found.seen,
    }


def explain(
    fitted: Fitted, history: History, outcome: int, names: Sequence[str], base_rate: float
) -> Explanation:
    """Explain the probability of an outcome after a history; ``names`` are the influencers."""
    unit, active = "tick" if fitted.layout.together else "event", list[Active]()
    without, with_more = list[tuple[str, bool, Rows]](), list[tuple[str, bool, Rows]]()
    for name in names:
        code = fitted.labels.index(name)
        is_attribute = name in fitted.layout.attributes
        reach = Reach(0, None) if is_attribute else fitted.reach(name)
        delay, there = reach.delay_span, history.where(code, reach)
        if not there.any():
            # with a delay it would not count yet
            if code in fitted.influencers and not (delay.size or delay.in_time):
                with_more.append((name, True, history.and_now(code)))
            continue
        if is_attribute:
            active.append(Active(name, (), ()))
            if set(history.of_column(code).tolist()) <= set(fitted.influencers):
                continue  # it can have no other value
        else:
            lags = history.lags[there][::-1]
            ages = history.ages(there) if reach.lookback_span.in_time or delay.in_time else ()
            positions = (history.n_positions - lags + 1).tolist()
            active.append(Active(name, tuple(lags.tolist()), tuple(positions), unit, ages))
        without.append((name, False, history.without(there)))
    return Explanation(
        target=fitted.labels[fitted.target.codes[outcome]],
        base_rate=base_rate,
        in_sequences=bool(fitted.layout.outcomes),
        active=tuple(active),
        counterfactuals=tuple(
            Counterfactual(
                name, there, is_attribute=name in fitted.layout.attributes, **_state(fitted, rows, outcome)
            )
            for name, there, rows in without + with_more
        ),
        **_state(fitted, history.rows, outcome),
    )
