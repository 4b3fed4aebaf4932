"""``summarkov predict`` and ``evaluate``: probabilities of events, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.arrow import pa
from summarkov.cli.documents import explanation_document, history_document, is_a
from summarkov.cli.files import (
    check_output,
    known_labels,
    load_model,
    plain_rows,
    refuse_unless_csv,
    saving,
    table_format,
    write_rows,
)
from summarkov.cli.learned import MOST_NEXT, explain, history
from summarkov.cli.options import command
from summarkov.cli.page import (
    Document,
    Headline,
    Line,
    Part,
    Table,
    first_of,
    name,
    progress,
    sheet,
    shorten,
    shown,
)
from summarkov.cli.reading import Reading
from summarkov.errors import DataError, SettingError, nearest
from summarkov.wording import number, percent, plural, visible, whole

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import LabelSets, OutcomeModel
    from summarkov.models.evaluating import Evaluation
    from summarkov.models.open_cases import OpenPredictions
    from summarkov.read.write import Rows

#: Rows to show where they are not saved.
_PREVIEW = 10
#: The most labels of a set to print.
_MOST = 20


@command
def predict(given: Any) -> Document:
    """Give every label its probability, before each event of a file or after a history.

    One row per event: sequence, position, event, and a column p(label) for each
    label of the model, worked out from the events before it. With a graph over
    all labels every row sums to 1, unless events happen together: then there is
    one row per tick, and each label has a probability of its own. Of an outcome,
    one row per sequence: its probability from what has happened so far, from
    cases that were open after as many events; cases already there are marked.

    Options:
    <model>
    file:[FILE]  Events, as for 'summarkov learn'; folders too.
    --after -a LABEL...  Instead of a file: what comes next after this label; repeat for a longer history,
        oldest first.
    --target -t LABEL  With --after or --why: this label alone, why, and what would be different.
    --why CASE  What comes next in this case of FILE, and why: with its times, ticks and attributes.
    --output -o FILE  Save as .csv, .jsonl or .parquet.
    <safe-csv>
    <unknown>
    <json>
    <sets>
    <opening>
    """
    from summarkov.events.rows import recoded
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.predictor import column_names

    file, output, unknown = given.file, given.output, given.unknown
    if (file is None) == (not given.after):
        raise SettingError("name a FILE of events, or a history with --after LABEL, and not both")
    if given.safe_csv and file is not None:
        refuse_unless_csv(output)
    if file is None or given.why is not None:
        return _after(given)
    if given.target is not None:
        raise SettingError("--target goes with --after or --why; for a whole file leave it out")
    if output is not None:
        table_format(output)
        check_output(output, given.model, file, given.map, given.sets)
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    reading = Reading(given).as_learned(fitted.layout_)
    sets = _calibrate(fitted, reading)
    if is_a(fitted, "OutcomeModel"):
        with known_labels():
            cases = fitted.predictions(reading.read(file, fitted.labels_), unknown=unknown)
        rows = _open_cases(fitted, cases)
        return _rows([rows], list(rows), given, sets, sheet(cases.summary()))
    is_streamed = reading.streams(file)
    if is_streamed and output is None:
        raise SettingError("one row per event would be too many to print; save them with -o FILE")
    with reading.open(file, fitted.labels_, names=is_streamed) as opened, known_labels():
        events: Any = opened
        if not is_streamed:  # before anything is written
            recoded(events, fitted.labels_, check_unknown(unknown))
        columns = ["sequence", "position", "event", *column_names(fitted.outcomes_)]
        parts: Iterable[Rows] = _predictions(fitted, events, unknown)
        if sets is not None:
            columns.append("set")
            parts = sets.with_sets(parts, as_text=output is not None and table_format(output) == "csv")
        return _rows(parts, columns, given, sets, _preview(fitted, events, unknown, sets))


def _after(given: Any) -> Document:
    """What comes next after a history, or in a case of a file."""
    if given.output is not None:
        asked = "--after" if given.file is None else "--why"
        raise SettingError(f"{asked} prints its result; leave out --output")
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    reading, past = Reading(given), given.after or []
    if given.file is not None:
        events = reading.as_learned(fitted.layout_).read(given.file, fitted.labels_)
        if given.why not in events.ids:
            hint = nearest(given.why, events.ids)
            raise DataError(f"there is no case {given.why!r}, and --why names one of the file{hint}")
        past = events[events.ids.index(given.why)]
    elif fitted.layout_.attributes or fitted.layout_.time is not None:
        raise SettingError(
            "the model was learned with attributes or times, which --after cannot tell; give a FILE and "
            "--why CASE instead"
        )
    sets = _calibrate(fitted, reading)
    labels = () if sets is None else sets.after(past)
    why, reasons = explain(fitted, past, given.target, given.unknown, None if given.json else MOST_NEXT)

    def data() -> dict[str, Any]:
        promised = {} if sets is None else {"sets": sets.document(labels=labels)}
        return {**history_document(past), "next": [explanation_document(each) for each in why], **promised}

    def parts() -> Iterator[Part]:
        yield from history(past)
        yield from reasons
        if sets is not None:
            yield ""
            yield from sets.words_after(labels)

    return Document(data, parts())


def _open_cases(fitted: OutcomeModel, cases: OpenPredictions) -> Rows:
    """One row per sequence: the probability of the outcome, from what has happened in it so far."""
    ids = [cases.ids[sequence] for sequence in cases.sequences.tolist()]
    p = pa.array(cases.probabilities[:, 0], pa.float64())
    more = {"after": cases.after, "already_reached": pa.array(cases.already_reached)}
    return {"sequence": ids, "position": cases.positions, f"p({fitted.name_})": p, **more}


def _rows(
    parts: Iterable[Rows], columns: list[str], given: Any, sets: _Sets | None, preview: Iterator[Part]
) -> Document:
    """Rows that are saved, or given as JSON, or of which people see some."""
    output: Path | None = given.output
    promised = {} if sets is None else {"sets": sets.document()}
    promise = [] if sets is None else [sets.promise()]
    if output is not None:
        with saving(output):
            n_rows = write_rows(parts, output, safe_csv=given.safe_csv)
        data = {"saved": shown(output), "rows": n_rows, "columns": columns, **promised}
        return Document(lambda: data, [Line(f"Saved {plural(n_rows, 'row')} as {shown(output)}"), *promise])
    if given.json:
        rows = [row for part in parts for row in plain_rows(part)]
        return Document(lambda: {"rows": rows, **promised})
    return Document(dict, [*preview, *promise])


def _predictions(fitted: Any, events: EventSequences, unknown: str) -> Iterator[dict[str, Any]]:
    """The rows, some of them at a time."""
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.distribution import prediction_rows

    done = 0
    with progress("Predicting", events.n_events, "events") as advance:
        for columns in prediction_rows(fitted.fitted, events, check_unknown(unknown)):
            yield columns
            done += len(columns["position"])
            advance(done, events.n_events)


def _preview(fitted: Any, events: EventSequences, unknown: str, sets: _Sets | None) -> Iterator[Part]:
    """The first rows: what happened, how likely it was, and what was most likely, or the set."""
    from summarkov.events.rows import cut_between_sequences
    from summarkov.models.predictor import column_names

    few = _predictions(fitted, next(cut_between_sequences(events, 1, cells=_PREVIEW)), unknown)
    parts: Iterable[Rows] = few if sets is None else sets.with_sets(few, as_text=True)
    columns, rows = column_names(fitted.outcomes_), []
    for row in [row for part in parts for row in plain_rows(part)][:_PREVIEW]:
        own = row.get(f"p({row['event']})", row.get("p_other"))
        best = sorted(((row[each], each.removeprefix("p")) for each in columns), reverse=True)[:2]
        likely = ", ".join(
            f"{shorten(x.strip('()').replace('_other', 'any other'), 24)} {percent(p)}" for p, x in best
        )
        beside = "" if own is None else percent(own), likely if sets is None else shorten(row["set"], 90)
        rows.append([shorten(row["sequence"], 20), number(row["position"]), name(row["event"]), *beside])
    left = events.n_ticks - len(rows)
    more = f"... and {plural(left, 'row')} more; -o FILE saves all" if left > 0 else ""
    head = ("*Sequence", ">Position", "*Event", ">Probability", "*Most likely" if sets is None else "*Set")
    yield Table(head, rows, more=more) if rows else "There are no events."


# ---------------------------------------------------------------------- how good they are


@command
def evaluate(given: Any) -> Document:
    """Measure how well a model predicts events, best some that it was not learned from.

    Options:
    <model>
    <path>
    <unknown>
    --calibration FILE  Draw how often what was predicted occurred, as .pdf, .svg or .png.
    <json>
    <sets>
    <opening>
    """
    calibration, unknown = given.calibration, given.unknown
    if calibration is not None:
        from summarkov.plot.canvas import require

        check_output(calibration, given.model, given.file, endings=".pdf, .svg or .png")
        require()
    fitted = load_model(given.model, "JointSuMM")
    reading = Reading(given).as_learned(fitted.layout_)
    sets = _calibrate(fitted, reading)
    if sets is not None and reading.streams(given.file):
        raise SettingError("--sets measures events in memory, and these are streamed; add --engine memory")
    with (
        reading.open(given.file, fitted.labels_) as events,
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=unknown, progress=advance)
        held = {} if sets is None else sets.measured(events)
    if calibration is not None:
        from summarkov import plot

        with saving(calibration):
            plot.save(plot.calibration(found), calibration)

    def data() -> dict[str, Any]:
        return {
            "sequences": found.n_sequences,
            "events": found.n_events,
            "ticks": found.n_ticks,
            "targets": [{"target": list(x), **vars(each)} for x, each in found.targets.items()],
            "next_event": None if found.next_event is None else vars(found.next_event),
            "top_1": found.top_1,
            "top_3": found.top_3,
            "calibration": [each.to_dict() for each in found.reliability()],
            **({} if calibration is None else {"saved": shown(calibration)}),
            **({} if sets is None else {"sets": sets.document(**held)}),
        }

    def parts() -> Iterator[Part]:
        yield from _figures(found, unknown)
        if calibration is not None:
            yield Line(f"Saved the calibration as {shown(calibration)}")
        if sets is not None:
            yield ""
            yield from sets.words_measured(**held)

    return Document(data, parts())


def _figures(found: Evaluation, unknown: str) -> Iterator[Part]:
    ticks = "" if found.n_ticks is None else f"{plural(found.n_ticks, 'tick')} of "
    yield Headline(f"{plural(found.n_sequences, 'sequence')} with {ticks}{plural(found.n_events, 'event')}")
    figures = {name(" + ".join(x)): each for x, each in found.targets.items()}
    if found.next_event is not None:
        figures["next event" if found.top_1 is not None else "these, or any other"] = found.next_event
    rows = [
        [
            what,
            f"{each.log_likelihood:,.2f}",
            f"{each.log_loss:.4f}",
            f"{each.base_rate_log_loss:.4f}",
            f"{100 * each.gain:.1f}%",
            f"{each.brier_score:.4f}",
        ]
        for what, each in figures.items()
    ]
    yield Table(("*Target", ">Log-likelihood", ">Log loss", ">Base rate", ">Gain", ">Brier"), rows)
    yield (
        f"Log loss per {found.unit}, in nats: smaller is better. Base rate: the log loss of never "
        "looking at the past; gain: how much of it the model saves."
    )
    if found.accuracy_words:
        yield found.accuracy_words
    if unknown == "ignore" and found.top_1 is not None:
        yield (
            "Events of labels that the model does not know count as none of the targets; what is said of the "
            "next event leaves them out."
        )


# ---------------------------------------------------------------------- sets that keep a promise


def _calibrate(fitted: Any, reading: Reading) -> _Sets | None:
    """Find the sets of a model, if they are asked for."""
    from summarkov.models import LabelSets
    from summarkov.models.predictor import OTHER, Predictor

    file, coverage, unknown = reading.given.sets, reading.given.coverage, reading.given.unknown
    if file is None:
        if coverage is not None:
            raise SettingError("--coverage goes with --sets FILE; name events to calibrate sets on")
        return None
    outcomes = fitted.outcomes_ if isinstance(fitted, Predictor) else (OTHER,)
    if OTHER in outcomes or len(outcomes) < len(fitted.labels_) - len(fitted.layout_.attributes):
        raise SettingError(
            "--sets is for models of all labels: a graph, or a model of --model joint, that was learned "
            "without --target"
        )
    made = LabelSets(fitted) if coverage is None else LabelSets(fitted, coverage)
    with known_labels():
        made.fit(reading.as_learned(fitted.layout_).read(file, fitted.labels_), unknown=unknown)
    return _Sets(made, shown(file), unknown)


@dataclass(frozen=True)
class _Sets:
    """Sets of labels, and the file that they were calibrated on."""

    sets: LabelSets
    file: str
    unknown: Any

    def document(self, **more: Any) -> dict[str, Any]:
        """What is promised, as JSON has it, and what else is known."""
        return {
            "coverage": self.sets.coverage,
            "threshold": self.sets.threshold_,
            "file": self.file,
            "sequences": whole(self.sets.n_sequences_),
            **more,
        }

    def after(self, past: Any) -> tuple[str, ...]:
        """The set after one history: labels, or the events of one sequence."""
        (found,) = self.sets.predict_next([past] if isinstance(past, list) else past, unknown=self.unknown)
        return tuple(map(str, found.labels))

    def with_sets(self, parts: Iterable[Rows], *, as_text: bool) -> Iterator[Rows]:
        """Rows of probabilities, with a column of the sets."""
        import numpy as np

        from summarkov.models.predictor import column_names

        names = column_names(self.sets.model.outcomes_)
        for part in parts:
            found = self.sets.labels_of(np.column_stack([part[each] for each in names]))
            texts = [", ".join(map(str, each)) for each in found]
            yield {**part, "set": texts if as_text else pa.array(found, pa.list_(pa.string()))}

    def measured(self, events: Any) -> dict[str, float]:
        """The share of events in their sets, and the mean number of labels in these."""
        return {
            "held": self.sets.held(events, unknown=self.unknown),
            "mean_size": self.sets.mean_size(events, unknown=self.unknown),
        }

    def words_after(self, labels: tuple[str, ...]) -> Iterator[Part]:
        """A set, and what is promised of it."""
        if self.sets.threshold_ > 0:
            each = first_of([shorten(x, 30) for x in labels], _MOST)
            which = "this one" if len(labels) == 1 else f"one of these {len(labels)}"
            yield f"The next event is {which}, with {self._coverage} promised: {each}"
        yield self.promise()

    def words_measured(self, held: float, mean_size: float) -> Iterator[Part]:
        """How often the sets held what came, and how large they are."""
        yield (
            f"Sets with {self._coverage} promised held {held:.1%} of the events, each sequence counting "
            f"once, and have {mean_size:.1f} of {len(self.sets.model.outcomes_)} labels on average."
        )
        yield self.promise()

    def promise(self) -> str:
        """What is promised of the sets; or that too few sequences allow for no promise."""
        file, found = visible(self.file), plural(self.sets.n_sequences_, "sequence")
        if self.sets.threshold_ <= 0:
            return (
                f"Every set is all labels: to promise {self._coverage} takes {number(self.sets.n_needed)} "
                f"sequences, and {file} has {found} with events; give more, or a smaller --coverage."
            )
        known = " of a known label" if self.unknown == "ignore" else ""
        return (
            f"The promise of {self._coverage} is about an event{known} drawn at random from a new "
            f"sequence, if new sequences come about as those of {file} did. It was calibrated on {found}."
        )

    @property
    def _coverage(self) -> str:
        return f"{100 * self.sets.coverage:.10g}%"
