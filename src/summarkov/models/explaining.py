"""Explain one prediction: what of a history counts, and what would be different without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.confidence import seen
from summarkov.engines import Layout
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments, join_moments
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import UNKNOWN, Unknown, iterate
from summarkov.explain import Active, Counterfactual, Explanation
from summarkov.kernels import Index
from summarkov.models.fitted import Fitted
from summarkov.models.predictor import read_new_events
from summarkov.read import read_events
from summarkov.settings import written
from summarkov.summaries import Reach
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray


def one_sequence(given: Any) -> EventSequences:
    """A history that is to be explained: labels, or ticks, oldest first; or the events of one sequence."""
    data = given if isinstance(given, EventSequences) else read_events([list(iterate(given))])
    if len(data) != 1:
        raise DataError(
            f"one history can be explained at a time, and these are {len(data)} sequences; give one, "
            "such as events[0]"
        )
    return data


@dataclass(frozen=True)
class OneHistory:
    """What has happened in one sequence, in the codes of a model.

    ``values`` are the attributes of the sequence, ``codes`` its events, and ``moments`` tell which of these
    happened together and when; None: one after the other.
    """

    labels: tuple[str, ...]
    attributes: frozenset[str]  # which labels are values of attributes
    values: tuple[int, ...]
    codes: CodeArray
    moments: Moments | None

    @classmethod
    def read(cls, given: Any, labels: tuple[str, ...], layout: Layout, unknown: Unknown) -> OneHistory:
        """Read labels, or ticks, oldest first; or events of one sequence, which may have more."""
        rows = Rows.of(read_new_events(one_sequence(given), labels, layout, unknown))
        event = ~rows.attributes[rows.codes]
        moments = None if rows.moments is None else rows.moments[event]
        values = tuple(rows.codes[~event].tolist())
        return cls(labels, frozenset(layout.attributes), values, rows.codes[event], moments)

    @property
    def lags(self) -> IntArray:
        """How many positions before the next one each event stands."""
        if self.moments is None:
            return np.arange(len(self.codes), 0, -1)
        return np.asarray(1 + self.moments.starts.sum() - np.cumsum(self.moments.starts))

    def within(self, reach: Reach) -> BoolArray:
        """Which events stand where a label is looked for at the next position, which is at the last time."""
        lags, moments = self.lags, self.moments
        delay, lookback = reach.delay_span, reach.lookback_span
        far_enough, near_enough = lags > delay.size, lags <= lookback.size
        if moments is not None and moments.times is not None:
            ages, unit = moments.times[-1:] - moments.times, moments.unit.size
            far_enough = ages > delay.size // unit if delay.in_time else far_enough
            near_enough = ages <= lookback.size // unit if lookback.in_time else near_enough
        return np.asarray(far_enough & near_enough)

    def ages(self, there: BoolArray) -> tuple[str, ...]:
        """How long before the last event some events were, the nearest first."""
        moments = self.moments
        assert moments is not None
        assert moments.times is not None
        ages = (int(moments.times[-1]) - moments.times[there][::-1]).tolist()
        return tuple(written(age * moments.unit.size, is_clock=moments.unit.is_clock) for age in ages)

    def is_attribute(self, code: int) -> bool:
        """Whether a label is the value of an attribute."""
        return self.labels[code] in self.attributes

    # ------------------------------------------------------------------ what might have been

    def without(self, there: BoolArray) -> OneHistory:
        """Some events taken for ones of no known label, so that the others stay where they are."""
        return replace(self, codes=np.where(there, np.int32(UNKNOWN), self.codes))

    def without_value(self, code: int) -> OneHistory:
        """An attribute with a value of which the model does not ask."""
        return replace(self, values=tuple(value for value in self.values if value != code))

    def with_value(self, code: int) -> OneHistory:
        """An attribute with another value."""
        column = _column(self.labels[code])
        others = (value for value in self.values if _column(self.labels[value]) != column)
        return replace(self, values=tuple(sorted((*others, code))))

    def with_event(self, code: int) -> OneHistory:
        """One more event at the end, at the time of the last."""
        codes, moments = np.append(self.codes, np.int32(code)), self.moments
        if moments is not None:
            moments = moments.with_ends(np.array([0, len(self.codes)]), np.ones(1, bool))
        return replace(self, codes=codes, moments=moments)

    def must_have(self, code: int, asked: Sequence[int]) -> bool:
        """Whether an attribute has a value, and no others than those that are asked about."""
        column = _column(self.labels[code])
        of_column = {value for value in self.attributes if _column(value) == column}
        return of_column <= {self.labels[other] for other in asked}


def _column(name: str) -> str:
    """The column of an attribute's value, such as "region" of "region=north"."""
    return name.partition("=")[0]


