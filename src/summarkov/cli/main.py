"""``summarkov``: all commands. Every one imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from summarkov import __version__
from summarkov.cli.commands.compare import compare, sensitivity
from summarkov.cli.commands.confidence import confidence, groups
from summarkov.cli.commands.events import convert, demo, describe, simulate
from summarkov.cli.commands.learn import learn, outcome
from summarkov.cli.commands.predict import evaluate, predict
from summarkov.cli.commands.show import export, report, show
from summarkov.cli.commands.text import concepts, explain, passages, topics
from summarkov.cli.errors import Commands

app = typer.Typer(
    name="summarkov",
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_PANELS = {
    "Start here": (demo,),
    "From events to a model": (describe, convert, learn, outcome),
    "Use a model": (show, report, confidence, predict, evaluate, simulate, export),
    "Evidence": (groups, compare, sensitivity),
}
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)

text = typer.Typer()
for _part in (topics, concepts, passages, explain):
    text.command()(_part)
app.add_typer(text, name="text", rich_help_panel="From events to a model")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"summarkov {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def summarkov(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn which events make which others more or less likely, from sequences of them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@text.callback(invoke_without_command=True)
def text_commands(context: typer.Context) -> None:
    """From documents to events: a topic or concept per sentence, and the sentences behind a model."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
