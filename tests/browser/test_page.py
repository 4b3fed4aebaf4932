"""The page in a browser: what a person does with it, and what they see."""

import re
from typing import Any

import numpy as np
import pytest

import summarkov as sm
from browsing import EVENTS, heading, history, node, shown_edges
from summarkov.evidence import weight, words
from summarkov.evidence.findings import impact_cell, impact_limits, impact_words
from summarkov.wording import percent


def test_it_loads_and_draws_what_the_graph_has(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph, events=EVENTS)
    assert page.locator("#picture .node").count() == len(graph.labels_)
    assert shown_edges(page) == len(graph.edges_)
    for effect in ("amplifies", "inhibits"):
        drawn = page.locator(f"#picture .edge.{effect}").count()
        assert drawn == sum(edge.effect == effect for edge in graph.edges_)
    summary = page.locator("#summary").inner_text()
    assert f"{graph.findings_.extent}. Learned from 300 cases" in summary
    page.click("#tab-data")
    text = page.locator("#panel-data").inner_text()
    assert "20 events in each of 300 sequences." in text
    assert re.search(r"look-back\s+5\n", text)
    assert "IJCAI 2022" in text
    assert "not proof of cause" in text


def test_it_opens_with_what_was_found(visit: Any) -> None:
    """The headline, sentences, all findings on one axis, what was set aside, and how events were read."""
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    graph.order_test(EVENTS)
    page, found = visit(graph, events=EVENTS), graph.findings_
    panel = page.locator("#panel-label")
    assert page.locator("#panel-label .headline").inner_text() == f"{found.headline}."
    sentences = panel.locator("ol.influences li").all_inner_texts()
    assert len(sentences) == min(5, len(found.influences))
    for text, edge in zip(sentences, found.influences, strict=False):
        said = words.finding(edge, f"'{edge.influencer}'", f"'{edge.target}'")
        assert text == f"{said}; {impact_words(edge)}. evidence"
    rows = panel.locator(".forest tbody")
    for place, edge in enumerate(found.influences):
        text = rows.nth(place).inner_text()
        assert text.startswith(f"{edge.influencer} → {edge.target}")
        parts = (words.times(edge), words.limits(edge), words.follows(edge), words.cases(edge))
        for part in (*parts, *words.badges(edge), impact_cell(edge), impact_limits(edge)):
            assert part in text
    # more likely stands on the right of the line at 1, less likely on the left
    where = "all => all.map((e) => parseFloat(e.getAttribute('x1') ?? e.getAttribute('cx')))"
    ones, marks = (rows.locator(which).evaluate_all(where) for which in (".one", "circle"))
    for one, mark, edge in zip(ones, marks, found.influences, strict=True):
        assert (mark > one) == (edge.effect == "amplifies")
    folded = panel.locator(".aside details")
    assert [each.split()[0] for each in folded.all_inner_texts()] == [
        f"{n}" for n in found.aside.values() if n
    ]
    folded.first.locator("summary").click()
    assert folded.first.locator("li").count() == int(folded.first.inner_text().split()[0])
    assert "cases are taken as" in panel.locator(".hints").inner_text()
    edge = found.influences[0]
    page.locator("#panel-label [data-edge]").first.click()
    assert heading(page) == edge.target
    assert f"Impact: {impact_words(edge)}." in page.locator(".card").inner_text()


def test_nothing_found_shows_what_came_nearest(visit: Any) -> None:
    random = np.random.default_rng(1)
    sequences = [[f"{code}" for code in random.integers(3, size=8)] for _ in range(30)]
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, required=["1"], candidates=[])).fit(sequences)
    assert not graph.findings_.influences
    text = visit(graph).locator("#panel-label").inner_text()
    assert "No event type was found to influence another." in text
    assert "More cases, or another look-back window, may show more. The nearest misses:" in text


