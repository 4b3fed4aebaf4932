"""``python -m paper``: the paper's tables, and the studies behind what the documents claim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from paper import calibration as study
from paper import claims as checks
from paper import reproduction, text_evidence
from summarkov.cli.errors import Commands
from summarkov.cli.page import Document, Line, Part, progress, shown
from summarkov.cli.reading import check_output, suffix_of, write_text
from summarkov.frames import Sheet

app = typer.Typer(
    name="python -m paper",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Output = Annotated[Path, typer.Option("--output", "-o")]


@app.command()
def reproduce(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The paper's data sets (NAME.train.jsonl, ...).")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    lstm: Annotated[bool, typer.Option("--lstm", help="The LSTM too (an hour or so).")] = False,
    boosting: Annotated[
        bool, typer.Option("--boosting", help="Gradient boosting too (half an hour).")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for one per core.")] = -1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")] = False,
) -> None:
    """Work out every table of the paper that can be, and say how far it is from the published one."""
    check_output(output, endings=".json or .md")
    with progress("Reproducing", 1, "models") as advance:
        report = reproduction.reproduce(folder, lstm=lstm, boosting=boosting, progress=advance, n_jobs=jobs)

    def parts() -> Iterator[Part]:
        for each in report.sections:
            yield Sheet(f"{each.title}\n{each.about}", each.headings, each.rows, len(each.rows), each.notes)
            yield ""

    def save() -> Iterator[Part]:
        if output is not None:
            write_text(output, report.to_markdown() if suffix_of(output) == ".md" else report.to_dict())
            yield Line(f"Saved {shown(output)}")

    Document(report.to_dict, parts(), save).give(as_json=json)


@app.command()
def calibration(output: Output = Path("docs/measured/calibration.md")) -> None:
    """Simulate graphs that are known, and say how often edges that we call sure are true (some minutes)."""
    with progress("Learning", 1, "graphs") as advance:
        write_text(output, study.page(advance))


@app.command()
def claims(output: Output = Path("docs/measured/claims.md")) -> None:
    """Check what is said of edges against counts by hand, and how often intervals hold the truth."""
    write_text(output, checks.page())


@app.command()
def text(
    documents: Annotated[Path, typer.Argument(help="Documents, such as the Beige Book.")],
    concepts: Annotated[
        Path | None,
        typer.Option(help="Label 10,000 sentences with these concepts instead."),
    ] = None,
) -> None:
    """Print the numbers of docs/measured/text.md: topics and graphs of documents, and how stable they are."""
    for each in text_evidence.measured(documents, concepts):
        typer.echo(each, nl=False)


if __name__ == "__main__":
    app()
