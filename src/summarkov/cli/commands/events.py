"""``summarkov describe``, ``convert``, ``simulate``, ``demo``: what is in files of events, and new ones."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands import add_order_test
from summarkov.cli.documents import document
from summarkov.cli.files import check_output, json_text, saving, write_text
from summarkov.cli.learned import learned
from summarkov.cli.options import command
from summarkov.cli.page import (
    Document,
    Headline,
    Line,
    Note,
    Part,
    Raw,
    Table,
    bar,
    name,
    progress,
    saved,
    shorten,
    shown,
    working,
)
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError
from summarkov.wording import number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.events.describe import CaseEnds, Description, Origin, Start
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import Dynamics


@command
def describe(given: Any) -> Document:
    """Count the sequences, events and labels of a file.

    Options:
    <file>
    --rows N>=0  Show at most N labels; 0 for all. [default: 20]
    <json>
    <reading>
    """
    found = Reading(given).read(given.file).describe()
    return Document(found.to_dict, _description(found, given.rows or None))


def as_read(
    origin: Origin | None, ends: CaseEnds | None, labels: Iterable[str], tied_order: int
) -> Iterator[Part]:
    """From which columns events were read, what was left out and assumed, and what may be wrong."""
    from summarkov.events.describe import Origin, look_alikes

    for sentence in [] if origin is None else origin.sentences():
        yield f"{sentence[0].upper()}{sentence[1:]}."
    yield from [] if ends is None else ends.sentences()
    if tied_order:
        yield f"{(origin or Origin()).ties(tied_order)}."
    if origin is not None and origin.backwards:
        yield f"{origin.falls()} (--order-column time:timestamp sorts them)."
    for hint in [] if origin is None else origin.hints():
        yield f"Hint: {_options_only(hint)}."
    alike = look_alikes(labels)
    if alike:
        some = "; ".join(" and ".join(f"'{shorten(x, 40)}'" for x in group[:4]) for group in alike[:3])
        yield (
            f"Hint: {some}{'; ...' if len(alike) > 3 else ''} differ only in capitals, blanks or how "
            "characters are written. They are kept apart; --map FILE makes them one."
        )


def first_events(starts: Sequence[Start]) -> Iterator[Part]:
    """Which labels are special because they come first."""
    from summarkov.events.describe import always_first
    from summarkov.events.prepare import START

    for start in [start for start in starts if start.label != START][:3]:
        if start.first == 1:
            yield f"Hint: {_options_only(always_first(start.label))}."
        else:
            yield (
                f"Hint: '{shorten(start.label, 40)}' is the first event of {percent(start.first)} of the "
                f"cases, and {percent(start.others)} of the other events. That it stands first is no "
                "influence. The order test allows for that; rate ratios of its edges do not."
            )


def _options_only(hint: str) -> str:
    """A hint with the option of the command line alone, without what Python calls it.

    >>> _options_only("2 rows are duplicates; drop_duplicates=True (--drop-duplicates) leaves them out")
    '2 rows are duplicates; --drop-duplicates leaves them out'
    """
    return re.sub(r"\S+ \((--[^)]*)\)", r"\1", hint)


def _description(found: Description, most: int | None) -> Iterator[Part]:
    """The sizes of a data set and its most frequent labels."""
    from summarkov.events.describe import Start

    sizes = (
        plural(found.n_sequences, "sequence"),
        plural(found.n_events, "event"),
        plural(found.n_labels, "label"),
    )
    yield Headline(", ".join(sizes))
    yield (
        f"Events per sequence: {number(found.shortest)} to {number(found.longest)}, "
        f"median {found.median_length:,g}"
    )
    for line in found.beside():
        yield f"{line[0].upper()}{line[1:]}"
    yield from as_read(found.origin, found.ends, found.label_counts, found.tied_order)
    if found.n_empty:
        yield f"Empty sequences: {number(found.n_empty)}"
    if found.first_event is not None:
        yield from first_events([Start(found.first_event, 1.0, 0.0)])
    if not found.label_counts:
        return
    by_count = sorted(found.label_counts.items(), key=lambda item: (-item[1], item[0]))
    largest, total = max(1, by_count[0][1]), max(1, found.n_events)
    rows = [[name(x), number(n), percent(n / total), bar(n / largest, 16)] for x, n in by_count[:most]]
    left = len(by_count) - len(rows)
    more = f"... and {plural(left, 'label')} more; --rows 0 prints all" if left else ""
    yield Table(("*Label", ">Events", ">Share", ""), rows, more=more)


@command
def convert(given: Any) -> Document:
    """Write the events of a file in another format, or prepared.

    Options:
    <file>
    output:OUT  The new file: .csv, .tsv, .parquet, .jsonl, .xes or .spmf; .gz or .zst after it packs it.
    <safe-csv>
    <json>
    <reading>
    """
    from summarkov.read import write_events

    _check_events_file(given.output, given.safe_csv, given.file, given.map)
    events = Reading(given).read(given.file)
    where = shown(given.output)
    with working(f"Writing {where}"):
        write_events(events, given.output, safe_csv=given.safe_csv)
    labels = plural(len(events.labels), "label")
    return saved(f"Saved {_sizes_words(events)} of {labels} as {where}", saved=where, **_sizes(events))


def _check_events_file(path: Path | None, safe_csv: bool, *inputs: Path | None) -> None:
    """Refuse, before the work, a file that events cannot be written to."""
    from summarkov.read.write import writable_format

    check_output(path, *inputs, safe_csv=safe_csv)
    if path is not None:
        writable_format(shown(path))


def _sizes(events: EventSequences) -> dict[str, int]:
    return {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}


def _sizes_words(events: EventSequences) -> str:
    return f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')}"


@command
def simulate(given: Any) -> Document:
    """Draw new sequences of events.

    Options:
    source:MODEL  A graph or joint model of all labels, or a JSON file of dynamics written down.
    --sequences -n K>=0  How many sequences. [default: 100]
    --length T>=0  How many events each. [default: 20]
    --seed N>=0  Same seed, same events. [default: 0]
    --output -o FILE  Save as .jsonl, .csv, .parquet, .xes or .spmf; else JSON lines are printed.
    <safe-csv>
    <json>
    """
    from summarkov.read import write_events
    from summarkov.read.lines import json_lines

    _check_events_file(given.output, given.safe_csv, given.source)
    events = draw(read_source(given.source), given.sequences, given.length, given.seed)
    sizes = {**_sizes(events), "seed": given.seed}
    if given.output is not None:
        with saving(given.output):
            write_events(events, given.output, safe_csv=given.safe_csv)
        where = shown(given.output)
        return saved(f"Saved {_sizes_words(events)} as {where}", saved=where, **sizes)
    lists = zip(events.ids, events.to_lists(), strict=True)
    return Document(
        lambda: {**sizes, "data": [{"id": i, "events": e} for i, e in lists]},
        (Raw(f"{line}\n") for line in json_lines(events)),
    )


def read_source(path: Path) -> Dynamics | InfluenceGraph | JointSuMM:
    """Read dynamics, a graph, or a joint model."""
    from summarkov.models import InfluenceGraph, JointSuMM, load
    from summarkov.models.distribution import check_drawable
    from summarkov.simulate import Dynamics
    from summarkov.store import read_document

    _, found = read_document(path)
    if isinstance(found, dict) and found.get("kind") == "dynamics":
        try:
            return Dynamics.from_dict(found)
        except ValueError as problem:
            raise SettingError(f"{path}: {problem}") from None
    model = load(path)
    if isinstance(model, JointSuMM):
        model.fitted.check_complete()
        return model
    if not isinstance(model, InfluenceGraph) or set(model.labels_) - {
        *model.models_,
        *model.layout_.attributes,
    }:
        raise SettingError(
            f"{path} is no graph or joint model of all labels, so it cannot tell what comes next; "
            "learn one, without --target and --joint"
        )
    check_drawable(model.layout_, (each.fitted.summary for each in model.models_.values()))
    return model


def draw(
    source: Dynamics | InfluenceGraph | JointSuMM, sequences: int, length: int, seed: int
) -> EventSequences:
    """Draw sequences."""
    with working("Simulating"):
        return source.simulate(sequences, length, seed)


SEQUENCES, LENGTH, SEED = 1000, 30, 1


@command
def demo(given: Any) -> Document:
    """Learn from the visits to a made-up web shop, and look at what was found.

    Options:
    --output -o FOLDER  Where to save events and model. [default: demo]
    <json>
    """
    from summarkov.models import BSuMM, InfluenceGraph
    from summarkov.read import write_events
    from summarkov.simulate.example import LOOKBACK, compare_with_truth, web_shop

    folder = given.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingError(f"cannot make the folder {folder}: {problem.strerror or problem}") from None
    shop = web_shop()
    events = draw(shop, SEQUENCES, LENGTH, SEED)
    with progress("Learning", len(events.labels), "labels") as advance:
        graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(events, progress=advance)
    add_order_test(graph, events)
    names = {"events": "events.jsonl", "truth": "truth.json", "model": "model.json", "page": "report.html"}
    files = {what: folder / file for what, file in names.items()}
    write_text(files["truth"], json_text(shop.to_dict()))
    with saving(folder):
        write_events(events, files["events"])
        graph.save(files["model"])
        graph.to_html(files["page"], events=events, title="Visits to a made-up web shop")
    found = compare_with_truth(graph.edges_)
    kept = {what: str(path) for what, path in files.items()}
    return Document(lambda: {"saved": kept, "truth": found, **document(graph)}, _demo(graph, found, files))


def _demo(graph: InfluenceGraph, found: dict[str, int], files: dict[str, Path]) -> Iterator[Part]:
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
    for what, path in files.items():
        yield Line(f"Saved the {what:<6} {path}")
    yield ""
    yield "Try next:"
    new = files["model"].parent / "new.jsonl"
    for arguments in (
        ["show", files["model"], "--target", "purchase"],
        ["predict", files["model"], "-a", "add to cart", "-a", "page error"],
        ["simulate", files["truth"], "--seed", "2", "-o", new],
        ["evaluate", files["model"], new],
    ):
        yield Line(" ".join([f"  {_program()}", *(_quoted(str(word)) for word in arguments)]))


def _program() -> str:
    """How this program can be called again."""
    called = Path(sys.argv[0])
    found = shutil.which("summarkov")
    if called.name != "summarkov":
        return "summarkov" if found else f"{_quoted(sys.executable)} -m summarkov"
    if found is not None and Path(found).resolve() == Path(shutil.which(called) or called).resolve():
        return "summarkov"
    return _quoted(visible(str(called)))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word and not set(word) & set('"$`\\!') else shlex.quote(word)
