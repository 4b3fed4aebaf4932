"""Topics of sentences: learned, named, saved as plain JSON and loaded again; never a pickle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from summarkov.errors import DataError, NotFittedError, SettingError, StoreError, place
from summarkov.settings import check_whole, seed_of
from summarkov.store import check_seal, checked, read_document, write_sealed
from summarkov.text import factors
from summarkov.text.documents import read_documents, split_sentences
from summarkov.text.factors import corpus_stop_words, leading_terms, terms_of
from summarkov.typing import FloatArray

METHODS = ("nmf", "lda")
#: Words of a phrase; a sentence has as many phrases for each.
LONGEST_PHRASE = 10

#: Between the terms of a topic's name.
BETWEEN = " / "


@dataclass(frozen=True)
class FittedTopics:
    """What was learned: all that labelling needs, and all that is stored."""

    names: tuple[str, ...]
    terms: tuple[str, ...]
    inverse_frequencies: FloatArray  # one per term
    weights: FloatArray  # topics x terms
    stop_words: tuple[str, ...]


@dataclass(eq=False)
class TopicModel:
    r"""Topics of sentences: terms that occur together, by non-negative factorisation.

    With ``method="nmf"`` the sentences' TF-IDF rows :math:`x` are factorised, :math:`X \approx W H` with
    :math:`W, H \ge 0`; a row of H is a topic. A sentence, of this corpus or a new one, has the weights
    :math:`\arg\min_{w \ge 0} \|x - w H\|`, and the *confidence* of topic k is its share of what the topics
    explain, :math:`w_k \|h_k\| / \sum_j w_j \|h_j\|`; where they explain hardly anything, it is 0. With
    ``method="lda"`` (latent Dirichlet allocation, a model of counts, so there TF-IDF has no part) it is the
    expected share of the topic in the sentence.

    A fitted model is a function from sentences to labels, as :func:`text_events` needs it: the name of each
    one's topic, or None. Topics are named by their leading terms, the most frequent topic comes first.

    Parameters
    ----------
    n_topics : int
        How many topics; the paper uses 15.
    method : "nmf" or "lda"
    confidence : float
        A sentence has no topic below this.
    phrases : int
        The longest phrases that are terms, in words; 10 at most.
    min_sentences : int, optional
        Terms in fewer sentences are left out. Default: one in 2000 sentences, at least two.
    max_share : float
        Words in more than this share of the sentences are left out: stop words of the corpus.
    proper_names : bool
        Whether words usually written with a capital inside of sentences can be terms. Names of places and
        people seldom are what a topic is about. Set it for German, where all nouns are written so.
    stop_words : "english" or words
        Left out as well. "english" is scikit-learn's list.
    language : str
        For the splitting into sentences.
    seed : int
        For "lda": the same seed gives the same topics. "nmf" starts from singular vectors, and leaves nothing
        to chance.
    random_state : int, optional
        Another name for ``seed``; give one of them.

    Attributes
    ----------
    topics_ : tuple of str
        The names of the topics, the most frequent first.

    Examples
    --------
    >>> rain, trade = "Heavy rain flooded the roads.", "The bank raised interest rates."
    >>> model = TopicModel(n_topics=2, max_share=0.6).fit([rain, trade] * 5)
    >>> model(["The bank cut its rates.", "Roads were flooded.", "Nothing new."])
    ['bank raised / rates', 'flooded roads / heavy rain', None]
    """

    n_topics: int = 15
    method: Literal["nmf", "lda"] = "nmf"
    confidence: float = 0.4
    phrases: int = 2
    min_sentences: int | None = None
    max_share: float = 0.2
    proper_names: bool = False
    stop_words: str | Iterable[str] = "english"
    language: str = "en"
    seed: int = 0
    random_state: int | None = None

    def fit(self, documents: Any) -> Self:
        """Learn the topics of all sentences of some documents (see :func:`read_documents`)."""
        self._check()
        texts = read_documents(documents)
        sentences = [s for document in texts for s in split_sentences(document.text, self.language)]
        stop = corpus_stop_words(sentences, self.max_share, self.proper_names) | self._given_stop_words()
        rows = [terms_of(sentence, stop, self.phrases) for sentence in sentences]
        least = self.min_sentences if self.min_sentences is not None else max(2, len(rows) // 2000)
        terms, inverse = factors.vocabulary(rows, least)
        if len(terms) < self.n_topics:
            raise DataError(
                f"{len(sentences)} sentences have only {len(terms)} terms in at least {least} of them, too "
                f"few for {self.n_topics} topics; give more text"
                + (", or ask for fewer topics" if terms else "")
            )
        matrix = factors.term_matrix(rows, terms, inverse, tf_idf=self.method == "nmf")
        weights = factors.factorise(matrix, self.method, self.n_topics, seed_of(self.seed, self.random_state))
        weights = weights[weights.sum(axis=1) > 0]
        shares = factors.shares(matrix, weights, self.method)
        order = np.argsort(-np.bincount(shares.argmax(axis=1), minlength=len(weights)), kind="stable")
        weights = weights[order]
        self._fitted = FittedTopics(_names(terms, weights), terms, inverse, weights, tuple(sorted(stop)))
        return self

    def __call__(self, sentences: Sequence[str]) -> list[str | None]:
        """The topic of every sentence, None where no topic reaches the confidence."""
        if not 0 <= self.confidence <= 1:
            raise SettingError(f"confidence must be from 0 to 1, not {self.confidence}")
        found = self.shares(sentences)
        best = found.argmax(axis=1)
        sure = found[np.arange(len(found)), best] >= max(self.confidence, np.finfo(float).tiny)
        return [self.topics_[k] if s else None for k, s in zip(best.tolist(), sure.tolist(), strict=True)]

    def shares(self, sentences: Sequence[str]) -> FloatArray:
        """The confidence of every topic in every sentence; all zero for a sentence that is about none."""
        fitted = self.fitted
        stop = frozenset(fitted.stop_words)
        rows = [terms_of(sentence, stop, self.phrases) for sentence in sentences]
        if not rows:
            return np.zeros((0, len(fitted.names)))
        tf_idf = self.method == "nmf"
        matrix = factors.term_matrix(rows, fitted.terms, fitted.inverse_frequencies, tf_idf=tf_idf)
        return factors.shares(matrix, fitted.weights, self.method)

    @property
    def fitted(self) -> FittedTopics:
        """What was learned."""
        try:
            return self._fitted
        except AttributeError:
            raise NotFittedError("this TopicModel is not fitted; call fit(documents) first") from None

    @property
    def topics_(self) -> tuple[str, ...]:
        """The names of the topics, the most frequent first."""
        return self.fitted.names

    def leading_terms(self, topic: str, n: int = 10) -> list[str]:
        """The heaviest terms of a topic, phrases and words that tell something new."""
        if topic not in self.topics_:
            raise SettingError(f"there is no topic {topic!r}; the topics are {', '.join(self.topics_)}")
        return leading_terms(self.fitted.terms, self.fitted.weights[self.topics_.index(topic)].tolist(), n)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON; :func:`load_topics` reads it."""
        fitted = self.fitted
        document: dict[str, Any] = {
            "format": "summarkov",
            "version": VERSION,
            "kind": "TopicModel",
            "settings": {
                "method": self.method,
                "confidence": self.confidence,
                "phrases": self.phrases,
                "language": self.language,
                "seed": seed_of(self.seed, self.random_state),
            },
            "stop_words": fitted.stop_words,
            "terms": fitted.terms,
            "inverse_frequencies": fitted.inverse_frequencies.tolist(),
            "topics": [
                {"name": name, "weights": row}
                for name, row in zip(fitted.names, fitted.weights.tolist(), strict=True)
            ],
        }
        write_sealed(path, document)

    def _given_stop_words(self) -> set[str]:
        if self.stop_words == "english":
            return factors.english_stop_words()
        return {str(word).lower() for word in self.stop_words}

    def _check(self) -> None:
        if self.method not in METHODS:
            raise SettingError(f"method={self.method!r} is not known; use 'nmf' or 'lda'")
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise SettingError(f"stop_words must be 'english' or a list of words, not {self.stop_words!r}")
        least = 1 if self.min_sentences is None else self.min_sentences
        for name, value in (("n_topics", self.n_topics), ("phrases", self.phrases), ("min_sentences", least)):
            if value < 1:
                raise SettingError(f"{name} must be 1 or more, not {value}")
        if self.phrases > LONGEST_PHRASE:
            raise SettingError(f"phrases must be {LONGEST_PHRASE} or less, not {self.phrases}")
        given, name = (
            (self.seed, "seed") if self.random_state is None else (self.random_state, "random_state")
        )
        check_whole(name, given, 0, 2**32 - 1)  # as scikit-learn has it
        if not 0 <= self.max_share <= 1:
            raise SettingError(f"max_share must be from 0 to 1, not {self.max_share}")


