"""A sentence and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document; the first one has the number 1."""

    document: str
    number: int
    text: str
