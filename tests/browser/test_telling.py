"""A history is told on the page: what came together, how much later, what holds; a link keeps it."""

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from browsing import timed
from summarkov.events.attributes import Attributes


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