def _names(terms: Sequence[str], weights: FloatArray) -> tuple[str, ...]:
    """One name per topic: its two leading terms, more where two topics would be called the same.

    Between them stands no comma, which stands between labels.
    """
    names: list[str] = []
    for row in weights.tolist():
        leading = leading_terms(terms, row, 20)
        longer = (BETWEEN.join(leading[:n]) for n in range(2, len(leading) + 1))
        plain = BETWEEN.join(leading)
        name = next((name for name in longer if name not in names), plain)
        names.append(name if name not in names else f"{plain} ({len(names) + 1})")
    return tuple(names)


VERSION = 1
#: More than the inverse frequency, log((1 + n) / (1 + n_t)) + 1, of a term in any number of sentences.
_RAREST = 50


def load_topics(path: str | PathLike[str]) -> TopicModel:
    """Read a topic model that :meth:`TopicModel.save` wrote; it labels sentences as it did then."""
    where, document = read_document(path)
    is_ours = isinstance(document, dict) and document.get("format") == "summarkov"
    if not is_ours or document.get("kind") != "TopicModel":
        raise StoreError(f"{where} is no topic model; 'summarkov text topics' makes one")
    if document.get("version") != VERSION:
        raise StoreError(f"{where} was written by a later version of summarkov; update to read it")
    with place(where):
        model = _read(checked(document, _Stored))
        check_seal(document)
    return model


