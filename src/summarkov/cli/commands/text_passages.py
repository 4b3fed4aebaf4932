"""``summarkov text passages`` and ``summarkov text explain``: the sentences behind a model of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from summarkov.cli.files import load_model
from summarkov.cli.options import Json, ModelFile, option
from summarkov.cli.printing import Page, print_json, results, working
from summarkov.cli.printing.history import plain, print_one, print_why
from summarkov.cli.printing.influences import window_words
from summarkov.cli.printing.model import state_text
from summarkov.wording import plural, visible

if TYPE_CHECKING:
    from summarkov.text import Before, Passages, Sentence, TextEvents

TextEventsFile = Annotated[
    Path, typer.Argument(metavar="EVENTS", help="Events that 'summarkov text' made, with their sentences.")
]
Rows = Annotated[int, option("N", "Show at most N passages.", default=..., min=1)]


def passages(
    model: ModelFile,
    file: TextEventsFile,
    target: str = option("LABEL", "The label that occurred.", "--target -t", default=...),
    influencer: str | None = option(
        "LABEL", "Where this one had occurred: why there is an edge.", "--influencer -i"
    ),
    after: list[str] | None = option(
        "LABEL",
        "Instead: where the past was in the state that it is in after these labels, oldest first; "
        "repeatable.",
        "--after -a",
    ),
    rows: Rows = 12,
    json: Json = False,
) -> None:
    """Show sentences: of a label, behind an edge to it, or behind a state of its model."""
    from summarkov.text.passages import model_of

    fitted = load_model(model)
    found = read_quoted(file).passages(fitted, target, influencer, after=after or None, most=rows)
    if json:
        asked = {"target": target, "influencer": influencer, "after": after or None}
        print_json({**asked, **passages_document(found)})
        return
    console = results()
    how = ""
    one: Any = None if influencer is None and not after else model_of(fitted, target)
    if influencer is not None:
        how = f", with {visible(influencer)} {window_words(one, influencer)}"
    elif after:
        why = one.explain(after, label=target)
        how = f", after: {state_text(one, why.state, why.words)}"
    console.print(f"{visible(target)}{how}", style="bold", width=console.page_width)
    console.print(total_words(found))
    print_passages(console, found)


def read_quoted(file: Path) -> TextEvents:
    """Read events with their sentences."""
    from summarkov.text import read_text_events

    with working(f"Reading {file}"):
        return read_text_events(file)


def total_words(found: Passages) -> str:
    """How many places there are, and how many of them are shown."""
    some = "" if len(found) == found.total else f"; {plural(len(found), 'passage')} of them, evenly spread"
    return f"{plural(found.total, 'time')}{some}"


def print_passages(console: Page, found: Passages) -> None:
    """The sentences of influencers, and of the target after them."""
    for each in found:
        console.print()
        for earlier in each.before:
            print_earlier(console, earlier, named=len(each.before) > 1)
        print_sentence(console, each.target)


def print_earlier(console: Page, earlier: Before, *, named: bool) -> None:
    """The sentence of an influencer."""
    print_sentence(console, earlier.sentence, f"{f'{earlier.label}, ' if named else ''}{earlier.lag} back")


def print_sentence(console: Page, sentence: Sentence, note: str = "") -> None:
    """A sentence, and above it where it stands."""
    note = f" ({visible(note)})" if note else ""
    place = Text(f"{visible(sentence.document)}, sentence {sentence.number}{note}", style="dim")
    console.print(place, soft_wrap=True)
    console.print(Padding(Text(visible(sentence.text)), (0, 0, 0, 2)), width=console.page_width)


def passages_document(found: Passages) -> dict[str, Any]:
    """Passages as JSON has them."""
    shown = [
        {
            "sequence": each.sequence,
            "before": before_document(each.before),
            "target": dict(vars(each.target)),
        }
        for each in found
    ]
    return {"total": found.total, "passages": shown}


def before_document(before: tuple[Before, ...]) -> list[dict[str, Any]]:
    """The sentences of influencers as JSON has them."""
    return [{"label": b.label, "lag": b.lag, "sentence": dict(vars(b.sentence))} for b in before]


def explain(
    model: ModelFile,
    file: TextEventsFile,
    target: str = option("LABEL", "The label to explain.", "--target -t", default=...),
    sequence: str | None = option("ID", "Of which document. Default: the last.", "--sequence -s"),
    position: int | None = option(
        "N", "At its Nth event. Default: the one to come after all.", "--position -p"
    ),
    passages: Path | None = option(
        "FILE",
        "The events that the model was learned from, if EVENTS are others: where to look for the same state.",
    ),
    rows: Rows = 3,
    json: Json = False,
) -> None:
    """Say why a label is likely, or not, at a place of a document, with the sentences that speak for it.

    Where its influencers stand in the document, what the model makes of that,
    and other places where the label followed in the same state.
    """
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
    console = results()
    place = "what comes next" if position is None else f"event {position}"
    console.print(f"{visible(which)}, {place}", style="bold", width=console.page_width)
    console.print()
    print_one(console, model_of(fitted, target), [why])
    for earlier in found.before:
        console.print()
        print_earlier(console, earlier, named=True)
    print_why(console, found.why, places=False)
    console.print()
    console.print(f"In the same state {visible(target)} occurred", style="bold", width=console.page_width)
    console.print(total_words(found.passages))
    print_passages(console, found.passages)
