"""``summarkov predict`` and ``evaluate``: probabilities of events, and how good they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Column
from rich.text import Text

from summarkov.arrow import pa
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
from summarkov.cli.options import EventsPath, Json, ModelFile, SafeCsv, Unknown, option
from summarkov.cli.printing import (
    Page,
    label,
    new_table,
    print_json,
    print_result,
    progress,
    results,
    shorten,
    shown,
    widest,
)
from summarkov.cli.printing.documents import is_a
from summarkov.cli.printing.graph import print_open
from summarkov.cli.printing.history import print_after
from summarkov.cli.reading import Opening
from summarkov.cli.sets import Calibrated, Promise
from summarkov.errors import DataError, SettingError, nearest
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences
    from summarkov.io.write import Rows
    from summarkov.models import OutcomeModel
    from summarkov.models.evaluating import Evaluation, Figures
    from summarkov.models.open_cases import OpenPredictions


#: Rows to show where they are not saved.
_PREVIEW = 10


def predict(
    model: ModelFile,
    file: Path | None = typer.Argument(
        None, metavar="FILE", help="Events, as for 'summarkov learn'; folders too."
    ),
    after: list[str] | None = option(
        "LABEL",
        "Instead of a file: what comes next after this label; repeat for a longer history, oldest first.",
        "--after -a",
    ),
    target: str | None = option(
        "LABEL", "With --after or --why: this label alone, why, and what would be different.", "--target -t"
    ),
    why: str | None = option(
        "CASE", "What comes next in this case of FILE, and why: with its times, ticks and attributes."
    ),
    output: Path | None = option("FILE", "Save as .csv, .jsonl or .parquet.", "--output -o"),
    safe_csv: SafeCsv = False,
    unknown: Unknown = "error",
    promise: Promise = Promise(),
    opening: Opening = Opening(),
    json: Json = False,
) -> None:
    """Give every label its probability, before each event of a file or after a history.

    One row per event: sequence, position, event, and a column p(label) for each
    label of the model, worked out from the events before it. With a graph over
    all labels every row sums to 1, unless events happen together: then there is
    one row per tick, and each label has a probability of its own. Of an outcome,
    one row per sequence: its probability from what has happened so far, from
    cases that were open after as many events; cases already there are marked.
    """
    from summarkov.events.rows import recoded
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.predictor import column_names

    if (file is None) == (not after):
        raise SettingError("name a FILE of events, or a history with --after LABEL, and not both")
    if safe_csv and file is not None:
        refuse_unless_csv(output)
    if file is None or why is not None:
        if output is not None:
            name = "--after" if file is None else "--why"
            raise SettingError(f"{name} prints its result; leave out --output")
        fitted = load_model(model, "JointSuMM", "OutcomeModel")
        past: Any = after or []
        if file is not None and why is not None:
            past = one_case(opening.as_learned(fitted.layout_).read(file, fitted.labels_), why)
        elif fitted.layout_.attributes or fitted.layout_.time is not None:
            raise SettingError(
                "the model was learned with attributes or times, which --after cannot tell; give a FILE and "
                "--why CASE instead"
            )
        print_after(fitted, past, target, unknown, json, promise.calibrate(fitted, opening, unknown))
        return
    if target is not None:
        raise SettingError("--target goes with --after or --why; for a whole file leave it out")
    if output is not None:
        table_format(output)
        check_output(output, model, file, opening.map, promise.sets)
    fitted = load_model(model, "JointSuMM", "OutcomeModel")
    opening = opening.as_learned(fitted.layout_)
    sets = promise.calibrate(fitted, opening, unknown)
    give = partial(_give, output=output, safe_csv=safe_csv, json=json, sets=sets)
    if is_a(fitted, "OutcomeModel"):
        with known_labels():
            told = fitted.predictions(opening.read(file, fitted.labels_), unknown=unknown)
        rows = _open_cases(fitted, told)
        give([rows], list(rows), lambda console: print_open(console, told))
        return
    is_streamed = opening.streams(file)
    if is_streamed and output is None:
        raise SettingError("one row per event would be too many to print; save them with -o FILE")
    with opening.open(file, fitted.labels_, names=is_streamed) as opened, known_labels():
        events: Any = opened
        if not is_streamed:  # before anything is written
            recoded(events, fitted.labels_, check_unknown(unknown))
        columns = ["sequence", "position", "event", *column_names(fitted.outcomes_)]
        parts: Iterable[Rows] = predictions(fitted, events, unknown)
        if sets is not None:
            columns.append("set")
            parts = sets.with_sets(parts, as_text=output is not None and table_format(output) == "csv")
        give(parts, columns, lambda console: _print_preview(console, fitted, events, unknown, sets))


def one_case(events: EventSequences, name: str) -> EventSequences:
    """The events of one sequence, by its name."""
    if name not in events.ids:
        raise DataError(
            f"there is no case {name!r}, and --why names one of the file{nearest(name, events.ids)}"
        )
    return events[events.ids.index(name)]


def _open_cases(fitted: OutcomeModel, told: OpenPredictions) -> Rows:
    """One row per sequence: the probability of the outcome, from what has happened in it so far."""
    ids = [told.ids[sequence] for sequence in told.sequences.tolist()]
    p = pa.array(told.probabilities[:, 0], pa.float64())
    more = {"after": told.after, "already_reached": pa.array(told.already_reached)}
    return {"sequence": ids, "position": told.positions, f"p({fitted.name_})": p, **more}


def _give(
    parts: Iterable[Rows],
    columns: list[str],
    show: Callable[[Page], None],
    *,
    output: Path | None,
    safe_csv: bool,
    json: bool,
    sets: Calibrated | None,
) -> None:
    """Save rows, or print them as JSON, or show what people want to see of them."""
    promised = {} if sets is None else {"sets": sets.document()}
    if output is not None:
        with saving(output):
            n_rows = write_rows(parts, output, safe_csv=safe_csv)
        if json:
            print_json({"saved": shown(output), "rows": n_rows, "columns": columns, **promised})
            return
        results().print_line(f"Saved {plural(n_rows, 'row')} as {shown(output)}")
    elif json:
        print_json({"rows": [row for part in parts for row in plain_rows(part)], **promised})
        return
    else:
        show(results())
    if sets is not None:
        sets.print_promise(results())


def _label_of(column: str) -> str:
    return "(any other)" if column == "p_other" else column[2:-1]


def predictions(fitted: Any, events: EventSequences | EventSource, unknown: str) -> Iterator[dict[str, Any]]:
    """The rows, some of them at a time."""
    from summarkov.events.vocabulary import check_unknown
    from summarkov.models.distribution import prediction_rows

    done = 0
    with progress("Predicting", events.n_events, "events") as advance:
        for columns in prediction_rows(fitted.fitted, events, check_unknown(unknown)):
            yield columns
            done += len(columns["position"])
            advance(done, events.n_events)


def _print_preview(
    console: Page, fitted: Any, events: EventSequences, unknown: str, sets: Calibrated | None
) -> None:
    """The first rows: what happened, how likely it was, and what was most likely, or the set."""
    from summarkov.cli.files import plain_rows
    from summarkov.events.rows import cut_between_sequences
    from summarkov.models.predictor import column_names

    few = next(cut_between_sequences(events, 1, cells=_PREVIEW))
    parts: Iterable[Rows] = predictions(fitted, few, unknown)
    parts = parts if sets is None else sets.with_sets(parts, as_text=True)
    rows = [row for part in parts for row in plain_rows(part)][:_PREVIEW]
    names = column_names(fitted.outcomes_)
    width = min((console.page_width - 47) // 2, max(11, widest([row["event"] for row in rows])))
    few_columns = len(names) <= 3 and sets is None
    told = [">Probability", "Set"] if sets is not None else [">Probability", "Most likely", ">"]
    told = [f">{shorten(name, width)}" for name in names] if few_columns else told
    table = new_table("Sequence", ">Position", "Event", *told)
    for row in rows:
        cells: list[Any] = [label(row["sequence"], 10), number(row["position"]), label(row["event"], width)]
        if few_columns:
            cells += [percent(row[name]) for name in names]
        else:
            own = row.get(f"p({row['event']})", row.get("p_other"))
            best = max(names, key=lambda name: row[name])
            cells.append("" if own is None else percent(own))
            if sets is None:
                cells += [label(_label_of(best), width), percent(row[best])]
            else:
                cells.append(label(row["set"], console.page_width - width - 43))
        table.add_row(*cells)
    console.print(table)
    left = events.n_ticks - len(rows)
    if left > 0:
        console.print(f"... and {plural(left, 'row')} more; -o FILE saves all", style="dim")
    if not few_columns and events.moments is not None and events.moments.has_ticks:
        console.print("Probability: that of the event; none is shown of several together.")
    if not rows:
        console.print("There are no events.", style="dim")


def evaluate(
    model: ModelFile,
    file: EventsPath,
    unknown: Unknown = "error",
    promise: Promise = Promise(),
    calibration: Path | None = option(
        "FILE", "Draw how often what was predicted occurred, as .pdf, .svg or .png."
    ),
    opening: Opening = Opening(),
    json: Json = False,
) -> None:
    """Measure how well a model predicts events, best some that it was not learned from."""
    if calibration is not None:
        from summarkov.plot.canvas import require

        check_output(calibration, model, file, endings=".pdf, .svg or .png")
        require()
    fitted = load_model(model, "JointSuMM")
    opening = opening.as_learned(fitted.layout_)
    sets = promise.calibrate(fitted, opening, unknown)
    if sets is not None and opening.streams(file):
        raise SettingError("--sets measures events in memory, and these are streamed; add --engine memory")
    with (
        opening.open(file, fitted.labels_) as events,
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=unknown, progress=advance)
        held = {} if sets is None else sets.measured(events, unknown)
    if calibration is not None:
        from summarkov import plot

        with saving(calibration):
            plot.save(plot.calibration(found), calibration)
    document = {
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
    print_result(json, document, _print_figures, found, calibration, unknown)
    if sets is not None and not json:
        sets.print_measured(results(), **held)


def _print_figures(console: Page, found: Evaluation, calibration: Path | None, unknown: str) -> None:
    ticks = "" if found.n_ticks is None else f"{plural(found.n_ticks, 'tick')} of "
    told = f"{plural(found.n_sequences, 'sequence')} with {ticks}{plural(found.n_events, 'event')}"
    console.print(told, style="bold")
    console.print()
    names = [" + ".join(x) for x in found.targets]
    width = min(max(12, console.page_width - 56), max(widest(names), 10))
    target = Column("Target", no_wrap=True, min_width=width)
    table = new_table(target, ">Log-likelihood", ">Log loss", ">Base rate", ">Gain", ">Brier")
    for name, each in zip(names, found.targets.values(), strict=True):
        table.add_row(label(name, width), *_cells(each))
    if found.next_event is not None:
        table.add_row("")
        told = "next event" if found.top_1 is not None else "these, or any other"
        table.add_row(Text(told, style="bold"), *_cells(found.next_event))
    console.print(table)
    console.print()
    console.print(
        f"Log loss per {found.unit}, in nats: smaller is better. Base rate: the log loss of never "
        "looking at the past; gain: how much of it the model saves."
    )
    if found.accuracy_words:
        console.print(found.accuracy_words)
    if unknown == "ignore" and found.top_1 is not None:
        console.print(
            "Events of labels that the model does not know count as none of the targets; what is told of the "
            "next event leaves them out."
        )
    if calibration is not None:
        console.print_line(f"Saved the calibration as {shown(calibration)}")


def _cells(each: Figures) -> list[Any]:
    return [
        f"{each.log_likelihood:,.2f}",
        f"{each.log_loss:.4f}",
        f"{each.base_rate_log_loss:.4f}",
        Text(f"{100 * each.gain:.1f}%", style="green" if each.gain > 0 else "red"),
        f"{each.brier_score:.4f}",
    ]
