"""Events from text, which remember the sentences that they are: made, saved and read again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.explain import FittedGraph, FittedModel
from summarkov.io import read_events
from summarkov.io.files import text_lines
from summarkov.io.temporary import replacing
from summarkov.settings import Progress, reporter
from summarkov.text.documents import Sentence, in_order, read_documents, split_sentences
from summarkov.text.passages import Before, Grounds, Passages, find_passages, in_codes_of, model_of


@dataclass(frozen=True, eq=False)
class TextEvents:
    """Events from text, with the sentence that each of them is.

    Attributes
    ----------
    events : EventSequences
        What every model learns from.
    sentences : tuple of Sentence
        One per event, in the same order.

    Examples
    --------
    >>> from summarkov.text import text_events
    >>> def label(sentences):
    ...     return ["fire" if "fire" in sentence else None for sentence in sentences]
    >>> found = text_events({"monday": "All was well. A fire broke out."}, label)
    >>> found.events.to_lists(), found.sentences[0]
    ([['fire']], Sentence(document='monday', number=2, text='A fire broke out.'))
    """

    events: EventSequences
    sentences: tuple[Sentence, ...]

    def __post_init__(self) -> None:
        if len(self.sentences) != self.events.n_events:
            raise DataError(f"there are {self.events.n_events} events but {len(self.sentences)} sentences")

    @property
    def documents(self) -> list[str]:
        """The document that each event is from: ``blocks`` for the ``confidence`` of a single sequence."""
        return [sentence.document for sentence in self.sentences]

    def joined(self) -> TextEvents:
        """All sequences as one, in their order; documents read one after the other.

        >>> from summarkov.text import text_events
        >>> found = text_events(["It rained. It rained.", "It rained."], lambda s: ["rain"] * len(s))
        >>> found.joined().events.to_lists()
        [['rain', 'rain']]
        """
        events, n = self.events, self.events.n_rows
        return TextEvents(
            EventSequences(events.codes, [0, n], events.labels, ["all"], moments=events.moments),
            self.sentences,
        )

    def passages(
        self,
        fitted: FittedGraph | FittedModel,
        target: str,
        influencer: str | None = None,
        *,
        after: Iterable[object] | None = None,
        most: int = 12,
    ) -> Passages:
        """Places where a label occurred: the passages behind an edge, or behind a state.

        With ``influencer`` those that have it in its window (in a tree: where it is asked for, and there),
        which are why there is an edge, or where it inhibits the exceptions. With ``after``, a history of
        labels, those whose past is in the same state of the label's model. With neither all. Of more than
        ``most`` some are shown, spread evenly over the data.
        """
        return find_passages(
            self.events, self.sentences, fitted, target, influencer=influencer, after=after, most=most
        )

    def explain(
        self,
        fitted: FittedGraph | FittedModel,
        target: str,
        sequence: str | None = None,
        *,
        position: int | None = None,
        learned_from: TextEvents | None = None,
        most: int = 12,
    ) -> Grounds:
        """Say why a label has its probability in a document, with the sentences.

        Parameters
        ----------
        fitted
            A graph, or a model of this label.
        target
            The label to explain.
        sequence
            Which sequence (by its id), so which document; the last one by default.
        position
            The place of the event to explain, the first being 1; by default the one to come after all.
        learned_from
            Where to look for passages in the same state, if these are not the events of the model.
        most
            The most passages to show.
        """
        ids = self.events.ids
        if not ids:
            raise DataError("there are no sequences to explain")
        if sequence is not None and sequence not in ids:
            raise SettingError(f"there is no sequence {sequence!r}{nearest(sequence, ids)}")
        which = len(ids) - 1 if sequence is None else ids.index(sequence)
        if self.events.moments is not None and self.events.moments.has_ticks:
            raise SettingError(
                "the labels of a document happened together, and explanations are of events one after the "
                "other; see passages, or make the events without together=True"
            )
        start, end = self.events.offsets[which : which + 2].tolist()
        if position is not None and not 1 <= position <= end - start:
            raise SettingError(f"position must be from 1 to {end - start} in {ids[which]!r}, not {position}")
        events = in_codes_of(fitted, self.events)
        end = end if position is None else start + position - 1
        history = [events.labels[code] for code in events.codes[start:end].tolist()]
        why = model_of(fitted, target).explain(history, label=target)
        before = [Before(a.label, a.lags[0], self.sentences[end - a.lags[0]]) for a in why.active]
        passages = (learned_from or self).passages(fitted, target, after=history, most=most)
        return Grounds(why, tuple(sorted(before, key=lambda each: -each.lag)), passages)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON lines, events to ``read_events``, and with sentences to :func:`read_text_events`."""
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        bounds = np.append(0, np.cumsum(self.events.codes >= 0))[self.events.offsets].tolist()
        for at, (name, labels) in enumerate(zip(self.events.ids, self.events, strict=True)):
            quoted = [dict(vars(sentence)) for sentence in self.sentences[bounds[at] : bounds[at + 1]]]
            yield json.dumps({"id": name, "events": labels, "sentences": quoted})


