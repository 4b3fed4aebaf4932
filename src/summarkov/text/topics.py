"""Topics of sentences, found by scikit-learn, and saved as plain JSON."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from summarkov.errors import DataError, NotFittedError, SettingError, StoreError, optional_library, place
from summarkov.settings import check_share, check_whole
from summarkov.store import check_seal, checked, read_document, write_sealed
from summarkov.text.documents import read_documents, split_sentences
from summarkov.typing import FloatArray

#: Words of a phrase; a sentence has as many phrases for each.
LONGEST_PHRASE = 10
#: Between the terms of a topic's name: no comma, which stands between labels.
BETWEEN = " / "
#: Letters, with hyphens and apostrophes inside.
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
#: A sentence that topics explain less of than this (the cosine of the two) is about none of them: one rare
#: word in common is no topic.
HARDLY = 0.06
#: The version of files.
VERSION = 1


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

    The sentences' TF-IDF rows :math:`x` are factorised, :math:`X \approx W H` with
    :math:`W, H \ge 0`; a row of H is a topic. A sentence, of this corpus or a new one, has the weights
    :math:`\arg\min_{w \ge 0} \|x - w H\|`, and the *confidence* of topic k is its share of what the topics
    explain, :math:`w_k \|h_k\| / \sum_j w_j \|h_j\|`; where they explain hardly anything, it is 0.

    A fitted model is a function from sentences to labels, as :func:`text_events` needs it: the name of each
    one's topic, or None. Topics are named by their leading terms, the most frequent topic comes first.

    Parameters
    ----------
    n_topics : int
        How many topics; the paper uses 15.
    confidence : float
        A sentence has no topic below this.
    phrases : int
        The longest phrases that are terms, in words; 10 at most.
    min_sentences : int, optional
        Terms in fewer sentences are left out. Default: one in 2000 sentences, at least two.
    max_share : float
        Words in more than this share of the sentences are left out: stop words of the corpus.
    proper_names : bool
        Whether words usually written with a capital inside of sentences can be terms. Set it for German,
        where all nouns are written so.
    stop_words : "english" or words
        Left out as well. "english" is scikit-learn's list.
    language : str
        For the splitting into sentences.

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
    confidence: float = 0.4
    phrases: int = 2
    min_sentences: int | None = None
    max_share: float = 0.2
    proper_names: bool = False
    stop_words: str | Iterable[str] = "english"
    language: str = "en"

    def fit(self, documents: Any) -> Self:
        """Learn the topics of all sentences of some documents (see :func:`read_documents`)."""
        self._check()
        texts = read_documents(documents)
        sentences = [s for document in texts for s in split_sentences(document.text, self.language)]
        given = english_stop_words() if self.stop_words == "english" else map(str, self.stop_words)
        stop = {word.lower() for word in given}
        stop |= corpus_stop_words(sentences, self.max_share, self.proper_names)
        rows = [terms_of(sentence, stop, self.phrases) for sentence in sentences]
        least = max(2, len(rows) // 2000) if self.min_sentences is None else self.min_sentences
        counts = Counter(term for row in rows for term in set(row))
        terms = tuple(sorted(term for term, n in counts.items() if n >= least))
        if len(terms) < self.n_topics:
            raise DataError(
                f"{len(sentences)} sentences have only {len(terms)} terms in at least {least} of them, too "
                f"few for {self.n_topics} topics; give more text"
                + (", or ask for fewer topics" if terms else "")
            )
        inverse = np.log((1 + len(rows)) / (1 + np.array([counts[term] for term in terms]))) + 1
        matrix = self._matrix(rows, terms, inverse)
        weights = _factorise(matrix, self.n_topics)
        best = shares_of(matrix, weights).argmax(axis=1)
        weights = weights[np.argsort(-np.bincount(best, minlength=len(weights)), kind="stable")]
        self._fitted = FittedTopics(_names(terms, weights), terms, inverse, weights, tuple(sorted(stop)))
        return self

    def __call__(self, sentences: Sequence[str]) -> list[str | None]:
        """The topic of every sentence, None where no topic reaches the confidence."""
        check_share("confidence", self.confidence)
        return named(self.shares(sentences), self.topics_, max(self.confidence, np.finfo(float).tiny))

    def shares(self, sentences: Sequence[str]) -> FloatArray:
        """The confidence of every topic in every sentence; all zero for a sentence that is about none."""
        fitted = self.fitted
        stop = frozenset(fitted.stop_words)
        rows = [terms_of(sentence, stop, self.phrases) for sentence in sentences]
        if not rows:
            return np.zeros((0, len(fitted.names)))
        matrix = self._matrix(rows, fitted.terms, fitted.inverse_frequencies)
        return shares_of(matrix, fitted.weights)

    def _matrix(self, rows: Sequence[Sequence[str]], terms: Sequence[str], inverse: FloatArray) -> Any:
        """Sentences x terms, sparse: TF-IDF, (1 + log count) x inverse, each row of length 1."""
        with optional_library("a topic model", "scikit-learn", extra="text"):
            from sklearn.feature_extraction.text import TfidfVectorizer
        weigh = TfidfVectorizer(analyzer=list, vocabulary=terms, sublinear_tf=True)
        weigh.idf_ = inverse
        return weigh.transform(rows)

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
        settings = {name: getattr(self, name) for name in ("confidence", "phrases", "language")}
        weights = zip(fitted.names, fitted.weights.tolist(), strict=True)
        document = {
            "format": "summarkov",
            "version": VERSION,
            "kind": "TopicModel",
            "settings": {"method": "nmf", **settings},
            "stop_words": fitted.stop_words,
            "terms": fitted.terms,
            "inverse_frequencies": fitted.inverse_frequencies.tolist(),
            "topics": [{"name": name, "weights": row} for name, row in weights],
        }
        write_sealed(path, document)

    def _check(self) -> None:
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise SettingError(f"stop_words must be 'english' or a list of words, not {self.stop_words!r}")
        check_whole("n_topics", self.n_topics, 1)
        check_whole("phrases", self.phrases, 1, LONGEST_PHRASE)
        if self.min_sentences is not None:
            check_whole("min_sentences", self.min_sentences, 1)
        check_share("max_share", self.max_share)


# ------------------------------------------------------------------ terms


def terms_of(sentence: str, stop_words: Collection[str], phrases: int) -> list[str]:
    """Words in lower case without stop words and single letters, and phrases of at most ``phrases`` words.

    >>> terms_of("3 sales of new homes rose", {"of"}, phrases=2)
    ['sales', 'new', 'homes', 'rose', 'sales new', 'new homes', 'homes rose']
    """
    words = [word.lower() for word in _WORD.findall(sentence)]
    words = [word for word in words if len(word) > 1 and word not in stop_words]
    lengths = range(1, min(phrases, len(words)) + 1)
    return [" ".join(words[at : at + size]) for size in lengths for at in range(len(words) - size + 1)]


def corpus_stop_words(sentences: Sequence[str], max_share: float, names: bool) -> set[str]:
    """Words that tell nothing in this corpus: in too many sentences, or (unless ``names``) names.

    A name is a word that is written with a capital more often than not where it does not begin a sentence.
    """
    rows = [_WORD.findall(sentence) for sentence in sentences]
    often = Counter(word for row in rows for word in {each.lower() for each in row})
    inside = Counter(word.lower() for row in rows for word in row[1:])
    capital = Counter(word.lower() for row in rows for word in row[1:] if word[0].isupper())
    common = {word for word, n in often.items() if n > max_share * len(sentences)}
    return common if names else common | {word for word, n in capital.items() if 2 * n > inside[word]}


def leading_terms(terms: Sequence[str], weights: Iterable[float], n: int) -> list[str]:
    """The heaviest terms, no word twice; for a word the phrase with it that has at least half its weight."""
    ranked = sorted(zip(terms, weights, strict=True), key=lambda pair: (-float(f"{pair[1]:.3g}"), pair[0]))
    ranked = [(term, weight) for term, weight in ranked if weight > 0]
    chosen: list[str] = []
    told: set[str] = set()
    for term, weight in ranked:
        if len(chosen) == n:
            break
        if told.isdisjoint(term.split()):
            longer = (p for p, w in ranked if 2 * w >= weight and {term} < set(p.split()))
            chosen.append(next((phrase for phrase in longer if told.isdisjoint(phrase.split())), term))
            told.update(chosen[-1].split())
    return chosen


def _names(terms: Sequence[str], weights: FloatArray) -> tuple[str, ...]:
    """One name per topic: its two leading terms, more where two topics would be called the same."""
    names: list[str] = []
    for row in weights.tolist():
        leading = leading_terms(terms, row, 20)
        plain = BETWEEN.join(leading)
        longer = (BETWEEN.join(leading[:n]) for n in range(2, len(leading) + 1))
        tried = [*longer, plain, f"{plain} ({len(names) + 1})"]
        names.append(next(name for name in tried if name not in names))
    return tuple(names)


def named(found: FloatArray, names: Sequence[str], least: float) -> list[str | None]:
    """The name of the largest number of each row; None where that is too small."""
    best = found.argmax(axis=1)
    enough = found[np.arange(len(found)), best] >= least
    return [names[k] if is_so else None for k, is_so in zip(best.tolist(), enough.tolist(), strict=True)]


# ------------------------------------------------------------------ arithmetic


def english_stop_words() -> set[str]:
    """Words of English grammar."""
    with optional_library("a topic model", "scikit-learn", extra="text"):
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
    return set(ENGLISH_STOP_WORDS)


def _factorise(matrix: Any, n_topics: int) -> FloatArray:
    """Topics x terms, each row of length 1, without topics of nothing."""
    from sklearn.decomposition import NMF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # topics a little short of the optimum are topics still
        model = NMF(n_topics, init="nndsvd", random_state=0, max_iter=1000)
        found = model.fit(matrix).components_
    found = found[found.any(axis=1)]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def shares_of(matrix: Any, weights: FloatArray) -> FloatArray:
    """How much of each sentence is each topic: rows sum to 1, or are 0 where topics explain hardly anything.

    Every row is worked out by itself, so that a sentence has the same topic whatever stands beside it.
    """
    found = _least_squares(matrix, weights)
    # rows of the matrix have length 1, and what is explained is orthogonal to what is not
    found[np.sqrt(((found @ (weights @ weights.T)) * found).sum(axis=1)) < HARDLY] = 0
    total = found.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(found, total, out=np.zeros_like(found), where=total > 0))


def _least_squares(matrix: Any, weights: FloatArray) -> FloatArray:
    """Non-negative least squares, in the coordinates of the topics: few numbers per sentence."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    gram = weights @ weights.T
    # topics may nearly be combinations of others; a trace of ridge keeps the root real
    root = np.linalg.cholesky(gram + 1e-10 * np.eye(len(gram)))  # root @ root.T = gram
    right = solve_triangular(root, (matrix @ weights.T).T, lower=True).T
    return np.array([nnls(root.T, row)[0] for row in right]).reshape(len(right), len(weights))


