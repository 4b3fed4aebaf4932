"""Explain one prediction: what of a history counts, and what would be different without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov.engines import Layout
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import UNKNOWN, Unknown, iterate
from summarkov.evidence import Active, Counterfactual, Explanation, seen
from summarkov.models.distribution import read_new_events
from summarkov.models.fitted import Fitted
from summarkov.read import read_events
from summarkov.settings import written
from summarkov.summaries import Reach
from summarkov.typing import BoolArray, IntArray


def one_sequence(given: Any) -> EventSequences:
    """A history that is to be explained: labels, or ticks, oldest first; or the events of one sequence."""
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


def _state(fitted: Fitted, rows: Rows, outcome: int, names: Sequence[str]) -> dict[str, Any]:
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
        "state": fitted.summary.state(key, names, fitted.labels),
        "words": fitted.summary.words(key, names, fitted.labels),
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
                **_state(fitted, edited, outcome, names),
            )
            for name, is_there, edited in edits
        ),
        **_state(fitted, history, outcome, names),
    )
