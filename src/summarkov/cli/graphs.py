"""Who influences whom, for people to read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from summarkov.cli.certificates import print_certificates
from summarkov.cli.text import (
    bar,
    clean,
    factor,
    label,
    new_table,
    number,
    page_width,
    percent,
    plural,
    shorten,
    widest,
)
from summarkov.cli.windows import place_of, settings_words, window_words

if TYPE_CHECKING:
    from summarkov.confidence import Confidence
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, SummaryModel

_SIGNS = {"amplifies": "+", "inhibits": "-", "mixed": "~", "unclear": "?"}
_STYLES = {"amplifies": "green", "inhibits": "red", "mixed": "magenta", "unclear": "dim"}
#: What the columns beside labels and bars take: effect, strength, observations, and the space between.
_BESIDE = 9 + 8 + 15 + 4 * 2
#: What the interval and the share of graphs that have an edge take instead of a bar.
_SURE = 14 + 2 + 4


def print_graph(console: Console, graph: InfluenceGraph, *, most: int | None = None) -> None:
    """Print a graph, target by target; of very many influences only the strongest, if ``most`` is given."""
    models = graph.models_
    first = next(iter(models.values()))
    edges = graph.edges_
    shown = _strongest(edges, most)
    n, counts = first.fitted.n_events, label_counts(first)
    by_label = first.fitted.summary.by_label
    what = f"{plural(len(edges), 'influence')} among " if by_label else ""
    console.print(
        Text(
            f"{what}{plural(len(graph.labels_), 'label')}, learned from "
            f"{plural(first.fitted.n_sequences, 'sequence')} with {plural(n, 'event')}",
            style="bold",
        )
    )
    print_settings(console, first)
    if not by_label:
        console.print()
        print_contexts(console, graph)
        return
    if shown:
        console.print()
        print_influences(console, shown, counts, models)
    if len(shown) < len(edges):
        console.print(f"... and {len(edges) - len(shown)} weaker ones, which 'summarkov show' prints too")
    _print_uninfluenced(console, [x for x, found in graph.influencers_.items() if not found])
    print_reading(console, shown, models)
    if graph.confidence_ is not None:
        print_confidence(console, graph.confidence_)
    print_certificates(console, graph)


def print_settings(console: Console, model: SummaryModel) -> None:
    """Print what made a model."""
    console.print(Text(settings_words(model), style="dim"))


def label_counts(model: SummaryModel) -> dict[str, float]:
    """How often each label occurred in the data that a model was learned from."""
    fitted = model.fitted
    return dict(zip(fitted.labels, (fitted.label_counts / fitted.scale).tolist(), strict=True))


def print_influences(
    console: Console,
    edges: Sequence[Influence],
    counts: Mapping[str, float],
    models: Mapping[str, SummaryModel],
) -> None:
    """Print influences under their targets: effect, strength, and on how many observations it rests."""
    n_events = next(iter(models.values())).fitted.n_events
    where = {edge: place_of(models[edge.target], edge.influencer) for edge in edges}
    known = any(edge.frequency is not None for edge in edges)
    bars = 10 if page_width(console) >= 72 and not known else 0
    room = max(12, page_width(console) - _BESIDE - (_SURE if known else bars))
    width = min(
        room, max(widest([e.influencer + where[e] for e in edges]) + 4, widest([e.target for e in edges]))
    )
    table = new_table()
    table.add_column("Label", no_wrap=True, width=width)
    table.add_column("", no_wrap=True, width=9)
    table.add_column("Strength", no_wrap=True)
    table.add_column("Interval" if known else "", no_wrap=True, width=None if known else bars)
    if known:
        table.add_column("Sure", justify="right", no_wrap=True)
    table.add_column("Observations", justify="right", no_wrap=True)
    strongest = max((abs(e.strength) for e in edges), default=0.0) or 1.0
    target = None
    for edge in edges:
        if edge.target != target:
            target = edge.target
            seen = f"{percent(counts[target] / n_events)} of events"
            table.add_row(label(target, width, "bold"), "", "", "", *[""] * known, Text(seen, style="dim"))
        style = _STYLES[edge.effect]
        sure = edge.effect != "unclear"
        table.add_row(
            Text.assemble(
                (f"  {_SIGNS[edge.effect]} ", style),
                shorten(edge.influencer, width - 4 - len(where[edge])),
                (where[edge], "dim"),
            ),
            Text(edge.effect, style=style),
            factor(_ratio(edge)) if sure else "",
            *(
                [_interval(edge), "" if edge.frequency is None else f"{edge.frequency:.0%}"]
                if known
                else [Text(bar(abs(edge.strength) / strongest, bars, plain=is_plain(console)), style=style)]
            ),
            number(edge.n_with),
        )
    console.print(table)
    for edge in edges:
        if edge.depends:
            names = f"{shorten(edge.influencer, 30)} on {shorten(edge.target, 30)}"
            console.print(Text(f"~ {names}: {clean(edge.depends)}", style=_STYLES["mixed"]))


def print_reading(console: Console, edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> None:
    """Say in words what one of the influences means, and what none of them means."""
    clear = [e for e in edges if e.effect in ("amplifies", "inhibits")]
    if not clear:
        return
    # the one that is easiest to believe: strong, and often seen
    edge = max(clear, key=lambda e: (e.effect == "amplifies", abs(e.strength) * math.sqrt(e.n_with)))
    console.print()
    console.print(
        Text(
            f"Read: with '{shorten(edge.influencer, 30)}' "
            f"{window_words(models[edge.target], edge.influencer)}, "
            f"'{shorten(edge.target, 30)}' is {factor(_ratio(edge))[1:]} times as likely as without; "
            f"observed {plural(edge.n_with, 'time')}. "
            "Influence here is statistical: no proof of cause.",
        )
    )


def print_contexts(console: Console, graph: InfluenceGraph) -> None:
    """Print, for models that look at the past as a whole, after what each label is most likely."""
    width = min(max(12, (page_width(console) - 45) // 2), max(10, widest(list(graph.models_))))
    table = new_table()
    table.add_column("Label", no_wrap=True)
    table.add_column("Usually", justify="right", no_wrap=True)
    table.add_column("Most likely after", no_wrap=True)
    table.add_column("Then", justify="right", no_wrap=True)
    table.add_column("Change", no_wrap=True)
    table.add_column("Seen", justify="right", no_wrap=True)
    for x, model in graph.models_.items():
        best = max(model.table_, key=lambda row: row.intervals[0][0])  # at least so likely
        usual, then = model.base_rates_[0], best.probabilities[0]
        change = factor(then / usual) if usual > 0 else ""
        after = label(best.words, page_width(console) - width - 45)
        table.add_row(label(x, width, "bold"), percent(usual), after, percent(then), change, number(best.n))
    console.print(table)
    console.print(Text("\nEvery state of a label: summarkov show MODEL --target LABEL", style="dim"))


def print_confidence(console: Console, sure: Confidence) -> None:
    """Say what the shares mean, and which edges most graphs have but this one."""
    console.print(
        Text(
            f"\nSure: how many of {plural(sure.n, 'graph')} have the edge, each learned from "
            f"{sure.n_units:,} {sure.units} drawn with replacement. Interval: {sure.level:.0%}, "
            "of the strength.",
        )
    )
    missing = sorted(sure.missing(), key=lambda edge: -edge.frequency)
    if missing:
        names = [
            f"'{shorten(edge.influencer, 24)}' to '{shorten(edge.target, 24)}' ({edge.frequency:.0%})"
            for edge in missing[:5]
        ]
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        console.print(Text(f"Not in this graph, but in most of those: {', '.join(names)}{more}", style="dim"))


def _interval(edge: Influence) -> str:
    """The interval of a strength, as factors."""
    if edge.low is None or edge.high is None or math.isnan(edge.low):
        return ""
    return f"{factor(math.exp(min(edge.low, 700.0)))} to {factor(math.exp(min(edge.high, 700.0)))}"


def is_plain(console: Console) -> bool:
    """Whether the terminal may have no block characters."""
    return console.options.ascii_only


def _ratio(edge: Influence) -> float:
    return math.exp(min(edge.strength, 700.0))


def _strongest(edges: Sequence[Influence], most: int | None) -> Sequence[Influence]:
    if most is None or len(edges) <= most:
        return edges
    kept = sorted(range(len(edges)), key=lambda i: -abs(edges[i].strength))[:most]
    return [edges[i] for i in sorted(kept)]


def _print_uninfluenced(console: Console, labels: Sequence[str]) -> None:
    if not labels:
        return
    names = ", ".join(shorten(x, 30) for x in labels[:10])
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    console.print(Text(f"\nInfluenced by none: {names}{more}", style="dim"))
