"""Explain one prediction: what of the history counts, and what would be different without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.confidence import seen
from summarkov.events.arrays import UNKNOWN
from summarkov.explain import Active, Counterfactual, Explanation
from summarkov.kernels import Index
from summarkov.models.fitted import Fitted
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class _Histories:
    """Some histories, and the state that each is in by the model's own reckoning."""

    fitted: Fitted
    rows: list[int]
    keys: list[Any]
    bounds: FloatArray  # [history, outcome, (low, high)]; worked out together, for they cost most

    @classmethod
    def of(cls, fitted: Fitted, histories: Sequence[Sequence[int]]) -> _Histories:
        codes = np.array([code for each in histories for code in (*each, UNKNOWN)], np.int32)
        offsets = np.concatenate([[0], np.cumsum([len(each) + 1 for each in histories])]).astype(np.int64)
        index, ends = Index(codes, offsets, len(fitted.labels)), offsets[1:] - 1
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
    fitted: Fitted, history: Sequence[int], outcome: int, names: Sequence[str], base_rate: float
) -> Explanation:
    """Explain the probability of an outcome after a history of codes; ``names`` are the influencers."""
    label = fitted.labels[fitted.target.codes[outcome]]
    code_of = {name: code for code, name in enumerate(fitted.labels)}
    active, edited, edits = [], [list(history)], []
    for name in names:
        delay, lookback = fitted.reach(name)
        end = len(history) if lookback is None else min(lookback, len(history))
        lags = [lag for lag in range(delay + 1, end + 1) if history[-lag] == code_of[name]]
        if lags:
            active.append(Active(name, tuple(lags), tuple(len(history) - lag + 1 for lag in lags)))
            absent = list(history)
            for lag in lags:
                absent[-lag] = UNKNOWN
            edited.append(absent)
            edits.append((name, False))
    there = {each.label for each in active}
    for code in fitted.influencers:
        name = fitted.labels[code]
        if name not in there and fitted.reach(name)[0] == 0:  # with a delay it would not count yet
            edited.append([*history, code])
            edits.append((name, True))
    states = _Histories.of(fitted, edited)
    return Explanation(
        target=label,
        base_rate=base_rate,
        active=tuple(active),
        counterfactuals=tuple(
            Counterfactual(label=name, occurred=occurred, **states.told(which, outcome, names))
            for which, (name, occurred) in enumerate(edits, start=1)
        ),
        **states.told(0, outcome, names),
    )
