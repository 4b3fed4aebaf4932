"""TreeSuMM by hand: rules in words, influences, settings, graphs, files."""

import copy
import json
import re

import numpy as np
import pytest

import oracle_effects as effects
import summarkov as sm
from summarkov.errors import SettingError, StoreError, UnknownLabelError
from summarkov.summaries import HistoryTest, Names, TreeSummary

pytestmark = pytest.mark.cut_off

#: B follows A at once unless C came within the last 2; D is noise.
RNG = np.random.default_rng(5)


def draw(n):
    sequence = []
    while len(sequence) < n:
        after_a = sequence[-1:] == ["A"] and "C" not in sequence[-2:]
        p = [0.05, 0.85, 0.05, 0.05] if after_a else [0.35, 0.05, 0.25, 0.35]
        sequence.append(str(RNG.choice(list("ABCD"), p=p)))
    return sequence


EVENTS = sm.read_events([draw(12) for _ in range(120)], ends="cut off")
MODEL = sm.TreeSuMM("B").fit(EVENTS)


def test_the_rules_that_made_the_data_are_found():
    assert MODEL.influencers_ == ("A", "C")
    rows = {row.words: row for row in MODEL.table_}
    assert set(rows) == {
        "A just before, no C within 2 positions",
        "A just before, C within 2 positions",
        "no A just before",
    }
    assert rows["A just before, no C within 2 positions"].probabilities[0] == pytest.approx(0.85, abs=0.04)
    assert rows["no A just before"].probabilities[0] == pytest.approx(0.05, abs=0.02)
    assert sum(row.n for row in MODEL.table_) == EVENTS.n_events


def test_the_trace_tells_the_splits_and_influences_have_a_direction():
    assert [(step.action, step.label) for step in MODEL.trace_] == [
        ("split", "A just before"),
        ("split", "C within 2 positions, given A just before"),
    ]
    assert all(step.gain > 0 for step in MODEL.trace_)
    assert MODEL.trace_[-1].score == pytest.approx(MODEL.score_, rel=1e-12)
    amplifies, inhibits = MODEL.influences_
    assert (amplifies.influencer, amplifies.effect) == ("A", "amplifies")
    assert (inhibits.influencer, inhibits.effect) == ("C", "inhibits")
    rows = {row.words: row for row in MODEL.table_}
    assert amplifies.n_without == rows["no A just before"].n
    assert inhibits.n_with > rows["A just before, C within 2 positions"].n  # where the tree asks
    for edge in MODEL.influences_:
        assert edge.n_with + edge.n_without == EVENTS.n_events
    assert inhibits.ratio < 0.2
    assert MODEL.explain(["D", "D", "A"]).words == "A just before, no C within 2 positions"
    assert MODEL.explain(["C", "A"]).words == "A just before, C within 2 positions"
    assert MODEL.explain([]).words == "no A just before"


def test_nothing_is_claimed_of_the_label_that_another_is_compared_with():
    events = sm.read_events([["A", "B", "C", "D", "A", "D", "C", "B"], ["D", "C", "A", "C", "D", "B"]] * 20)
    model = sm.TreeSuMM("B", lookbacks=(), counts=(), starts=(), max_depth=1).fit(events)
    (test,) = [test for test in model.fitted.summary.nodes if test]
    found = {edge.influencer: edge for edge in model.influences_}
    first, second = (found[events.labels[code]] for code in test.labels)
    assert first.effect in ("amplifies", "inhibits")
    assert first.n_with + first.n_without == events.n_events
    assert (second.effect, second.interval, second.low, second.high) == ("unclear", "counts", 0, np.inf)


def test_a_very_large_gamma_leaves_the_base_rate():
    model = sm.TreeSuMM("B", gamma=1000.0).fit(EVENTS)
    assert [row.words for row in model.table_] == ["any history"]
    assert model.table_[0].probabilities[0] == pytest.approx(model.base_rates_[0], rel=1e-4)
    assert model.influencers_ == model.influences_ == model.trace_ == ()


