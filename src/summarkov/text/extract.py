"""Documents to sentences to labels to events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.text.documents import in_order, read_documents
from summarkov.text.provenance import TextEvents
from summarkov.text.quoted import Sentence
from summarkov.text.sentences import split_sentences

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
    single: bool = False,
    leave_out: Iterable[str] = (),
    language: str = "en",
    progress: Callable[[int, int], None] | None = None,
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
    single
        One sequence over all documents by date, instead of one a document.
    leave_out
        Labels that make no events, such as topics that are about the form of the documents.
    language
        For the splitting, see :func:`split_sentences`.
    progress
        Called as ``progress(done, total)`` with numbers of sentences.

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
    read = in_order(read) if single else read
    each = [
        Sentence(d.id, n, s) for d in read for n, s in enumerate(split_sentences(d.text, language), start=1)
    ]
    labels = _without(_labels_of([sentence.text for sentence in each], label, progress), set(leave_out))
    kept: dict[str, list[tuple[str, Sentence]]] = {document.id: [] for document in read}
    for name, sentence in zip(labels, each, strict=True):
        if name is not None:
            kept[sentence.document].append((name, sentence))
    chosen = [_keep(labelled, repeats) for labelled in kept.values()]
    events = EventSequences.from_lists(([name for name, _ in some] for some in chosen), ids=list(kept))
    found = TextEvents(events, tuple(sentence for some in chosen for _, sentence in some))
    return found.joined() if single else found


def _labels_of(
    texts: Sequence[str], label: Labeler, progress: Callable[[int, int], None] | None
) -> list[str | None]:
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
        if progress is not None:
            progress(len(labels), len(texts))
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
    if repeats == "all":
        return labelled
    if repeats == "once":
        first = {name: at for at, (name, _) in reversed(list(enumerate(labelled)))}
        return [labelled[at] for at in sorted(first.values())]
    return [each for at, each in enumerate(labelled) if at == 0 or labelled[at - 1][0] != each[0]]
