"""``Pipeline``: that of scikit-learn, which also says what comes next.

>>> from sklearn.preprocessing import FunctionTransformer
>>> from summarkov import BSuMM, InfluenceGraph, read_events
>>> collapse = FunctionTransformer(lambda events: read_events(events).collapse_repeats())
>>> steps = Pipeline([("collapse", collapse), ("graph", InfluenceGraph(BSuMM(lookback=1)))])
>>> steps.fit([["A", "B", "B", "C"] * 4, ["C", "A", "A", "B"] * 4] * 5).predict_next([["A", "A"]]).most_likely
('B',)
"""

from __future__ import annotations

from typing import Any

from summarkov.errors import optional_library
from summarkov.models.prediction import Predictions

with optional_library("a pipeline", "scikit-learn", extra="baselines"):
    from sklearn import pipeline


class Pipeline(pipeline.Pipeline):  # type: ignore[misc]  # scikit-learn has no types
    """``sklearn.pipeline.Pipeline`` of steps that prepare events and a model that tells what comes next."""

    def predict_next(self, histories: Any, **how: Any) -> Predictions:
        """What comes next after each history, once the steps have prepared it."""
        found: Predictions = self[-1].predict_next(self[:-1].transform(histories), **how)
        return found
