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
from summarkov.models.distribution import read_new_events
from summarkov.models.fitted import Fitted
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
    """What has happened in one sequence, in the codes of a model: its attributes, then its events."""

    rows: Rows
    moments: Moments  # of the rows: attributes begin no tick

    @classmethod
    def read(cls, given: Any, labels: tuple[str, ...], layout: Layout, unknown: Unknown) -> OneHistory:
        """Read labels, or ticks, oldest first; or events of one sequence, which may have more."""
        rows = Rows.of(read_new_events(one_sequence(given), labels, layout, unknown))
        held = set(layout.attributes)
        attributes = np.array([*(label in held for label in labels), False])
        moments = rows.moments or Moments(np.ones(len(rows.codes), bool))
        return cls(replace(rows, attributes=attributes), moments)

    @property
    def codes(self) -> CodeArray:
        """Of attributes and events."""
        return self.rows.codes

    @property
    def lags(self) -> IntArray:
        """How many positions before the next one each event stands."""
        return np.asarray(1 + self.moments.starts.sum() - np.cumsum(self.moments.starts))

    @property
    def n_positions(self) -> int:
        """How many positions there are."""
        return int(self.moments.starts.sum())

    def where(self, code: int, reach: Reach) -> BoolArray:
        """The rows of a label where it is looked for at the next position, which is at the last time."""
        lags, moments = self.lags, self.moments
        delay, lookback = reach.delay_span, reach.lookback_span
        far_enough, near_enough = lags > delay.size, lags <= lookback.size
        if moments.times is not None:
            ages, unit = moments.times[-1:] - moments.times, moments.unit.size
            far_enough = ages > delay.size // unit if delay.in_time else far_enough
            near_enough = ages <= lookback.size // unit if lookback.in_time else near_enough
        return np.asarray((self.codes == code) & far_enough & near_enough)

    def ages(self, there: BoolArray) -> tuple[str, ...]:
        """How long before the last event some events were, the nearest first."""
        moments = self.moments
        assert moments.times is not None
        ages = (int(moments.times[-1]) - moments.times[there][::-1]).tolist()
        return tuple(written(age * moments.unit.size, is_clock=moments.unit.is_clock) for age in ages)

    def is_attribute(self, code: int) -> bool:
        """Whether a label is the value of an attribute."""
        return bool(self.rows.attributes[code])

    def of_column(self, code: int) -> IntArray:
        """All values of the same column, such as "region" of "region=north"."""
        column = [label.partition("=")[0] for label in self.rows.labels]
        same = np.array([*(each == column[code] for each in column), False])
        return np.flatnonzero(self.rows.attributes & same)

    # ------------------------------------------------------------------ what might have been

    def without(self, there: BoolArray) -> OneHistory:
        """Some rows taken for ones of no known label, so that the others stay where they are."""
        return replace(self, rows=replace(self.rows, codes=np.where(there, np.int32(UNKNOWN), self.codes)))

    def with_value(self, code: int) -> OneHistory:
        """An attribute with another value."""
        there = np.append(np.flatnonzero(np.isin(self.codes, self.of_column(code))), -1)[0]
        if there >= 0:
            return replace(self, rows=replace(self.rows, codes=_put(self.codes, there, code)))
        codes = np.insert(self.codes, 0, np.int32(code))
        return replace(
            self, rows=replace(self.rows, codes=codes), moments=self.moments.with_attributes(np.array([0]))
        )

    def with_event(self, code: int) -> OneHistory:
        """One more event at the end, at the time of the last."""
        codes, ends = np.append(self.codes, np.int32(code)), np.array([0, len(self.codes)])
        moments = self.moments.with_ends(ends, np.ones(1, bool))
        return replace(self, rows=replace(self.rows, codes=codes), moments=moments)


def _put(codes: CodeArray, at: int, code: int) -> CodeArray:
    changed = codes.copy()
    changed[at] = code
    return changed


def next_places(histories: Sequence[OneHistory]) -> tuple[Index, IntArray]:
    """The place where the next event of each history will stand, and the rows of these."""
    each = [one.with_event(UNKNOWN) for one in histories]
    codes = np.concatenate([one.codes for one in each])
    offsets = np.append(0, np.cumsum([len(one.codes) for one in each])).astype(np.int64)
    moments = join_moments([(len(one.codes), one.moments) for one in each])
    return replace(each[0].rows, codes=codes, offsets=offsets, moments=moments).index(), offsets[1:] - 1


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
        reach = Reach(0, None) if history.is_attribute(code) else fitted.reach(name)
        there = history.where(code, reach)
        if not there.any():
            continue
        if history.is_attribute(code):
            active.append(Active(name, (), ()))
            if not set(history.of_column(code).tolist()) <= set(
                fitted.influencers
            ):  # it may have another value
                edits.append((name, False, history.without(there)))
            continue
        lags = history.lags[there][::-1]
        positions = history.n_positions - lags + 1
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
