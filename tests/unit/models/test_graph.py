"""``InfluenceGraph``: all labels at once."""

import math
import re
import threading

import networkx
import numpy as np
import pytest

import summarkov as sm
from summarkov.engines import MemorySource
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.models import learning

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

RULES = {
    "A": (("B", "C"), {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}),
    "B": (("B", "C"), {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}),
    "C": 0.3,
    "D": 0.2,
    "E": 0.1,
}
#: A, B, C in a circle: each comes after the one before it.
CIRCLE = [["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5


@pytest.fixture(scope="module")
def events():
    return sm.Dynamics(RULES, lookback=3).simulate(600, 10, random_state=6)


@pytest.fixture(scope="module")
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events)


# ---------------------------------------------------------------------------------- what was learned


def test_the_truth_is_found(graph):
    assert graph.influencers_["A"] == ("B", "C")
    assert graph.influencers_["B"] == ("B", "C")
    assert list(graph.influencers_) == ["A", "B", "C", "D", "E"]
    assert graph.labels_ == ("A", "B", "C", "D", "E")


@pytest.mark.parametrize(
    "template",
    [
        sm.BSuMM(lookback=3, false_edges=None),
        sm.BSuMM(lookback={"A": 1, "B": None}, required=["E"], false_edges=None),
        sm.OSuMM(lookback=3, gamma=0.3, false_edges=None),
        sm.CSuMM(lookback=4, cap=2, search="sweep", false_edges=None),
        sm.MarkovChain(order=2),
    ],
    ids=repr,
)
def test_each_model_is_the_one_fitted_alone(template, events):
    graph = sm.InfluenceGraph(template).fit(events)
    for label, model in graph.models_.items():
        alone = template.copy(target=label).fit(events)
        assert (model.score_, model.trace_) == (alone.score_, alone.trace_)
        assert list(model.table_) == list(alone.table_)


def test_edges_are_sorted_by_evidence(graph):
    edges = graph.edges_
    order = [(e.is_thin, e.is_self, e.effect in ("mixed", "unclear"), -e.evidence) for e in edges]
    assert order == sorted(order)
    assert {e.is_self for e in edges} == {True, False}
    for edge in edges:
        sure = {"amplifies": edge.low, "inhibits": 1 / edge.high if edge.high else 1.0}.get(edge.effect, 1.0)
        assert edge.evidence == pytest.approx(math.log(sure), abs=1e-12)
    assert {(e.influencer, e.target) for e in edges} == {
        (z, x) for x, found in graph.influencers_.items() for z in found
    }
    assert [(e.influencer, e.effect) for e in edges if e.target == "A"] == [
        ("C", "inhibits"),
        ("B", "amplifies"),
    ]


def test_networkx(graph, events):
    found = graph.to_networkx()
    assert isinstance(found, networkx.DiGraph)
    assert list(found.nodes) == list("ABCDE")
    assert [found.nodes[x]["n"] for x in "ABCDE"] == events.label_counts.tolist()
    assert len(found.edges) == len(graph.edges_)
    for edge in graph.edges_:
        assert found.edges[edge.influencer, edge.target] == {
            name: getattr(edge, name)
            for name in (
                *("effect", "ratio", "low", "high", "interval", "hits_with", "n_with", "hits_without"),
                *("n_without", "cases_with", "cases_followed", "is_thin", "occurrences", "followed"),
                *("follow_rate", "occurrences_other", "followed_other", "follow_rate_other", "left_out"),
                *("follow_rule", *(("cases_both", "cases_first") if not edge.is_self else ())),
                *("corrected_ratio", "corrected_low", "corrected_high", "comparable_hits"),
                *("comparable_expected", "not_comparable", "set_aside"),
            )
        }
    assert found.has_edge("B", "B")  # a label may influence itself
    assert not found.has_edge("A", "C")


# ---------------------------------------------------------------------------------- DOT

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


def test_dot():
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(CIRCLE)
    text = graph.to_dot()
    assert text.startswith("digraph influence {\n")
    assert text.endswith("}\n")
    nodes, edges = read_dot(text)
    assert nodes == ["A", "B", "C"]
    assert set(edges) == {("C", "A"), ("A", "B"), ("B", "C")}
    for found in edges.values():
        assert found["color"] == '"#0a62a9"'
        assert ": amplifies, " in found["tooltip"]


HOSTILE = sorted(['"', "\\", "\\N", '"]; x [label="y', "a -> b", "line\nbreak", "}", "", "ü{}|é", "//c"])


def test_dot_quotes_hostile_labels():
    sequences = [[x, y] for x in HOSTILE for y in HOSTILE if x < y] * 2
    template = sm.BSuMM(lookback=1, required=HOSTILE[:3], candidates=[])
    text = sm.InfluenceGraph(template).fit(sequences).to_dot()
    nodes, edges = read_dot(text)  # refuses any line that is neither
    assert nodes == HOSTILE
    assert sorted(edges) == sorted((z, x) for z in HOSTILE[:3] for x in HOSTILE)


# ---------------------------------------------------------------------------------- use


def test_unknown_labels(graph):
    with pytest.raises(UnknownLabelError, match="unknown label 'Z'"):
        graph.predict_proba([["A", "Z"]])
    p = graph.predict_proba([["B", "Z", "A"]], unknown="ignore")
    assert p.shape == (3, 5)
    known = graph.log_likelihood([["B", "Z", "A"]], unknown="ignore")
    assert known == pytest.approx(math.log(p[0, 1]) + math.log(p[2, 0]), rel=1e-12)
    squares = [((p[0] - np.eye(5)[1]) ** 2).sum(), ((p[2] - np.eye(5)[0]) ** 2).sum()]
    assert graph.brier_score([["B", "Z", "A"]], unknown="ignore") == pytest.approx(
        np.mean(squares), rel=1e-12
    )


def test_some_targets(events):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3), targets={"B", "A"}).fit(events)
    assert list(graph.models_) == ["A", "B"]
    assert graph.labels_ == ("A", "B", "C", "D", "E")
    assert {edge.target for edge in graph.edges_} == {"A", "B"}
    assert graph.explain(["C"], "A").words == "no B, C"
    words = "the next-event distribution needs a model for every label; fit the graph without targets="
    for call in (
        graph.predict_proba,
        graph.log_likelihood,
        graph.score,
        graph.brier_score,
        lambda _: graph.simulate(1, 1),
        graph.predict_next,
    ):
        with pytest.raises(SettingError, match=re.escape(words)):
            call([["A"]])
    with pytest.raises(UnknownLabelError, match="unknown label 'C'; the labels are 'A', 'B'"):
        graph.explain([], "C")


