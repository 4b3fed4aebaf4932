"""``summarkov evaluate`` and ``compare``: how well models predict events that they have not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from summarkov.cli.files import check_result_file, going_on, known_labels, load_model, save_result
from summarkov.cli.options import EventsPath, Jobs, Json, ModelFile, Unknown, flag, option
from summarkov.cli.printing import Page, label, new_table, print_json, progress, results, shown, widest
from summarkov.cli.reading import Opening
from summarkov.errors import SettingError
from summarkov.wording import number, plural, visible

if TYPE_CHECKING:
    from summarkov.evaluation import Comparison, LearningCurve
    from summarkov.models.measures import Evaluation, Figures


def evaluate(
    model: ModelFile,
    file: EventsPath,
    unknown: Unknown = "error",
    opening: Opening = Opening(),
    json: Json = False,
) -> None:
    """Measure how well a model predicts events, best some that it was not learned from."""
    fitted = load_model(model, "JointSuMM")
    opening = opening.as_learned(fitted.layout_)
    with (
        opening.open(file, fitted.labels_) as events,
        known_labels(),
        progress("Evaluating", len(fitted.labels_), "labels") as advance,
    ):
        found = fitted.evaluate(events, unknown=unknown, progress=advance)
    if json:
        print_json(
            {
                "sequences": found.n_sequences,
                "events": found.n_events,
                "ticks": found.n_ticks,
                "targets": [{"target": list(x), **vars(each)} for x, each in found.targets.items()],
                "next_event": None if found.next_event is None else vars(found.next_event),
            }
        )
    else:
        console = results()
        ticks = "" if found.n_ticks is None else f"{plural(found.n_ticks, 'tick')} of "
        told = f"{plural(found.n_sequences, 'sequence')} with {ticks}{plural(found.n_events, 'event')}"
        console.print(told, style="bold")
        _print_figures(console, found)


def _print_figures(console: Page, found: Evaluation) -> None:
    console.print()
    names = [" + ".join(x) for x in found.targets]
    width = min(max(12, console.page_width - 56), max(widest(names), 10))
    target = Column("Target", no_wrap=True, min_width=width)
    table = new_table(target, ">Log-likelihood", ">Log loss", ">Base rate", ">Gain", ">Brier")
    for name, each in zip(names, found.targets.values(), strict=True):
        table.add_row(label(name, width), *_cells(each))
    if found.next_event is not None:
        table.add_row("")
        table.add_row(Text("next event", style="bold"), *_cells(found.next_event))
    console.print(table)
    console.print()
    console.print(
        f"Log loss per {found.unit}, in nats: smaller is better. Base rate: the log loss of never "
        "looking at the past; gain: how much of it the model saves."
    )


def _cells(each: Figures) -> list[Any]:
    return [
        f"{each.log_likelihood:,.2f}",
        f"{each.log_loss:.4f}",
        f"{each.base_rate_log_loss:.4f}",
        Text(f"{100 * each.gain:.1f}%", style="green" if each.gain > 0 else "red"),
        f"{each.brier_score:.4f}",
    ]


#: Longer names are cut, so that the table fits 80 columns.
_LONGEST_NAME = 14


def compare(
    file: EventsPath,
    parts: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DEV TEST]", help="Two more of these, if the data is split already."),
    ] = None,
    model: list[str] | None = option(
        "NAME",
        "A model to compare; may be repeated. bsumm, bsumm-auto, osumm, csumm, also with a "
        "look-back, bsumm-5 or bsumm-6h; tree, tree-average, "
        "tree-bag; chain-0 to chain-4; vom, ctw, kneser-ney; joint, joint-boosted; lr-presence-K, "
        "lr-counts-K, lr-onehot-K, lr-relaxed-K with K = 3, 5, 10; boosting; or all. "
        "Default: chain-0, chain-1, chain-2, bsumm, osumm. Where events happened together, or there are "
        "attributes: chain-0, bsumm, osumm.",
        "--model -m",
    ),
    target: list[str] | None = option("LABEL", "Average over these labels only; repeatable.", "--target -t"),
    splits: int = option("N", "Split the file at random N times.", default=1),
    seed: int = option("N", "Seed of the first split.", default=0),
    learning_curve: bool = flag(
        "--learning-curve",
        "Fit every model to an eighth, a quarter, half and all of the training sequences: which is "
        "best with how many, and what more of them would bring.",
    ),
    output_file: Path | None = option(
        "FILE",
        "Save everything as .json, or the table as .md. An interrupted run goes on where it stopped "
        "when it is started again.",
        "--output -o",
    ),
    jobs: Jobs = 1,
    opening: Opening = Opening(),
    json: Json = False,
) -> None:
    """Tune several models on one part of the data and see which predicts another part best."""
    from summarkov.evaluation import DEFAULT, NAMES, Comparison
    from summarkov.evaluation import compare as run
    from summarkov.evaluation import learning_curve as run_curve
    from summarkov.evaluation.learning_curve import SHARES
    from summarkov.evaluation.lineup import lineup

    names = list(NAMES) if model and "all" in model else model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_result_file(output_file, file, *(parts or ()))
    if learning_curve and splits != 1:
        raise SettingError("--learning-curve is about one split; leave out --splits")
    asked: dict[str, Any] = {"models": names, "targets": target, "seed": seed, "n_jobs": jobs}
    result: Comparison | LearningCurve
    opening = opening.for_models(*(getattr(each, "template", None) for each in lineup(names or ())))
    with opening.open_several([file, *(parts or ())], jobs) as data:
        times = len(SHARES) if learning_curve else splits
        with (
            nullcontext() if learning_curve else going_on(output_file) as checkpoint,
            progress("Comparing", times * len(names or DEFAULT), "models") as advance,
        ):
            asked["progress"] = lambda done, total, what: advance(done, total)
            if learning_curve:
                result = run_curve(*data, **asked)
            else:
                result = run(*data, **asked, splits=splits, checkpoint=checkpoint)
    console = results()
    if json:
        print_json(result.to_dict())
    elif isinstance(result, Comparison):
        _print_comparison(console, result)
    else:
        _print_curve(console, result)
    if output_file is not None:
        save_result(output_file, result)
        if not json:
            if not learning_curve:
                console.print()
            console.print_line(f"Saved {shown(output_file)}")


def _print_curve(console: Page, curve: LearningCurve) -> None:
    console.print(f"Log loss per {curve.unit} by the number of training sequences; * the best", style="bold")
    console.print()
    width = min(_LONGEST_NAME, max(8, widest(curve.names)))
    table = _table(width, [number(n) for n, _ in curve.sizes])
    for name, *losses in curve.rows():
        table.add_row(label(name, width), *losses)
    console.print(table)
    console.print()
    for sentence in curve.sentences():
        console.print(sentence, width=console.page_width)


def _print_comparison(console: Page, result: Comparison) -> None:
    n_targets = max(len(tuned.chosen) for tuned in result.results[0])
    where = "" if len(result.n_test) == 1 else f" in {plural(len(result.n_test), 'split')}"
    tested = f"Tested on {plural(sum(result.n_test), result.unit)}{where}"
    console.print(f"{tested}, {plural(n_targets, 'target')}; best first", style="bold")
    console.print()
    width = min(_LONGEST_NAME, max(8, widest([line.name for line in result.lines])))
    table = _table(width, ["Log-likelihood", "To the best", "95% interval  ", "Log loss"])
    for line in result.lines:
        low, high = line.interval
        interval = f"{_signed(low)} to {_signed(high)}" if math.isfinite(high - low) else ""
        if line.verdict == "refuted":
            interval = "ruled out what happened"
        table.add_row(
            label(line.name, width, style="bold" if line.verdict in ("best", "no difference") else ""),
            f"{line.log_likelihood:,.2f}",
            "" if line.verdict in ("best", "refuted") else _signed(line.difference),
            "best  " if line.verdict == "best" else f"{interval} {'*' if line.verdict == 'worse' else ' '}",
            f"{line.log_loss:.4f}",
        )
    console.print(table)
    console.print()
    accuracy = any(line.top_1 is not None for line in result.lines)
    headings = ["Brier", "Calibration error", *(["Top 1", "Top 3"] if accuracy else []), "Influencers"]
    table = _table(width, [*headings, "Seconds"])
    for line in result.lines:
        shares = ["" if share is None else f"{share:.1%}" for share in (line.top_1, line.top_3)]
        table.add_row(
            label(line.name, width),
            f"{line.brier:.4f}",
            f"{result.calibration_error(line.name):.4f}",
            *(shares if accuracy else []),
            "" if line.n_influencers is None else f"{line.n_influencers:.1f}",
            f"{line.seconds:.1f}",
        )
    console.print(table)
    console.print()
    per = "; log loss and Brier per tick" if result.unit == "tick" else ""
    console.print(
        f"Log-likelihood of the test {result.unit}s, mean over the target labels{per}. * worse than the "
        "best: the interval, from resampling the test sequences, lies below 0. The others this data cannot "
        "tell apart.",
        width=console.page_width,
    )
    for each in result.windows:
        if each.differs:
            console.print()
            console.print(visible(str(each)), width=console.page_width)


def _table(width: int, headings: Sequence[str]) -> Table:
    model = Column("Model", no_wrap=True, min_width=width)
    return new_table(model, *(f">{heading}" for heading in headings))


def _signed(difference: float) -> str:
    return f"{difference:+,.2f}" if abs(difference) < 10_000 else f"{difference:+,.0f}"
