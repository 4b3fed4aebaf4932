"""What an analyst does next: evidence, filter, matrix, links, pictures and tables to take along."""

import csv
import itertools
import math
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest

import summarkov as sm
from browsing import EVENTS, heading, history, node, shown_edges
from summarkov.evidence import words
from summarkov.wording import percent

GEOMETRY = """() => {
  const lengths = { amplifies: 9, inhibits: 3, mixed: 10, unclear: 8 };
  const model = JSON.parse(document.getElementById("model").textContent);
  const corner = document.getElementById("picture").getBoundingClientRect();
  const circles = new Map(), names = new Map();
  for (const group of document.querySelectorAll("#picture .node:not(.gone)")) {
    const code = Number(group.dataset.code);
    const [box, name] = [0, 1].map((i) => group.children[i].getBoundingClientRect());
    const x = box.left + box.width / 2 - corner.left, y = box.top + box.height / 2 - corner.top;
    circles.set(code, [x, y, box.width / 2]);
    const [top, bottom] = [name.top - corner.top + 2, name.bottom - corner.top - 2];
    names.set(code, [name.left - corner.left, top, name.right - corner.left, bottom]);
  }
  const outside = ([left, top, right, bottom], x, y) =>
    Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
  const [lines, heads, hits] = ["edge", "head", "hit"].map((kind) =>
    [...document.querySelectorAll(`#picture .${kind}`)]);
  return lines.map((line, i) => {
    const edge = (name) => model.edges[name][hits[i].dataset.edge];
    const [from, to, effect] = ["influencer", "target", "effect"].map(edge);
    const [x, y, turn] = heads[i].getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
    const angle = turn * Math.PI / 180, length = lengths[effect];
    const tip = [x + length * Math.cos(angle), y + length * Math.sin(angle)];
    const [cx, cy, r] = circles.get(to);
    const gap = Math.min(Math.hypot(tip[0] - cx, tip[1] - cy) - r, outside(names.get(to), ...tip));
    const under = [...names.values()].some((box) => outside(box, ...tip) === 0);
    let through = 0;
    for (const [code, box] of names) {
      for (let at = 0; at < line.getTotalLength(); at += 3) {
        const point = line.getPointAtLength(at);
        if (outside(box, point.x, point.y) === 0) { through++; break; }
      }
    }
    return { loop: from === to, gap, under, through };
  });
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_lines_end_at_their_labels_and_keep_off_names(
    visit: Any, graph: sm.InfluenceGraph, width: int
) -> None:
    page = visit(graph, width=width)
    lines = page.evaluate(GEOMETRY)
    assert len(lines) == len(graph.edges_)
    for line in lines:
        assert line["loop"] or -1 <= line["gap"] <= 6, line
        assert not line["under"]
    assert sum(line["through"] for line in lines) <= (0 if width == 1280 else 2)
    for kind in (".name", ".times:not(.hidden)"):  # nothing that is written lies upon another
        boxes = page.locator(f"#picture {kind}").evaluate_all(
            "all => all.map((e) => e.getBoundingClientRect()).map((b) => [b.left, b.top, b.right, b.bottom])"
        )
        assert len(boxes) >= 5
        for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
            assert min(c, g) - max(a, e) <= 2 or min(d, h) - max(b, f) <= 4, (kind, width)


def test_one_filter_for_graph_matrix_and_table(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.select_option("#kind", "inhibits")
    wanted = [edge for edge in graph.edges_ if edge.effect == "inhibits"]
    assert 0 < len(wanted) < len(graph.edges_)
    assert shown_edges(page) == len(wanted)
    page.click("#view-matrix")
    assert page.locator("#matrix .mark").count() == len(wanted)
    with page.expect_download() as saving:
        page.click("#save-csv")
    with open(saving.value.path(), encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["influencer"], row["target"]) for row in rows] == [(e.influencer, e.target) for e in wanted]
    for row, edge in zip(rows, wanted, strict=True):
        assert float(row["ratio"]) == pytest.approx(edge.ratio, rel=1e-4)
        assert (float(row["hits_with"]), float(row["n_with"])) == (edge.hits_with, edge.n_with)
        for name in ("impact", "impact_low", "impact_high", "beyond_ratio", "beyond_low", "beyond_high"):
            assert (row[name] == "") == (getattr(edge, name) is None)
            assert row[name] == "" or float(row[name]) == pytest.approx(getattr(edge, name), rel=1e-4)
    # a chosen label has all of its influences, whatever the filter says
    page.fill("#search", "purchase")
    page.keyboard.press("Enter")
    own = [edge for edge in graph.edges_ if "purchase" in (edge.influencer, edge.target)]
    assert page.locator("#matrix .mark").count() == len(own)
    assert page.locator("#panel-label .influences li").count() == len(own)


def sentence_of(edge: Any) -> str:
    """What the page says of an edge of a graph with look-back 5."""
    names = f"'{edge.influencer}'", f"'{edge.target}'"
    return words.sentence(edge, *names, "within 5 events")


def test_an_edge_has_a_card(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, events=EVENTS)
    for number in (0, len(graph.edges_) - 1):
        edge = graph.edges_[number]
        page.locator(f'#picture .hit[data-edge="{number}"]').dispatch_event(
            "pointerdown", {"pointerId": 1, "button": 0}
        )
        page.locator(f'#picture .hit[data-edge="{number}"]').dispatch_event(
            "pointerup", {"pointerId": 1, "button": 0}
        )
        assert heading(page) == edge.target  # the label stays, or comes, with the card
        card = page.locator(".card")
        assert card.locator(".sentence").inner_text() == sentence_of(edge)
        rows = card.locator(".counts tbody tr").all_inner_texts()
        counts = (
            (edge.followed, edge.occurrences),
            (edge.followed_other, edge.occurrences_other),
            (edge.hits_with, edge.n_with),
            (edge.hits_without, edge.n_without),
        )
        for text, (hits, n) in zip(rows, counts, strict=True):
            for value in (hits, n - hits, n):
                assert f"{value:,.0f}" in text
        spoken = card.locator(".plot").last.get_attribute("aria-label")
        assert spoken.startswith(f"Share of {edge.target} at 1 to 10 events after {edge.influencer}: ")
        page.get_by_role("button", name="Close the evidence").click()
        assert page.locator(".card").count() == 0
        assert heading(page) == edge.target


def test_the_page_says_of_edges_what_the_library_says(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    for number, edge in enumerate(graph.edges_):
        page.locator(f'#picture .hit[data-edge="{number}"]').dispatch_event("pointermove")
        tip = page.locator("#tip").inner_text()
        assert sentence_of(edge) in tip
        if edge.effect in ("amplifies", "inhibits"):
            assert page.locator("#picture .times").nth(number).text_content() == words.times(edge)


def test_the_address_tells_what_is_seen(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    node(page, graph, "purchase").locator("circle").click()
    page.click("#view-matrix")
    page.click("#tab-whatif")
    page.fill("#next", "add to cart")
    page.keyboard.press("Enter")
    address = page.evaluate("location.hash")
    assert address == "#label=purchase&tab=whatif&view=matrix&event=add+to+cart"
    page.go_back()
    assert history(page) == []
    page.go_back()
    page.go_back()
    assert page.locator("#matrix-box").is_hidden()
    assert heading(page) == "purchase"
    page.go_back()
    assert heading(page) == "What we found"
    page.go_forward()
    assert heading(page) == "purchase"
    page.evaluate("to => { location.hash = to; }", address)
    page.locator("#panel-whatif").wait_for()
    assert history(page) == ["add to cart"]
    page.evaluate("() => { location.hash = '#label=nobody&from=x&tab=y&factor=z&event=none&view=w'; }")
    page.locator("#panel-label").wait_for()
    assert heading(page) == "What we found"


def test_pictures_and_sentences_to_take_along(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#panel-label .influences [data-edge]").first.click()
    with page.expect_download() as saving:
        page.click("#save-svg")
    assert saving.value.suggested_filename == "influences.svg"
    drawn = xml.etree.ElementTree.parse(saving.value.path()).getroot()
    texts = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {*graph.labels_, "amplifies", "inhibits"} <= texts  # with its legend
    assert not list(drawn.iter("{http://www.w3.org/2000/svg}script"))
    with page.expect_download() as saving:
        page.click("#save-png")
    image = Path(saving.value.path()).read_bytes()
    box = page.locator("#picture").bounding_box()
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(image[16:20], "big") == 2 * math.ceil(box["width"])
    page.get_by_role("button", name="Copy this sentence").click()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".card .sentence").inner_text()
    page.click("#copy-link")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_chain_has_a_matrix_of_transitions(visit: Any) -> None:
    chain = sm.InfluenceGraph(sm.MarkovChain(order=1)).fit(EVENTS)
    page = visit(chain)
    assert page.locator("#matrix .mark").count() == len(chain.labels_) ** 2
    page.locator("#matrix .hit").first.dispatch_event("pointermove")
    assert "of the events after it" in page.locator("#tip").inner_text()


def test_a_sequence_with_the_probability_along_it(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, events=EVENTS, sequences=5)
    node(page, graph, "purchase").locator("circle").click()
    page.click("#tab-sequences")
    assert "5 sequences of the data are part of this page" in page.locator("#panel-sequences").inner_text()
    page.select_option("#which-sequence", "4")
    sequence = EVENTS.to_lists()[-1]
    assert page.locator(".events .event").all_inner_texts() == sequence
    at = 7
    page.locator(f'.events [data-at="{at}"]').click()
    why = graph.explain(sequence[:at], "purchase")
    text = page.locator("#why-here").inner_text()
    assert f"Before event 8 the probability of purchase is {percent(why.probability)}" in text
    assert why.words in text
    influencers = graph.influencers_["purchase"]
    lit = page.locator(".events .lit [data-at]").evaluate_all("all => all.map(e => Number(e.dataset.at))")
    assert lit == [i for i in range(at - 5, at) if sequence[i] in influencers]
    assert visit(graph, events=EVENTS).locator("#tab-sequences").is_hidden()


def test_from_an_edge_to_the_sequences_behind_it(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, events=EVENTS, sequences=200)
    page.locator("#panel-label .influences [data-edge]").first.click()
    edge = graph.findings_.influences[0]
    page.locator(".card .cases button").first.click()
    page.locator("#panel-sequences").wait_for()
    sequence = page.locator(".events .event").all_inner_texts()
    assert edge.influencer in sequence
    at = int(page.locator(".events .asked [data-at]").get_attribute("data-at"))
    assert sequence[at] == edge.target
    assert edge.influencer in sequence[max(0, at - 5) : at]


def test_arrow_keys_go_from_mark_to_mark_in_the_matrix(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.click("#view-matrix")
    assert page.locator('#matrix [tabindex="0"]').count() == 1
    page.locator('#matrix [tabindex="0"]').focus()
    cell = "document.activeElement.dataset.cell.split(' ').map(Number)"
    column = page.evaluate("document.activeElement.getBoundingClientRect().x")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getBoundingClientRect().x") > column
    influencer, target = (graph.labels_[code] for code in page.evaluate(cell))
    assert page.locator("#tip").inner_text().startswith(f"{influencer} → {target}")
    page.keyboard.press("Enter")
    assert heading(page) == target
    said = "itself" if influencer == target else target
    assert page.locator(".card h3").inner_text() == f"{influencer} → {said}"
    assert [graph.labels_[code] for code in page.evaluate(cell)] == [influencer, target]  # the focus stays


def test_grey_influences_stand_apart(visit: Any) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    graph.order_test(EVENTS)
    crowded = [edge for edge in graph.edges_ if edge.faint == "crowding out"]
    assert crowded
    page = visit(graph)
    said = page.locator("#panel-label .aside").text_content()
    assert f"{len(crowded)} crowding outCrowding out, other events becoming" in said
    assert page.locator("#picture .edge.crowding").count() == len(crowded)
    assert "crowding out" in page.locator("#legend").inner_text()
    assert page.locator("#panel-label .influences li.crowding").count() == len(crowded)
