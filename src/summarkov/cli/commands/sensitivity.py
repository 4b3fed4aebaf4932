"""``summarkov sensitivity``: which influences stay, whatever the settings are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Column
from rich.text import Text

from summarkov.cli.commands.learn import refuse_nothing_to_learn
from summarkov.cli.options import EventsFile, Jobs, Json, make_template, option, read_option, several
from summarkov.cli.printing import Page, bar, label, new_table, print_json, progress, results, shorten, widest
from summarkov.cli.reading import Reading
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.models import Stability, StabilityRow

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
    template = make_template(model, {"alpha": alpha, "search": search}, _MODELS)
    gammas = read_option(
        "gamma", gamma, lambda text: [*map(float, text.split(","))], "numbers such as 0.1,0.5,1"
    )
    lookbacks = read_option(
        "lookback", lookback, several, "numbers or times such as 1,5,10 or 6h,1d, or none"
    )
    events = reading.for_models(*(template.copy(lookback=k) for k in lookbacks)).read(file)
    refuse_nothing_to_learn(events, file)
    from summarkov.models import InfluenceGraph
    from summarkov.models import sensitivity as run

    what: Any = InfluenceGraph(template, targets=target, n_jobs=jobs)
    total = len(set(target or events.labels)) * len(gammas) * len(lookbacks)
    with progress("Learning", total, "models") as advance:
        found = run(what, events, gamma=gammas, lookback=lookbacks, progress=advance)
    if json:
        print_json(found.to_dict())
    else:
        _print(results(), found)


def _print(console: Page, found: Stability) -> None:
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
