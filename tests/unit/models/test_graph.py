"""``InfluenceGraph``: all labels at once."""

import math
import re
import threading

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.models import learning

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

RULES = {
    "A": (("B", "C"), {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}),
    "B": (("B", "C"), {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}),
    "C": 0.3,
    "D": 0.2,
    "E": 0.1,
}


@pytest.fixture(scope="module")
def events():
    return sm.Dynamics(RULES, lookback=3).simulate(600, 10, random_state=6)


def test_edges_are_sorted_by_evidence(events):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events)
    edges = graph.edges_
    order = [(e.is_thin, e.is_self, e.effect in ("mixed", "unclear"), -e.evidence) for e in edges]
    assert order == sorted(order)
    assert {e.is_self for e in edges} == {True, False}
    for edge in edges:
        sure = {"amplifies": edge.low, "inhibits": 1 / edge.high if edge.high else 1.0}.get(edge.effect, 1.0)
        assert edge.evidence == pytest.approx(math.log(sure), abs=1e-12)
    assert {(e.influencer, e.target) for e in edges} == {
        (z, x) for x, found in graph.influencers_.items() for z in found
    }
    assert [(e.influencer, e.effect) for e in edges if e.target == "A"] == [
        ("C", "inhibits"),
        ("B", "amplifies"),
    ]


def test_some_targets(events):
    done = []
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3), targets={"B", "A"})
    graph.fit(events, progress=lambda *each: done.append(each))
    assert list(graph.models_) == ["A", "B"]
    assert graph.labels_ == ("A", "B", "C", "D", "E")
    assert {edge.target for edge in graph.edges_} == {"A", "B"}
    assert graph.explain(["C"], "A").words == "no B, C"
    words = "the next-event distribution needs a model for every label; fit the graph without targets="
    for call in (
        *(graph.predict_proba, graph.log_likelihood, graph.score, graph.brier_score, graph.predict_next),
        *(graph.predictions, graph.predict, lambda _: graph.simulate(1, 1)),
    ):
        with pytest.raises(SettingError, match=re.escape(words)):
            call([["A"]])
    with pytest.raises(UnknownLabelError, match="unknown label 'C'; the labels are 'A', 'B'"):
        graph.explain([], "C")
    assert done == sorted(set(done))
    assert done[-1] == (2, 2)


@pytest.mark.parametrize(
    "template",
    [sm.BSuMM(lookback=None), sm.OSuMM(gamma=0.2, false_edges=None), sm.MarkovChain(order=2)],
    ids=repr,
)
def test_threads_do_not_matter(template, events):
    before = threading.active_count()
    weights = np.linspace(0.1, 2, len(events))
    one = sm.InfluenceGraph(template).fit(events, sample_weight=weights)
    many = sm.InfluenceGraph(template, n_jobs=3).fit(events, sample_weight=weights)
    assert many.to_document() == one.to_document()
    assert threading.active_count() == before  # none is left behind


@pytest.mark.parametrize("template", [sm.BSuMM(), sm.TreeSuMM()], ids=["B", "Tree"])
def test_targets_whose_tables_do_not_fit_are_searched_one_after_the_other(template, events, monkeypatch):
    together = sm.InfluenceGraph(template).fit(events)
    sure = together.confidence(events, n=3)
    monkeypatch.setattr(learning, "TABLES_BYTES", 1)
    done = []
    alone = sm.InfluenceGraph(template).fit(events, progress=lambda n, total: done.append((n, total)))
    assert repr(alone.confidence(events, n=3)) == repr(sure)  # which may hold NaN
    assert repr(alone.to_document()) == repr(together.to_document())
    assert [n for n, _ in done if n] == [1, 2, 3, 4, 5]
