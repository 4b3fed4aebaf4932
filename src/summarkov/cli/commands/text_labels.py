"""``summarkov text topics`` and ``summarkov text concepts``: from documents to events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from summarkov.cli.files import check_output, saving
from summarkov.cli.options.documents import (
    PLAIN_LABELLING,
    DocumentFiles,
    EventsOut,
    Labelling,
    check_events_output,
    save_events,
)
from summarkov.cli.options.shared import Json, flag, option, takes_options
from summarkov.cli.printing.console import (
    label,
    new_table,
    page_width,
    print_json,
    print_line,
    widest,
    working,
)
from summarkov.cli.printing.console import output as results
from summarkov.errors import DataError, SettingError
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.text import TextEvents, TopicModel

LEARNING = "Learning the topics"


@takes_options
def topics(
    files: DocumentFiles,
    output: EventsOut,
    n_topics: Annotated[int, option("N", "How many topics.", "--topics -n", panel=LEARNING)] = 15,
    method: Annotated[str, option("nmf|lda", "How to find them.", panel=LEARNING)] = "nmf",
    confidence: Annotated[
        float | None,
        option("P", "No event where no topic is as sure as this. Default: 0.4, or as the stored topics say."),
    ] = None,
    stop_word: Annotated[
        list[str] | None,
        option("WORD", "Leave out this word, besides those of English grammar; repeatable.", panel=LEARNING),
    ] = None,
    max_share: Annotated[
        float, option("P", "Leave out words in more than this share of the sentences.", panel=LEARNING)
    ] = 0.2,
    proper_names: Annotated[
        bool, flag("--proper-names", "Let names be terms, not left out as usual.", panel=LEARNING)
    ] = False,
    seed: Annotated[int, option("N", "For lda: same seed, same topics.", panel=LEARNING)] = 0,
    use: Annotated[
        Path | None,
        option("TOPICS", "Label with these stored topics, and their language, instead of learning."),
    ] = None,
    model: Annotated[
        Path | None,
        option("TOPICS", "Save the topics here. Default: beside the events, as NAME.topics.json."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        option("TOPIC", "No events of this topic, if it is about the form of the documents; repeatable."),
    ] = None,
    labelling: Labelling = PLAIN_LABELLING,
    json: Json = False,
) -> None:
    """Find topics in documents, and make a sequence of topics of each."""
    from summarkov.text import TopicModel, load_topics
    from summarkov.text.events import beside
    from summarkov.text.factors import english_stop_words

    if use is not None and model is not None:
        raise SettingError("--use takes topics that are stored already; leave out --model")
    check_events_output(output, files)
    where = beside(output) if model is None else model
    check_output(where, *files)
    if use is not None:
        fitted = load_topics(use)
        if confidence is not None:
            fitted.confidence = confidence
        documents = labelling.read(files)
    else:
        fitted = TopicModel(
            n_topics=n_topics,
            method=method,  # type: ignore[arg-type]  # text as it was typed: fit refuses what is no method
            confidence=TopicModel.confidence if confidence is None else confidence,
            max_share=max_share,
            proper_names=proper_names,
            stop_words=english_stop_words() | set(stop_word or ()),
            language=labelling.language,
            seed=seed,
        )
        documents = labelling.read(files)
        with working("Learning the topics"):
            fitted.fit(documents)
    found = labelling.make_events(documents, fitted, language=fitted.language, leave_out=leave_out or ())
    save_events(found, output)
    saved = {"events": str(output)}
    if use is None:
        with saving(where):
            fitted.save(where)
        saved["topics"] = str(where)
    _tell(results(), found, fitted, len(documents), saved, json)


def _tell(
    console: Console,
    found: TextEvents,
    fitted: TopicModel,
    n_documents: int,
    saved: dict[str, str],
    json: bool,
) -> None:
    from summarkov.text.topics import BETWEEN

    counts = dict(zip(found.events.labels, found.events.label_counts.tolist(), strict=True))
    topics = sorted(fitted.topics_, key=lambda x: -counts.get(x, 0))
    if json:
        rows = [{"topic": x, "events": counts.get(x, 0), "terms": fitted.leading_terms(x)} for x in topics]
        sizes = {"documents": n_documents, "sequences": len(found.events), "events": found.events.n_events}
        print_json({"saved": saved, **sizes, "topics": rows})
        return
    console.print(
        f"{plural(n_documents, 'document')}, {plural(found.events.n_events, 'event')}, "
        f"{plural(len(fitted.topics_), 'topic')}",
        style="bold",
    )
    console.print()
    width = min(34, widest(fitted.topics_))
    terms = max(12, page_width(console) - width - 18)
    table = new_table("Topic", ">Events", ">Share", "Further terms")
    for x in topics:
        n = counts.get(x, 0)
        further = ", ".join(term for term in fitted.leading_terms(x, 12) if term not in x.split(BETWEEN))
        share = percent(n / max(1, found.events.n_events))
        table.add_row(label(x, width), number(n), share, label(further or "-", terms))
    console.print(table)
    console.print()
    for name, path in saved.items():
        print_line(console, f"Saved the {name} {path}")


@takes_options
def concepts(
    files: DocumentFiles,
    output: EventsOut,
    concept: Annotated[
        list[str] | None,
        option("NAME", "A concept, or 'NAME: description in a few words'; repeatable.", "--concept -c"),
    ] = None,
    concepts_file: Annotated[
        Path | None, option("FILE", "A file with a concept a line, written the same way.", "--concepts")
    ] = None,
    threshold: Annotated[float, option("C", "No event where no concept is as near as this cosine.")] = 0.3,
    labelling: Labelling = PLAIN_LABELLING,
    json: Json = False,
) -> None:
    """Recognise given concepts in documents, and make a sequence of concepts of each."""
    from summarkov.text import Concepts

    check_events_output(output, files)
    given = _given(list(concept or ()), concepts_file)
    documents = labelling.read(files)
    with working("Loading the embedding model"):
        known = Concepts(given, threshold=threshold)
    found = labelling.make_events(documents, known)
    save_events(found, output)
    counts = found.events.describe().label_counts
    rows = sorted(((x, counts.get(x, 0)) for x in given), key=lambda row: (-row[1], row[0]))
    n_events = found.events.n_events
    if json:
        print_json(
            {
                "saved": {"events": str(output)},
                "documents": len(documents),
                "sequences": len(found.events),
                "events": n_events,
                "concepts": [{"concept": x, "events": n} for x, n in rows],
            }
        )
        return
    console = results()
    what = (
        f"{plural(len(documents), 'document')}, {plural(n_events, 'event')}, {plural(len(given), 'concept')}"
    )
    console.print(what, style="bold")
    console.print()
    width = min(page_width(console) - 20, widest(list(given)))
    table = new_table("Concept", ">Events", ">Share")
    for x, n in rows:
        table.add_row(label(x, width), number(n), percent(n / max(1, n_events)))
    console.print(table)
    console.print()
    print_line(console, f"Saved the events {output}")


def _given(written: list[str], file: Path | None) -> dict[str, str]:
    """Names and descriptions, from options and a file; each name once."""
    from summarkov.io.files import text_lines

    lines = [(f"--concept {line!r}", line) for line in written]
    if file is not None:
        named = text_lines(str(file), expected="concepts")
        lines += [(f"{file}, line {n}", line) for n, line in named if line.strip()]
    if not lines:
        raise SettingError("name the concepts with --concept, or give a file of them with --concepts")
    given: dict[str, str] = {}
    for where, line in lines:
        name, _, words = line.partition(":")
        name = name.strip()
        if not name:
            raise DataError(f"{where}: expected a name, or a name and a description behind a colon")
        if name in given:
            raise DataError(f"{where}: the concept {name!r} was named before; name each once")
        given[name] = words.strip()
    return given
