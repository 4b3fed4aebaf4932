"""Under load: long sequences, threads, other processes and many fits; no growth, and equal results."""

import gc
import multiprocessing
import pickle
import threading
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import summarkov as sm
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(60, 20, seed=3)
NEW = web_shop().simulate(40, 25, seed=4)

MODELS = {
    "binary": sm.BSuMM("purchase", lookback=5),
    "ever": sm.BSuMM("purchase", lookback=None, delay=1),
    "learned": sm.BSuMM("purchase", lookback=(1, 5, None)),
    "ordinal": sm.OSuMM("purchase", lookback=None, required=["add to cart", "browse"]),
    "count": sm.CSuMM("purchase", lookback=None, cap=2),
    "chain": sm.MarkovChain("purchase", order=2),
    "variable": sm.VariableOrderChain("purchase", gamma=0.1),
    "weighted": sm.ContextTreeWeighting("purchase"),
    "tree": sm.TreeSuMM("purchase", gamma=0.1),
    "graph": sm.InfluenceGraph(sm.BSuMM(lookback=5)),
}
FITTED = {}


def fitted(name):
    if name not in FITTED:
        FITTED[name] = MODELS[name].fit(EVENTS)
    return FITTED[name]


# ------------------------------------------------------------------------------- long sequences

STEPS = 6_000


@pytest.mark.parametrize("name", MODELS)
def test_follow_in_bounded_memory(name):
    """What a follower holds after some steps it holds after many: the past is thinned."""
    follower = fitted(name).follow()
    labels = EVENTS.labels
    order = np.random.default_rng(1).integers(len(labels), size=STEPS)

    def feed(codes):
        for code in codes.tolist():
            follower.observe(labels[code])
        return follower.probabilities()

    feed(order[:1000])
    gc.collect()
    tracemalloc.start()
    try:
        feed(order[1000:2000])
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        last = feed(order[2000:])
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
    whole = sm.read_events([[labels[code] for code in order.tolist()] + [labels[0]]], labels=labels)
    assert np.allclose(fitted(name).predict_proba(whole)[-1], last, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        sm.OSuMM("b", lookback=None, mask="first", required=["a", "c", "d"]),
        sm.OSuMM("b", lookback=None, delay=3, required=["a", "c", "d"]),
        sm.CSuMM("b", lookback={"a": None, "c": 7}, cap=3, required=["a", "c"]),
        sm.TreeSuMM("b", gamma=0.01),
    ],
    ids=["first", "last", "count", "tree"],
)
@pytest.mark.parametrize("together", [False, True], ids=["in a row", "ticks"])
def test_what_is_forgotten_does_not_matter(model, together):
    rng = np.random.default_rng(5)
    rare = [0.02, 0.3, 0.02, 0.01, 0.65]

    def drawn(n):
        each = [rng.choice(list("abcde"), size=1 + together, p=rare, replace=False) for _ in range(n)]
        return [sorted(tick.tolist()) if together else str(tick[0]) for tick in each]

    fitted = model.copy().fit([drawn(40) for _ in range(30)])
    history = drawn(600)
    follower, told = fitted.follow(), []
    for event in history:
        follower.observe(event)
        told.append(follower.probabilities())
    whole = fitted.predict_proba([history])
    assert np.allclose(told[:-1], whole[1:600], rtol=1e-12)
    assert len(follower._ticks) < 250


# ------------------------------------------------------------------------------- threads


def uses(model):
    """What people ask of a model, as values that can be compared."""
    told = [model.predict_proba(NEW), model.log_likelihood(NEW), model.score(NEW)]
    if isinstance(model, sm.InfluenceGraph):
        return [*told, model.explain(NEW[0].to_lists()[0][:5], "purchase").probability, len(model.edges_)]
    return [*told, model.explain(["browse", "search"]).probability, [row.intervals for row in model.table_]]


def same(one, other):
    return all(
        np.array_equal(np.asarray(a, float), np.asarray(b, float)) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("name", MODELS)
def test_threads_that_share_a_model(name, tmp_path):
    """All begin at once, on a model whose lazily made parts are not there yet."""
    expected = uses(fitted(name))
    fitted(name).save(tmp_path / "m.json")
    fresh = sm.load(tmp_path / "m.json")
    start = threading.Barrier(8)

    def go(_):
        start.wait()
        return uses(fresh)

    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(go, range(8)):
            assert same(answer, expected)


def test_threads_that_fit_at_once():
    """Models of their own, of the same events; each thread with threads of its own."""
    expected = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(EVENTS)

    def go(jobs):
        return sm.InfluenceGraph(sm.BSuMM(lookback=3), n_jobs=jobs).fit(EVENTS)

    with ThreadPoolExecutor(6) as pool:
        for graph in pool.map(go, [None, 2, 3] * 4):
            assert graph.influencers_ == expected.influencers_
            assert np.array_equal(graph.predict_proba(NEW), expected.predict_proba(NEW))


# ------------------------------------------------------------------------------- processes


@pytest.mark.parametrize("name", MODELS)
def test_models_cross_to_other_processes(name):
    again = pickle.loads(pickle.dumps(fitted(name)))
    assert same(uses(again), uses(fitted(name)))
    assert repr(again) == repr(fitted(name))


def fit_and_predict(jobs):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5), n_jobs=jobs).fit(EVENTS)
    return graph.influencers_, graph.predict_proba(NEW)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method):
    """After threads have been at work here, processes that are forked or spawned count in threads too."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    found, p = fit_and_predict(2)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for influencers, q in pool.map(fit_and_predict, [None, 2, 3, None]):
            assert influencers == found
            assert np.array_equal(p, q)
        for name in ("binary", "tree", "graph"):
            assert np.array_equal(
                pool.submit(fitted(name).predict_proba, NEW).result(), fitted(name).predict_proba(NEW)
            )


# ------------------------------------------------------------------------------- many fits


@pytest.mark.parametrize("name", MODELS)
def test_many_fits_without_growth(name):
    """What is held after some fits is held after many; ``tools/load.py`` does 1000 of each."""

    def fit(times):
        for seed in range(times):
            MODELS[name].copy().fit(EVENTS[seed % 5 :: 5]).predict_proba(EVENTS[:3])

    fit(5)
    gc.collect()
    tracemalloc.start()
    try:
        fit(40)  # NumPy keeps small buffers for use again, and it takes a while until it has all of them
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        fit(20)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
