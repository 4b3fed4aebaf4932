"""``summarkov learn`` and ``outcome``: from events to a model; and what other commands say and test, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.errors import reporting
from summarkov.cli.learned import document, learned, outcome_document
from summarkov.cli.learned import outcome as outcome_parts
from summarkov.cli.page import Document, Line, Note, Part, errors, progress, shorten
from summarkov.cli.reading import Reading, check_output, make_template, save_model
from summarkov.engines import make_source
from summarkov.engines.source import count_starts
from summarkov.errors import DataError, SettingError
from summarkov.events.describe import CaseEnds, as_read, reading_notes, special_starts
from summarkov.evidence import is_graph, is_joint
from summarkov.settings import read_time

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph

#: From this number of targets on, say that they take long: the time grows with the square of their number.
_MANY_TARGETS = 5_000
#: Of every case, in the order test.
SHUFFLES = 99
#: Up to this number of targets, other look-backs are compared.
MOST_COMPARED = 200


def learn(given: Any) -> Document:
    """A model or a graph of the events of a file."""
    template = make_template(given)
    is_single = given.joint or len(set(given.target or ())) == 1
    _check_learn(given, is_joint(template), is_single)
    check_output(given.output, given.file, given.map)
    with Reading(given).for_models(template).open(given.file) as (events,):
        refuse_nothing_to_learn(events, given.file)
        fitted = _fit(template, events, given, is_single)
        if given.order_test is not False and is_graph(fitted):
            with suppress(KeyboardInterrupt):  # the model is learned already
                add_order_test(fitted, events, within=given.within)
        gains = _other_lookbacks(fitted, events, given)
        if given.confidence is not None:
            with suppress(KeyboardInterrupt):  # the model is learned already
                add_confidence(fitted, events, n=given.confidence)
        tied_order, origin = events.tied_order, events.origin
        ends = CaseEnds.of(int(events.complete.sum()), events.lengths, origin)
        without = make_source(events).without_ends()
        starts = special_starts(without.labels, without.map(count_starts), without.label_counts)
    saved = save_model(fitted, given.output)

    def data() -> dict[str, Any]:
        return {
            "saved": saved,
            **as_read(origin, tied_order),
            "ends": vars(ends),
            **gains,
            **document(fitted),
        }

    def parts() -> Iterator[Part]:
        yield from learned(fitted, every=given.all, by=given.by)
        yield from _longer_words(gains.get("other_lookbacks", {}))
        yield ""
        notes = [
            *reading_notes(origin, ends, fitted.labels_, tied_order),
            *(each.sentence() for each in starts[:3]),
        ]
        yield from (Note(for_terminal(note)) for note in notes)
        yield _saved_words(saved)

    return Document(data, parts(), more="--all prints all", is_short=not given.all)


def _check_learn(given: Any, is_joint: bool, is_single: bool) -> None:
    """Refuse options that do not go together."""
    of_graphs = {
        "--confidence": given.confidence,
        "--order-test": given.order_test,
        "--within": given.within,
    }
    for option, asked in {"--joint": given.joint, **of_graphs}.items():
        if asked and is_joint:
            raise SettingError(f"{option} is not for --model joint; leave it out")
        if asked and is_single and option != "--joint":
            raise SettingError(f"{option} is about the edges of a graph; give no --target, or several")
    if given.within is not None and given.order_test is False:
        raise SettingError("--within says how the order test shuffles; leave out --no-order-test")


def _fit(template: Any, events: EventSequences, given: Any, is_single: bool) -> Any:
    """Fit one model, or a graph."""
    from summarkov.models import InfluenceGraph

    targets, jobs = given.target or [], given.jobs
    if is_joint(template):
        one = template.copy(targets=targets or None, n_jobs=jobs)
        with progress("Learning", 1, "steps at most") as advance:
            return one.fit(events, progress=advance)
    n_targets = len(set(targets or events.labels))
    if is_single:
        target = tuple(targets or events.labels)
        with progress("Learning"):
            return template.copy(target=target[0] if n_targets == 1 else target, n_jobs=jobs).fit(events)
    if n_targets > _MANY_TARGETS:
        long = f"Learning {n_targets:,} labels takes long."
        errors().show([Line(f"{long} --target LABEL learns one, --min-count 20 pools rare ones.")])
    with progress("Learning", n_targets, "labels") as advance:
        return InfluenceGraph(template, targets=targets or None, n_jobs=jobs).fit(events, progress=advance)


def _other_lookbacks(fitted: Any, events: EventSequences, given: Any) -> dict[str, dict[int, float]]:
    """How much better other look-backs score, of a graph whose look-back is the default."""
    is_open = is_graph(fitted) and given.lookback is None and len(fitted.models_) <= MOST_COMPARED
    if not is_open or not isinstance(getattr(fitted.model, "lookback", None), int):
        return {}
    return {"other_lookbacks": fitted.other_lookbacks(events)}


def _longer_words(gains: Mapping[int, float]) -> Iterator[Part]:
    """That another look-back explains clearly more, if one does."""
    from summarkov.models.graph import CLEARLY

    best = max(gains, key=gains.__getitem__, default=0)
    if gains.get(best, 0.0) > CLEARLY:
        better = f"A look-back of {best} explains the data clearly better (score +{gains[best]:,.0f})"
        yield f"{better}: --lookback {best}, or --lookback auto."


def refuse_nothing_to_learn(events: EventSequences, file: Path) -> None:
    """Refuse events of which none could influence another: most likely a wrong column was taken."""
    if 0 < events.n_events == ((events.lengths > 0) | events.complete).sum():
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


def outcome(given: Any) -> Document:
    """A model of how cases end."""
    from summarkov.models import OutcomeModel

    column, equals, value = (given.column or "").partition("=")
    if sum(each is not None for each in (given.column, given.contains, given.ends_with)) != 1:
        raise SettingError(
            "say what the outcome is: one of --column COLUMN=VALUE, --contains LABEL or --ends-with LABEL"
        )
    if given.column is not None and (not column or (equals and not value)):
        raise SettingError(
            f"--column must be COLUMN=VALUE, not {given.column!r}; a column alone, without '=', asks about "
            "the rarer of its two values"
        )
    template = make_template(given, ("bsumm", "osumm", "csumm", "tree"))
    if given.lookback is None and "lookback" in template.get_params(deep=False):
        template = template.copy(lookback=None)  # what matters to the end may lie far back
    moment = int(given.after) if (given.after or "").isdecimal() else given.after
    asked: dict[str, Any] = {"contains": given.contains, "ends_with": given.ends_with, "after": moment}
    model = OutcomeModel(template, outcome=column or None, value=value or None, **asked)
    check_output(given.output, given.file, given.map)
    reading = Reading(given).for_models(template)
    reading = reading.changed(times=True) if isinstance(moment, str) else reading
    reading = reading.with_attribute(column) if column else reading
    with reading.open(given.file) as (events,), progress("Learning"):
        model.fit(events)
        n = given.confidence
        tests: dict[str, Any] = {
            "order": model.order_test(events) if given.order_test else None,
            "confidence": None if n is None else model.confidence(events, n=n),
        }
        tied_order, origin = events.tied_order, events.origin
    saved = save_model(model, given.output)

    def data() -> dict[str, Any]:
        read = {"read": as_read(origin, tied_order)}
        return {"saved": saved, **outcome_document(model, **tests), **read}

    def parts() -> Iterator[Part]:
        yield from outcome_parts(model, **tests, every=given.all)
        yield ""
        yield from (Note(for_terminal(note)) for note in reading_notes(origin, None, (), tied_order))
        yield _saved_words(saved)

    return Document(data, parts(), more="--all prints all", is_short=not given.all)


# ---------------------------------------------------------------------- tests of graphs


def add_order_test(graph: InfluenceGraph, events: Any, within: str | None = None, seed: int = 0) -> None:
    """Test the edges of a graph, if it has any; an interrupt leaves the graph without the test."""
    first = next(iter(graph.models_.values()))
    if not first.fitted.summary.by_label or not any(graph.influencers_.values()):
        return
    blocks: Any = "auto" if within is None else int(within) if within.strip().isdecimal() else within
    if blocks == within and read_time(within, "--within") is None:
        raise SettingError(f"--within must be a number of positions or a time such as 7d, not {within!r}")
    try:
        with progress("Shuffling", sum(map(len, graph.influencers_.values())), "edges") as advance:
            graph.order_test(events, n=SHUFFLES, within=blocks, random_state=seed, progress=advance)
    except KeyboardInterrupt:
        errors().show([Line("Interrupted: no order test.")])
        raise


def add_confidence(graph: InfluenceGraph, events: Any, **settings: Any) -> None:
    """Ask for the confidence of a graph, with a bar."""
    with reporting(), progress("Resampling", len(graph.models_), "labels") as advance:
        graph.confidence(events, progress=advance, **settings)


# ---------------------------------------------------------------------- what to say


def for_terminal(words: str) -> str:
    """Words with the option of the command line alone, without what Python calls it.

    >>> for_terminal("2 rows are duplicates; drop_duplicates=True (--drop-duplicates) leaves them out.")
    '2 rows are duplicates; --drop-duplicates leaves them out.'
    """
    return re.sub(r"\S+ \((--[^)]*)\)", r"\1", words)


def _saved_words(saved: str | None) -> Part:
    """Where a model was saved, or how to save it."""
    if saved is None:
        return "Not saved: add -o model.json to keep the model."
    return Line(f"Saved the model as {saved}")
