"""``summarkov predict``, ``evaluate``, ``show``, ``export``, ``report``: what to do with a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from summarkov.cli.learned import MOST_NEXT, choose, document, explain, history, history_document, learned
from summarkov.cli.page import Document, Line, Part, progress, saved, shown
from summarkov.cli.reading import (
    Reading,
    check_output,
    known_labels,
    load_model,
    plain_rows,
    saving,
    suffix_of,
    write_rows,
    write_text,
)
from summarkov.errors import DataError, SettingError, nearest
from summarkov.evidence import is_joint, is_outcome
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.read.write import Rows


def predict(given: Any) -> Document:
    """Probabilities for the events of a file, or after a history."""
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.prediction import column_names, predict_rows, prediction_rows

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
    if is_outcome(fitted) or not reading.streams(file):
        events = reading.read(file, known=fitted.labels_)
        with known_labels(), progress("Predicting"):
            if is_outcome(fitted):
                found = fitted.predictions(events, unknown=unknown)
            else:
                found = predict_rows(fitted.fitted, events, check_unknown(unknown))
        frame = found.to_frame("pyarrow")
        rows = dict(zip(frame.column_names, frame.columns, strict=True))
        few = found.summary()
        return _rows([rows], list(rows), given, replace(few, rows=few.rows[:10]))
    if output is None:
        raise SettingError("one row per event would be too many to print; save them with -o FILE")
    with reading.open(file, known=fitted.labels_, names=True) as (events,), known_labels():
        columns = ["sequence", "position", "event", *column_names(fitted.outcomes_)]
        with progress("Predicting"):
            return _rows(prediction_rows(fitted.fitted, events, check_unknown(unknown)), columns, given)


def _rows(parts: Iterable[Rows], columns: list[str], given: Any, *preview: Part) -> Document:
    """Rows that are saved, or given as JSON, or of which people see some."""
    if given.output is not None:
        where, n_rows = shown(given.output), write_rows(parts, given.output, safe_csv=given.safe_csv)
        data = {"saved": where, "rows": n_rows, "columns": columns}
        return Document(lambda: data, [Line(f"Saved {plural(n_rows, 'row')} as {where}")])
    if given.json:
        rows = [row for part in parts for row in plain_rows(part)]
        return Document(lambda: {"rows": rows})
    return Document(dict, preview, more="-o FILE saves all")


def _after(given: Any) -> Document:
    """What comes next after a history, or in a case of a file."""
    if given.output is not None:
        asked = "--after" if given.file is None else "--why"
        raise SettingError(f"{asked} prints its result; leave out --output")
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    past: Any = given.after or []
    if given.file is not None:
        events = Reading(given).as_learned(fitted.layout_).read(given.file, known=fitted.labels_)
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

    found = history_document(past)
    return Document(lambda: {**found, "next": why}, [*history(found), *reasons], more="--json prints all")


def evaluate(given: Any) -> Document:
    """How well a model predicts events."""
    fitted = load_model(given.model, "JointSuMM")
    reading = Reading(given).as_learned(fitted.layout_)
    with (
        reading.open(given.file, known=fitted.labels_) as (events,),
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=given.unknown, progress=advance)

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
        }

    left_out = (
        "Events of labels that the model does not know count as none of the targets; what is said of the "
        "next event leaves them out."
    )
    is_partial = given.unknown == "ignore" and found.top_1 is not None
    return Document(data, [found.summary(), *([left_out] if is_partial else [])])


# ---------------------------------------------------------------------- a model itself

_FIGURES = (".pdf", ".svg", ".png")
_TEXTS = {".dot": "to_dot", ".gv": "to_dot", ".graphml": "to_graphml"}


def show(given: Any) -> Document:
    """A model on the terminal."""
    fitted = load_model(given.model, "JointSuMM", *(() if given.target else ("OutcomeModel",)))
    parts = learned(fitted, given.target, every=given.all, by=given.by)
    data = partial(document, fitted, given.target)
    return Document(data, parts, more="--all prints all", is_short=not given.all)


def export(given: Any) -> Document:
    """A model as a figure, a graph file or a table."""
    out, kind = given.out, suffix_of(given.out)
    known = ", ".join([*_FIGURES, *_TEXTS, ".csv", ".parquet"])
    check_output(out, given.model, endings=f"one of {known}", safe_csv=given.safe_csv)
    if kind in _FIGURES:
        from summarkov.show.figures import require

        require()
    fitted = load_model(given.model, "JointSuMM")
    if is_joint(fitted) and given.target is not None:
        raise SettingError("a joint model is drawn and written as a whole; leave out --target")
    one, label = choose(fitted, given.target)
    if kind in _FIGURES:
        from summarkov import plot

        whole = plot.forest if given.forest else plot.graph
        axes = whole(fitted) if one is None else plot.states(one, label=label)
        with saving(out):
            plot.save(axes, out)
        return saved(f"Saved {shown(out)}")
    if kind in _TEXTS and one is not None:
        raise SettingError(f"{kind} holds a graph; a model of its own has a figure, or a table (.csv)")
    if kind in _TEXTS:
        write_text(out, getattr(fitted, _TEXTS[kind])())
    else:
        frame = (fitted.edges_ if one is None else one.influences_).to_frame("pyarrow")
        write_rows([dict(zip(frame.column_names, frame.columns, strict=True))], out, safe_csv=given.safe_csv)
    return saved(f"Saved {shown(out)}")


def report(given: Any) -> Document:
    """A model as one page."""
    output = given.output
    check_output(output, given.model, given.events, given.passages)
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    reading, more = Reading(given).as_learned(fitted.layout_), {}
    if is_outcome(fitted):
        if given.passages is not None:
            raise SettingError("the page of an outcome has no passages; leave out --passages")
        if fitted.outcome is not None:
            reading = reading.with_attribute(fitted.outcome)
    elif given.passages is not None:
        from summarkov.text import read_text_events

        more["passages"] = read_text_events(given.passages)
    events = None if given.events is None else reading.read(given.events, known=fitted.labels_)
    with progress(f"Writing {shown(output)}"), saving(output):
        fitted.to_html(output, events=events, title=given.title, sequences=given.sequences, **more)
    words = f"Saved the page as {shown(output)}; open it in a browser"
    return saved(words, saved=shown(output), bytes=output.stat().st_size)
