"""What axe-core finds wrong with the page for people who use it in another way: nothing."""

from typing import Any

import numpy as np
import pytest

import needs
import summarkov as sm
from browsing import EVENTS, node, timed
from summarkov.events.attributes import Attributes
from summarkov.evidence import words

pytestmark = pytest.mark.skipif(not needs.NEEDS["axe-core"].here, reason="no axe-core here")


@pytest.fixture(scope="module")
def graph() -> sm.InfluenceGraph:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5, gamma=0.4, false_edges=None)).fit(EVENTS)
    graph.confidence(EVENTS, n=10)
    return graph


def violations(page: Any) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(needs.AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_no_violations(visit: Any, graph: sm.InfluenceGraph, scheme: str, width: int) -> None:
    page = visit(graph, events=EVENTS, color_scheme=scheme, width=width, bypass_csp=True)
    page.locator(".aside summary").first.click()
    assert violations(page) == []
    page.locator(
        "#panel-label .influences [data-edge]"
    ).first.click()  # a label with the evidence for an edge
    assert violations(page) == []
    page.click("#view-matrix")
    page.click("#tab-whatif")
    page.fill("#next", "add to cart")
    page.keyboard.press("Enter")
    assert violations(page) == []
    page.click("#tab-data")
    assert violations(page) == []


def test_violations_where_histories_have_more(visit: Any) -> None:
    events, _, _ = timed(seed=3, n=60)
    halves = np.arange(60) % 2 == 0
    wards = Attributes(["ward=north", "ward=south"], np.column_stack([halves, ~halves]))
    events = events.with_attributes(wards)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback="6h", gamma=0.1, false_edges=None)).fit(events)
    page = visit(graph, events=events, sequences=3, bypass_csp=True)
    page.goto(page.url + "#tab=whatif&event=ask&gap=3600&event=pay&wait=60")
    page.reload()
    assert page.locator(".history .gap").count() == 2
    assert violations(page) == []
    page.click("#tab-sequences")
    assert violations(page) == []
    ticks = [[["ask", "pay"], ["wait"]], [["wait", "ask"], ["pay"], ["ask"]]] * 20
    page = visit(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(ticks), bypass_csp=True)
    page.goto(page.url + "#tab=whatif&event=ask&with=pay")
    page.reload()
    assert page.locator(".history .joined").inner_text() == "with"
    assert violations(page) == []


def test_violations_on_pages_of_outcomes(visit: Any) -> None:
    cases, results = [["ask", "wait"], ["ask", "pay"], ["pay"]] * 20, ["lost", "won", "won"] * 20
    outcome = sm.OutcomeModel(value="lost").fit(cases, results)
    page = visit(outcome, events=cases, y=results, sequences=3, bypass_csp=True)
    for tab in ("label", "whatif", "sequences", "data"):
        page.click(f"#tab-{tab}")
        assert violations(page) == [], tab


def test_edges_and_labels_are_told_in_words(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    edge = graph.edges_[0]
    said = page.locator('#picture .hit[data-edge="0"]').get_attribute("aria-label")
    assert said.startswith(f"{edge.influencer} {edge.effect} {edge.target}, {words.change(edge)}")
    assert node(page, graph, edge.target).get_attribute("aria-label").startswith(f"{edge.target}, ")


def test_forced_colours(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, forced_colors="active")
    line = page.locator("#picture .edge").first.evaluate("e => getComputedStyle(e).stroke")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert line not in ("none", paper)
    fill = page.locator("#panel-label .bar .fill").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert fill not in ("rgba(0, 0, 0, 0)", paper)
    pressed = page.locator("#view-graph").evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    )
    assert pressed[0] != pressed[1]
    assert page.locator("#view-graph").evaluate("e => getComputedStyle(e).forcedColorAdjust") == "none"
