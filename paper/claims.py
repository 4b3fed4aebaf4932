"""Is what we say of edges true? The page docs/measured/claims.md: a log full of zeros, and coverage of intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln
from tests import oracle_effects as effects

import summarkov as sm
from paper.coverage import coverage_where_sequences_differ
from paper.loans import loan_process
from summarkov.evidence import Influence, exact_intervals
from summarkov.simulate import Dynamics
from summarkov.typing import FloatArray

RATES = (0.005, 0.02, 0.1, 0.3, 0.5)
RATIOS = (0.25, 0.5, 1.0, 1.9)


def directions(lookback: int = 5, n_cases: int = 500) -> str:
    """Edges of made-up process logs against the ratio counted by hand."""
    rows = []
    for name, template in (
        ("BSuMM", sm.BSuMM(lookback=lookback, false_edges=None)),
        ("OSuMM", sm.OSuMM(lookback=lookback, false_edges=None)),
        ("CSuMM", sm.CSuMM(lookback=lookback, false_edges=None)),
    ):
        told = wrong = empty = thin = 0
        for seed in range(5):
            events = loan_process(n_cases, seed)
            sequences = events.to_lists()
            graph = sm.InfluenceGraph(template).fit(events)
            windows = dict.fromkeys(graph.labels_, (0, lookback))
            for edge in graph.edges_:
                if edge.effect not in ("amplifies", "inhibits"):
                    continue
                beside = graph.influencers_[edge.target]
                tables = effects.strata(sequences, windows, edge.influencer, edge.target, beside)
                ratio = effects.mantel_haenszel(tables)
                told += 1
                wrong += not (ratio > 1 if edge.effect == "amplifies" else ratio < 1)
                empty += edge.effect == "amplifies" and edge.hits_with == 0
                thin += edge.is_thin
        rows.append(f"| {name} | {told} | {told - wrong} | {empty} | {thin} |")
    return "\n".join(
        [
            "| model | edges with a direction | right by hand | amplified without a hit | thin |",
            "|---|--:|--:|--:|--:|",
            *rows,
        ]
    )


def coverage_of_ratios(n_sequences: int = 60, length: int = 20, times: int = 400) -> str:
    """How often the 95% interval of a given edge holds its true ratio, in simulated data.

    The target depends on the edge's influencer and on another one, which doubles it at most.
    """
    rows = []
    for rate in RATES:
        cells = []
        for ratio in RATIOS:
            held = wrong = 0
            for seed in range(times):
                edge = _given_edge(rate, ratio, n_sequences, length, seed)
                held += edge.low <= ratio <= edge.high
                side = {"amplifies": 1, "inhibits": -1}.get(edge.effect, 0)
                wrong += side * (ratio - 1) < 0 or (side != 0 and ratio == 1)
            cells.append(f"{held / times:.3f} ({wrong / times:.3f})")
        rows.append(f"| {rate:.1%} | " + " | ".join(cells) + " |")
    return "\n".join(
        [
            "| target's rate | " + " | ".join(f"true ratio {ratio:g}" for ratio in RATIOS) + " |",
            "|---|" + "--:|" * len(RATIOS),
            *rows,
        ]
    )


def _given_edge(rate: float, ratio: float, n_sequences: int, length: int, seed: int) -> Influence:
    """The edge Z to X of simulated data, beside W; X has at most the given rate, without Z."""
    rng = np.random.default_rng([seed, round(1000 * rate), round(100 * ratio)])
    sequences = []
    for _ in range(n_sequences):
        sequence: list[str] = []
        for _ in range(length):
            recent = sequence[-3:]
            p = rate * (1.0 if "W" in recent else 0.5) * (ratio if "Z" in recent else 1.0)
            others = ["Z", "W", "V"]
            sequence.append("X" if rng.random() < p else others[rng.choice(3, p=[0.15, 0.15, 0.7])])
        sequences.append(sequence)
    model = sm.BSuMM("X", lookback=3, required=["W", "Z"], candidates=[])
    events = sm.read_events(sequences, labels=["V", "W", "X", "Z"], ends="cut off")
    return next(edge for edge in model.fit(events).influences_ if edge.influencer == "Z")


def coverage_of_selected(graphs: int = 150) -> str:
    """Plain and corrected ratios of edges that a search has selected: how often they hold the truth."""
    rows = []
    for ratio, n_sequences, times in (
        *((1.3, 80, 16 * graphs), (1.3, 400, 2 * graphs)),
        *((2.0, 25, 8 * graphs), (2.0, 100, graphs)),
        *((4.0, 8, 4 * graphs), (4.0, 30, graphs)),
    ):
        dynamics = _three_edges(ratio)
        found = [
            edge
            for seed in range(times)
            for edge in sm.InfluenceGraph(sm.BSuMM(lookback=5), targets=["B", "D", "F"])
            .fit(dynamics.simulate(n_sequences, 30, seed))
            .edges_
            if edge.influencer + edge.target in ("AB", "CD", "EF")
        ]
        share = f"{len(found) / 3 / times:.1%}, {len(found)} edges"
        rows.append([f"{ratio:g}", str(n_sequences), share, *_told(found, ratio)])
    found = []
    for seed in range(2 * graphs):
        rng = np.random.default_rng([seed, 100])
        noise = sm.EventSequences(
            rng.integers(50, size=10_000), np.arange(251) * 40, _numbered(50), ends="cut off"
        )
        found += sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(noise).edges_
    per_graph = f"{len(found) / (2 * graphs):.2f} per graph, {len(found)} edges"
    rows.append(["1, among 50 labels", "250", per_graph, *_told(found, 1.0)])
    heads = ("true ratio", "sequences", "found", "median", "coverage", "corrected median", "its coverage")
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---", *["--:"] * 6], *rows))


def _three_edges(ratio: float) -> Dynamics:
    """A on B, C on D and E on F, within 5 events; 4% each, and G takes the rest."""
    rate, edges = 0.04, (("A", "B"), ("C", "D"), ("E", "F"))
    rules: dict[str, Any] = {influencer: rate for influencer, _ in edges}
    rules |= {x: ((z,), {(0,): rate, (1,): rate * ratio}) for z, x in edges}
    states = itertools.product((0, 1), repeat=3)
    rest = {state: 1 - rate * sum(1 + ratio**present for present in state) for state in states}
    return Dynamics({**rules, "G": (("A", "C", "E"), rest)}, lookback=5)


def _numbered(n: int) -> list[str]:
    return [f"L{label:02}" for label in range(n)]


def _told(edges: Sequence[Influence], ratio: float) -> list[str]:
    """Median and coverage, plain and corrected; of noise the median of how far from 1."""
    side = [1 if ratio != 1 or edge.ratio > 1 else -1 for edge in edges]
    cells = []
    for numbers in (("ratio", "low", "high"), ("corrected_ratio", "corrected_low", "corrected_high")):
        each = [[getattr(edge, name) for name in numbers] for edge in edges]
        with np.errstate(divide="ignore"):
            middle = np.median(
                [middle**by if middle else math.inf for (middle, *_), by in zip(each, side, strict=True)]
            )
        held = np.mean([low <= ratio <= high for _, low, high in each])
        cells += [f"{middle:.2f}", f"{held:.2f}"]
    return cells


def coverage_of_states() -> str:
    """The least coverage of the interval of a state's probability, exactly, for n p from 0.5 on."""
    rows = []
    for n in (5, 10, 30, 100, 1000, 10_000):
        k = np.arange(n + 1)
        low, high = exact_intervals(k, n).T
        least, held_each = math.inf, list[float]()
        fine = np.linspace(0.5 / n, min(0.5, 40 / n), 2000)
        log_choose = _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)
        for p in np.concatenate([fine, np.linspace(0.5 / n, 1 - 0.5 / n, 400)]):
            mass = np.exp(log_choose + k * math.log(p) + (n - k) * math.log1p(-p))
            held = float(mass[(low <= p) & (p <= high)].sum())
            least = min(least, held)
            held_each.append(held)
        rows.append(f"| {n:,} | {least:.3f} | {np.mean(held_each):.3f} |")
    return "\n".join(["| state seen | least coverage | mean |", "|--:|--:|--:|", *rows])


