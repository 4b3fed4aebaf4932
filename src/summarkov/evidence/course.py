"""The course of cases behind edges: fixed successions, what holds beyond the previous step, interplays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.engines import EventSource
from summarkov.engines.source import count_starts
from summarkov.engines.steps import SUCCESSION_SHARE, Chain, Step, count_steps, fixed_successions
from summarkov.events.vocabulary import END
from summarkov.evidence.edges import Edge, EdgeList, Influence
from summarkov.evidence.interplay import Interplay, find_interplays
from summarkov.evidence.ratios import Strata, rate_ratio, widened

#: What an edge says beyond the previous step, and its interval.
BEYOND = ("beyond_ratio", "beyond_low", "beyond_high")
#: A label that begins so large a share of the cases is their first event, which nothing comes before.
FIRST_SHARE = 0.95


@dataclass(frozen=True, repr=False)
class EdgeCourse(Edge):
    """An edge beside the course of cases.

    Attributes
    ----------
    influencer, target : str
        The edge.
    succession : bool
        Whether the two are in fixed succession: see :class:`Course`. So is the end of a case with a label if
        at least 95% of that label are last events, and at least 95% of last events are that label.
    is_first : bool
        Whether the target begins at least 95% of the cases.
    beyond_ratio, beyond_low, beyond_high : float or None
        The rate ratio with the event just before held equal, its 95% interval, widened as that of the edge.
        Whether the target is in the window and whether the window is full are held equal too; moments at
        which the influencer is the event just before are left out. None where events happen together, for
        labels on themselves, and where nothing can be compared.
    """

    succession: bool
    is_first: bool
    beyond_ratio: float | None = None
    beyond_low: float | None = None
    beyond_high: float | None = None

    def added_to(self, edge: Influence) -> Influence:
        beyond: dict[str, Any] = {name: getattr(self, name) for name in BEYOND}
        ends = edge.hits_with + edge.hits_without if edge.target == END else math.inf
        is_end = (edge.followed or 0.0) >= SUCCESSION_SHARE * max(ends, edge.occurrences or 0.0)
        edge = replace(edge, succession=self.succession or is_end, **beyond)
        if edge.succession or self.is_first:
            edge = replace(edge, impact=None, impact_low=None, impact_high=None)
        return edge


@dataclass(frozen=True, repr=False)
class Course(EdgeList):
    """What always comes in one order, and what edges say beyond that; a row for each edge.

    Attributes
    ----------
    edges : tuple of EdgeCourse
        The edges of the graph, in the order of targets.
    chains : tuple of Chain
        Fixed successions: in at least 95% of the cases with Z, x comes after the last Z, and in at least 95%
        of the cases with x a Z comes before the first x. Those that follow from others are left out.
    interplays : tuple of Interplay
        How two influencers act together, where they do not act each for itself.
    """

    edges: tuple[EdgeCourse, ...]
    chains: tuple[Chain, ...] = ()
    interplays: tuple[Interplay, ...] = ()

    def _title(self) -> str:
        return f"{len(self.chains)} fixed successions, {len(self.interplays)} interplays"


def course_of(models: Sequence[Any], source: EventSource) -> Course:
    """The course of the cases that models of single labels were learned from."""
    fitted = [model.fitted for model in models]
    chains, pairs = fixed_successions(source)
    starts = source.map(count_starts)
    first = {source.labels[x] for x in np.flatnonzero(starts >= FIRST_SHARE * max(starts.sum(), 1))}
    edges = [(one, column) for one in fitted for column in range(len(one.influencers))]
    edges = [(one, column) for one, column in edges if one.influencers[column] not in one.given]
    asked = [
        Step(one.influencers[column], one.target.codes[0], one.reach(one.influencer_labels[column]))
        for one, column in edges
    ]
    tables = [None] * len(asked) if source.has_ticks or source.outcomes else count_steps(source, asked)
    found = []
    for (one, column), step, table in zip(edges, asked, tables, strict=True):
        names = one.influencer_labels[column], one.labels[step.target]
        beyond: tuple[float | None, ...] = ()
        if table is not None and step.influencer != step.target:
            beyond = _beyond(Strata.of(*table), _widening(one, column))
        found.append(EdgeCourse(*names, (step.influencer, step.target) in pairs, names[1] in first, *beyond))
    interplays = () if source.outcomes else find_interplays(source, fitted)
    return Course(tuple(found), tuple(chains), tuple(each for some in interplays for each in some))


def _widening(fitted: Any, column: int) -> float:
    """How many times wider than from counts the interval of an edge is."""
    contrast = next(
        (found for at, outcome, found in fitted.contrasts() if (at, outcome) == (column, 0)), None
    )
    return 1.0 if contrast is None else fitted.wider(column, 0, contrast) or 1.0


def _beyond(strata: Strata, widening: float) -> tuple[float | None, ...]:
    """A ratio and its interval; nothing where nothing can be compared."""
    found = rate_ratio(strata)
    low, high = widened(found, np.asarray(widening))
    return () if np.isnan(found.ratio) else (float(found.ratio), float(low), float(high))
