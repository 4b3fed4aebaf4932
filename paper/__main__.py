"""``python -m paper``: the paper's tables, and the studies behind what the documents claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text
from summarkov.cli.printing import new_table, print_json, progress, results

from paper import calibration as study
from paper import claims as checks
from paper import reproduction, text_evidence
from summarkov.cli.errors import Commands
from summarkov.cli.files import check_result_file, going_on, save_result
from summarkov.cli.options import Jobs, Json
from summarkov.wording import visible

app = typer.Typer(
    name="python -m paper",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PageFile = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")]


@app.command()
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
    check_result_file(output_file)
    with going_on(output_file) as checkpoint, progress("Reproducing", 1, "models") as advance:
        report = reproduction.reproduce(
            folder, lstm=lstm, boosting=boosting, checkpoint=checkpoint, progress=advance, n_jobs=jobs
        )
    if json:
        print_json(report.to_dict())
    else:
        _print_report(results(), report)
    if output_file is not None:
        save_result(output_file, report)
        if not json:
            results().print_line(f"Saved {output_file}")


@app.command()
def calibration(page: PageFile = Path("docs/calibration.md")) -> None:
    """Simulate graphs that are known, and say how often edges that we call sure are true (some minutes)."""
    with progress("Learning", 1, "graphs") as advance:
        page.write_text(study.page(advance), encoding="utf-8")


@app.command()
def claims(page: PageFile = Path("docs/claims.md")) -> None:
    """Check what is said of edges against counts by hand, and how often intervals hold the truth."""
    page.write_text(checks.page(), encoding="utf-8")


@app.command()
def text(
    documents: Annotated[Path, typer.Argument(metavar="FILE", help="Documents, such as the Beige Book.")],
    concepts: Annotated[
        Path | None,
        typer.Option(
            "--concepts", metavar="FILE", help="Label 10,000 sentences with these concepts instead."
        ),
    ] = None,
) -> None:
    """Print the numbers of docs/text.md: topics and graphs of documents, and how stable they are."""
    for part in text_evidence.measured(documents, concepts):
        typer.echo(part)


def _print_report(console: Console, report: reproduction.Report) -> None:
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


if __name__ == "__main__":
    app()
