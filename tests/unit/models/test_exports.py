"""Graphs as files of other programs."""

import io

import networkx
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.wording import percent, visible

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SEQUENCES = [["A", "B", "C"] * 4, ["C", "A", "B"] * 4, ["B", "B", "A", "D"]] * 5
HOSTILE = sorted(['"', "]", "a\nb", "a\x07", "a\\x07", "<b>&amp;", "end", "مرحبا", "x" * 300, "#35;", "n0"])


@pytest.fixture(scope="module")
def graph():
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(SEQUENCES)


@pytest.fixture(scope="module")
def hostile():
    sequences = [[x, y] for x in HOSTILE for y in HOSTILE if x < y] * 2
    template = sm.BSuMM(lookback=1, required=HOSTILE[:3], candidates=[])
    return sm.InfluenceGraph(template).fit(sequences)


@pytest.mark.parametrize("which", ["graph", "hostile"])
def test_graphml_reads_back(which, request):
    graph = request.getfixturevalue(which)
    found = networkx.read_graphml(io.BytesIO(graph.to_graphml().encode()))
    assert [data["label"] for _, data in found.nodes(data=True)] == [visible(x) for x in graph.labels_]
    assert sorted(data["n_with"] for *_, data in found.edges(data=True)) == pytest.approx(
        sorted(edge.n_with for edge in graph.edges_)
    )
    number = {label: f"n{i}" for i, label in enumerate(graph.labels_)}
    for edge in graph.edges_:
        data = found.edges[number[edge.influencer], number[edge.target]]
        assert data["effect"] == edge.effect


def test_edges_as_a_table(graph):
    table = graph.edges_.to_frame("pyarrow")
    assert isinstance(table, pa.Table)
    rows = table.to_pylist()
    assert len(rows) == len(graph.edges_) > 0
    for row, edge in zip(rows, graph.edges_, strict=True):
        assert {name: row[name] for name in vars(edge)} == vars(edge)
        assert (row["rate_with"], row["is_thin"]) == (edge.rate_with, edge.is_thin)


def test_notebooks_show_tables(graph, hostile):
    text = graph._repr_html_()
    assert text.count("<tr>") == 1 + len(graph.edges_)
    assert "amplifies" in text
    for model in graph.models_.values():
        shown = model._repr_html_()
        assert shown.count("<tr>") == 1 + len(model.table_)
        for row in model.table_:
            assert percent(row.probabilities[0]) in shown
    strange = hostile._repr_html_() + hostile.models_[HOSTILE[0]]._repr_html_()
    assert "<b>" not in strange
    assert "&lt;b&gt;&amp;amp;" in strange
    assert "x" * 100 not in strange


def test_notebooks_show_what_is_not_fitted():
    assert sm.BSuMM("<b>")._repr_html_() == "<p><bdi>BSuMM(target=&#x27;&lt;b&gt;&#x27;)</bdi></p>"
    assert "InfluenceGraph" in sm.InfluenceGraph(sm.BSuMM())._repr_html_()


KINDS = {
    "attributes": {"attributes": ["region"]},
    "ticks": {"ties": "together"},
    "times": {"times": True},
    "weights": {"weight": "w"},
    "cut off": {"ends": "cut off"},
    "complete": {"ends": "complete"},
}


def table_of_cases():
    """Forty cases in which B follows A, with a day, a region and a weight."""
    rows = {"case": [], "event": [], "day": [], "region": [], "w": []}
    for case in range(40):
        for day, event in enumerate(["A", "B", "C", "A", "B"] if case % 4 else ["C", "A", "C", "C", "B"]):
            for name, value in zip(
                rows, (f"c{case}", event, day // 2, "NS"[case % 2], case % 3 + 1), strict=True
            ):
                rows[name].append(value)
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_is_exported(kind, tmp_path):
    table = table_of_cases()
    events = sm.read_events(
        table, case="case", event="event", order_by="day", **{"ties": "in row order"} | KINDS[kind]
    )
    template = sm.BSuMM(lookback="1 units" if kind == "times" else 1, required=["A"])
    graph = sm.InfluenceGraph(template, targets=["B", "C"]).fit(events)
    labels = {visible(label) for label in graph.labels_}
    assert len(graph.edges_) >= 2
    read = networkx.read_graphml(io.BytesIO(graph.to_graphml().encode()))
    assert {data["label"] for _, data in read.nodes(data=True)} == labels
    assert read.number_of_edges() == len(graph.edges_) == graph.to_networkx().number_of_edges()
    assert graph.to_dot().count(" -> ") == len(graph.edges_) == len(graph.edges_.to_frame("pyarrow"))
    assert len(graph.to_html()) > 10_000
    graph.save(tmp_path / "model.json")
    assert sm.load(tmp_path / "model.json").to_graphml() == graph.to_graphml()
