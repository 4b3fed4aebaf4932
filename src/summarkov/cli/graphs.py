"""Who influences whom, for people to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from summarkov.cli.certificates import print_certificates
from summarkov.cli.text import label, new_table, page_width, shorten, widest
from summarkov.cli.windows import place_of, settings_words, window_words
from summarkov.wording import factor, number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.confidence import Confidence, OrderTest
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, SummaryModel

_SIGNS = {"amplifies": "+", "inhibits": "-", "mixed": "~", "unclear": "?"}
_STYLES = {"amplifies": "green", "inhibits": "red", "mixed": "magenta", "unclear": "dim"}
#: What the sign before an edge and the arrow between its names take at most.
_JOINTS = 6
#: The least that the two names take.
_NAMES = 20


def print_graph(console: Console, graph: InfluenceGraph, *, most: int | None = None) -> None:
    """Print a graph, the surest influences first; of very many only those, if ``most`` is given."""
    models = graph.models_
    first = next(iter(models.values()))
    edges = graph.edges_
    shown = edges[:most]
    by_label = first.fitted.summary.by_label
    what = f"{plural(len(edges), 'influence')} among " if by_label else ""
    console.print(
        Text(
            f"{what}{plural(len(graph.labels_), 'label')}, learned from "
            f"{plural(first.fitted.n_sequences, 'sequence')} with {plural(first.fitted.n_events, 'event')}",
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
        print_influences(console, shown, models)
    if len(shown) < len(edges):
        console.print(f"... and {len(edges) - len(shown)} less sure ones, which 'summarkov show' prints too")
    _print_uninfluenced(console, [x for x, found in graph.influencers_.items() if not found])
    print_reading(console, shown, models)
    _print_narrow(console, [edge for edge in shown if edge.is_narrow])
    if graph.order_ is not None:
        _print_order(console, shown, graph.order_)
    if graph.confidence_ is not None:
        print_confidence(console, graph.confidence_)
    print_certificates(console, graph)


#: Why edges are printed apart, and what is said of them.
_FAINT = {
    "competition only": "Competition only: no more than the room that other labels take",
    "company only": "Company only: shuffled sequences show these too",
    "thin evidence": "Thin evidence: fewer than 10 hits, or fewer than 5 sequences",
}


def print_settings(console: Console, model: SummaryModel) -> None:
    """Print what made a model."""
    console.print(Text(settings_words(model), style="dim"))


def label_counts(model: SummaryModel) -> dict[str, float]:
    """How often each label occurred in the data that a model was learned from."""
    fitted = model.fitted
    return dict(zip(fitted.labels, (fitted.label_counts / fitted.scale).tolist(), strict=True))


def print_influences(
    console: Console, edges: Sequence[Influence], models: Mapping[str, SummaryModel]
) -> None:
    """Print influences in their order, those of a label on itself and faint ones apart."""
    parts: dict[str, list[int]] = {"": [], "Labels on themselves": [], **{why: [] for why in _FAINT.values()}}
    for at, edge in enumerate(edges):
        parts[_FAINT[edge.faint] if edge.faint else "Labels on themselves" if edge.is_self else ""].append(at)
    columns = _columns(console, edges, models)
    widths = _names_width(page_width(console) - _beside(columns) - _JOINTS, edges)
    for title, some in parts.items():
        if some:
            if title:
                console.print(Text(f"\n{title}", style="dim"))
            _print_part(console, edges, some, columns, widths)
    for edge in edges:
        if edge.effect == "mixed":
            names = f"{shorten(edge.influencer, 30)} on {shorten(edge.target, 30)}"
            how = edge.depends or "more beside some of the other influencers, less beside others"
            console.print(Text(f"~ {names}: {visible(how)}", style=_STYLES["mixed"]))


def _columns(
    console: Console, edges: Sequence[Influence], models: Mapping[str, SummaryModel]
) -> dict[str, list[str]]:
    """What stands beside the names, as much of it as fits."""
    from summarkov.explain.sentences import change, limits, order_word, times

    columns = {}
    if any(e.target in models and place_of(models[e.target], e.influencer) for e in edges):
        # each has a look-back of its own
        reach = [models[e.target].fitted.reach(e.influencer)[1] for e in edges]
        columns["Back"] = ["all" if k is None else str(k) for k in reach]
    columns |= {
        "Without → with": [change(e) for e in edges],
        "Factor": [times(e) or e.effect for e in edges],
        "95% interval": [limits(e) for e in edges],
        "Seqs": ["" if e.sequences is None else number(e.sequences) for e in edges],
    }
    if all(e.sequences is None for e in edges):
        del columns["Seqs"]
    if any(e.order is not None for e in edges):
        columns["Order"] = [order_word(e) for e in edges]
    if any(e.frequency is not None for e in edges):
        columns["Sure"] = ["" if e.frequency is None else f"{e.frequency:.0%}" for e in edges]
    for name in ("Seqs", "Order", "Without → with", "95% interval", "Sure"):  # which go for want of room
        if _beside(columns) + _NAMES + _JOINTS > page_width(console):
            columns.pop(name, None)
    return {signs(console, name): [signs(console, each) for each in cells] for name, cells in columns.items()}


def _beside(columns: Mapping[str, Sequence[str]]) -> int:
    """How many cells the columns beside the names take."""
    return sum(2 + widest([name, *cells]) for name, cells in columns.items())


def _names_width(room: int, edges: Sequence[Influence]) -> tuple[int, int]:
    """How wide the influencers and the targets are shown, if there is so much room for both."""
    first = widest([e.influencer for e in edges])
    second = widest([e.target for e in edges])
    if first + second <= room:
        return first, second
    half = room // 2
    if first <= half:
        return first, room - first
    return (room - second, second) if second <= room - half else (half, room - half)


def _print_part(
    console: Console,
    edges: Sequence[Influence],
    which: Sequence[int],
    columns: Mapping[str, Sequence[str]],
    names_width: tuple[int, int],
) -> None:
    """Print some of the edges; columns are as wide as those of all need, so that parts stand in line."""
    table = new_table()
    table.add_column(signs(console, "Influencer → target"), no_wrap=True, width=sum(names_width) + _JOINTS)
    for name, cells in columns.items():
        left = name in ("95% interval", "Factor", "Order")
        table.add_column(
            name, no_wrap=True, width=widest([name, *cells]), justify="left" if left else "right"
        )
    for at in which:
        edge = edges[at]
        style = "dim" if edge.faint else _STYLES[edge.effect]
        names = Text.assemble(
            (f"{_SIGNS[edge.effect]} ", style),
            shorten(edge.influencer, names_width[0]),
            signs(console, " → "),
            shorten(edge.target, names_width[1]),
            no_wrap=True,
        )
        table.add_row(names, *(Text(cells[at], style=style) for cells in columns.values()))
    console.print(table)


def print_reading(console: Console, edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> None:
    """Say in words what the surest of the influences means, and what none of them means."""
    from summarkov.explain.sentences import sentence

    if not edges or edges[0].effect not in ("amplifies", "inhibits"):
        return
    edge = edges[0]
    influencer, target = (f"'{shorten(name, 30)}'" for name in (edge.influencer, edge.target))
    model = models[edge.target]
    read = sentence(edge, influencer, target, window_words(model, edge.influencer))
    back = "Back: how many events back it is looked for. " if place_of(model, edge.influencer) else ""
    console.print(
        Text(
            f"\nRead: {signs(console, read[0].lower() + read[1:])} {back}"
            "Seqs: sequences in which the target followed. The order is by the limit of the interval that "
            "is nearer to 1. Influence here is statistical: no proof of cause."
        )
    )


def _print_narrow(console: Console, edges: Sequence[Influence]) -> None:
    """Name edges that may look stronger than they are, with ratios that allow for that."""
    from summarkov.explain.sentences import corrected

    if not edges:
        return
    told = [f"'{shorten(e.influencer, 24)}' on '{shorten(e.target, 24)}' {corrected(e)}" for e in edges[:5]]
    more = f"; and {len(edges) - 5} more" if len(edges) > 5 else ""
    console.print(
        Text(
            "\nSelected narrowly, and of such edges those that look strong by chance are found most. "
            f"Allowing for that: {signs(console, '; '.join(told))}{more}."
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
        change = signs(console, factor(then / usual)) if usual > 0 else ""
        after = label(best.words, page_width(console) - width - 45)
        table.add_row(label(x, width, "bold"), percent(usual), after, percent(then), change, number(best.n))
    console.print(table)
    console.print(Text("\nEvery state of a label: summarkov show MODEL --target LABEL", style="dim"))


def _print_order(console: Console, edges: Sequence[Influence], found: OrderTest) -> None:
    """Say what the words of the column mean that occur in it."""
    from summarkov.explain.sentences import ORDER_WORDS, order_word

    if not edges:
        return
    used = {order_word(edge) for edge in edges}
    words = "; ".join(f"{word}, {meaning}" for word, meaning in ORDER_WORDS.items() if word in used)
    where = "inside" if found.within is None else f"within {found.within} positions"
    console.print(Text(f"\nOrder, from {found.n} shuffles of every sequence {where}: {words}."))


def print_confidence(console: Console, sure: Confidence) -> None:
    """Say what the shares mean, and which edges most graphs have but this one."""
    console.print(
        Text(
            f"\nSure: how many of {plural(sure.n, 'graph')} have the edge, each learned from "
            f"{sure.n_units:,} {sure.units} drawn with replacement. The interval ({sure.level:.0%}) is "
            "wider than from counts where those graphs spread more.",
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


def is_plain(console: Console) -> bool:
    """Whether the terminal may have no block characters, nor other signs beyond ASCII."""
    return console.options.ascii_only


def signs(console: Console, text: str) -> str:
    """Text with signs that the terminal has."""
    return text.replace("→", "->").replace("×", "x") if is_plain(console) else text


def _print_uninfluenced(console: Console, labels: Sequence[str]) -> None:
    if not labels:
        return
    names = ", ".join(shorten(x, 30) for x in labels[:10])
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    console.print(Text(f"\nInfluenced by none: {names}{more}", style="dim"))
