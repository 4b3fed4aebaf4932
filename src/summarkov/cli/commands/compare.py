"""``summarkov compare``: which model predicts best, on anyone's data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from summarkov.cli.files import check_result_file, going_on, save_result
from summarkov.cli.options.reading import PLAIN_OPENING, Opening
from summarkov.cli.options.shared import EventsPath, Jobs, Json, flag, option, takes_options
from summarkov.cli.printing.console import (
    label,
    new_table,
    output,
    page_width,
    print_json,
    print_line,
    shown,
    widest,
)
from summarkov.cli.printing.console import progress as progress_bar
from summarkov.errors import SettingError
from summarkov.wording import number, plural, visible

if TYPE_CHECKING:
    from summarkov.evaluation import Comparison, LearningCurve

#: Longer names are cut, so that the table fits 80 columns.
_LONGEST_NAME = 14


@takes_options
def compare(
    file: EventsPath,
    parts: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DEV TEST]", help="Two more of these, if the data is split already."),
    ] = None,
    model: Annotated[
        list[str] | None,
        option(
            "NAME",
            "A model to compare; may be repeated. bsumm, bsumm-auto, osumm, csumm, also with a "
            "look-back, bsumm-5 or bsumm-6h; tree, tree-average, "
            "tree-bag; chain-0 to chain-4; vom, ctw, kneser-ney; joint, joint-boosted; lr-presence-K, "
            "lr-counts-K, lr-onehot-K, lr-relaxed-K with K = 3, 5, 10; boosting; or all. "
            "Default: chain-0, chain-1, chain-2, bsumm, osumm. Where events happened together, or there are "
            "attributes: chain-0, bsumm, osumm.",
            "--model -m",
        ),
    ] = None,
    target: Annotated[
        list[str] | None, option("LABEL", "Average over these labels only; repeatable.", "--target -t")
    ] = None,
    splits: Annotated[int, option("N", "Split the file at random N times.")] = 1,
    seed: Annotated[int, option("N", "Seed of the first split.")] = 0,
    learning_curve: Annotated[
        bool,
        flag(
            "--learning-curve",
            "Fit every model to an eighth, a quarter, half and all of the training sequences: which is "
            "best with how many, and what more of them would bring.",
        ),
    ] = False,
    output_file: Annotated[
        Path | None,
        option(
            "FILE",
            "Save everything as .json, or the table as .md. An interrupted run goes on where it stopped "
            "when it is started again.",
            "--output -o",
        ),
    ] = None,
    jobs: Jobs = 1,
    opening: Opening = PLAIN_OPENING,
    json: Json = False,
) -> None:
    """Tune several models on one part of the data and see which predicts another part best."""
    from summarkov.evaluation import DEFAULT, NAMES, Comparison
    from summarkov.evaluation import compare as run
    from summarkov.evaluation import learning_curve as run_curve
    from summarkov.evaluation.learning_curve import SHARES

    names = list(NAMES) if model and "all" in model else model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_result_file(output_file, file, *(parts or ()))
    if learning_curve and splits != 1:
        raise SettingError("--learning-curve is about one split; leave out --splits")
    asked: dict[str, Any] = {"models": names, "targets": target, "seed": seed, "n_jobs": jobs}
    result: Comparison | LearningCurve
    with opening.open_several([file, *(parts or ())], jobs) as data:
        times = len(SHARES) if learning_curve else splits
        with (
            nullcontext() if learning_curve else going_on(output_file) as checkpoint,
            progress_bar("Comparing", times * len(names or DEFAULT), "models") as advance,
        ):
            asked["progress"] = lambda done, total, what: advance(done, total)
            if learning_curve:
                result = run_curve(*data, **asked)
            else:
                result = run(*data, **asked, splits=splits, checkpoint=checkpoint)
    console = output()
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
            print_line(console, f"Saved {shown(output_file)}")


def _print_curve(console: Console, curve: LearningCurve) -> None:
    console.print(f"Log loss per {curve.unit} by the number of training sequences; * the best", style="bold")
    console.print()
    width = min(_LONGEST_NAME, max(8, widest(curve.names)))
    table = _table(width, [number(n) for n, _ in curve.sizes])
    for name, *losses in curve.rows():
        table.add_row(label(name, width), *losses)
    console.print(table)
    console.print()
    for sentence in curve.sentences():
        console.print(sentence, width=page_width(console))


def _print_comparison(console: Console, result: Comparison) -> None:
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
        width=page_width(console),
    )
    for each in result.windows:
        if each.differs:
            console.print()
            console.print(visible(str(each)), width=page_width(console))


def _table(width: int, headings: Sequence[str]) -> Table:
    model = Column("Model", no_wrap=True, min_width=width)
    return new_table(model, *(f">{heading}" for heading in headings))


def _signed(difference: float) -> str:
    return f"{difference:+,.2f}" if abs(difference) < 10_000 else f"{difference:+,.0f}"
