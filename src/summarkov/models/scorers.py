"""How scikit-learn may measure models: ``scorer``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from summarkov.errors import SettingError
from summarkov.events.labels import check_unknown
from summarkov.models.predictor import Unknown

Measure = Literal["log_likelihood", "brier"]


def scorer(measure: Measure = "log_likelihood", *, unknown: Unknown = "error") -> EventScorer:
    """What to give scikit-learn as ``scoring=``, for models, graphs, bags, and pipelines that end in one.

    Parameters
    ----------
    measure : {"log_likelihood", "brier"}
        The mean log-likelihood per event, as ``score`` has it; or the Brier score, times -1, so that larger
        is better.
    unknown : {"error", "ignore"}
        What to do about labels that occur in the part to test and not in that to learn from.

    >>> from sklearn.model_selection import cross_val_score
    >>> from summarkov import BSuMM
    >>> events = [["a", "b"], ["b", "a"], ["a", "b", "c"]] * 4
    >>> cross_val_score(BSuMM("b", lookback=1), events, cv=3, scoring=scorer(unknown="ignore")).round(2)
    array([-0.31, -0.51, -0.31])
    """
    if measure not in ("log_likelihood", "brier"):
        raise SettingError(f"measure must be 'log_likelihood' or 'brier', not {measure!r}")
    check_unknown(unknown)
    return EventScorer(measure, unknown)


@dataclass(frozen=True)
class EventScorer:
    """A measure of a fitted model on events; larger is better."""

    measure: Measure
    unknown: Unknown

    def __call__(self, estimator: Any, events: Any, y: None = None) -> float:
        """Measure a model, or the last step of a pipeline after the steps before it."""
        if hasattr(estimator, "steps"):
            *steps, (_, estimator) = estimator.steps
            for _, step in steps:
                events = events if step is None or step == "passthrough" else step.transform(events)
        if self.measure == "brier":
            return -float(estimator.brier_score(events, unknown=self.unknown))
        return float(estimator.score(events, unknown=self.unknown))
