"""``summarkov evaluate``: how well a model predicts events it has not seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from summarkov.cli.console import output, print_json, progress
from summarkov.cli.files import known_labels, load_model
from summarkov.cli.options import EventsPath, Json, ModelFile, Unknown
from summarkov.cli.reading import PLAIN, Reading, reads_events
from summarkov.cli.streams import Engine, Memory, Opening
from summarkov.cli.text import label, new_table, page_width, widest
from summarkov.errors import DataError
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.engines import EventSource, LocalSource
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph, SummaryModel

#: Models that are counted in one pass.
_AT_ONCE = 64


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
    file: EventsPath,
    unknown: Unknown = "error",
    reading: Reading = PLAIN,
    engine: Engine = "auto",
    memory: Memory = "1G",
    json: Json = False,
) -> None:
    """Measure how well a model predicts events, best some that it was not learned from."""
    from summarkov.models import InfluenceGraph

    fitted = load_model(model)
    models = list(fitted.models_.values()) if isinstance(fitted, InfluenceGraph) else [fitted]
    next_event = None
    with Opening(reading, engine, memory).open(file, fitted.labels_) as events:
        n_events = events.n_events
        if not n_events:
            raise DataError(f"{file} holds no events to evaluate the model on")
        with known_labels():
            source = in_labels_of(fitted, events, unknown)
        if not source.label_counts.any():
            raise DataError(
                f"{file} has no event that the model knows the label of; give some like those it learned from"
            )
        n_sequences = source.n_sequences
        figures = evaluate_models(models, source, n_events)
        if isinstance(fitted, InfluenceGraph) and len(models) == len(fitted.labels_):
            next_event = evaluate_next(fitted, source)
    targets = [model.target_ for model in models]
    if json:
        print_json(
            {
                "sequences": n_sequences,
                "events": n_events,
                "targets": [
                    {"target": list(x), **each._asdict()} for x, each in zip(targets, figures, strict=True)
                ],
                "next_event": None if next_event is None else next_event._asdict(),
            }
        )
    else:
        console = output()
        told = f"{plural(n_sequences, 'sequence')} with {plural(n_events, 'event')}"
        console.print(Text(told, style="bold"))
        _print_figures(console, targets, figures, next_event)


def in_labels_of(
    fitted: Any, events: EventSequences | EventSource, unknown: str
) -> LocalSource | EventSource:
    """Events, in memory or streamed, in the vocabulary of a model."""
    from summarkov.engines import EventSource, LocalSource
    from summarkov.engines.views import recoded

    if isinstance(events, EventSource):
        return recoded(events, fitted.labels_, unknown)
    return LocalSource(events.recode(fitted.labels_, unknown=unknown))


def evaluate_models(
    models: list[SummaryModel], source: LocalSource | EventSource, n_events: int
) -> list[Figures]:
    """Evaluate every model on events in its vocabulary; ``n_events`` are all, those of no label too."""
    from summarkov.models.evaluated import evaluate

    found = []
    with progress("Evaluating", len(models), "labels") as advance:
        for start in range(0, len(models), _AT_ONCE):
            some = models[start : start + _AT_ONCE]
            for model, each in zip(some, evaluate([one.fitted for one in some], source), strict=True):
                counts = source.label_counts[list(model.fitted.target.codes)].tolist()
                if model.fitted.target.has_residual:
                    counts.append(n_events - sum(counts))
                likely, base = each.log_likelihood, _log_loss(counts, _overall(model))
                found.append(Figures(sum(counts), likely, -likely / sum(counts), base, each.brier))
            advance(len(found), len(models))
    return found


def evaluate_next(graph: InfluenceGraph, source: LocalSource | EventSource) -> Figures:
    """Evaluate the next-event distribution of a graph over all labels."""
    from summarkov.engines import LocalSource
    from summarkov.events.block import cut_between_sequences
    from summarkov.models.measured import Measured, measure

    found, done = Measured(), 0
    parts = (
        cut_between_sequences(source.events, len(graph.labels_))
        if isinstance(source, LocalSource)
        else [source]
    )
    n_events = int(source.label_counts.sum())
    with progress("Evaluating the next event", n_events, "events") as advance:
        for part in parts:
            found += measure(graph, part, unknown="ignore")
            done += part.n_events
            advance(min(done, n_events), n_events)
    shares = [_overall(model)[0] for model in graph.models_.values()]
    base = [share / sum(shares) for share in shares]
    loss = _log_loss(source.label_counts.tolist(), base)
    return Figures(n_events, found.log_likelihood, -found.score, loss, found.brier)


def _overall(model: SummaryModel) -> list[float]:
    """The same estimate with no influencers: what the model would say if it never looked at the past."""
    from summarkov.scores import probabilities

    overall: list[float] = probabilities(model.fitted.counts.sum(axis=0), model.fitted.pseudo).tolist()
    return overall


def _log_loss(counts: list[int], shares: list[float]) -> float:
    return -sum(n * math.log(p) for n, p in zip(counts, shares, strict=True) if n) / sum(counts)


def _print_figures(
    console: Console,
    targets: list[tuple[str, ...]],
    figures: list[Figures],
    next_event: Figures | None,
) -> None:
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
