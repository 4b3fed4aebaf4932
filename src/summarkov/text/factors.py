"""The arithmetic of topics: terms of sentences, factorised; what scikit-learn and SciPy are needed for."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from summarkov.errors import optional_library
from summarkov.typing import FloatArray

#: Letters, with hyphens and apostrophes inside.
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def words_of(sentence: str) -> list[str]:
    """The words of a sentence as they stand; numbers are none.

    >>> words_of("Prices rose 3 percent in the so-called Fourth District.")
    ['Prices', 'rose', 'percent', 'in', 'the', 'so-called', 'Fourth', 'District']
    """
    return _WORD.findall(sentence)


def terms_of(sentence: str, stop_words: Collection[str], phrases: int) -> list[str]:
    """Words in lower case without stop words and single letters, and phrases of at most ``phrases`` words.

    >>> terms_of("Sales of new homes rose", {"of"}, phrases=2)
    ['sales', 'new', 'homes', 'rose', 'sales new', 'new homes', 'homes rose']
    """
    words = [word.lower() for word in words_of(sentence)]
    words = [word for word in words if len(word) > 1 and word not in stop_words]
    return [
        " ".join(words[at : at + size])
        for size in range(1, min(phrases, len(words)) + 1)
        for at in range(len(words) - size + 1)
    ]


def corpus_stop_words(sentences: Sequence[str], max_share: float, names: bool) -> set[str]:
    """Words that tell nothing in this corpus: in too many sentences, or (unless ``names``) names.

    A name is a word that is written with a capital more often than not where it does not begin a sentence.

    >>> sentences = ["The shop in Rome shut.", "The bank in Rome opened.", "The bank shut.", "Rome slept."]
    >>> sorted(corpus_stop_words(sentences, max_share=0.6, names=False))
    ['rome', 'the']
    """
    in_sentences: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for sentence in sentences:
        words = words_of(sentence)
        in_sentences.update({word.lower() for word in words})
        inside.update(word.lower() for word in words[1:])
        capital.update(word.lower() for word in words[1:] if word[0].isupper())
    common = {word for word, n in in_sentences.items() if n > max_share * len(sentences)}
    return common if names else common | {word for word, n in capital.items() if 2 * n > inside[word]}


def leading_terms(terms: Sequence[str], weights: Iterable[float], n: int) -> list[str]:
    """The heaviest terms, no word twice; for a word the phrase with it that has at least half its weight.

    >>> leading_terms(["estate", "market", "real", "real estate"], [4.0, 1.0, 2.0, 3.0], 2)
    ['real estate', 'market']
    """
    ranked = sorted(zip(terms, weights, strict=True), key=lambda pair: (-pair[1], pair[0]))
    ranked = [(term, weight) for term, weight in ranked if weight > 0]
    phrases = [(term, weight) for term, weight in ranked if " " in term]
    chosen: list[str] = []
    told: set[str] = set()
    for term, weight in ranked:
        if len(chosen) == n:
            break
        if not told.isdisjoint(term.split()):
            continue
        longer = (p for p, w in phrases if 2 * w >= weight and {term} < set(p.split()))
        chosen.append(next((phrase for phrase in longer if told.isdisjoint(phrase.split())), term))
        told.update(chosen[-1].split())
    return chosen


#: Rounds of the variational estimate of LDA, for a sentence; they are short, and it converges in far fewer.
_ROUNDS = 60

#: Of matrices with at most this many rows or columns all singular vectors are worked out.
_SMALL = 200

#: A sentence that topics explain less of than this (the cosine of the two) is about none of them: one rare
#: word in common is no topic.
HARDLY = 0.06


def load_sklearn() -> tuple[Any, Any]:
    """scikit-learn's modules for text and for factorisation."""
    with optional_library("a topic model", "scikit-learn", extra="text"):
        from sklearn import decomposition
        from sklearn.feature_extraction import text
    return text, decomposition


def english_stop_words() -> set[str]:
    """Words of English grammar."""
    return set(load_sklearn()[0].ENGLISH_STOP_WORDS)


def vocabulary(rows: Sequence[Sequence[str]], least: int) -> tuple[tuple[str, ...], FloatArray]:
    r"""The terms in at least ``least`` sentences, sorted, and :math:`\log((1+n)/(1+n_t)) + 1` for each."""
    counts = Counter(term for row in rows for term in set(row))
    terms = tuple(sorted(term for term, n in counts.items() if n >= least))
    n = np.array([counts[term] for term in terms], dtype=float)
    return terms, np.log((1 + len(rows)) / (1 + n)) + 1


