"""What the models of a bag say of an influencer together, counted on the data themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from summarkov.confidence import Strata
from summarkov.engines import CountSource, StateCounts
from summarkov.engines.followed import Asked, count_followed
from summarkov.explain import Contrast, Influence, influence_of, ranked
from summarkov.explain.contrasts import Totals
from summarkov.models.fitted import Fitted


def bag_influences(models: Sequence[Fitted], source: CountSource) -> tuple[Influence, ...]:
    """See :attr:`Bag.influences_`: of models of one target, counted on what they were drawn from."""
    first = models[0]
    found: dict[tuple[int, int], list[Contrast]] = {}
    for model, table in zip(models, source.count([model.request for model in models]), strict=True):
        assert isinstance(table, StateCounts)
        counted = replace(model, table=_filled(model, table), scale=source.scale)
        for column, outcome, contrast in counted.contrasts():
            found.setdefault((model.influencers[column], outcome), []).append(contrast)
    influencers = tuple(sorted({z for z, _ in found}))
    windows = tuple(
        _widest([m.reach(first.labels[z]) for m in models if z in m.influencers]) for z in influencers
    )
    (followed,) = count_followed(source, [Asked(influencers, windows, first.target.codes)])
    edges = []
    for (z, outcome), contrasts in found.items():
        names = first.labels[z], first.labels[first.target.codes[outcome]]
        sequences = None if followed is None else followed.of(influencers.index(z), outcome)
        edge = influence_of(*names, _together(contrasts), (), sequences)
        edges.append(replace(edge, frequency=len(contrasts) / len(models)))
    return tuple(ranked(edges))


def _filled(model: Fitted, table: StateCounts) -> StateCounts:
    """A table with a row for every state of the model, seen here or not; a tree has one for every leaf."""
    nothing = StateCounts(model.table.keys, np.zeros_like(model.table.counts))
    return StateCounts.total([nothing, table])


def _together(contrasts: Sequence[Contrast]) -> Contrast:
    """All strata of several models, each model's counts divided by their number."""
    n = len(contrasts)
    columns = zip(*(vars(one.strata).values() for one in contrasts), strict=True)
    strata = Strata(*(np.concatenate(each, axis=-1) / n for each in columns))
    totals = Totals(*(sum(each) / n for each in zip(*(one.totals for one in contrasts), strict=True)))
    return Contrast(strata, np.zeros((strata.n_with.shape[-1], 0), np.int32), totals)


def _widest(windows: Sequence[tuple[int, int | None]]) -> tuple[int, int | None]:
    """The window that holds all of several."""
    ends = [k for _, k in windows]
    return min(d for d, _ in windows), None if None in ends else max(k for k in ends if k is not None)