def test_a_graph_of_trees():
    graph = sm.InfluenceGraph(sm.TreeSuMM()).fit(EVENTS)
    assert graph.influencers_["B"] == MODEL.influencers_
    assert graph.models_["B"].score_ == MODEL.score_
    assert {(e.influencer, e.target, e.effect) for e in graph.edges_} >= {
        ("A", "B", "amplifies"),
        ("C", "B", "inhibits"),
    }
    assert '"A" -> "B"' in graph.to_dot()


def test_only_candidates_are_tested():
    assert sm.TreeSuMM("B", candidates=["D"], starts=()).fit(EVENTS).influencers_ in ((), ("D",))
    assert "A" not in sm.TreeSuMM("B", forbidden=["A"], gamma=0.1).fit(EVENTS).influencers_
    with pytest.raises(UnknownLabelError, match="'E'"):
        sm.TreeSuMM("B", candidates=["E"]).fit(EVENTS)


def test_pairs_are_asked_about_with_few_labels_only():
    few = sm.TreeSuMM("B").fit(EVENTS)
    assert few.fitted.summary.tests.pairs
    labels = [f"{i:02}" for i in range(26)]
    many = sm.EventSequences.from_lists([["00", "01"] * 5] * 4, labels=labels)
    assert not sm.TreeSuMM("00").fit(many).fitted.summary.tests.pairs
    assert sm.TreeSuMM("00", pairs=True).fit(many).fitted.summary.tests.pairs
    assert sm.TreeSuMM("00", candidates=labels[:25]).fit(many).fitted.summary.tests.pairs
    assert not sm.TreeSuMM("B", pairs=False).fit(EVENTS).fitted.summary.tests.pairs


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lookbacks": 5}, "lookbacks must be a list of numbers, not 5"),
        ({"lookbacks": (2, 1)}, "lookbacks must be in ascending order, each once"),
        ({"lookbacks": (None, 1)}, "with None, the whole past, last"),
        ({"lookbacks": ("x",)}, "lookbacks must be a number of positions, or a time above 0"),
        ({"lookbacks": ("1",)}, "look-back or delay 1 is a time, and these events have no times"),
        ({"lookbacks": (1, "1h")}, "lookbacks must all be numbers of positions, or all times"),
        ({"lookbacks": (2**31,)}, "lookbacks must be whole numbers from 1 to"),
        ({"counts": (1,)}, "counts must be whole numbers from 2 on, not 1"),
        ({"starts": (0,)}, "starts must be whole numbers from 1 on, not 0"),
        ({"pairs": "yes"}, "pairs must be 'auto', True or False, not 'yes'"),
        ({"max_depth": -1}, "max_depth must be a whole number from 0 to 50, not -1"),
        ({"candidates": "AB"}, "candidates must be a list of labels"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, words):
    with pytest.raises(SettingError, match=re.escape(words)):
        sm.TreeSuMM("B", **settings).fit(EVENTS)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"gamma": 0.5}, "gamma can only grow, from 1 on, without the data; fit anew"),
        ({"max_depth": 3}, "max_depth cannot be changed without the data; fit anew"),
    ],
)
def test_what_needs_the_data_is_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        MODEL.with_settings(**settings)


