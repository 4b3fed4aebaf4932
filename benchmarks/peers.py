"""Whole graphs beside other methods: processor time over ours, measured in turns, and F1 (precision, recall).

All look five events back, on the same planted worlds. The plain search takes half an hour for 200 labels: it
learns five of them, and its time is taken 40 times. seq2cause is not here: it needs a NumPy below 2, a
pyarrow below 17 and a neural network trained on the events, and has graphs of single sequences only (0.1.9).
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from paper.worlds import LOOKBACK, WORLDS, World, random_edges

import summarkov as sm
from benchmarks.data import planted, presence
from benchmarks.timing import best_of, seconds

Edges = set[tuple[int, int]]
#: Tools that test every pair take an edge for real below this, over the number of pairs.
_LEVEL = 0.05
_MISSING = 999.0


def worlds() -> dict[str, World]:
    """Three worlds of the studies, and one in which influence comes with a delay."""
    made = {
        "softmax, 8 edges ×2": WORLDS["all alike, 8 true edges x2"],
        "3 classes, 8 edges ×2": WORLDS["three classes, 8 true edges x2"],
        "3 classes, no edge": WORLDS["three classes, no influence"],
        "delay, 8 edges ×3": delayed,
    }
    return {name: make(np.random.default_rng(36)) for name, make in made.items()}


def delayed(rng: np.random.Generator, n: int = 400, length: int = 40, n_labels: int = 10) -> World:
    """Labels of equal rates; what stands exactly four events back multiplies that of another label by 3."""
    edges = random_edges(rng, n_labels, 8, 3.0)
    codes, times = np.zeros((n, length), np.int32), np.ones((n_labels, n_labels))
    for pair, factor in edges.items():
        times[pair] = factor
    for at in range(length):
        rates = times[codes[:, at - 4]] if at >= 4 else np.ones((n, n_labels))
        ends = rates.cumsum(axis=1)
        codes[:, at] = (rng.random((n, 1)) * ends[:, -1:] > ends).sum(axis=1)
    labels = [f"L{label:03}" for label in range(n_labels)]
    events = sm.EventSequences(codes.reshape(-1), np.arange(n + 1) * length, labels, ends="cut off")
    return World(events, {(labels[z], labels[x]): factor for (z, x), factor in edges.items()})


def ours(events: sm.EventSequences) -> Edges:
    """A graph with default settings, and every edge of it."""
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=LOOKBACK)).fit(events)
    code = {label: at for at, label in enumerate(events.labels)}
    return {(code[z], code[x]) for x, names in graph.influencers_.items() for z in names}


def ours_about_order(events: sm.EventSequences) -> Edges:
    """The same graph; the edges that depend on order."""
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=LOOKBACK)).fit(events)
    code = {label: at for at, label in enumerate(events.labels)}
    tested = graph.order_test(events).depends_on_order
    return {(code[e.influencer], code[e.target]) for e in tested if not e.is_crowding_out}


def as_published(events: sm.EventSequences, one_in: int = 1) -> Edges:
    """The paper's greedy search by BIC in plain NumPy: forwards and backwards, for one target in so many."""
    seen, n_labels = presence(events, LOOKBACK), len(events.labels)
    return {
        (z, x)
        for x in range(0, n_labels, one_in)
        for z in _greedy(seen, (events.codes == x).astype(np.int64), n_labels)
    }


def _greedy(seen: np.ndarray, hit: np.ndarray, n_labels: int) -> list[int]:
    def score(some: list[int]) -> float:
        state = np.zeros(len(hit), np.int64)
        for z in some:
            state = 2 * state + seen[:, z]
        n = np.bincount(2 * state + hit, minlength=2 ** (len(some) + 1)).reshape(-1, 2) + 0.1
        fit = ((n - 0.1) * np.log(n / n.sum(axis=1, keepdims=True))).sum()
        return float(fit - 2 ** len(some) * np.log(len(hit)) / 2)

    chosen: list[int] = []
    best, better = score(chosen), True
    while better:
        others = [z for z in range(n_labels) if z not in chosen]
        found, z = max((score([*chosen, z]), z) for z in others)
        if better := found > best:
            best, chosen = found, [*chosen, z]
    while chosen:
        found, z = max((score([y for y in chosen if y != z]), z) for z in chosen)
        if found <= best:
            break
        best, chosen = found, [y for y in chosen if y != z]
    return chosen


