"""``summarkov text explain``: why a label is likely or not at a place of a document, with the sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from summarkov.cli.console import output, print_json
from summarkov.cli.files import load_model
from summarkov.cli.options import Json, ModelFile
from summarkov.cli.passages import (
    Rows,
    TextEventsFile,
    before_document,
    passages_document,
    print_earlier,
    print_passages,
    read_quoted,
    total_words,
)
from summarkov.cli.text import page_width
from summarkov.wording import visible


def explain(
    model: ModelFile,
    file: TextEventsFile,
    target: Annotated[str, typer.Option("--target", "-t", metavar="LABEL", help="The label to explain.")],
    sequence: Annotated[
        str | None,
        typer.Option("--sequence", "-s", metavar="ID", help="Of which document. Default: the last."),
    ] = None,
    position: Annotated[
        int | None,
        typer.Option(
            "--position", "-p", metavar="N", help="At its Nth event. Default: the one to come after all."
        ),
    ] = None,
    passages: Annotated[
        Path | None,
        typer.Option(
            "--passages",
            metavar="FILE",
            help="The events that the model was learned from, if EVENTS are others: where to look for the "
            "same state.",
        ),
    ] = None,
    rows: Rows = 3,
    json: Json = False,
) -> None:
    """Say why a label is likely, or not, at a place of a document, with the sentences that speak for it.

    Where its influencers stand in the document, what the model makes of that,
    and other places where the label followed in the same state.
    """
    from summarkov.cli.whatif import plain, print_one, print_why
    from summarkov.text.passages import model_of

    fitted = load_model(model)
    here = read_quoted(file)
    learned_from = None if passages is None else read_quoted(passages)
    found = here.explain(fitted, target, sequence, position=position, learned_from=learned_from, most=rows)
    which = here.events.ids[-1] if sequence is None else sequence
    why = plain(found.why)
    if json:
        print_json(
            {
                "sequence": which,
                "position": position,
                "explanation": why,
                "before": before_document(found.before),
                "same_state": passages_document(found.passages),
            }
        )
        return
    console = output()
    place = "what comes next" if position is None else f"event {position}"
    console.print(Text(f"{visible(which)}, {place}", style="bold"), width=page_width(console))
    console.print()
    print_one(console, model_of(fitted, target), [why])
    for earlier in found.before:
        console.print()
        print_earlier(console, earlier, named=True)
    print_why(console, found.why, places=False)
    console.print()
    console.print(
        Text(f"In the same state {visible(target)} occurred", style="bold"), width=page_width(console)
    )
    console.print(Text(total_words(found.passages)))
    print_passages(console, found.passages)
