"""Influences in a table, where they were looked for, what they mean, and what an exact search proved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from summarkov.cli.printing import Page, first_of, new_table, shorten, widest
from summarkov.cli.printing.documents import settings_words
from summarkov.wording import END, number, plural, visible

if TYPE_CHECKING:
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, SummaryModel

_SIGNS = {"amplifies": "+", "inhibits": "-", "mixed": "~", "unclear": "?"}
_STYLES = {"amplifies": "green", "inhibits": "red", "mixed": "magenta", "unclear": "dim"}
#: What the sign before an edge and the arrow between its names take at most.
_JOINTS = 6
#: The least that the two names of an edge take.
_NAMES = 20
#: What the columns of follow rates are.
FOLLOWS = (
    "Follows: the share of an influencer's occurrences that the target follows within the window; Others: of "
    "all other events."
)
#: The counts behind a share; of these only the larger is shown where there is little space.
_COUNTS = re.compile(r" \([\d.,]+ of ([\d.,]+)\)")
#: Why edges are printed apart, and what is said of them.
_ASIDE = {
    "fixed order": "Fixed order: the influencer comes first in 99% or more of the cases with both",
    "unclear order": "Unclear order: the order test cannot tell whether these depend on order",
    "unclear direction": "Unclear direction: the interval holds 1, or rates and ratio point different ways",
    "crowding out": "Crowding out: no more than other events becoming more or less likely explains",
    "co-occurrence only": "Co-occurrence only: as strong in shuffled cases",
    "not comparable": "Not comparable: no comparison with other influencers held equal",
    "too few events": "Too few events: under 10 seen and under 10 expected",
}
#: What else is too few where it is known in how many cases the target follows.
_FEW_CASES = ", or under 5 cases"


def window_words(model: SummaryModel, influencer: str | None = None) -> str:
    """Where a model looks for its influencers, or for one of them, to follow a label.

    >>> from summarkov import BSuMM
    >>> window_words(BSuMM(lookback=5)), window_words(BSuMM(lookback=None))
    ('within the last 5 events', 'at any time before')
    """
    from summarkov.settings import Duration, span_of
    from summarkov.summaries.window import place_words

    settings = model.get_params(deep=False)
    if "lookbacks" in settings:
        return "where the tree asks for it"
    if "lookback" not in settings:
        return "before"
    lookback, delay = settings["lookback"], settings.get("delay", 0)
    things = "ticks" if model.is_fitted and model.layout_.together else "events"
    if influencer is not None:
        lookback = model.lookbacks_[influencer] if hasattr(model, "lookbacks_") else lookback
    elif isinstance(lookback, Mapping | tuple) or lookback == "auto":
        return "within its look-back"
    lookback, delay = span_of(lookback, "lookback"), span_of(delay, "delay")
    timed = isinstance(delay, Duration)
    if timed or isinstance(lookback, Duration):
        later = f"more than {place_words(delay, things[:-1])} before" if timed or delay else ""
        last = "" if lookback is None else f"within the last {place_words(lookback, things[:-1])}"
        return " and ".join(filter(None, (later, last)))
    if lookback is None:
        return f"more than {delay} {things} before" if delay else "at any time before"
    if lookback == delay + 1:
        return f"{lookback} {things} before" if delay else "just before"
    return f"{delay + 1} to {lookback} {things} before" if delay else f"within the last {lookback} {things}"


def follow_words(model: SummaryModel, influencer: str) -> str:
    """Where a target is looked for after an influencer."""
    from summarkov.summaries.window import later_words

    return later_words(model.fitted.reach(influencer), "tick" if model.layout_.together else "event")


def state_words(model: SummaryModel) -> str:
    """What the states of a model are about, to stand before them: where it looks, or attributes, or both."""
    where = window_words(model)
    where = where[:1].upper() + where[1:]
    held = [z in model.layout_.attributes for z in model.influencers_]
    if held and all(held):
        return "Attributes"
    return f"{where}, and attributes" if any(held) else where


def place_of(model: SummaryModel, influencer: str) -> str:
    """Where an influencer is looked for, to be put behind it; nothing where all have one look-back."""
    where = model.fitted.summary.where(influencer)
    return f" {where}" if where else ""


def print_settings(console: Page, model: SummaryModel) -> None:
    """Print what made a model."""
    from summarkov.summaries import OrdinalSummary

    console.print(settings_words(model), style="dim")
    if isinstance(model.fitted.summary, OrdinalSummary) and model.layout_.together:
        note = (
            "Within a tick, labels stand in the order of their names: 'a then b' also counts a tick of both."
        )
        console.print(note, style="dim")


def print_influences(console: Page, edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> None:
    """Print influences in their order; those of a label on itself and those set aside stand apart."""
    parts: dict[str, list[int]] = {why: [] for why in ("", "itself", *_ASIDE)}
    for at, edge in enumerate(edges):
        parts[edge.set_aside or ("itself" if edge.is_self else "")].append(at)
    titles = {"itself": "Event types on themselves", **_ASIDE}
    if any(edge.cases_followed is not None for edge in edges):
        titles["too few events"] += _FEW_CASES
    columns = _columns(console, edges, models)
    widths = _names_width(console.page_width - _beside(columns) - _JOINTS, edges)
    for why, some in parts.items():
        if some:
            if why:
                console.print(f"\n{titles[why]}", style="dim")
            _print_part(console, edges, some, columns, widths)
    for edge in edges:
        names = f"{shorten(edge.influencer, 30)} on {shorten(edge.target, 30)}"
        if edge.effect == "mixed":
            how = edge.depends or "more beside some of the other influencers, less beside others"
            console.print(f"~ {names}: {visible(how)}", style=_STYLES["mixed"])
        elif edge.not_comparable:
            told = f"not comparable with {visible(edge.not_comparable)} held equal"
            console.print(f"? {names}: {told}", style=_STYLES["unclear"])


def print_surest(
    console: Page, edges: Sequence[Influence], models: Mapping[str, SummaryModel], most: int | None
) -> Sequence[Influence]:
    """Print the first ``most`` influences below an empty line (None: all), and return them."""
    shown = edges[:most]
    if shown:
        console.print()
        print_influences(console, shown, models)
    if len(shown) < len(edges):
        console.print(f"... and {len(edges) - len(shown)} less sure ones, which 'summarkov show' prints too")
    return shown


def print_uninfluenced(console: Page, labels: Sequence[str], but: str = "") -> None:
    """Name the labels that nothing influences."""
    if labels:
        names = first_of([shorten(x, 30) for x in labels], 10)
        console.print(f"\nInfluenced by none{but}: {names}", style="dim")


def _columns(
    console: Page, edges: Sequence[Influence], models: Mapping[str, SummaryModel]
) -> dict[str, list[str]]:
    """What stands beside the names, as much of it as fits."""
    from summarkov.explain.sentences import cases, follows, follows_others
    from summarkov.explain.verdicts import limits, times

    columns = {}
    if any(e.target in models and place_of(models[e.target], e.influencer) for e in edges):
        # each has a look-back of its own
        reach = [models[e.target].fitted.reach(e.influencer)[1] for e in edges]
        is_held = [e.influencer in models[e.target].layout_.attributes for e in edges]
        columns["Back"] = [
            "" if held else "all" if k is None else str(k) for k, held in zip(reach, is_held, strict=True)
        ]
    are_moments = all(e.follow_rate is None for e in edges)
    heads = ("Next event", "Otherwise") if are_moments else ("Follows", "Others")
    columns[heads[0]] = [follows(e) for e in edges]
    columns[heads[1]] = [follows_others(e, counts=False) for e in edges]
    if are_moments:
        columns |= {name: [each.replace(" of moments", "") for each in columns[name]] for name in heads}
    are_odds = all(e.interval == "likelihood" for e in edges)
    columns[f"{'Odds' if are_odds else 'Rate'} ratio (95%)"] = [
        _ratio_cell(times(e), limits(e)) for e in edges
    ]
    if any(cases(e) for e in edges):
        columns["Cases"] = [cases(e) for e in edges]
    if any(e.frequency is not None for e in edges):
        columns["Sure"] = ["" if e.frequency is None else f"{e.frequency:.0%}" for e in edges]
    for name in ("Cases", heads[0], "Sure"):  # which go for want of space, counts before rates
        good = min(console.page_width // 2 - 8, _longest(edges))
        if _beside(columns) + max(_NAMES, good) + _JOINTS > console.page_width:
            if name == heads[0]:
                columns[name] = [_COUNTS.sub(r" of \1", each) for each in columns[name]]
            else:
                columns.pop(name, None)
    return {console.signs(name): [console.signs(each) for each in cells] for name, cells in columns.items()}


def _ratio_cell(ratio: str, interval: str) -> str:
    """A ratio with its interval.

    >>> _ratio_cell("×2.1", "1.8 to 2.4"), _ratio_cell("never (0 of 40)", "at most 0.7")
    ('×2.1 (1.8 to 2.4)', 'never (0 of 40)')
    """
    ratio = ratio or "unclear"
    return f"{ratio} ({interval})" if interval and "(" not in ratio and "raw" not in ratio else ratio


def _longest(edges: Sequence[Influence]) -> int:
    """How wide the two names of an edge are at most."""
    return max(widest([e.influencer]) + widest([e.target]) for e in edges)


def _beside(columns: Mapping[str, Sequence[str]]) -> int:
    """How many cells the columns beside the names take."""
    return sum(2 + widest([name, *cells]) for name, cells in columns.items())


def _names_width(room: int, edges: Sequence[Influence]) -> tuple[int, int]:
    """How wide the influencers and the targets are shown, with ``room`` for both together."""
    first = widest([e.influencer for e in edges])
    second = widest([e.target for e in edges])
    if first + second <= room:
        return first, second
    half = room // 2
    if first <= half:
        return first, room - first
    return (room - second, second) if second <= room - half else (half, room - half)


def _print_part(
    console: Page,
    edges: Sequence[Influence],
    which: Sequence[int],
    columns: Mapping[str, Sequence[str]],
    names_width: tuple[int, int],
) -> None:
    """Print some of the edges; columns are as wide as those of all need, so that parts stand in line."""
    table = new_table()
    heading = console.signs("Influencer → target")
    room = min(widest([heading]), console.page_width - _beside(columns))  # short names leave it whole
    table.add_column(heading, no_wrap=True, width=max(sum(names_width) + _JOINTS, room))
    for name, cells in columns.items():
        left = name.endswith(" ratio (95%)")
        table.add_column(
            name, no_wrap=True, width=widest([name, *cells]), justify="left" if left else "right"
        )
    for at in which:
        edge = edges[at]
        style = "dim" if edge.faint else _STYLES[edge.shown_effect]
        names = Text.assemble(
            (f"{_SIGNS[edge.shown_effect]} ", style),
            shorten(edge.influencer, names_width[0]),
            console.signs(" → "),
            shorten(edge.target, names_width[1]),
            no_wrap=True,
        )
        table.add_row(names, *(Text(cells[at], style=style) for cells in columns.values()))
    console.print(table)


def print_reading(console: Page, edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> None:
    """Say in words what the surest of the influences means, what the columns are, and what none means."""
    from summarkov.explain.sentences import follow_note, sentence

    edge = next((each for each in edges if not each.set_aside and each.effect != "mixed"), None)
    if edge is None:
        return
    influencer, target = (f"'{shorten(name, 30)}'" for name in (edge.influencer, edge.target))
    model = models[edge.target]
    is_attribute = edge.influencer in model.layout_.attributes
    where = None if is_attribute else window_words(model, edge.influencer)
    read = sentence(edge, influencer, target, where, follow_words(model, edge.influencer))
    notes = [f"Read: {console.signs(read)}"]
    if edge.follow_rate is not None:
        notes.append(FOLLOWS)
    if any(each.target == END for each in edges):
        notes.append("Of (end of case): the share that are the last event.")
    if any(0 in (each.followed, each.hits_without) for each in edges):
        notes.append("Never, only: within the window.")
    if place_of(model, edge.influencer):
        things = "ticks" if model.layout_.together else "events"
        far = "how far" if model.layout_.time is not None else f"how many {things}"
        notes.append(f"Back: {far} back it is looked for.")
    if any(each.shown_effect != each.effect for each in edges):
        notes.append("?: no clear direction, or rates and rate ratio point different ways.")
    if any(each.is_raw and each.effect != "unclear" for each in edges):
        notes.append("Raw: the ratio with nothing else held equal.")
    if any(each.interval == "robust" for each in edges):
        notes.append("The 95% intervals allow for differences between cases.")
    notes += filter(None, [follow_note(edges)])
    notes.append("Ordered by the lower bound of the effect. Influence is statistical: no proof of cause.")
    console.print(f"\n{' '.join(notes)}")


def print_certificate(console: Page, model: SummaryModel) -> None:
    """Say whether there are better influencers, and what greedy search would have found."""
    found = model.trace_.certificate
    if found is None:
        return
    total = found.examined + found.pruned + found.open
    console.print()
    if found.is_optimal:
        console.print(
            f"No other of the {_sets(total)} scores better: {number(found.examined)} were scored, the others "
            "cannot."
        )
    else:
        console.print(
            f"Not proved to be the best of {_sets(total)}: stopped after {number(found.examined)}. No other "
            f"can score better by more than {found.gap:,.1f}."
        )
    if found.greedy_gap > 0:
        names = " + ".join(shorten(z, 30) for z in found.greedy) or "no influencers"
        console.print(f"Greedy search finds {names}, which scores {found.greedy_gap:,.1f} less.")
    else:
        console.print("Greedy search finds nothing worse.")


def print_certificates(console: Page, graph: InfluenceGraph) -> None:
    """Say of how many labels the influencers are proved to be the best."""
    found = [c for model in graph.models_.values() if (c := model.trace_.certificate) is not None]
    if not found:
        return
    proved = sum(c.is_optimal for c in found)
    worst = max(c.gap for c in found)
    missed = [c.greedy_gap for c in found if c.greedy_gap > 0]
    labels = f"{number(proved)} of {plural(len(found), 'label')}"
    words = f"Exact search: for {labels} no other influencers score better"
    if proved < len(found):
        words += f"; for the rest none score better by more than {worst:,.1f}"
    words += ". Greedy search finds "
    words += (
        f"worse ones for {number(len(missed))}, by up to {max(missed):,.1f}." if missed else "nothing worse."
    )
    console.print()
    console.print(words)


def _sets(n: int) -> str:
    """A number of sets, which may be astronomical.

    >>> _sets(32), _sets(2**173)
    ('32 sets', '1.2e+52 sets')
    """
    return plural(n, "set") if n < 10**9 else f"10^{len(str(n)) - 1} sets" if n > 10**300 else f"{n:.1e} sets"
