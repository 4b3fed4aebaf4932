"""Sentences of a text."""

from __future__ import annotations

from summarkov.errors import MissingLibraryError


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Split a text into sentences, by the rules of ``sentencex``; white space in them becomes single blanks.

    ``language`` is an ISO 639 code, for the abbreviations that end no sentence.

    >>> split_sentences("Dr. Li came at 3.30 p.m. on Monday. All was well!")
    ['Dr. Li came at 3.30 p.m. on Monday.', 'All was well!']
    """
    try:
        import sentencex
    except ImportError as missing:
        raise MissingLibraryError("splitting text into sentences", "sentencex", "text") from missing
    sentences = (" ".join(part.split()) for part in sentencex.segment(language, text))
    return [sentence for sentence in sentences if sentence]
