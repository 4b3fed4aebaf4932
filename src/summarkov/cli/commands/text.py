"""``summarkov text``: from documents to events, and the sentences behind a model of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.documents import explanation_document
from summarkov.cli.files import check_output, load_model, saving
from summarkov.cli.learned import explanations
from summarkov.cli.options import SHARED, command
from summarkov.cli.page import Document, Headline, Line, Part, Quote, Table, name, progress, working
from summarkov.cli.reading import read_quoted
from summarkov.errors import DataError, SettingError
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.text import Before, Labeler, Passages, Sentence, TextEvents
    from summarkov.text import Document as TextDocument

SHARED["documents"] = """
files:FILE...  Documents: .jsonl (one object per line), .csv or .tsv (one row per document), .txt (one
    document), or folders of .txt files.
--output -o FILE  Save the events here, as .jsonl. (required)
"""
SHARED["labelling"] = """
--repeats runs|once|all  Keep the first event of every run of the same label, the first of each label in a
    document, or all. [default: runs]
--single  One sequence over all documents by date, not one per document.
--together  With --single: the labels of a document happened together, whatever the order of its sentences.
<json>
Reading the documents:
--id COLUMN  A document's name. [default: id]
--text COLUMN  A document's text. [default: text]
--date COLUMN  A document's date, for --single. Default: 'date' if there is one, else the order of the file.
--language CODE  For splitting into sentences. [default: en]
"""
SHARED["text-events"] = "file:EVENTS  Events that 'summarkov text' made, with their sentences."


def _read_documents(given: Any) -> list[TextDocument]:
    """Read all documents."""
    from summarkov.text import read_documents

    with working("Reading the documents"):
        return read_documents(*given.files, id=given.id, text=given.text, date=given.date)


def _save_events(given: Any, documents: list[TextDocument], label: Labeler, **settings: Any) -> TextEvents:
    """Label the sentences, with a bar that counts them, and keep the events with them."""
    from summarkov.text import text_events

    how: dict[str, Any] = {"repeats": given.repeats, "single": given.single, "together": given.together}
    how |= {"language": given.language, **settings}
    with progress("Labelling", 0, "sentences") as advance:
        found = text_events(documents, label, progress=advance, **how)
    with saving(given.output):
        found.save(given.output)
    return found


def _check_events_output(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name for the events that cannot be written, or would lose the sentences."""
    check_output(path, *inputs)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise SettingError(f"the sentences are kept in JSON lines; let the name of {path} end in .jsonl")


@command
def topics(given: Any) -> Document:
    """Find topics in documents, and make a sequence of topics of each.

    Options:
    <documents>
    --confidence P  No event where no topic is as sure as this. Default: 0.4, or as the stored topics say.
    --use TOPICS  Label with these stored topics, and their language, instead of learning.
    --model TOPICS  Save the topics here. Default: beside the events, as NAME.topics.json.
    --leave-out TOPIC...  No events of this topic, if it is about the form of the documents; repeatable.
    <labelling>
    Learning the topics:
    --topics -n N  How many topics. [default: 15]
    --method nmf|lda  How to find them. [default: nmf]
    --stop-word WORD...  Leave out this word, besides those of English grammar; repeatable.
    --max-share P  Leave out words in more than this share of the sentences. [default: 0.2]
    --proper-names  Let names be terms, not left out as usual.
    --seed N  For lda: same seed, same topics. [default: 0]
    """
    from summarkov.text import TopicModel, load_topics
    from summarkov.text.factors import english_stop_words
    from summarkov.text.topics import beside

    if given.use is not None and given.model is not None:
        raise SettingError("--use takes topics that are stored already; leave out --model")
    _check_events_output(given.output, given.files)
    where = beside(given.output) if given.model is None else given.model
    check_output(where, *given.files)
    if given.use is not None:
        fitted = load_topics(given.use)
        if given.confidence is not None:
            fitted.confidence = given.confidence
        documents = _read_documents(given)
    else:
        fitted = TopicModel(
            n_topics=given.topics,
            method=given.method,
            confidence=TopicModel.confidence if given.confidence is None else given.confidence,
            max_share=given.max_share,
            proper_names=given.proper_names,
            stop_words=english_stop_words() | set(given.stop_word or ()),
            language=given.language,
            seed=given.seed,
        )
        documents = _read_documents(given)
        with working("Learning the topics"):
            fitted.fit(documents)
    how: dict[str, Any] = {"language": fitted.language, "leave_out": given.leave_out or ()}
    found = _save_events(given, documents, fitted, **how)
    saved = {"events": str(given.output)}
    if given.use is None:
        with saving(where):
            fitted.save(where)
        saved["topics"] = str(where)
    return _labelled(found, len(documents), "topic", fitted.topics_, saved, fitted.leading_terms)


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

    def parts() -> Iterator[Part]:
        sizes = plural(n_documents, "document"), plural(n_events, "event"), plural(len(names), kind)
        yield Headline(", ".join(sizes))
        rows = []
        for x in names:
            n, further = counts.get(x, 0), []
            if terms_of:
                others = [term for term in terms_of(x, 12) if term not in x.split(BETWEEN)]
                further = [name(", ".join(others) or "-")]
            rows.append([name(x), number(n), percent(n / max(1, n_events)), *further])
        more = ["*Further terms"] if terms_of else []
        yield Table((f"*{kind.title()}", ">Events", ">Share", *more), rows)
        yield from (Line(f"Saved the {what} {path}") for what, path in saved.items())

    return Document(data, parts())


