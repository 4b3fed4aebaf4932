"""Whatever was learned, as JSON for programs and as parts of a document for people; and what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from summarkov.cli.page import SCREEN, Headline, Note, Part, Table, first_of, shorten
from summarkov.errors import UnknownLabelError
from summarkov.evidence import Influence, is_graph, is_joint, is_outcome
from summarkov.evidence import words as in_words
from summarkov.evidence.findings import Findings, chain_words, findings_of, impact_cell
from summarkov.evidence.order import LARGE
from summarkov.frames import Sheet
from summarkov.settings import span_of
from summarkov.summaries import OrdinalSummary
from summarkov.summaries.window import later_words
from summarkov.wording import END, factor, number, percent, plural, visible

if TYPE_CHECKING:
    from summarkov.evidence import Confidence, Explanation, OrderTest
    from summarkov.models import InfluenceGraph, JointSuMM, OutcomeModel, SummaryModel
    from summarkov.models.fitted import Fitted

_SIGNS = {"amplifies": "+", "inhibits": "-", "mixed": "~", "unclear": "?"}
_STYLES = {"amplifies": "green", "inhibits": "red", "mixed": "magenta", "unclear": "dim"}
#: Why edges are printed apart, and what is said of them.
_ASIDE = {
    "": "",
    "itself": "Event types on themselves",
    "fixed order": "Fixed order: the influencer comes first in 99% or more of the cases with both",
    "unclear order": "Unclear order: the order test cannot tell whether these depend on order",
    "unclear direction": "Unclear direction: the interval holds 1, or rates and ratio point different ways",
    "crowding out": "Crowding out: other events becoming more or less likely explain most of it",
    "co-occurrence only": "Co-occurrence only: no clear difference from shuffled cases",
    "not comparable": "Not comparable: no comparison with other influencers held equal",
    "too few events": "Too few events: under 10 seen and under 10 expected, or under 5 cases",
}
_NO_CAUSE = "Influence is statistical: no proof of cause."
_CAVEATS = "Follows: within the window, in the same case. Influence is no proof of cause."
#: Settings that are shown even where they have their default value, in this order.
_ALWAYS = (
    *("order", "max_order", "lookback", "mask", "cap", "alpha", "gamma", "penalty", "rounds"),
    *("criterion", "false_edges"),
)
#: The most findings on a first screen, and lines of one kind below them.
_MOST_FINDINGS, _MOST_LINES = 10, 2
#: The most labels that may come next, to print.
MOST_NEXT = 20


# ---------------------------------------------------------------------- for programs


def choose(fitted: Any, target: str | None) -> tuple[Any, str | None]:
    """The model to show (None: the whole graph, or a joint model), and the one label of it to show."""
    several, joint = is_graph(fitted), is_joint(fitted)
    known = fitted.models_ if several else fitted.influencers_ if joint else fitted.target_
    if target is not None and target not in known:
        raise UnknownLabelError(target, known)
    if several:
        return (None if target is None else fitted.models_[target]), None
    return (None if joint else fitted), target


def document(fitted: Any, target: str | None = None) -> dict[str, Any]:
    """Whatever was learned; of a graph the model of one label, if that is named."""
    if is_outcome(fitted):
        return outcome_document(fitted)
    one, only = choose(fitted, target)
    if one is not None:
        edges = one.influences_ if one is fitted else fitted.edges_
        return {
            "kind": type(one).__name__,
            **_origin(one),
            "target": one.target_,
            **_found(one),
            "base_rates": one.base_rates_,
            "edges": [edge for edge in edges if edge.target in one.target_],
            "outcomes": [x if isinstance(x, str) else None for x in one.outcomes_],  # null: all other labels
            "states": one.table_,
            "trace": one.trace_,
        }
    if is_joint(fitted):
        return {
            "kind": "JointSuMM",
            **_origin(fitted),
            "log_likelihood": fitted.fitted.log_likelihood,
            "edges": [edge for edge in fitted.edges_ if only in (None, edge.target)],
            "targets": [
                {"target": x, "influencers": found, "gains": fitted.gains_[x], "recency": fitted.recency_[x]}
                for x, found in fitted.influencers_.items()
                if only in (None, x)
            ],
        }

    models = fitted.models_
    return {
        "kind": "InfluenceGraph",
        **_origin(next(iter(models.values()))),
        "edges": fitted.edges_,
        "targets": [
            {"target": x, **_found(model), "base_rate": model.base_rates_[0]} for x, model in models.items()
        ],
        **({"confidence": fitted.confidence_} if fitted.confidence_ else {}),
        **({"order": fitted.order_} if fitted.order_ else {}),
    }


def settings(model: SummaryModel | JointSuMM) -> Mapping[str, Any]:
    """The settings, without the target and what belongs to this machine only, with the chosen penalty."""
    from summarkov.models import JointSuMM

    given = model.get_params(deep=False) | (
        {"penalty": model.penalty_} if isinstance(model, JointSuMM) else {}
    )
    return {name: value for name, value in given.items() if name not in ("target", "n_jobs", "summary")}


def _found(model: SummaryModel) -> dict[str, Any]:
    """What was found for a target: influencers, scores, and what an exact search proved."""
    lookbacks, proved = getattr(model, "lookbacks_", None), model.trace_.certificate
    return {
        "influencers": model.influencers_,
        **({} if lookbacks is None else {"lookbacks": lookbacks}),
        "score": model.score_,
        "log_likelihood": model.log_likelihood_,
        **({} if proved is None else {"certificate": {**vars(proved), "is_optimal": proved.is_optimal}}),
    }


def _origin(model: Any) -> dict[str, Any]:
    """What a model was learned from: ``positions`` are ticks, where events happened together."""
    fitted = model.fitted
    layout = getattr(fitted, "layout", None)  # a joint model knows events in a row only
    counts = dict(
        zip(fitted.labels, (fitted.label_counts / getattr(fitted, "scale", 1)).tolist(), strict=True)
    )
    held = {} if layout is None else {name: counts.pop(name) for name in layout.attributes}
    has_positions = layout is not None and (layout.together or END in counts)
    return {
        "model": type(model).__name__,
        "settings": settings(model),
        "data": {
            "sequences": fitted.n_sequences,
            "events": sum(n for label, n in counts.items() if label != END),
            **({"positions": fitted.n_events} if has_positions else {}),
            "labels": counts,
            **({"attributes": held} if held else {}),
        },
    }


def outcome_document(model: OutcomeModel, **tests: Any) -> dict[str, Any]:
    """What was learned about an outcome, and what the order test and the confidence say."""
    return {
        "outcome": model.name_,
        "after": model.after,
        "cases": model.model_.fitted.n_sequences,
        "left_out": model.left_out_,
        "base_rate": model.base_rate_,
        "overall_rate": model.overall_rate_,
        "notices": model.notices_,
        "settings": settings(model.model_),
        "influencers": model.influencers_,
        "influences": model.influences_,
        "states": [
            {"state": row.words, "cases": row.n, "with_outcome": row.counts[model.yes]}
            for row in model.table_
        ],
        **{name: each for name, each in tests.items() if each is not None},
    }


# ---------------------------------------------------------------------- for people


def learned(
    fitted: Any,
    target: str | None = None,
    *,
    every: bool = False,
    by: str = "impact",
) -> Iterator[Part]:
    """Whatever was learned; of a graph the model of one label, if that is named.

    All of it if ``every``, else what was found: the influences that pass, by "impact" or "ratio".
    """
    if is_outcome(fitted):
        yield from outcome(fitted, every=every)
        return
    one, only = choose(fitted, target)
    if one is not None:
        edges_of = one.influences_ if one is fitted else fitted.edges_  # with what the order test shows
        yield from _model(one, [x for x in one.target_ if only in (None, x)], edges_of, every)
    elif is_joint(fitted):
        yield from _joint(fitted, only, every)
    else:
        yield from _graph(fitted, every, by)


# ---------------------------------------------------------------------- settings and sizes in words


def settings_words(model: SummaryModel | JointSuMM, *, short: bool = False) -> str:
    """The kind of a model and the settings that made it; if ``short``, those that are not the default.

    >>> from summarkov import BSuMM
    >>> settings_words(BSuMM(gamma=0.5, search="sweep"))
    'BSuMM: look-back 5, alpha 0.1, gamma 0.5, criterion bic, false edges 0.2, search sweep'
    >>> settings_words(BSuMM(paper=True))
    'BSuMM: look-back 5, alpha 0.1, gamma 1, criterion bic, false edges none, paper true'
    """
    given, defaults = dict(settings(model)), {each.name: each.default for each in fields(model)}
    if given.get("paper"):
        given["false_edges"] = None
    always = [
        name for name in _ALWAYS if not short or name == "lookback" or given.get(name) != defaults.get(name)
    ]
    names = [name for name in always if name in given]
    names += [name for name in given if name not in _ALWAYS and given[name] != defaults[name]]
    told = [f"{name.replace('_', ' ')} {_value_words(given[name])}" for name in names]
    words = f"{type(model).__name__}{': ' if told else ''}{', '.join(told)}"
    return words.replace("lookback", "look-back")


def _value_words(value: Any) -> str:
    """The value of a setting; of several, with commas between them."""
    if isinstance(value, Mapping):
        return " + ".join(f"{visible(name)} {_value_words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(_value_words, value)) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return visible(str(span_of(value, "delay") if str(value)[:1].isdigit() else value))


def _sizes(fitted: Fitted) -> tuple[str, str]:
    """How many cases were counted, and how many events or ticks of several events."""
    ends = float(fitted.label_counts[fitted.labels.index(END)] / fitted.scale) if END in fitted.labels else 0
    events = plural(fitted.n_events - ends, "tick" if fitted.layout.together else "event")
    if fitted.layout.together:
        events += f" of {plural(float(fitted.event_counts.sum() / fitted.scale) - ends, 'event')}"
    return plural(fitted.n_sequences, "case"), events


def labels_words(labels: Sequence[str], attributes: Sequence[str]) -> str:
    """How many event types there are, and how many values of attributes.

    >>> labels_words(["A", "B", "region=north"], ["region=north"])
    '2 event types and 1 value of attributes'
    """
    types = plural(len(labels) - len(attributes) - (END in labels), "event type")
    return f"{types} and {plural(len(attributes), 'value')} of attributes" if attributes else types


def _made_by(model: SummaryModel, every: bool = True) -> Iterator[Part]:
    """What made a model: all settings, or those that are not the default."""
    yield Note(settings_words(model, short=not every))
    if isinstance(model.fitted.summary, OrdinalSummary) and model.layout_.together:
        yield Note(
            "Within a tick, labels stand in the order of their names: 'a then b' also counts a tick of both."
        )


def _true(notes: Mapping[str, object]) -> list[str]:
    """The notes that hold."""
    return [note for note, is_true in notes.items() if is_true]


# ---------------------------------------------------------------------- influences


def influences(edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> Iterator[Part]:
    """A table of influences in their order; those of a label on itself and those set aside stand apart."""
    if not edges:
        return
    reasons = [edge.set_aside or ("itself" if edge.is_self else "") for edge in edges]
    shown = [edge for why in _ASIDE for edge, reason in zip(edges, reasons, strict=True) if reason == why]
    are_moments = all(e.follow_rate is None for e in edges)

    columns = {
        "Influencer": [f"{_SIGNS[e.shown_effect]} {e.influencer}" for e in shown],
        "→ target": [f"→ {e.target}" for e in shown],
        "Back": [_back(e, models) for e in shown],
        "Next event" if are_moments else "Follows": [_rates(e)[0] for e in shown],
        "Otherwise" if are_moments else "Others": [_rates(e)[1] for e in shown],
        f"{_ratio_word(edges)} (95%)": [_ratio(e) for e in shown],
        "Cases": [in_words.cases(e) for e in shown],
        "Sure": ["" if e.frequency is None else f"{e.frequency:.0%}" for e in shown],
    }
    yield Table(
        "",
        list(columns),
        list(zip(*columns.values(), strict=True)),
        len(shown),
        spare=("Cases", "Others", "Back", "Sure"),
        sections=[(title, reasons.count(why)) for why, title in _ASIDE.items() if why in reasons],
        styles=["dim" if e.faint else _STYLES[e.shown_effect] for e in shown],
    )
    yield from _directions(edges)


def _directions(edges: Sequence[Influence]) -> Iterator[Part]:
    """What is said of influences that have no one direction, or no comparison."""
    for edge in edges:
        if edge.effect == "mixed":
            how = edge.depends or "more beside some of the other influencers, less beside others"
            yield f"~ {_arrow(edge)}: {how}"
        elif edge.not_comparable:
            yield f"? {_arrow(edge)}: not comparable with {edge.not_comparable} held equal"


def _rates(edge: Influence) -> tuple[str, str]:
    """How often the target follows, and of how many ("42.1% of 623"); and how often after others."""
    own, other = in_words.follows(edge), in_words.follows(edge, others=True, counts=False)
    share, _, counts = own.replace(" of moments", "").rstrip(")").partition(" (")
    return share + "".join(counts.partition(" of ")[1:]), other.replace(" of moments", "")


def _ratio_word(edges: Sequence[Influence]) -> str:
    return "Odds ratio" if edges and all(edge.interval == "likelihood" for edge in edges) else "Rate ratio"


def _ratio(edge: Influence) -> str:
    """The rate ratio with its interval, where it is one."""
    times, limits = in_words.times(edge) or "unclear", in_words.limits(edge)
    return f"{times} ({limits})" if limits and "(" not in times and "raw" not in times else times


def _arrow(edge: Any) -> str:
    """The two ends of an edge, in a sentence."""
    return f"{shorten(edge.influencer, 60)} → {shorten(edge.target, 60)}"


def _back(edge: Influence, models: Mapping[str, SummaryModel]) -> str:
    """How far back an influencer is looked for, where each has a look-back of its own."""
    model, z = models.get(edge.target), edge.influencer
    if model is None or not model.fitted.summary.where(z) or z in model.layout_.attributes:
        return ""
    reach = model.fitted.reach(z)[1]
    return "all" if reach is None else str(reach)


def _how_to_read(edges: Sequence[Influence], models: Mapping[str, SummaryModel]) -> Iterator[Part]:
    """What the surest of the influences means, in words; what the columns are, and what none means."""
    edge = next((each for each in edges if not each.set_aside and each.effect != "mixed"), None)
    surest = ""
    if edge is not None:
        model = models[edge.target]
        within = later_words(
            model.fitted.reach(edge.influencer), "tick" if model.layout_.together else "event"
        )
        ends = [f"'{shorten(each, 30)}'" for each in (edge.influencer, edge.target)]
        surest = f"Read: {in_words.sentence(edge, ends[0], ends[1], within)}"
    notes = {
        surest: surest,
        "Of (end of case): the share that are the last event.": any(e.target == END for e in edges),
        "?: no clear direction, or rates and rate ratio point different ways.": any(
            e.shown_effect == "unclear" and e.set_aside != "unclear direction" for e in edges
        ),
        "Rate ratio: how many times as likely as the next event, with the influencer in the window. It may "
        "be far from the follow rates.": any(map(in_words.is_far, edges)),
        "Raw: the ratio with nothing else held equal.": any("raw" in in_words.times(e) for e in edges),
        in_words.follow_note(edges): in_words.follow_note(edges),
        f"Ordered by the lower bound of the effect. {_NO_CAUSE}": bool(edges),
    }
    if edges:
        yield ""
        yield " ".join(_true(notes))


def _uninfluenced(labels: Sequence[str], but: str = "") -> Iterator[Part]:
    """Name the labels that nothing influences."""
    if labels:
        yield Note(f"Influenced by none{but}: {first_of([shorten(x, 30) for x in labels], 10)}")


def _proved(models: Sequence[SummaryModel]) -> Iterator[Part]:
    """What exact search proved: for how many labels no other influencers score better."""
    found = [c for model in models if (c := model.trace_.certificate) is not None]
    if found:
        proved, gap = sum(c.is_optimal for c in found), max(c.gap for c in found)
        rest = f"; for the rest none score better by more than {gap:,.1f}" if proved < len(found) else ""
        missed = [c.greedy_gap for c in found if c.greedy_gap > 0]
        worse = f"worse ones for {len(missed):,}, by up to {max(missed):,.1f}" if missed else "nothing worse"
        scored = plural(sum(c.examined for c in found), "set")
        yield ""
        yield (
            f"Exact search: for {proved:,} of {plural(len(found), 'label')} no other influencers score "
            f"better{rest} ({scored} scored). Greedy search finds {worse}."
        )


# ---------------------------------------------------------------------- a graph


def _findings(graph: InfluenceGraph, by: str) -> Iterator[Part]:
    """What was found: the largest influences, and what was set aside."""
    found, first = graph.findings_by(by), next(iter(graph.models_.values()))
    yield Headline(f"{found.headline}.")
    types = labels_words(graph.labels_, first.layout_.attributes)
    yield Note(f"{', '.join(_sizes(first.fitted))}, {types}; {settings_words(first, short=True)}")
    yield from _passing(found, graph.models_)
    yield from _proved(list(graph.models_.values()))


def _passing(found: Findings, models: Mapping[str, SummaryModel]) -> Iterator[Part]:
    """A table of what was found, the caveats that apply, and what was set aside."""
    edges = found.influences[:_MOST_FINDINGS]
    n_beyond = sum(edge.is_beyond for edge in edges)
    titles = [("", n_beyond), ("Already told by the event just before:", len(edges) - n_beyond)]
    columns = {
        "Influence": [f"{_SIGNS[edge.shown_effect]} {edge.influencer} → {edge.target}" for edge in edges],
        "Back": [_back(edge, models) for edge in edges],
        "Follows": [_rates(edge)[0] for edge in edges],
        "Others": [_rates(edge)[1] for edge in edges],
        f"{_ratio_word(edges)} (95%)": [_ratio(edge) for edge in edges],
        "Impact": [impact_cell(edge) for edge in edges],
        "Sure": ["" if edge.frequency is None else f"{edge.frequency:.0%}" for edge in edges],
    }
    yield Table(
        "",
        list(columns),
        list(zip(*columns.values(), strict=True)),
        len(found.influences),
        sections=titles if 0 < n_beyond < len(edges) else [],
        styles=[_STYLES[edge.shown_effect] for edge in edges],
    )
    chains = [chain_words(chain).partition(": ")[2] for chain in found.chains]
    lines = {"Always in this order": chains, "Together": [f"{each.words}." for each in found.interplays]}
    for title, each in lines.items():
        if each:
            yield Table("", (title,), [(line,) for line in each[:_MOST_LINES]], len(each))
    yield from found.needed_words
    if found.aside:
        yield f"{found.aside_words} --all shows them."
    narrow = [_arrow(edge) for edge in edges if edge.is_narrow]
    if narrow:
        yield f"Barely selected, so these may look stronger than they are: {first_of(narrow, 2)}."
    if edges:
        yield _CAVEATS


def _graph(graph: InfluenceGraph, every: bool, by: str) -> Iterator[Part]:
    """A graph: what was found in it, or all of its influences."""
    models = graph.models_
    first = next(iter(models.values()))
    by_label = first.fitted.summary.by_label
    if by_label and not every:
        yield from _findings(graph, by)
        yield from _resampled(graph)
        return
    edges: Sequence[Influence] = graph.edges_
    what = f"{in_words.headline(edges)} among " if by_label else ""
    types = labels_words(graph.labels_, first.fitted.layout.attributes)
    yield Headline(f"{what}{types}, learned from {' with '.join(_sizes(first.fitted))}")
    yield from _made_by(first)
    if not by_label:  # it looks at the past as a whole: after what each label is most likely
        rows = []
        for x, model in models.items():
            best = max(model.table_, key=lambda row: row.intervals[0][0])  # at least so likely
            usual, then = model.base_rates_[0], best.probabilities[0]
            change = factor(then / usual) if usual > 0 else ""
            rows.append([x, percent(usual), best.words, percent(then), change, number(best.n)])
        head = ("Label", "Usually", "Most likely after", "Then", "Change", "Seen")
        yield Sheet(
            "", head, rows, len(rows), ["Every state of a label: summarkov show MODEL --target LABEL"]
        )
        return
    yield from influences(edges, models)
    given = tuple(f"{column}=" for column in graph.model.get_params(deep=False).get("given", ()))
    nothing = [x for x, found in graph.influencers_.items() if all(z.startswith(given) for z in found)]
    yield from _uninfluenced(nothing, " but what is given" if given else "")
    yield from _how_to_read(edges, models)
    yield from _checks([edge for edge in edges if not edge.set_aside], graph)
    yield from _proved(list(models.values()))


def _checks(passing: Sequence[Influence], graph: InfluenceGraph) -> Iterator[Part]:
    """What the selection, the order test and the resampled graphs say of edges beyond the table."""
    narrow = [f"{_arrow(e)} {in_words.corrected(e)}" for e in passing if e.is_narrow]
    slow = [_arrow(edge) for edge in passing if edge.order_scale == "slow change"]
    lines = {"Barely selected; selection-adjusted rate ratios": narrow}
    lines[f"Depends on order {in_words.SCALES['slow change']}"] = slow
    yield from (f"{what}: {first_of(some, 10, '; ')}." for what, some in lines.items() if some)
    if graph.order_ is not None and graph.edges_:
        blocks = graph.order_.within
        unit = " positions" if isinstance(blocks, int) else ""
        within = "" if blocks is None else f" within {blocks}{unit}"
        first = next(iter(graph.models_.values())).fitted
        part = ", or 19 of a part of the cases if that decides" if first.n_events > LARGE else ""
        yield f"Order test: {graph.order_.n} shuffles of every case{within}{part}."
    for edge in graph.edges_:
        if edge.is_turned and edge.effect != "mixed" and not edge.faint:
            yield f"{_arrow(edge)} is {in_words.reversed_words(edge)}."
    yield from _resampled(graph)


def _resampled(graph: InfluenceGraph) -> Iterator[Part]:
    """What resampled graphs say beyond the table."""
    if (sure := graph.confidence_) is None:
        return
    yield f"Sure: the share of {plural(sure.n, 'resampled graph')} with it; wider {sure.level:.0%} intervals."
    if missing := sure.missing():
        each = [f"{shorten(z, 30)} → {shorten(x, 30)} ({share:.0%})" for z, x, share in missing]
        yield Note(f"Not in this graph, but in most of those: {first_of(each, 2)}")


# ---------------------------------------------------------------------- one model


def _model(
    model: SummaryModel, chosen: Sequence[str], edges: Sequence[Influence], every: bool
) -> Iterator[Part]:
    """A model, or the chosen labels of a target of several, with its edges and states."""
    fitted, table = model.fitted, model.table_
    rates = dict(zip(model.target_, model.base_rates_, strict=False))
    names = first_of([shorten(x, 32) for x in chosen], 6, " + ", " + ")
    cases, events = _sizes(fitted)
    of = plural(fitted.n_events, "moment") if END in fitted.labels else events
    share = percent(sum(rates[x] for x in chosen))
    yield Headline(f"{names}: the next event at {share} of {of} in {cases}")
    yield from _made_by(model, every)
    yield from _edges([edge for edge in edges if edge.target in chosen], dict.fromkeys(chosen, model), every)
    if not edges and fitted.summary.by_label:
        yield "No event type was found to influence it."
    rows = list(table) if every else sorted(table, key=lambda row: -row.n)
    states = table.of_rows("", rows, None if every else SCREEN, chosen)
    yield replace(states, head=[visible(x) if x not in chosen else "share" for x in states.head])
    if every and fitted.nodes is None and model.trace_:  # the states of a tree are all of its questions
        given = model.get_params(deep=False)
        yield model.trace_.sheet(f"How they were found ({given['search']} search, {given['criterion']})")
    yield from _proved([model])


def _edges(edges: Sequence[Influence], models: Mapping[str, SummaryModel], every: bool) -> Iterator[Part]:
    """All edges with how to read them, or those that pass."""
    if every:
        yield from influences(edges, models)
        yield from _how_to_read(edges, models)
    elif edges:
        yield from _passing(replace(findings_of(edges), nearest=()), models)
        yield from _directions(edges)


# ---------------------------------------------------------------------- a joint model, an outcome


def _joint(model: JointSuMM, target: str | None, every: bool) -> Iterator[Part]:
    """A joint model, the surest influences first; of one target, what each influencer does when."""
    fitted = model.fitted
    edges = [edge for edge in model.edges_ if target in (None, edge.target)]
    of = f"among {labels_words(fitted.labels, ())}" if target is None else f"on '{shorten(target, 30)}'"
    sample = f"{plural(fitted.n_sequences, 'case')} with {plural(fitted.n_events, 'event')}"
    yield Headline(f"{in_words.headline(edges)} {of}, learned from {sample}")
    yield Note(settings_words(model, short=not every))
    yield from influences(edges, {})
    if every:
        nothing = [x for x, found in model.influencers_.items() if not found and target in (None, x)]
        yield from _uninfluenced(nothing)
    alone = ", by the weights alone" if len(fitted.trees) or fitted.last is not None else ""
    over = "all labels" if model.targets is None else "the targets, and any other label as one"
    yield ""
    yield (
        f"One distribution over {over}. Odds ratio: against any other event type, with the "
        f"influencer among the last {model.lookback} events, all else equal{alone}; a penalty draws it to 1. "
        f"{_NO_CAUSE}"
    )


def outcome(
    model: OutcomeModel,
    order: OrderTest | None = None,
    confidence: Confidence | None = None,
    *,
    every: bool = False,
) -> Iterator[Part]:
    """How often an outcome came about, what changes that, and how often it did in each state."""
    from summarkov.models.outcome import window_words

    fitted, after, edges = model.model_.fitted, model.after, model.influences_
    words = f"{model.name_}: {percent(model.base_rate_)} of {plural(fitted.n_sequences, 'case')}"
    if after is not None:
        thing = "tick" if model.layout_.together else "event"
        had = f"had at least {plural(after, thing)}" if isinstance(after, int) else f"lasted at least {after}"
        yet = " and had not reached it" if any("reached" in reason for reason in model.left_out_) else ""
        words += f" that {had}{yet}, from what is known then"
    yield Headline(words)
    yield from (f"Left out: {plural(n, 'case')}, {reason}" for reason, n in model.left_out_.items())
    if after is not None:
        yield f"Of all cases whose outcome is known: {percent(model.overall_rate_)}"
    yield settings_words(model.model_, short=not every)
    doubts = [f"Notice: {sentence}." for sentence in model.notices_]
    yield from doubts if every else doubts[:1]
    if not every and len(doubts) > 1:
        yield f"... and {plural(len(doubts) - 1, 'more notice')}: --all"
    if edges:
        head = ("Influencer", "Cases with it", "Without → with", "Rate ratio (95%)")
        rows = [
            (
                f"{_SIGNS[edge.shown_effect]} {edge.influencer}",
                f"{number(edge.hits_with)} of {number(edge.n_with)}",
                in_words.outcome_change(edge),
                _ratio(edge),
            )
            for edge in edges
        ]
        styles = [_STYLES[edge.shown_effect] for edge in edges]
        yield Table("", head, rows, len(edges), styles=styles)
        surest, where = edges[0], window_words(fitted, edges[0].influencer)
        yield f"{in_words.outcome_evidence(surest, f'{surest.influencer}{where}', surest.target)}."
        whole = "Whole cases are compared: an influencer may also come after. --after N asks what was known."
        words = "Rate ratio: how many times as likely with it, other influencers equal."
        yield words if after is not None else f"{words} {whole}"
    else:
        yield ""
        yield "No event and no attribute was found to change it; a weak influence may be missed."
    yield from (test.summary() for test in (order, confidence) if test is not None)
    if every:
        yield ""
        states = sorted(model.table_, key=lambda row: -row.n)
        yield model.table_.of_rows(f"{model.name_}, by state", states, outcomes=[model.name_])
    yield from _proved([model.model_])


# ---------------------------------------------------------------------- what comes next


def explain(
    fitted: Any, past: Any, target: str | None, unknown: Any, most: int | None
) -> tuple[Sequence[Any], Iterator[Part]]:
    """What comes next after a history (labels, or the events of one sequence), and how it is shown."""
    one, only = (None, None) if is_outcome(fitted) else choose(fitted, target)
    every: Sequence[Any]
    if is_outcome(fitted):
        if target not in (None, fitted.name_):
            raise UnknownLabelError(target, [fitted.name_])
        every = [fitted.explain(past, unknown=unknown)]
    elif one is not None:
        every = [one.explain(past, label=x, unknown=unknown) for x in (only and (only,)) or one.target_]
    elif only is not None:
        every = [fitted.explain(past, only, unknown=unknown)]
        return every, iter([every[0].summary()])
    else:
        most_of = {} if is_joint(fitted) else {"most": most}
        every = fitted.explain_next(past, **most_of, unknown=unknown)
        return every, _next(every, len(fitted.labels_))
    return every, explanations(every)


def history(found: Mapping[str, Any]) -> Iterator[Part]:
    """A history, as ``history_document`` has it, in words."""
    each = [x if isinstance(x, str) else " + ".join(x) for x in found["after"][-12:]]
    words = ", ".join(shorten(x, 30) for x in each) or "nothing yet"
    where = f" in {shorten(found['case'], 30)}" if "case" in found else ""
    yield Headline(f"History{where}: {'..., ' if len(found['after']) > 12 else ''}{words}")
    if found.get("attributes"):
        yield ", ".join(shorten(x, 30) for x in found["attributes"])
    yield ""


def explanations(every: Sequence[Explanation]) -> Iterator[Part]:
    """Each in sentences: the state, what that makes of the probability, and what would change it."""
    for why in every:
        yield from str(why).split("\n")
        yield from (f"  {there}" for there in why.active if there.lags)


def _next(every: Sequence[Any], n_labels: int) -> Iterator[Part]:
    """The most likely labels, each with why: its state, or the strongest factors of a joint model."""
    rows, is_joint = [], hasattr(every[0], "strongest")
    for each in every[:MOST_NEXT]:
        change = factor(each.probability / each.base_rate) if each.base_rate > 0 else ""
        if is_joint:
            because = ", ".join(f"{shorten(z, 16)} {factor(value)}" for z, value in each.strongest(3))
            seen = ""
        else:
            because, seen = each.words, ("" if each.seen == "often" else "*") + number(each.support)
        rows.append([each.target, percent(each.probability), percent(each.base_rate), change, seen, because])
    rest = 1 - sum(each.probability for each in every)
    if rest > 1e-6 and is_joint:
        rows.append(["(any other)", percent(rest), percent(1 - sum(e.base_rate for e in every)), "", "", ""])
    notes = {
        "* hardly seen: fewer than 10 times, or less than the prior counts for.": any(
            row[4][:1] == "*" for row in rows
        ),
        "Histories like this one were not seen: probabilities beside *0 are guesses, and others shrink with "
        "them. Give all events of the case, from its start.": any(row[4] == "*0" for row in rows),
        "Probability: scaled, so that those of all event types sum to 1.": not is_joint and abs(rest) < 1e-6,
        "Usually: its share of all moments. Because of: which of its influencers occurred in their windows. "
        "Seen: all moments of which that is true. Their histories are pooled, so after just this one an "
        "event may never have come. --target LABEL explains one label.": not is_joint,
        "Usually: its share of all moments. Because of: the strongest factors. --target LABEL explains one "
        "label.": is_joint,
    }
    head = ("Next event", "Probability", "Usually", "Change", "Seen", "Because of")
    yield Sheet("", head, rows, n_labels, _true(notes))


def history_document(history: Any) -> dict[str, Any]:
    """A history: labels, or lists of labels that happened together."""
    if isinstance(history, list):
        return {"after": history}
    (past,) = history.to_lists()
    given = history.attributes
    held = {} if given is None else {"attributes": [given.names[at] for at in given.present[0].nonzero()[0]]}
    return {"case": history.ids[0], "after": past, **held}
