"""Is confidence what it says? Graphs with a truth that exists, learned from simulated data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from paper.noise import noise_table, recall_table
from paper.section import Section
from paper.worlds_table import worlds_table
from summarkov.models import BSuMM, InfluenceGraph
from summarkov.simulate import Dynamics

TARGETS = tuple("ABCDEFGHI")
#: Takes what probability the others leave, so that all sum to 1 after every history; never a target.
REST = "Z"
LOOKBACK = 3
#: The most that the probabilities of all targets can sum to.
MOST = 0.89
#: Every influencer changes its target's probability at least by this factor, in one state of the other one.
LEAST_FACTOR = 2.0

HEAD = """\
# Is confidence what it says?

Written by `make calibration`. Data are simulated from graphs that are known, so every edge is true or false.
What it means to be sure stands in the [guide to confidence](guide/confidence.md), what can go wrong in
the [guide to pitfalls](guide/pitfalls.md).
"""

_BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def random_dynamics(seed: int) -> Dynamics:
    """Nine labels with two random influencers each and a random binary table, and a tenth for the rest."""
    rng = np.random.default_rng(seed)
    labels = (*TARGETS, REST)
    maxima = MOST * rng.dirichlet(np.full(len(TARGETS), 10.0))
    rules: dict[str, tuple[tuple[str, ...], dict[tuple[int, ...], float]]] = {}
    for x, most in zip(TARGETS, maxima.tolist(), strict=True):
        influencers = tuple(sorted(rng.choice(labels, 2, replace=False).tolist()))
        while True:
            p = rng.uniform(0.1, 1.0, 4)
            p = (p / p.max() * most).tolist()  # states (0, 0), (0, 1), (1, 0), (1, 1)
            first = max(abs(math.log(p[2] / p[0])), abs(math.log(p[3] / p[1])))
            second = max(abs(math.log(p[1] / p[0])), abs(math.log(p[3] / p[2])))
            if min(first, second) >= math.log(LEAST_FACTOR):
                break
        rules[x] = influencers, dict(zip(itertools.product((0, 1), repeat=2), p, strict=True))
    every = tuple(sorted({z for influencers, _ in rules.values() for z in influencers}))
    rest = {}
    for key in itertools.product((0, 1), repeat=len(every)):
        level = dict(zip(every, key, strict=True))
        rest[key] = 1 - sum(table[tuple(level[z] for z in u)] for u, table in rules.values())
    return Dynamics({**rules, REST: (every, rest)}, lookback=LOOKBACK)


@dataclass(frozen=True)
class Found:
    """What one simulated data set gave: edges with their confidence and truth."""

    gamma: float
    n_sequences: int
    edges: tuple[tuple[float, bool, bool], ...]  # frequency, in the graph, true
    n_true: int


Groups = dict[tuple[float, int], list[Found]]


def examine(seed: int, n_sequences: int, length: int, gamma: float, n: int) -> Found:
    """Learn one graph, and see which of its edges are true."""
    dynamics = random_dynamics(seed)
    truth = {(z, x) for x in TARGETS for z in dynamics.minimal_influencers(x)}
    events = dynamics.simulate(n_sequences, length, random_state=seed + 1_000_000)
    template = BSuMM(lookback=LOOKBACK, gamma=gamma, false_edges=None)
    graph = InfluenceGraph(template, targets=TARGETS).fit(events)
    sure = graph.confidence(events, n=n, random_state=seed)
    edges = [(e.frequency or 0.0, True, (e.influencer, e.target) in truth) for e in sure.edges]
    edges += [(share, False, (z, x) in truth) for z, x, share in sure.missing(0.1)]
    return Found(gamma, n_sequences, tuple(edges), len(truth))


def calibration(
    graphs: int = 50,
    sizes: Sequence[int] = (50, 200, 800),
    length: int = 50,
    gammas: Sequence[float] = (1.0, 0.3, 0.1),
    n: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> list[Section]:
    """Tables of how often edges of some confidence are true."""
    found: list[Found] = []
    for gamma, size, seed in itertools.product(gammas, sizes, range(graphs)):
        found.append(examine(seed, size, length, gamma, n))
        if progress is not None:
            progress(len(found), graphs * len(sizes) * len(gammas))
    about = (
        f"{graphs} random graphs per size: nine targets with two random influencers each and a random binary "
        f"table, look-back {LOOKBACK}; every influencer changes the probability by a factor of at least "
        f"{LEAST_FACTOR:g} in some state of the other; a tenth label takes the rest. Sequences of {length} "
        f"events. BSuMM with look-back {LOOKBACK}, alpha 0.1, false_edges None; {n} bootstrap graphs each."
    )
    groups = {
        (gamma, size): [one for one in found if (one.gamma, one.n_sequences) == (gamma, size)]
        for gamma, size in itertools.product(gammas, sizes)
    }
    reliability = [_reliability(gamma, {size: groups[gamma, size] for size in sizes}, n) for gamma in gammas]
    return [_sure(groups, about, length), *reliability]


def page(progress: Callable[[int, int], None]) -> str:
    """The whole page: noise, the worlds, and the random graphs."""
    sections = [noise_table(progress=progress), recall_table(progress=progress)]
    sections += [worlds_table(progress=progress), *calibration(progress=progress)]
    return "\n".join([HEAD, *(section.to_markdown() for section in sections)])


def _sure(groups: Groups, about: str, length: int) -> Section:
    rows = []
    for (gamma, size), some in groups.items():
        edges = [edge for one in some for edge in one.edges if edge[1]]
        sure = [edge for edge in edges if edge[0] >= 0.9]
        n_true = sum(one.n_true for one in some)
        rows.append(
            [
                f"{gamma:g}",
                f"{size * length:,}",
                str(len(edges)),
                _share(sum(t for *_, t in edges), len(edges)),
                _share(sum(t for *_, t in edges), n_true),
                str(len(sure)),
                _share(sum(t for *_, t in sure), len(sure)),
                _share(sum(t for *_, t in sure), n_true),
            ]
        )
    return Section(
        "Edges and those that are sure",
        about,
        [
            "gamma",
            "events",
            "edges",
            "true",
            "of all true",
            "confidence >= 0.9",
            "these true",
            "of all true ",
        ],
        rows,
    )


def _reliability(gamma: float, by_size: dict[int, list[Found]], n: int) -> Section:
    rows = []
    for low, high in itertools.pairwise(_BINS):
        row = [f"{low:g} to {high:g}" if low else f"below {high:g}, in the graph"]
        for some in by_size.values():
            edges = [t for one in some for f, _, t in one.edges if low <= f < high or f == high == 1.0]
            row += [str(len(edges)), _share(sum(edges), len(edges))]
        rows.append(row)
    headings = ["confidence"]
    for size in by_size:
        headings += [f"edges, {size} sequences", f"true, {size} sequences"]
    return Section(
        f"How often edges of some confidence are true, gamma {gamma:g}",
        f"All edges that the graph or at least a tenth of its {n} bootstrap graphs has.",
        headings,
        rows,
    )


def _share(some: int, of: int) -> str:
    return f"{some / of:.1%}" if of else "-"
