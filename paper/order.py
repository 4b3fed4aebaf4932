"""The paper's graphs under the order test: what depends on order, and what is co-occurrence only."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from paper.fomc import Fomc
from paper.published import published
from paper.section import Section
from summarkov.events import EventSequences
from summarkov.evidence import OrderTest
from summarkov.models import BSuMM, InfluenceGraph, OSuMM
from summarkov.read import read_events

#: How many times data are shuffled before a graph is learned from them.
SHUFFLED = 10


def under_order(
    folder: str | os.PathLike[str], statements: Fomc, seeds: Sequence[int] = range(SHUFFLED)
) -> Section:
    """Edges of the graph of each data set by what the order test says of them."""
    rows = []
    for key, name in published()["names"].items():
        events = read_events(Path(folder) / f"{key}.train.jsonl", ends="cut off")
        rows.append(_row(name, events, lambda: InfluenceGraph(BSuMM(lookback=5, false_edges=None)), seeds))
    for family in (BSuMM, OSuMM):
        name = f"FOMC statements, {family.__name__}"
        make = _template(family, statements)
        rows.append(_row(name, statements.events, make, seeds))
    return Section(
        "The graphs under the order test",
        "Edges of the graph that is learned from each data set, by what the order test says of them: about "
        "order if whole sequences are shuffled, and if events change places only within four look-backs, "
        "which is the default; then, of the latter, how many are company only or unclear. Last, the same "
        f"data shuffled inside of each sequence before anything is learned, {len(seeds)} times: edges, and "
        "how many of them are called about order, all times together. BSuMM with look-back 5, alpha 0.1, "
        "gamma 1, BIC; FOMC as published.",
        [
            *(
                "data",
                "edges",
                "about order, whole sequences",
                "depends on order",
                "co-occurrence only",
                "unclear",
            ),
            *("edges of shuffled data", "of these about order"),
        ],
        rows,
        NOTES,
    )


def _template(family: type[BSuMM] | type[OSuMM], data: Fomc) -> Callable[[], InfluenceGraph]:
    return lambda: InfluenceGraph(family(**data.settings, false_edges=None))


def _row(
    name: str, events: EventSequences, make: Callable[[], InfluenceGraph], seeds: Sequence[int]
) -> list[str]:
    graph = make().fit(events)
    whole, blocks = graph.order_test(events, within=None), graph.order_test(events)
    shuffled = [_tested(make(), shuffled_inside(events, seed)) for seed in seeds]
    of_shuffled = sum(len(found.edges) for found in shuffled)
    passed = sum(len(found.depends_on_order) for found in shuffled)
    words = [edge.order for edge in blocks.edges]
    numbers = [len(words), len(whole.depends_on_order), len(blocks.depends_on_order)]
    numbers += [words.count("co-occurrence only"), words.count("unclear"), of_shuffled, passed]
    return [name, *map(str, numbers)]


def _tested(graph: InfluenceGraph, events: EventSequences) -> OrderTest:
    return graph.fit(events).order_test(events)


def shuffled_inside(events: EventSequences, seed: int) -> EventSequences:
    """The same sequences, the events of each in a random order."""
    rng = np.random.default_rng([seed, 25])
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    order = np.lexsort((rng.random(events.n_events), sequence))
    return EventSequences(events.codes[order], events.offsets, events.labels, ends="cut off")


NOTES = (
    "Stack Overflow: nearly all edges among badges are there because users differ, not because one badge "
    "follows another. They still help to predict. Five are about order: 8 on 18 (x460 against shuffled "
    "sequences), 6 on 14 (x19), 8 on itself (x2.4), 4 on 14 (x1.4) and 12, which seldom comes again (x0.34).",
    "FOMC: the 676 events of one sequence are too few to call any edge about order within 40 positions. Most "
    "are unclear, which says that nothing is known, not that nothing is there. One passes if all of it is "
    "shuffled, so that what comes up in the same years counts as order: 'note increase demand' on "
    "'expansion aggregate demand'.",
    "Shuffled data have edges too, for sequences keep what they are made of; that is what the test is for.",
    "Figures: `summarkov learn stackoverflow.train.jsonl --lookback 5 --false-edges none -o so.json`, then "
    "`summarkov export so.json -o so.svg`; edges that are company only are grey.",
)
