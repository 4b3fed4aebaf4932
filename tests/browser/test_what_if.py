"""The page computes what Python computes, for many histories; test_histories.py has the other families."""

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(120, 12, random_state=5)

FAMILIES = {
    "binary": sm.BSuMM(lookback=3, gamma=0.1, false_edges=None),
    "look-backs": sm.BSuMM(
        lookback={"search": 2, "browse": 7, "page error": None}, gamma=0.1, false_edges=None
    ),
    "count": sm.CSuMM(lookback=5, cap=3, gamma=0.1, false_edges=None, prior="base-rate", alpha=2.0),
    "chain 2": sm.MarkovChain(order=2),
    "variable order": sm.VariableOrderChain(max_order=3, gamma=0.1),
    "learned look-backs": sm.BSuMM(lookback=(1, 3, None), gamma=0.1, false_edges=None),
}


def histories(seed: int, n: int = 60) -> list[list[str]]:
    """Histories of any length, most of them never seen."""
    random = np.random.default_rng(seed)
    return [list(random.choice(EVENTS.labels, size=length)) for length in random.integers(0, 13, n)]


def ask(page: Any, cases: list[list[str]]) -> list[list[dict[str, Any]]]:
    return page.evaluate("cases => cases.map(window.summarkov.predict)", cases)


def next_rows(model: Any, cases: list[list[str]]) -> Any:
    """``predict_proba`` for the event that follows each history."""
    events = sm.read_events([[*case, EVENTS.labels[0]] for case in cases], labels=EVENTS.labels)
    return model.predict_proba(events)[events.offsets[1:] - 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_graph(visit: Any, family: str) -> None:
    graph = sm.InfluenceGraph(FAMILIES[family]).fit(EVENTS)
    assert graph.influencers_["purchase"]
    page = visit(graph)
    cases = histories(seed=len(family))
    found = ask(page, cases)
    assert [each["label"] for each in found[0]] == list(graph.labels_)
    shown = np.array([[each["p"] for each in case] for case in found])
    np.testing.assert_allclose(shown, next_rows(graph, cases), rtol=0, atol=1e-9)
    own = np.array([[each["own"] for each in case] for case in found])
    for column, model in enumerate(graph.models_.values()):
        np.testing.assert_allclose(own[:, column], next_rows(model, cases)[:, 0], rtol=0, atol=1e-9)
    compare_explanations(page, graph.models_["purchase"], cases[:25])


def compare_explanations(page: Any, model: Any, cases: list[list[str]]) -> None:
    """State, support, and what would have been otherwise, as ``explain`` tells them."""
    label = model.target_[0]
    told = page.evaluate(
        """([cases, label]) => cases.map((history) => [
        summarkov.predict(history).find((each) => each.label === label), summarkov.otherwise(history, label)])
    """,
        [cases, label],
    )
    for case, (found, otherwise) in zip(cases, told, strict=True):
        why = model.explain(case)
        assert (found["support"], found["words"].replace(" →", "")) == (why.support, why.words)
        assert (found["low"], found["high"]) == pytest.approx(why.interval, rel=1e-5, abs=1e-9)
        assert [(each["label"], each["occurred"]) for each in otherwise] == [
            (had.label, had.occurred) for had in why.counterfactuals
        ]
        for each, had in zip(otherwise, why.counterfactuals, strict=True):
            assert each["own"] == pytest.approx(had.probability, abs=1e-9)
            assert (each["support"], each["words"].replace(" →", "")) == (had.support, had.words)


def test_one_model_of_several_labels(visit: Any) -> None:
    weight = np.linspace(0.1, 2.3, len(EVENTS))
    model = sm.BSuMM(["purchase", "search", "page error"], lookback=4, gamma=0.2, false_edges=None)
    model.fit(EVENTS, sample_weight=weight)
    page = visit(model)
    cases = histories(seed=9)
    found = ask(page, cases)
    assert [each["label"] for each in found[0]] == list(model.target_)
    shown = np.array([[each["p"] for each in case] for case in found])
    np.testing.assert_allclose(shown, next_rows(model, cases)[:, :3], rtol=0, atol=1e-9)


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
    shown = np.array([[each["p"] for each in case] for case in found])
    np.testing.assert_allclose(shown, next_rows(model, cases)[:, : len(names)], rtol=0, atol=1e-9)
    assert any("so that all labels sum to 1" in each["words"] for each in found[-1])
    page.fill("#search", "purchase")
    page.press("#search", "Enter")
    rows = page.locator("table.recency tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(model.influencers_["purchase"])
    best = next(iter(model.gains_["purchase"]))
    assert rows.first.locator("th").inner_text() == best
