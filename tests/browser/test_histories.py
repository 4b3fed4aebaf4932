"""A history is told on the page, and the page computes what Python computes for it: for every family and kind
of events."""

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from browsing import STEPS as LABELS
from browsing import timed
from summarkov.events.attributes import Attributes
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(120, 12, random_state=5)
FREE: dict[str, Any] = {"gamma": 0.1, "false_edges": None}
#: Models of events in a row, and of ticks.
FAMILIES = {
    "binary": sm.BSuMM(lookback=3, **FREE),
    "look-backs": sm.BSuMM(lookback={"search": 2, "browse": 7, "page error": None}, **FREE),
    "count": sm.CSuMM(lookback=5, cap=3, prior="base-rate", alpha=2.0, **FREE),
    "chain 2": sm.MarkovChain(order=2),
    "variable order": sm.VariableOrderChain(max_order=3, gamma=0.1),
    "learned look-backs": sm.BSuMM(lookback=(1, 3, None), **FREE),
}
OF_TICKS = {
    "binary": sm.BSuMM(lookback=2, **FREE),
    "delay": sm.BSuMM(lookback=4, delay=1, **FREE),
    "last": sm.OSuMM(lookback=3, **FREE),
    "first": sm.OSuMM(lookback=3, mask="first", **FREE),
    "count": sm.CSuMM(lookback=4, cap=3, **FREE),
    "tree": sm.TreeSuMM(gamma=0.1, lookbacks=(1, 3, None), counts=(2,), starts=(1, 3), pairs=True),
}


def histories(seed: int, n: int = 60) -> list[list[str]]:
    """Histories of any length, most of them never seen."""
    random = np.random.default_rng(seed)
    return [list(random.choice(EVENTS.labels, size=length)) for length in random.integers(0, 13, n)]


def ticks(seed: int, n: int) -> list[list[list[str]]]:
    rng = np.random.default_rng(seed)
    return [
        [list(rng.choice(LABELS, rng.integers(1, 4), replace=False)) for _ in range(rng.integers(1, 9))]
        for _ in range(n)
    ]


def ask(page: Any, cases: list[Any], more: list[dict[str, Any]] | None = None) -> list[list[dict[str, Any]]]:
    """What the page predicts after each history; ``more`` are its times and what holds of it."""
    return page.evaluate(
        "([cases, more]) => cases.map((one, i) => summarkov.predict(one, more[i]))",
        [cases, more or [{} for _ in cases]],
    )


def numbers(found: list[list[dict[str, Any]]], name: str = "own") -> Any:
    """One row per history and one column per label: each model's own probabilities, or those of all."""
    return np.array([[each[name] for each in case] for case in found])


def next_rows(model: Any, cases: list[list[str]]) -> Any:
    """``predict_proba`` for the event that follows each history."""
    events = sm.read_events([[*case, EVENTS.labels[0]] for case in cases], labels=EVENTS.labels)
    return model.predict_proba(events)[events.offsets[1:] - 1]


def own_rows(graph: sm.InfluenceGraph, histories: Any) -> Any:
    each = [model.predict_next(histories).probabilities[:, 0] for model in graph.models_.values()]
    return np.column_stack(each)


def same_reasons(page: Any, model: Any, cases: list[Any], more: list[Any], given: Any) -> None:
    """State, support, interval, and what would have been otherwise, as ``explain`` tells them."""
    told = page.evaluate(
        """([cases, more, label]) => cases.map((one, i) => [
        summarkov.predict(one, more[i]).find((each) => each.label === label),
        summarkov.otherwise(one, label, more[i])])""",
        [cases, more, model.target_[0]],
    )
    for (found, otherwise), history in zip(told, given, strict=True):
        why = model.explain(history)
        assert (found["support"], found["words"].replace(" →", "")) == (why.support, why.words)
        assert (found["low"], found["high"]) == pytest.approx(why.interval, rel=1e-5, abs=1e-9)
        assert [
            (each["label"], each["occurred"], each["support"], each["words"].replace(" →", ""))
            for each in otherwise
        ] == [(had.label, had.occurred, had.support, had.words) for had in why.counterfactuals]
        expected = [had.probability for had in why.counterfactuals]
        assert [each["own"] for each in otherwise] == pytest.approx(expected, abs=1e-9)


