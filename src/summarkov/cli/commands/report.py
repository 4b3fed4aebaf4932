"""``summarkov report``: a model as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from summarkov.cli.files import check_output, load_model, saving
from summarkov.cli.options.reading import PLAIN, Reading
from summarkov.cli.options.shared import Json, ModelFile, takes_options
from summarkov.cli.printing.console import output as results
from summarkov.cli.printing.console import print_json, print_line, working


@takes_options
def report(
    model: ModelFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to save the page.")
    ] = Path("report.html"),
    events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="The events it was learned from, to show how long their sequences are and when a label "
            "comes after its influencers.",
        ),
    ] = None,
    passages: Annotated[
        Path | None,
        typer.Option(
            "--passages",
            metavar="FILE",
            help="The events that 'summarkov text' made, to show the sentences behind every edge. "
            "They become part of the page.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="What the events are, as the page's title.")
    ] = None,
    sequences: Annotated[
        int | None,
        typer.Option(
            "--sequences",
            metavar="N",
            help="Put N of the sequences of --events into the page, to look at one event after the other. "
            "Whoever has the page can read them.",
        ),
    ] = None,
    reading: Reading = PLAIN,
    json: Json = False,
) -> None:
    """Write a model as one HTML page that needs nothing else, and can be mailed.

    It shows the graph, every label's states and the data, and computes what
    a history of your own makes of every label's probability.
    """
    check_output(output, model, events, passages)
    fitted = load_model(model, joint=True)
    data = None if events is None else reading.read(events, fitted.labels_)
    quoted = None
    if passages is not None:
        from summarkov.text import read_text_events

        with working(f"Reading {passages}"):
            quoted = read_text_events(passages)
    with working(f"Writing {output}"), saving(output):
        fitted.to_html(output, events=data, passages=quoted, title=title, sequences=sequences)
    if json:
        print_json({"saved": str(output), "bytes": output.stat().st_size})
    else:
        print_line(results(), f"Saved the page as {output}; open it in a browser")
