"""The page inside the cell of a notebook: the same, in a frame that reaches nothing else."""

from pathlib import Path
from typing import Any

import pytest

import summarkov as sm
from browsing import EVENTS


@pytest.fixture
def notebook(browser: Any, tmp_path: Path, graph: sm.InfluenceGraph) -> Any:
    """A page that shows what a notebook is given; whatever goes wrong in it fails the test."""
    shown = graph.to_html(events=EVENTS)._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><title>A notebook</title><p>In [1]:</p>{shown}", encoding="utf-8")
    wrong: list[str] = []
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url == path.as_uri() or wrong.append(request.url))
    page.goto(path.as_uri())
    yield page
    page.context.close()
    assert wrong == []


def test_it_can_be_explored(notebook: Any, graph: sm.InfluenceGraph) -> None:
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


def test_it_has_no_address_and_reaches_nothing(notebook: Any) -> None:
    frame = notebook.frame_locator("iframe")
    frame.locator("#view-matrix").click()
    assert frame.locator("#matrix-box").is_visible()
    assert frame.locator("#copy-link").is_hidden()
    assert notebook.evaluate("document.querySelector('iframe').contentDocument") is None
    assert notebook.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"