# ------------------------------------------------------------------ files


@dataclass(frozen=True)
class _StoredSettings:
    """How topics were found."""

    method: Literal["nmf", "lda"]
    confidence: float
    phrases: int
    language: str


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


def load_topics(path: str | PathLike[str]) -> TopicModel:
    """Read a topic model that :meth:`TopicModel.save` wrote; it labels sentences as it did then."""
    where, document = read_document(path)
    is_ours = isinstance(document, dict) and document.get("format") == "summarkov"
    if not is_ours or document.get("kind") != "TopicModel":
        raise StoreError(f"{where} is no topic model; 'summarkov text topics' makes one")
    if document.get("version") != VERSION:
        raise StoreError(f"{where} was written by a later version of summarkov; update to read it")
    with place(where):
        told = checked(document, _Stored)
        settings, n_terms, names = vars(told.settings), len(told.terms), tuple(t.name for t in told.topics)
        if settings.pop("method") != "nmf":
            raise StoreError("topics by LDA are of an earlier version; 'summarkov text' finds them anew")
        if not names or len(set(names)) < len(names) or len(set(told.terms)) < n_terms:
            raise StoreError.expected("topics of different names, and terms that differ", names)
        if {len(topic.weights) for topic in told.topics} | {len(told.inverse_frequencies)} != {n_terms}:
            raise StoreError(f"expected {n_terms} weights of each topic, and as many inverse frequencies")
        weights = np.array([topic.weights for topic in told.topics])
        if (weights < 0).any() or (abs(np.hypot.reduce(weights, axis=1) - 1) > 1e-6).any():
            raise StoreError(".topics: expected weights from 0 on, whose squares sum to 1 for every topic")
        check_seal(document)
    model, inverse = TopicModel(n_topics=len(names), **settings), np.array(told.inverse_frequencies)
    model._fitted = FittedTopics(names, told.terms, inverse, weights, told.stop_words)
    return model