occurs, more_recent, start = HistoryTest.occurs, HistoryTest.more_recent, HistoryTest.start
#: Answers on the way to a leaf, and its rule, of which what follows from the rest is left out.
RULES = [
    ([], "any history"),
    ([(occurs(0, 1), True)], "riot just before"),
    ([(occurs(0, 1), False)], "no riot just before"),
    ([(occurs(0, 3), True)], "riot within 3 positions"),
    ([(occurs(0, None), True)], "riot before"),
    ([(occurs(0, None), False)], "no riot before"),
    ([(occurs(0, 5, 2), True)], "riot at least 2 times within 5 positions"),
    ([(occurs(0, 5, 2), False)], "riot fewer than 2 times within 5 positions"),
    ([(occurs(0, None, 3), True)], "riot at least 3 times before"),
    ([(more_recent(0, 1), True)], "riot and no curfew since"),
    ([(more_recent(0, 1), False)], "no riot since curfew or the start"),
    ([(start(1), True)], "at the start"),
    ([(start(1), False)], "not at the start"),
    ([(start(3), False)], "after the first 3 positions"),
    ([(occurs(0, 5), True), (occurs(0, 2), True)], "riot within 2 positions"),
    ([(occurs(0, 2), False), (occurs(0, 5), False)], "no riot within 5 positions"),
    ([(occurs(0, 5), True), (occurs(0, 2), False)], "riot within 5 positions but not within 2 positions"),
    ([(occurs(0, None), True), (occurs(0, 2), False)], "riot before but not within 2 positions"),
    ([(occurs(0, 5), True), (occurs(0, 1), False)], "riot within 5 positions but not just before"),
    ([(occurs(0, 10), True), (occurs(0, 5, 2), True)], "riot at least 2 times within 5 positions"),
    (
        [(occurs(0, 5), True), (occurs(0, 10, 2), True)],
        "riot within 5 positions, riot at least 2 times within 10 positions",
    ),
    (
        [(occurs(0, None, 2), False), (occurs(0, 5), False)],
        "riot fewer than 2 times before, no riot within 5 positions",
    ),
    ([(occurs(0, 5, 2), False), (occurs(0, None), False)], "no riot before"),
    ([(start(5), True), (start(2), True)], "among the first 2 positions"),
    ([(start(2), False), (start(5), False)], "after the first 5 positions"),
    ([(start(2), False), (start(5), True)], "after the first 2 positions, among the first 5 positions"),
    ([(more_recent(0, 1), True), (occurs(0, 3), True)], "riot within 3 positions and no curfew since"),
    ([(occurs(0, None), True), (more_recent(0, 1), True)], "riot and no curfew since"),
    (
        [(more_recent(0, 1), True), (occurs(0, 3), False)],
        "riot but not within 3 positions and no curfew since",
    ),
    (
        [(more_recent(0, 1), False), (occurs(1, 3), False)],
        "no riot since curfew or the start, no curfew within 3 positions",
    ),
]


@pytest.mark.parametrize(("path", "words"), RULES)
def test_rules_in_words(path, words):
    tree, number = chain_of(path)
    assert tree.words([number], Names((), ("riot", "curfew"))) == words


def chain_of(path):
    """A tree that has nothing but one path, and the number of the leaf at its end."""
    if not path:
        return TreeSummary((None,)), 0
    (test, answer), *rest = path
    below, number = chain_of(rest)
    nodes = (test, *below.nodes, None) if answer else (test, None, *below.nodes)
    return TreeSummary(nodes), number if answer else number + 1


@pytest.mark.parametrize(
    "model",
    [
        sm.TreeSuMM("B", gamma=0.2, lookbacks=[1, 4], counts=(), pairs=False, starts=[]),
        sm.TreeSuMM(["A", "B"], forbidden=["D"], max_depth=2),
        sm.InfluenceGraph(sm.TreeSuMM(gamma=0.5)),
    ],
    ids=["limits", "set", "graph"],
)
def test_saved_and_loaded(model, tmp_path):
    model.fit(EVENTS)
    model.save(tmp_path / "m.json")
    again = sm.load(tmp_path / "m.json")
    assert np.array_equal(again.predict_proba(EVENTS), model.predict_proba(EVENTS))
    assert again.to_document() == model.to_document()


DOCUMENT = json.loads(json.dumps(MODEL.to_document()))


def edited(*path_and_value):
    *path, last, value = path_and_value
    document = copy.deepcopy(DOCUMENT)
    place = document
    for key in path:
        place = place[key]
    place[last] = value
    return document


