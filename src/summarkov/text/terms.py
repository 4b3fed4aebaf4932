"""The words and phrases of sentences that can tell topics apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

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
