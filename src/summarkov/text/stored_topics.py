"""Topic models as plain JSON: vocabulary, inverse frequencies and weights; never a pickle."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np

from summarkov.errors import StoreError
from summarkov.store import Node, read_document, write_atomically
from summarkov.text.topics import METHODS, FittedTopics, TopicModel

VERSION = 1


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
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    # half a surrogate pair, which UTF-8 cannot hold, becomes JSON's escape of it
    write_atomically(path, text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


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
    model = TopicModel(
        n_topics=len(topics),
        method=settings["method"].one_of(METHODS),
        confidence=settings["confidence"].number(),
        phrases=settings["phrases"].count(),
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
    model._fitted = FittedTopics(names, terms, inverse, weights, _texts(node["stop_words"]))
    return model


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(each.text() for each in node.list())


def _numbers(node: Node, size: int) -> list[float]:
    return [each.number() for each in node.list(size)]
