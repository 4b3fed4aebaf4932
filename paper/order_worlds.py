"""Worlds whose truth is known: which false edges the order test finds in them, and which true ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from paper.section import Section
from paper.worlds import LOOKBACK, Random, alike, classes, drawn, random_edges
from summarkov.events import EventSequences
from summarkov.models import BSuMM, InfluenceGraph
from summarkov.typing import CodeArray, FloatArray

Edges = Mapping[tuple[int, int], float]


@dataclass(frozen=True)
class OrderWorld:
    """How to draw ``codes[sequence, position]`` and the true edges; whether one given edge is tested too."""

    draw: Callable[[Random, int], tuple[CodeArray, Edges]]
    n: int = 400
    is_null: bool = False


def _rates(rng: Random, rates: FloatArray, edges: Edges, itself: float = 1.0) -> tuple[CodeArray, Edges]:
    """Labels at such rates; each makes itself ``itself`` times as likely."""
    n, length, n_labels = rates.shape
    excited = {} if itself == 1 else {(z, z): itself for z in range(n_labels)}
    world = drawn(rng, rates, {**edges, **excited})
    return world.events.codes.reshape(n, length), edges


def _excited(itself: float) -> Callable[[Random, int], tuple[CodeArray, Edges]]:
    return lambda rng, n: _rates(rng, alike(rng, n, 40, 10, 10.0), {}, itself)


def _runs(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    """The last label comes again with a chance of .7."""
    codes = rng.choice(10, (n, 40), p=rng.dirichlet(np.full(10, 10.0))).astype(np.int32)
    for i in range(1, 40):
        again = rng.random(n) < 0.7
        codes[again, i] = codes[again, i - 1]
    return codes, {}


def _semi_markov(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    """Every label stays for a time of its own, and another follows."""
    codes = np.zeros((n, 40), np.int32)
    for row in codes:
        at, last = 0, -1
        while at < 40:
            label = int((last + rng.integers(1, 10)) % 10) if last >= 0 else int(rng.integers(10))
            stays = 1 + int(rng.poisson(1 + label % 4))
            row[at : at + stays] = label
            at, last = at + stays, label
    return codes, {}


def _bursts(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    """Now and then a label is ten times as likely, for six events on average."""
    rates, burst = np.full((n, 40, 10), 0.1), np.full(n, -1)
    for i in range(40):
        burst[rng.random(n) < 1 / 6] = -1
        begins = (burst < 0) & (rng.random(n) < 0.1)
        burst[begins] = rng.integers(0, 10, int(begins.sum()))
        some = np.flatnonzero(burst >= 0)
        rates[some, i, burst[some]] *= 10
    return _rates(rng, rates, {})


def _regimes(mean: int) -> Callable[[Random, int], tuple[CodeArray, Edges]]:
    """Each sequence changes between three hidden regimes of such a mean length."""

    def draw(rng: Random, n: int) -> tuple[CodeArray, Edges]:
        of_regime, regime = rng.dirichlet(np.full(10, 2.0), 3), rng.integers(0, 3, n)
        rates = np.empty((n, 60, 10))
        for i in range(60):
            regime = np.where(rng.random(n) < 1 / mean, rng.integers(0, 3, n), regime)
            rates[:, i] = of_regime[regime]
        return _rates(rng, rates, {})

    return draw


def _cycle(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    """A cycle of 40 events, whose phase differs between sequences."""
    turn = np.arange(60)[None, :, None] / 40 + rng.random((n, 1, 1)) + rng.random(10)
    return _rates(rng, np.exp(np.cos(2 * np.pi * turn)), {})


def _drift(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    """Rates that change evenly, from the first position to the last."""
    first, last = rng.dirichlet(np.full(10, 2.0), 2)
    share = np.linspace(0, 1, 40)[:, None]
    return _rates(rng, np.broadcast_to((1 - share) * first + share * last, (n, 40, 10)), {})


def _edges(
    rate: float, times: float, itself: float = 1.0
) -> Callable[[Random, int], tuple[CodeArray, Edges]]:
    """Eight edges between labels of such a base rate; ten more labels take the rest."""

    def draw(rng: Random, n: int) -> tuple[CodeArray, Edges]:
        rates = np.full(30, rate)
        rates[20:] = (1 - 20 * rate) / 10
        edges = random_edges(rng, 20, 8, times)
        return _rates(rng, np.broadcast_to(rates, (n, 40, 30)), edges, itself)

    return draw


def _latent(rng: Random, n: int) -> tuple[CodeArray, Edges]:
    return _rates(rng, classes(rng, n, 40), random_edges(rng, 10, 8, 2.0))


#: All worlds, by what is special about them.
ORDER_WORLDS: Mapping[str, OrderWorld] = MappingProxyType(
    {
        "homogeneous": OrderWorld(_excited(1.0), is_null=True),
        "runs .7": OrderWorld(_runs, is_null=True),
        "self-excitation x5": OrderWorld(_excited(5.0), is_null=True),
        "self-excitation x12": OrderWorld(_excited(12.0), is_null=True),
        "runs .7, 1,000 sequences": OrderWorld(_runs, n=1000),
        "self-excitation x5, 1,000 sequences": OrderWorld(_excited(5.0), n=1000),
        "self-excitation x12, 1,000 sequences": OrderWorld(_excited(12.0), n=1000),
        "semi-Markov": OrderWorld(_semi_markov, is_null=True),
        "bursts": OrderWorld(_bursts, is_null=True),
        "regimes of 10": OrderWorld(_regimes(10)),
        "regimes of 30": OrderWorld(_regimes(30)),
        "cycle of 40": OrderWorld(_cycle),
        "drift": OrderWorld(_drift),
        "8 edges x2 at 3%": OrderWorld(_edges(0.03, 2.0)),
        "8 edges x2 at 3%, self-excitation x5": OrderWorld(_edges(0.03, 2.0, 5.0)),
        "8 edges x3 at .5%": OrderWorld(_edges(0.005, 3.0), n=1000),
        "8 edges x2, latent classes": OrderWorld(_latent),
    }
)


def _events(codes: CodeArray) -> EventSequences:
    n, length = codes.shape
    labels = tuple(f"L{label:03}" for label in range(int(codes.max()) + 1))
    return EventSequences(codes.reshape(-1), np.arange(n + 1) * length, labels, ends="cut off")


def examine_order(world: OrderWorld, rng: Random) -> Counter[str]:
    """Learn one graph, test it, and count edges between different labels."""
    codes, truth = world.draw(rng, world.n)
    events = _events(codes)
    graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(events)
    names = {(events.labels[z], events.labels[x]) for z, x in truth}
    found = Counter({"true": len(names), "found": 0})
    for edge in graph.order_test(events).depends_on_order:
        pair = edge.influencer, edge.target
        if pair in names:
            found["found"] += edge.ratio > 1 and not edge.is_crowding_out
            found[f"found, {edge.order_scale}"] += 1
        elif edge.influencer != edge.target and not edge.is_crowding_out:
            found["false"] += 1
            found[f"false, {edge.order_scale}"] += 1
    return found


def share_below(world: OrderWorld, replicates: int, seed: int) -> float:
    """How often p < .05 for one given edge that is not there, of half as many sequences."""
    below = 0
    for number in range(replicates):
        events = _events(world.draw(np.random.default_rng([number, seed]), world.n // 2)[0])
        model = BSuMM(lookback=LOOKBACK, required=["L000"], candidates=[])
        graph = InfluenceGraph(model, targets=["L001"]).fit(events)
        below += graph.order_test(events, random_state=number).edges[0].p_value < 0.05
    return below / replicates


def order_worlds(graphs: int = 20, replicates: int = 200, names: Iterable[str] = ORDER_WORLDS) -> Section:
    """The table of worlds."""
    rows = []
    for at, name in enumerate(names):
        world, total = ORDER_WORLDS[name], Counter[str]()
        for seed in range(graphs):
            total.update(examine_order(world, np.random.default_rng([seed, at, 34])))
        share = f"{share_below(world, replicates, at):.3f}" if world.is_null else ""
        false = [
            f"{total[kind] / graphs:.2f}" for kind in ("false", "false, short range", "false, slow change")
        ]
        power = [f"{total[kind]} of {total['true']}" for kind in ("found", "found, short range")]
        rows.append([name, *false, share, *(power if total["true"] else ["", ""])])
        print(" | ".join(rows[-1]), flush=True)
    return Section(
        "Worlds of the order test",
        f"{graphs} graphs of each world, look-back {LOOKBACK}, default settings: edges per graph between "
        "different labels that depend on order, are not true and not crowding out, and how many of these are "
        f"graded short range and slow change; the share of p < .05 of one given null edge ({replicates} "
        "replicates); true edges found, and graded short range.",
        ["world", "false", "short range", "slow change", "p < .05", "found", "graded short range"],
        rows,
    )


if __name__ == "__main__":
    import sys

    given: list[Any] = [int(each) for each in sys.argv[1:3]]
    order_worlds(*given, *(each.split(";") for each in sys.argv[3:4]))
