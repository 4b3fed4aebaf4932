"""``summarkov evaluate``: how well a model predicts events it has not seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from summarkov.cli.console import output, print_json, progress
from summarkov.cli.files import known_labels, load_model
from summarkov.cli.options import EventsFile, Json, ModelFile, Unknown
from summarkov.cli.reading import PLAIN, Reading, reads_events
from summarkov.cli.text import label, new_table, page_width, plural, widest
from summarkov.errors import DataError

if TYPE_CHECKING:
    from summarkov.engines import LocalSource
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph, SummaryModel


class Figures(NamedTuple):
    """How well something was predicted; the base rate's log loss is that of never looking at the past."""

    n_events: int
    log_likelihood: float
    log_loss: float
    base_rate_log_loss: float
    brier_score: float


@reads_events
def evaluate(
    model: ModelFile,
    file: EventsFile,
    unknown: Unknown = "error",
    reading: Reading = PLAIN,
    json: Json = False,
) -> None:
    """Measure how well a model predicts events, best some that it was not learned from."""
    from summarkov.models import InfluenceGraph

    fitted = load_model(model)
    events = reading.read(file, fitted.labels_)
    with known_labels():
        data = events.recode(fitted.labels_, unknown=unknown)
    if not data.n_events:
        raise DataError(f"{file} holds no events to evaluate the model on")
    models = list(fitted.models_.values()) if isinstance(fitted, InfluenceGraph) else [fitted]
    figures = evaluate_models(models, data)
    next_event = None
    if isinstance(fitted, InfluenceGraph) and len(models) == len(fitted.labels_):
        next_event = evaluate_next(fitted, data)
    targets = [model.target_ for model in models]
    if json:
        print_json(
            {
                "sequences": len(data),
                "events": data.n_events,
                "targets": [
                    {"target": list(x), **each._asdict()} for x, each in zip(targets, figures, strict=True)
                ],
                "next_event": None if next_event is None else next_event._asdict(),
            }
        )
    else:
        _print_figures(output(), data, targets, figures, next_event)


def evaluate_models(models: list[SummaryModel], data: EventSequences) -> list[Figures]:
    """Evaluate every model on data in its vocabulary."""
    from summarkov.engines import LocalSource

    source = LocalSource(data)
    found = []
    with progress("Evaluating", len(models), "labels") as advance:
        for done, model in enumerate(models, start=1):
            found.append(_evaluate(model, source))
            advance(done, len(models))
    return found


def _evaluate(model: SummaryModel, source: LocalSource) -> Figures:
    counts = source.label_counts[list(model.fitted.target.codes)].tolist()
    if model.fitted.target.has_residual:
        counts.append(source.events.n_events - sum(counts))
    n = sum(counts)
    log_likelihood = model.log_likelihood(source)
    return Figures(
        n, log_likelihood, -log_likelihood / n, _log_loss(counts, _overall(model)), model.brier_score(source)
    )


def evaluate_next(graph: InfluenceGraph, data: EventSequences) -> Figures:
    """Evaluate the next-event distribution of a graph over all labels."""
    from summarkov.models.measured import Measured, measure
    from summarkov.writers.chunks import pieces

    found, done = Measured(), 0
    counts = data.label_counts.tolist()
    with progress("Evaluating the next event", data.n_events, "events") as advance:
        for part in pieces(data, len(graph.labels_)):
            found += measure(graph, part, unknown="ignore")
            done += part.n_events
            advance(done, data.n_events)
    shares = [_overall(model)[0] for model in graph.models_.values()]
    base = [share / sum(shares) for share in shares]
    return Figures(sum(counts), found.log_likelihood, -found.score, _log_loss(counts, base), found.brier)


def _overall(model: SummaryModel) -> list[float]:
    """The same estimate with no influencers: what the model would say if it never looked at the past."""
    from summarkov.scores import probabilities

    overall: list[float] = probabilities(model.fitted.counts.sum(axis=0), model.fitted.pseudo).tolist()
    return overall


def _log_loss(counts: list[int], shares: list[float]) -> float:
    return -sum(n * math.log(p) for n, p in zip(counts, shares, strict=True) if n) / sum(counts)


def _print_figures(
    console: Console,
    data: EventSequences,
    targets: list[tuple[str, ...]],
    figures: list[Figures],
    next_event: Figures | None,
) -> None:
    console.print(
        Text(f"{plural(len(data), 'sequence')} with {plural(data.n_events, 'event')}", style="bold")
    )
    console.print()
    names = [" + ".join(x) for x in targets]
    width = min(max(12, page_width(console) - 56), max(widest(names), 10))
    table = new_table()
    table.add_column("Target", no_wrap=True, min_width=width)
    for heading in ("Log-likelihood", "Log loss", "Base rate", "Gain", "Brier"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, each in zip(names, figures, strict=True):
        table.add_row(label(name, width), *_cells(each))
    if next_event is not None:
        table.add_row("")
        table.add_row(Text("next event", style="bold"), *_cells(next_event))
    console.print(table)
    console.print()
    console.print(
        "Log loss an event, in nats: smaller is better. Base rate: the log loss of never "
        "looking at the past; gain: how much of it the model saves."
    )


def _cells(each: Figures) -> list[Any]:
    gain = 1 - each.log_loss / each.base_rate_log_loss if each.base_rate_log_loss else 0.0
    return [
        f"{each.log_likelihood:,.2f}",
        f"{each.log_loss:.4f}",
        f"{each.base_rate_log_loss:.4f}",
        Text(f"{100 * gain:.1f}%", style="green" if gain > 0 else "red"),
        f"{each.brier_score:.4f}",
    ]
