"""A graph or a model of outcomes, for people to read: the surest influences first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from summarkov.cli.printing import Page, first_of, label, new_table, shorten, widest
from summarkov.cli.printing.documents import labels_words, positions_words, settings_words
from summarkov.cli.printing.influences import (
    print_certificate,
    print_certificates,
    print_reading,
    print_settings,
    print_surest,
    print_uninfluenced,
)
from summarkov.wording import factor, number, percent, plural

if TYPE_CHECKING:
    from summarkov.confidence import Confidence, OrderTest
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, OutcomeModel
    from summarkov.models.open_cases import OpenPredictions


def print_graph(console: Page, graph: InfluenceGraph, *, most: int | None = None) -> None:
    """Print a graph, the surest influences first; of very many only those, if ``most`` is given."""
    from summarkov.explain.sentences import headline

    models = graph.models_
    first = next(iter(models.values()))
    edges = graph.edges_
    by_label = first.fitted.summary.by_label
    what = f"{headline(edges)} among " if by_label else ""
    console.print(
        f"{what}{labels_words(graph.labels_, first.fitted.layout.attributes)}, learned from "
        f"{plural(first.fitted.n_sequences, 'case')} with {positions_words(first.fitted)}",
        style="bold",
    )
    print_settings(console, first)
    if not by_label:
        console.print()
        print_contexts(console, graph)
        return
    shown = print_surest(console, edges, models, most)
    _print_uninfluenced(console, graph)
    print_reading(console, shown, models)
    _print_narrow(console, [edge for edge in shown if edge.is_narrow and not edge.set_aside])
    if graph.order_ is not None:
        _print_order(console, shown, graph.order_)
    if graph.confidence_ is not None:
        print_confidence(console, graph.confidence_)
    print_certificates(console, graph)


def _print_narrow(console: Page, edges: Sequence[Influence]) -> None:
    """Name edges that may look stronger than they are, with ratios that allow for that."""
    from summarkov.explain.verdicts import corrected

    if not edges:
        return
    named = [f"'{shorten(e.influencer, 24)}' on '{shorten(e.target, 24)}' {corrected(e)}" for e in edges]
    console.print(
        "\nBarely selected, so these may look stronger than they are. Selection-adjusted rate ratios: "
        f"{console.signs(first_of(named, 5, '; ', '; and '))}."
    )


def print_contexts(console: Page, graph: InfluenceGraph) -> None:
    """Print, for models that look at the past as a whole, after what each label is most likely."""
    width = min(max(12, (console.page_width - 45) // 2), max(10, widest(list(graph.models_))))
    table = new_table("Label", ">Usually", "Most likely after", ">Then", "Change", ">Seen")
    for x, model in graph.models_.items():
        best = max(model.table_, key=lambda row: row.intervals[0][0])  # at least so likely
        usual, then = model.base_rates_[0], best.probabilities[0]
        change = console.signs(factor(then / usual)) if usual > 0 else ""
        after = label(best.words, console.page_width - width - 45)
        table.add_row(label(x, width, "bold"), percent(usual), after, percent(then), change, number(best.n))
    console.print(table)
    console.print("\nEvery state of a label: summarkov show MODEL --target LABEL", style="dim")


def _print_order(console: Page, edges: Sequence[Influence], found: OrderTest) -> None:
    """Say what the order test did, and of which edges it shows more than the parts of the table."""
    from summarkov.explain.verdicts import SCALES, reversed_words

    if all(edge.order is None for edge in edges):
        return
    console.print(f"\nOrder test: {found.n} shuffles of every case {_where(found.within)}.")
    passing = [edge for edge in edges if not edge.set_aside]
    slow = [_arrow(edge) for edge in passing if edge.order_scale == "slow change"]
    if slow:
        words = f"Depends on order {SCALES['slow change']}: {first_of(slow, 10, '; ', '; and ')}."
        console.print(console.signs(words))
    for edge in edges:
        if edge.is_turned and edge.effect != "mixed" and not edge.faint:
            console.print(console.signs(f"{_arrow(edge)} is {reversed_words(edge)}."))


def _arrow(edge: Influence) -> str:
    return f"{shorten(edge.influencer, 30)} → {shorten(edge.target, 30)}"


def _where(within: int | str | None) -> str:
    """Inside of what the events of sequences changed places.

    >>> _where(20), _where("7d")
    ('within 20 positions', 'within 7d')
    """
    if within is None:
        return "inside"
    if isinstance(within, int):
        return f"within {within} positions"
    return f"within {shorten(within, 30)}"


def print_confidence(console: Page, sure: Confidence) -> None:
    """Say what the shares mean, and which edges most graphs have but this one."""
    console.print(
        f"\nSure: how many of {plural(sure.n, 'graph')} have the edge, each learned from "
        f"{sure.n_units:,} {sure.units} drawn with replacement. The interval ({sure.level:.0%}) is "
        "that of the edge, or wider where those graphs spread more."
    )
    missing = sorted(sure.missing(), key=lambda edge: -edge.frequency)
    if missing:
        names = [
            f"'{shorten(edge.influencer, 24)}' to '{shorten(edge.target, 24)}' ({edge.frequency:.0%})"
            for edge in missing
        ]
        console.print(f"Not in this graph, but in most of those: {first_of(names, 5)}", style="dim")


def _print_uninfluenced(console: Page, graph: InfluenceGraph) -> None:
    """Name the labels that nothing influences, beside the attributes that are given to all."""
    given = tuple(f"{column}=" for column in graph.model.get_params(deep=False).get("given", ()))
    labels = [x for x, found in graph.influencers_.items() if all(z.startswith(given) for z in found)]
    print_uninfluenced(console, labels, " but what is given" if given else "")


class Sure(NamedTuple):
    """How sure the influences on an outcome are: what was asked for of that."""

    order: OrderTest | None = None
    confidence: Confidence | None = None

    def columns(self, edges: Sequence[Influence]) -> dict[str, list[str]]:
        """What each says of every influence, to stand beside it."""
        told = {}
        if self.order is not None:
            orders = {edge.influencer: edge.order for edge in self.order.edges}
            told["Order"] = [orders.get(edge.influencer, "") for edge in edges]
        if self.confidence is not None:
            often = {edge.influencer: f"{edge.frequency:.0%}" for edge in self.confidence.edges}
            told["Sure"] = [often.get(edge.influencer, "") for edge in edges]
        return told

    def sentences(self) -> Iterator[str]:
        """What the columns mean."""
        if self.order is not None:
            yield f"Order: against {plural(self.order.n, 'shuffle')} of every sequence inside."
        if self.confidence is not None:
            models = plural(self.confidence.n, "model")
            yield f"Sure: how many of {models} learned from resampled sequences have it."


#: Nothing was asked for.
UNASKED = Sure()


def print_open(console: Page, found: OpenPredictions) -> None:
    """The probabilities of open cases, and from which cases they are."""
    console.print(str(found.summary()))


def notices(model: OutcomeModel) -> list[str]:
    """What to know before reading on, in words of the command line."""
    from summarkov.models.outcome_edges import notice

    return [notice(edge, is_option=True) for edge in model.determining_]


def print_outcome(console: Page, model: OutcomeModel, sure: Sure = UNASKED) -> None:
    """How often it came about, what changes that, and how often it did in each state."""
    from summarkov.models.outcome_edges import case_columns, case_sentence, window_words

    n_cases = plural(model.model_.fitted.n_sequences, "case")
    moment = "" if model.after is None else _moment(model)
    console.print(f"{model.name_}: {percent(model.base_rate_)} of {n_cases}{moment}", style="bold")
    for reason, n in model.left_out_.items():
        console.print(f"Left out: {plural(n, 'case')}, {reason}")
    if model.after is not None:
        console.print(f"Of all cases whose outcome is known: {percent(model.overall_rate_)}")
    console.print(settings_words(model.model_))
    for sentence in notices(model):
        console.print(f"Notice: {sentence}.")
    console.print()
    edges = model.influences_
    if edges:
        told = {name[:1].upper() + name[1:]: cells for name, cells in case_columns(edges).items()}
        columns = {**told, **sure.columns(edges)}
        left = console.page_width - sum(2 + widest([name, *each]) for name, each in columns.items())
        if left < 12:  # the first sentence below, and --json, have them too
            left += 2 + widest(["Cases with it", *columns.pop("Cases with it")])
        left_aligned = ("Effect", *sure.columns(edges))
        table = new_table("Influencer", *(name if name in left_aligned else f">{name}" for name in columns))
        for at, edge in enumerate(edges):
            table.add_row(label(edge.influencer, max(12, left)), *(cells[at] for cells in columns.values()))
        console.print(table)
        console.print(case_sentence(edges[0], window_words(model.model_.fitted, edges[0].influencer)))
        words = ("Rate ratio: how many times as likely with it, other influencers equal.", *sure.sentences())
        if model.after is None:
            words += (
                "Whole cases are compared: an influencer may also come after. --after N asks what was known.",
            )
        console.print(" ".join(words))
    else:
        console.print("No event and no attribute was found to change it; a weak influence may be missed.")
    console.print()
    console.print(str(model.states_sheet()))
    print_certificate(console, model.model_)


def _moment(model: OutcomeModel) -> str:
    """Which cases are asked about, for people."""
    thing = "tick" if model.layout_.together else "event"
    yet = " and had not reached it" if any("reached" in reason for reason in model.left_out_) else ""
    if isinstance(model.after, int):
        return f" that had at least {plural(model.after, thing)}{yet}, from what is known then"
    return f" that lasted at least {model.after}{yet}, from what is known then"
