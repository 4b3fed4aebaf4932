"""Topics of sentences: found, named, the same again, and the same after loading."""

import json
from pathlib import Path

import numpy as np
import pytest

from summarkov.errors import DataError, NotFittedError, SettingError, StoreError
from summarkov.text import TopicModel, load_topics, read_documents, split_sentences
from summarkov.text.topics import _least_squares, corpus_stop_words, leading_terms, shares_of

pytest.importorskip("sentencex")
pytestmark = pytest.mark.needs("sklearn")

HARBOUR = Path(__file__).parents[3] / "docs" / "guide" / "harbour.jsonl"
LOGS = read_documents(HARBOUR)
SENTENCES = [s for log in LOGS for s in split_sentences(log.text)]


@pytest.fixture(scope="module")
def fitted():
    return TopicModel(n_topics=7).fit(LOGS)


def test_topics_are_what_the_logs_are_about(fitted):
    model = TopicModel(n_topics=7).fit(LOGS)
    assert model.topics_ == fitted.topics_
    assert (model.fitted.weights == fitted.fitted.weights).all()  # nothing is left to chance
    told = ["storm", "engine", "customs", "parts", "museum", "passengers", "ferry"]
    labels = [model([sentence])[0] for sentence in SENTENCES]
    right = 0
    for word in told:
        of_word = [x for x, s in zip(labels, SENTENCES, strict=True) if word in s.lower() and x is not None]
        right += max(of_word.count(topic) for topic in model.topics_) / len(of_word) / len(told)
    assert right > 0.95


def test_a_sentence_has_its_topic_whatever_stands_beside_it(fitted):
    together = fitted(SENTENCES)
    assert [fitted([sentence])[0] for sentence in SENTENCES] == together
    assert fitted(SENTENCES[::-1]) == together[::-1]
    assert fitted([]) == []


def test_shares_sum_to_one_or_are_nothing(fitted):
    shares = fitted.shares([*SENTENCES, "Quite unheard of.", ""])
    assert shares.shape == (len(SENTENCES) + 2, 7)
    sums = shares.sum(axis=1)
    assert np.allclose(sums[sums > 0], 1, atol=1e-12)
    assert sums[-2:].tolist() == [0, 0]
    assert (shares >= 0).all()


def test_confidence_leaves_sentences_without_a_topic(fitted):
    shares = fitted.shares(SENTENCES).max(axis=1)
    for confidence in (0.0, 0.6, 1.0):
        fitted.confidence = confidence
        labels = fitted([*SENTENCES, "Quite unheard of."])
        assert labels[-1] is None
        expected = (shares >= confidence) & (shares > 0)
        assert [label is not None for label in labels[:-1]] == expected.tolist()
    fitted.confidence = 0.4


def test_one_rare_word_in_common_is_no_topic():
    model = TopicModel(n_topics=7, confidence=0.0).fit(LOGS)
    assert "happened" in model.fitted.terms
    assert model(["Nothing else happened.", "The night was calm."]) == [None, None]
    assert np.allclose(shares_of(np.array([[0.05, np.sqrt(1 - 0.05**2)]]), np.eye(2)[:1]), 0)
    assert np.allclose(shares_of(np.array([[0.07, np.sqrt(1 - 0.07**2)]]), np.eye(2)[:1]), 1)


def test_least_squares_are_the_best_there_are():
    generator = np.random.default_rng(5)
    weights = generator.random((3, 6))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    rows = generator.random((20, 6))
    found = _least_squares(rows, weights)
    assert (found >= 0).all()
    best = np.linalg.norm(rows - found @ weights, axis=1)
    for _ in range(200):
        other = np.maximum(0, found + generator.normal(scale=0.1, size=found.shape))
        assert (np.linalg.norm(rows - other @ weights, axis=1) >= best - 1e-9).all()


def test_stop_words_of_the_corpus():
    sentences = ["In May the Bank of Rome met.", "Rome may rest.", "It may rain.", "The rain may end in may."]
    assert corpus_stop_words(sentences, 0.9, names=False) == {"may", "bank", "rome"}
    assert corpus_stop_words(sentences, 0.9, names=True) == {"may"}
    model = TopicModel(n_topics=3, stop_words=["storm"]).fit(LOGS)
    assert not any("storm" in term.split() for term in model.fitted.terms)


def test_leading_terms_and_names(fitted):
    terms = ["auto", "sales", "auto sales", "home", "rare"]
    assert leading_terms(terms, [2.0, 4.0, 1.9, 3.0, 0.0], 5) == ["sales", "home", "auto"]
    assert leading_terms(terms, [2.0, 4.0, 2.0, 3.0, 0.0], 5) == ["auto sales", "home"]
    assert len(set(fitted.topics_)) == 7
    for topic in fitted.topics_:
        assert topic.split(" / ") == fitted.leading_terms(topic, 2)
    with pytest.raises(SettingError, match="there is no topic 'x'"):
        fitted.leading_terms("x")


# ---------------------------------------------------------------------------------- files


def test_a_stored_model_labels_as_before(fitted, tmp_path):
    fitted.save(tmp_path / "topics.json")
    loaded = load_topics(tmp_path / "topics.json")
    assert loaded.topics_ == fitted.topics_
    assert (loaded.shares(SENTENCES) == fitted.shares(SENTENCES)).all()
    assert loaded(SENTENCES) == fitted(SENTENCES)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "topics.json").read_bytes()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({}, "weights from 0 on"),
        ({"kind": "BSuMM"}, "is no topic model"),
        ({"version": 2}, "later version"),
        ({"inverse_frequencies": [1.0]}, "and as many inverse frequencies"),
        ({"topics": [{"name": "x", "weights": "heavy"}]}, r"topics\[0\].weights: expected a list"),
        (
            {"settings": {"method": "lda", "confidence": 0.4, "phrases": 2, "language": "en", "seed": 3}},
            "topics by LDA are of an earlier version",
        ),
    ],
)
def test_damaged_files_are_refused(tmp_path, damage, words):
    TopicModel(n_topics=2).fit(LOGS).save(tmp_path / "topics.json")
    document = json.loads((tmp_path / "topics.json").read_text())
    if not damage:
        document["topics"][0]["weights"][0] = -1.0
    (tmp_path / "topics.json").write_text(json.dumps({**document, **damage}))
    with pytest.raises(StoreError, match=words):
        load_topics(tmp_path / "topics.json")


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_topics": 0}, "n_topics must be a whole number from 1 on, not 0"),
        ({"phrases": 0}, "phrases must be a whole number from 1 to 10, not 0"),
        ({"max_share": 1.5}, "max_share must be a number from 0 to 1"),
        ({"stop_words": "french"}, "stop_words must be 'english' or a list of words"),
    ],
)
def test_settings_without_sense(settings, words):
    with pytest.raises(SettingError, match=words):
        TopicModel(**settings).fit(LOGS)


def test_too_little_text_and_no_fit():
    with pytest.raises(
        DataError, match="2 sentences have only 0 terms in at least 2 of them, too few for 15 topics"
    ):
        TopicModel().fit(["Too short. Much shorter."])
    with pytest.raises(NotFittedError, match="call fit"):
        TopicModel()(["A sentence."])
    model = TopicModel(n_topics=2, confidence=3.0).fit(LOGS)
    with pytest.raises(SettingError, match="confidence must be a number from 0 to 1"):
        model(["A storm."])
