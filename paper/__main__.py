"""``python -m paper``: the paper's tables, and the studies behind what the documents claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from paper import calibration as study
from paper import claims as checks
from paper import reproduction, text_evidence
from summarkov.cli.errors import Commands
from summarkov.cli.files import check_output, going_on, json_text, suffix_of, write_text
from summarkov.cli.options import command
from summarkov.cli.page import Document, Headline, Line, Part, Raw, Table, progress, shown
from summarkov.wording import visible

app = typer.Typer(
    name="python -m paper",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
@command
def reproduce(given: Any) -> Document:
    """Work out every table of the paper that can be, and say how far it is from the published one.

    Options:
    folder:DIR  The folder of the paper's data sets (NAME.train.jsonl, ...). (required)
    --lstm  The LSTM too (needs PyTorch; an hour or so).
    --boosting  Gradient boosting too (not in the paper; half an hour or so).
    --output -o FILE  Save the report as .md or .json. An interrupted run goes on where it stopped when it is
        started again.
    --jobs -j N  Threads; -1 for one per core. [default: -1]
    <json>
    """
    output = given.output
    check_output(output, endings=".json or .md")
    with going_on(output) as checkpoint, progress("Reproducing", 1, "models") as advance:
        report = reproduction.reproduce(
            given.folder,
            lstm=given.lstm,
            boosting=given.boosting,
            checkpoint=checkpoint,
            progress=advance,
            n_jobs=given.jobs,
        )

    def save() -> Iterator[Part]:
        if output is not None:
            is_markdown = suffix_of(output) == ".md"
            write_text(output, report.to_markdown() if is_markdown else json_text(report.to_dict()))
            yield Line(f"Saved {shown(output)}")

    return Document(report.to_dict, _sections(report), save)


def _sections(report: reproduction.Report) -> Iterator[Part]:
    for section in report.sections:
        yield Headline(section.title)
        yield section.about
        yield ""
        yield Table([f"*{each}" for each in section.headings], [[*map(visible, row)] for row in section.rows])
        for note in section.notes:
            yield ""
            yield note
        yield ""


@app.command()
@command
def calibration(given: Any) -> None:
    """Simulate graphs that are known, and say how often edges that we call sure are true (some minutes).

    Options:
    --output -o FILE  The page to write. [default: docs/calibration.md]
    """
    with progress("Learning", 1, "graphs") as advance:
        given.output.write_text(study.page(advance), encoding="utf-8")


@app.command()
@command
def claims(given: Any) -> None:
    """Check what is said of edges against counts by hand, and how often intervals hold the truth.

    Options:
    --output -o FILE  The page to write. [default: docs/claims.md]
    """
    given.output.write_text(checks.page(), encoding="utf-8")


@app.command()
@command
def text(given: Any) -> Document:
    """Print the numbers of docs/text.md: topics and graphs of documents, and how stable they are.

    Options:
    documents:FILE  Documents, such as the Beige Book. (required)
    --concepts FILE  Label 10,000 sentences with these concepts instead.
    """
    return Document(dict, (Raw(each) for each in text_evidence.measured(given.documents, given.concepts)))


if __name__ == "__main__":
    app()
