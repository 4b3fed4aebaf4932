"""Names of any kind are text: never markup, never executed, never breaking the page."""

from typing import Any

import numpy as np
import pytest

import summarkov as sm
from summarkov.events.attributes import Attributes

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


def is_text(page: Any) -> bool:
    """Whether nothing was taken for markup."""
    return page.evaluate(
        "[document.scripts.length, document.images.length, document.getElementsByTagName('b').length]"
    ) == [2, 0, 0]


@pytest.fixture(scope="module")
def graph() -> sm.InfluenceGraph:
    pairs = [[a, b] for a, b in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)]
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([pair * 3 for pair in pairs] * 3)


def test_hostile_labels(visit: Any, graph: sm.InfluenceGraph) -> None:
    width = 390
    page = visit(graph, width=width)
    assert is_text(page)
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
    assert is_text(page)


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
    assert is_text(page)


#: A name without "=", which no column of an attribute has.
COLUMN = "</script><script>alert(2)</script><b>"
SCRIPT = HOSTILE[0]
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