def next_places(histories: Sequence[OneHistory]) -> tuple[Index, IntArray]:
    """The place where the next event of each history will stand, and the rows of these."""
    first = histories[0]
    each = [np.array([*one.values, *one.codes, UNKNOWN], np.int32) for one in histories]
    codes, offsets = np.concatenate(each), np.append(0, np.cumsum([len(some) for some in each]))
    moments = join_moments([(len(some), _moments(one)) for some, one in zip(each, histories, strict=True)])
    is_attribute = np.array([*(label in first.attributes for label in first.labels), False])
    rows = Rows(codes, offsets.astype(np.int64), first.labels, is_attribute, moments)
    return rows.index(), rows.offsets[1:] - 1


def _moments(history: OneHistory) -> Moments | None:
    """Those of all rows: attributes begin no tick, and the next event stands at the time of the last."""
    n, moments = len(history.codes), history.moments
    if moments is None and not history.attributes:
        return None
    moments = (moments or Moments(np.ones(n, bool))).with_ends(np.array([0, n]), np.ones(1, bool))
    held = len(history.values)
    times = None if moments.times is None else np.insert(moments.times, [0] * held, moments.times[0])
    return replace(moments, starts=np.insert(moments.starts, [0] * held, False), times=times)


@dataclass(frozen=True)
class _Histories:
    """Some histories, and the state that each is in by the model's own reckoning."""

    fitted: Fitted
    rows: list[int]
    keys: list[Any]
    bounds: FloatArray  # [history, outcome, (low, high)]; worked out together, for they cost most

    @classmethod
    def of(cls, fitted: Fitted, histories: Sequence[OneHistory]) -> _Histories:
        index, ends = next_places(histories)
        rows = fitted.predict(index)[ends].tolist()
        ids, found = fitted.summary.encode(index, fitted.influencers, fitted.labels)
        known = len(fitted.table.keys)
        keys = [
            (fitted.table.keys[row] if row < known else found[ids[end]]).tolist()
            for row, end in zip(rows, ends.tolist(), strict=True)
        ]
        return cls(fitted, rows, keys, fitted.intervals(np.array(rows)))

    def told(self, which: int, outcome: int, names: Sequence[str]) -> dict[str, Any]:
        """The fields that an explanation and a counterfactual share."""
        fitted, row, key = self.fitted, self.rows[which], self.keys[which]
        support = float(fitted.observed[row].sum() / fitted.scale) if row < len(fitted.observed) else 0.0
        low, high = self.bounds[which, outcome]
        return {
            "state": fitted.summary.state(key, names, fitted.labels),
            "words": fitted.summary.words(key, names, fitted.labels),
            "support": support,
            "probability": float(fitted.theta[row, outcome]),
            "interval": (float(low), float(high)),
            "seen": seen(support, float(fitted.pseudo.sum())),
        }


def explain(
    fitted: Fitted, history: OneHistory, outcome: int, names: Sequence[str], base_rate: float
) -> Explanation:
    """Explain the probability of an outcome after a history; ``names`` are the influencers."""
    code_of = {name: code for code, name in enumerate(fitted.labels)}
    active: list[Active] = []
    edits: list[tuple[str, bool, OneHistory]] = []  # an influencer, whether it is there then, and the history
    for name in names:
        code = code_of[name]
        if history.is_attribute(code):
            if code not in history.values:
                continue
            active.append(Active(name, (), ()))
            if not history.must_have(code, fitted.influencers):
                edits.append((name, False, history.without_value(code)))
            continue
        reach = fitted.reach(name)
        there = (history.codes == code) & history.within(reach)
        if there.any():
            lags = history.lags[there][::-1]
            positions = history.lags.max() - lags + 1
            ages = history.ages(there) if reach.lookback_span.in_time or reach.delay_span.in_time else ()
            unit = "tick" if fitted.layout.together else "event"
            active.append(Active(name, tuple(lags.tolist()), tuple(positions.tolist()), unit, ages))
            edits.append((name, False, history.without(there)))
    occurred = {each.label for each in active}
    for code in fitted.influencers:
        name = fitted.labels[code]
        delay = fitted.reach(name).delay_span
        if name in occurred:
            continue
        if history.is_attribute(code):
            edits.append((name, True, history.with_value(code)))
        elif not delay.size and not delay.in_time:  # with a delay it would not count yet
            edits.append((name, True, history.with_event(code)))
    states = _Histories.of(fitted, [history, *(edited for _, _, edited in edits)])
    return Explanation(
        target=fitted.labels[fitted.target.codes[outcome]],
        base_rate=base_rate,
        in_sequences=bool(fitted.layout.outcomes),
        active=tuple(active),
        counterfactuals=tuple(
            Counterfactual(
                label=name,
                occurred=is_there,
                is_attribute=history.is_attribute(code_of[name]),
                **states.told(which, outcome, names),
            )
            for which, (name, is_there, _) in enumerate(edits, start=1)
        ),
        **states.told(0, outcome, names),
    )
