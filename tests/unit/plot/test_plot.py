"""Figures show the numbers that the models have."""

import hashlib
import xml.etree.ElementTree

import numpy as np
import pytest

import summarkov as sm
from summarkov import plot
from summarkov.errors import SettingError
from summarkov.explain import Influence, weight
from summarkov.models.edges import STROKES
from summarkov.plot.canvas import FAINT, LOOP, head, look, plain, renderer_of
from summarkov.report.content import layout_edges
from summarkov.report.layout import ASPECT, places
from summarkov.simulate.example import web_shop

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("matplotlib")]

HOSTILE = ["<script>", "$x_1$", "a\nb", "مرحبا", "x" * 200, '"&']


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(300, 20, seed=3)


@pytest.fixture(scope="module")
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM()).fit(events)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def boxes(axes, labels):
    axes.figure.canvas.draw()
    found = {text.get_text(): text for text in axes.texts}
    return {label: found[label].get_bbox_patch().get_window_extent() for label in labels}


def test_graph_has_every_label_about_where_the_page_has_it(graph):
    axes = plot.graph(graph)
    codes = {label: i for i, label in enumerate(graph.labels_)}
    place = np.array(places(10, layout_edges(graph.edges_, codes))) * [ASPECT, -1.0]
    found = {text.get_text(): text.get_position() for text in axes.texts}
    drawn = np.array([found[label] for label in graph.labels_])
    for i in (0, 1):
        assert np.corrcoef(place[:, i], drawn[:, i])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{}, {"size": 6.0}, {"font_size": 12.0}, {"most": 5}])
def test_graph_has_boxes_that_lie_apart(graph, options):
    axes = plot.graph(graph, **options)
    found = list(boxes(axes, graph.labels_).values())
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[i + 1 :])
    assert axes.figure.get_size_inches()[0] == pytest.approx(
        options.get("size", axes.figure.get_size_inches()[0])
    )
    assert len(axes.patches) == min(len(graph.edges_), options.get("most", 99))


def test_arrows_end_at_their_boxes_in_the_first_drawing(graph):
    edges = [edge for edge in graph.edges_ if not edge.is_self]
    axes = plot.graph(graph)
    arrows = [patch for patch, edge in zip(axes.patches, graph.edges_, strict=True) if not edge.is_self]
    axes.figure.canvas.draw()
    first = [patch.get_path().vertices.copy() for patch in arrows]
    found = boxes(axes, graph.labels_)
    for patch, edge, before in zip(arrows, edges, first, strict=True):
        assert patch.get_path().vertices == pytest.approx(before, abs=0.01)
        paths = patch.get_transform().transform_path(patch.get_path())
        ends = [paths.vertices[0], paths.vertices[2]]
        near = [found[label].padded(12) for label in (edge.influencer, edge.target)]
        for end, box in zip(ends, near, strict=True):
            assert box.contains(*end)


def test_attributes_are_drawn_where_they_influence():
    table = {"case": [], "event": [], "time": [], "shop": []}
    for case in range(60):
        for time, event in enumerate(["look", "buy" if case % 2 else "leave"] * 3):
            for name, value in zip(table, (case, event, time, "AB"[case % 2]), strict=True):
                table[name].append(value)
    events = sm.read_events(table, case="case", event="event", order="time", attributes=["shop"])
    free = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events))
    given = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1, given=["shop"])).fit(events))
    shown = [{text.get_text() for text in axes.texts} for axes in (free, given)]
    assert "shop=A" in shown[0] or "shop=B" in shown[0]
    assert {"look", "buy", "leave"} <= shown[1]
    assert {"shop=A", "shop=B"}.isdisjoint(shown[1])


def test_graph_has_a_legend_of_what_it_draws(graph):
    told = [text.get_text() for text in plot.graph(graph).get_legend().get_texts()]
    effects = {edge.effect for edge in graph.edges_} | (
        {"too few events"} if any(e.faint for e in graph.edges_) else set()
    )
    assert set(told) == effects


@pytest.fixture(scope="module")
def joint():
    return sm.JointSuMM(gamma=0.1, penalty=10.0).fit(web_shop().simulate(60, 10, seed=3))


def test_factors_of_a_joint_model_are_of_odds(graph, joint):
    titles = [plot.graph(each, most=20).get_legend().get_title().get_text() for each in (graph, joint)]
    assert [title.split(";")[0] for title in titles] == [
        "×2: twice as likely as next event with it in the window",
        "×2: twice the odds with it in the window",
    ]


