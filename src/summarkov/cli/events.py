"""``summarkov describe``, ``convert``, ``text``, ``simulate``, ``demo``: files of events, and new ones."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.learn import add_order_test, for_terminal
from summarkov.cli.learned import document, learned
from summarkov.cli.page import Document, Headline, Line, Note, Part, Raw, progress, saved, shown
from summarkov.cli.reading import Reading, check_output, saving, write_text
from summarkov.errors import SettingError
from summarkov.frames import Sheet
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph


def describe(given: Any) -> Document:
    """The sizes of a file of events."""
    found = Reading(given).read(given.file).describe()
    sheet = found.sheet(given.rows or None)
    return Document(found.to_dict, [replace(sheet, title=for_terminal(sheet.title))])


def convert(given: Any) -> Document:
    """The events of a file in another."""
    check_output(given.output, given.file, given.map, safe_csv=given.safe_csv)
    _check_format(given.output)
    return _written(Reading(given).read(given.file), given)


def _check_format(path: Path | None) -> None:
    """Refuse, before the work, a file that events cannot be written to."""
    from summarkov.read.write import writable_format

    if path is not None:
        writable_format(shown(path))


def _written(events: EventSequences, given: Any, **more: Any) -> Document:
    """Events that are written to a file."""
    from summarkov.read import write_events

    where, labels = shown(given.output), plural(len(events.labels), "label")
    with progress(f"Writing {where}"), saving(given.output):
        write_events(events, given.output, safe_csv=given.safe_csv)
    sizes = f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')} of {labels}"
    words = f"Saved {sizes} as {where}"
    return saved(words, saved=where, **_sizes(events), **more)


def _sizes(events: EventSequences) -> dict[str, int]:
    return {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}


def text(given: Any) -> Document:
    """Topics or concepts of documents, and a sequence of them of each."""
    from summarkov.text import Concepts, TopicModel, load_topics, read_documents, text_events

    if sum(each is not None for each in (given.topics, given.use, given.concept)) > 1:
        raise SettingError("--topics, --use and --concept exclude each other; give one of these")
    if given.output.suffix.lower() not in (".jsonl", ".ndjson"):
        words = f"the sentences are kept in JSON lines; let the name of {given.output} end in .jsonl"
        raise SettingError(words)
    files = {"events": given.output}
    if given.use is None and given.concept is None:
        files["topics"] = given.output.with_name(f"{given.output.stem}.topics.json")
    for path in files.values():
        check_output(path, *given.files)
    known: Any = None if given.use is None else load_topics(given.use)
    with progress("Reading the documents"):
        documents = read_documents(*given.files, id=given.id, text=given.text)
    language = given.language if known is None else known.language
    if given.concept is not None:
        named = (concept.partition(":") for concept in given.concept)
        with progress("Loading the embedding model"):
            known = Concepts({name.strip(): words.strip() for name, _, words in named})
    elif known is None:
        with progress("Learning the topics"):
            known = TopicModel(n_topics=given.topics or 15, language=language).fit(documents)
    how: dict[str, Any] = {"repeats": given.repeats, "language": language}
    how["leave_out"] = given.leave_out or ()
    with progress("Labelling", 0, "sentences") as advance:
        found = text_events(documents, known, progress=advance, **how)
    for path, kept in zip(files.values(), (found, known), strict=False):
        with saving(path):
            kept.save(path)
    counts, n_events = found.events.describe().label_counts, found.events.n_events
    kind = "topic" if given.concept is None else "concept"
    terms = getattr(known, "leading_terms", lambda label, n: ())
    rows = sorted(((counts.get(x, 0), x) for x in getattr(known, "topics_", counts)), key=lambda row: -row[0])
    kinds = plural(len(rows), kind)
    sizes = {"documents": len(documents), "sequences": len(found.events), "events": n_events}
    cells = [[x, number(n), percent(n / max(1, n_events)), ", ".join(terms(x, 12))] for n, x in rows]
    return Document(
        lambda: {
            "saved": {what: str(path) for what, path in files.items()},
            **sizes,
            f"{kind}s": [{kind: x, "events": n, "terms": terms(x, 10)} for n, x in rows],
        },
        [
            Headline(", ".join([plural(len(documents), "document"), plural(n_events, "event"), kinds])),
            Sheet("", (kind.title(), "Events", "Share", "Terms"), cells, len(cells)),
            *(Line(f"Saved the {what} {path}") for what, path in files.items()),
        ],
    )


def simulate(given: Any) -> Document:
    """New sequences."""
    from summarkov.read.lines import json_lines

    check_output(given.output, given.source, safe_csv=given.safe_csv)
    _check_format(given.output)
    source = read_source(given.source)
    with progress("Simulating"):
        events = source.simulate(given.sequences, given.length, given.seed)
    if given.output is not None:
        return _written(events, given, seed=given.seed)
    lists = zip(events.ids, events.to_lists(), strict=True)
    return Document(
        lambda: {**_sizes(events), "seed": given.seed, "data": [{"id": i, "events": e} for i, e in lists]},
        (Raw(f"{line}\n") for line in json_lines(events)),
    )


def read_source(path: Path) -> Any:
    """Read dynamics, a graph, or a joint model."""
    from summarkov.models import load
    from summarkov.simulate import Dynamics
    from summarkov.store import read_document

    _, found = read_document(path)
    if isinstance(found, dict) and found.get("kind") == "dynamics":
        try:
            return Dynamics.from_dict(found)
        except ValueError as problem:
            raise SettingError(f"{path}: {problem}") from None
    model = load(path)
    if not hasattr(model, "simulate"):
        raise SettingError(
            f"{path} is no graph or joint model of all labels, so it cannot tell what comes next; "
            "learn one, without --target and --joint"
        )
    return model


SEQUENCES, LENGTH, SEED = 1000, 30, 1


def demo(given: Any) -> Document:
    """A made-up web shop: events, what is learned from them, and what was true."""
    from summarkov.models import BSuMM, InfluenceGraph
    from summarkov.read import write_events
    from summarkov.simulate.example import LOOKBACK, compare_with_truth, web_shop

    folder = given.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingError(f"cannot make the folder {folder}: {problem.strerror or problem}") from None
    shop = web_shop()
    events = shop.simulate(SEQUENCES, LENGTH, SEED)
    with progress("Learning", len(events.labels), "labels") as advance:
        graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(events, progress=advance)
    add_order_test(graph, events)
    names = {"events": "events.jsonl", "truth": "truth.json", "model": "model.json", "page": "report.html"}
    files = {what: folder / file for what, file in names.items()}
    write_text(files["truth"], shop.to_dict())
    with saving(folder):
        write_events(events, files["events"])
        graph.save(files["model"])
        graph.to_html(files["page"], events=events, title="Visits to a made-up web shop")
    found = compare_with_truth(graph.edges_)
    kept = {what: str(path) for what, path in files.items()}
    parts, more = _demo(graph, found, kept), f"summarkov show {kept['model']} --all prints all"
    return Document(lambda: {"saved": kept, "truth": found, **document(graph)}, parts, more=more)


def _demo(graph: InfluenceGraph, found: dict[str, int], files: dict[str, str]) -> Iterator[Part]:
    from summarkov.simulate.example import REST, truth_words

    yield (
        f"{SEQUENCES:,} made-up visits to a web shop. Their rules are known, but the model sees only "
        "the order of the events."
    )
    yield ""
    yield from learned(graph)
    yield ""
    yield Headline(truth_words(found))
    yield Note(f"(Not counting '{REST}', which takes the rest of the probability.)")
    yield ""
    yield from (Line(f"Saved the {what:<6} {path}") for what, path in files.items())
    yield ""
    yield "Try next:"
    program = "summarkov" if shutil.which("summarkov") else f"{sys.executable} -m summarkov"
    new = str(Path(files["model"]).with_name("new.jsonl"))
    model, truth, new = (
        f'"{name}"' if " " in name else name for name in (files["model"], files["truth"], new)
    )
    yield Line(f"  {program} show {model} --target purchase")
    yield Line(f'  {program} predict {model} -a "add to cart" -a "page error"')
    yield Line(f"  {program} simulate {truth} --seed 2 -o {new}")
    yield Line(f"  {program} evaluate {model} {new}")
