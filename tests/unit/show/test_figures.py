"""Figures show the numbers that the models have."""

import hashlib
import xml.etree.ElementTree

import numpy as np
import pytest

import summarkov as sm
from summarkov import plot
from summarkov.errors import SettingError
from summarkov.evidence import exact_intervals, weight
from summarkov.evidence.edges import IMPACT
from summarkov.evidence.findings import impact_cell
from summarkov.show import STROKES
from summarkov.show.layout import ASPECT, layout_edges, places
from summarkov.simulate.example import web_shop

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("matplotlib")]

HOSTILE = ["<script>", "$x_1$", "a\nb", "مرحبا", "x" * 200, '"&']


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(300, 20, random_state=3)


@pytest.fixture(scope="module")
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM()).fit(events)


@pytest.fixture(scope="module")
def joint():
    return sm.JointSuMM(gamma=0.1, penalty=10.0).fit(web_shop().simulate(60, 10, random_state=3))


def looped_pairs():
    """Six labels that come twice or more in a row, and one after the other."""
    rng = np.random.default_rng(7)
    sequences = []
    for _ in range(300):
        at, codes = int(rng.integers(6)), []
        for _ in range(20):
            codes.append("ABCDEF"[at])
            at = at if rng.random() < 0.6 else (at + 1) % 6 if rng.random() < 0.7 else int(rng.integers(6))
        sequences.append(codes)
    return sequences


def process_graph():
    """Twenty labels, each of which amplifies some of those after it, with long names."""
    rng = np.random.default_rng(5)
    names = [f"step {chr(97 + i)} of a long process" for i in range(20)]
    sequences = []
    for _ in range(1500):
        at, codes = 0, []
        while at < 20:
            codes.append(names[at])
            at += int(rng.integers(1, 4))
        sequences.append(codes)
    return sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(sequences)


def extents(axes):
    """Where on the drawn figure the boxes of labels are, and the factors."""
    axes.figure.canvas.draw()
    is_label = {text: text.get_bbox_patch().get_facecolor()[0] < 1 for text in axes.texts}
    labels = [text.get_bbox_patch().get_window_extent() for text in axes.texts if is_label[text]]
    return labels, [text.get_window_extent() for text in axes.texts if not is_label[text]]


def overlaps(some):
    return [(a, b) for i, a in enumerate(some) for b in some[i + 1 :] if a.overlaps(b)]


def test_graph_has_every_label_about_where_the_page_has_it(graph):
    axes = plot.graph(graph)
    codes = {label: i for i, label in enumerate(graph.labels_)}
    place = np.array(places(10, layout_edges(graph.edges_, codes))) * [ASPECT, -1.0]
    found = {text.get_text(): text.get_position() for text in axes.texts}
    drawn = np.array([found[label] for label in graph.labels_])
    for i in (0, 1):
        assert np.corrcoef(place[:, i], drawn[:, i])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{}, {"size": 6.0}, {"font_size": 12.0}, {"most": 5}])
def test_boxes_lie_apart_and_lines_end_at_them(graph, options):
    axes = plot.graph(graph, **options)
    found, _ = extents(axes)
    assert len(found) == len(graph.labels_)
    assert overlaps(found) == []
    if "size" in options:
        assert axes.figure.get_size_inches()[0] == pytest.approx(6.0)
    drawn = graph.edges_[: options.get("most")]
    assert len(axes.patches) == len(axes.lines) == len(drawn)
    box = dict(zip(graph.labels_, found, strict=True))
    for edge, line, head in zip(drawn, axes.lines, axes.patches, strict=True):
        start = axes.transData.transform(line.get_xydata()[0])
        tip = axes.transData.transform(head.get_xy()[0])
        assert box[edge.influencer].padded(8).contains(*start)
        assert box[edge.target].padded(14).contains(*tip)


def test_attributes_are_drawn_where_they_influence():
    table = {"case": [], "event": [], "time": [], "shop": []}
    for case in range(60):
        for time, event in enumerate(["look", "buy" if case % 2 else "leave"] * 3):
            for name, value in zip(table, (case, event, time, "AB"[case % 2]), strict=True):
                table[name].append(value)
    events = sm.read_events(table, case="case", event="event", order_by="time", attributes=["shop"])
    free = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events))
    given = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1, given=["shop"])).fit(events))
    shown = [{text.get_text() for text in axes.texts} for axes in (free, given)]
    assert "shop=A" in shown[0] or "shop=B" in shown[0]
    assert {"look", "buy", "leave"} <= shown[1]
    assert {"shop=A", "shop=B"}.isdisjoint(shown[1])


