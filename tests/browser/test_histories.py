"""The page computes what Python computes for ticks, times, attributes and outcomes."""

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from browsing import STEPS as LABELS
from browsing import timed
from summarkov.events.attributes import Attributes


def ticks(seed: int, n: int) -> list[list[list[str]]]:
    rng = np.random.default_rng(seed)
    return [
        [list(rng.choice(LABELS, rng.integers(1, 4), replace=False)) for _ in range(rng.integers(1, 9))]
        for _ in range(n)
    ]


TEMPLATES = {
    "binary": sm.BSuMM(lookback=2, gamma=0.1, false_edges=None),
    "delay": sm.BSuMM(lookback=4, delay=1, gamma=0.1, false_edges=None),
    "last": sm.OSuMM(lookback=3, gamma=0.1, false_edges=None),
    "first": sm.OSuMM(lookback=3, mask="first", gamma=0.1, false_edges=None),
    "count": sm.CSuMM(lookback=4, cap=3, gamma=0.1, false_edges=None),
    "tree": sm.TreeSuMM(gamma=0.1, lookbacks=(1, 3, None), counts=(2,), starts=(1, 3), pairs=True),
}


def asked(page: Any, cases: list[Any], more: list[dict[str, Any]] | None = None) -> Any:
    """The models' own probabilities, one row per history and one column per label."""
    found = page.evaluate(
        "([cases, more]) => cases.map((one, i) => summarkov.predict(one, more[i]).map(({ own }) => own))",
        [cases, more or [{} for _ in cases]],
    )
    return np.array(found)


def own_rows(graph: sm.InfluenceGraph, histories: Any) -> Any:
    each = [model.predict_next(histories).probabilities[:, 0] for model in graph.models_.values()]
    return np.column_stack(each)


def same_reasons(page: Any, graph: sm.InfluenceGraph, cases: list[Any], more: list[Any], given: Any) -> None:
    """State, support, and what would have been otherwise, as ``explain`` tells them."""
    label, model = next((x, graph.models_[x]) for x, names in graph.influencers_.items() if names)
    told = page.evaluate(
        """([cases, more, label]) => cases.map((one, i) => [
        summarkov.predict(one, more[i]).find((each) => each.label === label),
        summarkov.otherwise(one, label, more[i])])""",
        [cases, more, label],
    )
    for (found, otherwise), history in zip(told, given, strict=True):
        why = model.explain(history)
        assert (found["support"], found["words"]) == (why.support, why.words)
        assert [(each["label"], each["occurred"], each["words"]) for each in otherwise] == [
            (had.label, had.occurred, had.words) for had in why.counterfactuals
        ]
        expected = [had.probability for had in why.counterfactuals]
        assert [each["own"] for each in otherwise] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("family", TEMPLATES)
def test_ticks(visit: Any, family: str) -> None:
    events = sm.read_events(ticks(seed=1, n=150))
    graph = sm.InfluenceGraph(TEMPLATES[family]).fit(events)
    assert any(graph.influencers_.values())
    cases = ticks(seed=2, n=60)
    page = visit(graph, events=events, sequences=5)
    np.testing.assert_allclose(asked(page, cases), own_rows(graph, cases), rtol=0, atol=1e-9)
    same_reasons(page, graph, cases[:20], [{}] * 20, cases[:20])


@pytest.mark.parametrize(
    "model",
    [
        sm.BSuMM(lookback="9h", delay="1h", gamma=0.1, false_edges=None),
        sm.BSuMM(lookback={"ask": "2h", "pay": 2, "wait": None}, gamma=0.1, false_edges=None),
        sm.BSuMM(lookback=("1h", "5h", "1d"), gamma=0.1, false_edges=None),
        sm.CSuMM(lookback="12h", cap=2, gamma=0.1, false_edges=None),
        sm.TreeSuMM(gamma=0.1, lookbacks=("2h", "6h", None), starts=(1, 3)),
    ],
    ids=["delay", "own", "learned", "count", "tree"],
)
def test_times(visit: Any, model: Any) -> None:
    events, _, _ = timed(seed=3, n=200)
    graph = sm.InfluenceGraph(model).fit(events)
    assert any(graph.influencers_.values())
    histories, labels, times = timed(seed=4, n=60)
    page = visit(graph, events=events, sequences=4)
    more = [{"times": each} for each in times]
    found = asked(page, labels, more)
    np.testing.assert_allclose(found, own_rows(graph, histories), rtol=0, atol=1e-9)
    same_reasons(page, graph, labels[:20], more[:20], [histories[i : i + 1] for i in range(20)])


