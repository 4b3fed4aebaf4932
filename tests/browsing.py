"""What the tests of the page have in common: events, and where things are on it."""

from typing import Any

from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(300, 20, seed=3)


def node(page: Any, graph: Any, label: str) -> Any:
    return page.locator(f'#picture .node[data-code="{graph.labels_.index(label)}"]')


def shown_edges(page: Any) -> int:
    return page.locator("#picture .edge:not(.gone)").count()


def heading(page: Any) -> str:
    return page.locator("#panel-label h2").inner_text()


def history(page: Any) -> list[str]:
    return page.locator(".history bdi").all_inner_texts()
