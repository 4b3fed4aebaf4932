"""Explain one prediction: what of the history counts, and what would be different without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.confidence import seen
from summarkov.explain import Active, Counterfactual, Explanation
from summarkov.models.fitted import Fitted
from summarkov.models.one_history import OneHistory, next_places
from summarkov.typing import FloatArray


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
    edited, edits = [history], []
    for name in names:
        code = code_of[name]
        if history.is_attribute(code):
            if code not in history.values:
                continue
            active.append(Active(name, (), ()))
            if not history.must_have(code, fitted.influencers):
                edited.append(history.without_value(code))
                edits.append((name, False))
            continue
        there = (history.codes == code) & history.within(fitted.reach(name))
        if there.any():
            lags = history.lags[there][::-1]
            positions = history.lags.max() - lags + 1
            active.append(Active(name, tuple(lags.tolist()), tuple(positions.tolist())))
            edited.append(history.without(there))
            edits.append((name, False))
    occurred = {each.label for each in active}
    for code in fitted.influencers:
        name = fitted.labels[code]
        delay = fitted.reach(name).delay_span
        if name in occurred:
            continue
        if history.is_attribute(code):
            edited.append(history.with_value(code))
            edits.append((name, True))
        elif not delay.size and not delay.in_time:  # with a delay it would not count yet
            edited.append(history.with_event(code))
            edits.append((name, True))
    states = _Histories.of(fitted, edited)
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
            for which, (name, is_there) in enumerate(edits, start=1)
        ),
        **states.told(0, outcome, names),
    )
