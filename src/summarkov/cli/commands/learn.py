"""``summarkov learn`` and ``outcome``: from events to a model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands import add_confidence, add_order_test, for_terminal
from summarkov.cli.documents import document, is_a, outcome_document
from summarkov.cli.files import check_output, save_model
from summarkov.cli.learned import learned
from summarkov.cli.learned import outcome as outcome_parts
from summarkov.cli.page import Document, Line, Part, errors, progress, shorten, working
from summarkov.cli.reading import Reading, make_template
from summarkov.errors import DataError, SettingError
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.events import EventSequences

#: The most influences of a graph to print; ``show`` prints all.
_MOST_EDGES = 60
#: From this number of targets on, say that they take long: the time grows with the square of their number.
_MANY_TARGETS = 5_000


def learn(given: Any) -> Document:
    """A model or a graph of the events of a file."""
    from summarkov.engines import make_source
    from summarkov.engines.source import count_starts
    from summarkov.events.describe import CaseEnds, as_read, reading_notes, special_starts

    template = make_template(given)
    is_joint = is_a(template, "JointSuMM")
    is_single = given.joint or len(set(given.target or ())) == 1
    _check_learn(given, is_joint, is_single)
    check_output(given.output, given.file, given.map)
    with Reading(given).for_models(template).open(given.file) as events:
        refuse_nothing_to_learn(events, given.file)
        began = time.monotonic()
        fitted = _fit(template, events, given)
        if given.order_test is not False and not is_single and not is_joint:
            learned_in = None if given.order_test else time.monotonic() - began
            add_order_test(fitted, events, within=given.within, learned_in=learned_in)
        if given.confidence is not None:
            add_confidence(fitted, events, n=given.confidence, blocks=given.blocks)
        tied_order, origin = events.tied_order, events.origin
        source = make_source(events)
        ends = CaseEnds.of(int(events.complete.sum()), events.lengths, origin)
        without = source.without_ends()
        starts = special_starts(without.labels, without.map(count_starts), without.label_counts)
    saved = save_model(fitted, given.output)

    def data() -> dict[str, Any]:
        return {
            "saved": saved,
            **as_read(origin, tied_order),
            "ends": vars(ends),
            **document(fitted),
        }

    def parts() -> Iterator[Part]:
        yield from learned(fitted, edges=_MOST_EDGES)
        yield ""
        yield from map(for_terminal, reading_notes(origin, ends, fitted.labels_, tied_order))
        yield from (for_terminal(start.sentence()) for start in starts[:3])
        yield from _many_labels(fitted)
        yield _saved_words(saved)

    return Document(data, parts(), more="'summarkov show' prints all")


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
    if given.tune and not is_joint:
        raise SettingError("--tune is for --model joint; compare chooses the settings of other models")
    for setting in given.set or () if given.tune else ():
        if (name := setting.partition("=")[0]) in ("penalty", "rounds", "contexts"):
            raise SettingError(f"--tune chooses {name}; leave out one of them")
    if given.within is not None and given.order_test is False:
        raise SettingError("--within says how the order test shuffles; leave out --no-order-test")
    if given.blocks is not None and given.confidence is None:
        raise SettingError("--blocks says what --confidence resamples; give that too")


def _fit(template: Any, events: EventSequences, given: Any) -> Any:
    """Fit one model, or a graph."""
    from summarkov.models import InfluenceGraph

    targets, jobs = given.target or [], given.jobs
    if is_a(template, "JointSuMM"):
        one = template.copy(targets=targets or None, n_jobs=jobs)
        with progress("Learning", 1, "steps at most") as advance:
            if not given.tune:
                return one.fit(events, progress=advance)
            from summarkov.comparison import tune_joint

            return tune_joint(events, model=one, progress=advance)
    n_targets = len(set(targets or events.labels))
    if given.joint or len(set(targets)) == 1:
        target = tuple(targets or events.labels)
        with working("Learning"):
            return template.copy(target=target[0] if n_targets == 1 else target, n_jobs=jobs).fit(events)
    if n_targets > _MANY_TARGETS:
        long = f"Learning {n_targets:,} labels takes long."
        errors().show([Line(f"{long} --target LABEL learns one, --min-count 20 pools rare ones.")])
    with progress("Learning", n_targets, "labels") as advance:
        return InfluenceGraph(template, targets=targets or None, n_jobs=jobs).fit(events, progress=advance)


def _many_labels(fitted: Any) -> Iterator[Part]:
    """Say what helps where chance is not allowed for, and there are many labels for so few events."""
    from summarkov.events.describe import many_labels

    first = next(iter(fitted.models_.values())) if is_a(fitted, "InfluenceGraph") else fitted
    n_labels, n_events = len(fitted.labels_), first.fitted.n_events
    if getattr(first, "false_edges", 0) is None and many_labels(n_labels, n_events):
        yield (
            f"Hint: {n_labels:,} labels are many for {plural(n_events, 'event')}; chance may look like "
            "influence. Leave out --false-edges none to allow for that."
        )


def _saved_words(saved: str | None) -> Part:
    """Where a model was saved, or how to save it."""
    if saved is None:
        return "Not saved: add -o model.json to keep the model."
    return Line(f"Saved the model as {saved}")


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
    from summarkov.events.describe import as_read, reading_notes
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
    with reading.open(given.file) as events, working("Learning"):
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
        yield from outcome_parts(model, **tests)
        yield ""
        yield from map(for_terminal, reading_notes(origin, None, (), tied_order))
        yield _saved_words(saved)

    return Document(data, parts())
