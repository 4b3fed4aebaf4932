"""A real browser: Debian's chromium, or a skip that says why."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import needs
import summarkov as sm
from browsing import EVENTS

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
#: What ``to_html`` takes; all else is about the browser.
OF_THE_PAGE = ("events", "y", "passages", "title", "sequences", "groups")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if why := needs.why_not("playwright", "chromium"):
        pytest.skip(why)
    from playwright import sync_api as api

    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=needs.CHROMIUM, args=ARGUMENTS)
        except api.Error as problem:
            pytest.skip(f"chromium does not start here: {str(problem).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def graph() -> sm.InfluenceGraph:
    """A graph of the web shop."""
    return sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Write the page of a model and open it; whatever goes wrong in it, or leaves it, fails the test."""
    contexts, wrong = [], []

    def open_page(model: Any, *, width: int = 1280, height: int = 800, **extra: Any) -> Any:
        path = tmp_path / f"page{len(contexts)}.html"
        shown = model.to_html(**{name: extra.pop(name) for name in OF_THE_PAGE if name in extra})
        if extra.pop("in_notebook", False):
            shown = f"<!DOCTYPE html><title>A notebook</title><p>In [1]:</p>{shown._repr_html_()}"
        path.write_text(shown, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **extra)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine may be slow, not wrong
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or wrong.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