@command
def concepts(given: Any) -> Document:
    """Recognise given concepts in documents, and make a sequence of concepts of each.

    Options:
    <documents>
    --concept -c NAME...  A concept, or 'NAME: description in a few words'; repeatable.
    --concepts FILE  A file with a concept a line, written the same way.
    --threshold C  No event where no concept is as near as this cosine. [default: 0.3]
    <labelling>
    """
    from summarkov.text import Concepts

    _check_events_output(given.output, given.files)
    described = _concepts(given.concept or [], given.concepts)
    documents = _read_documents(given)
    with working("Loading the embedding model"):
        known = Concepts(described, threshold=given.threshold)
    found = _save_events(given, documents, known)
    return _labelled(found, len(documents), "concept", sorted(described), {"events": str(given.output)})


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
        concept, _, words = line.partition(":")
        concept = concept.strip()
        if not concept:
            raise DataError(f"{where}: expected a name, or a name and a description behind a colon")
        if concept in found:
            raise DataError(f"{where}: the concept {concept!r} was named before; name each once")
        found[concept] = words.strip()
    return found


@command
def passages(given: Any) -> Document:
    """Show sentences: of a label, behind an edge to it, or behind a state of its model.

    Options:
    <model>
    <text-events>
    --target -t LABEL  The label that occurred. (required)
    --influencer -i LABEL  Where this one had occurred: why there is an edge.
    --after -a LABEL...  Instead: where the past was in the state that it is in after these labels, oldest
        first; repeatable.
    --rows N>=1  Show at most N passages. [default: 12]
    <json>
    """
    from summarkov.explain import model_of
    from summarkov.summaries.window import later_words

    target, influencer, after = given.target, given.influencer, given.after or None
    fitted = load_model(given.model)
    found = read_quoted(given.file).passages(fitted, target, influencer, after=after, most=given.rows)
    asked = {"target": target, "influencer": influencer, "after": after}

    def parts() -> Iterator[Part]:
        how, one = "", None if influencer is None and not after else model_of(fitted, target)
        if one is not None and influencer is not None:
            how = f" after {influencer}, {later_words(one.fitted.reach(influencer))}"
        elif one is not None:
            how = f", in history state: {one.explain(after, label=target).words}"
        yield Headline(f"{target}{how}")
        yield from _passages(found)

    return Document(
        lambda: {**asked, "total": found.total, "passages": [asdict(each) for each in found]}, parts()
    )


def _passages(found: Passages) -> Iterator[Part]:
    """How many places there are; of some, the sentences of influencers, and of the target after them."""
    some = "" if len(found) == found.total else f"; {plural(len(found), 'passage')} of them, evenly spread"
    yield f"{plural(found.total, 'time')}{some}"
    for each in found:
        yield ""
        for before in each.before:
            yield from _earlier(before)
        yield from _sentence(each.target)


def _earlier(before: Before) -> Iterator[Part]:
    """The sentence of an influencer."""
    yield from _sentence(before.sentence, f" ({before.label}, {before.lag} back)")


def _sentence(sentence: Sentence, note: str = "") -> Iterator[Part]:
    """A sentence, and above it where it stands."""
    yield Line(f"{sentence.document}, sentence {sentence.number}{note}")
    yield Quote(sentence.text)


@command
def explain(given: Any) -> Document:
    """Say why a label is likely, or not, at a place of a document, with the sentences that speak for it.

    Where its influencers stand in the document, what the model makes of that,
    and other places where the label followed in the same state.

    Options:
    <model>
    <text-events>
    --target -t LABEL  The label to explain. (required)
    --sequence -s ID  Of which document. Default: the last.
    --position -p N  At its Nth event. Default: the one to come after all.
    --passages FILE  The events that the model was learned from, if EVENTS are others: where to look for the
        same state.
    --rows N>=1  Show at most N passages. [default: 3]
    <json>
    """
    target, position = given.target, given.position
    fitted = load_model(given.model)
    here = read_quoted(given.file)
    learned_from = None if given.passages is None else read_quoted(given.passages)
    how: dict[str, Any] = {"position": position, "learned_from": learned_from, "most": given.rows}
    found = here.explain(fitted, target, given.sequence, **how)
    which = here.events.ids[-1] if given.sequence is None else given.sequence

    def data() -> dict[str, Any]:
        same = {"total": found.passages.total, "passages": [asdict(each) for each in found.passages]}
        before = [asdict(each) for each in found.before]
        why = explanation_document(found.why)
        return {
            "sequence": which,
            "position": position,
            "explanation": why,
            "before": before,
            "same_state": same,
        }

    def parts() -> Iterator[Part]:
        yield Headline(f"{which}, {'what comes next' if position is None else f'event {position}'}")
        yield ""
        yield from explanations([found.why])
        for before in found.before:
            yield ""
            yield from _earlier(before)
        yield ""
        yield Headline(f"In the same state {target} occurred")
        yield from _passages(found.passages)

    return Document(data, parts())
