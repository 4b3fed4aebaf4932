"""What pages and passages ask of a fitted model or graph: all that they need to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

from summarkov.explain.explanation import Explanation
from summarkov.explain.influence import Influence
from summarkov.explain.patterns import Pattern
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


def is_graph(fitted: FittedModel | FittedGraph) -> TypeGuard[FittedGraph]:
    """Whether this is a graph; asked of its class, so that one that is not fitted says so itself."""
    return hasattr(type(fitted), "models_")


def models_of(fitted: FittedModel | FittedGraph) -> list[FittedModel]:
    """The models of a graph, or a single one."""
    return list(fitted.models_.values()) if is_graph(fitted) else [cast(FittedModel, fitted)]


def influences_of(fitted: FittedModel | FittedGraph) -> Sequence[Influence]:
    """The influences of a graph, or of a single model."""
    return fitted.edges_ if is_graph(fitted) else cast(FittedModel, fitted).influences_
