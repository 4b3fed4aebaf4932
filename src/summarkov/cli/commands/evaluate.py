"""``summarkov evaluate``: how well a model predicts events it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column
from rich.text import Text

from summarkov.cli.files import known_labels, load_model
from summarkov.cli.options.reading import PLAIN_OPENING, Opening
from summarkov.cli.options.shared import EventsPath, Json, ModelFile, Unknown, takes_options
from summarkov.cli.printing.console import label, new_table, output, page_width, print_json, progress, widest
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.models.measures import Evaluation, Figures


@takes_options
def evaluate(
    model: ModelFile,
    file: EventsPath,
    unknown: Unknown = "error",
    opening: Opening = PLAIN_OPENING,
    json: Json = False,
) -> None:
    """Measure how well a model predicts events, best some that it was not learned from."""
    fitted = load_model(model, "JointSuMM")
    opening = opening.as_learned(fitted.layout_)
    with (
        opening.open(file, fitted.labels_) as events,
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=unknown, progress=advance)
    if json:
        print_json(
            {
                "sequences": found.n_sequences,
                "events": found.n_events,
                "ticks": found.n_ticks,
                "targets": [{"target": list(x), **vars(each)} for x, each in found.targets.items()],
                "next_event": None if found.next_event is None else vars(found.next_event),
            }
        )
    else:
        console = output()
        ticks = "" if found.n_ticks is None else f"{plural(found.n_ticks, 'tick')} of "
        told = f"{plural(found.n_sequences, 'sequence')} with {ticks}{plural(found.n_events, 'event')}"
        console.print(told, style="bold")
        _print_figures(console, found)


def _print_figures(console: Console, found: Evaluation) -> None:
    console.print()
    names = [" + ".join(x) for x in found.targets]
    width = min(max(12, page_width(console) - 56), max(widest(names), 10))
    target = Column("Target", no_wrap=True, min_width=width)
    table = new_table(target, ">Log-likelihood", ">Log loss", ">Base rate", ">Gain", ">Brier")
    for name, each in zip(names, found.targets.values(), strict=True):
        table.add_row(label(name, width), *_cells(each))
    if found.next_event is not None:
        table.add_row("")
        table.add_row(Text("next event", style="bold"), *_cells(found.next_event))
    console.print(table)
    console.print()
    console.print(
        f"Log loss per {found.unit}, in nats: smaller is better. Base rate: the log loss of never "
        "looking at the past; gain: how much of it the model saves."
    )


def _cells(each: Figures) -> list[Any]:
    return [
        f"{each.log_likelihood:,.2f}",
        f"{each.log_loss:.4f}",
        f"{each.base_rate_log_loss:.4f}",
        Text(f"{100 * each.gain:.1f}%", style="green" if each.gain > 0 else "red"),
        f"{each.brier_score:.4f}",
    ]
