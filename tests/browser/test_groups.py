"""Groups of sequences side by side in the page."""

from typing import Any

import pytest

import summarkov as sm
from browsing import EVENTS, heading
from summarkov.wording import percent

FIRST = EVENTS[:150].to_lists()
#: In the second group hardly anybody buys after a page error, and coupons are rarer.
SECOND = [
    [x for i, x in enumerate(s) if x != "get coupon" or i % 2] + ["contact support"] * ("page error" in s)
    for s in EVENTS[150:].to_lists()
]


@pytest.fixture(scope="module")
def graph() -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(FIRST + SECOND)


@pytest.fixture(scope="module")
def found() -> Any:
    return sm.compare_groups(sm.BSuMM(lookback=5), FIRST, SECOND, names=("before", "<after>"))


def test_the_groups_are_told_side_by_side(visit: Any, graph: sm.InfluenceGraph, found: Any) -> None:
    page = visit(graph, groups=found, width=390)
    page.click("#tab-groups")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    said = page.locator("#compared > p").first.inner_text()
    assert "before, 150 sequences; " in said
    assert "<after>, 150 sequences" in said
    n = len(found.differing_labels()), len(found.differing())
    assert n[0] > 0
    assert f"{n[0]} of 10 labels and {n[1]} of {len(found.edges)} influences surely differ." in said
    one = found.labels[0]
    row = page.locator(".grouped.labels tbody tr").first
    assert f"{percent(one.reach_first)} → {percent(one.reach_second)}" in row.inner_text()
    assert row.locator("strong").count() == (one.reach.low > 1 or one.reach.high < 1)
    rows = page.locator(".grouped.influences tbody tr")
    assert rows.count() == len(found.edges)
    edge = found.edges[0]
    assert (
        f"next event at {percent(edge.second.rate_with)} of moments with it, otherwise "
        f"{percent(edge.second.rate_without)}" in rows.first.inner_text()
    )
    hollow = sum((not each.in_first) + (not each.in_second) for each in found.edges)
    assert page.locator(".grouped.influences .group.hollow").count() == hollow
    assert "tab=groups" in page.url
    row.locator("button").first.click()
    assert heading(page) == one.label


def test_several_groups_are_chosen_from(visit: Any, graph: sm.InfluenceGraph, found: Any) -> None:
    other = sm.compare_groups(sm.BSuMM(lookback=5), FIRST, FIRST, names=("before", "again"))
    page = visit(graph, groups=[found, other])
    page.click("#tab-groups")
    assert page.locator("#compared h2").inner_text() == "before and <after>"
    page.select_option("#which-groups", "1")
    assert page.locator("#compared h2").inner_text() == "before and again"
    assert "0 of 10 labels and 0 of" in page.locator("#compared > p").first.inner_text()
