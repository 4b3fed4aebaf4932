"""``summarkov text``: from documents to events, and the sentences behind a model of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.page import Document, Headline, Line, Part, Quote, progress
from summarkov.cli.reading import check_output, load_model, saving
from summarkov.errors import DataError, SettingError
from summarkov.frames import Sheet
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.text import Passages, Sentence, TextEvents


def topics(given: Any) -> Document:
    """Topics of documents, and a sequence of topics of each."""
    from summarkov.text import TopicModel, load_topics
    from summarkov.text.topics import english_stop_words

    if given.use is not None and given.model is not None:
        raise SettingError("--use takes topics that are stored already; leave out --model")
    _check_events_output(given)
    beside = given.output.with_name(f"{given.output.stem}.topics.json")
    where = beside if given.model is None else given.model
    check_output(where, *given.files)
    if given.use is not None:
        fitted = load_topics(given.use)
        fitted.confidence = fitted.confidence if given.confidence is None else given.confidence
    else:
        fitted = TopicModel(
            n_topics=given.topics,
            confidence=TopicModel.confidence if given.confidence is None else given.confidence,
            max_share=given.max_share,
            proper_names=given.proper_names,
            stop_words=english_stop_words() | set(given.stop_word or ()),
            language=given.language,
        )
    documents = _read_documents(given)
    if given.use is None:
        with progress("Learning the topics"):
            fitted.fit(documents)
    how = {"language": fitted.language, "leave_out": given.leave_out or ()}
    found = _save_events(given, documents, fitted, **how)
    saved = {"events": str(given.output)}
    if given.use is None:
        with saving(where):
            fitted.save(where)
        saved["topics"] = str(where)
    return _labelled(found, len(documents), "topic", fitted.topics_, saved, fitted.leading_terms)


def concepts(given: Any) -> Document:
    """Given concepts in documents, and a sequence of concepts of each."""
    from summarkov.text import Concepts

    _check_events_output(given)
    described = _concepts(given.concept or [], given.concepts)
    documents = _read_documents(given)
    with progress("Loading the embedding model"):
        known = Concepts(described, threshold=given.threshold)
    found = _save_events(given, documents, known, language=given.language)
    return _labelled(found, len(documents), "concept", sorted(described), {"events": str(given.output)})


def _check_events_output(given: Any) -> None:
    """Refuse a name for the events that cannot be written, or would lose the sentences."""
    check_output(given.output, *given.files)
    if given.output.suffix.lower() not in (".jsonl", ".ndjson"):
        words = f"the sentences are kept in JSON lines; let the name of {given.output} end in .jsonl"
        raise SettingError(words)


def _read_documents(given: Any) -> list[Any]:
    from summarkov.text import read_documents

    with progress("Reading the documents"):
        return read_documents(*given.files, id=given.id, text=given.text)


def _save_events(given: Any, documents: list[Any], label: Any, **settings: Any) -> TextEvents:
    """Label the sentences, with a bar that counts them, and keep the events with them."""
    from summarkov.text import text_events

    with progress("Labelling", 0, "sentences") as advance:
        found = text_events(documents, label, repeats=given.repeats, progress=advance, **settings)
    with saving(given.output):
        found.save(given.output)
    return found


def _labelled(
    found: TextEvents,
    n_documents: int,
    kind: str,
    names: Sequence[str],
    saved: dict[str, str],
    terms_of: Callable[..., Sequence[str]] | None = None,
) -> Document:
    """How many events there are of each topic or concept, most first, and where they are kept."""
    from summarkov.text.topics import BETWEEN

    counts, n_events = found.events.describe().label_counts, found.events.n_events
    names = sorted(names, key=lambda x: -counts.get(x, 0))

    def data() -> dict[str, Any]:
        rows = [
            {kind: x, "events": counts.get(x, 0), **({"terms": terms_of(x)} if terms_of else {})}
            for x in names
        ]
        sizes = {"documents": n_documents, "sequences": len(found.events), "events": n_events}
        return {"saved": saved, **sizes, f"{kind}s": rows}

    def further(x: str) -> str:
        """The terms that the name of a topic does not hold."""
        terms = [] if terms_of is None else terms_of(x, 12)
        return ", ".join(term for term in terms if term not in x.split(BETWEEN)) or "-"

    def parts() -> Iterator[Part]:
        sizes = plural(n_documents, "document"), plural(n_events, "event"), plural(len(names), kind)
        yield Headline(", ".join(sizes))
        shares = [(number(counts.get(x, 0)), percent(counts.get(x, 0) / max(1, n_events))) for x in names]
        terms = [[further(x)] if terms_of else [] for x in names]
        rows = [[x, *share, *more] for x, share, more in zip(names, shares, terms, strict=True)]
        head = (kind.title(), "Events", "Share", *(["Further terms"] if terms_of else []))
        yield Sheet("", head, rows, len(rows))
        yield from (Line(f"Saved the {what} {path}") for what, path in saved.items())

    return Document(data, parts())


def _concepts(written: list[str], file: Path | None) -> dict[str, str]:
    """Names and descriptions, from options and a file; each name once."""
    from summarkov.read.files import text_lines

    lines = [(f"--concept {line!r}", line) for line in written]
    if file is not None:
        numbered = text_lines(str(file), expected="concepts")
        lines += [(f"{file}, line {n}", line) for n, line in numbered if line.strip()]
    if not lines:
        raise SettingError("name the concepts with --concept, or give a file of them with --concepts")
    found: dict[str, str] = {}
    for where, line in lines:
        concept, _, words = (part.strip() for part in line.partition(":"))
        if not concept:
            raise DataError(f"{where}: expected a name, or a name and a description behind a colon")
        if concept in found:
            raise DataError(f"{where}: the concept {concept!r} was named before; name each once")
        found[concept] = words
    return found


# ---------------------------------------------------------------------- the sentences behind a model


def passages(given: Any) -> Document:
    """Sentences of a label, behind an edge to it, or behind a state of its model."""
    from summarkov.evidence import model_of
    from summarkov.summaries.window import later_words

    target, influencer, after = given.target, given.influencer, given.after or None
    fitted = load_model(given.model)
    found = _quoted(given.file).passages(fitted, target, influencer, after=after, most=given.rows)
    how = ""
    if influencer is not None:
        how = f" after {influencer}, {later_words(model_of(fitted, target).fitted.reach(influencer))}"
    elif after:
        how = f", in history state: {model_of(fitted, target).explain(after, label=target).words}"

    def data() -> dict[str, Any]:
        asked = {"target": target, "influencer": influencer, "after": after}
        return {**asked, "total": found.total, "passages": list(found)}

    return Document(data, [Headline(f"{target}{how}"), *_passages(found)])


def _quoted(file: Path) -> TextEvents:
    """Read events with their sentences."""
    from summarkov.text import read_text_events

    with progress(f"Reading {file}"):
        return read_text_events(file)


def _passages(found: Passages) -> Iterator[Part]:
    """How many places there are; of some, the sentences of influencers, and of the target after them."""
    some = "" if len(found) == found.total else f"; {plural(len(found), 'passage')} of them, evenly spread"
    yield f"{plural(found.total, 'time')}{some}"
    for each in found:
        yield ""
        for before in each.before:
            yield from _sentence(before.sentence, f" ({before.label}, {before.lag} back)")
        yield from _sentence(each.target)


def _sentence(sentence: Sentence, note: str = "") -> Iterator[Part]:
    """A sentence, and above it where it stands."""
    yield Line(f"{sentence.document}, sentence {sentence.number}{note}")
    yield Quote(sentence.text)