# ---------------------------------------------------------------------------------- simulate


def test_simulated_events_follow_the_next_event_distribution(graph):
    """In every state of B and C, the share of each label is near what the graph predicts there."""
    drawn = graph.simulate(4000, 8, random_state=12)
    assert (len(drawn), drawn.n_events, drawn.labels) == (4000, 32_000, graph.labels_)
    p = graph.predict_proba(drawn)
    hit = np.eye(5)[drawn.codes]
    _, states = np.unique(p.round(12), axis=0, return_inverse=True)
    for state in range(states.max() + 1):
        at = states.reshape(-1) == state
        error = 4.5 * np.sqrt(0.25 / at.sum())
        assert hit[at].mean(axis=0) == pytest.approx(p[at].mean(axis=0), abs=error)
    assert hit.mean(axis=0) == pytest.approx(p.mean(axis=0), abs=0.01)


# ---------------------------------------------------------------------------------- fitting


@pytest.mark.parametrize("targets", [None, ["A", "D"]])
def test_progress(targets, events):
    told = []
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3), targets=targets)
    graph.fit(events, progress=lambda done, total: told.append((done, total)))
    n = 5 if targets is None else 2
    assert {total for _, total in told} == {n}
    done = [d for d, _ in told]
    assert done == sorted(set(done))
    assert done[-1] == n


@pytest.mark.parametrize(
    "template",
    [sm.BSuMM(lookback=None), sm.OSuMM(gamma=0.2, false_edges=None), sm.CSuMM(), sm.MarkovChain(order=2)],
    ids=repr,
)
def test_threads_do_not_matter(template, events):
    before = threading.active_count()
    weights = np.linspace(0.1, 2, len(events))
    one = sm.InfluenceGraph(template).fit(events, sample_weight=weights)
    many = sm.InfluenceGraph(template, n_jobs=3).fit(events, sample_weight=weights)
    assert many.to_document() == one.to_document()
    assert threading.active_count() == before  # none is left behind


def test_passes_over_the_data(events):
    """All targets share each pass: as many passes as the deepest search has rounds."""

    class Counting(MemorySource):
        passes = 0

        def count(self, requests):
            type(self).passes += bool(requests)
            return super().count(requests)

    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(Counting(events))
    deepest = max(sum(step.action == "add" for step in m.trace_) for m in graph.models_.values())
    assert Counting.passes == deepest + 1  # one round more that adds nothing


@pytest.mark.parametrize("template", [sm.BSuMM(), sm.OSuMM(), sm.TreeSuMM()], ids=["B", "O", "Tree"])
def test_targets_whose_tables_do_not_fit_are_searched_one_after_the_other(
    template, events, tmp_path, monkeypatch
):
    together = sm.InfluenceGraph(template).fit(events)
    sure = together.confidence(events, n=3)
    together.save(tmp_path / "together.json")
    monkeypatch.setattr(learning, "TABLES_BYTES", 1)
    done = []
    alone = sm.InfluenceGraph(template).fit(events, progress=lambda n, total: done.append((n, total)))
    assert repr(alone.confidence(events, n=3)) == repr(sure)  # which may hold NaN
    alone.save(tmp_path / "alone.json")
    assert (tmp_path / "alone.json").read_bytes() == (tmp_path / "together.json").read_bytes()
    assert [n for n, _ in done if n] == [1, 2, 3, 4, 5]
