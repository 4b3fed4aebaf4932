"""``summarkov text passages``: the sentences behind an edge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from summarkov.cli.console import output, print_json
from summarkov.cli.files import load_model
from summarkov.cli.options import Json, ModelFile
from summarkov.cli.text import clean, page_width, plural
from summarkov.cli.windows import window_words


def passages(
    model: ModelFile,
    file: Annotated[
        Path,
        typer.Argument(metavar="EVENTS", help="Events that 'summarkov text' made, with their sentences."),
    ],
    influencer: Annotated[
        str, typer.Option("--influencer", "-i", metavar="LABEL", help="Where the edge begins.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", metavar="LABEL", help="Where the edge ends.")],
    rows: Annotated[
        int, typer.Option("--rows", min=1, metavar="N", help="Show at most so many passages.")
    ] = 12,
    json: Json = False,
) -> None:
    """Show why an edge is there: the target's sentences, with the influencer's before them."""
    from summarkov.models import InfluenceGraph
    from summarkov.text import read_text_events

    fitted = load_model(model)
    found = read_text_events(file).passages(fitted, influencer, target, rows)
    if json:
        shown = [
            {
                "sequence": each.sequence,
                "lag": each.lag,
                "influencer": dict(vars(each.influencer)),
                "target": dict(vars(each.target)),
            }
            for each in found
        ]
        print_json({"influencer": influencer, "target": target, "total": found.total, "passages": shown})
        return
    console = output()
    width = page_width(console)
    one = fitted.models_[target] if isinstance(fitted, InfluenceGraph) else fitted
    words = window_words(one, influencer)
    console.print(Text(f"{clean(target)}, with {clean(influencer)} {words}", style="bold"), width=width)
    some = "" if len(found) == found.total else f"; {plural(len(found), 'passage')} of them, evenly spread"
    console.print(Text(f"{plural(found.total, 'time')}{some}"))
    for each in found:
        console.print()
        for sentence in (each.influencer, each.target):
            place = Text(f"{clean(sentence.document)}, sentence {sentence.number}", style="dim")
            console.print(place, soft_wrap=True)
            console.print(Padding(Text(clean(sentence.text)), (0, 0, 0, 2)), width=width)
