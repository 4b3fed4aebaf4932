"""One body of tests over every engine: in memory, streamed in awkward blocks, and on Spark.

Each engine is given the same rows and must give what one thread gives in memory: counts to the last bit, and
sums over sequences but for how they are rounded.
"""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from strategies import assert_same
from summarkov.engines import (
    CandidatesRequest,
    MemorySource,
    RecencyCounts,
    RecencyRequest,
    StatesRequest,
    Target,
)
from summarkov.errors import DataError, SettingError
from summarkov.models.learning import learn
from summarkov.simulate.example import web_shop
from summarkov.summaries import (
    BinarySummary,
    ChainSummary,
    CountSummary,
    CustomSummary,
    HistoryTests,
    OrdinalSummary,
    TreeSummary,
    WindowSummary,
)

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]


def own():
    """A summary of the user's own, of a class that no worker could import."""

    class Recent:
        lookback = 3

        def state(self, history, influencers):
            return tuple(label in history for label in influencers)

        def n_states(self, n_influencers):
            return 2**n_influencers

    return CustomSummary(Recent())


SUMMARIES = [
    BinarySummary(3),
    BinarySummary({"A": 2, "B": None, "C": 4, "D": 3}, 1),
    OrdinalSummary(None),
    OrdinalSummary(4, mask="first"),
    CountSummary(5, cap=2),
    ChainSummary(2),
    own(),
]


def shuffled(sequences, seed=0):
    """Sequences as rows in any order, with a column that tells where each belongs; ties among them."""
    case = [f"case {k}" for k, sequence in enumerate(sequences) for _ in sequence]
    step = [i // 2 for sequence in sequences for i, _ in enumerate(sequence)]
    table = pa.table({"case": case, "event": list(itertools.chain(*sequences)), "order": step})
    return table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))


def random_sequences(seed, labels="ABCD", n=12, longest=40):
    rng = np.random.default_rng(seed)
    return [rng.choice(list(labels), size=rng.integers(1, longest)).tolist() for _ in range(n)]


def requests_for(labels):
    """All kinds of requests, about one label, several, and all."""
    n = len(labels)
    targets = [Target((0,), n), Target((1, 3), n), Target(tuple(range(n)), n)]
    for summary, target in itertools.product(SUMMARIES, targets):
        influencers = () if isinstance(summary, ChainSummary) else (0, 2)
        yield StatesRequest(summary, influencers, target)
        if isinstance(summary, WindowSummary):
            yield CandidatesRequest(summary, influencers, target, (1, 3))
    tests = HistoryTests(lookbacks=(1, 3, None), counts=(2,), pairs=True, starts=(1, 2))
    yield RecencyRequest(TreeSummary((None,), tests), targets[0], tuple(range(n)), (0,))


@pytest.mark.parametrize("within", [None, "auto"])
def test_the_order_test(engine, within):
    table = shuffled(random_sequences(6, n=40))
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, gamma=0.1, false_edges=None)).fit(sm.read_events(table))
    expected = graph.order_test(sm.read_events(table), n=19, within=within, random_state=4)
    assert len(expected.edges) > 3
    with engine(table, pieces=10) as source:
        assert graph.order_test(source, n=19, within=within, random_state=4) == expected


def test_counts(engine):
    table = shuffled(random_sequences(1))
    events = sm.read_events(table)
    requests = list(requests_for(events.labels))
    with engine(table) as source:
        assert source.labels == events.labels
        assert source.label_counts.tolist() == events.label_counts.tolist()
        assert source.n_sequences == len(events)
        if not isinstance(source, MemorySource):
            assert source.n_events == events.n_events
            assert source.tied_order == events.tied_order > 0
        answers = source.count(requests)
        assert source.count([]) == []
    for got, expected in zip(answers, MemorySource(events).count(requests), strict=True):
        if isinstance(expected, RecencyCounts):
            assert all(np.array_equal(a, b) for a, b in zip(got.tables, expected.tables, strict=True))
        else:
            assert_same(got, expected)


MODELS = [
    sm.BSuMM(lookback=3),
    sm.BSuMM(lookback="auto"),
    sm.BSuMM(lookback=2, search="exact"),
    sm.OSuMM(lookback=None, criterion="aic"),
    sm.CSuMM(lookback=4, delay=1),
    sm.MarkovChain(order=2),
    sm.VariableOrderChain(),
    sm.TreeSuMM(gamma=0.3),
]


def learned(source, templates, targets):
    """All models of all templates, learned side by side: as many passes as the deepest search needs."""
    models = [template.copy(target=x) for template in templates for x in targets]
    learn(models, source)
    return models


def same_models(some, others):
    """Everything that models have learned."""
    for one, other in zip(some, others, strict=True):
        assert one.influencers_ == other.influencers_
        assert one.influences_ == other.influences_
        assert (one.score_, one.log_likelihood_) == (other.score_, other.log_likelihood_)
        assert list(one.trace_) == list(other.trace_)
        assert_same(one.fitted.table, other.fitted.table)
        assert np.array_equal(one.fitted.theta, other.fitted.theta)
        assert one.fitted.summary == other.fitted.summary  # with the rules of a tree
        assert one.fitted.n_sequences == other.fitted.n_sequences
        assert (one.fitted.clusters is None) == (other.fitted.clusters is None)
        if one.fitted.clusters is not None:  # how much sequences move the ratios of edges
            assert one.fitted.clusters.squares.any()
            assert np.array_equal(one.fitted.clusters.squares, other.fitted.clusters.squares)
            assert np.array_equal(one.fitted.clusters.n, other.fitted.clusters.n)
    return True


def same_measures(one, some, other, others):
    """How well two models, or graphs, foretell the same events."""
    for measure in ("log_likelihood", "score", "brier_score"):
        assert getattr(one, measure)(some) == pytest.approx(getattr(other, measure)(others), rel=1e-9)
    return True


def test_models(engine):
    table = shuffled(web_shop().simulate(40, 20, random_state=3).to_lists())
    events = sm.read_events(table)
    with engine(table) as source:
        targets = ["purchase", "write review"]
        some, others = (learned(s, MODELS, targets) for s in (source, MemorySource(events)))
        assert same_models(some, others)
        for one, other in zip(some[:1], others, strict=False):
            assert same_measures(one, source, other, events)


def test_what_is_worked_out_from_models(engine):
    """Resampled graphs, and measures of whole graphs; no row comes where its sequence does."""
    table = shuffled(web_shop().simulate(12, 15, random_state=3).to_lists())
    events = sm.read_events(table)
    with engine(table, pieces=6) as source:
        one, other = (
            sm.InfluenceGraph(sm.BSuMM(lookback=2, criterion="aic")).fit(s) for s in (source, events)
        )
        assert one.confidence(source, n=5, random_state=2) == other.confidence(events, n=5, random_state=2)
        if isinstance(source, MemorySource):
            return  # graphs are measured on events
        assert same_measures(one, source, other, events)
        with pytest.raises(SettingError, match="sample_weight needs events in memory"):
            one.score(source, sample_weight=[1] * len(events))
        with pytest.raises(DataError, match=r"needs the events in memory, and a .*Source counts them where"):
            one.predict_proba(source)
