"""Arguments and options that several commands share, and what they make of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


def option(
    metavar: str | None,
    help: str,
    names: str = "",
    panel: str | None = None,
    *,
    default: Any = None,
    **more: Any,
) -> Any:
    """An option that takes a value, as the default of a parameter: what the value is called, what it is for.

    ``names`` are its names, such as "--target -t", if not that of its parameter; ``panel`` is where --help
    shows it. ``default`` is ``...`` if it must be given, or if each command that shares it has its own.
    """
    return typer.Option(default, *names.split(), metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(names: str, help: str, panel: str | None = None, *, default: Any = False, **more: Any) -> Any:
    """An option that is given or not."""
    return option(None, help, names, panel, default=default, **more)


def setting(declared: Any) -> Any:
    """An option as a field of a dataclass, whose default is that of the option."""
    return field(default=declared.default, metadata={"option": declared})


def settings_in(panel: str) -> Callable[..., Any]:
    """What declares fields of a dataclass, options of one panel of --help, and takes what option does."""
    return lambda *declared, **more: setting(option(*declared, panel=panel, **more))


_FILES = (
    ".csv or .tsv (one event per row), .parquet, .xes, .jsonl (one sequence per line), .txt (the same, "
    "labels separated by blanks) or .spmf, all but .parquet also packed (.gz, .zst)"
)

EventsFile = Annotated[Path, typer.Argument(metavar="FILE", help=f"Events: {_FILES}.")]
EventsPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=f"Events: {_FILES}; or a folder or quoted pattern of .csv, .tsv, .parquet or .jsonl files.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'summarkov learn' saved.")]
SURE = "How sure they are"

_shared = functools.partial(option, default=...)
ModelOutput = Annotated[Path | None, _shared("MODEL", "Save the model in this file (JSON).", "--output -o")]
Unknown = Annotated[
    str,
    _shared(
        "error|ignore",
        "What to do with labels that the model does not know: stop, or let them pass as events that "
        "say nothing.",
    ),
]
Jobs = Annotated[int | None, _shared("N", "Threads; -1 for one per core.", "--jobs -j")]
Within = Annotated[
    str | None,
    _shared(
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
        default=...,
    ),
]
Json = Annotated[bool, flag("--json", "Print one JSON document instead, for programs.", default=...)]


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of its parameters that are dataclasses: one option per field.

    Such a parameter has an object of the dataclass as its default, and the command is given one.
    """
    own = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    each: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        default = parameter.default
        if is_dataclass(default):
            groups[name] = default
            hints = get_type_hints(type(default))
            each |= {one.name: (hints[one.name], one.metadata["option"]) for one in fields(default)}
        else:
            each[name] = own[name], default

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        made = {
            name: type(plain)(**{one.name: given.pop(one.name) for one in fields(plain)})
            for name, plain in groups.items()
        }
        command(**given, **made)

    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # Typer reads it
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in each.items()
        ]
    )
    with_options.__annotations__ = {name: kind for name, (kind, _) in each.items()}
    return with_options
