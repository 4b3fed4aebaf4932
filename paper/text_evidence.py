"""What docs/measured/text.md tells, measured on documents of one's own or the Beige Book.

``make text`` takes some minutes. With a file of concepts (``--concepts paper/beigebook_concepts.txt``; extra
``concepts``) it labels 10,000 sentences with these instead, and prints a sample to check by hand. The
judgements in docs/measured/text.md were made by reading.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import summarkov as sm
from paper.section import Section
from summarkov.evidence.words import change, limits, times
from summarkov.text import (
    Concepts,
    Document,
    TextEvents,
    TopicModel,
    read_documents,
    split_sentences,
    text_events,
)

#: Graphs resampled for the confidence of edges; trees take far longer than sets of influencers.
GRAPHS, TREES = 100, 20
RESAMPLES = 5
SURE = 0.9


def measured(path: Path, concepts: Path | None = None) -> Iterator[str]:
    """One section after the other, as Markdown; with a file of concepts, only what is about these."""
    documents = read_documents(path)
    sentences = [s for document in documents for s in split_sentences(document.text)]
    if concepts is not None:
        yield concepts_section(sentences, concepts).to_markdown()
        return
    start = time.perf_counter()
    topics = TopicModel().fit(documents)
    took = time.perf_counter() - start
    yield f"{len(documents)} documents, {len(sentences):,} sentences; topics learned in {took:.0f} s\n"
    for section in sections(documents, sentences, topics):
        yield section.to_markdown()


def sections(
    documents: Sequence[Document], sentences: Sequence[str], topics: TopicModel
) -> Iterator[Section]:
    """Topics, graphs, and how stable both are."""
    found = text_events(documents, topics)
    whole = sm.EventSequences(found.events.codes, [0, found.events.n_events], found.events.labels, ["all"])
    one = TextEvents(whole, found.sentences)
    counts = found.events.describe().label_counts
    rows = [
        [f"{x}", f"{counts.get(x, 0):,}", ", ".join(topics.leading_terms(x, 8)[2:])] for x in topics.topics_
    ]
    yield Section("Topics", "", ["topic", "events", "further terms"], rows)
    base = learned(found, sm.BSuMM(lookback=5, false_edges=None), GRAPHS)
    yield edges_section(base, "BSuMM, one sequence per report")
    yield edges_section(learned(one, sm.BSuMM(lookback=5, false_edges=None), GRAPHS), "BSuMM, one sequence")
    resampled = (TopicModel().fit(resample(documents, seed)) for seed in range(RESAMPLES))
    yield stability("Documents drawn again, NMF", documents, sentences, topics, base, resampled)
    yield edges_section(learned(found, sm.TreeSuMM(), TREES), "TreeSuMM, one sequence per report")
    # trees are learned again from whole sequences, so one sequence does not tell how sure they are
    yield edges_section(sm.InfluenceGraph(sm.TreeSuMM()).fit(one.events), "TreeSuMM, one sequence")


def concepts_section(sentences: Sequence[str], file: Path) -> Section:
    """How fast sentences are labelled with concepts, and 50 of them to check."""
    given = dict(line.split(": ", 1) for line in file.read_text(encoding="utf-8").splitlines())
    known = Concepts(given)
    drawn = np.sort(np.random.default_rng(0).choice(len(sentences), 10_000, replace=False))
    some = [sentences[i] for i in drawn]
    start = time.process_time()
    labels = [label for at in range(0, len(some), 512) for label in known(some[at : at + 512])]
    seconds = time.process_time() - start
    counts = Counter(labels)
    about = f"{seconds:.0f} seconds of processor time for {len(some):,} sentences; " + ", ".join(
        f"{label or 'none'} {n:,}" for label, n in counts.most_common()
    )
    sample = np.sort(np.random.default_rng(1).choice(len(some), 50, replace=False))
    rows = [[str(n), labels[i] or "none", some[i]] for n, i in enumerate(sample.tolist(), start=1)]
    return Section("Concepts", about, ["sentence", "concept", "text"], rows)


def learned(found: TextEvents, model: Any, n: int) -> sm.InfluenceGraph:
    """A graph, with its confidence if there are several sequences to draw from."""
    graph = sm.InfluenceGraph(model).fit(found.events)
    if len(found.events) > 1:
        graph.confidence(found.events, n=n)
    return graph


def edges_section(graph: sm.InfluenceGraph, title: str) -> Section:
    """The edges that are found again in nearly all resampled graphs, those of most evidence first."""
    sure = [edge for edge in graph.edges_ if (edge.frequency or 0) >= SURE]
    rows = [
        [e.influencer, e.target, e.effect, change(e), times(e), limits(e), f"{e.frequency:.0%}"] for e in sure
    ]
    about = f"{len(graph.edges_)} edges"
    if graph.confidence_ is not None:
        about += f", {len(sure)} of them in at least nine of ten resampled graphs"
    return Section(
        title,
        about,
        ["influencer", "target", "effect", "otherwise → after", "factor", "95% interval", "found again"],
        rows,
    )


def stability(
    title: str,
    documents: Sequence[Document],
    sentences: Sequence[str],
    topics: TopicModel,
    graph: sm.InfluenceGraph,
    others: Iterable[TopicModel],
) -> Section:
    """Compare other topic models with a first one, by the sentences that they label alike, and the graphs."""
    sure = {(e.influencer, e.target) for e in graph.edges_ if (e.frequency or 0) >= SURE}
    labels = topics(sentences)
    rows = []
    for number, model in enumerate(others, start=1):
        names, same, agree = matched(labels, model(sentences))
        events = renamed(text_events(documents, model), names)
        edges = {
            (e.influencer, e.target)
            for e in sm.InfluenceGraph(sm.BSuMM(lookback=5, false_edges=None)).fit(events).edges_
        }
        rows.append([str(number), str(same), f"{agree:.0%}", f"{len(sure & edges)} of {len(sure)}"])
    return Section(title, "", ["run", "topics again", "sentences alike", "sure edges again"], rows)


def matched(labels: Sequence[str | None], others: Sequence[str | None]) -> tuple[dict[str, str], int, float]:
    """Which topic of the others is which, how many are the same (half of the sentences that either has), and
    how many of the sentences with a label by either have the same."""
    mine, yours = sorted({x for x in labels if x}), sorted({x for x in others if x})
    table = np.zeros((len(mine), len(yours)))
    for x, y in zip(labels, others, strict=True):
        if x and y:
            table[mine.index(x), yours.index(y)] += 1
    rows, columns = linear_sum_assignment(-table)
    of_mine = np.array([sum(x == name for x in labels) for name in mine])
    of_yours = np.array([sum(y == name for y in others) for name in yours])
    both = table[rows, columns]
    jaccard = both / (of_mine[rows] + of_yours[columns] - both)
    either = sum(bool(x or y) for x, y in zip(labels, others, strict=True))
    names = {yours[c]: mine[r] for r, c in zip(rows, columns, strict=True)}
    return names, int((jaccard >= 0.5).sum()), float(both.sum() / either)


def renamed(found: TextEvents, names: dict[str, str]) -> sm.EventSequences:
    """The same events under other names."""
    return sm.EventSequences.from_lists(
        [[names.get(x, x) for x in labels] for labels in found.events.to_lists()]
    )


def resample(documents: Sequence[Document], seed: int) -> list[Document]:
    """As many documents, drawn with replacement."""
    drawn: Any = np.random.default_rng(seed).integers(len(documents), size=len(documents))
    return [replace(documents[i], id=str(n)) for n, i in enumerate(drawn)]