@pytest.mark.parametrize("size", [None, 3.3, 2.0])
def test_the_legend_says_what_is_drawn_and_lies_in_the_figure(joint, size):
    drawn = {edge.faint or edge.shown_effect for edge in joint.edges_}
    assert drawn >= {"amplifies", "unclear", "too few events"}
    axes = plot.graph(joint, size=size)
    axes.figure.canvas.draw()
    legend = axes.get_legend()
    assert {text.get_text() for text in legend.get_texts()} == drawn
    for part in (legend, *legend.get_texts(), legend.get_title(), *legend.legend_handles):
        box = part.get_window_extent()
        assert axes.figure.bbox.padded(0.5).contains(*box.min)
        assert axes.figure.bbox.padded(0.5).contains(*box.max)


def test_factors_of_a_joint_model_are_of_odds(graph, joint):
    titles = [plot.graph(each, most=20).get_legend().get_title().get_text() for each in (graph, joint)]
    assert [title.split(";")[0] for title in titles] == [
        "×2: twice as likely as next event with it in the window",
        "×2: twice the odds with it in the window",
    ]


def test_factors_loops_and_labels_lie_apart():
    fitted = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(looped_pairs())
    axes = plot.graph(fitted)
    labels, factors = extents(axes)
    loops = [line for line, edge in zip(axes.lines, fitted.edges_, strict=True) if edge.is_self]
    around = [line.get_window_extent() for line in loops]
    assert len(loops) == 6 <= len(factors)
    assert all(box.height > 0.2 * axes.figure.dpi for box in around)
    assert overlaps([*factors, *labels]) == []
    assert not any(a.overlaps(b) for a in factors for b in around)


def test_every_edge_has_its_colour_and_a_solid_head(graph, joint):
    from matplotlib.colors import to_hex

    for fitted in (graph, joint):
        axes = plot.graph(fitted)
        for edge, line, head in zip(fitted.edges_, axes.lines, axes.patches, strict=True):
            tint = "#9c9c9c" if edge.faint else STROKES[edge.shown_effect].colour
            assert to_hex(line.get_color()) == to_hex(head.get_edgecolor()) == tint
            assert (to_hex(head.get_facecolor()) == tint) == (edge.shown_effect != "unclear")
            assert (line.get_linewidth() == 0.5) == bool(edge.faint)
            assert line.is_dashed() == (STROKES[edge.shown_effect].line != "solid")
            assert head.get_linestyle() == "solid"
    few = plot.graph(graph, least=1.0, factors=False)
    assert len(few.patches) == sum(weight(edge) >= 1 for edge in graph.edges_)
    assert sorted(text.get_text() for text in few.texts) == sorted(graph.labels_)


