"""``summarkov text``: from documents to events, and the sentences behind a model of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.files import check_output, load_model, saving
from summarkov.cli.options import Json, ModelFile, flag, option, setting, settings_in
from summarkov.cli.printing import label, new_table, print_json, progress, results, widest, working
from summarkov.cli.printing.history import (
    before_document,
    passages_document,
    plain,
    print_earlier,
    print_passages,
    print_state,
    print_why,
)
from summarkov.cli.printing.influences import window_words
from summarkov.cli.printing.model import state_text
from summarkov.cli.reading import read_quoted
from summarkov.errors import DataError, SettingError
from summarkov.wording import number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.text import Document, Labeler, TextEvents


LEARNING = "Learning the topics"
_reading = settings_in("Reading the documents")

DocumentFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Documents: .jsonl (one object per line), .csv or .tsv (one row per document), .txt (one "
        "document), or folders of .txt files.",
    ),
]
EventsOut = Annotated[Path, option("FILE", "Save the events here, as .jsonl.", "--output -o", default=...)]


@dataclass(frozen=True)
class Labelling:
    """How to read documents, and what to make events of. Every field is an option."""

    repeats: str = setting(
        option(
            "runs|once|all",
            "Keep the first event of every run of the same label, the first of each label in a "
            "document, or all.",
            default="runs",
        )
    )
    single: bool = setting(flag("--single", "One sequence over all documents by date, not one per document."))
    together: bool = setting(
        flag(
            "--together",
            "With --single: the labels of a document happened together, whatever the order of its sentences.",
        )
    )
    id_column: str = _reading("COLUMN", "A document's name.", "--id", default="id")
    text_column: str = _reading("COLUMN", "A document's text.", "--text", default="text")
    date_column: str | None = _reading(
        "COLUMN",
        "A document's date, for --single. Default: 'date' if there is one, else the order of the file.",
        "--date",
    )
    language: str = _reading("CODE", "For splitting into sentences.", default="en")

    def read(self, files: list[Path]) -> list[Document]:
        """Read all documents."""
        from summarkov.text import read_documents

        with working("Reading the documents"):
            return read_documents(*files, id=self.id_column, text=self.text_column, date=self.date_column)

    def save_events(
        self, path: Path, documents: list[Document], label: Labeler, **settings: Any
    ) -> TextEvents:
        """Label the sentences, with a bar that counts them, and keep the events with them."""
        from summarkov.text import text_events

        how: dict[str, Any] = {"repeats": self.repeats, "single": self.single, "together": self.together}
        how |= {"language": self.language, **settings}
        with progress("Labelling", 0, "sentences") as advance:
            found = text_events(documents, label, progress=advance, **how)
        with saving(path):
            found.save(path)
        return found


def check_events_output(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name for the events that cannot be written, or would lose the sentences."""
    check_output(path, *inputs)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise SettingError(f"the sentences are kept in JSON lines; let the name of {path} end in .jsonl")


def topics(
    files: DocumentFiles,
    output: EventsOut,
    n_topics: int = option("N", "How many topics.", "--topics -n", panel=LEARNING, default=15),
    method: str = option("nmf|lda", "How to find them.", panel=LEARNING, default="nmf"),
    confidence: float | None = option(
        "P", "No event where no topic is as sure as this. Default: 0.4, or as the stored topics say."
    ),
    stop_word: list[str] | None = option(
        "WORD", "Leave out this word, besides those of English grammar; repeatable.", panel=LEARNING
    ),
    max_share: float = option(
        "P", "Leave out words in more than this share of the sentences.", panel=LEARNING, default=0.2
    ),
    proper_names: bool = flag("--proper-names", "Let names be terms, not left out as usual.", panel=LEARNING),
    seed: int = option("N", "For lda: same seed, same topics.", panel=LEARNING, default=0),
    use: Path | None = option(
        "TOPICS", "Label with these stored topics, and their language, instead of learning."
    ),
    model: Path | None = option(
        "TOPICS", "Save the topics here. Default: beside the events, as NAME.topics.json."
    ),
    leave_out: list[str] | None = option(
        "TOPIC", "No events of this topic, if it is about the form of the documents; repeatable."
    ),
    labelling: Labelling = Labelling(),
    json: Json = False,
) -> None:
    """Find topics in documents, and make a sequence of topics of each."""
    from summarkov.text import TopicModel, load_topics
    from summarkov.text.factors import english_stop_words
    from summarkov.text.topics import beside

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
    how: dict[str, Any] = {"language": fitted.language, "leave_out": leave_out or ()}
    found = labelling.save_events(output, documents, fitted, **how)
    saved = {"events": str(output)}
    if use is None:
        with saving(where):
            fitted.save(where)
        saved["topics"] = str(where)
    _tell(found, len(documents), "topic", fitted.topics_, saved, json, fitted.leading_terms)


