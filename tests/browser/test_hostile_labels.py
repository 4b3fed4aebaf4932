"""Labels of any kind are text: never markup, never executed, never breaking the page."""

from typing import Any

import pytest

import summarkov as sm

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    '" onmouseover="alert(4)',
    "'; alert(5); //",
    "a & b &amp; c &lt;",
    "two\nlines\tand a tab",
    "\u202eright to left override",
    "شراء المنتج",
    "購入する",
    "\U0001f6d2 cart \U0001f469\u200d\U0001f4bb",
    "x" * 200,
    "word " * 40,
    "   ",
    "\x00\x1b[31mred",
    "\u2028line\u2029separators",
    "{{model}} ${labels} `tick`",
    "__proto__",
    "constructor",
]


@pytest.fixture(scope="module")
def graph() -> sm.InfluenceGraph:
    pairs = [[a, b] for a, b in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)]
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([pair * 3 for pair in pairs] * 3)


def test_hostile_labels(visit: Any, graph: sm.InfluenceGraph) -> None:
    width = 390
    page = visit(graph, width=width)
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    for tab in ("label", "whatif", "data"):
        page.click(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#tab-label")
    for code, label in enumerate(graph.labels_):
        page.locator(f'.node[data-code="{code}"]').dispatch_event("keydown", {"key": "Enter"})
        shown = page.locator("#panel-label h2").inner_text()
        if label.isprintable() and label.strip() == label:
            assert shown == label
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('img').length") == 0


def test_what_cannot_be_seen_is_written_out(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    for label, written in {
        "two\nlines\tand a tab": "two\\nlines\\tand a tab",
        "\u202eright to left override": "\\u202eright to left override",
        "   ": '"   "',
        "\x00\x1b[31mred": "\\u0000\\u001b[31mred",
        "\u2028line\u2029separators": "\\u2028line\\u2029separators",
    }.items():
        code = graph.labels_.index(label)
        name = page.locator(f'.node[data-code="{code}"]').get_attribute("aria-label")
        assert name.startswith(written)


def test_hostile_names_of_sequences(visit: Any) -> None:
    """Names are text in the lists of sequences, and sequences may be empty or of one event."""
    names = [*HOSTILE, "empty", "one"]
    lists = [[a, b] * 3 for a, b in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)]
    events = sm.read_events(dict(zip(names, [*lists, [], [HOSTILE[0]]], strict=True)))
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
    page = visit(graph, events=events, sequences=100)
    page.click("#tab-sequences")
    options = page.locator("#which-sequence option")
    assert options.count() == len([name for name in names if name != "empty"])
    shown = [text.strip() for text in options.all_inner_texts()]
    assert "</script><script>alert(2)</script>" in shown
    assert "__proto__" in shown
    for number in range(options.count()):
        page.select_option("#which-sequence", str(number))
        assert page.locator("#why-here h2").inner_text() == "Why here?"
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img').length") == 0