def influenced(graph: sm.InfluenceGraph) -> Any:
    """The first model that has influencers."""
    return next(graph.models_[x] for x, names in graph.influencers_.items() if names)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_graph(visit: Any, family: str) -> None:
    graph = sm.InfluenceGraph(FAMILIES[family]).fit(EVENTS)
    assert graph.influencers_["purchase"]
    page = visit(graph)
    cases = histories(seed=len(family))
    found = ask(page, cases)
    assert [each["label"] for each in found[0]] == list(graph.labels_)
    np.testing.assert_allclose(numbers(found, "p"), next_rows(graph, cases), rtol=0, atol=1e-9)
    own = np.column_stack([next_rows(model, cases)[:, 0] for model in graph.models_.values()])
    np.testing.assert_allclose(numbers(found), own, rtol=0, atol=1e-9)
    same_reasons(page, graph.models_["purchase"], cases[:25], [{}] * 25, cases[:25])


def test_one_model_of_several_labels(visit: Any) -> None:
    weight = np.linspace(0.1, 2.3, len(EVENTS))
    model = sm.BSuMM(["purchase", "search", "page error"], lookback=4, gamma=0.2, false_edges=None)
    model.fit(EVENTS, sample_weight=weight)
    page = visit(model)
    cases = histories(seed=9)
    found = ask(page, cases)
    assert [each["label"] for each in found[0]] == list(model.target_)
    np.testing.assert_allclose(numbers(found, "p"), next_rows(model, cases)[:, :3], rtol=0, atol=1e-9)


def test_a_graph_of_some_labels_is_not_normalised(visit: Any) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3), targets=["purchase", "search"]).fit(EVENTS)
    page = visit(graph)
    cases = histories(seed=2)
    for case, row in zip(cases, ask(page, cases), strict=True):
        for each in row:
            expected = graph.explain(case, each["label"]).probability
            assert each["p"] == pytest.approx(expected, abs=1e-9)
    page.locator(f'.node[data-code="{graph.labels_.index("browse")}"]').click()
    assert "no model here" in page.locator("#panel-label").inner_text()


def test_a_label_that_the_model_does_not_know(visit: Any) -> None:
    page = visit(sm.BSuMM("purchase").fit(EVENTS))
    said = page.evaluate(
        "() => { try { summarkov.predict(['?']); } catch (error) { return error.message; } }"
    )
    assert said == "the history holds a label that the model does not know"


def test_a_summary_written_in_python(visit: Any) -> None:
    class Parity:
        def state(self, history: Any, influencers: Any) -> str:
            return "odd" if sum(event in influencers for event in history) % 2 else "<b>even</b>"

        def n_states(self, n_influencers: int) -> int:
            return 2

    model = sm.SuMM("purchase", summary=Parity(), max_influencers=1).fit(EVENTS)
    page = visit(model)
    page.click("#tab-whatif")
    assert "which a page cannot compute" in page.locator("#panel-whatif").inner_text()
    page.click("#tab-label")
    page.locator(f'.node[data-code="{model.labels_.index("purchase")}"]').click()
    states = page.locator("#panel-label tbody.states tr").all_inner_texts()
    likely = sorted(model.table_, key=lambda row: -row.probabilities[0])
    assert [text.split("\t")[0].split("\n")[0].strip() for text in states] == [row.words for row in likely]


def test_a_label_that_never_occurred(visit: Any) -> None:
    events = sm.read_events([["a", "b", "a"], ["b", "a"]] * 10, labels=["a", "b", "never"])
    page = visit(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events))
    page.click("#tab-whatif")
    shown = page.locator("#panel-whatif .forecast li", has_text="never").first.inner_text()
    assert "never seen" in shown
    for tab in ("label", "whatif", "data"):
        page.click(f"#tab-{tab}")
        assert "Infinity" not in page.locator("body").inner_text()


