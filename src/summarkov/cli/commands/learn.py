"""``summarkov learn`` and ``outcome``: from events to a model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands import add_confidence, add_order_test
from summarkov.cli.commands.events import as_read, first_events
from summarkov.cli.documents import document, is_a, outcome_document
from summarkov.cli.files import check_output, save_model
from summarkov.cli.learned import learned
from summarkov.cli.learned import outcome as outcome_parts
from summarkov.cli.options import command, given_settings, make_template
from summarkov.cli.page import Document, Line, Part, errors, progress, shorten, working
from summarkov.cli.reading import Reading
from summarkov.errors import DataError, SettingError
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import JointSuMM, SummaryModel

#: The most influences of a graph to print; ``show`` prints all.
_MOST_EDGES = 60
#: From this number of targets on, say that they take long: the time grows with the square of their number.
_MANY_TARGETS = 5_000


@command
def learn(given: Any) -> Document:
    """Learn from events which labels make which others more or less likely.

    Without --target or with several: a graph of influences. With one --target
    or with --joint: one model.

    Options:
    <path>
    <jobs>
    --output -o MODEL  Save the model in this file (JSON).
    <json>
    What to learn:
    --target -t LABEL...  Learn what influences this label; repeat for several. Without it: every label.
    --joint  Make the targets (or all labels) one variable, with one set of influencers.
    --model -m KIND  bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? tree: a
        decision tree over questions to the past; chain: the last labels themselves; vom: as many of them as
        they are worth; ctw: all such chains together; joint: one distribution over all labels. [default:
        bsumm]
    What of the past counts:
    --lookback -k N|TIME|none|auto  How many events back to look; or a time, such as 6h, 7d, or '30 units' of
        an order column of numbers; none: the whole past; auto: learned for each influencer; 1,4,none or
        1h,1d: out of these. Default 5; joint: a number from 20 on, 500.
    <settings>
    <chains>
    --tune  joint: take the penalty, rounds of trees and contexts that best predict a fifth of the sequences,
        held out; then learn from all.
    <opening>
    How sure they are:
    --order-test/--no-order-test  Say of every edge whether it depends on the order of events, or whether
        shuffled cases show it too. Default: for a graph, unless that takes ten times as long as learning.
    <within>
    --confidence N  Learn N more graphs from resampled sequences, and say how many of them have each edge.
    --blocks N  Resample blocks of N events in a row, not sequences. Default for one single sequence.
    """
    from summarkov.engines import make_source
    from summarkov.engines.surveys import count_starts
    from summarkov.events.describe import as_read as reading_document
    from summarkov.events.describe import case_ends, special_starts
    from summarkov.models import JointSuMM
    from summarkov.models.stability import by_position

    template = make_template(given.model, given_settings(given))
    is_joint_model, is_single = (
        isinstance(template, JointSuMM),
        given.joint or len(set(given.target or ())) == 1,
    )
    _check_learn(given, is_joint_model, is_single)
    check_output(given.output, given.file, given.map)
    with Reading(given).for_models(template).open(given.file, jobs=given.jobs) as events:
        refuse_nothing_to_learn(events, given.file)
        began = time.monotonic()
        fitted = _fit(template, events, given)
        if given.order_test is not False and not is_single and not is_joint_model:
            learned_in = None if given.order_test else time.monotonic() - began
            add_order_test(fitted, events, within=given.within, learned_in=learned_in)
        if given.confidence is not None:
            add_confidence(fitted, events, n=given.confidence, blocks=given.blocks)
        tied_order, origin = events.tied_order, events.origin
        source = make_source(events)
        ends = case_ends(len(events), int(events.complete.sum()), events.lengths, origin)
        without = source.without_ends()
        starts = special_starts(without.labels, count_starts(without), without.label_counts)
        story = None if is_joint_model else by_position(fitted, source)
    saved = save_model(fitted, given.output)

    def data() -> dict[str, Any]:
        told = {} if story is None else {"by_position": story.to_dict()}
        read = reading_document(origin, tied_order)
        return {"saved": saved, **read, **told, "ends": vars(ends), **document(fitted)}

    def parts() -> Iterator[Part]:
        yield from learned(fitted, edges=_MOST_EDGES)
        yield ""
        yield from as_read(origin, ends, fitted.labels_, tied_order)
        yield from first_events(starts)
        if story is not None and story.differs:
            yield str(story)
        yield from _hint(fitted)
        yield _saved_words(saved)

    return Document(data, parts())


def _check_learn(given: Any, is_joint_model: bool, is_single: bool) -> None:
    """Refuse options that do not go together."""
    of_graphs = {
        "--confidence": given.confidence,
        "--order-test": given.order_test,
        "--within": given.within,
    }
    if is_joint_model:
        for option, asked in {"--joint": given.joint, **of_graphs}.items():
            if asked:
                raise SettingError(f"{option} is not for --model joint; leave it out")
    if given.tune:
        if not is_joint_model:
            raise SettingError("--tune is for --model joint; compare chooses the settings of other models")
        for option in ("penalty", "rounds", "contexts"):
            if getattr(given, option) is not None:
                raise SettingError(f"--tune chooses --{option}; leave out one of them")
    for option, asked in of_graphs.items():
        if asked and is_single:
            raise SettingError(f"{option} is about the edges of a graph; give no --target, or several")
    if given.within is not None and given.order_test is False:
        raise SettingError("--within says how the order test shuffles; leave out --no-order-test")
    if given.blocks is not None and given.confidence is None:
        raise SettingError("--blocks says what --confidence resamples; give that too")


def _fit(template: SummaryModel | JointSuMM, events: EventSequences, given: Any) -> Any:
    """Fit one model, or a graph."""
    from summarkov.models import InfluenceGraph, JointSuMM

    targets, jobs = given.target or [], given.jobs
    if isinstance(template, JointSuMM):
        one = template.copy(targets=targets or None, n_jobs=jobs)
        with progress("Learning", 1, "steps at most") as advance:
            if not given.tune:
                return one.fit(events, progress=advance)
            from summarkov import tune_joint

            return tune_joint(events, model=one, progress=advance)
    if given.joint or len(set(targets)) == 1:
        target = tuple(targets or events.labels)
        model = template.copy(target=target[0] if len(set(target)) == 1 else target, n_jobs=jobs)
        with working("Learning"):
            return model.fit(events)
    n_targets = len(set(targets or events.labels))
    if n_targets > _MANY_TARGETS:
        long = f"Learning {n_targets:,} labels takes long."
        errors().show([Line(f"{long} --target LABEL learns one, --min-count 20 pools rare ones.")])
    with progress("Learning", n_targets, "labels") as advance:
        return InfluenceGraph(template, targets=targets or None, n_jobs=jobs).fit(events, progress=advance)


def _hint(fitted: Any) -> Iterator[Part]:
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


@command
def outcome(given: Any) -> Document:
    """Learn what makes a case end one way and not the other.

    Which events, and which attributes, change the probability of an outcome:
    --column result=declined, --contains LABEL or --ends-with LABEL. Each case
    counts once, with all of its events; --after asks what was known before.

    Options:
    <path>
    --column COLUMN=VALUE  The column that tells the outcome, and the value asked about.
    --contains LABEL  Instead: does the case contain this label?
    --ends-with LABEL  Instead: is this label the last one of the case?
    --after N|TIME  Ask what was known before the end: after N events, or at an age of the case such as 3d.
        Cases that ended before, or had reached the outcome, are left out and counted.
    --open FILE  Cases that have not ended: predict their outcome.
    --output -o MODEL  Save the model in this file (JSON).
    <json>
    What to learn:
    --model -m KIND  bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? tree: a
        decision tree over questions to the past. [default: bsumm]
    What of the past counts:
    --lookback -k N|TIME|none|auto  How many events back to look; or a time, such as 6h, 7d, or '30 units' of
        an order column of numbers; none: the whole past; auto: learned for each influencer; 1,4,none or
        1h,1d: out of these. Default: the whole past.
    <settings>
    <opening>
    How sure they are:
    --order-test  Say of every influence whether it depends on the order of events, or whether shuffled cases
        show it too.
    --confidence N  Learn N more models from resampled sequences, and say how many of them have each
        influence.
    """
    from summarkov.events.describe import as_read as reading_document
    from summarkov.models import OutcomeModel

    column, _, value = (given.column or "").partition("=")
    _refuse_no_question(given, value)
    if given.model.lower() not in _KINDS:
        raise SettingError(f"--model must be one of {', '.join(_KINDS)} here, not {given.model!r}")
    template = make_template(given.model, given_settings(given))
    if given.lookback is None and "lookback" in template.get_params(deep=False):
        template = template.copy(lookback=None)  # what matters to the end may lie far back
    moment = int(given.after) if (given.after or "").isdecimal() else given.after
    asked: dict[str, Any] = {"contains": given.contains, "ends_with": given.ends_with, "after": moment}
    model = OutcomeModel(template, outcome=column or None, value=value or None, **asked)
    check_output(given.output, given.file, given.open, given.map)
    reading = Reading(given).for_models(template)
    if isinstance(moment, str):
        reading = reading.changed(times=True)
    ended = reading.changed(attribute=[*reading.attributes, column]) if column else reading
    with ended.open(given.file) as events, working("Learning"):
        model.fit(events)
        sure: dict[str, Any] = {
            "order": model.order_test(events) if given.order_test else None,
            "confidence": model.confidence(events, n=given.confidence)
            if given.confidence is not None
            else None,
        }
        tied_order, origin = events.tied_order, events.origin
    cases: Any = None
    if given.open is not None:
        cases = model.predictions(reading.read(given.open, model.labels_), unknown="ignore")
    saved = save_model(model, given.output)

    def data() -> dict[str, Any]:
        read = {"read": reading_document(origin, tied_order)}
        told = {} if cases is None else {"open": cases.to_frame("pyarrow").to_pylist()}
        return {"saved": saved, **outcome_document(model, **sure), **read, **told}

    def parts() -> Iterator[Part]:
        yield from outcome_parts(model, **sure)
        yield ""
        yield from as_read(origin, None, (), tied_order)
        if cases is not None:
            yield ""
            yield from str(cases.summary()).split("\n")
            yield ""
        yield _saved_words(saved)

    return Document(data, parts())


def _refuse_no_question(given: Any, value: str) -> None:
    """One question must be asked, and in full."""
    column = given.column
    if sum(each is not None for each in (column, given.contains, given.ends_with)) != 1:
        raise SettingError(
            "say what the outcome is: one of --column COLUMN=VALUE, --contains LABEL or --ends-with LABEL"
        )
    if column is not None and (column[:1] in ("", "=") or ("=" in column and not value)):
        raise SettingError(
            f"--column must be COLUMN=VALUE, not {column!r}; a column alone, without '=', asks about the "
            "rarer of its two values"
        )
