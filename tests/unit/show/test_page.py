"""The page as a text: self-contained, safe, the same every time, and not too large."""

import html.parser
import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, NotFittedError, SettingError, StoreError
from summarkov.evidence import weight
from summarkov.show import content as contents
from summarkov.show.layout import places
from summarkov.show.page import SCRIPTS, STYLES, to_html
from summarkov.simulate.example import web_shop
from summarkov.text import Sentence, TextEvents
from summarkov.text import events as text_events

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(200, 15, random_state=1)


@pytest.fixture(scope="module")
def graph() -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script":
            self.scripts[-1] += data


def model_in(text: str) -> dict[str, Any]:
    return json.loads(Elements(text).scripts[0])


def test_nothing_is_loaded_from_anywhere(graph: sm.InfluenceGraph) -> None:
    text = graph.to_html()
    assert text is not None
    for tag, attributes in Elements(text).found:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    addresses = set(re.findall(r"\w+://[^\s\"'`)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody visits
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|import\(|sendBeacon", text)


def test_the_policy_names_this_style_and_this_program(graph: sm.InfluenceGraph) -> None:
    import base64
    import hashlib

    text = graph.to_html() or ""
    policy = next(a["content"] for t, a in Elements(text).found if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy


def test_the_same_every_time(graph: sm.InfluenceGraph, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.json")
    graph.to_html(tmp_path / "graph.html")
    written = (tmp_path / "graph.html").read_text(encoding="utf-8")
    assert written == graph.to_html()
    assert written == sm.load(tmp_path / "graph.json").to_html()
    with pytest.raises(StoreError, match="cannot be written"):
        graph.to_html(tmp_path / "nowhere" / "page.html")


def test_labels_are_data_and_never_markup() -> None:
    hostile = ["</script><script>alert(1)</script>", "<!--", "a&b", "\u2028", "\ud800", "{{style}}", "é購"]
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([hostile * 3] * 2)
    text = graph.to_html() or ""
    assert [tag for tag, _ in Elements(text).found].count("script") == 2
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert model_in(text)["labels"] == sorted(hostile)
    text.encode("utf-8")  # half a surrogate pair would fail here


def test_what_the_page_is_told(graph: sm.InfluenceGraph) -> None:
    told = model_in(graph.to_html(events=EVENTS) or "")
    assert told["labels"] == list(graph.labels_)
    assert told["n"] == EVENTS.label_counts.tolist()
    assert told["sequences"] == 200
    of_length = {"sequences": 200, "shortest": 15, "median": 15, "longest": 15, "width": 1, "bins": [200]}
    assert told["lengths"] == of_length
    assert told["settings"]["lookback"] == 5
    codes = {label: code for code, label in enumerate(graph.labels_)}
    edges, columns = told["edges"], ("influencer", "target", "effect")
    assert [list(edge) for edge in zip(*(edges[name] for name in columns), strict=True)] == [
        [codes[e.influencer], codes[e.target], e.effect] for e in graph.edges_
    ]
    columns = told["targets"]
    for i, model in enumerate(graph.models_.values()):
        target, rows = {key: column[i] for key, column in columns.items()}, model.table_
        assert told["states"][target["states"]]["n"] == [row.n for row in rows]
        assert target["hits"] == [row.counts[0] for row in rows]
        np.testing.assert_allclose(target["p"], model.fitted.theta[:, 0], rtol=1e-9)
        assert [step[1] for step in target["trace"]] == [codes[step.label] for step in model.trace_]


def test_a_model_with_too_many_states_is_refused(
    graph: sm.InfluenceGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MOST_STATES", 5)
    with pytest.raises(SettingError, match=r"a page of \d+ states would be too large to open \(at most 5\)"):
        graph.to_html()


def test_an_unfitted_model() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        sm.BSuMM("A").to_html()
    with pytest.raises(NotFittedError, match="call fit"):
        sm.InfluenceGraph(sm.BSuMM()).to_html()


def test_the_parts_are_all_used() -> None:
    folder = Path(contents.__file__).parent
    there = {path.name for path in folder.iterdir() if path.suffix in (".js", ".css")}
    assert there == {*SCRIPTS, *STYLES}


def test_a_page_of_many_labels_stays_small() -> None:
    rng = np.random.default_rng(0)
    labels = [f"a label of some length {i}" for i in range(173)]
    common = rng.permutation(173)[:140]
    sequences = []
    for _ in range(370):
        codes = rng.integers(0, 173, 33)
        again = rng.random(33) < 0.4
        codes[again] = rng.choice(common)
        sequences.append([labels[code] for code in codes])
    events = sm.read_events(sequences)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    graph.order_test(events, n=19)
    assert len(graph.edges_) > 110
    assert len((graph.to_html(events=events) or "").encode()) < 305_000


def test_sequences_are_in_the_page_only_if_asked_for(
    graph: sm.InfluenceGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert contents.content(graph, EVENTS)["cases"] is None
    assert contents.content(graph, EVENTS[:10])["lags"] is not None
    assert contents.content(graph, [["something else"]])["lags"] is None
    cases = contents.content(graph, EVENTS, sequences=3)["cases"]
    rows = EVENTS.to_lists()
    shown = [[graph.labels_[code] for code in codes] for _, codes, _ in cases]
    assert shown == [rows[0], rows[100], rows[-1]]
    monkeypatch.setattr(contents, "MOST_EVENTS", 4)
    assert [(len(codes), cut) for _, codes, cut in contents.content(graph, EVENTS, sequences=1)["cases"]] == [
        (4, 11)
    ]
    for odd in (0, 201, 10**30, True, 1.5, "3"):
        with pytest.raises(SettingError, match=f"a whole number from 1 to 200, not {odd!r}"):
            contents.content(graph, EVENTS, sequences=odd)
    with pytest.raises(SettingError, match="give these too"):
        contents.content(graph, sequences=3)


# ---------------------------------------------------------------------------------- layout


def test_places_are_apart_and_in_the_picture(graph: sm.InfluenceGraph) -> None:
    place = np.array(model_in(to_html(graph) or "")["places"])
    assert place.min() >= 0
    assert place.max() <= 1
    gaps = [np.abs(a - b).max() for a, b in itertools.combinations(place, 2)]
    assert min(gaps) > 0.05


def test_a_process_goes_from_left_to_right() -> None:
    steps = [(0, 1), (1, 2), (2, 3), (0, 2), (3, 4), (3, 5), (4, 6), (5, 6)]
    found = np.array(places(7, [(z, x, 1.0) for z, x in steps] + [(6, 0, -2.0)]))
    assert all(found[z, 0] <= found[x, 0] for z, x in steps)
    assert sum(found[z, 0] < found[x, 0] for z, x in steps) >= 7
    round_about = np.array(places(7, [(i, (i + 1) % 7, 1.0) for i in range(7)]))
    assert not all(round_about[i, 0] < round_about[i + 1, 0] for i in range(6))


def test_groups_stand_apart_and_single_labels_below() -> None:
    found = np.array(places(9, [(0, 1, 1.0), (1, 2, -1.0), (3, 4, 2.0), (4, 4, 1.0)]))
    first, second, single = found[:3], found[3:5], found[5:]
    assert single[:, 1].min() > max(first[:, 1].max(), second[:, 1].max())
    apart_x = first[:, 0].max() < second[:, 0].min() or second[:, 0].max() < first[:, 0].min()
    apart_y = first[:, 1].max() < second[:, 1].min() or second[:, 1].max() < first[:, 1].min()
    assert apart_x or apart_y
    assert places(9, [(0, 1, 1.0), (1, 2, -1.0), (3, 4, 2.0), (4, 4, 1.0)]) == found.tolist()


def test_a_large_graph_starts_with_its_surest_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MANY_EDGES", 5)
    monkeypatch.setattr(contents, "SUREST", 3)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    evidence = sorted((weight(edge) for edge in graph.edges_), reverse=True)
    assert len(evidence) > 5
    assert contents.content(graph)["start"] == pytest.approx(evidence[2], rel=1e-5)


# ---------------------------------------------------------------------------------- passages


def quoted(sequences: list[list[str]], text: str = "A sentence.") -> TextEvents:
    sentences = (Sentence(str(s), n, text) for s, e in enumerate(sequences) for n, _ in enumerate(e, start=1))
    return TextEvents(sm.EventSequences.from_lists(sequences), tuple(sentences))


def test_passages_of_every_edge_and_label() -> None:
    found = quoted([["A", "B", "C"], ["B"], ["A", "C"]] * 9)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(found.events)
    passages = model_in(graph.to_html(passages=found) or "")["passages"]
    assert len(passages["edges"]) == len(graph.edges_)
    for (total, shown), edge in zip(passages["edges"], graph.edges_, strict=True):
        expected = found.passages(graph, edge.target, edge.influencer)
        assert total == expected.total
        for (lag, before, at), passage in zip(shown, expected, strict=True):
            assert lag == 1
            assert Sentence(*passages["sentences"][before][:3]) == passage.influencer
            assert Sentence(*passages["sentences"][at][:3]) == passage.target
    assert [total for total, _ in passages["labels"]] == [18, 18, 18]
    assert passages["same"] is True
    assert len(passages["sentences"]) == len({tuple(s) for s in passages["sentences"]})
    assert model_in(graph.to_html() or "")["passages"] is None


def test_passages_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    found = quoted([["A", "B"]] * 50, "word " * 1000)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(found.events)
    whole = model_in(graph.to_html(passages=found) or "")["passages"]
    assert {len(text) for _, _, text, _ in whole["sentences"]} == {400}
    assert {cut for *_, cut in whole["sentences"]} == {4600}
    assert max(len(shown) for _, shown in whole["edges"]) == 12
    monkeypatch.setattr(text_events, "IN_ALL", 3 * (len(graph.edges_) + 2))
    some = model_in(graph.to_html(passages=found) or "")["passages"]
    assert max(len(shown) for _, shown in some["edges"] + some["labels"]) == 3
    assert [total for total, _ in some["edges"]] == [total for total, _ in whole["edges"]]


def test_passages_that_do_not_belong_to_the_model(graph: sm.InfluenceGraph) -> None:
    with pytest.raises(DataError, match="the events hold the label 'A', which the model does not know"):
        graph.to_html(passages=quoted([["A", "browse"]]))
    with pytest.raises(SettingError, match="passages must be TextEvents, as text_events makes them"):
        graph.to_html(passages=[["browse"]])
    part = model_in(graph.to_html(passages=quoted([["browse"]])) or "")["passages"]
    assert part["same"] is False


def test_titles_that_cannot_be_written(graph: sm.InfluenceGraph, tmp_path: Path) -> None:
    """Half of a character, as the names of files may hold, cannot be written to a file as it is."""
    to_html(graph, tmp_path / "page.html", title="\ud800 <b>")
    assert "<title>\\ud800 &lt;b&gt; - summarkov</title>" in (tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
    with pytest.raises(SettingError, match="title must be a text, not 5"):
        to_html(graph, tmp_path / "page.html", title=5)  # type: ignore[arg-type]


def test_groups_must_be_comparisons_of_labels_that_the_model_knows(graph: sm.InfluenceGraph) -> None:
    halves = EVENTS[:100], EVENTS[100:]
    found = sm.compare_groups(sm.BSuMM(lookback=5), *halves, names=("one", "other"))
    (told,) = contents.content(graph, groups=found)["groups"]
    assert told["names"] == ["one", "other"]
    assert told["sizes"] == [100, 100]
    assert len(told["labels"]) == len(graph.labels_)
    assert [edge[:2] for edge in told["edges"]] == [
        [graph.labels_.index(e.influencer), graph.labels_.index(e.target)] for e in found.edges
    ]
    with pytest.raises(SettingError, match="what compare_groups returned"):
        contents.content(graph, groups=["men", "women"])
    with pytest.raises(SettingError, match="several of these, not int"):
        contents.content(graph, groups=3)
    small = sm.InfluenceGraph(sm.BSuMM()).fit([["A", "B"]] * 5)
    with pytest.raises(SettingError, match="learn the model from the sequences of all groups"):
        contents.content(small, groups=found)
