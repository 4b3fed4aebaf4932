"""``summarkov``: all commands. Every one imports what it needs when it runs."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from summarkov import __version__
from summarkov.cli.errors import Commands
from summarkov.cli.options import COMMANDS, declared

app = typer.Typer(
    name="summarkov",
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
text = typer.Typer()
#: The headings, and the commands under each.
_PANELS = {
    "Start here": ("demo",),
    "From events to a model": ("describe", "convert", "learn", "outcome"),
    "Use a model": ("show", "report", "confidence", "predict", "evaluate", "simulate", "export"),
    "Evidence": ("groups", "compare", "sensitivity"),
}


def _add(to: typer.Typer, key: str, **how: Any) -> None:
    """Add a command: a function that takes its options as one object, and gives a document."""
    module, _, name = key.partition(".")
    words, parameters = declared(COMMANDS[key])

    def run(**given: Any) -> None:
        function = getattr(import_module(f"summarkov.cli.commands.{module}"), name)
        function(SimpleNamespace(**given)).give(as_json=given.get("json", False))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    to.command(name, help=words, **how)(run)


for _panel, _names in _PANELS.items():
    for _name in _names:
        _add(app, next(key for key in COMMANDS if key.endswith(f".{_name}")), rich_help_panel=_panel)
for _key in COMMANDS:
    if _key.startswith("text."):
        _add(text, _key)
app.add_typer(
    text,
    name="text",
    rich_help_panel="From events to a model",
    help="From documents to events: a topic or concept per sentence, and the sentences behind a model.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"summarkov {__version__}")
        raise typer.Exit


@text.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.callback(
    invoke_without_command=True,
    help="Learn which events make which others more or less likely, from sequences of them.",
)
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    _help(context)