@dataclass(frozen=True)
class _StoredSettings:
    """How topics were found."""

    method: Literal["nmf", "lda"]
    confidence: float
    phrases: int
    language: str
    seed: int


@dataclass(frozen=True)
class _StoredTopic:
    """A topic, and the weight of each term in it."""

    name: str
    weights: tuple[float, ...]


@dataclass(frozen=True)
class _Stored:
    """What the file of a topic model holds."""

    settings: _StoredSettings
    terms: tuple[str, ...]
    topics: tuple[_StoredTopic, ...]
    inverse_frequencies: tuple[float, ...]
    stop_words: tuple[str, ...]


def _read(told: _Stored) -> TopicModel:
    settings, n_terms = told.settings, len(told.terms)
    if not 0 <= settings.confidence <= 1 or not 1 <= settings.phrases <= LONGEST_PHRASE or settings.seed < 0:
        wanted = f"'confidence' from 0 to 1, 'phrases' from 1 to {LONGEST_PHRASE} and 'seed' from 0 on"
        raise StoreError.expected(wanted, vars(settings))
    names = tuple(topic.name for topic in told.topics)
    if not names or len(set(names)) < len(names) or len(set(told.terms)) < n_terms:
        raise StoreError.expected("topics of different names, and terms that differ", names)
    sizes = {len(topic.weights) for topic in told.topics} | {len(told.inverse_frequencies)}
    if sizes != {n_terms}:
        raise StoreError(f"expected {n_terms} weights of each topic, and as many inverse frequencies")
    weights = np.array([topic.weights for topic in told.topics])
    inverse = np.array(told.inverse_frequencies)
    if (weights < 0).any() or not (weights.sum(axis=1) > 0).all():
        raise StoreError(".topics: expected weights from 0 on, not all of them 0")
    is_nmf = settings.method == "nmf"
    size = np.hypot.reduce(weights, axis=1) if is_nmf else weights.sum(axis=1)
    if (abs(size - 1) > 1e-6).any() or not (is_nmf or weights.any(axis=0).all()):
        each = "squares" if is_nmf else "values"
        raise StoreError(f".topics: expected weights whose {each} sum to 1 for every topic")
    if ((inverse < 1 - 1e-9) | (inverse > _RAREST)).any():
        raise StoreError(f".inverse_frequencies: expected numbers from 1 to {_RAREST}")
    model = TopicModel(n_topics=len(names), **vars(settings))
    model._fitted = FittedTopics(names, told.terms, inverse, weights, told.stop_words)
    return model


def beside(path: Path) -> Path:
    """Where the topic model of a file of events is kept: beside it.

    >>> beside(Path("reports.jsonl")).name
    'reports.topics.json'
    """
    return path.with_name(f"{path.stem}.topics.json")
