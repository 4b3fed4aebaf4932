"""Graphs as tables, in notebooks, and as files of other programs."""

import io
import re

import networkx
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.simulate.example import web_shop
from summarkov.wording import percent, visible

pytestmark = pytest.mark.cut_off

SEQUENCES = [["A", "B", "C"] * 4, ["C", "A", "B"] * 4, ["B", "B", "A", "D"]] * 5
HOSTILE = sorted(
    [
        *('"', "\\", "\\N", '"]; x [label="y', "a -> b", "a\nb", "}", "", "ü{}|é", "//c", "]", "a\x07"),
        *("a\\x07", "<b>&amp;", "end", "مرحبا", "x" * 300, "#35;", "n0"),
    ]
)


@pytest.fixture(scope="module")
def graph():
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(SEQUENCES)


@pytest.fixture(scope="module")
def hostile():
    sequences = [[x, y] for x in HOSTILE for y in HOSTILE if x < y] * 2
    template = sm.BSuMM(lookback=1, required=HOSTILE[:3], candidates=[])
    return sm.InfluenceGraph(template).fit(sequences)


@pytest.fixture(params=["graph", "hostile"])
def either(request):
    return request.getfixturevalue(request.param)


def test_graphml_reads_back(either):
    found = networkx.read_graphml(io.BytesIO(either.to_graphml().encode()))
    assert [data["label"] for _, data in found.nodes(data=True)] == [visible(x) for x in either.labels_]
    assert found.number_of_edges() == len(either.edges_)
    number = {label: f"n{i}" for i, label in enumerate(either.labels_)}
    for edge in either.edges_:
        data = found.edges[number[edge.influencer], number[edge.target]]
        assert (data["effect"], data["n_with"]) == (edge.effect, pytest.approx(edge.n_with))


#: What DOT calls a quoted string: anything but quotes, except after a backslash.
QUOTED = r'"(?:[^"\\\n]|\\.)*"'


def unquoted(text):
    """Read a quoted string of DOT, as our labels are escaped."""
    assert re.fullmatch(QUOTED, text)
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text[1:-1])


def read_dot(text):
    """Nodes, and edges with their attributes; whatever else there is must be a default or the frame."""
    attribute = rf"(\w+)=({QUOTED}|[\w.]+)"
    node = re.compile(rf"({QUOTED});")
    edge = re.compile(rf"({QUOTED}) -> ({QUOTED}) \[((?:{attribute}(?:, )?)+)\];")
    frame = re.compile(rf"digraph influence {{|}}|rankdir=LR;|(?:node|edge) \[(?:{attribute}(?:, )?)+\];")
    nodes, edges = [], {}
    for line in text.splitlines():
        if found := node.fullmatch(line.strip()):
            nodes.append(unquoted(found[1]))
        elif found := edge.fullmatch(line.strip()):
            edges[unquoted(found[1]), unquoted(found[2])] = dict(re.findall(attribute, found[3]))
        else:
            assert frame.fullmatch(line.strip()), line
    return nodes, edges


def test_dot(either):
    nodes, edges = read_dot(either.to_dot())
    assert nodes == list(either.labels_)
    assert set(edges) == {(edge.influencer, edge.target) for edge in either.edges_}
    for edge in either.edges_:
        told = edges[edge.influencer, edge.target]
        assert f": {edge.effect}, " in told["tooltip"]
        if edge.effect == "amplifies" and not edge.is_thin:
            assert told["color"] == '"#0a62a9"'


def test_networkx():
    events = web_shop().simulate(n_sequences=60, length=20, random_state=1)
    for model in (sm.InfluenceGraph(sm.BSuMM()), sm.JointSuMM(gamma=0.25)):
        found = model.fit(events).to_networkx()
        assert isinstance(found, networkx.DiGraph)
        assert list(found.nodes) == list(events.labels)
        assert [found.nodes[x]["n"] for x in events.labels] == events.label_counts.tolist()
        assert len(found.edges) == len(model.edges_) > 0
        for edge in model.edges_:
            data = found.edges[edge.influencer, edge.target]
            assert {name: getattr(edge, name) for name in data} == data
            assert {"effect", "ratio", "low", "high", "n_with", "n_without", "is_thin"} <= set(data)
    assert '"add to cart" -> "purchase"' in model.to_dot()


def test_edges_as_a_table(graph):
    rows = graph.edges_.to_frame("pyarrow").to_pylist()
    assert len(rows) == len(graph.edges_) > 0
    for row, edge in zip(rows, graph.edges_, strict=True):
        assert {name: row[name] for name in vars(edge)} == vars(edge)
        assert (row["rate_with"], row["is_thin"]) == (edge.rate_with, edge.is_thin)


def test_notebooks_show_tables(graph, hostile):
    text = graph._repr_html_()
    assert text.count("<tr>") == 1 + len(graph.findings_.influences)
    assert "rate ratio" in text
    for model in graph.models_.values():
        shown = model._repr_html_()
        assert shown.count("<tr>") == 1 + len(model.table_)
        for row in model.table_:
            assert percent(row.counts[0] / row.n) in shown
    strange = hostile._repr_html_() + hostile.edges_._repr_html_() + hostile.edges_._repr_html_()
    strange += hostile.models_[HOSTILE[-1]]._repr_html_()
    assert "<b>" not in strange
    assert "&lt;b&gt;&amp;amp;" in strange
    assert "x" * 100 not in strange
    assert sm.BSuMM("<b>")._repr_html_() == "<p><bdi>BSuMM(target=&#x27;&lt;b&gt;&#x27;)</bdi></p>"
    assert "InfluenceGraph" in sm.InfluenceGraph(sm.BSuMM())._repr_html_()


@pytest.mark.parametrize(
    ("lookback", "kind"),
    [
        (1, {"attributes": ["region"], "ties": "together", "weight": "w", "ends": "complete"}),
        ("1 units", {"times": True, "ties": "in row order", "ends": "cut off"}),
    ],
    ids=["ticks", "times"],
)
def test_every_kind_of_data_is_exported(lookback, kind, tmp_path):
    """Forty cases in which B follows A, with a day, a region and a weight."""
    rows = [
        {"case": f"c{case}", "event": event, "day": day // 2, "region": "NS"[case % 2], "w": case % 3 + 1}
        for case in range(40)
        for day, event in enumerate("ABCAB" if case % 4 else "CACCB")
    ]
    events = sm.read_events(pa.Table.from_pylist(rows), order_by="day", **kind)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=lookback, required=["A"]), targets=["B", "C"]).fit(events)
    read = networkx.read_graphml(io.BytesIO(graph.to_graphml().encode()))
    assert {data["label"] for _, data in read.nodes(data=True)} == {visible(each) for each in graph.labels_}
    assert read.number_of_edges() == len(graph.edges_) == graph.to_networkx().number_of_edges() >= 2
    assert graph.to_dot().count(" -> ") == len(graph.edges_) == len(graph.edges_.to_frame("pyarrow"))
    assert len(graph.to_html()) > 10_000
    graph.save(tmp_path / "model.json")
    assert sm.load(tmp_path / "model.json").to_graphml() == graph.to_graphml()