TREE = ("targets", 0, "tree")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (edited("targets", 0, "tree", []), "targets[0].tree: expected a leaf, or a test"),
        (edited(*TREE, "test", "knows"), ".tree: expected a test that the settings allow, found"),
        (edited(*TREE, "within", 4), ".tree: expected a test that the settings allow, found"),
        (edited(*TREE, "yes", {}), ".tree: expected a leaf, or a test at most 12 deep, found {}"),
        (edited("settings", "max_depth", 1), ".tree: expected a leaf, or a test at most 1 deep, found"),
        (edited("settings", "forbidden", ["A"]), ".tree: expected a test that the settings allow, found"),
        (
            edited("targets", 0, "states", 1, "state", 0),
            ".states: expected the numbers of all leaves in order",
        ),
        (edited("targets", 0, "states", 1, "counts", [0, 0]), "in order, each with counts, found [0, 1, 2]"),
        (edited("targets", 0, "trace", 1, "label", 1), ".trace[1].label: expected a text, found"),
    ],
)
def test_edited_files_are_refused(document, words, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    with pytest.raises(StoreError) as caught:
        sm.load(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_the_tree_in_the_file_can_be_read():
    tree = DOCUMENT["targets"][0]["tree"]
    assert {key: tree[key] for key in ("test", "label", "times", "within")} == {
        "test": "occurs",
        "label": "A",
        "times": 1,
        "within": 1,
    }
    assert tree["yes"]["yes"] == {"leaf": 0, "rule": ["A just before", "C within 2 positions"]}


def rare_branches():
    """B follows A for sure, but A is rare: an estimate is drawn far towards that of all."""
    return [["C", "D"] * 10 + ["A", "B"] + ["D", "C"] * 10] * 12


def test_an_estimate_is_inside_of_its_own_interval():
    """Of 12 hits of 12 the exact interval is 0.735 to 1, and the estimate far below: it was shown beside."""
    tree = sm.TreeSuMM("B", alpha=20.0).fit(rare_branches())
    drawn = [row for row in tree.table_ if row.counts[0] == row.n == 12]
    assert drawn
    assert drawn[0].probabilities[0] < 0.7
    for row in tree.table_:
        for p, (low, high) in zip(row.probabilities, row.intervals, strict=True):
            assert low <= p <= high
    told = tree.explain(["C", "D", "A"])
    assert told.interval == pytest.approx((told.probability, 1.0))
    for other in told.counterfactuals:
        assert other.interval[0] <= other.probability <= other.interval[1]


def test_hits_positions_and_sequences_of_an_edge_are_counted_over_all_positions():
    """Hits were counted only where the tree asks about a label first, and sequences everywhere."""
    rng = np.random.default_rng(3)
    sequences = []
    for _ in range(80):
        sequence = []
        for _ in range(25):
            near = "A" in sequence[-2:]
            chance = (0.5 if "C" in sequence[-3:] else 0.15) if near else 0.05
            others = ["A", "C", "D", "D"]
            sequence.append("B" if rng.random() < chance else others[rng.integers(4)])
        sequences.append(sequence)
    tree = sm.TreeSuMM("B", lookbacks=[2, 3], counts=[], pairs=False, starts=[]).fit(sequences)
    assert len(tree.influencers_) > 1
    for edge in tree.influences_:
        window = tuple(tree.fitted.reach(edge.influencer))
        counted = effects.two_by_two(sequences, window, edge.influencer, "B")
        assert (edge.hits_with, edge.n_with, edge.hits_without, edge.n_without) == counted
        assert edge.cases_with == sum(edge.influencer in sequence for sequence in sequences)
        assert edge.cases_followed <= edge.hits_with


def test_a_pruned_tree_does_not_know_sequences():
    tree = sm.TreeSuMM("B", gamma=0.05).fit(EVENTS)
    pruned = tree.with_settings(gamma=2.0)
    assert 0 < len(pruned.influencers_) < len(tree.influencers_)
    assert {(edge.interval, edge.cases_followed) for edge in pruned.influences_} == {("counts", None)}
    same = tree.with_settings(alpha=1.0)
    assert [edge.low for edge in same.influences_] == [edge.low for edge in tree.influences_]
