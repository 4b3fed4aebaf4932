"""Whole sequences in the page, the clock by which it measures times, and groups side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.confidence import Difference
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.explain import EdgeDifference, GroupComparison, Influence, SeveralGroups
from summarkov.settings import Duration, check_whole
from summarkov.typing import IntArray
from summarkov.wording import all_rounded, rounded, whole

#: A page holds at most this many sequences, and at most this many events of each.
MOST_SEQUENCES, MOST_EVENTS = 200, 300
#: Times in the page are whole numbers of millionths of a second, or of one: times here are in billionths.
_BILLIONTHS = 1000


def sequence_content(
    events: EventSequences | None,
    labels: Sequence[str],
    n: int,
    *,
    is_timed: bool = False,
    attributes: Sequence[str] = (),
) -> list[list[Any]]:
    """``n`` sequences, spread evenly over all that hold an event: name, codes, how many events were cut.

    Where there is more to tell, it follows: ``joined``, the events that happened together with the one
    before; ``gaps``, how much time passed before each; ``given``, the attributes that hold.
    """
    check_whole("sequences", n, 1, MOST_SEQUENCES)
    if events is None:
        raise SettingError("sequences are taken from the events: give these too (events=, --events)")
    if is_timed and events.times is None:
        raise SettingError(
            "the model looks back over times, and these events have none; read them with times=True (--times)"
        )
    if attributes and events.attributes is None:
        columns = sorted({name.partition("=")[0] for name in attributes})
        raise SettingError(
            "the model looks at attributes, and these events have none; read them with "
            f"attributes={columns!r} ({' '.join(f'--attribute {column}' for column in columns)})"
        )
    known = events.with_attributes(None).recode(labels)
    some = np.flatnonzero(known.lengths > 0)
    chosen = some[np.unique(np.linspace(0, len(some) - 1, min(n, len(some))).round().astype(int))]
    found = []
    for number in chosen.tolist():
        start, stop = known.offsets[number], known.offsets[number + 1]
        rows = slice(start, min(stop, start + MOST_EVENTS))
        codes = known.codes[rows].tolist()
        more = _more(known, rows, is_timed) | _given(events, number, labels)
        found.append([known.ids[number], codes, int(stop - start) - len(codes), *([more] if more else [])])
    return found


def _more(events: EventSequences, rows: slice, is_timed: bool) -> dict[str, Any]:
    moments, found = events.moments, {}
    if moments is not None and moments.has_ticks:
        found["joined"] = np.flatnonzero(~moments.starts[rows]).tolist()
    if moments is not None and moments.times is not None and is_timed:
        found["gaps"] = _millionths(np.diff(moments.times[rows], prepend=moments.times[rows][:1]), moments)
    return found


def _millionths(steps: IntArray, moments: Any) -> list[int]:
    """Differences of times from millionth to millionth, so that rounding does not add up."""
    at = [round(t * moments.unit.size / _BILLIONTHS) for t in np.cumsum(steps).tolist()]
    return [b - a for a, b in zip([0, *at], at, strict=False)]


def _given(events: EventSequences, number: int, labels: Sequence[str]) -> dict[str, Any]:
    given = events.attributes
    if given is None:
        return {}
    names = [name for name, holds in zip(given.names, given.present[number], strict=True) if holds]
    return {"given": [labels.index(name) for name in names if name in labels]}


def clock_content(durations: Iterable[Duration], cases: Sequence[list[Any]] | None) -> dict[str, Any] | None:
    """How the page measures times: in steps of so many millionths, the longest of which all are multiples.

    ``spans`` are the look-backs and delays in steps, by how they were written. The gaps between the events of
    sequences become steps too.
    """
    spans = {each.text: round(int(each) / _BILLIONTHS) for each in durations}
    if not spans:
        return None
    told = [case[3]["gaps"] for case in cases or () if len(case) > 3 and "gaps" in case[3]]
    step = math.gcd(*spans.values(), *(gap for gaps in told for gap in gaps)) or 1
    for gaps in told:
        gaps[:] = [gap // step for gap in gaps]
    return {
        "step": step,
        "isClock": all(each.is_clock for each in durations),
        "spans": {text: span // step for text, span in spans.items()},
    }


def groups_content(given: Any, labels: Sequence[str]) -> list[dict[str, Any]]:
    """What ``compare_groups`` found, once or several times, or ``compare_groups_by``.

    A label has its reach and its share of events in each group, and by how many times each differs; an edge
    has what was counted in each group, and by how many times the ratio differs.
    """
    if isinstance(given, SeveralGroups):
        given = given.comparisons
    found = [given] if isinstance(given, GroupComparison) or not isinstance(given, Iterable) else list(given)
    codes = {label: code for code, label in enumerate(labels)}
    for each in found:
        if not isinstance(each, GroupComparison):
            raise SettingError(
                "groups must be what compare_groups or compare_groups_by returned, or several of these, not "
                f"{type(each).__name__}"
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
