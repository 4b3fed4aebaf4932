"""The sentences behind the edges in the page, as many and as long as a page can bear."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from summarkov.errors import SettingError
from summarkov.explain import Influence
from summarkov.models import InfluenceGraph, SummaryModel
from summarkov.text import Sentence, TextEvents, read_text_events
from summarkov.text.passages import in_codes_of

#: At most so many passages an edge, and sentences a label; fewer where there are more than so many in all.
MOST, IN_ALL = 12, 6000
#: Longer sentences are cut here.
LONGEST = 400


def text_events_of(given: Any) -> TextEvents:
    """Events with sentences, or those of a file."""
    if isinstance(given, TextEvents):
        return given
    if isinstance(given, str | os.PathLike):
        return read_text_events(given)
    raise SettingError(
        f"passages must be TextEvents, as text_events makes them, or their file, not {type(given).__name__}"
    )


def passages_content(
    model: SummaryModel | InfluenceGraph, found: TextEvents, edges: Iterable[Influence], labels: Sequence[str]
) -> dict[str, Any]:
    """Some passages of every edge, in its order, and some sentences of every label, all with their totals.

    ``sentences`` are document, number, text and how many characters were cut off, each once; a passage is the
    lag, and the places among them of the influencer's and the target's. ``same`` says whether the events have
    as many of each label as those that the model was learned from.
    """
    edges = list(edges)
    most = max(1, min(MOST, IN_ALL // max(1, len(edges) + len(labels))))
    places: dict[Sentence, int] = {}

    def place(sentence: Sentence) -> int:
        return places.setdefault(sentence, len(places))

    of_edges = []
    for edge in edges:
        some = found.passages(model, edge.target, edge.influencer, most=most)
        of_edges.append(
            [some.total, [[p.before[0].lag, place(p.before[0].sentence), place(p.target)] for p in some]]
        )
    of_labels = []
    for label in labels:
        some = found.passages(model, label, most=most)
        of_labels.append([some.total, [place(p.target) for p in some]])
    fitted = next(iter(model.models_.values())).fitted if isinstance(model, InfluenceGraph) else model.fitted
    counts = in_codes_of(model, found.events).label_counts
    return {
        "edges": of_edges,
        "labels": of_labels,
        "sentences": [
            [s.document, s.number, s.text[:LONGEST], max(0, len(s.text) - LONGEST)] for s in places
        ],
        "same": bool((counts == fitted.label_counts / fitted.scale).all()),
    }