@pytest.mark.parametrize("size", [None, 3.3, 2.0])
def test_the_legend_lies_in_the_figure(joint, size):
    drawn = {edge.faint or edge.shown_effect for edge in joint.edges_}
    assert drawn >= {"amplifies", "unclear", "too few events"}
    axes = plot.graph(joint, size=size)
    axes.figure.canvas.draw()
    legend = axes.get_legend()
    for part in (legend, *legend.get_texts(), legend.get_title(), *legend.legend_handles):
        box = part.get_window_extent()
        assert axes.figure.bbox.padded(0.5).contains(*box.min)
        assert axes.figure.bbox.padded(0.5).contains(*box.max)


def test_factors_loops_and_labels_lie_apart():
    events = looped_pairs()
    for fitted in (sm.JointSuMM().fit(events), sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)):
        axes = plot.graph(fitted)
        axes.figure.canvas.draw()
        own = [text for text in axes.texts if text.get_text() in fitted.labels_]
        factors = [text.get_window_extent() for text in axes.texts if text not in own]
        loops = [
            patch.get_window_extent()
            for patch, edge in zip(axes.patches, fitted.edges_, strict=True)
            if edge.is_self
        ]
        assert len(loops) == 6
        assert all(box.height > 0.9 * LOOP * axes.figure.dpi for box in loops)
        assert len(factors) >= len(loops)
        apart = [*factors, *(text.get_bbox_patch().get_window_extent() for text in own)]
        assert not any(a.overlaps(b) for i, a in enumerate(apart) for b in apart[i + 1 :])
        assert not any(a.overlaps(b) for a in factors for b in loops)


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


def test_unclear_edges_have_a_ring_at_their_end_and_thin_ones_are_lighter():
    from matplotlib.path import Path

    unclear = Influence("A", "B", "unclear", 1.0, 0.5, 2.0, 30, 100, 60, 200)
    thin = Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 3, 10, 6, 20)
    assert (unclear.faint, thin.faint) == ("", "too few events")
    one, other = look(unclear), look(thin)
    assert one["edgecolor"] == STROKES["unclear"].colour != other["edgecolor"] == FAINT
    assert one["linewidth"] > 1.5 * other["linewidth"]
    (line, ring), filled = head("unclear")(Path([(0, 0), (0, 20)]), 1, 1)
    assert line.vertices.tolist() == [[0, 0], [0, 20]]
    assert filled == [False, True]
    assert np.linalg.norm(ring.vertices - [0, 18], axis=1) == pytest.approx(2)  # upwards, as the line


def test_heads_of_dashed_lines_are_solid():
    inhibiting = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(
        [["A", "B", "B", "C"], ["B", "C", "A", "A"]] * 50
    )
    (at,) = [i for i, edge in enumerate(inhibiting.edges_) if edge.effect == "inhibits"][:1]
    axes = plot.graph(inhibiting)
    drawn = []

    class Pen(renderer_of(axes).__class__):
        def draw_path(self, gc, path, transform, rgbFace=None):
            drawn.append(gc.get_dashes()[1])

    axes.figure.canvas.draw()
    axes.patches[at].draw(Pen(100, 100, axes.figure.dpi))
    line, *heads = drawn
    assert line is not None
    assert set(heads) == {None}


def test_lines_to_and_fro_are_two():
    sequences = [["A", "B"] * 5, ["B", "A", "C"] * 4] * 20
    both = sm.InfluenceGraph(sm.BSuMM(lookback=1, required=["A", "B"], candidates=[])).fit(sequences)
    axes = plot.graph(both)
    axes.figure.canvas.draw()
    bends = {
        (edge.influencer, edge.target): patch.get_connectionstyle().rad
        for patch, edge in zip(axes.patches, both.edges_, strict=True)
        if not edge.is_self
    }
    assert abs(bends["A", "B"] + bends["B", "A"]) >= 0.1


def test_a_notebook_shows_the_figure(graph):
    assert plot.graph(graph)._repr_png_()[:4] == b"\x89PNG"
    assert plot.states(graph.models_["search"])._repr_png_()[:4] == b"\x89PNG"


def test_joined_emoji_stay_joined():
    assert plain("\U0001f469\u200d\U0001f4bb a\x00") == "\U0001f469\u200d\U0001f4bb a\\x00"


def test_graph_draws_every_edge_in_its_colour(graph):
    from matplotlib.colors import to_hex

    axes = plot.graph(graph)
    assert [to_hex(patch.get_edgecolor()) for patch in axes.patches] == [
        FAINT if edge.faint else STROKES[edge.effect].colour for edge in graph.edges_
    ]
    few = plot.graph(graph, least=1.0, factors=False)
    assert len(few.patches) == sum(weight(edge) >= 1 for edge in graph.edges_)
    assert sorted(texts(few)) == sorted(graph.labels_)


