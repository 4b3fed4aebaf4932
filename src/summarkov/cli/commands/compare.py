"""``summarkov compare`` and ``sensitivity``: other models on the same events, and other settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from summarkov.cli.commands.learn import refuse_nothing_to_learn
from summarkov.cli.files import check_result_file, going_on, save_result
from summarkov.cli.options import (
    EventsFile,
    EventsPath,
    Jobs,
    Json,
    make_template,
    option,
    read_option,
    several,
)
from summarkov.cli.printing import (
    Page,
    bar,
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
from summarkov.cli.reading import Opening, Reading
from summarkov.errors import SettingError
from summarkov.wording import plural, visible

if TYPE_CHECKING:
    from summarkov.comparison import Comparison
    from summarkov.models import Stability, StabilityRow


#: Longer names are cut, so that the table fits 80 columns.
_LONGEST_NAME = 14


def compare(
    file: EventsPath,
    parts: list[Path] | None = typer.Argument(
        None, metavar="[DEV TEST]", help="Two more of these, if the data is split already."
    ),
    model: list[str] | None = option(
        "NAME",
        "A model to compare; may be repeated. bsumm, bsumm-auto, osumm, csumm, also with a "
        "look-back, bsumm-5 or bsumm-6h; tree, tree-average, "
        "chain-0 to chain-4; vom, ctw, kneser-ney; joint, joint-boosted; lr-presence-K, "
        "lr-counts-K, lr-onehot-K, lr-relaxed-K with K = 3, 5, 10; boosting; or all. "
        "Default: chain-0, chain-1, chain-2, bsumm, osumm. Where events happened together, or there are "
        "attributes: chain-0, bsumm, osumm.",
        "--model -m",
    ),
    target: list[str] | None = option("LABEL", "Average over these labels only; repeatable.", "--target -t"),
    splits: int = option("N", "Split the file at random N times.", default=1),
    seed: int = option("N", "Seed of the first split.", default=0),
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
    from summarkov.comparison import DEFAULT, NAMES
    from summarkov.comparison import compare as run
    from summarkov.comparison.tuning import lineup

    names = list(NAMES) if model and "all" in model else model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_result_file(output_file, file, *(parts or ()))
    asked: dict[str, Any] = {"models": names, "targets": target, "seed": seed, "n_jobs": jobs}
    opening = opening.for_models(*(getattr(each, "template", None) for each in lineup(names or ())))
    with (
        opening.open_several([file, *(parts or ())], jobs) as data,
        going_on(output_file) as checkpoint,
        progress("Comparing", splits * len(names or DEFAULT), "models") as advance,
    ):
        asked["progress"] = lambda done, total, what: advance(done, total)
        result = run(*data, **asked, splits=splits, checkpoint=checkpoint)
    console = results()
    if json:
        print_json(result.to_dict())
    else:
        _print_comparison(console, result)
    if output_file is not None:
        save_result(output_file, result)
        if not json:
            console.print()
            console.print_line(f"Saved {shown(output_file)}")


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
    table = _table(width, ["Brier", "Calibration error", "Influencers", "Seconds"])
    for line in result.lines:
        table.add_row(
            label(line.name, width),
            f"{line.brier:.4f}",
            f"{result.calibration_error(line.name):.4f}",
            "" if line.n_influencers is None else f"{line.n_influencers:.1f}",
            f"{line.seconds:.1f}",
        )
    console.print(table)
    console.print()
    about_next = ""
    if any(line.top_1 is not None for line in result.lines):
        _print_next_event(console, result, width)
        about_next = (
            " For the next event the probabilities of all labels are divided by their sum; of equally likely "
            "ones the first by name counts."
        )
    console.print(
        f"Log-likelihood of the test {result.unit}s, mean over the target labels; log loss and Brier per "
        f"{result.unit} and label. * worse than the best: the interval, from resampling the test sequences, "
        f"lies below 0. The others this data cannot tell apart.{about_next}",
        width=console.page_width,
    )
    if chosen := result.settings:
        console.print()
        console.print("Settings that were best on dev for all labels together:")
        for name, words in chosen.items():
            console.print(visible(f"{name}: {words}"), width=console.page_width)
    for each in result.windows:
        if each.differs:
            console.print()
            console.print(visible(str(each)), width=console.page_width)


def _print_next_event(console: Page, result: Comparison, width: int) -> None:
    table = _table(width, ["Log loss of the next event", "Top 1", "Top 3"])
    for line in result.lines:
        if line.top_1 is not None and line.top_3 is not None:
            loss = "" if line.next_event_log_loss is None else f"{line.next_event_log_loss:.4f}"
            table.add_row(label(line.name, width), loss, f"{line.top_1:.1%}", f"{line.top_3:.1%}")
    console.print(table)
    console.print()


def _table(width: int, headings: Sequence[str]) -> Table:
    model = Column("Model", no_wrap=True, min_width=width)
    return new_table(model, *(f">{heading}" for heading in headings))


def _signed(difference: float) -> str:
    return f"{difference:+,.2f}" if abs(difference) < 10_000 else f"{difference:+,.0f}"


#: The kinds of models that have both settings.
_MODELS = ("bsumm", "osumm", "csumm")
_LABEL = 30
_NAMES = {"lookback": "Look-back", "gamma": "Gamma"}


def sensitivity(
    file: EventsFile,
    target: list[str] | None = option(
        "LABEL",
        "Learn what influences this label; repeat for several. Without it: every label.",
        "--target -t",
    ),
    gamma: str = option("G,G,...", "Penalties for complexity to try.", default="0.1,0.5,1"),
    lookback: str = option(
        "N,N,...",
        "Look-backs to try: events, or times as 6h; none: the whole past.",
        "--lookback -k",
        default="1,5,10",
    ),
    model: str = option("KIND", "bsumm, osumm or csumm.", "--model -m", default="bsumm"),
    alpha: float | None = option("A", "Pseudo-count of each outcome. Default 0.1."),
    search: str | None = option("greedy|sweep|exact", "The search. Default greedy."),
    jobs: Jobs = None,
    reading: Reading = Reading(),
    json: Json = False,
) -> None:
    """Learn with every combination of some settings, and see which influences stay."""
    from summarkov.models import InfluenceGraph
    from summarkov.models import sensitivity as run

    template = make_template(model, {"alpha": alpha, "search": search}, _MODELS)
    gammas = read_option(
        "gamma", gamma, lambda text: [*map(float, text.split(","))], "numbers such as 0.1,0.5,1"
    )
    lookbacks = read_option(
        "lookback", lookback, several, "numbers or times such as 1,5,10 or 6h,1d, or none"
    )
    events = reading.for_models(*(template.copy(lookback=k) for k in lookbacks)).read(file)
    refuse_nothing_to_learn(events, file)
    what: Any = InfluenceGraph(template, targets=target, n_jobs=jobs)
    total = len(set(target or events.labels)) * len(gammas) * len(lookbacks)
    with progress("Learning", total, "models") as advance:
        found = run(what, events, gamma=gammas, lookback=lookbacks, progress=advance)
    print_result(json, found.to_dict(), _print_stability, found)


def _print_stability(console: Page, found: Stability) -> None:
    edges = found.edges
    tried = " x ".join(
        f"{_NAMES[name].lower()} {', '.join(_value(value) for value in values)}"
        for name, values in found.paths.items()
    )
    console.print(
        f"{plural(len(edges), 'influence')} in {plural(len(found.settings), 'setting')}", style="bold"
    )
    console.print(tried, style="dim")
    console.print()
    plain = console.is_plain
    targets = list(dict.fromkeys(row.target for row in found.rows))
    names = [f"  {name}" for name in ("none", *(edge.influencer for edge in edges))]
    width = min(_LABEL, widest([*names, *map(str, targets)]))
    first, bars = Column("Label", no_wrap=True, width=width), Column("", no_wrap=True, width=10)
    table = new_table(first, ">Found in", bars, *(_NAMES[name] for name in found.paths))
    for target in targets:
        table.add_row(label(str(target), width, "bold"), *([""] * (2 + len(found.paths))))
        for edge in edges:
            if edge.target == target:
                table.add_row(
                    Text(f"  {shorten(edge.influencer, width - 2)}"),
                    f"{round(edge.share * len(found.settings))} of {len(found.settings)}",
                    bar(edge.share, 10, plain=plain),
                    *(found.words(edge, name) for name in found.paths),
                )
        if not any(edge.target == target for edge in edges):
            table.add_row(Text("  none", style="dim"), *([""] * (2 + len(found.paths))))
    console.print(table)
    if len(targets) == 1:
        console.print()
        _print_rows(console, found.rows)
    stable = sum(edge.share == 1 for edge in edges)
    console.print()
    console.print(
        f"{plural(stable, 'influence')} found in every setting. Look-back and gamma: with which values it is "
        "found, whatever the other is.",
        width=console.page_width,
    )


def _print_rows(console: Page, rows: tuple[StabilityRow, ...]) -> None:
    """Every setting of one target; scores of one gamma can be compared."""
    table = new_table(*(f">{_NAMES[name]}" for name in rows[0].settings), ">Score", Column("Influencers"))
    for row in rows:
        names = " + ".join(shorten(z, _LABEL) for z in row.influencers) or "none"
        table.add_row(*(_value(value) for value in row.settings.values()), f"{row.score:,.1f}", Text(names))
    console.print(table)


def _value(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else f"{value:g}"
