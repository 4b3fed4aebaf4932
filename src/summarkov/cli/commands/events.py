"""``summarkov describe``, ``convert``, ``simulate``, ``demo``: what is in files of events, and new ones."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Column

from summarkov.cli.commands import add_order_test
from summarkov.cli.files import check_output, json_text, saving
from summarkov.cli.options import EventsFile, Json, SafeCsv, flag, option
from summarkov.cli.printing import (
    Page,
    bar,
    label,
    new_table,
    print_json,
    print_result,
    progress,
    results,
    shorten,
    shown,
    widest,
    working,
)
from summarkov.cli.printing.documents import document
from summarkov.cli.printing.graph import print_graph
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError
from summarkov.wording import number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.events.describe import CaseEnds, Description, Origin, Start
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import Dynamics


def describe(
    file: EventsFile,
    rows: int = option("N", "Show at most N labels; 0 for all.", min=0, default=20),
    reading: Reading = Reading(),
    json: Json = False,
) -> None:
    """Count the sequences, events and labels of a file."""
    found = reading.read(file).describe()
    print_result(json, found.to_dict(), print_description, found, rows or None)


def print_starts(console: Page, starts: Sequence[Start]) -> None:
    """Say which labels are special because they come first."""
    from summarkov.events.describe import always_first
    from summarkov.events.prepare import START

    for start in [start for start in starts if start.label != START][:3]:
        if start.first == 1:
            console.print(visible(f"Hint: {_options_only(always_first(start.label))}."))
            continue
        console.print(
            f"Hint: '{shorten(start.label, 40)}' is the first event of {percent(start.first)} of the "
            f"cases, and {percent(start.others)} of the other events. That it stands first is no "
            "influence. The order test allows for that; rate ratios of its edges do not."
        )


def print_origin(console: Page, origin: Origin | None) -> None:
    """Say from which columns events were read, and what was left out."""
    for sentence in [] if origin is None else origin.sentences():
        console.print(visible(f"{sentence[0].upper()}{sentence[1:]}."))


def print_ends(console: Page, ends: CaseEnds | None) -> None:
    """Say whether cases are taken as complete, and how to change it."""
    for sentence in [] if ends is None else ends.sentences():
        console.print(sentence)


def print_notes(console: Page, labels: Iterable[str], tied_order: int, origin: Origin | None) -> None:
    """Say what may not be as it should: events at the same place, labels that look alike."""
    from summarkov.events.describe import Origin, look_alikes

    if tied_order:
        console.print(visible(f"{(origin or Origin()).ties(tied_order)}."))
    if origin is not None and origin.backwards:
        console.print(f"{origin.falls()} (--order-column time:timestamp sorts them).")
    for hint in [] if origin is None else origin.hints():
        console.print(visible(f"Hint: {_options_only(hint)}."))
    alike = look_alikes(labels)
    if alike:
        shown = "; ".join(" and ".join(f"'{shorten(x, 40)}'" for x in group[:4]) for group in alike[:3])
        console.print(
            f"Hint: {shown}{'; ...' if len(alike) > 3 else ''} differ only in capitals, blanks or how "
            "characters are written. They are kept apart; --map FILE makes them one."
        )


def _options_only(hint: str) -> str:
    """A hint with the option of the command line alone, without what Python calls it.

    >>> _options_only("2 rows are duplicates; drop_duplicates=True (--drop-duplicates) leaves them out")
    '2 rows are duplicates; --drop-duplicates leaves them out'
    """
    return re.sub(r"\S+ \((--[^)]*)\)", r"\1", hint)


def print_description(console: Page, found: Description, most: int | None) -> None:
    """Print the sizes of a data set and its most frequent labels."""
    from summarkov.events.describe import Start

    console.print(
        f"{plural(found.n_sequences, 'sequence')}, {plural(found.n_events, 'event')}, "
        f"{plural(found.n_labels, 'label')}",
        style="bold",
    )
    console.print(
        f"Events per sequence: {number(found.shortest)} to {number(found.longest)}, "
        f"median {found.median_length:,g}"
    )
    for line in found.beside():
        console.print(visible(f"{line[0].upper()}{line[1:]}"))
    print_origin(console, found.origin)
    print_ends(console, found.ends)
    if found.n_empty:
        console.print(f"Empty sequences: {number(found.n_empty)}")
    print_notes(console, found.label_counts, found.tied_order, found.origin)
    if found.first_event is not None:
        print_starts(console, [Start(found.first_event, 1.0, 0.0)])
    if not found.label_counts:
        return
    console.print()
    by_count = sorted(found.label_counts.items(), key=lambda item: (-item[1], item[0]))
    shown = by_count[:most]
    width = min(max(12, console.page_width - 42), widest([x for x, _ in shown]))
    first, bars = Column("Label", no_wrap=True, min_width=width), Column("", no_wrap=True, width=16)
    table = new_table(first, ">Events", ">Share", bars)
    for text, n in shown:
        share = n / max(1, found.n_events)
        graph = bar(n / max(1, shown[0][1]), 16, plain=console.is_plain)
        table.add_row(label(text, width), number(n), percent(share), graph)
    console.print(table)
    if len(by_count) > len(shown):
        console.print(
            f"... and {plural(len(by_count) - len(shown), 'label')} more; --rows 0 prints all", style="dim"
        )


def convert(
    file: EventsFile,
    output: Path = typer.Argument(
        metavar="OUT",
        help="The new file: .csv, .tsv, .parquet, .jsonl, .xes or .spmf; .gz or .zst after it packs it.",
    ),
    safe_csv: SafeCsv = False,
    reading: Reading = Reading(),
    json: Json = False,
) -> None:
    """Write the events of a file in another format, or prepared."""
    from summarkov.io import write_events

    _check_events_file(output, safe_csv, file, reading.map)
    events = reading.read(file)
    with working(f"Writing {shown(output)}"):
        write_events(events, output, safe_csv=safe_csv)
    if json:
        print_json({"saved": shown(output), **_sizes(events)})
    else:
        labels = plural(len(events.labels), "label")
        results().print_line(f"Saved {_sizes_words(events)} of {labels} as {shown(output)}")


def _check_events_file(path: Path | None, safe_csv: bool, *inputs: Path | None) -> None:
    """Refuse, before the work, a file that events cannot be written to."""
    from summarkov.io.write import writable_format

    check_output(path, *inputs, safe_csv=safe_csv)
    if path is not None:
        writable_format(shown(path))


def _sizes(events: EventSequences) -> dict[str, int]:
    return {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}


def _sizes_words(events: EventSequences) -> str:
    return f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')}"


def simulate(
    source: Path = typer.Argument(
        metavar="MODEL", help="A graph or joint model of all labels, or a JSON file of dynamics written down."
    ),
    sequences: int = option("K", "How many sequences.", "--sequences -n", min=0, default=100),
    length: int = option("T", "How many events each.", min=0, default=20),
    seed: int = option("S", "Same seed, same events.", min=0, default=0),
    output: Path | None = option(
        "FILE", "Save as .jsonl, .csv, .parquet, .xes or .spmf; else JSON lines are printed.", "--output -o"
    ),
    safe_csv: SafeCsv = False,
    json: Json = False,
) -> None:
    """Draw new sequences of events."""
    from summarkov.io import write_events
    from summarkov.io.jsonl_files import json_lines

    _check_events_file(output, safe_csv, source)
    events = draw(read_source(source), sequences, length, seed)
    if output is not None:
        with saving(output):
            write_events(events, output, safe_csv=safe_csv)
        if json:
            print_json({"saved": shown(output), **_sizes(events), "seed": seed})
        else:
            results().print_line(f"Saved {_sizes_words(events)} as {shown(output)}")
    elif json:
        lists = zip(events.ids, events.to_lists(), strict=True)
        print_json({**_sizes(events), "seed": seed, "data": [{"id": i, "events": e} for i, e in lists]})
    else:
        for line in json_lines(events):
            typer.echo(line)


def read_source(path: Path) -> Dynamics | InfluenceGraph | JointSuMM:
    """Read dynamics, a graph, or a joint model."""
    from summarkov.models import InfluenceGraph, JointSuMM, load
    from summarkov.models.predictor import check_drawable
    from summarkov.simulate import Dynamics
    from summarkov.store import read_document

    _, document = read_document(path)
    if isinstance(document, dict) and document.get("kind") == "dynamics":
        try:
            return Dynamics.from_dict(document)
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
    """Draw sequences, with a bar that counts the events of a sequence."""
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import draw_sequences

    if isinstance(source, JointSuMM):
        labels, ask = source.labels_, source.fitted.after
    elif isinstance(source, InfluenceGraph):
        if source.layout_.together:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels_, source._next.after
    else:
        if not source.beside.is_plain or source.outcomes:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels, source._next_event
    with progress("Simulating", length, "events per sequence") as advance:

        def next_event(histories: Any) -> Any:
            advance(histories.shape[1], length)
            return ask(histories)

        return draw_sequences(next_event, labels, sequences, length, seed)


SEQUENCES, LENGTH, SEED = 1000, 30, 1


def demo(
    output: Path = option("FOLDER", "Where to save events and model.", "--output -o", default=Path("demo")),
    json: bool = flag("--json", "Print one JSON document instead."),
) -> None:
    """Learn from the visits to a made-up web shop, and look at what was found."""
    from summarkov.io import write_events
    from summarkov.io.temporary import write_atomically
    from summarkov.models import BSuMM, InfluenceGraph
    from summarkov.simulate.example import LOOKBACK, compare_with_truth, web_shop

    folder = _folder(output)
    shop = web_shop()
    events = draw(shop, SEQUENCES, LENGTH, SEED)
    with progress("Learning", len(events.labels), "labels") as advance:
        graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(events, progress=advance)
    add_order_test(graph, events)
    files = {
        "events": folder / "events.jsonl",
        "truth": folder / "truth.json",
        "model": folder / "model.json",
        "page": folder / "report.html",
    }
    with saving(folder):
        write_events(events, files["events"])
        write_atomically(files["truth"], json_text(shop.to_dict()))
        graph.save(files["model"])
        graph.to_html(files["page"], events=events, title="Visits to a made-up web shop")
    found = compare_with_truth(graph.edges_)
    saved = {name: str(path) for name, path in files.items()}
    told = {"saved": saved, "truth": found, **document(graph)}
    print_result(json, told, _print_demo, graph, found, files)


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingError(f"cannot make the folder {path}: {problem.strerror or problem}") from None
    return path


def _print_demo(console: Page, graph: InfluenceGraph, found: dict[str, int], files: dict[str, Path]) -> None:
    from summarkov.simulate.example import REST, truth_words

    console.print(
        f"{SEQUENCES:,} made-up visits to a web shop. Their rules are known, but the model sees only "
        "the order of the events.\n"
    )
    print_graph(console, graph)
    console.print()
    console.print(truth_words(found), style="bold")
    console.print(f"(Not counting '{REST}', which takes the rest of the probability.)", style="dim")
    console.print()
    for name, path in files.items():
        console.print_line(f"Saved the {name:<6} {path}")
    console.print()
    console.print("Try next:")
    folder = files["model"].parent
    new = folder / "new.jsonl"
    for command in (
        ["show", files["model"], "--target", "purchase"],
        ["predict", files["model"], "-a", "add to cart", "-a", "page error"],
        ["simulate", files["truth"], "--seed", "2", "-o", new],
        ["evaluate", files["model"], new],
    ):
        console.print_line("  " + " ".join([_program(), *(_quoted(str(word)) for word in command)]), "cyan")


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
