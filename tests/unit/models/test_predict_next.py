"""What comes next after many histories, and predictions with the places that they are for."""

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(80, 15, random_state=2)
HISTORIES = [sequence[:n] for n, sequence in enumerate(EVENTS.to_lists()[:15])] + [["search"] * 40]


@pytest.fixture(scope="module")
def graph():
    return sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(EVENTS)


def test_one_row_per_history_and_one_column_per_label(graph):
    after = graph.predict_next({"ann": ["search"], "bob": []})
    assert (len(after), after.ids, after.outcomes) == (2, ("ann", "bob"), graph.labels_)
    table = after.to_frame("pyarrow")
    assert table.column_names == ["sequence", "position", *(f"p({x})" for x in graph.labels_)]
    assert table["sequence"].to_pylist() == ["ann", "bob"]
    assert table["position"].to_pylist() == [2, 1]
    assert np.asarray(after).sum(axis=1) == pytest.approx([1, 1], rel=1e-12)
    assert after.most_likely == tuple(graph.labels_[x] for x in np.asarray(after).argmax(axis=1))
    assert np.asarray(after, np.float32).dtype == np.float32


def test_the_most_likely_labels_of_each_history(graph):
    after = graph.predict_next(HISTORIES)
    for k in (1, 3, 99):
        for row, found in zip(after.probabilities.tolist(), after.top(k), strict=True):
            p = dict(zip(graph.labels_, row, strict=True))
            assert found == tuple(sorted(p.items(), key=lambda each: (-each[1], each[0])))[:k]
    assert tuple(label for ((label, _),) in after.top(1)) == after.most_likely
    assert graph.predict_next([]).top(k) == ()


def test_equally_likely_labels_are_in_the_order_of_the_alphabet():
    """Of b, c and a, which are seen equally often; d is seen once more."""
    model = sm.InfluenceGraph(sm.MarkovChain(order=0)).fit([["b", "c", "a", "d", "d"]])
    (found,) = model.predict_next([[]]).top(3)
    assert [label for label, _ in found] == ["d", "a", "b"]
    assert found[1][1] == found[2][1] < found[0][1]
    one = sm.MarkovChain("a", order=0).fit([["b", "c", "a", "d", "d"]])
    (rare,) = one.predict_next([[]]).top(2)
    assert [label for label, _ in rare] == [sm.OTHER, "a"]


def test_what_histories_may_not_be(graph):
    with pytest.raises(DataError, match="a sequence must be a list of labels, not 'search'; wrap it"):
        graph.predict_next(["search", "browse"])
    with pytest.raises(UnknownLabelError, match="unknown label 'serach'; did you mean 'search'"):
        graph.predict_next([["serach"]])
    known = graph.predict_next([["search", "serach"]], unknown="ignore")
    assert np.asarray(known).sum() == pytest.approx(1, rel=1e-12)


def test_predictions_name_their_places(graph):
    found = graph.predictions({"ann": ["search", "browse"], "bob": ["browse"]})
    assert np.array_equal(found, graph.predict_proba([["search", "browse"], ["browse"]]))
    rows = found.to_frame("pyarrow").select(["sequence", "position", "event"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("ann", 1, "search"),
        ("ann", 2, "browse"),
        ("bob", 1, "browse"),
    ]
    odd = graph.predictions([["search", "zebra"]], unknown="ignore")
    assert odd.events == ("search", "zebra")


def test_next_events_are_ranked_and_explained():
    history = ["search", "add to cart"]
    whole = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    found = whole.explain_next(history)
    likely = np.asarray(whole.predict_next([history]))[0]
    assert [each.probability for each in found] == sorted(likely.tolist(), reverse=True)
    assert {each.target: each.probability for each in found} == dict(zip(whole.labels_, likely, strict=True))
    first = whole.explain_next(history, most=1)[0]
    own = whole.explain(history, first.target)
    assert (first.state, first.support) == (own.state, own.support)
    times = first.probability / own.probability
    assert first.interval == pytest.approx([min(1, times * bound) for bound in own.interval])
    assert all(each.interval[0] <= each.probability <= each.interval[1] for each in found)
    assert own.counterfactuals
    assert not first.counterfactuals
    some = sm.InfluenceGraph(sm.BSuMM(lookback=5), targets=["purchase", "search"]).fit(EVENTS)
    assert [each.probability for each in some.explain_next(history)] == sorted(
        (some.explain(history, x).probability for x in ("purchase", "search")), reverse=True
    )
    with pytest.raises(UnknownLabelError, match="pruchase"):
        whole.explain_next(["pruchase"])
    with pytest.raises(SettingError, match="most must be a whole number from 1 on, not 0"):
        whole.explain_next(history, most=0)
