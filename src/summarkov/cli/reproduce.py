"""``summarkov reproduce``: the paper's tables and case studies, beside the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from summarkov.cli.console import output, print_json, print_line, progress
from summarkov.cli.options import Jobs, Json
from summarkov.cli.results import check_result_file, going_on, save_result
from summarkov.cli.text import new_table
from summarkov.wording import visible

if TYPE_CHECKING:
    from summarkov.reproduce import Report


def reproduce(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder of the paper's data sets (NAME.train.jsonl, ...)."),
    ],
    lstm: Annotated[
        bool, typer.Option("--lstm", help="The LSTM too (needs PyTorch; an hour or so).")
    ] = False,
    boosting: Annotated[
        bool, typer.Option("--boosting", help="Gradient boosting too (not in the paper; half an hour or so).")
    ] = False,
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Save the report as .md or .json. An interrupted run goes on where it stopped when it is "
            "started again.",
        ),
    ] = None,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Work out every table of the paper that can be, and say how far it is from the published one."""
    from summarkov.reproduce import reproduce as run

    check_result_file(output_file)
    with going_on(output_file) as checkpoint, progress("Reproducing", 1, "pieces") as advance:
        report = run(
            folder, lstm=lstm, boosting=boosting, checkpoint=checkpoint, progress=advance, n_jobs=jobs
        )
    if json:
        print_json(report.to_dict())
    else:
        _print_report(output(), report)
    if output_file is not None:
        save_result(output_file, report)
        if not json:
            print_line(output(), f"Saved {output_file}")


def _print_report(console: Console, report: Report) -> None:
    for section in report.sections:
        console.print(Text(section.title, style="bold"))
        console.print(Text(section.about))
        console.print()
        table = new_table()
        for heading in section.headings:
            table.add_column(heading, overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console.print(table)
        for note in section.notes:
            console.print()
            console.print(Text(note))
        console.print()
