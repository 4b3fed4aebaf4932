"""Groups of sequences in the page, side by side: labels, and influences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from summarkov.confidence import Difference
from summarkov.errors import SettingError
from summarkov.explain import EdgeDifference, GroupComparison, Influence
from summarkov.wording import all_rounded, rounded, whole


def groups_content(given: Any, labels: Sequence[str]) -> list[dict[str, Any]]:
    """What ``compare_groups`` found, once or several times.

    A label has its reach and its share of events in each group, and by how many times each differs; an edge
    has what was counted in each group, and by how many times the ratio differs.
    """
    found = [given] if isinstance(given, GroupComparison) else list(given)
    codes = {label: code for code, label in enumerate(labels)}
    for each in found:
        if not isinstance(each, GroupComparison):
            raise SettingError(
                f"groups must be what compare_groups returned, or several of these, not {type(each).__name__}"
            )
        if unknown := {one.label for one in each.labels} - codes.keys():
            raise SettingError(
                f"the groups have labels that the model does not know, such as {min(unknown)!r}; learn the "
                "model from the sequences of all groups"
            )
    return [_comparison(each, codes) for each in found]


def _comparison(found: GroupComparison, codes: Mapping[str, int]) -> dict[str, Any]:
    return {
        "names": list(found.names),
        "sizes": list(found.sizes),
        "level": found.level,
        "labels": [
            [
                codes[one.label],
                all_rounded((one.reach_first, one.reach_second), 4),
                _difference(one.reach),
                all_rounded((one.rate_first, one.rate_second), 4),
                _difference(one.rate),
            ]
            for one in found.labels
        ],
        "edges": [_edge(edge, codes) for edge in found.edges],
    }


def _edge(edge: EdgeDifference, codes: Mapping[str, int]) -> list[Any]:
    groups = [_in_group(edge.first, edge.in_first), _in_group(edge.second, edge.in_second)]
    return [codes[edge.influencer], codes[edge.target], groups, _difference(edge.change)]


def _in_group(edge: Influence, is_found: bool) -> list[Any]:
    """The ratio with its interval, hits and positions after the influencer and otherwise, and whether the
    graph of the group alone has the edge.
    """
    counts = (edge.hits_with, edge.n_with, edge.hits_without, edge.n_without)
    return [*_numbers(edge.ratio, edge.low, edge.high), *(whole(n) for n in counts), is_found]


def _difference(found: Difference) -> list[Any]:
    return _numbers(found.ratio, found.low, found.high)


def _numbers(*values: float) -> list[Any]:
    """Numbers as JSON has them: none for what is not known, and more than 1e300 for what has no end."""
    return [None if math.isnan(value) else rounded(min(value, 1e301), 4) for value in values]