def test_lines_to_and_fro_are_two():
    sequences = [["A", "B"] * 5, ["B", "A", "C"] * 4] * 20
    both = sm.InfluenceGraph(sm.BSuMM(lookback=1, required=["A", "B"], candidates=[])).fit(sequences)
    line = dict(zip([(e.influencer, e.target) for e in both.edges_], plot.graph(both).lines, strict=True))
    forth, back = (line[pair].get_xydata() for pair in (("A", "B"), ("B", "A")))
    middle = forth[len(forth) // 2]
    assert np.linalg.norm(back - middle, axis=1).min() > 0.04  # inches


def test_graph_fades_what_is_not_sure(events):
    graph = sm.InfluenceGraph(sm.BSuMM(gamma=0.3, false_edges=None), targets=["purchase", "search"]).fit(
        events
    )
    graph.confidence(events, n=10)
    assert [patch.get_alpha() for patch in plot.graph(graph).patches] == pytest.approx(
        [0.7 + 0.3 * edge.frequency for edge in graph.edges_]
    )


def test_states_are_those_of_the_table(graph):
    """Shares as counted, in percent; of many influencers those that occurred are named."""
    model = graph.models_["purchase"]
    axes = plot.states(model)
    table = sorted(model.table_, key=lambda row: -row.counts[0] / row.n)
    intervals, marks = axes.collections
    exact = 100 * exact_intervals([row.counts[0] for row in table], [row.n for row in table])
    assert np.array([s[:, 0] for s in intervals.get_segments()]) == pytest.approx(exact)
    shares = [100 * row.counts[0] / row.n for row in table]
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx(shares)
    shown = [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]
    assert shown == [f"{', '.join(row.state) or 'none of them'} ({row.n:,g})" for row in table]
    assert axes.xaxis.get_major_formatter()(40) == "40%"
    few = plot.states(model, most=2)
    often = sorted((row.n for row in model.table_), reverse=True)[:2]
    assert {text.get_text().split("  ")[1] for text in few.get_yticklabels()} == {f"({n:,g})" for n in often}
    title = " ".join(few.get_title("left").split())
    assert title == f"purchase as the next event: the 2 most frequent of {len(table)} history states"


@pytest.mark.parametrize(("of", "names"), [("ratio", ("ratio", "low", "high")), ("impact", IMPACT)])
def test_the_forest_shows_findings_with_their_intervals(graph, of, names):
    axes, found = plot.forest(graph, of=of), graph.findings_.influences
    assert len(found) > 5
    for edge, line, mark in zip(found, axes.lines[:-1:2], axes.lines[1:-1:2], strict=True):
        numbers = [float(*mark.get_xdata()), *line.get_xdata()]
        assert numbers == pytest.approx([getattr(edge, name) for name in names])
    assert axes.lines[-1].get_xdata()[0] == (of == "ratio")
    rows = [text.get_text() for text in axes.get_yticklabels()]
    assert rows == [f"{edge.influencer} → {edge.target}" for edge in found]
    assert all(f"impact {impact_cell(e)}" in t.get_text() for e, t in zip(found, axes.texts, strict=True))
    title = " ".join(plot.forest(graph, most=3).get_title("left").split())
    assert title == f"{graph.findings_.extent} (the first 3 of {len(found)} findings)"


def test_calibration_draws_the_reliability(graph):
    found = graph.evaluate(web_shop().simulate(50, 20, random_state=4))
    for label in (None, "purchase"):
        axes = plot.calibration(found, label=label)
        (marks,) = axes.collections
        bins = [b for b in found.reliability(label) if b.occurred]
        filled = np.asarray(marks.get_offsets())[marks.get_facecolors()[:, 3] > 0]
        assert filled == pytest.approx(np.array([(b.predicted, b.occurred) for b in bins]))
        assert axes.get_xlabel() == "predicted probability" + (" of purchase" if label else "")
    assert len(plot.calibration(found, ax=axes).collections) == 2  # beside another
    with pytest.raises(SettingError, match=r"InfluenceGraph has no calibration; give what model\.evaluate"):
        plot.calibration(graph)
    with pytest.raises(SettingError, match="there is no label 'serch'; did you mean 'search'"):
        plot.calibration(found, label="serch")


def test_figures_are_shown_in_notebooks_and_drawn_on_given_axes(graph, events):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)[1]
    assert plot.graph(graph, ax=axes) is axes
    tree = sm.TreeSuMM("purchase").fit(events)
    assert len(plot.states(tree, ax=axes).get_yticklabels()) == len(tree.table_)
    assert plot.graph(graph)._repr_png_()[:4] == b"\x89PNG"


def test_hostile_labels_are_text(tmp_path):
    sequences = [[x, y] for x in HOSTILE for y in HOSTILE] * 3
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, required=HOSTILE[:2], candidates=[])).fit(sequences)
    plot.save(plot.graph(graph), tmp_path / "graph.svg")
    plot.save(plot.states(graph.models_[HOSTILE[0]]), tmp_path / "states.png")
    words = "".join(xml.etree.ElementTree.parse(tmp_path / "graph.svg").getroot().itertext())
    assert all(part in words for part in ("<script>", "a\\nb", "$x_1$"))


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
    for model, of in ((graph, "odds"), (graph.models_["purchase"], "ratio")):
        with pytest.raises(SettingError, match="a forest shows of='ratio' or 'impact' of an InfluenceGraph"):
            plot.forest(model, of=of)
    several = sm.BSuMM(["search", "purchase"]).fit(events)
    with pytest.raises(SettingError, match="say which label to draw"):
        plot.states(several)
    with pytest.raises(SettingError, match="'browse' is not in the target"):
        plot.states(several, label="browse")
    assert "purchase" in plot.states(several, label="purchase").get_xlabel()


def test_a_figure_for_print_keeps_its_width_and_its_letters(tmp_path):
    axes = plot.graph(process_graph(), most=40, size=6.3, font_size=8)
    plot.save(axes, tmp_path / "figure.pdf")
    wide, high = axes.figure.get_size_inches()
    assert (wide, high < 9) == (6.3, True)
    labels, factors = extents(axes)
    assert len(labels) == 20
    assert {text.get_fontsize() for text in axes.texts} == {8, 6.4}
    assert overlaps(labels) == []
    edges = axes.figure.bbox
    assert all(edges.contains(*corner) for box in [*labels, *factors] for corner in box.corners())
    assert len(factors) > 20
    assert not any(a.overlaps(b) for a in factors for b in labels)
