"""Whole graphs, against other tools and plain programs: how long they take, and how many edges are right."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from paper.worlds import LOOKBACK, World, alike, classes, drawn, random_edges

import summarkov as sm
from benchmarks.data import presence
from benchmarks.timing import Row, best_of, seconds

Edges = set[tuple[int, int]]
#: Tools that test every pair take an edge for real below this, over the number of pairs.
_LEVEL = 0.05


def worlds() -> dict[str, World]:
    """Eight true edges, each a factor of 2: all sequences alike, or three classes of them."""
    rng = np.random.default_rng(36)
    alike_rates, class_rates = alike(rng, 1000, 40, 20, 10.0), classes(rng, 1000, 40, 20)
    return {
        "sequences alike": drawn(rng, alike_rates, random_edges(rng, 20, 8, 2.0)),
        "three classes": drawn(rng, class_rates, random_edges(rng, 20, 8, 2.0)),
    }


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


def as_published(events: sm.EventSequences) -> Edges:
    """The paper's greedy search by BIC in plain NumPy: forwards and backwards, target by target."""
    seen, n_labels = presence(events, LOOKBACK), len(events.labels)
    return {
        (z, x) for x in range(n_labels) for z in _greedy(seen, (events.codes == x).astype(np.int64), n_labels)
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

    hot = np.eye(len(events.labels))[events.codes]
    parts = dict(enumerate(np.split(hot, events.offsets[1:-1])))
    frame = data.DataFrame(parts, analysis_mode="multiple")
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


#: Who takes part: name, program, the library that it needs.
FIELD: tuple[tuple[str, Callable[[sm.EventSequences], Edges | int], str], ...] = (
    ("with the order test", ours_about_order, "numpy"),
    ("the paper's search in plain NumPy", as_published, "numpy"),
    ("multinomial logit", multinomial_logit, "sklearn"),
    ("lasso logit", lasso_logit, "sklearn"),
    ("PCMCI", pcmci, "tigramite"),
    ("DuckDB, counting pairs only", duckdb_pairs, "duckdb"),
    ("Polars, counting pairs only", polars_pairs, "polars"),
)


def rows() -> Iterator[Row]:
    """Everybody on each world. seq2cause needs a NumPy below 2, so it cannot be installed beside this."""
    for name, world in worlds().items():
        truth = {
            (world.events.labels.index(z), world.events.labels.index(x)) for z, x in world.truth
        }  # the labels themselves are never an edge here
        ours(world.events)
        (own,) = best_of(5, lambda events=world.events: ours(events))
        size = f"{name}, N={world.events.n_events:.0e}, M={len(world.events.labels)}"
        yield Row(f"{size}: ours", f"{seconds(own)}, {_right(ours(world.events), truth)}", "F1 .95")
        for peer, program, library in FIELD:
            if importlib.util.find_spec(library) is None:
                yield Row(f"{size}: {peer} / ours", f"{library} is not installed", "reported")
                continue
            found: list[Edges | int] = []
            with warnings.catch_warnings(action="ignore"):
                (took,) = best_of(1, lambda: found.append(program(world.events)))  # noqa: B023
            right = "" if isinstance(found[0], int) else f", {_right(found[0], truth)}"
            yield Row(f"{size}: {peer} / ours", f"{took / own:.0f}x{right}", "reported")


def _right(found: Edges, truth: Edges) -> str:
    found = {(z, x) for z, x in found if z != x}
    true = len(found & truth)
    f1 = 2 * true / max(1, len(found) + len(truth))
    return f"F1 {f1:.2f} ({true} of {len(truth)} true edges, {len(found) - true} false)"
