"""The labels of a document as one tick: what they are, how they are saved, and passages behind an edge."""

import random

import pytest

import summarkov as sm
from summarkov.errors import SettingError
from summarkov.text import Document, Sentence, read_text_events, text_events

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("sentencex")]


def first_word(sentences):
    """One label per sentence: its first word; none for "None"."""
    return [None if s.startswith("None") else s.split()[0].rstrip(".") for s in sentences]


LOGS = [
    Document("three", "Cat ran. Bee ran.", "2020-03"),
    Document("one", "Bee sat. Ant sat. Bee stood.", "2020-01"),
    Document("two", "None came.", "2020-02"),
]


def test_a_document_is_a_tick(tmp_path):
    found = text_events(LOGS, first_word, single=True, together=True)
    assert found.events.to_lists() == [[["Ant", "Bee"], [], ["Bee", "Cat"]]]
    assert (found.events.n_events, found.events.n_ticks) == (4, 3)
    assert found.sentences == (
        Sentence("one", 2, "Ant sat."),
        Sentence("one", 1, "Bee sat."),
        Sentence("three", 2, "Bee ran."),
        Sentence("three", 1, "Cat ran."),
    )
    found.save(tmp_path / "log.jsonl")
    again = read_text_events(tmp_path / "log.jsonl")
    assert (again.events, again.sentences) == (found.events, found.sentences)


@pytest.mark.parametrize("settings", [{}, {"single": True, "repeats": "all"}])
def test_documents_must_follow_each_other(settings):
    with pytest.raises(
        SettingError, match=r"together=True makes one position of a document.* say single=True"
    ):
        text_events(LOGS, first_word, together=True, **settings)


def test_the_order_of_sentences_does_not_matter_and_passages_count_documents():
    draw = random.Random(4)
    logs, before = [], False
    for number in range(400):
        names = ["Ant"] * (draw.random() < 0.3) + ["Bee"] * (draw.random() < (0.8 if before else 0.1))
        names += ["Cat"] * (draw.random() < 0.5)
        before = "Ant" in names
        draw.shuffle(names)
        logs.append(Document(f"d{number}", " ".join(f"{n} was in {number}." for n in names) or "None.", None))
    found = text_events(logs, first_word, single=True, together=True)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(found.events)
    assert graph.influencers_ == {"Ant": (), "Bee": ("Ant",), "Cat": ()}
    passages = found.passages(graph, "Bee", "Ant", most=500)
    ticks = found.events.to_lists()[0]
    pairs = [at for at in range(1, 400) if "Ant" in ticks[at - 1] and "Bee" in ticks[at]]
    assert passages.total == len(pairs) == len(passages)
    for at, passage in zip(pairs, passages, strict=True):
        (ant,) = passage.before
        assert (passage.target.document, passage.target.text) == (f"d{at}", f"Bee was in {at}.")
        assert (ant.label, ant.lag, ant.sentence.document) == ("Ant", 1, f"d{at - 1}")
    after = found.passages(graph, "Bee", after=[["Cat"], ["Ant", "Cat"]], most=500)
    assert [passage.target for passage in after] == [passage.target for passage in passages]
    with pytest.raises(SettingError, match="the labels of a document happened together, and explanations"):
        found.explain(graph, "Bee")
