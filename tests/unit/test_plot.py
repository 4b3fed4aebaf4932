"""Figures show the numbers that the models have."""

import hashlib
import xml.etree.ElementTree

import numpy as np
import pytest

import summarkov as sm
from summarkov import plot
from summarkov.errors import SettingError
from summarkov.models.exports import STROKES, weight
from summarkov.report.layout import ASPECT, places
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.needs("matplotlib")

HOSTILE = ["<script>", "$x_1$", "a\nb", "مرحبا", "x" * 200, '"&']


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(300, 20, seed=3)


@pytest.fixture(scope="module")
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM()).fit(events)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_graph_has_every_label_where_the_page_has_it(graph):
    axes = plot.graph(graph)
    number = {label: i for i, label in enumerate(graph.labels_)}
    edges = [(number[e.influencer], number[e.target], weight(e)) for e in graph.edges_]
    expected = {
        label: pytest.approx((x * ASPECT, -y))
        for label, (x, y) in zip(number, places(10, edges), strict=True)
    }
    found = {t.get_text(): t.get_position() for t in axes.texts if t.get_text() in number}
    assert found == expected


def test_graph_draws_every_edge_in_its_colour(graph):
    from matplotlib.colors import to_hex

    axes = plot.graph(graph)
    assert [to_hex(patch.get_edgecolor()) for patch in axes.patches] == [
        STROKES["unclear" if edge.is_thin else edge.effect].colour for edge in graph.edges_
    ]
    few = plot.graph(graph, least=1.0, factors=False)
    assert len(few.patches) == sum(weight(edge) >= 1 for edge in graph.edges_)
    assert sorted(texts(few)) == sorted(graph.labels_)


def test_graph_fades_what_is_not_sure(events):
    graph = sm.InfluenceGraph(sm.BSuMM(gamma=0.3), targets=["purchase", "search"]).fit(events)
    graph.confidence(events, n=10)
    axes = plot.graph(graph)
    assert [patch.get_alpha() for patch in axes.patches] == pytest.approx(
        [0.25 + 0.75 * edge.frequency for edge in graph.edges_]
    )


def test_states_are_those_of_the_table(graph):
    model = graph.models_["purchase"]
    axes = plot.states(model)
    table = model.table_
    (marks,) = [
        c for c in axes.collections if c.get_offsets().shape[1] == 2 and len(c.get_offsets()) == len(table)
    ]
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx([row.probabilities[0] for row in table])
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"{row.words}  ({row.n:,g})" if len(row.words) <= 40 else f"{row.words[:39]}…  ({row.n:,g})"
        for row in table
    ]
    segments = [s[:, 0].tolist() for c in axes.collections for s in getattr(c, "get_segments", list)()]
    assert segments == [pytest.approx(list(row.intervals[0])) for row in table]


def test_states_shows_those_seen_most(graph):
    model = graph.models_["purchase"]
    axes = plot.states(model, most=2)
    often = sorted((row.n for row in model.table_), reverse=True)[:2]
    shown = [float(t.get_text().rsplit("(")[-1].rstrip(")").replace(",", "")) for t in axes.get_yticklabels()]
    assert sorted(shown, reverse=True) == often


def test_tree_has_a_leaf_a_state(events):
    model = sm.TreeSuMM("purchase").fit(events)
    axes = plot.tree(model)
    bars = [patch.get_width() for patch in axes.patches if type(patch).__name__ == "Rectangle"]
    p = np.array([row.probabilities[0] for row in model.table_])
    assert np.array(bars) / max(bars) == pytest.approx(p / p.max())
    shown = texts(axes)
    assert sum("n=" in text for text in shown) == len(model.table_)
    assert sum(text.endswith("?") for text in shown) == len(model.table_) - 1
    assert shown.count("yes") == shown.count("no") == len(model.table_) - 1


def test_calibration_draws_the_reliability(events):
    compared = sm.compare(events, models=["chain-0", "bsumm"], targets=["purchase", "search"])
    axes = plot.calibration(compared, ["bsumm"])
    (marks,) = axes.collections
    bins = compared.reliability("bsumm")
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx([b["predicted"] for b in bins])
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["bsumm"]


def test_path_marks_what_is_found(events):
    found = sm.sensitivity(sm.BSuMM("purchase"), events, gamma=[0.1, 1.0, 10.0], lookback=[1, None])
    axes = plot.path(found)
    absent, present = axes.collections
    assert len(present.get_offsets()) == sum(len(row.influencers) for row in found.rows)
    assert len(absent.get_offsets()) + len(present.get_offsets()) == 6 * len(found.edges)
    assert axes.get_xlabel() == "gamma, below it look-back"


def test_given_axes_are_drawn_on(graph):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)[1]
    assert plot.states(graph.models_["search"], ax=axes) is axes
    assert plot.graph(graph, ax=axes) is axes


def test_hostile_labels_are_text(tmp_path):
    sequences = [[x, y] for x in HOSTILE for y in HOSTILE] * 3
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, required=HOSTILE[:2], candidates=[])).fit(sequences)
    plot.save(plot.graph(graph), tmp_path / "graph.svg")
    plot.save(plot.states(graph.models_[HOSTILE[0]]), tmp_path / "states.png")
    words = "".join(xml.etree.ElementTree.parse(tmp_path / "graph.svg").getroot().itertext())
    assert "<script>" in words
    assert "a\\nb" in words
    assert "$x_1$" in words


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_equal_figures_are_equal_files(graph, tmp_path, kind):
    found = set()
    for number in range(2):
        plot.save(plot.graph(graph), tmp_path / f"{number}.{kind}")
        found.add(hashlib.sha256((tmp_path / f"{number}.{kind}").read_bytes()).hexdigest())
    assert len(found) == 1


def test_what_cannot_be_drawn_is_said(graph, events, tmp_path):
    with pytest.raises(SettingError, match=r"let its name end in \.pdf, \.svg or \.png"):
        plot.save(plot.graph(graph), tmp_path / "graph.xyz")
    with pytest.raises(SettingError, match="only a TreeSuMM is a tree"):
        plot.tree(graph.models_["search"])
    several = sm.BSuMM(["search", "purchase"]).fit(events)
    with pytest.raises(SettingError, match="say which label to draw"):
        plot.states(several)
    with pytest.raises(SettingError, match="'browse' is not in the target"):
        plot.states(several, label="browse")
    assert "purchase" in plot.states(several, label="purchase").get_xlabel()
