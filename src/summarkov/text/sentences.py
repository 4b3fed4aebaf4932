"""Sentences of a text."""

from __future__ import annotations

from summarkov.errors import optional_library


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Split a text into sentences, by the rules of ``sentencex``; white space in them becomes single blanks.

    ``language`` is an ISO 639 code, for the abbreviations that end no sentence.

    >>> split_sentences("Dr. Li came at 3.30 p.m. on Monday. All was well!")
    ['Dr. Li came at 3.30 p.m. on Monday.', 'All was well!']
    """
    with optional_library("splitting text into sentences", "sentencex", extra="text"):
        import sentencex
    sentences = (" ".join(part.split()) for part in sentencex.segment(language, text))
    return [sentence for sentence in sentences if sentence]