@pytest.mark.parametrize(
    "settings", [{}, {"rounds": 4}, {"targets": ["purchase", "search"], "rounds": 2, "contexts": 0.3}]
)
def test_a_joint_model(visit: Any, settings: dict[str, Any]) -> None:
    model = sm.JointSuMM(gamma=0.05, penalty=3.0, **settings).fit(EVENTS)
    page = visit(model)
    cases = [*histories(seed=9), ["browse", "search"] * 13]
    found = ask(page, cases)
    names = list(model.influencers_)
    assert [each["label"] for each in found[0]] == names
    np.testing.assert_allclose(
        numbers(found, "p"), next_rows(model, cases)[:, : len(names)], rtol=0, atol=1e-9
    )
    assert any("so that all labels sum to 1" in each["words"] for each in found[-1])
    page.fill("#search", "purchase")
    page.press("#search", "Enter")
    rows = page.locator("table.recency tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(model.influencers_["purchase"])
    best = next(iter(model.gains_["purchase"]))
    assert rows.first.locator("th").inner_text() == best


@pytest.mark.parametrize("family", OF_TICKS)
def test_ticks(visit: Any, family: str) -> None:
    events = sm.read_events(ticks(seed=1, n=150))
    graph = sm.InfluenceGraph(OF_TICKS[family]).fit(events)
    assert any(graph.influencers_.values())
    cases = ticks(seed=2, n=60)
    page = visit(graph, events=events, sequences=5)
    np.testing.assert_allclose(numbers(ask(page, cases)), own_rows(graph, cases), rtol=0, atol=1e-9)
    same_reasons(page, influenced(graph), cases[:20], [{}] * 20, cases[:20])


@pytest.mark.parametrize(
    "model",
    [
        sm.BSuMM(lookback="9h", delay="1h", **FREE),
        sm.BSuMM(lookback={"ask": "2h", "pay": 2, "wait": None}, **FREE),
        sm.BSuMM(lookback=("1h", "5h", "1d"), **FREE),
        sm.CSuMM(lookback="12h", cap=2, **FREE),
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
    found = numbers(ask(page, labels, more))
    np.testing.assert_allclose(found, own_rows(graph, histories), rtol=0, atol=1e-9)
    same_reasons(page, influenced(graph), labels[:20], more[:20], [histories[i : i + 1] for i in range(20)])


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
    graph = sm.InfluenceGraph(OF_TICKS[family]).fit(events)
    used = {z for names in graph.influencers_.values() for z in names}
    assert used & set(named)
    page = visit(graph, events=events, sequences=3)
    given = [{"given": [named[int(not north)]]} for north, _ in regions[:40]]
    cases = [sequence[: i % 8] for i, sequence in enumerate(sequences[:40])]
    histories = sm.read_events(cases, labels=LABELS).with_attributes(Attributes(named, regions[:40]))
    np.testing.assert_allclose(
        numbers(ask(page, cases, given)), own_rows(graph, histories), rtol=0, atol=1e-9
    )
    same_reasons(page, influenced(graph), cases[:20], given[:20], [histories[i : i + 1] for i in range(20)])


@pytest.mark.parametrize("model", [None, sm.TreeSuMM()], ids=["BSuMM", "tree"])
def test_an_outcome(visit: Any, model: Any) -> None:
    rng = np.random.default_rng(5)
    cases = [list(rng.choice(LABELS, rng.integers(1, 7))) for _ in range(400)]
    results = ["lost" if rng.random() < (0.7 if "wait" in case else 0.1) else "won" for case in cases]
    outcome = sm.OutcomeModel(model, value="lost").fit(cases, results)
    assert "wait" in outcome.influencers_
    page = visit(outcome, events=cases, y=results, sequences=5, title="Cases")
    asks = [[], *cases[:60]]
    np.testing.assert_allclose(numbers(ask(page, asks))[:, 0], outcome.predict_open(asks), rtol=0, atol=1e-9)
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
    said = numbers(ask(page, asks))[:, 0]
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


def shown(page: Any, code: int) -> float:
    """The probability of a label in the list of "what if"."""
    return float(page.locator(f'.forecast li[data-code="{code}"]').get_attribute("data-own"))


def add(page: Any, *labels: str) -> None:
    for label in labels:
        page.fill("#next", label)
        page.press("#next", "Enter")


def test_with_or_then(visit: Any) -> None:
    rng = np.random.default_rng(1)
    days = [
        [list(rng.choice(["rain", "sun", "wind"], 2, replace=False)) for _ in range(8)] for _ in range(60)
    ]
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, required=("rain",), candidates=[])).fit(days)
    page = visit(graph)
    page.click("#tab-whatif")
    add(page, "rain", "sun")
    code = graph.labels_.index("wind")

    def expected(*ticks: list[str]) -> float:
        return float(graph.predict_next([list(ticks)]).probabilities[0, code])

    assert shown(page, code) == pytest.approx(expected(["rain"], ["sun"]), abs=1e-9)
    page.click('[data-joined="1"]')
    assert page.locator('[data-joined="1"]').inner_text() == "with"
    assert shown(page, code) == pytest.approx(expected(["rain", "sun"]), abs=1e-9)
    assert expected(["rain", "sun"]) != pytest.approx(expected(["rain"], ["sun"]), abs=1e-4)
    page.reload()
    assert page.locator('[data-joined="1"]').inner_text() == "with"
    page.go_back()
    assert page.locator('[data-joined="1"]').inner_text() == "then"


def test_how_much_later(visit: Any) -> None:
    events, _, _ = timed(seed=3, n=200, steps=(1, 2, 5))
    model = sm.BSuMM("pay", lookback="6h", required=("ask",), candidates=[]).fit(events)
    theta = {row.words: row.probabilities[0] for row in model.table_}
    code = model.labels_.index("pay")
    page = visit(model, events=events, sequences=2)
    page.click("#tab-whatif")
    add(page, "ask", "check")
    assert page.locator(".gap input").all()[0].input_value() == "1"
    assert shown(page, code) == pytest.approx(theta["ask"], abs=1e-9)
    later = page.locator(".now .gap input")
    later.fill("5")
    later.press("Tab")
    assert shown(page, code) == pytest.approx(theta["ask"], abs=1e-9)
    later = page.locator(".now .gap input")
    later.fill("5.5")
    later.press("Tab")
    assert shown(page, code) == pytest.approx(theta["no ask"], abs=1e-9)
    assert "wait=19800" in page.evaluate("location.hash")
    page.reload()
    assert shown(page, code) == pytest.approx(theta["no ask"], abs=1e-9)
    page.locator("#unit").select_option("minutes")
    assert page.locator(".now .gap input").input_value() == "330"


def test_what_holds(visit: Any) -> None:
    rng = np.random.default_rng(2)
    sequences, wards = [], []
    for _ in range(200):
        is_north = bool(rng.random() < 0.3)
        sequences.append(
            [str(x) for x in rng.choice(["a", "b"], 8, p=[0.8, 0.2] if is_north else [0.3, 0.7])]
        )
        wards.append([is_north, not is_north])
    named = ["ward=north", "ward=south"]
    events = sm.read_events(sequences).with_attributes(Attributes(named, wards))
    model = sm.BSuMM("a", lookback=1).fit(events)
    assert len(model.influencers_) == 1
    page = visit(model, events=events, sequences=2)
    page.click("#tab-whatif")
    code = model.labels_.index("a")
    choice = page.locator('[data-column="ward"]')
    assert choice.locator("option").all_inner_texts() == ["north", "south"]
    north, south = (
        model.predict_next(events[[wards.index([is_north, not is_north])]]).probabilities[0, 0]
        for is_north in (True, False)
    )
    assert shown(page, code) == pytest.approx(south, abs=1e-9)  # the most frequent value
    choice.select_option("north")
    assert shown(page, code) == pytest.approx(north, abs=1e-9)
    page.reload()
    assert shown(page, code) == pytest.approx(north, abs=1e-9)
    page.click("#tab-sequences")
    first = named[0] if wards[0][0] else named[1]
    assert page.locator("#holds").inner_text() == f"Of this sequence holds: {first}."
