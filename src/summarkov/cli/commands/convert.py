"""``summarkov convert``: events from one file into another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from summarkov.cli.files import check_output, refuse_unless_csv
from summarkov.cli.options.reading import PLAIN, Reading
from summarkov.cli.options.shared import EventsFile, Json, SafeCsv, takes_options
from summarkov.cli.printing.console import output as results
from summarkov.cli.printing.console import print_json, print_line, shown, working
from summarkov.wording import plural


@takes_options
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
    reading: Reading = PLAIN,
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
        print_line(results(), f"Saved {what} of {plural(len(events.labels), 'label')} as {shown(output)}")