@pytest.mark.parametrize("family", ["binary", "tree"])
def test_attributes(visit: Any, family: str) -> None:
    rng = np.random.default_rng(0)
    sequences, regions = [], []
    for _ in range(300):
        is_north = rng.random() < 0.5
        share = [0.2, 0.6, 0.1, 0.1] if is_north else [0.4, 0.1, 0.1, 0.4]
        sequences.append([str(x) for x in rng.choice(LABELS, 8, p=share)])
        regions.append([is_north, not is_north])
    named = ["region=north", "region=south"]
    events = sm.read_events(sequences).with_attributes(Attributes(named, regions))
    graph = sm.InfluenceGraph(TEMPLATES[family]).fit(events)
    used = {z for names in graph.influencers_.values() for z in names}
    assert used & set(named)
    page = visit(graph, events=events, sequences=3)
    given = [{"given": [named[int(not north)]]} for north, _ in regions[:40]]
    cases = [sequence[: i % 8] for i, sequence in enumerate(sequences[:40])]
    histories = sm.read_events(cases, labels=LABELS).with_attributes(Attributes(named, regions[:40]))
    np.testing.assert_allclose(asked(page, cases, given), own_rows(graph, histories), rtol=0, atol=1e-9)
    same_reasons(page, graph, cases[:20], given[:20], [histories[i : i + 1] for i in range(20)])


@pytest.mark.parametrize("model", [None, sm.TreeSuMM()], ids=["BSuMM", "tree"])
def test_an_outcome(visit: Any, model: Any) -> None:
    rng = np.random.default_rng(5)
    cases = [list(rng.choice(LABELS, rng.integers(1, 7))) for _ in range(400)]
    results = ["lost" if rng.random() < (0.7 if "wait" in case else 0.1) else "won" for case in cases]
    outcome = sm.OutcomeModel(model, value="lost").fit(cases, results)
    assert "wait" in outcome.influencers_
    page = visit(outcome, events=cases, y=results, sequences=5, title="Cases")
    asks = [[], *cases[:60]]
    np.testing.assert_allclose(asked(page, asks)[:, 0], outcome.predict_open(asks), rtol=0, atol=1e-9)
    assert page.locator("#panel-label h2").inner_text() == "outcome=lost"
    n = sum(result == "lost" for result in results)
    assert f"({n} of 400)" in page.locator("#panel-label").inner_text()
    assert page.locator("#panel-label .influences li").count() == len(outcome.influences_)
    assert page.locator("#picture .node:not(.gone)").count() == 5
    page.click("#tab-sequences")
    assert page.locator(".events .event").last.inner_text() in ("outcome=lost", "outcome=lost: no")


def test_an_outcome_that_is_already_reached(visit: Any) -> None:
    rng = np.random.default_rng(5)
    cases = [list(rng.choice(LABELS, rng.integers(3, 9))) for _ in range(400)]
    outcome = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["wait"]), contains="pay", after=2).fit(cases)
    page = visit(outcome, events=cases)
    asks = [[], ["wait"], ["ask", "pay"], ["pay", "wait"], ["ask"] * 5, ["wait"] * 12]
    said = asked(page, asks)[:, 0]
    np.testing.assert_allclose(said, outcome.predict_open(asks), rtol=0, atol=1e-9)
    assert said[2:4].tolist() == [1.0, 1.0]
    told = page.locator("#panel-label").inner_text()
    n = sum("pay" in case[:2] for case in cases)
    assert f"Left out: {n} cases, reached it within 2 events." in told
    assert f"Of all cases whose outcome is known: {sum('pay' in case for case in cases) // 4}." in told
    page.click("#tab-whatif")
    shown = page.locator(".forecast > li .number").first
    for label in ("wait", "ask", "pay"):
        page.fill("#next", label)
        page.press("#next", "Enter")
        assert (shown.inner_text() == "already reached") == (label == "pay")
