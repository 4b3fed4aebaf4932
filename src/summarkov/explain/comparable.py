"""Where other influencers are equal, is there anything to compare? If not: which of them is the reason?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from summarkov.confidence import Strata
from summarkov.wording import several

if TYPE_CHECKING:
    from summarkov.explain.contrasts import Contrast, Totals


#: What is named where no single ones can be: in trees.
NOT_NAMED = "other influencers"


def comparable_counts(strata: Strata) -> tuple[float, float]:
    """Hits with the influencer in comparable strata, and those expected there from the rates without it."""
    some = strata.n_without > 0
    hits, n_with, hits_without, n_without = (numbers[some] for numbers in vars(strata).values())
    return float(hits.sum()), float((n_with * hits_without / n_without).sum())


def not_comparable(contrast: Contrast, others: Sequence[str]) -> str:
    """The other influencers with which a comparison is missing; empty where none is.

    It is missing where the ratio of comparable strata is 0, infinite or unknown though the counts of all
    positions are not. Then one influencer after the other is no longer held equal, each time the one that
    makes most comparable, until the ratio is what counts allow.
    """
    if not _is_missing(contrast.strata, contrast.totals):
        return ""
    dropped: list[int] = []
    while len(dropped) < len(others) and _is_missing(_without(contrast, dropped), contrast.totals):
        rest = (column for column in range(len(others)) if column not in dropped)
        dropped.append(max(rest, key=lambda column: _compares(_without(contrast, [*dropped, column]))))
    return several(others[column] for column in sorted(dropped)) if dropped else NOT_NAMED


def _is_missing(strata: Strata, totals: Totals) -> bool:
    """Whether the ratio of strata is 0, infinite or unknown only because they leave out hits."""
    if not (totals.n_with and totals.n_without):
        return False
    above, below = strata.sums()
    return bool((not above and totals.hits_with > 0) or (not below and totals.hits_without > 0))


def _compares(strata: Strata) -> tuple[float, float]:
    """How much strata compare: the smaller of Mantel and Haenszel's sums, then the larger."""
    smaller, larger = sorted(float(each) for each in strata.sums())
    return smaller, larger


def _without(contrast: Contrast, columns: Sequence[int]) -> Strata:
    """The strata if some of the other influencers are not held equal."""
    keys = np.delete(np.concatenate([contrast.keys, contrast.apart_keys]), list(columns), axis=1)
    of = (
        np.unique(keys, axis=0, return_inverse=True)[1].ravel() if keys.shape[1] else np.zeros(len(keys), int)
    )
    both = zip(vars(contrast.strata).values(), vars(contrast.apart).values(), strict=True)
    return Strata.of(*(np.bincount(of, np.concatenate(numbers)) for numbers in both))