def term_matrix(
    rows: Sequence[Sequence[str]], terms: Sequence[str], inverse: FloatArray, *, tf_idf: bool
) -> Any:
    """Sentences x terms, sparse: counts; or TF-IDF, (1 + log count) x inverse, each row of length 1."""
    text, _ = load_sklearn()
    if not tf_idf:
        settings = {"vocabulary": list(terms), "dtype": np.float64}
        return text.CountVectorizer(analyzer=list, **settings).transform(rows)
    weigh = text.TfidfVectorizer(analyzer=list, vocabulary=list(terms), sublinear_tf=True)
    weigh.idf_ = inverse
    return weigh.transform(rows)


def factorise(matrix: Any, method: str, n_topics: int, seed: int) -> FloatArray:
    """Topics x terms, each row of length 1 (NMF) or of sum 1 (LDA)."""
    _, decomposition = load_sklearn()
    if method == "lda":
        model = decomposition.LatentDirichletAllocation(n_topics, random_state=seed, learning_method="batch")
        found = model.fit(matrix).components_
        return np.asarray(found / found.sum(axis=1, keepdims=True))
    model = decomposition.NMF(n_topics, init="custom", max_iter=1000)
    of_sentences, of_terms = _start(matrix, n_topics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # topics a little short of the optimum are topics still
        model.fit_transform(matrix, W=of_sentences, H=of_terms)
        found = model.components_
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(length > 0, length, 1))


def _start(matrix: Any, n_topics: int) -> tuple[FloatArray, FloatArray]:
    r"""A start for the factorisation that leaves nothing to chance (NNDSVD, Boutsidis and Gallopoulos 2008).

    Of each pair of singular vectors :math:`u, v` the positive or the negative parts, whichever are larger
    together; scaled so that their product is as large as :math:`\sigma`. scikit-learn's own start of this
    kind takes approximate vectors, which depend on a seed, and now and then a topic with them.
    """
    left, sizes, right = _singular(matrix, n_topics)
    of_sentences, of_terms = np.zeros((matrix.shape[0], n_topics)), np.zeros((n_topics, matrix.shape[1]))
    for k, size in enumerate(sizes.tolist()):
        u, v = left[:, k], right[k]
        parts = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        a, b = max(parts, key=lambda pair: float(np.linalg.norm(pair[0]) * np.linalg.norm(pair[1])))
        long = np.linalg.norm(a), np.linalg.norm(b)
        scale = np.sqrt(size * long[0] * long[1])
        if scale > 0:
            of_sentences[:, k], of_terms[k] = scale * a / long[0], scale * b / long[1]
    return of_sentences, of_terms


def _singular(matrix: Any, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The first singular vectors and values, the largest first: Lanczos' method from a fixed start, or all
    of them where the matrix is small."""
    from scipy.sparse.linalg import svds

    if min(matrix.shape) <= max(_SMALL, 2 * n):
        left, sizes, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
        return left[:, :n], sizes[:n], right[:n]
    fixed = np.ones(min(matrix.shape))
    left, sizes, right = svds(matrix, k=n, v0=fixed)
    order = np.argsort(-sizes, kind="stable")
    return left[:, order], sizes[order], right[order]


def shares(matrix: Any, weights: FloatArray, method: str) -> FloatArray:
    """How much of each sentence is each topic: rows sum to 1, or are zero where a sentence has no terms, or
    (NMF) the topics explain hardly anything of it.

    Every row is worked out by itself, so that a sentence has the same topic whatever stands beside it.
    """
    if method == "nmf":
        found = _least_squares(matrix, weights)
        # rows of the matrix have length 1, and what is explained is orthogonal to what is not
        found[np.sqrt(((found @ (weights @ weights.T)) * found).sum(axis=1)) < HARDLY] = 0
    else:
        found = _expected(matrix, weights)
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


def _expected(matrix: Any, weights: FloatArray) -> FloatArray:
    """Expected counts of topics in each sentence: latent Dirichlet allocation with the prior 1 / topics."""
    from scipy import sparse
    from scipy.special import digamma

    prior = 1 / len(weights)
    rows, columns = matrix.nonzero()
    counts = np.asarray(matrix[rows, columns]).ravel()
    likely = weights[:, columns].T  # term of a sentence x topics
    add = sparse.csr_matrix((counts, (rows, np.arange(len(rows)))), shape=(matrix.shape[0], len(rows)))
    found = np.ones((matrix.shape[0], len(weights)))
    for _ in range(_ROUNDS):
        expected = np.exp(digamma(found) - digamma(found.sum(axis=1, keepdims=True)))
        here = likely * expected[rows]
        found = prior + add @ (here / here.sum(axis=1, keepdims=True))
    empty = np.asarray(matrix.sum(axis=1)).ravel() == 0
    found[empty] = 0
    return np.asarray(found)