def multinomial_logit(events: sm.EventSequences) -> Edges:
    """One fit for all labels; an edge is a positive or negative weight that a Wald test finds."""
    from scipy.stats import norm
    from sklearn.linear_model import LogisticRegression

    seen, n_labels = presence(events, LOOKBACK).astype(float), len(events.labels)
    model = LogisticRegression(C=1e4, max_iter=500).fit(seen, events.codes)
    p = model.predict_proba(seen)
    least = norm.isf(_LEVEL / 2 / n_labels**2)
    edges = set()
    for at, x in enumerate(model.classes_):
        information = seen.T @ (seen * (p[:, at] * (1 - p[:, at]))[:, None])
        error = np.sqrt(np.diag(np.linalg.inv(information + 1e-9 * np.eye(n_labels))))
        edges |= {(int(z), int(x)) for z in np.flatnonzero(abs(model.coef_[at] / error) > least)}
    return edges


def lasso_logit(events: sm.EventSequences) -> Edges:
    """A fit for each label, with the penalty that BIC prefers; an edge is a weight that is not zero."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    seen, edges = presence(events, LOOKBACK).astype(float), set()
    for x in range(len(events.labels)):
        hit, best = events.codes == x, (np.inf, np.zeros(0, np.int64))
        for penalty in np.geomspace(0.003, 0.3, 6):
            model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=penalty).fit(seen, hit)
            kept = np.flatnonzero(model.coef_[0])
            loss = 2 * log_loss(hit, model.predict_proba(seen), normalize=False) + len(kept) * np.log(
                len(hit)
            )
            best = min(best, (loss, kept), key=lambda pair: pair[0])
        edges |= {(int(z), x) for z in best[1]}
    return edges


def pcmci(events: sm.EventSequences) -> Edges:
    """PCMCI of tigramite with partial correlations of indicators; an edge is a lag that passes."""
    import tigramite.data_processing as data
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    gap = [np.full((LOOKBACK, len(events.labels)), _MISSING)]  # no lag reaches from a sequence into another
    hot = np.split(np.eye(len(events.labels))[events.codes], events.offsets[1:-1])
    frame = data.DataFrame(
        np.concatenate([part for each in hot for part in (each, *gap)]), missing_flag=_MISSING
    )
    found = PCMCI(frame, ParCorr(), verbosity=0).run_pcmci(
        tau_min=1, tau_max=LOOKBACK, pc_alpha=0.05, max_conds_dim=1
    )
    strong = found["p_matrix"][:, :, 1:].min(axis=2) < _LEVEL / found["p_matrix"][:, :, 1:].size
    return {(int(z), int(x)) for z, x in np.argwhere(strong)}


def duckdb_pairs(events: sm.EventSequences) -> int:
    """Count, for each pair, the positions of one label with the other in the window, in SQL."""
    import duckdb
    import pyarrow as pa

    rows = _table(events)  # the name in the query
    assert isinstance(rows, pa.Table)
    query = f"""
        select z, x, count(*) from (select distinct a.label as z, b.label as x, b.seq, b.pos from rows a
        join rows b on a.seq = b.seq and a.pos between b.pos - {LOOKBACK} and b.pos - 1) group by z, x"""
    with duckdb.connect() as connection:
        return len(connection.sql(query).fetchall())


def polars_pairs(events: sm.EventSequences) -> int:
    """The same with one shifted copy of the events for each lag."""
    import polars as pl

    rows = pl.from_arrow(_table(events))
    assert isinstance(rows, pl.DataFrame)
    lags = [rows.with_columns(z=pl.col("label").shift(lag).over("seq")) for lag in range(1, LOOKBACK + 1)]
    pairs = pl.concat(lags).drop_nulls("z").unique(["seq", "pos", "z"])
    return len(pairs.group_by("z", "label").len())


def _table(events: sm.EventSequences):  # type: ignore[no-untyped-def]
    import pyarrow as pa

    seq = np.repeat(np.arange(len(events)), events.lengths)
    pos = np.arange(events.n_events) - np.repeat(events.offsets[:-1], events.lengths)
    return pa.table({"seq": seq, "pos": pos, "label": events.codes})


def numpy_pairs(events: sm.EventSequences) -> int:
    """The same with a bincount for each lag; windows that hold a label twice count twice."""
    codes, n = events.codes.astype(np.int64), len(events.labels)
    place = np.arange(len(codes)) - np.repeat(events.offsets[:-1], events.lengths)
    pairs = np.zeros(n * n, np.int64)
    for lag in range(1, LOOKBACK + 1):
        late = np.flatnonzero(place >= lag)
        pairs += np.bincount(codes[late - lag] * n + codes[late], minlength=n * n)
    return int((pairs > 0).sum())


#: Who takes part: name, program, the library that it needs.
FIELD: tuple[tuple[str, Callable[[sm.EventSequences], Edges | int], str], ...] = (
    ("summarkov, with the order test", ours_about_order, "numpy"),
    ("the paper's search in plain NumPy", as_published, "numpy"),
    ("multinomial logit, Wald tests", multinomial_logit, "sklearn"),
    ("lasso logit, penalty by BIC", lasso_logit, "sklearn"),
    ("PCMCI (tigramite)", pcmci, "tigramite"),
    ("counting pairs: DuckDB", duckdb_pairs, "duckdb"),
    ("counting pairs: Polars", polars_pairs, "polars"),
    ("counting pairs: NumPy", numpy_pairs, "numpy"),
)
#: How often ours is run in a turn, which is too short to be measured else.
_SHORT = 3
_LARGE = "10^6 events, 200 labels"


def rows() -> Iterator[tuple[str, ...]]:
    """A line for each method: its time over ours, measured in turns, and F1 (precision, recall)."""
    data = worlds() | {_LARGE: World(planted(10**6, 200), {})}
    yield ("method", *data)
    first, lines = ["summarkov"], [[peer] for peer, *_ in FIELD]
    warm_up = next(iter(data.values())).events[:50]  # what is imported and compiled with the first call
    for program in (ours, *(each for _, each, library in FIELD if importlib.util.find_spec(library))):
        with warnings.catch_warnings(action="ignore"):
            program(warm_up)
    for name, world in data.items():
        events, code = world.events, {label: at for at, label in enumerate(world.events.labels)}
        truth = {(code[z], code[x]) for z, x in world.truth}
        for line, (peer, program, library) in zip(lines, FIELD, strict=True):
            if importlib.util.find_spec(library) is None:
                line.append(f"no {library}")
            elif name == _LARGE and not peer.startswith(("summarkov", "counting", "the paper")):
                line.append("-")
            else:
                share = 1
                if name == _LARGE and program is as_published:  # which would take half an hour
                    share, program = 40, partial(as_published, one_in=40)
                found: list[Edges | int] = [0]
                with warnings.catch_warnings(action="ignore"):
                    own, took = best_of(
                        3 if peer.startswith("counting") else 1,
                        lambda: [ours(events) for _ in range(_SHORT)],  # noqa: B023
                        lambda: found.append(program(events)),  # noqa: B023
                        clock=time.process_time,
                    )
                line.append(f"{_times(took / own * _SHORT * share)}{_right(found[-1], truth, name)}")
        (own,) = best_of(5, lambda: ours(events), clock=time.process_time)  # noqa: B023
        first.append(f"{seconds(own)}{_right(ours(events), truth, name)}")
    yield from map(tuple, [first, *lines])


def _times(ratio: float) -> str:
    return f"{ratio:.2g}×" if ratio < 10 else f"{ratio:,.0f}×"


def _right(found: Edges | int, truth: Edges, world: str) -> str:
    """F1, precision and recall of edges between different labels; where none is true, how many are found."""
    if isinstance(found, int) or world == _LARGE:
        return ""
    found = {(z, x) for z, x in found if z != x}
    true = len(found & truth)
    if not truth:
        return f", {len(found)} false"
    f1 = 2 * true / (len(found) + len(truth))
    return f", F1 {f1:.2f} ({true / max(1, len(found)):.2f}, {true / len(truth):.2f})"
