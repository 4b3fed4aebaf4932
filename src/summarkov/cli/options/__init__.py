"""Arguments and options that several commands share, and what they make of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


def option(metavar: str, help: str, names: str = "", panel: str | None = None, **more: Any) -> Any:
    """An option that takes a value: what that is called, and what the option is for.

    ``names`` are its names, such as "--target -t", if not that of its parameter; ``panel`` is where --help
    shows it.
    """
    return typer.Option(*names.split(), metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option that is given or not."""
    return typer.Option(*names.split(), help=help, rich_help_panel=panel, **more)


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
ModelOutput = Annotated[Path | None, option("MODEL", "Save the model in this file (JSON).", "--output -o")]
Unknown = Annotated[
    str,
    option(
        "error|ignore",
        "What to do with labels that the model does not know: stop, or let them pass as events that "
        "say nothing.",
        "--unknown",
    ),
]
Blocks = Annotated[
    int | None,
    option(
        "N",
        "Draw blocks of N events in a row instead of sequences. Default for one single sequence.",
        "--blocks",
    ),
]
Jobs = Annotated[int | None, option("N", "Threads; -1 for one per core.", "--jobs -j")]
SURE = "How sure they are"
Within = Annotated[
    str | None,
    option(
        "N|TIME|COLUMN",
        "Shuffle events within blocks of N positions, or of a time such as 7d, or while a column such "
        "as month stays the same. Default: 4 times the longest look-back.",
        panel=SURE,
    ),
]
SafeCsv = Annotated[
    bool,
    flag(
        "--safe-csv",
        "In a .csv file for spreadsheets, put ' before texts that these would take for formulas.",
    ),
]
Json = Annotated[bool, flag("--json", "Print one JSON document instead, for programs.")]


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of its parameters that are dataclasses: one option per field.

    Such a parameter has an object of the dataclass as its default, and the command is given one.
    """
    own = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        default = parameter.default
        if is_dataclass(default) and not isinstance(default, type):
            groups[parameter.name] = default
            hints = get_type_hints(type(default), include_extras=True)
            each = {
                field.name: (getattr(default, field.name), hints[field.name]) for field in fields(default)
            }
        else:
            each = {parameter.name: (default, own[parameter.name])}
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind)
            for name, (value, kind) in each.items()
        ]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        made = {
            name: type(plain)(**{f.name: given.pop(f.name, getattr(plain, f.name)) for f in fields(plain)})
            for name, plain in groups.items()
        }
        command(**given, **made)

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads it
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options
