"""Under load: threads, other processes and many fits; no growth, and equal results."""

import gc
import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import summarkov as sm
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(60, 20, random_state=3)
NEW = web_shop().simulate(40, 25, random_state=4)

MODELS = {
    "binary": sm.BSuMM("purchase", lookback=5),
    "learned": sm.BSuMM("purchase", lookback=(1, 5, None)),
    "ordinal": sm.OSuMM("purchase", lookback=None, required=["add to cart", "browse"]),
    "count": sm.CSuMM("purchase", lookback=None, cap=2),
    "variable": sm.VariableOrderChain("purchase", gamma=0.1),
    "tree": sm.TreeSuMM("purchase", gamma=0.1),
    "graph": sm.InfluenceGraph(sm.BSuMM(lookback=5)),
}


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
def test_threads_that_share_a_model_and_processes_that_get_it(name, tmp_path):
    """All begin at once, on a model whose lazily made parts are not there yet."""
    model = MODELS[name].copy().fit(EVENTS)
    again = pickle.loads(pickle.dumps(model))
    assert repr(again) == repr(model)
    model.save(tmp_path / "m.json")
    fresh = sm.load(tmp_path / "m.json")
    start = threading.Barrier(8)

    def go(_):
        start.wait()
        return uses(fresh)

    expected = uses(model)
    with ThreadPoolExecutor(8) as pool:
        assert all(same(answer, expected) for answer in [*pool.map(go, range(8)), uses(again)])


@pytest.mark.parametrize("name", ["tree", "graph"])
def test_many_fits_without_growth(name):
    """What is held after some fits is held after many; ``tools/load.py`` does 1000 of every family."""
    events, new = EVENTS[:12], EVENTS[:3]

    def fit(times):
        for _ in range(times):
            MODELS[name].copy().fit(events).predict_proba(new)

    fit(5)
    gc.collect()
    tracemalloc.start()
    try:
        fit(30)  # NumPy keeps small buffers for use again, and it takes a while until it has all of them
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        fit(10)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
