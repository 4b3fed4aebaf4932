"""Topic models as plain JSON: vocabulary, inverse frequencies and weights; never a pickle."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from summarkov.errors import StoreError
from summarkov.store import Node, check_seal, read_document, write_sealed
from summarkov.text.topics import LONGEST_PHRASE, METHODS, FittedTopics, TopicModel

VERSION = 1
#: More than the inverse frequency, log((1 + n) / (1 + n_t)) + 1, of a term in any number of sentences.
_RAREST = 50


def save_topics(model: TopicModel, path: str | PathLike[str]) -> None:
    """Write a fitted topic model."""
    fitted = model.fitted
    document: dict[str, Any] = {
        "format": "summarkov",
        "version": VERSION,
        "kind": "TopicModel",
        "settings": {
            "method": model.method,
            "confidence": model.confidence,
            "phrases": model.phrases,
            "language": model.language,
            "seed": model.seed,
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


def load_topics(path: str | PathLike[str]) -> TopicModel:
    """Read a topic model that :meth:`TopicModel.save` wrote; it labels sentences as it did then."""
    node = read_document(path)
    if node["format"].value != "summarkov" or node["kind"].value != "TopicModel":
        raise StoreError(f"{node.where} is no topic model; 'summarkov text topics' makes one")
    if node["version"].count() != VERSION:
        raise StoreError(f"{node.where} was written by a later version of summarkov; update to read it")
    settings = node["settings"]
    terms = _texts(node["terms"])
    topics = node["topics"].list()
    method = settings["method"].one_of(METHODS)
    confidence, phrases = settings["confidence"].number(), settings["phrases"].count()
    if not 0 <= confidence <= 1:
        settings["confidence"].wrong("a number from 0 to 1")
    if not 1 <= phrases <= LONGEST_PHRASE:
        settings["phrases"].wrong(f"a whole number from 1 to {LONGEST_PHRASE}")
    model = TopicModel(
        n_topics=len(topics),
        method=method,
        confidence=confidence,
        phrases=phrases,
        language=settings["language"].text(),
        seed=settings["seed"].count(),
    )
    names = tuple(topic["name"].text() for topic in topics)
    if not names or len(set(names)) < len(names) or len(set(terms)) < len(terms):
        node["topics"].wrong("topics of different names, and terms that differ")
    weights = np.array([_numbers(topic["weights"], len(terms)) for topic in topics])
    inverse = np.array(_numbers(node["inverse_frequencies"], len(terms)))
    if (weights < 0).any() or not (weights.sum(axis=1) > 0).all():
        node["topics"].wrong("weights from 0 on, not all of them 0")
    is_nmf = method == "nmf"
    size = np.hypot.reduce(weights, axis=1) if is_nmf else weights.sum(axis=1)
    if (abs(size - 1) > 1e-6).any() or not (is_nmf or weights.any(axis=0).all()):
        node["topics"].wrong(f"weights whose {'squares' if is_nmf else 'values'} sum to 1 for every topic")
    if ((inverse < 1 - 1e-9) | (inverse > _RAREST)).any():
        node["inverse_frequencies"].wrong(f"numbers from 1 to {_RAREST}")
    fitted = FittedTopics(names, terms, inverse, weights, _texts(node["stop_words"]))
    check_seal(node)
    model._fitted = fitted
    return model


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(each.text() for each in node.list())


def _numbers(node: Node, size: int) -> list[float]:
    return [each.number() for each in node.list(size)]
