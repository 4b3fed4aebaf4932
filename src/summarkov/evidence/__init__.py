"""What a fitted model says, how sure that is, and both in words; and what pages ask of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarkov.errors import SettingError
from summarkov.evidence.course import Course, EdgeCourse
from summarkov.evidence.edges import (
    ORDERS,
    Confidence,
    Contrast,
    Difference,
    Influence,
    contrast,
    contrasts_in_table,
    effect_of,
    follow_numbers,
    influence_of,
    presence,
    weight,
)
from summarkov.evidence.explanation import Active, Counterfactual, Explanation, Share, SharedExplanation
from summarkov.evidence.findings import Findings
from summarkov.evidence.groups import EdgeDifference, GroupComparison, LabelDifference, SeveralGroups
from summarkov.evidence.interplay import Interplay
from summarkov.evidence.order import EdgeOrder, OrderTest, Remainder
from summarkov.evidence.ratios import (
    Strata,
    exact_intervals,
    given_selected,
    rate_ratio,
    robust_widening,
    seen,
    widened,
    widening,
)

#: Whatever has a page, asked for what it has: a model of one target, a graph of such models, a joint model
#: (one distribution over all labels, with edges but no models), or a model of the outcome of whole cases.
Shown = Any


def is_outcome(fitted: Shown) -> bool:
    """Whether this tells how sequences end; asked of the class, so that what is not fitted says so itself."""
    return hasattr(type(fitted), "open_cases")


def is_graph(fitted: Shown) -> bool:
    """Whether this is a graph."""
    return hasattr(type(fitted), "models_") and hasattr(type(fitted), "edges_")


def is_joint(fitted: Shown) -> bool:
    """Whether this is a joint model."""
    return hasattr(type(fitted), "edges_") and not hasattr(type(fitted), "models_")


def models_of(fitted: Shown) -> list[Any]:
    """The models of a graph, or a single one; a joint model has none."""
    if is_joint(fitted):
        return []
    if is_outcome(fitted):
        return [fitted.model_]
    return list(fitted.models_.values()) if is_graph(fitted) else [fitted]


def model_of(fitted: Shown, target: str) -> Any:
    """The model of a label."""
    models = {label: model for model in models_of(fitted) for label in model.target_}
    if target not in models:
        raise SettingError(f"there is no model of {target!r}; learned were {', '.join(map(repr, models))}")
    return models[target]


def influences_of(fitted: Shown) -> Sequence[Influence]:
    """The influences of a graph, or of a single model."""
    found: Sequence[Influence] = fitted.edges_ if hasattr(type(fitted), "edges_") else fitted.influences_
    return found
