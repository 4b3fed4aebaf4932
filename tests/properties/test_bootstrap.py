"""A bootstrap is what fitting each replicate by itself would give."""

import math
import statistics
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import data, drawn_weights, examples, from_counts, specs, subsets
from summarkov.engines import Bootstrap, MemorySource
from summarkov.engines.replicates import ReplicatedSource
from summarkov.models.learning import learn_replicates
from summarkov.search.criteria import SCORES
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

settings = st.fixed_dictionaries(
    {
        "criterion": st.sampled_from(SCORES),
        "gamma": st.sampled_from([0.0, 0.1, 1.0]),
        "alpha": st.sampled_from([0.1, 1.0]),
        "prior": st.sampled_from(["uniform", "base-rate"]),
        "search": st.sampled_from(["greedy", "greedy", "sweep"]),
        "parameters": st.sampled_from(["all", "reachable"]),
        "max_influencers": st.none() | st.integers(1, 3),
    }
)


@examples(120)
@given(st.data(), settings, st.integers(0, 3))
def test_each_replicate_is_the_graph_of_its_weights(more, chosen, seed):
    events = more.draw(data(nonempty=True))
    spec = more.draw(specs(events.labels, kinds=("binary", "ordinal", "first", "count", "custom")))
    chosen["required"] = more.draw(subsets(events.labels, max_size=1))
    template = spec.model(**chosen)
    own = more.draw(
        st.none()
        | st.lists(st.sampled_from([1, 0.5, 2]), min_size=len(events.events), max_size=len(events.events))
    )
    source = MemorySource(events.events, sample_weight=own, n_jobs=more.draw(st.sampled_from([None, 2])))
    draws = Bootstrap(n=4, seed=seed)
    models = [template.copy(target=x) for x in events.labels]
    replicated = ReplicatedSource(source, draws, source.filled_keys())
    found = learn_replicates(models, replicated, len(models))
    some = np.flatnonzero(events.events.lengths > 0)
    for b in range(draws.n):
        weights = np.zeros(len(events.events))
        weights[some] = drawn_weights(draws, b, len(some))
        if own is not None:
            weights *= own
            if weights @ events.events.lengths < 2:  # too little to learn from
                continue
        graph = sm.InfluenceGraph(template).fit(events.events, sample_weight=weights)
        for model, results in zip(graph.models_.values(), found, strict=True):
            fitted, result = model.fitted, results[b]
            assert result.influencers == fitted.influencers
            assert np.array_equal(result.table.keys, fitted.table.keys)
            scale = source.scale // fitted.scale  # halves may add up to whole weights in one replicate
            assert np.array_equal(result.table.counts, fitted.table.counts * scale)
            assert result.score == fitted.score


@pytest.mark.parametrize(
    "template", [sm.BSuMM(lookback=4), sm.OSuMM(lookback=3, gamma=0.5, false_edges=None)]
)
def test_confidence_says_how_often_the_graphs_have_an_edge(template):
    events = web_shop().simulate(n_sequences=60, length=25, random_state=2)
    graph = sm.InfluenceGraph(template).fit(events)
    confidence = graph.confidence(events, n=12, random_state=5)
    draws = Bootstrap(12, 5)
    graphs = [
        sm.InfluenceGraph(template).fit(events, sample_weight=drawn_weights(draws, b, 60)) for b in range(12)
    ]
    listed = {(edge.influencer, edge.target): (True, edge.frequency) for edge in confidence.edges}
    listed |= {(z, x): (False, share) for z, x, share in confidence.others}
    for z in events.labels:
        for x in events.labels:
            share = sum(z in one.influencers_[x] for one in graphs) / 12
            in_graph = z in graph.influencers_[x]
            assert ((z, x) in listed) == (in_graph or share > 0)
            if (z, x) in listed:
                assert listed[z, x] == (in_graph, pytest.approx(share))
    assert 0 < len(confidence.stable()) < len(confidence.edges)
    assert 0 < len(confidence.missing(0.1)) < len(confidence.others)


def test_ratios_are_those_of_the_same_influencers_in_every_replicate():
    events = web_shop().simulate(n_sequences=40, length=20, random_state=3)
    template = sm.BSuMM(lookback=4, gamma=0.1, false_edges=None)
    graph = sm.InfluenceGraph(template, targets=["purchase", "search"]).fit(events)
    confidence = graph.confidence(events, n=19, random_state=1)
    draws = Bootstrap(19, 1)
    widened = 0
    for edge in confidence.edges:
        beside = graph.influencers_[edge.target]

        def found(weights, influences, edge=edge, beside=beside):
            fixed = template.copy(target=edge.target, required=beside, candidates=[])
            each = influences(fixed.fit(events, sample_weight=weights))
            return next(i for i in each if i.influencer == edge.influencer)

        here, robust = found(None, from_counts), found(None, attrgetter("influences_"))
        assert edge.ratio == pytest.approx(here.ratio, rel=1e-12)
        logs = [
            math.log(r)
            for b in range(19)
            if 0 < (r := found(drawn_weights(draws, b, 40), from_counts).ratio) < math.inf
        ]
        spread = statistics.stdev(logs) if len(logs) >= 10 else 0.0
        if here.low > 0 and here.high < math.inf:
            counted = math.log(here.high / here.low) / (2 * 1.959963984540054)
            least = math.log(robust.high / robust.low) / math.log(here.high / here.low)
            wider = max(least, spread / counted)
            widened += wider > least
            assert edge.low == pytest.approx(here.ratio * (here.low / here.ratio) ** wider, rel=1e-9)
            assert edge.high == pytest.approx(here.ratio * (here.high / here.ratio) ** wider, rel=1e-9)
        else:
            assert (edge.low, edge.high) == (here.low, here.high)
        if here.effect != "mixed":
            assert edge.effect == (
                "amplifies" if edge.low > 1 else "inhibits" if edge.high < 1 else "unclear"
            )
    assert widened > 0


def test_confidence_does_not_depend_on_threads_or_on_how_many_are_learned_together(monkeypatch):
    events = web_shop().simulate(n_sequences=50, length=20, random_state=4)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events)
    whole = graph.confidence(events, n=10)
    monkeypatch.setattr("summarkov.models.bootstrap._TOGETHER", 3)
    threads = sm.InfluenceGraph(sm.BSuMM(lookback=3), n_jobs=2).fit(events)
    done = []
    assert threads.confidence(events, n=10, progress=lambda n, of: done.append((n, of))) == whole
    assert done[-1] == (100, 100)
    assert [n for n, _ in done] == sorted(n for n, _ in done)
