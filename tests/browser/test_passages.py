"""The sentences behind an edge, in the page: found, chosen, by keyboard, narrow, and whatever they hold."""

from typing import Any

import pytest

import summarkov as sm
from summarkov.text import Passages, Sentence, TextEvents

SEQUENCES = [["rain", "flood", "sun"], ["rain", "sun", "rain", "flood"], ["sun", "calm"]] * 20


def sentences(sequences: Any, text: Any = lambda label, s, n: f"It was {label} in {s}.") -> Any:
    return tuple(
        Sentence(f"day {s}", 3 * n + 1, text(label, s, n))
        for s, labels in enumerate(sequences)
        for n, label in enumerate(labels)
    )


@pytest.fixture(scope="module")
def found() -> TextEvents:
    return TextEvents(sm.EventSequences.from_lists(SEQUENCES), sentences(SEQUENCES))


@pytest.fixture(scope="module")
def graph(found: TextEvents) -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(found.events)


def number_of(graph: sm.InfluenceGraph, influencer: str, target: str) -> int:
    return [(e.influencer, e.target) for e in graph.edges_].index((influencer, target))


def shown(page: Any) -> list[list[str]]:
    """The lines of every passage."""
    found = page.locator("ol.passages > li").all_inner_texts()
    return [[line for line in text.split("\n") if line] for text in found]


def words(page: Any) -> str:
    return page.locator("#which-words").inner_text()


def show_all(page: Any) -> None:
    more = page.locator("#panel-label button.more", has_text="Show all")
    if more.count():
        more.click()


def open_label(page: Any, label: str) -> None:
    page.fill("#search", label)
    page.keyboard.press("Enter")


def test_the_passages_are_those_of_the_library(visit: Any, graph: Any, found: TextEvents) -> None:
    page = visit(graph, passages=found)
    for target in graph.models_:
        open_label(page, target)
        for edge in (e for e in graph.edges_ if e.target == target):
            page.select_option("#which", str(number_of(graph, edge.influencer, target)))
            expected = found.passages(graph, target, edge.influencer)
            assert f"{number_words(expected)} where {target} occurred with {edge.influencer} " in words(page)
            exceptions = edge.effect == "inhibits" and expected.total > 0
            assert ("these are the exceptions" in words(page)) == exceptions
            show_all(page)
            assert shown(page) == [
                [
                    f"{p.target.document}, sentence {p.influencer.number} · {edge.influencer} · "
                    f"{'just before' if p.lag == 1 else '2 events before'}",
                    p.influencer.text,
                    f"{p.target.document}, sentence {p.target.number} · {target}",
                    p.target.text,
                ]
                for p in expected
            ]
        page.select_option("#which", "any")
        every = found.passages(graph, target)
        assert f"{number_words(every)} where {target} occurred, whatever came before" in words(page)
        show_all(page)
        assert [lines[1] for lines in shown(page)] == [p.target.text for p in every]


def number_words(found: Passages) -> str:
    if found.total == len(found):
        return "There are no places" if not found.total else f"The {found.total} places"
    return f"{len(found)} of {found.total} places"


def test_an_edge_leads_to_its_passages(visit: Any, graph: Any, found: TextEvents) -> None:
    page = visit(graph, passages=found)
    number = number_of(graph, "rain", "flood")
    hit = page.locator(f'.hit[data-edge="{number}"]')
    hit.dispatch_event("pointermove")
    total = found.passages(graph, "flood", "rain").total
    assert f"click for {total} passages" in page.locator("#tip").inner_text()
    for kind in ("pointerdown", "pointerup"):
        hit.dispatch_event(kind, {"pointerId": 1, "button": 0, "bubbles": True})
    assert page.locator("#panel-label h2").inner_text() == "flood"
    assert page.locator("#which").input_value() == str(number)
    assert page.locator("#passages").is_visible()
    # while a history is being made, an edge is no way out of it
    page.click("#tab-whatif")
    for kind in ("pointerdown", "pointerup"):
        hit.dispatch_event(kind, {"pointerId": 1, "button": 0, "bubbles": True})
    assert page.locator("#panel-whatif").is_visible()


def test_other_events_than_those_of_the_model_are_told(visit: Any, graph: Any) -> None:
    some = SEQUENCES[:10]
    other = TextEvents(sm.EventSequences.from_lists(some), sentences(some))
    page = visit(graph, passages=other)
    open_label(page, "flood")
    assert "other events than the model was learned from" in words(page)


HOSTILE = [
    "<script>alert(1)</script> </script><img src=x onerror=alert(2)>",
    "\u202eoverride and \x00\x1b[31mred",
    "مطر غزير في الشمال.",
    "x" * 1000,
    "{{model}} ${labels} `tick` &amp; __proto__",
]


def test_hostile_sentences(visit: Any, graph: Any) -> None:
    width = 390
    text = sentences(SEQUENCES, lambda label, s, n: HOSTILE[s % len(HOSTILE)])
    text = tuple(Sentence(HOSTILE[0] + s.document, s.number, s.text) for s in text)
    found = TextEvents(sm.EventSequences.from_lists(SEQUENCES), text)
    page = visit(graph, passages=found, width=width, color_scheme="dark")
    for label in graph.labels_:
        open_label(page, label)
        show_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert page.evaluate("document.querySelectorAll('img').length") == 0
    page.select_option("#which", "any")
    show_all(page)
    rows = "\n".join(line for lines in shown(page) for line in lines)
    assert HOSTILE[0] in rows
    assert "\\u202eoverride and \\u0000\\u001b[31mred" in rows
    assert "x" * 400 + "… (600 more characters)" in rows
    assert "x" * 401 not in rows
    arabic = page.locator(".quote p", has_text=HOSTILE[2]).first
    assert arabic.evaluate("p => getComputedStyle(p).direction") == "rtl"
