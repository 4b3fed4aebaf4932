"""``summarkov describe`` and ``convert``: what is in a file of events, and the same in another file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from summarkov.cli.files import check_output, refuse_unless_csv
from summarkov.cli.options import EventsFile, Json, SafeCsv, option
from summarkov.cli.printing import (
    Page,
    bar,
    label,
    new_table,
    print_json,
    results,
    shorten,
    shown,
    widest,
    working,
)
from summarkov.cli.reading import Reading
from summarkov.wording import number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.events.describe import Description, Start
    from summarkov.events.origin import Origin


def describe(
    file: EventsFile,
    rows: int = option("N", "Show at most N labels; 0 for all.", min=0, default=20),
    reading: Reading = Reading(),
    json: Json = False,
) -> None:
    """Count the sequences, events and labels of a file."""
    found = reading.read(file).describe()
    if json:
        print_json(found.to_dict())
    else:
        print_description(results(), found, rows or None)


def print_starts(console: Page, starts: Sequence[Start]) -> None:
    """Say which labels are special because they come first."""
    for start in starts[:3]:
        console.print(
            f"Hint: '{shorten(start.label, 40)}' is the first event of {percent(start.first)} of the "
            f"sequences, and {percent(start.others)} of the other events. That it stands first is no "
            "influence. The order test allows for that; factors of its edges do not."
        )


def print_origin(console: Page, origin: Origin | None) -> None:
    """Say from which columns events were read, and what was left out."""
    for sentence in [] if origin is None else origin.sentences():
        console.print(visible(f"{sentence[0].upper()}{sentence[1:]}."))


def print_notes(console: Page, labels: Iterable[str], tied_order: int, origin: Origin | None) -> None:
    """Say what may not be as it should: events at the same place, labels that look alike."""
    from summarkov.events.describe import look_alikes
    from summarkov.events.origin import Origin

    if tied_order:
        console.print(visible(f"{(origin or Origin()).ties(tied_order)}."))
    if origin is not None and origin.backwards:
        console.print(f"{origin.falls()} (--order-column time:timestamp sorts them).")
    alike = look_alikes(labels)
    if alike:
        shown = "; ".join(" and ".join(f"'{shorten(x, 40)}'" for x in group[:4]) for group in alike[:3])
        console.print(
            f"Hint: {shown}{'; ...' if len(alike) > 3 else ''} differ only in capitals, blanks or how "
            "characters are written. They are kept apart; --map FILE makes them one."
        )


def print_description(console: Page, found: Description, most: int | None) -> None:
    """Print the sizes of a data set and its most frequent labels."""
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
    if found.n_empty:
        console.print(f"Empty sequences: {number(found.n_empty)}")
    print_notes(console, found.label_counts, found.tied_order, found.origin)
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
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="The new file: .csv, .tsv, .parquet, .jsonl, .xes or .spmf; .gz or .zst after it packs it.",
        ),
    ],
    safe_csv: SafeCsv = False,
    reading: Reading = Reading(),
    json: Json = False,
) -> None:
    """Write the events of a file in another format, or prepared."""
    from summarkov.io.write import writable_format, write_events

    if safe_csv:
        refuse_unless_csv(output)
    check_output(output, file, reading.map)
    writable_format(shown(output))
    events = reading.read(file)
    with working(f"Writing {shown(output)}"):
        write_events(events, output, safe_csv=safe_csv)
    if json:
        sizes = {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}
        print_json({"saved": shown(output), **sizes})
    else:
        what = f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')}"
        results().print_line(f"Saved {what} of {plural(len(events.labels), 'label')} as {shown(output)}")