def test_more_edges_than_can_be_followed_start_with_the_findings(visit: Any) -> None:
    """A process: its course is left out of the picture; a chosen label has all of its influences."""
    random, steps = np.random.default_rng(5), [f"step {chr(97 + i)}" for i in range(14)]
    sequences = []
    for _ in range(400):
        at, events = 0, []
        while at < len(steps):
            events.append(steps[at])
            at += int(random.integers(1, 4)) if random.random() < 0.9 else -int(random.integers(0, at + 1))
        sequences.append(events)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(sequences)
    edges, found = graph.edges_, graph.findings_.influences
    assert 0 < len(found) < len(edges) - 5
    assert len(edges) > 30
    page = visit(graph)
    assert page.locator("#kind").input_value() == "found"
    page.click("#view-graph")
    assert shown_edges(page) == len(found)
    label = max(graph.labels_, key=lambda x: sum(x in (e.influencer, e.target) for e in edges))
    page.fill("#search", label)
    page.keyboard.press("Enter")
    own = {(e.influencer, e.target) for e in edges if label in (e.influencer, e.target)}
    assert shown_edges(page) == len(own | {(e.influencer, e.target) for e in found})
    stage = page.locator("#stage").bounding_box()
    for box in (each.bounding_box() for each in page.locator("#picture .node:not(.gone) circle").all()):
        assert stage["x"] <= box["x"] <= stage["x"] + stage["width"] - box["width"]
        assert stage["y"] <= box["y"] <= stage["y"] + stage["height"] - box["height"]