def _tell(
    found: TextEvents,
    n_documents: int,
    kind: str,
    names: Sequence[str],
    saved: dict[str, str],
    json: bool,
    terms_of: Callable[..., Sequence[str]] | None = None,
) -> None:
    """How many events there are of each topic or concept, most first, and where they are kept."""
    from summarkov.text.topics import BETWEEN

    counts, n_events = found.events.describe().label_counts, found.events.n_events
    names = sorted(names, key=lambda x: -counts.get(x, 0))
    if json:
        sizes = {"documents": n_documents, "sequences": len(found.events), "events": n_events}
        rows = [
            {kind: x, "events": counts.get(x, 0), **({"terms": terms_of(x)} if terms_of else {})}
            for x in names
        ]
        print_json({"saved": saved, **sizes, f"{kind}s": rows})
        return
    console = results()
    sizes_words = (plural(n_documents, "document"), plural(n_events, "event"), plural(len(names), kind))
    console.print(", ".join(sizes_words), style="bold")
    console.print()
    width = min(34 if terms_of else console.page_width - 20, widest(names))
    table = new_table(kind.title(), ">Events", ">Share", *(["Further terms"] if terms_of else []))
    for x in names:
        n, further = counts.get(x, 0), []
        if terms_of:
            others = ", ".join(term for term in terms_of(x, 12) if term not in x.split(BETWEEN))
            further = [label(others or "-", max(12, console.page_width - width - 18))]
        table.add_row(label(x, width), number(n), percent(n / max(1, n_events)), *further)
    console.print(table)
    console.print()
    for name, path in saved.items():
        console.print_line(f"Saved the {name} {path}")


def concepts(
    files: DocumentFiles,
    output: EventsOut,
    concept: list[str] | None = option(
        "NAME", "A concept, or 'NAME: description in a few words'; repeatable.", "--concept -c"
    ),
    concepts_file: Path | None = option(
        "FILE", "A file with a concept a line, written the same way.", "--concepts"
    ),
    threshold: float = option("C", "No event where no concept is as near as this cosine.", default=0.3),
    labelling: Labelling = Labelling(),
    json: Json = False,
) -> None:
    """Recognise given concepts in documents, and make a sequence of concepts of each."""
    from summarkov.text import Concepts

    check_events_output(output, files)
    given = _given(list(concept or ()), concepts_file)
    documents = labelling.read(files)
    with working("Loading the embedding model"):
        known = Concepts(given, threshold=threshold)
    found = labelling.save_events(output, documents, known)
    _tell(found, len(documents), "concept", sorted(given), {"events": str(output)}, json)


def _given(written: list[str], file: Path | None) -> dict[str, str]:
    """Names and descriptions, from options and a file; each name once."""
    from summarkov.read.files import text_lines

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


TextEventsFile = Annotated[
    Path, typer.Argument(metavar="EVENTS", help="Events that 'summarkov text' made, with their sentences.")
]
Rows = Annotated[int, option("N", "Show at most N passages.", default=..., min=1)]


def passages(
    model: ModelFile,
    file: TextEventsFile,
    target: str = option("LABEL", "The label that occurred.", "--target -t", default=...),
    influencer: str | None = option(
        "LABEL", "Where this one had occurred: why there is an edge.", "--influencer -i"
    ),
    after: list[str] | None = option(
        "LABEL",
        "Instead: where the past was in the state that it is in after these labels, oldest first; "
        "repeatable.",
        "--after -a",
    ),
    rows: Rows = 12,
    json: Json = False,
) -> None:
    """Show sentences: of a label, behind an edge to it, or behind a state of its model."""
    from summarkov.explain import model_of

    fitted = load_model(model)
    found = read_quoted(file).passages(fitted, target, influencer, after=after or None, most=rows)
    if json:
        asked = {"target": target, "influencer": influencer, "after": after or None}
        print_json({**asked, **passages_document(found)})
        return
    console = results()
    how = ""
    one: Any = None if influencer is None and not after else model_of(fitted, target)
    if influencer is not None:
        how = f", with {visible(influencer)} {window_words(one, influencer)}"
    elif after:
        why = one.explain(after, label=target)
        how = f", in history state: {state_text(one, why.state, why.words)}"
    console.print(f"{visible(target)}{how}", style="bold", width=console.page_width)
    print_passages(console, found)


def explain(
    model: ModelFile,
    file: TextEventsFile,
    target: str = option("LABEL", "The label to explain.", "--target -t", default=...),
    sequence: str | None = option("ID", "Of which document. Default: the last.", "--sequence -s"),
    position: int | None = option(
        "N", "At its Nth event. Default: the one to come after all.", "--position -p"
    ),
    passages: Path | None = option(
        "FILE",
        "The events that the model was learned from, if EVENTS are others: where to look for the same state.",
    ),
    rows: Rows = 3,
    json: Json = False,
) -> None:
    """Say why a label is likely, or not, at a place of a document, with the sentences that speak for it.

    Where its influencers stand in the document, what the model makes of that,
    and other places where the label followed in the same state.
    """
    from summarkov.explain import model_of

    fitted = load_model(model)
    here = read_quoted(file)
    learned_from = None if passages is None else read_quoted(passages)
    found = here.explain(fitted, target, sequence, position=position, learned_from=learned_from, most=rows)
    which = here.events.ids[-1] if sequence is None else sequence
    if json:
        asked = {"sequence": which, "position": position}
        told = {"before": before_document(found.before), "same_state": passages_document(found.passages)}
        print_json({**asked, "explanation": plain(found.why), **told})
        return
    console = results()
    place = "what comes next" if position is None else f"event {position}"
    console.print(f"{visible(which)}, {place}", style="bold", width=console.page_width)
    console.print()
    print_state(console, model_of(fitted, target), [found.why])
    for earlier in found.before:
        console.print()
        print_earlier(console, earlier, named=True)
    print_why(console, found.why, places=False)
    console.print()
    console.print(f"In the same state {visible(target)} occurred", style="bold", width=console.page_width)
    print_passages(console, found.passages)