def read_text_events(path: str | os.PathLike[str]) -> TextEvents:
    """Read what :meth:`TextEvents.save` wrote."""
    events = read_events(path, format="jsonl")
    sentences: list[Sentence] = []
    known = np.append(0, np.cumsum(events.codes >= 0))[events.offsets]  # events before each sequence
    lengths = iter(np.diff(known).tolist())
    for number, line in text_lines(os.fspath(path)):
        if not line.strip():
            continue
        record = json.loads(line)
        quoted = record.get("sentences") if isinstance(record, dict) else None
        if not isinstance(quoted, list) or len(quoted) != next(lengths):
            raise DataError(
                f"{os.fspath(path)}, line {number}: expected 'sentences', one per event; make the file with "
                "'summarkov text'"
            )
        sentences.extend(_sentence(each, f"{os.fspath(path)}, line {number}") for each in quoted)
    return TextEvents(events, tuple(sentences))


def _sentence(given: Any, where: str) -> Sentence:
    kinds = {"document": str, "number": int, "text": str}
    if not isinstance(given, Mapping) or any(
        type(given.get(name)) is not kind for name, kind in kinds.items()
    ):
        raise DataError(f"{where}: each of 'sentences' must have 'document', 'number' and 'text'")
    return Sentence(*(given[name] for name in kinds))


def beside(path: Path) -> Path:
    """Where the topic model of a file of events is kept: beside it.

    >>> beside(Path("reports.jsonl")).name
    'reports.topics.json'
    """
    return path.with_name(f"{path.stem}.topics.json")


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
    together: bool = False,
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
    single
        One sequence over all documents by date, instead of one per document.
    together
        With ``single``: the labels of a document happened together, one tick per document, whatever the
        order of its sentences; a document without labels is an empty tick. Each label has the first of its
        sentences.
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
    >>> text_events(reports, weather, single=True, together=True).events.to_lists()
    [[['rain', 'sun'], []]]
    """
    if repeats not in REPEATS:
        raise SettingError(
            f"repeats={repeats!r} is not known; use one of {', '.join(REPEATS)}{nearest(repeats, REPEATS)}"
        )
    if isinstance(leave_out, str):
        raise SettingError(f"leave_out must be a list of labels, not {leave_out!r}; wrap it in a list")
    if together and (not single or repeats == "all"):
        raise SettingError(
            "together=True makes one position of a document, with each label once: say single=True, so that "
            "documents follow each other, and leave out repeats='all'"
        )
    read = read_documents(documents)
    read = in_order(read) if single else read
    each = [
        Sentence(d.id, n, s) for d in read for n, s in enumerate(split_sentences(d.text, language), start=1)
    ]
    told = _labels_of([sentence.text for sentence in each], label, reporter(progress))
    labels = _without(told, set(leave_out))
    kept: dict[str, list[tuple[str, Sentence]]] = {document.id: [] for document in read}
    for name, sentence in zip(labels, each, strict=True):
        if name is not None:
            kept[sentence.document].append((name, sentence))
    if together:
        chosen = [sorted(_keep(labelled, "once"), key=itemgetter(0)) for labelled in kept.values()]
        events = EventSequences.from_lists([[[name for name, _ in some] for some in chosen]], ids=["all"])
    else:
        chosen = [_keep(labelled, repeats) for labelled in kept.values()]
        events = EventSequences.from_lists(([name for name, _ in some] for some in chosen), ids=list(kept))
    found = TextEvents(events, tuple(sentence for some in chosen for _, sentence in some))
    return found.joined() if single else found


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
    if repeats == "all":
        return labelled
    if repeats == "once":
        first = {name: at for at, (name, _) in reversed(list(enumerate(labelled)))}
        return [labelled[at] for at in sorted(first.values())]
    return [each for at, each in enumerate(labelled) if at == 0 or labelled[at - 1][0] != each[0]]
