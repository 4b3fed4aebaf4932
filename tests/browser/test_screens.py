"""The page in the dark, on a phone, on paper, and in the cell of a notebook."""

from typing import Any

import pytest

import summarkov as sm
from browsing import EVENTS, heading, node


def test_dark_and_light(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 24, 31)"
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert visit(graph, color_scheme="light").evaluate(colour) == "rgb(255, 255, 255)"


def test_a_narrow_screen(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, width=390, height=844, has_touch=True)
    for tab in ("label", "whatif", "data"):
        page.tap(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    stage = page.locator("#stage").bounding_box()
    assert stage["height"] > 300
    node(page, graph, "purchase").locator("circle").tap()
    page.tap("#tab-label")
    node(page, graph, "purchase").locator("circle").tap()
    assert heading(page) == "purchase"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_print_shows_everything(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, color_scheme="dark")
    page.emulate_media(media="print")
    for panel in ("label", "data"):
        assert page.locator(f"#panel-{panel}").is_visible()
    assert page.locator("#panel-whatif").is_hidden()  # a history of nothing
    assert page.locator(".aside summary").first.is_visible()
    assert page.locator(".tools").is_hidden()
    assert page.locator("#panel-groups").is_hidden()  # an empty panel is no page on paper
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#picture").get_attribute("viewBox").startswith("0 0 ")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#picture").get_attribute("viewBox") is None
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_picture_that_moves_is_placed_anew_when_it_rests(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    world, one = page.locator("#picture > g"), page.locator("#picture .node").first
    where = (
        "node => { const box = node.querySelector('circle').getBoundingClientRect(); return [box.x, box.y]; }"
    )
    own = one.get_attribute("transform")
    page.mouse.move(300, 400)
    page.mouse.wheel(0, -200)
    moving, during = page.evaluate(
        "() => [document.querySelector('#picture > g').getAttribute('transform'),"
        " document.querySelector('#picture .node').getAttribute('transform')]"
    )
    assert moving is None or during == own  # moved as a whole, if it has not come to rest already
    page.wait_for_selector("#picture > g:not([transform])")
    assert one.get_attribute("transform") != own
    at_rest = one.evaluate(where)
    page.click("#save-svg")  # which draws once more, whatever was going on
    assert one.evaluate(where) == at_rest
    assert world.get_attribute("transform") is None


def test_it_can_be_explored_in_a_notebook(visit: Any, graph: sm.InfluenceGraph) -> None:
    """The same, in a frame that reaches nothing else."""
    notebook = visit(graph, events=EVENTS, in_notebook=True, width=1000, height=900)
    frame = notebook.frame_locator("iframe")
    code = graph.labels_.index("purchase")
    frame.locator(f'#picture .node[data-code="{code}"] circle').click()
    assert frame.locator("#panel-label h2").inner_text() == "purchase"
    frame.locator("#tab-whatif").click()
    frame.locator("#next").fill("add to cart")
    frame.locator("#next").press("Enter")
    said = frame.locator(f'.forecast > [data-code="{code}"]').get_attribute("data-p")
    assert float(said) == pytest.approx(
        graph.predict_next([["add to cart"]]).probabilities[0, code], rel=1e-6
    )
    with notebook.expect_download() as saved:
        frame.locator("#save-svg").click()
    assert saved.value.suggested_filename == "influences.svg"
    frame.locator("#view-matrix").click()
    assert frame.locator("#matrix-box").is_visible()
    assert frame.locator("#copy-link").is_hidden()
    assert notebook.evaluate("document.querySelector('iframe').contentDocument") is None
    assert notebook.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"
