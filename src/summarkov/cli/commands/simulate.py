"""``summarkov simulate``: events from a graph, or from dynamics written down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.files import check_output, refuse_unless_csv, saving
from summarkov.cli.options.shared import Json, SafeCsv, option
from summarkov.cli.printing.console import output as results
from summarkov.cli.printing.console import print_json, print_line, progress, shown
from summarkov.errors import SettingError
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import Dynamics


def simulate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A graph or joint model of all labels, or a JSON file of dynamics written down.",
        ),
    ],
    sequences: Annotated[int, option("K", "How many sequences.", "--sequences -n", min=0)] = 100,
    length: Annotated[int, option("T", "How many events each.", min=0)] = 20,
    seed: Annotated[int, option("S", "Same seed, same events.", min=0)] = 0,
    output: Annotated[
        Path | None,
        option(
            "FILE",
            "Save as .jsonl, .csv, .parquet, .xes or .spmf; else JSON lines are printed.",
            "--output -o",
        ),
    ] = None,
    safe_csv: SafeCsv = False,
    json: Json = False,
) -> None:
    """Draw new sequences of events."""
    from summarkov.io.line_files import json_lines
    from summarkov.io.write import writable_format, write_events

    if safe_csv:
        refuse_unless_csv(output)
    check_output(output, source)
    if output is not None:
        writable_format(shown(output))
    events = draw(read_source(source), sequences, length, seed)
    if output is not None:
        with saving(output):
            write_events(events, output, safe_csv=safe_csv)
        if json:
            print_json({"saved": shown(output), **_sizes(events), "seed": seed})
        else:
            what = f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')}"
            print_line(results(), f"Saved {what} as {shown(output)}")
    elif json:
        lists = zip(events.ids, events.to_lists(), strict=True)
        print_json({**_sizes(events), "seed": seed, "data": [{"id": i, "events": e} for i, e in lists]})
    else:
        for line in json_lines(events):
            typer.echo(line)


def read_source(path: Path) -> Dynamics | InfluenceGraph | JointSuMM:
    """Read dynamics, a graph, or a joint model."""
    from summarkov.models import InfluenceGraph, JointSuMM, load
    from summarkov.models.predictor import check_drawable
    from summarkov.simulate import Dynamics
    from summarkov.store import read_document

    document = read_document(path)
    if isinstance(document.value, dict) and document.value.get("kind") == "dynamics":
        try:
            return Dynamics.from_dict(document.value)
        except ValueError as problem:
            raise SettingError(f"{path}: {problem}") from None
    model = load(path)
    if isinstance(model, JointSuMM):
        model.fitted.check_complete()
        return model
    if not isinstance(model, InfluenceGraph) or set(model.labels_) - {
        *model.models_,
        *model.layout_.attributes,
    }:
        raise SettingError(
            f"{path} is no graph or joint model of all labels, so it cannot tell what comes next; "
            "learn one, without --target and --joint"
        )
    check_drawable(model.layout_, (each.fitted.summary for each in model.models_.values()))
    return model


def draw(
    source: Dynamics | InfluenceGraph | JointSuMM, sequences: int, length: int, seed: int
) -> EventSequences:
    """Draw sequences, with a bar that counts the events of a sequence."""
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import draw_sequences

    if isinstance(source, JointSuMM):
        labels, ask = source.labels_, source.fitted.after
    elif isinstance(source, InfluenceGraph):
        if source.layout_.together:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels_, source._next.after
    else:
        if not source.beside.is_plain or source.outcomes:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels, source._next_event
    with progress("Simulating", length, "events per sequence") as advance:

        def next_event(histories: Any) -> Any:
            advance(histories.shape[1], length)
            return ask(histories)

        return draw_sequences(next_event, labels, sequences, length, seed)


def _sizes(events: EventSequences) -> dict[str, int]:
    return {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}