def test_graph_fades_what_is_not_sure(events):
    graph = sm.InfluenceGraph(sm.BSuMM(gamma=0.3, false_edges=None), targets=["purchase", "search"]).fit(
        events
    )
    graph.confidence(events, n=10)
    axes = plot.graph(graph)
    assert [patch.get_alpha() for patch in axes.patches] == pytest.approx(
        [0.7 + 0.3 * edge.frequency for edge in graph.edges_]
    )


def test_states_are_those_of_the_table(graph):
    model = graph.models_["purchase"]
    axes = plot.states(model)
    order = np.argsort([-row.probabilities[0] for row in model.table_], kind="stable")
    table = [model.table_[i] for i in order]
    (marks,) = [
        c
        for c in axes.collections
        if c.get_offsets().shape[1] == 2 and len(c.get_offsets()) == len(table) and c.get_clip_on()
    ]
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx([row.probabilities[0] for row in table])
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"{row.n:,g}" for row in table]
    dots = [c for c in axes.collections if len(c.get_facecolors()) == len(table) and not c.get_clip_on()]
    assert len(dots) == len(model.influencers_)
    for i, column in enumerate(dots):
        is_filled = column.get_facecolors()[:, 0] < 0.5
        assert is_filled.tolist() == (model.fitted.table.keys[order, i] > 0).tolist()
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
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx([b.predicted for b in bins])
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["bsumm"]
    (marks,) = plot.calibration(compared, ["bsumm"], target="search").collections
    own = compared.reliability("bsumm", "search")
    assert np.asarray(marks.get_offsets())[:, 0] == pytest.approx([b.predicted for b in own])
    both = sum(b.n for x in ("purchase", "search") for b in compared.reliability("bsumm", x))
    assert both == sum(b.n for b in bins) == 2 * sum(b.n for b in own)
    with pytest.raises(SettingError, match="no target 'serch'; did you mean 'search'"):
        compared.reliability("bsumm", "serch")


def test_calibration_of_one_model_draws_its_evaluation(graph, events):
    new = web_shop().simulate(50, 20, seed=4)
    for fitted in (graph, graph.models_["purchase"], sm.JointSuMM(penalty=10.0).fit(events)):
        found = fitted.evaluate(new)
        for label in (None, "purchase"):
            axes = plot.calibration(found, label=label)
            (marks,) = axes.collections
            bins = [b for b in found.reliability(label) if b.occurred]
            assert bins
            drawn = [
                place
                for place, face in zip(marks.get_offsets(), marks.get_facecolors(), strict=True)
                if face[3]
            ]
            assert np.array(drawn) == pytest.approx(np.array([(b.predicted, b.occurred) for b in bins]))
            assert axes.get_xlabel() == "predicted probability" + (" of purchase" if label else "")
            assert axes.get_legend() is None


def test_what_has_no_calibration_is_said(graph, events):
    found = graph.models_["search"].evaluate(events)
    compared = sm.compare(events, models=["chain-0"], targets=["search"])
    for asked, options, words in [
        (graph, {}, r"InfluenceGraph has no calibration; give what model\.evaluate\(events\) or compare"),
        (compared, {"names": []}, "names= is empty"),
        (compared, {"label": "search"}, "choose a target="),
        (found, {"names": ["bsumm"]}, "choose a label="),
        (found, {"target": "search"}, "choose a label="),
        (found, {"label": "serch"}, "there is no label 'serch'; did you mean 'search'"),
    ]:
        with pytest.raises(SettingError, match=words):
            plot.calibration(asked, **options)


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


def test_a_figure_for_print_keeps_its_width_and_its_letters(tmp_path):
    graph = process_graph()
    assert len(graph.edges_) > 40
    axes = plot.graph(graph, most=40, size=6.3, font_size=8)
    plot.save(axes, tmp_path / "figure.pdf")
    wide, high = axes.figure.get_size_inches()
    assert (wide, high < 9) == (6.3, True)
    labels = [text for text in axes.texts if text.get_bbox_patch().get_facecolor()[0] < 1]
    assert len(labels) == 20
    assert {text.get_fontsize() for text in labels} == {8}
    axes.figure.canvas.draw()
    found = [text.get_bbox_patch().get_window_extent() for text in labels]
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[i + 1 :])
    edges = axes.figure.bbox
    assert all(edges.contains(*corner) for box in found for corner in box.corners())
    legend = axes.get_legend().get_window_extent()
    assert edges.x0 <= legend.x0
    assert edges.y0 <= legend.y0 + 1e-9
    factors = [text.get_window_extent() for text in axes.texts if text not in labels]
    assert len(factors) > 20
    assert not any(a.overlaps(b) for a in factors for b in found)
