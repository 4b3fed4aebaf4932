"""Names and values of attributes, groups and outcomes are text in pages and notebooks, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from summarkov.events.attributes import Attributes

SCRIPT = "<script>alert(1)</script>"
#: A name without "=", which no column of an attribute has.
COLUMN = "</script><script>alert(2)</script><b>"
VALUES = [SCRIPT, "<img src=x onerror=alert(3)>", '" onmouseover="alert(4)', "__proto__", "\u202e\x1b[31m"]


@pytest.fixture(scope="module")
def events() -> sm.EventSequences:
    """Sequences whose events depend on a hostile value of a hostile column."""
    rng = np.random.default_rng(1)
    held = np.arange(200) % len(VALUES)
    shares = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4], [0.4, 0.3, 0.3]]
    lists = {
        f"{SCRIPT}{n}": rng.choice([SCRIPT, "b", "c"], 6, p=shares[at]).tolist() for n, at in enumerate(held)
    }
    names = sorted(f"{COLUMN}={value}" for value in VALUES)
    present = [[name == f"{COLUMN}={VALUES[at]}" for name in names] for at in held]
    return sm.read_events(lists).with_attributes(Attributes(names, present))


def is_text(page: Any) -> bool:
    """Whether nothing was taken for markup."""
    return page.evaluate(
        "[document.scripts.length, document.images.length, document.getElementsByTagName('b').length]"
    ) == [2, 0, 0]


def through(page: Any) -> None:
    """Open all tabs, and choose all that can be chosen in them."""
    for tab in page.locator("[role=tab]").all():
        if tab.is_visible():
            tab.click()
            assert is_text(page)
            for select in page.locator("select:visible").all():
                for number in range(select.locator("option").count()):
                    select.select_option(index=number)
                    assert is_text(page)


def test_attributes_of_a_graph(visit: Any, events: sm.EventSequences) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, false_edges=None)).fit(events)
    assert any(edge.influencer.startswith(COLUMN) for edge in graph.edges_)
    page = visit(graph, events=events, sequences=5, title=COLUMN)
    assert page.title().startswith("</script>")
    for node in page.locator("#picture .node").all():
        node.dispatch_event("keydown", {"key": "Enter"})
        assert is_text(page)
    through(page)


def test_an_outcome(visit: Any, events: sm.EventSequences) -> None:
    model = sm.OutcomeModel(sm.BSuMM(lookback=None, false_edges=None), COLUMN, value=VALUES[1]).fit(events)
    page = visit(model, events=events, sequences=5)
    through(page)
    assert "<img src=x onerror=alert(3)>" in page.locator("body").inner_text()


def test_groups(visit: Any, events: sm.EventSequences) -> None:
    plain = events.with_attributes(None)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, false_edges=None)).fit(plain)
    found = sm.compare_groups(sm.BSuMM(lookback=1, false_edges=None), events, by=COLUMN)
    assert any(SCRIPT in name for name in found.names)
    through(visit(graph, events=plain, groups=found))
