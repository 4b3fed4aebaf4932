"""``summarkov text concepts``: the best of some given concepts a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from summarkov.cli.console import output as results
from summarkov.cli.console import print_json, print_line, working
from summarkov.cli.options import Json
from summarkov.cli.text import label, new_table, page_width, widest
from summarkov.cli.text_options import (
    DateColumn,
    DocumentFiles,
    EventsOut,
    IdColumn,
    Language,
    Repeats,
    Single,
    TextColumn,
    check_events_output,
    make_events,
    read,
    save_events,
)
from summarkov.errors import DataError, SettingError
from summarkov.wording import number, percent, plural


def concepts(
    files: DocumentFiles,
    output: EventsOut,
    concept: Annotated[
        list[str] | None,
        typer.Option(
            "--concept",
            "-c",
            metavar="NAME",
            help="A concept, or 'NAME: description in a few words'; repeatable.",
        ),
    ] = None,
    concepts_file: Annotated[
        Path | None,
        typer.Option(
            "--concepts", metavar="FILE", help="A file with a concept a line, written the same way."
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option("--threshold", metavar="C", help="No event where no concept is as near as this cosine."),
    ] = 0.3,
    repeats: Repeats = "runs",
    single: Single = False,
    id_column: IdColumn = "id",
    text_column: TextColumn = "text",
    date_column: DateColumn = None,
    language: Language = "en",
    json: Json = False,
) -> None:
    """Recognise given concepts in documents, and make a sequence of concepts of each."""
    from summarkov.text import Concepts

    check_events_output(output, files)
    given = _given(list(concept or ()), concepts_file)
    documents = read(files, id_column, text_column, date_column)
    with working("Loading the embedding model"):
        known = Concepts(given, threshold=threshold)
    found = make_events(documents, known, repeats=repeats, single=single, language=language)
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
    console.print(Text(what, style="bold"))
    console.print()
    width = min(page_width(console) - 20, widest(list(given)))
    table = new_table()
    table.add_column("Concept", no_wrap=True)
    table.add_column("Events", justify="right", no_wrap=True)
    table.add_column("Share", justify="right", no_wrap=True)
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
