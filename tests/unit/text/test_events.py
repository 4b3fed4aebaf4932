"""Labels to events, with the sentences they are; files; and the passages behind an edge."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.text import Passage, Sentence, TextEvents, read_text_events, text_events

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("sentencex")]


def first_word(sentences):
    """One label per sentence: its first word; none for "None"."""
    return [None if s.startswith("None") else s.split()[0].rstrip(".") for s in sentences]


LOGS = {
    "x": "Ant was one. None came. Ant was two. Bee was one. Ant was three.",
    "y": "None came.",
    "z": "Ant was four. Cat was one.",
}


@pytest.mark.parametrize(
    ("repeats", "events", "numbers"),
    [
        ("all", [["Ant", "Ant", "Bee", "Ant"], [], ["Ant", "Cat"]], [1, 3, 4, 5, 1, 2]),
        ("runs", [["Ant", "Bee", "Ant"], [], ["Ant", "Cat"]], [1, 4, 5, 1, 2]),
        ("once", [["Ant", "Bee"], [], ["Ant", "Cat"]], [1, 4, 1, 2]),
    ],
)
def test_repeats(repeats, events, numbers):
    found = text_events(LOGS, first_word, repeats=repeats)
    assert found.events.to_lists() == events
    assert found.events.ids == ("x", "y", "z")
    assert [sentence.number for sentence in found.sentences] == numbers
    assert found.sentences[0] == Sentence("x", 1, "Ant was one.")
    assert [each.document for each in found.sentences] == ["x"] * len(events[0]) + ["z"] * 2


def test_labels_that_are_left_out_part_no_runs():
    text = "Ant was one. Bee was one. Ant was two. Cat was one."
    found = text_events([text], first_word, leave_out=["Bee"])
    assert found.events.to_lists() == [["Ant", "Cat"]]
    assert found.events.labels == ("Ant", "Cat")
    with pytest.raises(SettingError, match="leave_out names 'Be', which no sentence has; did you mean 'Bee'"):
        text_events([text], first_word, leave_out=["Be"])
    with pytest.raises(SettingError, match="leave_out must be a list of labels, not 'Bee'"):
        text_events([text], first_word, leave_out="Bee")


def test_labels_are_asked_for_in_batches_and_progress_is_told():
    text = " ".join(f"L{i} is here." for i in range(1200))
    sizes, told = [], []

    def label(sentences):
        sizes.append(len(sentences))
        return first_word(sentences)

    found = text_events([text], label, progress=lambda done, total: told.append((done, total)))
    assert found.events.n_events == 1200
    assert sizes == [512, 512, 176]
    assert told == [(512, 1200), (1024, 1200), (1200, 1200)]


def test_a_function_that_does_not_label_is_told_so():
    with pytest.raises(DataError, match="label gave 1 labels for 2 sentences"):
        text_events(["Ant ran. Bee ran."], lambda sentences: ["A"])
    with pytest.raises(DataError, match="label gave 7; a label is a text, or None"):
        text_events(["Ant ran. Bee ran."], lambda sentences: [7] * len(sentences))
    with pytest.raises(SettingError, match=r"repeats='one' is not known; .* did you mean 'once'"):
        text_events(["A."], first_word, repeats="one")


# ---------------------------------------------------------------------------------- files


def test_files_keep_the_sentences_and_are_events_to_others(tmp_path):
    found = text_events(LOGS, first_word)
    found.save(tmp_path / "events.jsonl")
    back = read_text_events(tmp_path / "events.jsonl")
    assert back.sentences == found.sentences
    assert (back.events.to_lists(), back.events.ids) == (found.events.to_lists(), found.events.ids)
    plain = sm.read_events(tmp_path / "events.jsonl")
    assert (plain.to_lists(), plain.ids) == (found.events.to_lists(), found.events.ids)
    assert list(tmp_path.iterdir()) == [tmp_path / "events.jsonl"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"id": "x", "events": ["A"]}, "line 1: expected 'sentences', one per event"),
        (["A"], "line 1: expected 'sentences', one per event"),
        ({"id": "x", "events": ["A"], "sentences": []}, "line 1: expected 'sentences', one per event"),
        ({"id": "x", "events": ["A"], "sentences": [{"document": "x", "text": ""}]}, "each with 'document'"),
    ],
)
def test_a_file_without_sentences_is_refused(tmp_path: Path, line, words):
    (tmp_path / "events.jsonl").write_text(json.dumps(line))
    with pytest.raises(DataError, match=words):
        read_text_events(tmp_path / "events.jsonl")


# ---------------------------------------------------------------------------------- passages


def slow_passages(sequences, influencer, target, delay, lookback):
    """Sequence, position and lag of the last influencer in the window, for every target that has one."""
    found = []
    for s, labels in enumerate(sequences):
        for i, x in enumerate(labels):
            lags = [i - j for j in range(i) if labels[j] == influencer and i - j > delay]
            lags = [lag for lag in lags if lookback is None or lag <= lookback]
            if x == target and lags:
                found.append((str(s), i + 1, min(lags)))
    return found


@given(
    sequences=st.lists(st.lists(st.sampled_from("ABC"), max_size=9), max_size=5),
    influencer=st.sampled_from("AB"),
    delay=st.integers(0, 2),
    extra=st.none() | st.integers(1, 4),
    most=st.integers(1, 9),
)
def test_passages_are_the_places_of_the_definition(sequences, influencer, delay, extra, most):
    sequences = [*sequences, list("ABC")]  # something to learn from
    lookback = None if extra is None else delay + extra
    events = sm.EventSequences.from_lists(sequences, labels=list("ABC"))
    model = sm.BSuMM("B", lookback=lookback, delay=delay, required=["A", "B"]).fit(events)
    sentences = [Sentence(str(s), n, x) for s, e in enumerate(sequences) for n, x in enumerate(e, start=1)]
    text = TextEvents(events, tuple(sentences))
    found = text.passages(model, "B", influencer, most=most)
    expected = slow_passages(sequences, influencer, "B", delay, lookback)
    assert found.total == len(expected)
    assert len(found) == min(most, len(expected))
    shown = [(p.target.document, p.target.number, p.lag) for p in found]
    assert set(shown) <= set(expected)
    assert shown == sorted(shown)
    assert most < len(expected) or shown == expected
    for passage in found:
        before = passage.influencer
        assert (before.text, passage.target.text) == (influencer, "B")
        assert before.number == passage.target.number - passage.lag
        assert before.document == passage.target.document


def test_passages_of_graphs_and_trees():
    found = text_events(
        {str(i): "Ant ran. Bee ran. Cat ran. Ant sat. Bee sat." for i in range(30)}, first_word
    )
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(found.events)
    passages = found.passages(graph, "Bee", "Ant", most=2)
    assert passages.total == 60
    assert list(passages) == [
        Passage(Sentence("0", 2, "Bee ran."), Sentence("0", 1, "Ant ran."), 1),
        Passage(Sentence("29", 5, "Bee sat."), Sentence("29", 4, "Ant sat."), 1),
    ]
    tree = sm.TreeSuMM("Bee").fit(found.events)
    assert found.passages(tree, "Bee", "Ant").total == 60
    with pytest.raises(SettingError, match="'Cat' does not influence 'Bee'; its influencers are 'Ant'"):
        found.passages(graph, "Bee", "Cat")
    with pytest.raises(SettingError, match="there is no model of 'Cat'; learned were 'Bee'"):
        found.passages(tree, "Cat", "Ant")
    with pytest.raises(SettingError, match="most must be a whole number from 1 on, not 0"):
        found.passages(graph, "Bee", "Ant", most=0)
    other = text_events({"0": "Ant ran. Dog ran."}, first_word)
    with pytest.raises(DataError, match="the events hold the label 'Dog', which the model does not know"):
        other.passages(graph, "Bee", "Ant")


@given(sequences=st.lists(st.lists(st.sampled_from("ABC"), min_size=3, max_size=12), min_size=4, max_size=9))
def test_passages_of_a_tree_are_where_it_asks_for_the_influencer(sequences):
    events = sm.EventSequences.from_lists([*sequences, list("ABC") * 3, list("BAC")], labels=list("ABC"))
    sentences = tuple(Sentence("x", n, "") for n in range(events.n_events))
    tree = sm.TreeSuMM("B", gamma=0.0, pairs=False, max_depth=3).fit(events)
    for z in tree.influencers_:
        expected = 0
        for leaf, row in zip(tree.fitted.rules.leaves.tolist(), tree.table_, strict=True):
            answers = [
                yes for test, yes in tree.fitted.rules.path(leaf) if tree.labels_.index(z) in test.labels
            ]
            expected += row.counts[0] if any(answers) else 0
        assert TextEvents(events, sentences).passages(tree, "B", z).total == expected


def test_sentences_of_a_label():
    found = text_events(LOGS, first_word, repeats="all")
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(found.events)
    passages = found.passages(graph, "Ant", most=3)
    assert passages.total == 4
    assert [p.target.text for p in passages] == ["Ant was one.", "Ant was three.", "Ant was four."]
    assert {p.influencer for p in passages} == {None}


def test_every_event_has_a_sentence_and_a_place():
    with pytest.raises(DataError, match="there are 1 events but 0 sentences"):
        TextEvents(sm.read_events([["A"]]), ())
    with pytest.raises(DataError, match="follow each other; some of these happened together"):
        TextEvents(sm.read_events([[["Ant", "Bee"], ["Cat"]]]), (Sentence("x", 1, ""),) * 3)
