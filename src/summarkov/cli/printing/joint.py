"""A joint model for people to read, and as JSON: its influences, one label, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from summarkov.cli.printing.console import label, new_table, page_width, shorten, signs, widest
from summarkov.cli.printing.documents import edge_documents
from summarkov.cli.printing.influences import print_influences
from summarkov.cli.printing.settings import settings, settings_words
from summarkov.wording import factor, percent, plural

if TYPE_CHECKING:
    from summarkov.explain.explanation import SharedExplanation
    from summarkov.models import JointSuMM

#: The most labels that may come next, to print.
_MOST_NEXT = 20


def print_joint(
    console: Console, model: JointSuMM, *, target: str | None = None, most: int | None = None
) -> None:
    """Print a joint model, the surest influences first; of one target, what each influencer does when."""
    fitted = model.fitted
    edges = [edge for edge in model.edges_ if target in (None, edge.target)]
    console.print(
        f"{plural(len(edges), 'influence')} {_of(target, fitted.labels)}, learned from "
        f"{plural(fitted.n_sequences, 'sequence')} with {plural(fitted.n_events, 'event')}",
        style="bold",
    )
    console.print(settings_words(model), style="dim")
    if edges:
        console.print()
        print_influences(console, edges[:most], {})
    if most is not None and len(edges) > most:
        console.print(f"... and {len(edges) - most} less sure ones, which 'summarkov show' prints too")
    none = [x for x, found in model.influencers_.items() if not found and target in (None, x)]
    if none:
        names = ", ".join(shorten(x, 30) for x in none[:10])
        more = f" and {len(none) - 10} more" if len(none) > 10 else ""
        console.print(f"\nInfluenced by none: {names}{more}", style="dim")
    if target is not None and model.influencers_[target]:
        _print_recency(console, model, target)
    console.print(
        "\nOne distribution over all labels. Factor: of the odds against any other label, while the "
        f"influencer is among the last {model.lookback} events, all else equal; a penalty draws it to 1. "
        "Influence here is statistical: no proof of cause."
    )


def _of(target: str | None, labels: Sequence[str]) -> str:
    return f"among {plural(len(labels), 'label')}" if target is None else f"on '{shorten(target, 30)}'"


def _print_recency(console: Console, model: JointSuMM, target: str) -> None:
    """The factor of each influencer by how long ago it occurred, and what the likelihood loses without it."""
    recency, gains = model.recency_[target], model.gains_[target]
    lags = next(iter(recency.values()))
    console.print("\nFactor by how many events ago it occurred, once", style="dim")
    table = new_table("Influencer", *(f">{lag}" for lag in lags), ">Gain")
    width = max(12, page_width(console) - 8 * len(lags) - 10)
    for z, gain in gains.items():
        cells = (signs(console, factor(each)) for each in recency[z].values())
        table.add_row(label(z, min(width, max(10, widest(list(gains))))), *cells, f"{gain:,.0f}")
    console.print(table)
    console.print("Gain: what the log-likelihood loses without it, in nats.", style="dim")


def joint_json(model: JointSuMM, target: str | None = None) -> dict[str, Any]:
    """A joint model for programs: its edges and, for every target, influencers, gains and factors by lag."""
    fitted = model.fitted
    return {
        "kind": "JointSuMM",
        "settings": settings(model),
        "data": {
            "sequences": fitted.n_sequences,
            "events": fitted.n_events,
            "labels": dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True)),
        },
        "log_likelihood": fitted.log_likelihood,
        "edges": edge_documents(edge for edge in model.edges_ if target in (None, edge.target)),
        "targets": [
            {
                "target": x,
                "influencers": list(found),
                "gains": model.gains_[x],
                "recency": {
                    z: {str(lag): each for lag, each in by_lag.items()}
                    for z, by_lag in model.recency_[x].items()
                },
            }
            for x, found in model.influencers_.items()
            if target in (None, x)
        ],
    }


def print_next(console: Console, model: JointSuMM, why: Sequence[SharedExplanation]) -> None:
    """Print what may come next, the most likely first, each with its strongest factors."""
    table = new_table("Next", ">Probability", ">Usually", "Because of")
    width = min(max(12, page_width(console) // 3), max(10, widest([each.target for each in why])))
    for each in why[:_MOST_NEXT]:
        named = [(share.label, share.factor) for share in each.shares[:2]]
        named += [("habits", each.habits)] if abs(each.habits - 1) > 0.1 else []
        told = ", ".join(f"{shorten(name, 16)} {factor(value)}" for name, value in named)
        cells = percent(each.probability), percent(each.base_rate)
        table.add_row(
            label(each.target, width),
            *cells,
            label(signs(console, told), page_width(console) - width - 30) if told else "",
        )
    console.print(table)
    if len(why) > _MOST_NEXT:
        console.print(f"... and {len(why) - _MOST_NEXT} less likely ones")
    console.print(
        "\nThe probabilities of all labels sum to 1. Why one has its own: --target LABEL", style="dim"
    )


def print_shares(console: Console, why: SharedExplanation) -> None:
    """Print one probability as a product of factors."""
    sheet = why.summary()
    console.print(signs(console, repr(sheet)))
    console.print(
        "\nThe base rate times all factors is the probability. Competition is the room that other labels "
        "leave: below 1 where they are more likely than usual.",
        style="dim",
    )
