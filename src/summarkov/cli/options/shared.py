"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FILES = (
    ".csv or .tsv (one event per row), .parquet, .xes, .jsonl (one sequence per line), .txt (the same, "
    "labels separated by blanks) or .spmf, all but .parquet also packed (.gz, .zst)"
)

EventsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=f"Events: {_FILES}.",
    ),
]
EventsPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=f"Events: {_FILES}; or a folder or quoted pattern of .csv, .tsv, .parquet or .jsonl files.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'summarkov learn' saved.")]
Unknown = Annotated[
    str,
    typer.Option(
        "--unknown",
        metavar="error|ignore",
        help="What to do with labels that the model does not know: stop, or let them pass as events that "
        "say nothing.",
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option(
        "--blocks",
        metavar="N",
        help="Draw blocks of N events in a row instead of sequences. Default for one single sequence.",
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", metavar="N", help="Threads; -1 for one a core.")]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In a .csv file for spreadsheets, put ' before texts that these would take for formulas.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead, for programs.")]
