"""The FOMC case study: the graph learned from all documents joined by date."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from paper.section import Section
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.models import BSuMM, InfluenceGraph, OSuMM
from summarkov.read import read_events


class Fomc(NamedTuple):
    """The data of the case study, and what was published about it."""

    events: EventSequences  # all documents as one sequence
    settings: dict[str, Any]
    influencers: dict[str, dict[str, list[str]]]  # by model and topic


def read_fomc(folder: str | os.PathLike[str]) -> Fomc:
    """Read ``fomc.jsonl`` and ``fomc.published.json``."""
    if not Path(folder).is_dir():
        raise DataError(f"{folder} is no folder; name the one that holds the paper's data sets")
    files = [Path(folder) / name for name in ("fomc.jsonl", "fomc.published.json")]
    for path in files:
        if not path.exists():
            raise DataError(f"{path} is missing; the folder must hold the FOMC topics")
    try:
        given = json.loads(files[1].read_text(encoding="utf-8"))
        documents = by_date(read_events(files[0], ends="cut off"))
        return Fomc(joined(documents), given["settings"], given["influencers"])
    except (KeyError, TypeError, json.JSONDecodeError) as problem:
        raise DataError(f"{files[1]} does not hold settings and influencers as JSON") from problem


def joined(events: EventSequences) -> EventSequences:
    """All documents as one sequence, in the order of their dates (K = 1)."""
    ordered = by_date(events)
    return EventSequences(ordered.codes, [0, ordered.n_events], ordered.labels, ends="cut off")


def by_date(events: EventSequences) -> EventSequences:
    """The documents in the order of their dates, which are their names."""
    return events[sorted(range(len(events)), key=lambda s: events.ids[s])]


def fomc(data: Fomc) -> list[Section]:
    """Influencers of every topic beside the published ones, for both models."""
    events, settings = data.events, data.settings
    sections = []
    for family in (BSuMM, OSuMM):
        theirs = data.influencers.get(family.__name__, {})
        graph = InfluenceGraph(family(**settings, false_edges=None)).fit(events)
        rows, same, shared, published_edges, our_edges = [], 0, 0, 0, 0
        for topic, ours in graph.influencers_.items():
            published = set(theirs.get(topic, ()))
            same += published == set(ours)
            shared += len(published & set(ours))
            published_edges += len(published)
            our_edges += len(ours)
            equal = "yes" if published == set(ours) else ""
            rows.append([topic, *map(", ".join, (sorted(published), ours)), equal])
        sections.append(
            Section(
                f"FOMC statements, {family.__name__}",
                f"All documents joined by date into one sequence ({events.n_events} events); "
                + ", ".join(f"{name} {value}" for name, value in settings.items())
                + ".",
                ["topic", "published influencers", "ours", "equal"],
                rows,
                [
                    f"{same} of {len(rows)} sets are equal; of {published_edges} published edges {shared} "
                    f"are among our {our_edges}.",
                    "Inside one document every topic stands once and in arbitrary order, so the published "
                    "graph can be approached but not reproduced: another order gives other sets.",
                ],
            )
        )
    return sections
