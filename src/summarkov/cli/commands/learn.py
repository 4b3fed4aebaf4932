"""``summarkov learn`` and ``outcome``: from events to a model."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands import add_confidence, add_order_test, has_edges
from summarkov.cli.commands.events import print_ends, print_notes, print_origin, print_starts
from summarkov.cli.files import check_output, save_model
from summarkov.cli.options import (
    SEARCH,
    SURE,
    WHAT,
    EventsPath,
    InfluencerSettings,
    Jobs,
    Json,
    Labels,
    ModelOutput,
    ModelSettings,
    Within,
    flag,
    option,
)
from summarkov.cli.printing import Page, errors, print_json, progress, results, shorten, working
from summarkov.cli.printing.documents import document, is_a, outcome_document
from summarkov.cli.printing.graph import Sure, print_open, print_outcome
from summarkov.cli.printing.model import print_fitted
from summarkov.cli.reading import Opening
from summarkov.errors import DataError, SettingError
from summarkov.wording import plural, visible

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences
    from summarkov.events.describe import CaseEnds
    from summarkov.models import JointSuMM, SummaryModel


#: The most influences of a graph to print; ``show`` prints all.
_MOST_EDGES = 60
#: From this number of targets on, say that they take long: the time grows with the square of their number.
_MANY_TARGETS = 5_000


def learn(
    file: EventsPath,
    target: Labels = option(
        "LABEL",
        "Learn what influences this label; repeat for several. Without it: every label.",
        "--target -t",
        panel=WHAT,
    ),
    joint: bool = flag(
        "--joint", "Make the targets (or all labels) one variable, with one set of influencers.", panel=WHAT
    ),
    settings: ModelSettings = ModelSettings(),
    tune: bool = flag(
        "--tune",
        "joint: take the penalty, rounds of trees and contexts that best foretell a fifth of the sequences, "
        "held out; then learn from all.",
        panel=SEARCH,
    ),
    opening: Opening = Opening(),
    jobs: Jobs = None,
    order_test: bool | None = flag(
        "--order-test/--no-order-test",
        "Say of every edge whether it is about the order of events, or whether shuffled sequences show "
        "it too. Default: for a graph, unless that takes ten times as long as learning.",
        panel=SURE,
        default=None,
        show_default=False,
    ),
    within: Within = None,
    confidence: int | None = option(
        "N",
        "Learn N more graphs from resampled sequences, and say how many of them have each edge.",
        panel=SURE,
    ),
    blocks: int | None = option(
        "N",
        "Resample blocks of N events in a row, not sequences. Default for one single sequence.",
        panel=SURE,
    ),
    output: ModelOutput = None,
    json: Json = False,
) -> None:
    """Learn from events which labels make which others more or less likely.

    Without --target or with several: a graph of influences. With one --target
    or with --joint: one model.
    """
    from summarkov.engines import make_source
    from summarkov.engines.surveys import count_starts
    from summarkov.events.describe import as_read, special_starts
    from summarkov.models import JointSuMM
    from summarkov.models.stability import by_position

    template = settings.template()
    is_joint_model, is_single = isinstance(template, JointSuMM), joint or len(set(target or ())) == 1
    of_graphs = {"--confidence": confidence, "--order-test": order_test, "--within": within}
    if is_joint_model:
        for name, asked in {"--joint": joint, **of_graphs}.items():
            if asked:
                raise SettingError(f"{name} is not for --model joint; leave it out")
        order_test = False
    if tune:
        _check_tune(settings, is_joint_model)
    for name, asked in of_graphs.items():
        if asked and is_single:
            raise SettingError(f"{name} is about the edges of a graph; give no --target, or several")
    if within is not None and order_test is False:
        raise SettingError("--within says how the order test shuffles; leave out --no-order-test")
    if blocks is not None and confidence is None:
        raise SettingError("--blocks says what --confidence resamples; give that too")
    check_output(output, file, opening.map)
    with opening.for_models(template).open(file, jobs=jobs) as events:
        refuse_nothing_to_learn(events, file)
        began = time.monotonic()
        fitted = fit(template, events, target or [], joint, jobs, tune=tune)
        if order_test is not False and not is_single and has_edges(fitted):
            learned_in = None if order_test else time.monotonic() - began
            add_order_test(fitted, events, within=within, learned_in=learned_in)
        if confidence is not None:
            add_confidence(fitted, events, n=confidence, blocks=blocks)
        tied_order, origin = events.tied_order, events.origin
        source = make_source(events)
        ends = ends_of(events)
        without = source.without_ends()
        special = special_starts(without.labels, count_starts(without), without.label_counts)
        story = None if is_joint_model else by_position(fitted, source)
    saved = save_model(fitted, output)
    if json:
        told = {} if story is None else {"by_position": story.to_dict()}
        told["ends"] = vars(ends)
        print_json({"saved": saved, **as_read(origin, tied_order), **told, **document(fitted)})
        return
    console = results()
    print_fitted(console, fitted, edges=_MOST_EDGES)
    console.print()
    print_origin(console, origin)
    print_ends(console, ends)
    print_notes(console, fitted.labels_, tied_order, origin)
    print_starts(console, special)
    if story is not None and story.differs:
        console.print(visible(str(story)), width=console.page_width)
    _print_hint(console, fitted)
    _print_saved(console, saved)


def _check_tune(settings: ModelSettings, is_joint_model: bool) -> None:
    """Refuse to tune what has no such settings, or those that were given."""
    if not is_joint_model:
        raise SettingError("--tune is for --model joint; compare chooses the settings of other models")
    for name in ("penalty", "rounds", "contexts"):
        if getattr(settings, name) is not None:
            raise SettingError(f"--tune chooses --{name}; leave out one of them")


def fit(
    template: SummaryModel | JointSuMM,
    events: EventSequences | EventSource,
    targets: list[str],
    joint: bool,
    jobs: int | None,
    *,
    tune: bool = False,
) -> Any:
    """Fit one model, or a graph."""
    from summarkov.models import InfluenceGraph, JointSuMM

    if isinstance(template, JointSuMM):
        one = template.copy(targets=targets or None, n_jobs=jobs)
        with progress("Learning", 1, "steps at most") as advance:
            if not tune:
                return one.fit(events, progress=advance)
            from summarkov.comparison import tune_joint

            return tune_joint(events, model=one, progress=advance)
    if joint or len(set(targets)) == 1:
        target = tuple(targets or events.labels)
        model = template.copy(target=target[0] if len(set(target)) == 1 else target, n_jobs=jobs)
        with working("Learning"):
            return model.fit(events)
    graph = InfluenceGraph(template, targets=targets or None, n_jobs=jobs)
    n_targets = len(set(targets or events.labels))
    if n_targets > _MANY_TARGETS:
        told = f"Learning {n_targets:,} labels takes long."
        errors().print_line(f"{told} --target LABEL learns one, --min-count 20 pools rare ones.")
    with progress("Learning", n_targets, "labels") as advance:
        return graph.fit(events, progress=advance)


def _print_hint(console: Page, fitted: Any) -> None:
    """Say what helps where chance is not allowed for, and there are many labels for so few events."""
    from summarkov.events.describe import many_labels

    first = next(iter(fitted.models_.values())) if is_a(fitted, "InfluenceGraph") else fitted
    n_labels, n_events = len(fitted.labels_), first.fitted.n_events
    if getattr(first, "false_edges", 0) is None and many_labels(n_labels, n_events):
        console.print(
            f"Hint: {n_labels:,} labels are many for {plural(n_events, 'event')}; chance may look like "
            "influence. Leave out --false-edges none to allow for that."
        )


def _print_saved(console: Page, saved: str | None) -> None:
    """Say where a model was saved, or how to save it."""
    if saved is None:
        console.print("Not saved: add -o model.json to keep the model.")
    else:
        console.print_line(f"Saved the model as {saved}")


def ends_of(events: EventSequences | EventSource) -> CaseEnds:
    """How many cases are taken as complete."""
    from summarkov.events import END, EventSequences
    from summarkov.events.describe import case_ends

    if isinstance(events, EventSequences):
        return case_ends(len(events), int(events.complete.sum()), events.lengths, events.origin)
    n = events.label_counts[events.labels.index(END)] // events.scale if END in events.labels else 0
    found = case_ends(events.n_sequences, min(int(n), events.n_sequences), None, events.origin)
    return replace(found, one_length=events.one_length)


def refuse_nothing_to_learn(events: EventSequences | EventSource, file: Path) -> None:
    """Refuse events of which none could influence another: most likely a wrong column was taken."""
    from summarkov.engines import make_source

    if 0 < events.n_events == make_source(events).n_filled:
        raise DataError(
            f"no sequence of {file} is longer than one event, so none comes after another; does --case name "
            "the column that the events of a sequence share?"
        )
    present = [x for x, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    if len(present) == 1:
        raise DataError(
            f"all events of {file} are '{shorten(present[0], 30)}', so nothing tells one from another; does "
            "--event name the column of the labels?"
        )


#: The models that choose influencers.
_KINDS = ("bsumm", "osumm", "csumm", "tree")


def outcome(
    file: EventsPath,
    column: str | None = option(
        "COLUMN=VALUE", "The column that tells the outcome, and the value asked about."
    ),
    contains: str | None = option("LABEL", "Instead: does the case contain this label?"),
    ends_with: str | None = option("LABEL", "Instead: is this label the last one of the case?"),
    after: str | None = option(
        "N",
        "Ask what was known before the end: after N events, or at an age of the case such as 3d. Cases that "
        "ended before, or had reached the outcome, are left out and counted.",
    ),
    open_cases: Path | None = option("FILE", "Cases that have not ended: predict their outcome.", "--open"),
    settings: InfluencerSettings = InfluencerSettings(),
    opening: Opening = Opening(),
    order_test: bool = flag(
        "--order-test",
        "Say of every influence whether it is about the order of events, or whether shuffled sequences show "
        "it too.",
        SURE,
    ),
    confidence: int | None = option(
        "N",
        "Learn N more models from resampled sequences, and say how many of them have each influence.",
        panel=SURE,
    ),
    output: ModelOutput = None,
    json: Json = False,
) -> None:
    """Learn what makes a case end one way and not the other.

    Which events, and which attributes, change the probability of an outcome:
    --column result=declined, --contains LABEL or --ends-with LABEL. Each case
    counts once, with all of its events; --after asks what was known before.
    """
    from summarkov.events.describe import as_read
    from summarkov.models import OutcomeModel

    name, _, value = (column or "").partition("=")
    _refuse_no_question(column, value, contains, ends_with)
    if settings.model.lower() not in _KINDS:
        raise SettingError(f"--model must be one of {', '.join(_KINDS)} here, not {settings.model!r}")
    template = settings.template()
    if settings.lookback is None and "lookback" in template.get_params(deep=False):
        template = template.copy(lookback=None)  # what matters to the end may lie far back
    moment = int(after) if after is not None and after.isdecimal() else after
    asked: dict[str, Any] = {"contains": contains, "ends_with": ends_with, "after": moment}
    model = OutcomeModel(template, outcome=name or None, value=value or None, **asked)
    check_output(output, file, open_cases, opening.map)
    opening = opening.for_models(template)
    if isinstance(moment, str):
        opening = replace(opening, times=True)
    ended = replace(opening, attribute=[*(opening.attribute or []), name]) if name else opening
    with ended.open(file) as events, working("Learning"):
        model.fit(events)
        sure = Sure(
            model.order_test(events) if order_test else None,
            None if confidence is None else model.confidence(events, n=confidence),
        )
        tied_order, origin = events.tied_order, events.origin
    told: Any = None
    if open_cases is not None:
        told = model.predictions(opening.read(open_cases, model.labels_), unknown="ignore")
    saved = save_model(model, output)
    if json:
        cases = {}
        if told is not None:
            cases = {"open": told.to_frame("pyarrow").to_pylist()}
        read = {"read": as_read(origin, tied_order)}
        print_json({"saved": saved, **outcome_document(model, sure), **read, **cases})
        return
    console = results()
    print_outcome(console, model, sure)
    console.print()
    print_origin(console, origin)
    print_notes(console, (), tied_order, origin)
    if told is not None:
        console.print()
        print_open(console, told)
        console.print()
    _print_saved(console, saved)


def _refuse_no_question(column: str | None, value: str, contains: str | None, ends_with: str | None) -> None:
    """One question must be asked, and in full."""
    if sum(each is not None for each in (column, contains, ends_with)) != 1:
        raise SettingError(
            "say what the outcome is: one of --column COLUMN=VALUE, --contains LABEL or --ends-with LABEL"
        )
    if column is not None and (column[:1] in ("", "=") or ("=" in column and not value)):
        raise SettingError(
            f"--column must be COLUMN=VALUE, not {column!r}; a column alone, without '=', asks about the "
            "rarer of its two values"
        )
