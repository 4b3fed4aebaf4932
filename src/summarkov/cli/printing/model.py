"""Whatever was learned, for people to read; one model and a joint model in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.table import Column
from rich.text import Text

from summarkov.cli.printing import Page, first_of, label, new_table, shorten, widest
from summarkov.cli.printing.documents import choose, is_a, labels_words, moments_words, settings_words
from summarkov.cli.printing.graph import print_graph, print_outcome
from summarkov.cli.printing.influences import (
    FOLLOWS,
    place_of,
    print_certificate,
    print_influences,
    print_reading,
    print_settings,
    print_surest,
    print_uninfluenced,
    state_words,
)
from summarkov.wording import factor, interval, number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.explain import Pattern
    from summarkov.explain.explanation import SharedExplanation
    from summarkov.models import JointSuMM, SummaryModel
    from summarkov.summaries import TreeSummary

#: What the columns beside the state take: seen, counts, probability, interval, and the space between.
_BESIDE = 9 + 8 + 11 + 16 + 4 * 1
_LABEL = 32
#: What the mark beside a number of observations means.
HARDLY = "* hardly seen: fewer than 10 times, or less than the prior counts for"
_DONE = {"add": "added", "remove": "removed", "change": "changed"}


def print_fitted(
    console: Page,
    fitted: Any,
    target: str | None = None,
    *,
    rows: int | None = 40,
    edges: int | None = None,
) -> None:
    """Print whatever was learned; of a graph the model of one label, if that is named.

    ``rows`` limits the states of one model, ``edges`` the influences of a graph or joint model; None: all.
    """
    if is_a(fitted, "OutcomeModel"):
        print_outcome(console, fitted)
    else:
        one, only = choose(fitted, target)
        if one is not None:
            print_model(console, one, only=only, most=rows)
        elif is_a(fitted, "JointSuMM"):
            print_joint(console, fitted, target=only, most=edges)
        else:
            print_graph(console, fitted, most=edges)


def print_model(
    console: Page, model: SummaryModel, *, only: str | None = None, most: int | None = 40
) -> None:
    """Print a model. ``only`` names one label of a target of several; ``most`` limits the rows."""
    fitted = model.fitted
    chosen = [x for x in model.target_ if only in (None, x)]
    rates = dict(zip(model.target_, model.base_rates_, strict=False))
    _print_heading(console, model, chosen, rates)
    print_settings(console, model)
    console.print()
    edges = [e for e in model.influences_ if e.target in chosen]
    if edges:
        models = dict.fromkeys(chosen, model)
        print_influences(console, edges, models)
        print_reading(console, edges, models)
        _print_patterns(console, [pattern for pattern in model.patterns_ if pattern.target in chosen])
        console.print()
    elif fitted.summary.by_label:
        console.print("No event type was found to influence it.\n")
    if fitted.nodes is not None:
        print_tree(console, model, chosen, most)
        console.print()
    _print_states(console, model, chosen, most)
    if fitted.nodes is None:  # a tree was drawn
        _print_trace(console, model)
    print_certificate(console, model)


def _print_patterns(console: Page, patterns: Sequence[Pattern]) -> None:
    """How the influencers work together, where that has a name."""
    for each in patterns:
        ends = ("with all", "with none") if each.kind == "together" else ("then", "otherwise")
        shares = percent(each.probability), percent(each.otherwise)
        console.print(
            f"Pattern ({each.kind}): '{shorten(each.target, _LABEL)}' with {visible(each.words)}; {ends[0]} "
            f"the next event at {shares[0]} of moments, {ends[1]} at {shares[1]}."
        )


def _print_heading(
    console: Page, model: SummaryModel, chosen: Sequence[str], rates: dict[str, float]
) -> None:
    names = first_of([shorten(x, _LABEL) for x in chosen], 6, " + ", " + ")
    share = percent(sum(rates[x] for x in chosen))
    console.print(
        Text.assemble(
            (names, "bold"),
            f": the next event at {share} of {moments_words(model.fitted)} in "
            f"{plural(model.fitted.n_sequences, 'case')}",
        )
    )


def _print_states(console: Page, model: SummaryModel, chosen: Sequence[str], most: int | None) -> None:
    """The table: one row per state, or for a target of several labels one row per state and label."""
    rows = list(model.table_)
    states = len(rows) if most is None else max(1, most // len(chosen))
    if len(rows) > states:
        rows = sorted(rows, key=lambda row: -row.n)[:states]
    joint = len(model.target_) > 1
    next_width = widest(chosen, 14) if joint else 0
    count_width = 8 if joint else max(8, min(12, widest(chosen)))
    width = max(12, console.page_width - _BESIDE - (next_width + 1 if joint else count_width - 8))
    beside = ("Next", ">Count") if joint else (f">{shorten(chosen[0], count_width)}",)
    state = Column(_state_heading(model), width=width)
    table = new_table(state, ">Seen", *beside, ">Probability", ">95% interval", gap=1)
    at = [model.target_.index(x) for x in chosen]
    for row in rows:
        cells = [
            [number(row.counts[i]) for i in at],
            [percent(row.probabilities[i]) for i in at],
            [interval(*row.intervals[i]) if row.n else "never seen" for i in at],
        ]
        if joint:
            cells.insert(0, [shorten(x, next_width) for x in chosen])
        words = state_text(model, row.state, row.words, width)
        mark = "" if row.seen == "often" else "*"
        table.add_row(Text(words), mark + number(row.n), *(Text("\n".join(cell)) for cell in cells))
    console.print(table)
    if any(row.seen != "often" for row in rows):
        console.print(HARDLY, style="dim")
    left = len(model.table_) - len(rows)
    if left:
        console.print(f"... and {plural(left, 'state')} seen less often; --rows 0 prints all", style="dim")


def _state_heading(model: SummaryModel) -> str:
    if model.fitted.nodes is not None:
        return "Rule"
    return state_words(model)


def state_text(model: SummaryModel, state: Any, words: str, width: int = _LABEL) -> str:
    """A state in words, its labels shortened: the influencers that are there, not those that are not."""
    if model.fitted.nodes is not None:
        return visible(words)  # a rule must be whole
    listed = model.fitted.summary.listed(state, lambda z: _named(model, z, width - 6))
    if listed is None:
        return shorten(words, 3 * width)
    if not model.influencers_:
        return "any history"
    if listed:
        return listed
    only = len(model.influencers_) == 1
    return f"no {_named(model, model.influencers_[0], width - 5)}" if only else "none of them"


def _named(model: SummaryModel, influencer: str, width: int) -> str:
    """An influencer, shortened, and where it is looked for."""
    where = place_of(model, influencer)
    return shorten(influencer, max(8, width - len(where))) + where


def _print_trace(console: Page, model: SummaryModel) -> None:
    """How the search went."""
    if not model.trace_:
        return
    console.print()
    settings = model.get_params(deep=False)
    console.print(f"How they were found ({settings['search']} search, {settings['criterion']}):")
    width = min(_LABEL, widest([step.label for step in model.trace_]))
    own = any(hasattr(step, "lookback") for step in model.trace_)
    table = new_table("Step", "Label", ">Gain", ">Score", *([">Look-back"] if own else []))
    for i, step in enumerate(model.trace_, start=1):
        k = "" if step.label in model.layout_.attributes else getattr(step, "lookback", None)
        cells = [f"{step.gain:,.1f}", f"{step.score:,.1f}", "ever" if k is None else str(k)]
        table.add_row(f"{i}. {_DONE[step.action]}", label(step.label, width), *cells[: 3 if own else 2])
    console.print(table)


#: How many labels to tell at a leaf of a target of several, the most likely first.
_MOST_LABELS = 2


def print_tree(console: Page, model: SummaryModel, chosen: Sequence[str], most: int | None) -> None:
    """Draw a tree: the question at every node, and what follows at every leaf; ``most`` leaves at most.

    In an average over prunings, it is told how likely a node is split if the tree reaches it.
    """
    tree = cast("TreeSummary", model.fitted.summary)
    width, splits = console.page_width, getattr(model.fitted, "splits", None)
    fork, last, down = ("|- ", "`- ", "|  ") if console.is_plain else ("├─ ", "└─ ", "│  ")
    lines: list[Text] = []
    drawn = 0
    waiting = [(0, "", "")]  # a node, what stands before it, and what stands before those below it
    while waiting and (most is None or drawn < most):
        row, before, below = waiting.pop()
        test = tree.nodes[row]
        if test is None:
            text, style = _leaf(model, drawn, chosen), ""
            drawn += 1
        else:
            text, style = f"{test.words(True, model.labels_)}?", "bold"
            if splits is not None:
                text = f"{shorten(text, max(12, width - len(before) - 15))} (asked: {percent(splits[row])})"
            yes, no = tree.branches[row].tolist()
            waiting += [(no, f"{below}{last}no: ", f"{below}   "), (yes, f"{below}{fork}yes: ", below + down)]
        room = max(12, width - len(before))
        lines.append(Text.assemble(before, (shorten(text, room), style), no_wrap=True, overflow="ignore"))
    for line in lines:
        console.print(line)
    if drawn < len(tree.leaves):
        left = plural(len(tree.leaves) - drawn, "leaf").replace("leafs", "leaves")
        console.print(f"... and {left} more; --rows 0 draws all", style="dim")


def _leaf(model: SummaryModel, leaf: int, chosen: Sequence[str]) -> str:
    """How likely the target is, and how often the leaf was seen."""
    fitted = model.fitted
    n = number(float(fitted.counts[leaf].sum()))
    if len(model.target_) == 1:
        return f"{percent(float(fitted.theta[leaf, 0]))} (n={n})"
    each = sorted(((float(fitted.theta[leaf, model.target_.index(x)]), x) for x in chosen), reverse=True)
    words = ", ".join(f"{shorten(x, 16)} {percent(p)}" for p, x in each[:_MOST_LABELS])
    return f"{words} (n={n})"


#: The most labels that may come next, to print, and the most factors of each.
_MOST_NEXT, _MOST_FACTORS = 20, 3
#: How wide the columns between a label and its factors are.
_NUMBERS = 24
#: What the probabilities of all labels may miss to 1.
_ROUNDING = 1e-6


def print_joint(
    console: Page, model: JointSuMM, *, target: str | None = None, most: int | None = None
) -> None:
    """Print a joint model, the surest influences first; of one target, what each influencer does when."""
    from summarkov.explain.sentences import headline

    fitted = model.fitted
    edges = [edge for edge in model.edges_ if target in (None, edge.target)]
    console.print(
        f"{headline(edges)} {_of(target, fitted.labels)}, learned from "
        f"{plural(fitted.n_sequences, 'case')} with {plural(fitted.n_events, 'event')}",
        style="bold",
    )
    console.print(settings_words(model), style="dim")
    print_surest(console, edges, {}, most)
    print_uninfluenced(
        console, [x for x, found in model.influencers_.items() if not found and target in (None, x)]
    )
    if target is not None and model.influencers_[target]:
        _print_recency(console, model, target)
    alone = ", by the weights alone" if len(fitted.trees) or fitted.last is not None else ""
    over = "all labels" if model.targets is None else "the targets, and any other label as one"
    follows = f" {FOLLOWS}" if any(edge.follow_rate is not None for edge in edges) else ""
    console.print(
        f"\nOne distribution over {over}.{follows} Odds ratio: against any other event type, with the "
        f"influencer among the last {model.lookback} events, all else equal{alone}; a penalty draws it to 1. "
        "Influence is statistical: no proof of cause."
    )


def _of(target: str | None, labels: Sequence[str]) -> str:
    return f"among {labels_words(labels, ())}" if target is None else f"on '{shorten(target, 30)}'"


def _print_recency(console: Page, model: JointSuMM, target: str) -> None:
    """The factor of each influencer by how long ago it occurred, and what the likelihood loses without it."""
    recency, gains = model.recency_[target], model.gains_[target]
    lags = next(iter(recency.values()))
    console.print(
        "\nFactor by how many events ago it occurred, once in a past of at least 20 events", style="dim"
    )
    table = new_table("Influencer", *(f">{lag}" for lag in lags), ">Gain")
    width = max(12, console.page_width - 8 * len(lags) - 10)
    for z, gain in gains.items():
        cells = (console.signs(factor(each)) for each in recency[z].values())
        table.add_row(label(z, min(width, max(10, widest(list(gains))))), *cells, f"{gain:,.0f}")
    console.print(table)
    fitted = model.fitted
    alone = " Both by the weights alone." if len(fitted.trees) or fitted.last is not None else ""
    console.print(f"Gain: what the log-likelihood loses without it, in nats.{alone}", style="dim")


def print_next(console: Page, why: Sequence[SharedExplanation]) -> None:
    """Print what may come next, the most likely first, each with its strongest factors.

    Where the model tells only some labels apart, the rest is told as one.
    """
    table = new_table("Next event", ">Probability", ">Usually", "Because of")
    width = min(max(12, console.page_width // 3), max(10, widest([each.target for each in why])))
    for each in why[:_MOST_NEXT]:
        told = ""
        for name, value in each.strongest(_MOST_FACTORS):  # as many as there is room for
            more = f"{told}, {shorten(name, 16)} {factor(value)}".removeprefix(", ")
            told = more if len(more) <= console.page_width - width - _NUMBERS else told
        cells = percent(each.probability), percent(each.base_rate)
        table.add_row(
            label(each.target, width), *cells, label(console.signs(told), len(told)) if told else ""
        )
    rest = 1 - sum(each.probability for each in why)
    if rest > _ROUNDING:
        table.add_row("(any other)", percent(rest), percent(1 - sum(each.base_rate for each in why)), "")
    console.print(table)
    if len(why) > _MOST_NEXT:
        console.print(f"... and {len(why) - _MOST_NEXT} less likely ones")
    console.print(
        "\nBecause of: its strongest factors, as far as there is room; --target LABEL tells all of "
        "one label. Usually: its share of all events, half an event added to each label. "
        "Probabilities sum to 1.",
        style="dim",
    )


def print_shares(console: Page, why: SharedExplanation) -> None:
    """Print one probability as a product of factors."""
    sheet = why.summary()
    console.print(console.signs(repr(sheet)))
    last = "" if why.contexts == 1 else " Last two labels: what followed them in all sequences."
    console.print(
        "\nThe base rate times all factors is the probability. Place: base rate times place "
        "is how likely the label is there, all else left aside. Competition is the same for all labels "
        "after this history: it makes them sum to 1."
        f"{last}",
        style="dim",
    )
