"""``Pipeline``: that of scikit-learn, which also says what comes next."""

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
