"""``summarkov predict`` and ``evaluate``: probabilities of events, and how good they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summarkov.cli.documents import history_document, is_a
from summarkov.cli.files import check_output, known_labels, load_model, plain_rows, saving, write_rows
from summarkov.cli.learned import MOST_NEXT, explain, history
from summarkov.cli.page import Document, Line, Part, progress, shown
from summarkov.cli.reading import Reading
from summarkov.errors import DataError, SettingError, nearest
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.read.write import Rows

#: Rows to show where they are not saved.
_PREVIEW = 10


def predict(given: Any) -> Document:
    """Probabilities for the events of a file, or after a history."""
    from summarkov.events.rows import recoded
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.prediction import column_names

    file, output, unknown = given.file, given.output, given.unknown
    if (file is None) == (not given.after):
        raise SettingError("name a FILE of events, or a history with --after LABEL, and not both")
    if file is None or given.why is not None:
        return _after(given)
    if given.target is not None:
        raise SettingError("--target goes with --after or --why; for a whole file leave it out")
    check_output(
        output, given.model, file, given.map, endings=".csv, .jsonl or .parquet", safe_csv=given.safe_csv
    )
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    reading = Reading(given).as_learned(fitted.layout_)
    if is_a(fitted, "OutcomeModel"):
        with known_labels():
            cases = fitted.predictions(reading.read(file, fitted.labels_), unknown=unknown)
        frame = cases.to_frame("pyarrow")
        rows = dict(zip(frame.column_names, frame.columns, strict=True))
        return _rows([rows], list(rows), given, cases.summary())
    is_streamed = reading.streams(file)
    if is_streamed and output is None:
        raise SettingError("one row per event would be too many to print; save them with -o FILE")
    with reading.open(file, fitted.labels_, names=is_streamed) as events, known_labels():
        if not is_streamed:  # before anything is written
            recoded(events, fitted.labels_, check_unknown(unknown))
        columns = ["sequence", "position", "event", *column_names(fitted.outcomes_)]
        return _rows(_predictions(fitted, events, unknown), columns, given, _preview(fitted, events, unknown))


def _rows(parts: Iterable[Rows], columns: list[str], given: Any, preview: Part) -> Document:
    """Rows that are saved, or given as JSON, or of which people see some."""
    if given.output is not None:
        where, n_rows = shown(given.output), write_rows(parts, given.output, safe_csv=given.safe_csv)
        data = {"saved": where, "rows": n_rows, "columns": columns}
        return Document(lambda: data, [Line(f"Saved {plural(n_rows, 'row')} as {where}")])
    if given.json:
        rows = [row for part in parts for row in plain_rows(part)]
        return Document(lambda: {"rows": rows})
    return Document(dict, [preview], more="-o FILE saves all")


def _predictions(fitted: Any, events: EventSequences, unknown: str) -> Iterator[dict[str, Any]]:
    """The rows, some of them at a time."""
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.prediction import prediction_rows

    done = 0
    with progress("Predicting", events.n_events, "events") as advance:
        for columns in prediction_rows(fitted.fitted, events, check_unknown(unknown)):
            yield columns
            done += len(columns["position"])
            advance(done, events.n_events)


def _preview(fitted: Any, events: EventSequences, unknown: str) -> Part:
    """The first rows: what happened, how likely it was, and what was most likely."""
    from summarkov.events.rows import cut_between_sequences
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.prediction import predict_rows

    few = next(cut_between_sequences(events, 1, cells=_PREVIEW))
    found = predict_rows(fitted.fitted, few, check_unknown(unknown)).summary()
    if not found.rows:
        return "There are no events."
    return replace(found, title="", rows=found.rows[:_PREVIEW], total=events.n_ticks)


def _after(given: Any) -> Document:
    """What comes next after a history, or in a case of a file."""
    if given.output is not None:
        asked = "--after" if given.file is None else "--why"
        raise SettingError(f"{asked} prints its result; leave out --output")
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    past: Any = given.after or []
    if given.file is not None:
        events = Reading(given).as_learned(fitted.layout_).read(given.file, fitted.labels_)
        if given.why not in events.ids:
            hint = nearest(given.why, events.ids)
            raise DataError(f"there is no case {given.why!r}, and --why names one of the file{hint}")
        past = events[events.ids.index(given.why)]
    elif fitted.layout_.attributes or fitted.layout_.time is not None:
        raise SettingError(
            "the model was learned with attributes or times, which --after cannot tell; give a FILE and "
            "--why CASE instead"
        )
    why, reasons = explain(fitted, past, given.target, given.unknown, None if given.json else MOST_NEXT)

    def data() -> dict[str, Any]:
        return {**history_document(past), "next": why}

    return Document(data, [*history(past), *reasons], more="--json prints all")


def evaluate(given: Any) -> Document:
    """How well a model predicts events."""
    calibration = given.calibration
    if calibration is not None:
        from summarkov.show.figures import require

        check_output(calibration, given.model, given.file, endings=".pdf, .svg or .png")
        require()
    fitted = load_model(given.model, "JointSuMM")
    reading = Reading(given).as_learned(fitted.layout_)
    with (
        reading.open(given.file, fitted.labels_) as events,
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=given.unknown, progress=advance)
    saved = {} if calibration is None else {"saved": shown(calibration)}
    if calibration is not None:
        from summarkov import plot

        with saving(calibration):
            plot.save(plot.calibration(found), calibration)

    def data() -> dict[str, Any]:
        return {
            "sequences": found.n_sequences,
            "events": found.n_events,
            "ticks": found.n_ticks,
            "targets": [{"target": x, **vars(each)} for x, each in found.targets.items()],
            "next_event": found.next_event,
            "top_1": found.top_1,
            "top_3": found.top_3,
            "calibration": [each.to_dict() for each in found.reliability()],
            **saved,
        }

    def parts() -> Iterator[Part]:
        yield found.summary()
        if given.unknown == "ignore" and found.top_1 is not None:
            yield (
                "Events of labels that the model does not know count as none of the targets; what is said of "
                "the next event leaves them out."
            )
        yield from (Line(f"Saved the calibration as {where}") for where in saved.values())

    return Document(data, parts())