def _log_factorial(n: npt.ArrayLike) -> FloatArray:
    return np.asarray(gammaln(np.asarray(n) + 1.0))


# ruff: noqa: E501  # the page below has longer lines
PAGE = """# Are the claims true?

What is said of an edge is counted (see [what an edge says](guide/edges.md#what-an-edge-says)), so it can be checked. `make claims` does that
on made-up data and writes this page; the tests check every edge of random data against a count by hand.

## A log full of zeros

Five made-up logs of a loan process of 500 cases each (`summarkov.simulate.example`): steps that only begin a case, never repeat,
or only end it. For every edge that is called "amplifies" or "inhibits", Mantel and Haenszel's ratio was counted anew from the
sequences, in plain Python.

{directions}

## The interval of a ratio

The edge Z to X is given, beside another influencer W; 60 sequences of 20 events, 400 data sets for each cell. The share of
intervals that hold the true ratio, and in brackets the share of data sets in which the edge gets a wrong direction (or, for a ratio
of 1, any). 95% are promised. Where hits are few the interval is exact and holds more.

{ratios}

## Where sequences differ, or labels come in bursts

The edge is given here too, beside another influencer; both double the target, whose share is that of the second column while neither is there. Look-back 3. The ratio to be held is
that of the population: of a million events of the same world. *Frailty*: each sequence has its own rate of the target (gamma distributed, shape 2), of the target and
of the influencer apart (shape 1), or one of both (shape 2). *Self-excitation*: the target is 6 and the influencer 4 times as frequent within 3 events of itself.
*On and off*: labels are ten times as frequent in stretches of some 12 events. Columns are numbers of sequences and their lengths. The share of 1,000 intervals that hold the ratio; in brackets that of intervals from
counts, and how many times as wide the robust ones are on average. One sequence tells nothing about others that differ.

{differing}

## The interval of an edge that was selected

Nothing is given here: a graph is learned, and only the edges that are found are looked at. Three edges of the true ratio, sequences
of 30 events, each label 4% of them, look-back 5, default settings (`false_edges=0.2`); and noise, in which nothing influences anything (its median is
how far from 1, in either direction). *Found* is the share of true edges that are, and on how many edges the row rests. The median and the coverage are those of `ratio`, `low`
and `high`, then of `corrected_ratio`, `corrected_low` and `corrected_high`, which allow for selection
([Confidence](guide/confidence.md#edges-that-were-hardly-found)). Measured with intervals from counts; robust ones are as wide or wider.

{selected}

## The interval of a state

Worked out exactly, over all probabilities with n p from 0.5 up. At least 95% are promised, whatever `alpha` is.

{states}
"""


def page() -> str:
    """The whole page."""
    return PAGE.format(
        directions=directions(),
        ratios=coverage_of_ratios(),
        differing=coverage_where_sequences_differ(),
        selected=coverage_of_selected(),
        states=coverage_of_states(),
    )
