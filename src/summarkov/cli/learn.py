"""``summarkov learn``: from events to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.console import output as results
from summarkov.cli.console import print_json, print_line, progress, working
from summarkov.cli.files import Reading, check_output, saving
from summarkov.cli.options import Case, Event, EventsPath, Format, Json, OrderColumn
from summarkov.cli.streams import Engine, Memory, Opening
from summarkov.errors import SettingError, nearest

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences
    from summarkov.models import SummaryModel

WHAT = "What to learn"
PAST = "What of the past counts"
SEARCH = "How influencers are chosen"
SURE = "How sure they are"

#: The kinds of models, by the name on the command line.
FAMILIES = {
    "bsumm": "BSuMM",
    "osumm": "OSuMM",
    "csumm": "CSuMM",
    "chain": "MarkovChain",
    "vom": "VariableOrderChain",
    "ctw": "ContextTreeWeighting",
    "tree": "TreeSuMM",
}
#: Print at most so many influences of a graph; ``show`` prints all.
_MOST_EDGES = 60

Labels = list[str] | None


def learn(
    file: EventsPath,
    target: Annotated[
        Labels,
        typer.Option(
            "--target",
            "-t",
            metavar="LABEL",
            help="Learn what influences this label; repeat for several. Without it: every label.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="Make the targets (or all labels) one variable, with one set of influencers.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="KIND",
            help="bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? "
            "tree: a decision tree over questions to the past; chain: the last labels themselves; vom: as "
            "many of them as they are worth; ctw: all such chains together.",
            rich_help_panel=WHAT,
        ),
    ] = "bsumm",
    lookback: Annotated[
        str | None,
        typer.Option(
            "--lookback",
            "-k",
            metavar="N|none|auto",
            help="How many events back to look; none: the whole past; auto: learned for each influencer; "
            "1,4,none: learned out of these. Default 5.",
            rich_help_panel=PAST,
        ),
    ] = None,
    delay: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Leave out the N most recent events. Default 0.", rich_help_panel=PAST
        ),
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="last|first",
            help="osumm: which occurrence of a label counts. Default last.",
            rich_help_panel=PAST,
        ),
    ] = None,
    cap: Annotated[
        int | None, typer.Option(metavar="N", help="csumm: count up to N. Default 2.", rich_help_panel=PAST)
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(metavar="N", help="chain: how many labels back. Default 1.", rich_help_panel=PAST),
    ] = None,
    max_order: Annotated[
        int | None,
        typer.Option(metavar="N", help="vom, ctw: at most N labels back. Default 4.", rich_help_panel=PAST),
    ] = None,
    lookbacks: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: how far back to look for a label; none, which comes last: the whole past. "
            "Default 1,2,3,5,10,20,none.",
            rich_help_panel=PAST,
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: ask if a label occurred at least so often; none: do not. Default 2,3.",
            rich_help_panel=PAST,
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="auto|yes|no",
            help="tree: ask which of two labels is the more recent. Default auto: with at most 25 labels.",
            rich_help_panel=PAST,
        ),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: ask if fewer events precede; none: do not. Default 1,2,3,5,10.",
            rich_help_panel=PAST,
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="tree: at most N questions to a history. Default 12.", rich_help_panel=PAST
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="A",
            help="Pseudo-count of each outcome; larger is more cautious. Default 0.1; ctw: 0.5, tree: 5.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="uniform|base-rate",
            help="What rarely seen states are drawn to; base-rate pays off for rare labels with alpha from "
            "about 5 on. Default uniform; tree: base-rate.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="G",
            help="Penalty for complexity; larger finds fewer influencers. Default 1.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    average: Annotated[
        bool,
        typer.Option(
            "--average",
            help="tree: average over all smaller trees; best with a smaller --gamma, say 0.3.",
            rich_help_panel=SEARCH,
        ),
    ] = False,
    split: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="ctw, tree --average: how likely a context or node is split, before anything is seen. "
            "Default 0.5; tree: as many times less as there are questions.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="bic, aic, extended-bic or marginal. Default bic.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    xi: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="extended-bic: weight of its extended part. Default 1.", rich_help_panel=SEARCH
        ),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="all|reachable",
            help="Which states the penalty counts. Default all.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="greedy|sweep|exact",
            help="The search; exact proves that no other influencers score better. Default greedy.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    required: Annotated[
        Labels,
        typer.Option(metavar="LABEL", help="An influencer that must be there.", rich_help_panel=SEARCH),
    ] = None,
    forbidden: Annotated[
        Labels, typer.Option(metavar="LABEL", help="One that may not be there.", rich_help_panel=SEARCH)
    ] = None,
    candidates: Annotated[
        Labels, typer.Option(metavar="LABEL", help="Consider only these.", rich_help_panel=SEARCH)
    ] = None,
    max_influencers: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most N influencers of a label.", rich_help_panel=SEARCH),
    ] = None,
    max_sets: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="exact: stop after N sets a label, and say how much better others could be. Default 100000.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    case: Case = None,
    event: Event = None,
    order_column: OrderColumn = None,
    format: Format = None,
    engine: Engine = "auto",
    memory: Memory = "1G",
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Threads; -1 for one a core.")
    ] = None,
    confidence: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Learn N more graphs from resampled sequences, and say how many of them have each edge.",
            rich_help_panel=SURE,
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Resample blocks of N events in a row, not sequences. Default for one single sequence.",
            rich_help_panel=SURE,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Save the model in this file (JSON)."),
    ] = None,
    json: Json = False,
) -> None:
    """Learn from events which labels make which others more or less likely.

    Without --target or with several: a graph of influences. With one --target
    or with --joint: one model.
    """
    settings = {
        "lookback": lookback,
        "delay": delay,
        "mask": mask,
        "cap": cap,
        "order": order,
        "max_order": max_order,
        "lookbacks": lookbacks,
        "counts": counts,
        "pairs": pairs,
        "starts": starts,
        "max_depth": max_depth,
        "alpha": alpha,
        "prior": prior,
        "gamma": gamma,
        "average": average or None,
        "split": split,
        "criterion": criterion,
        "xi": xi,
        "parameters": parameters,
        "search": search,
        "required": required,
        "forbidden": forbidden,
        "candidates": candidates,
        "max_influencers": max_influencers,
        "max_sets": max_sets,
    }
    template = make_template(model, {name: value for name, value in settings.items() if value is not None})
    if confidence is not None and (joint or len(set(target or ())) == 1):
        raise SettingError("--confidence is about the edges of a graph; give no --target, or several")
    if blocks is not None and confidence is None:
        raise SettingError("--blocks says what --confidence resamples; give that too")
    check_output(output)
    opening = Opening(Reading(case, event, order_column, format), engine, memory, jobs)
    if confidence is not None and opening.streams(file):
        raise SettingError("--confidence needs the events in memory; leave it out, or use --engine memory")
    with opening.open(file) as events:
        fitted = fit(template, events, target or [], joint, jobs)
        if confidence is not None:
            from summarkov.cli.confidence import add_confidence
            from summarkov.events import EventSequences

            assert isinstance(events, EventSequences)
            add_confidence(fitted, events, n=confidence, blocks=blocks)
    if output is not None:
        with saving(output):
            fitted.save(output)
    if json:
        _print_document(fitted, output)
    else:
        _print_fitted(fitted, output)


def make_template(kind: str, settings: dict[str, Any]) -> SummaryModel:
    """A model without a target, with the settings that were given."""
    if kind.lower() not in FAMILIES:
        raise SettingError(
            f"--model must be one of {', '.join(FAMILIES)}, not {kind!r}{nearest(kind, FAMILIES)}"
        )
    if "lookback" in settings:
        settings["lookback"] = _lookback(settings["lookback"])
    if "lookbacks" in settings:
        settings["lookbacks"] = _numbers("lookbacks", settings["lookbacks"])
    for name in ("counts", "starts"):
        if settings.get(name, "").lower() == "none":
            settings[name] = ()
        elif name in settings:
            settings[name] = _numbers(name, settings[name])
    if "pairs" in settings:
        settings["pairs"] = _pairs(settings["pairs"])
    from summarkov import models

    family = getattr(models, FAMILIES[kind.lower()])
    known = family().get_params(deep=False)
    for name in settings:
        if name not in known:
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind.lower()}")
    template: SummaryModel = family(**settings)
    template.make_summary()  # refuses what makes no sense before the events are read
    return template


def _parts(text: str) -> tuple[int | None, ...]:
    """Whole numbers and "none"."""
    return tuple(None if part.strip().lower() == "none" else int(part) for part in text.split(","))


def _numbers(name: str, text: str) -> tuple[int | None, ...]:
    try:
        return _parts(text)
    except ValueError:
        raise SettingError(f"--{name} must be whole numbers such as 2,3, not {text!r}") from None


def _pairs(text: str) -> bool | str:
    known: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
    if text.lower() not in known:
        raise SettingError(f"--pairs must be auto, yes or no, not {text!r}")
    return known[text.lower()]


def _lookback(text: str) -> Any:
    """A number, None, "auto", or several numbers to choose from."""
    if text.lower() in ("none", "auto"):
        return None if text.lower() == "none" else "auto"
    try:
        each = _parts(text)
    except ValueError:
        raise SettingError(
            f"--lookback must be a whole number from 1 on, none, auto, or several such as 1,4,none, "
            f"not {text!r}"
        ) from None
    return each if len(each) > 1 else each[0]


def fit(
    template: SummaryModel,
    events: EventSequences | EventSource,
    targets: list[str],
    joint: bool,
    jobs: int | None,
) -> Any:
    """Fit one model, or a graph."""
    from summarkov.models import InfluenceGraph

    if joint or len(set(targets)) == 1:
        target = tuple(targets or events.labels)
        model = template.copy(target=target[0] if len(set(target)) == 1 else target, n_jobs=jobs)
        with working("Learning"):
            return model.fit(events)
    graph = InfluenceGraph(template, targets=targets or None, n_jobs=jobs)
    with progress("Learning", len(set(targets or events.labels)), "labels") as advance:
        return graph.fit(events, progress=advance)


def _print_fitted(fitted: Any, saved: Path | None) -> None:
    from summarkov.cli.describe import print_hint
    from summarkov.cli.graphs import print_graph
    from summarkov.cli.tables import print_model
    from summarkov.models import InfluenceGraph

    console = results()
    if isinstance(fitted, InfluenceGraph):
        print_graph(console, fitted, most=_MOST_EDGES)
    else:
        print_model(console, fitted)
    console.print()
    first = next(iter(fitted.models_.values())) if isinstance(fitted, InfluenceGraph) else fitted
    if getattr(first, "criterion", None) in ("bic", "aic"):
        print_hint(console, len(fitted.labels_), first.fitted.n_events)
    if saved is None:
        console.print("Not saved: add -o model.json to keep the model.")
    else:
        print_line(console, f"Saved the model as {saved}")


def _print_document(fitted: Any, saved: Path | None) -> None:
    from summarkov.cli.documents import graph_document, model_document
    from summarkov.models import InfluenceGraph

    document = graph_document(fitted) if isinstance(fitted, InfluenceGraph) else model_document(fitted)
    print_json({"saved": None if saved is None else str(saved), **document})
