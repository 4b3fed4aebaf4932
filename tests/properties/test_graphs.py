"""A graph is its targets' models, learned in as few passes as the deepest search takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import Data, assert_same, data, examples, specs, subsets, weights_of
from summarkov.engines import MemorySource
from summarkov.errors import SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


class CountedPasses(MemorySource):
    """A source that knows how often it was asked."""

    def __init__(self, events, weights=None):
        super().__init__(events, sample_weight=weights)
        self.passes = 0

    def count(self, requests):
        self.passes += 1
        return super().count(requests)


@st.composite
def problems(draw, unknown=False, **which):
    events = draw(data(nonempty=True))
    if unknown:
        more = draw(data(labels=events.labels, unknown=True))
        events = events + more
    weights = draw(weights_of(events, least=1))
    spec = draw(specs(events.labels, **which))
    settings = {
        "alpha": draw(st.sampled_from([0.1, 1.0])),
        "prior": draw(st.sampled_from(["uniform", "base-rate"])),
    }
    if spec.kind != "chain":
        settings["gamma"] = draw(st.sampled_from([0.1, 1.0]))
        settings["search"] = draw(st.sampled_from(["greedy", "sweep"]))
        settings["false_edges"] = draw(st.sampled_from([None, 0.25]))
    return events, weights, spec, settings


def in_graph(spec, settings, n_targets):
    """The template whose models in a graph are those that are fitted alone: more edges share the chance."""
    allowed = settings.get("false_edges")
    more = {} if allowed is None else {"false_edges": allowed * n_targets}
    return spec.model(**settings | more)


@pytest.mark.parametrize("unknown", [False, True])
@examples(40)
@given(st.data())
def test_a_graph_is_its_models(unknown, draw):
    """Also where some events are of no known label: those are in every target's residual."""
    events, weights, spec, settings = draw.draw(problems(unknown))
    chosen = draw.draw(st.none() | subsets(events.labels, min_size=1))
    source = CountedPasses(events.events, weights)
    template = in_graph(spec, settings, len(events.labels if chosen is None else chosen))
    graph = sm.InfluenceGraph(template, targets=chosen).fit(source)
    assert list(graph.models_) == list(events.labels if chosen is None else chosen)
    deepest = 0
    for label, model in graph.models_.items():
        own = CountedPasses(events.events, weights)
        alone = spec.model(label, **settings).fit(own)
        deepest = max(deepest, own.passes)
        assert model.influencers_ == alone.influencers_ == graph.influencers_[label]
        assert model.score_ == alone.score_
        assert model.trace_ == alone.trace_
        assert model.log_likelihood_ == alone.log_likelihood_
        assert_same(model.fitted.table, alone.fitted.table)
    assert source.passes == deepest


@examples(50)
@given(st.data())
def test_the_next_event_distribution(draw):
    events, weights, spec, settings = draw.draw(problems())
    graph = sm.InfluenceGraph(spec.model(**settings)).fit(events.events, sample_weight=weights)
    test = draw.draw(data(labels=events.labels, unknown=True))
    p = graph.predict_proba(test.events, unknown="ignore")
    assert p.shape == (test.n_events, len(events.labels))
    assert p.sum(axis=1) == pytest.approx(1, rel=1e-12)

    single = np.array(
        [model.predict_proba(test.events, unknown="ignore")[:, 0] for model in graph.models_.values()]
    ).T.reshape(p.shape)
    assert p == pytest.approx(single / single.sum(axis=1, keepdims=True), rel=1e-12)

    known = [(row, test.labels.index(z)) for row, z in zip(p, flat(test), strict=True) if z in test.labels]
    naive = sum(np.log(row[x]) for row, x in known)
    assert graph.log_likelihood(test.events, unknown="ignore") == pytest.approx(naive, rel=1e-9, abs=1e-12)
    squares = [sum((q - (x == y)) ** 2 for y, q in enumerate(row)) for row, x in known]
    naive = sum(squares) / len(squares) if squares else 0.0
    assert graph.brier_score(test.events, unknown="ignore") == pytest.approx(naive, rel=1e-9)

    mean = graph.log_likelihood(events.events) / events.n_events
    assert graph.score(events.events) == pytest.approx(mean, rel=1e-12)
    histories = [sequence[:n] for sequence in test.sequences for n in range(len(sequence))]
    assert (graph.predict_next(histories, unknown="ignore").probabilities == p).all()  # bit for bit


def flat(events):
    return [label for sequence in events.sequences for label in sequence]


def test_simulated_data_follow_the_next_event_distribution():
    """Frequencies after each history of one event, within five standard errors."""
    rng = np.random.default_rng(3)
    labels = ("A", "B", "C")
    train = Data(labels, [[labels[i] for i in rng.choice(3, 30, p=[0.5, 0.3, 0.2])] for _ in range(20)])
    graph = sm.InfluenceGraph(sm.MarkovChain(order=1)).fit(train.events)
    drawn = graph.simulate(3000, 3, random_state=5)
    assert drawn.to_lists() == graph.simulate(3000, 3, random_state=5).to_lists()
    p = graph.fitted.after(np.array([[0], [1], [2]], np.int32))
    codes = drawn.codes.reshape(3000, 3)
    for first in range(3):
        then = codes[codes[:, 1] == first, 2]
        share = np.bincount(then, minlength=3) / len(then)
        assert np.abs(share - p[first]) == pytest.approx(0, abs=5 * 0.5 / np.sqrt(len(then)))
        assert len(then) > 300


def test_the_next_event_needs_every_label():
    graph = sm.InfluenceGraph(sm.BSuMM(), targets=["A"]).fit([["A", "B"] * 3])
    with pytest.raises(SettingError, match="every label"):
        graph.predict_proba([["A"]])
