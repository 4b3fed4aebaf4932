"""What comes next after a history, and why; the sentences behind it, where events were made of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from summarkov.cli.printing import Page, label, new_table, print_json, results, shorten, widest
from summarkov.cli.printing.documents import choose, is_a
from summarkov.cli.printing.influences import state_words, window_words
from summarkov.cli.printing.model import HARDLY, print_next, print_shares, state_text
from summarkov.errors import UnknownLabelError
from summarkov.wording import factor, interval, number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.cli.sets import Calibrated
    from summarkov.events import EventSequences
    from summarkov.explain import Explanation
    from summarkov.models import InfluenceGraph, OutcomeModel
    from summarkov.text import Before, Passages, Sentence

    #: Labels, oldest first; or the events of one sequence.
    Past = list[str] | EventSequences

#: The most counterfactuals to print, and the most labels that may come next.
_MOST = 12
_MOST_NEXT = 20
#: How wide a state is shown at least.
_STATE = 60


def print_after(
    fitted: Any, history: Past, target: str | None, unknown: Any, json: bool, sets: Calibrated | None
) -> None:
    """Print the probability of every label that the model knows about (or of ``target``), and why.

    ``history`` are labels, or the events of one sequence, with all that they have; ``sets`` tell of which
    labels the next event is one.
    """
    labels = () if sets is None else sets.after(history, unknown)
    why, show = _explained(fitted, history, target, unknown, None if json else _MOST_NEXT)
    if json:
        told = {} if sets is None else {"sets": sets.document(labels=labels)}
        print_json({**_after(history), "next": [plain(each) for each in why], **told})
        return
    console = results()
    _print_history(console, **_after(history))
    show(console)
    if sets is not None:
        sets.print_after(console, labels)


def _explained(
    fitted: Any, history: Past, target: str | None, unknown: Any, most: int | None
) -> tuple[Sequence[Any], Callable[[Page], None]]:
    """The explanations of what comes next, and what prints them."""
    if is_a(fitted, "JointSuMM"):
        if target is None:
            every = fitted.explain_next(history, unknown=unknown)
            return every, lambda console: print_next(console, every)
        why = fitted.explain(history, target, unknown=unknown)
        return [why], lambda console: print_shares(console, why)
    if is_a(fitted, "OutcomeModel"):
        if target not in (None, fitted.name_):
            raise UnknownLabelError(target, [fitted.name_])
        why = fitted.explain(history, unknown=unknown)
        return [why], lambda console: _print_outcome(console, fitted, why)
    one, only = choose(fitted, target)
    if one is None:
        every = fitted.explain_next(history, most=most, unknown=unknown)
        return every, lambda console: _print_next(console, fitted, every)
    chosen = one.target_ if only is None else (only,)
    every = [one.explain(history, label=x, unknown=unknown) for x in chosen]
    return every, lambda console: print_state(console, one, every, reasons=len(every) == 1)


def _print_outcome(console: Page, model: OutcomeModel, why: Explanation) -> None:
    if why.is_certain:
        console.print(f"{model.name_}: already reached")
        return
    print_state(console, model.model_, [why], "Outcome", reasons=True)
    thing = "tick" if model.layout_.together else "event"
    console.print()
    console.print(
        f"Counted are cases that were open after {plural(why.moment or 0, thing)}. Usually: the share of all "
        "these. Seen: how many of these were in the state."
    )


def plain(explanation: Any) -> dict[str, Any]:
    """An explanation as JSON has it; that of a joint model has no interval."""
    values: dict[str, Any] = explanation.to_dict()
    if "interval" not in values:
        return values
    if values["moment"] is None:  # only open cases have one
        del values["moment"]
    values["counterfactuals"] = [_bounds(each) for each in values["counterfactuals"]]
    return {"label": values.pop("target"), **_bounds(values)}


def _bounds(values: dict[str, Any]) -> dict[str, Any]:
    low, high = values.pop("interval")
    return {**values, "low": low, "high": high}


def _after(history: Past) -> dict[str, Any]:
    """A history as JSON has it: labels, or lists of labels that happened together."""
    if isinstance(history, list):
        return {"after": history}
    (past,) = history.to_lists()
    given = history.attributes
    held = {} if given is None else {"attributes": [given.names[at] for at in given.present[0].nonzero()[0]]}
    return {"case": history.ids[0], "after": past, **held}


def _print_history(
    console: Page, after: list[Any], case: str | None = None, attributes: Sequence[str] = ()
) -> None:
    each = [x if isinstance(x, str) else " + ".join(x) for x in after[-12:]]
    words = ", ".join(shorten(x, 30) for x in each) or "nothing yet"
    where = "" if case is None else f" in {shorten(case, 30)}"
    console.print(f"History{where}: {'..., ' if len(after) > 12 else ''}{words}", style="bold")
    if attributes:
        console.print(", ".join(shorten(x, 30) for x in attributes))
    console.print()


def print_state(
    console: Page,
    model: Any,
    why: Sequence[Explanation],
    heading: str = "Next event",
    *,
    reasons: bool = False,
) -> None:
    """The labels of one model, which share the state of the history; of a single one with ``reasons`` why."""
    first = why[0]
    support = first.support
    seen = plural(support, "case") if first.in_sequences else f"seen {plural(support, 'time')}"
    seen = seen if support else "never seen, so this is the prior alone"
    seen += ", hardly" if first.seen == "hardly" else ""
    console.print(f"{state_words(model)}: {state_text(model, first.state, first.words, _STATE)} ({seen})")
    console.print()
    width = min(max(12, console.page_width - 55), max(10, widest([each.target for each in why])))
    table = new_table(heading, ">Probability", ">95% interval", ">Usually", "Change")
    for each in why:
        told = percent(each.probability), interval(*each.interval) if support else "never seen"
        table.add_row(label(each.target, width), *told, percent(each.base_rate), _change(each))
    console.print(table)
    if reasons:
        print_why(console, first)


def print_why(console: Page, why: Explanation, *, places: bool = True) -> None:
    """Where the influencers stand in the history (unless that was told), and what would be different."""
    if places and any(each.lags for each in why.active):
        console.print()
    for there in (each for each in why.active if places and each.lags):
        told = f"{_few(there.lags)} {there.unit}{'s' if there.lags != (1,) else ''} back"
        ago = f", {_few(there.ages)} ago" if there.ages else ""
        console.print(f"{shorten(there.label, 40)}: {told}{ago}")
    if not why.counterfactuals:
        return
    shown = sorted(why.counterfactuals, key=lambda c: (c.occurred, -abs(c.probability - why.probability)))
    shown = shown[:_MOST]
    width = min(max(12, console.page_width - 50), max(10, widest([c.label for c in shown]) + 14))
    table = new_table("Had", ">Probability", ">95% interval", ">Seen")
    for each in shown:
        had = " occurred now" if each.occurred else " not occurred"
        if each.is_attribute:
            had = f"{'' if each.occurred else ' not'} been so"
        mark = "" if each.seen == "often" else "*"
        table.add_row(
            Text(shorten(each.label, width - len(had)) + had),
            percent(each.probability),
            interval(*each.interval) if each.support else "never seen",
            mark + number(each.support),
        )
    console.print()
    console.print(table)
    if any(each.seen != "often" for each in shown):
        console.print(HARDLY, style="dim")
    if len(shown) < len(why.counterfactuals):
        console.print(f"... and {len(why.counterfactuals) - len(shown)} more; --json has all", style="dim")


def _few(places: Sequence[object]) -> str:
    """The first of some places."""
    return ", ".join(str(each) for each in places[:8]) + (", ..." if len(places) > 8 else "")


def _change(why: Explanation) -> Text:
    if why.base_rate <= 0:
        return Text("")
    ratio = why.probability / why.base_rate
    return Text(factor(ratio), style="green" if ratio > 1.2 else "red" if ratio < 1 / 1.2 else "")


def _print_next(console: Page, graph: InfluenceGraph, why: Sequence[Explanation]) -> None:
    room = console.page_width
    width = min(max(12, room // 4), max(10, widest([each.target for each in why])))
    because = max(12, room - width - 44)
    reason = Column("Because of", width=because)
    table = new_table("Next event", ">Probability", ">Usually", "Change", ">Seen", reason)
    for each in why:
        model = graph.models_[each.target]
        words = state_text(model, each.state, each.words, because) if model.influencers_ else "-"
        table.add_row(
            label(each.target, width),
            percent(each.probability),
            percent(each.base_rate),
            _change(each),
            ("" if each.seen == "often" else "*") + number(each.support),
            Text(words, style="" if each.state else "dim"),
        )
    console.print(table)
    if len(why) < len(graph.models_):
        more = plural(len(graph.models_) - len(why), "label")
        console.print(f"... and {more} less likely than these; --json prints all", style="dim")
    if any(each.seen != "often" for each in why):
        console.print(HARDLY, style="dim")
    if any(each.seen == "never" for each in why):
        console.print(
            "Histories like this one were not seen: probabilities beside *0 are guesses, and others shrink "
            "with them. Give all events of the case, from its start."
        )
    console.print()
    words = window_words(next(iter(graph.models_.values())))
    layout = graph.layout_
    influencers = {z for model in graph.models_.values() for z in model.influencers_}
    held = ", or hold" if influencers & set(layout.attributes) else ""
    usually = "the share of ticks that have the label" if layout.together else "its share of all moments"
    console.print(
        f"Because of: which of its influencers occurred {words}{held}, and how often that was seen. "
        f"Usually: {usually}."
        + ("" if layout.together else " Probabilities are scaled so that they sum to 1.")
    )


def print_passages(console: Page, found: Passages) -> None:
    """How many places there are; of some, the sentences of influencers, and of the target after them."""
    some = "" if len(found) == found.total else f"; {plural(len(found), 'passage')} of them, evenly spread"
    console.print(f"{plural(found.total, 'time')}{some}")
    for each in found:
        console.print()
        for earlier in each.before:
            print_earlier(console, earlier, named=len(each.before) > 1)
        _print_sentence(console, each.target)


def print_earlier(console: Page, earlier: Before, *, named: bool) -> None:
    """The sentence of an influencer."""
    _print_sentence(console, earlier.sentence, f"{f'{earlier.label}, ' if named else ''}{earlier.lag} back")


def _print_sentence(console: Page, sentence: Sentence, note: str = "") -> None:
    """A sentence, and above it where it stands."""
    note = f" ({visible(note)})" if note else ""
    place = Text(f"{visible(sentence.document)}, sentence {sentence.number}{note}", style="dim")
    console.print(place, soft_wrap=True)
    console.print(Padding(Text(visible(sentence.text)), (0, 0, 0, 2)), width=console.page_width)


def passages_document(found: Passages) -> dict[str, Any]:
    """Passages as JSON has them."""
    shown = [
        {
            "sequence": each.sequence,
            "before": before_document(each.before),
            "target": dict(vars(each.target)),
        }
        for each in found
    ]
    return {"total": found.total, "passages": shown}


def before_document(before: tuple[Before, ...]) -> list[dict[str, Any]]:
    """The sentences of influencers as JSON has them."""
    return [{"label": b.label, "lag": b.lag, "sentence": dict(vars(b.sentence))} for b in before]
