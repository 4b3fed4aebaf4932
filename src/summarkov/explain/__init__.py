"""What a fitted model says, in numbers and in words; and all that pages and passages ask of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

from summarkov.errors import SettingError
from summarkov.explain import sentences, verdicts
from summarkov.explain.contrasts import Contrast, contrast, contrast_in_tree, contrasts_in_table, presence
from summarkov.explain.explanation import Active, Counterfactual, Explanation, Share, SharedExplanation
from summarkov.explain.group_comparison import (
    EdgeDifference,
    GroupComparison,
    GroupShare,
    LabelDifference,
    SeveralGroups,
)
from summarkov.explain.influence import Influence, effect_of, influence_of, ranked, weight
from summarkov.explain.patterns import Pattern, pattern_of
from summarkov.search import Trace


class FittedModel(Protocol):
    """A fitted model of one target; ``fitted`` holds its counts and the settings needed to read them."""

    @property
    def fitted(self) -> Any: ...
    @property
    def labels_(self) -> tuple[str, ...]: ...
    @property
    def target_(self) -> tuple[str, ...]: ...
    @property
    def influencers_(self) -> tuple[str, ...]: ...
    @property
    def influences_(self) -> Sequence[Influence]: ...
    @property
    def patterns_(self) -> Sequence[Pattern]: ...
    @property
    def trace_(self) -> Trace: ...

    def explain(self, history: Any, *, label: str | None = None) -> Explanation: ...


class FittedGraph(Protocol):
    """A fitted graph: one model per target."""

    @property
    def labels_(self) -> tuple[str, ...]: ...
    @property
    def models_(self) -> Mapping[str, FittedModel]: ...
    @property
    def edges_(self) -> Sequence[Influence]: ...


class FittedDistribution(Protocol):
    """A fitted joint model: one distribution over all labels, with edges but no models of single labels."""

    @property
    def fitted(self) -> Any: ...
    @property
    def labels_(self) -> tuple[str, ...]: ...
    @property
    def lookback(self) -> int: ...
    @property
    def edges_(self) -> Sequence[Influence]: ...
    @property
    def influencers_(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def gains_(self) -> Mapping[str, Mapping[str, float]]: ...
    @property
    def recency_(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]: ...


class FittedOutcome(Protocol):
    """A model of an outcome of whole cases; ``model_`` has the outcome and its opposite as target."""

    @property
    def model_(self) -> FittedModel: ...

    @property
    def open_cases(self) -> Any:
        """What became of cases that were open at every moment."""

    @property
    def left_out_(self) -> Mapping[str, int]: ...
    @property
    def overall_rate_(self) -> float: ...
    @property
    def notices_(self) -> Sequence[str]: ...

    @property
    def decided_by(self) -> int | None:
        """The code of the label that makes the outcome certain, if there is one."""

    @property
    def yes(self) -> int: ...
    @property
    def influences_(self) -> Sequence[Influence]: ...


#: Whatever has a page.
Shown = FittedModel | FittedGraph | FittedDistribution | FittedOutcome


def is_outcome(fitted: Shown) -> TypeGuard[FittedOutcome]:
    """Whether this tells how sequences end; asked of the class, so that what is not fitted says so itself."""
    return hasattr(type(fitted), "open_cases")


def is_graph(fitted: Shown) -> TypeGuard[FittedGraph]:
    """Whether this is a graph."""
    return hasattr(type(fitted), "models_") and hasattr(type(fitted), "edges_")


def is_joint(fitted: Shown) -> TypeGuard[FittedDistribution]:
    """Whether this is a joint model."""
    return hasattr(type(fitted), "edges_") and not hasattr(type(fitted), "models_")


def models_of(fitted: Shown) -> list[FittedModel]:
    """The models of a graph, or a single one; a joint model has none."""
    if is_joint(fitted):
        return []
    if is_outcome(fitted):
        return [fitted.model_]
    return list(fitted.models_.values()) if is_graph(fitted) else [cast(FittedModel, fitted)]


def model_of(fitted: FittedGraph | FittedModel, target: str) -> FittedModel:
    """The model of a label."""
    models = {label: model for model in models_of(fitted) for label in model.target_}
    if target not in models:
        raise SettingError(f"there is no model of {target!r}; learned were {', '.join(map(repr, models))}")
    return models[target]


def influences_of(fitted: Shown) -> Sequence[Influence]:
    """The influences of a graph, or of a single model."""
    if is_joint(fitted) or is_graph(fitted):
        return fitted.edges_
    return cast(FittedModel | FittedOutcome, fitted).influences_