def test_a_click_shows_a_label_with_its_states(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    node(page, graph, "purchase").locator("circle").click()
    assert heading(page) == "purchase"
    table = graph.models_["purchase"].table_
    rows = page.locator("#panel-label tbody.states tr")
    assert rows.count() == len(table)
    for i, row in enumerate(table):
        its = page.locator(f'#panel-label tbody.states tr[data-row="{i}"]')
        text = its.inner_text()
        assert its.locator(".heard").inner_text() == row.words
        assert its.locator(".dotted.on").count() == sum(
            not part.startswith("no ") for part in row.words.split(", ")
        )
        assert f"{row.counts[0]:,.0f}" in text
        assert f"of {row.n:,.0f}" in text
        assert f"{percent(row.counts[0] / row.n)} " in text  # as counted, not as predicted
    steps = page.locator("#panel-label .trace tbody tr").all_inner_texts()
    assert [re.split(r"[:\t]", step)[1].strip() for step in steps] == [
        step.label for step in graph.models_["purchase"].trace_
    ]
    influences = page.locator("#panel-label .influences").first.inner_text()
    for edge in graph.edges_:
        if edge.target == "purchase":
            names = f"'{edge.influencer}'", "'purchase'"
            said = words.sentence(edge, *names, "within 5 events")
            assert f"{edge.influencer}: {said}" in influences
    # clicking on nothing leaves the label
    page.mouse.click(*corner(page))
    assert heading(page) == "What we found"


def corner(page: Any) -> tuple[float, float]:
    box = page.locator("#picture").bounding_box()
    return box["x"] + 6, box["y"] + 6


def test_search(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.fill("#search", "PAGE")
    assert page.locator("#search-list li").all_inner_texts() == ["page error"]
    page.keyboard.press("Enter")
    assert heading(page) == "page error"
    page.fill("#search", "nothing like it")
    assert page.locator("#search-list li").all_inner_texts() == ["no such label"]


def test_the_slider_leaves_the_sure_edges(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    strengths = sorted(weight(edge) for edge in graph.edges_)
    for at in (0, 400, 1000):
        page.locator("#strength").fill(str(at))
        least = strengths[-1] * at / 1000
        assert shown_edges(page) == sum(s >= least - 1e-5 for s in strengths)
    assert page.locator("#by-confidence").is_hidden()


def test_drag_pan_and_zoom(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    one, other = node(page, graph, "purchase"), node(page, graph, "search")
    place = lambda which: which.locator("circle").bounding_box()  # noqa: E731  # used in this test alone
    before, rest = place(one), place(other)
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 10)
    page.mouse.move(x - 60, y - 40)
    page.mouse.up()
    assert place(one)["x"] == pytest.approx(before["x"] - 60, abs=1)
    assert place(other) == rest
    assert heading(page) == "What we found"  # a drag is no click
    at = corner(page)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 50, at[1] + 30)
    page.mouse.up()
    assert place(other)["y"] == pytest.approx(rest["y"] + 30, abs=1)
    gap = place(one)["x"] - place(other)["x"]
    page.mouse.wheel(0, -300)
    assert abs(place(one)["x"] - place(other)["x"]) > abs(gap) * 1.2


def test_by_keyboard_alone(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.dataset.code ?? document.activeElement.id"))
    assert sum(stop.isdigit() for stop in stops[: stops.index("tab-label")]) == 1  # the graph is one stop
    node(page, graph, graph.labels_[int(next(stop for stop in stops if stop.isdigit()))]).focus()
    reached = set()
    for key in (
        ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"] * 10 + ["ArrowLeft"] * 3 + ["ArrowDown"] * 3
    ):
        page.keyboard.press(key)
        reached.add(page.evaluate("document.activeElement.dataset.code"))
    assert len(reached) >= 4
    label = graph.labels_[int(page.evaluate("document.activeElement.dataset.code"))]
    assert node(page, graph, label).evaluate("node => node.matches(':focus-visible')")
    outline = node(page, graph, label).locator("circle").evaluate("c => getComputedStyle(c).strokeWidth")
    assert outline == "5px"  # the focus can be seen
    assert label in page.locator("#tip").inner_text()
    page.keyboard.press("Enter")
    assert heading(page) == label
    place = node(page, graph, label).bounding_box()
    page.keyboard.press("Shift+ArrowRight")
    assert node(page, graph, label).bounding_box()["x"] == pytest.approx(place["x"] - 60, abs=1)
    page.keyboard.press("+")
    page.keyboard.press("Escape")
    assert heading(page) == "What we found"
    # on to the tabs, and into a history
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "tab-label":
            break
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-whatif"
    page.keyboard.press("Tab")
    page.keyboard.type("add")
    page.keyboard.press("Enter")
    page.keyboard.type("search")
    page.keyboard.press("Enter")
    assert history(page) == ["add to cart", "search"]
    page.keyboard.press("Tab")  # clear
    page.keyboard.press("Tab")  # move the first later: it cannot go earlier
    page.keyboard.press("Enter")
    assert history(page) == ["search", "add to cart"]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").endswith("add to cart")


def test_a_history_by_clicks(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.click("#tab-whatif")
    node(page, graph, "add to cart").locator("circle").click()
    page.locator(".forecast .link", has_text="page error").click()
    assert history(page) == ["add to cart", "page error"]
    after = sm.read_events([["add to cart", "page error", "browse"]], labels=graph.labels_)
    expected = dict(zip(graph.labels_, graph.predict_proba(after)[-1], strict=True))
    rows = page.locator(".forecast > li")
    shown = rows.evaluate_all("rows => rows.map(row => [Number(row.dataset.code), Number(row.dataset.p)])")
    assert len(shown) == 10
    for code, p in shown:
        assert p == pytest.approx(expected[graph.labels_[code]], abs=1e-9)
    why = graph.explain(["add to cart", "page error"], "purchase")
    text = page.locator(f'.forecast > li[data-code="{graph.labels_.index("purchase")}"]').inner_text()
    assert why.words in text
    assert f"seen {why.support:,.0f} times" in text
    page.locator('.history [aria-label="Remove add to cart"]').click()
    assert history(page) == ["page error"]
    page.click("#clear")
    assert history(page) == []


def test_another_size_of_the_window(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.set_viewport_size({"width": 900, "height": 500})
    page.wait_for_timeout(200)
    stage = page.locator("#stage").bounding_box()
    for box in (each.bounding_box() for each in page.locator("#picture .node circle").all()):
        assert stage["x"] <= box["x"] <= stage["x"] + stage["width"] - box["width"]
        assert stage["y"] <= box["y"] <= stage["y"] + stage["height"] - box["height"]


def test_what_would_be_otherwise(visit: Any, graph: sm.InfluenceGraph) -> None:
    page = visit(graph)
    page.click("#tab-whatif")
    for label in ("add to cart", "page error"):
        page.fill("#next", label)
        page.keyboard.press("Enter")
    row = page.locator(f'.forecast > li[data-code="{graph.labels_.index("purchase")}"]')
    row.locator("summary").click()
    row.locator(".otherwise > li").first.wait_for()  # listed when the browser tells that it was opened
    told = row.locator(".otherwise").inner_text()
    for had in graph.explain(["add to cart", "page error"], "purchase").counterfactuals:
        words = "occurred just now" if had.occurred else "not occurred"
        assert f"had {had.label} {words}: {percent(had.probability)}" in told
    page.select_option("#order", "probability")
    shown = page.locator(".forecast > li").evaluate_all("rows => rows.map(row => Number(row.dataset.p))")
    assert shown == sorted(shown, reverse=True)


def test_what_a_mixed_influence_depends_on(visit: Any) -> None:
    states = [(0, 0), (0, 1), (1, 0), (1, 1)]
    either = {state: 0.6 if sum(state) == 1 else 0.1 for state in states}
    rules = {
        "A": ((), {(): 0.15}),
        "B": ((), {(): 0.15}),
        "X": (("A", "B"), either),
        "Y": (("A", "B"), {state: 0.7 - p for state, p in either.items()}),
    }
    events = sm.Dynamics(rules, lookback=3).simulate(n_sequences=400, length=20, random_state=0)
    model = sm.BSuMM("X", lookback=3, required=("A", "B"), max_influencers=2).fit(events)
    page = visit(model)
    node(page, model, "X").click()
    text = page.locator("#panel-label").inner_text()
    mixed = [edge for edge in model.influences_ if edge.effect == "mixed"]
    assert mixed
    for edge in mixed:
        assert edge.depends
        assert edge.depends in text


def test_a_tree_with_its_rules(visit: Any) -> None:
    graph = sm.InfluenceGraph(sm.TreeSuMM(gamma=0.3), targets=["purchase"]).fit(EVENTS)
    page = visit(graph)
    node(page, graph, "purchase").locator("circle").click()
    model = graph.models_["purchase"]
    assert len(model.table_) > 2
    leaves = page.locator("#panel-label .tree .leaf").all_inner_texts()
    for text, row in zip(leaves, model.table_, strict=True):
        assert f"seen {row.n:,.0f} times" in text
    asked = page.locator("#panel-label .tree").inner_text()
    for step in model.trace_:
        assert f"{step.label.split(', given')[0]}?" in asked
    rules = page.locator("#panel-label tbody.states tr").all_inner_texts()
    told = [text.split("\n")[0].split("\t")[0].removesuffix(" hardly seen") for text in rules]
    assert sorted(told) == sorted(row.words for row in model.table_)


def test_confidence_fades_edges_and_has_a_slider(visit: Any) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5, gamma=0.4, false_edges=None)).fit(EVENTS)
    graph.confidence(EVENTS, n=20)
    page = visit(graph)
    sure = [edge.frequency for edge in graph.edges_]
    assert min(sure) < 0.8 <= max(sure)
    page.locator("#confidence").fill("80")
    assert shown_edges(page) == sum(frequency >= 0.8 for frequency in sure)
    firmness = page.locator("#picture .edge").evaluate_all("all => all.map(e => getComputedStyle(e).opacity)")
    assert [float(each) for each in firmness] == pytest.approx([0.7 + 0.3 * each for each in sure])
    edge = graph.edges_[0]
    page.locator("#picture .hit").first.dispatch_event("pointermove")
    text = page.locator("#tip").inner_text()
    assert f"found again in {percent(edge.frequency)} of resampled data" in text
    assert words.verdict(edge) in text


def test_one_label_alone(visit: Any) -> None:
    events = sm.EventSequences.from_lists([["A", "A"], ["A"]], ends="cut off")
    page = visit(sm.InfluenceGraph(sm.BSuMM()).fit(events))
    page.locator("#picture .node").click()
    assert heading(page) == "A"
    assert "No influences were found." in page.locator("#legend").inner_text()
    assert "3 of 3" in page.locator("#panel-label").inner_text()


def test_the_end_of_a_case_is_no_event(visit: Any) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit([["A", "B", "C"], ["A", "C"]] * 30)
    page = visit(graph)
    said = page.locator("#summary").inner_text()
    assert "Learned from 60 cases with 150 events of 3 event types" in said
    node(page, graph, sm.END).locator("circle").click()
    assert "28.6% of moments (60 of 210)" in page.locator("#panel-label").inner_text()
    assert page.locator("#add-to-history").count() == 0
    said = page.locator("#panel-label .influences").first.inner_text()
    assert "The case ends after 'C': 100% (60 of 60); after other events: 0% (0 of 90)" in said


def test_an_exact_search_tells_what_it_proved(visit: Any) -> None:
    model = sm.BSuMM("purchase", lookback=5, search="exact").fit(EVENTS)
    page = visit(model)
    node(page, model, "purchase").click()
    text = page.locator("#panel-label").inner_text()
    assert "No other of the 1,024 sets of influencers scores better" in text


def test_a_large_graph_calls_neighbours_together(visit: Any) -> None:
    random = np.random.default_rng(1)
    names = [f"label {i:03}" for i in range(180)]
    sequences = []
    for _ in range(150):
        now, sequence = 0, []
        for _ in range(40):
            now = (now * 7 + 1) % 180 if random.random() < 0.6 else int(random.integers(180))
            sequence.append(names[now])
        sequences.append(sequence)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(sequences)
    edges = graph.edges_
    assert len(edges) > 100
    page = visit(graph)
    assert page.locator("#kind").input_value() == "found"
    assert 40 <= shown_edges(page) <= 60  # the strongest of what was found
    named = page.locator("#picture .node:not(.gone):not(.crowded)").count()
    assert named == page.locator("#picture .node:not(.gone)").count()
    label = max(graph.labels_, key=lambda x: sum(x in (e.influencer, e.target) for e in edges))
    page.fill("#search", label)
    page.keyboard.press("Enter")
    own = [edge for edge in edges if label in (edge.influencer, edge.target)]
    assert shown_edges(page) == len(own)
    near = {label, *(e.influencer for e in own), *(e.target for e in own)}
    shown = page.locator("#picture .node:not(.gone)").evaluate_all(
        "all => all.map(n => Number(n.dataset.code))"
    )
    assert {graph.labels_[code] for code in shown} == near
    centre = node(page, graph, label).locator("circle").bounding_box()["x"]
    for edge in own:
        if edge.target == label != edge.influencer:
            assert node(page, graph, edge.influencer).locator("circle").bounding_box()["x"] < centre
    page.click("#leave")
    page.locator("#strength").fill("0")
    page.select_option("#kind", "all")
    assert shown_edges(page) == min(len(edges), 200)  # more lines tell nobody anything


def test_shares_of_events_are_of_events_and_the_end_has_none(visit):
    """Six a, three b and three ends: a is two thirds of all events, not half of all moments."""
    page = visit(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([["a", "a", "b"]] * 3))
    words = page.locator("#panel-data .frequencies").text_content()
    assert page.locator("#panel-data").text_content().count("Of 9 events.") == 1
    assert "66.7%" in words
    assert "33.3%" in words
    assert "25.0%" not in words  # of 12 moments
