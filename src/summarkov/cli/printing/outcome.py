"""A model of how sequences end, printed and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from summarkov.cli.printing.console import label, new_table, page_width, widest
from summarkov.cli.printing.documents import settings, settings_words
from summarkov.cli.printing.influences import print_certificate
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.confidence import Confidence, OrderTest
    from summarkov.explain import Influence
    from summarkov.models import OutcomeModel
    from summarkov.models.predictions import Predictions


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


def outcome_document(model: OutcomeModel, sure: Sure = UNASKED) -> dict[str, Any]:
    """What was learned, for programs."""
    return {
        "outcome": model.name_,
        "sequences": model.model_.fitted.n_sequences + model.n_left_out_,
        "left_out": model.n_left_out_,
        "base_rate": model.base_rate_,
        "settings": settings(model.model_),
        "influencers": list(model.influencers_),
        "influences": [dict(vars(edge)) for edge in model.influences_],
        "states": [
            {"state": row.words, "sequences": row.n, "with_outcome": row.counts[model.yes]}
            for row in model.table_
        ],
        **{name: asdict(each) for name, each in sure._asdict().items() if each is not None},
    }


def known(told: Predictions) -> list[float | None]:
    """The probabilities of open cases; None of those that the model says nothing about."""
    return [None if math.isnan(p) else p for p in told.probabilities[:, 0].tolist()]


def print_open(console: Console, model: OutcomeModel, told: Predictions) -> None:
    """The probabilities of open cases, and why some have none."""
    console.print(str(told.summary()))
    beyond = known(told).count(None)
    if beyond:
        console.print(
            f"No probability: {plural(beyond, 'case')} with more than {plural(model.after or 0, 'position')},"
            " of which the model says nothing; learn it with a larger --after."
        )


def left_out(model: OutcomeModel) -> str:
    """Why sequences are left out, by what was asked."""
    after, positions = model.after, "ticks" if model.layout_.together else "events"
    reasons = []
    if model.reaches is not None:
        reasons = [f"it came among the first {after} {positions}", f"there are no more than {after}"]
    else:
        reasons += [] if model.ends_with is not None else ["the outcome is not known"]
        reasons += [f"there are fewer than {after} {positions} before it"] if after is not None else []
        reasons += ["there are no events"] if not reasons else []
    return f"{plural(model.n_left_out_, 'sequence')} left out: {', or '.join(reasons)}"


def print_outcome(console: Console, model: OutcomeModel, sure: Sure = UNASKED) -> None:
    """How often it came about, what changes that, and how often it did in each state."""
    from summarkov.explain.sentences import change, limits, times

    told_of = plural(model.model_.fitted.n_sequences, "sequence")
    console.print(f"{model.name_}: {percent(model.base_rate_)} of {told_of}", style="bold")
    if model.n_left_out_:
        console.print(left_out(model))
    console.print(settings_words(model.model_))
    console.print()
    edges = model.influences_
    if edges:
        more = sure.columns(edges)
        width = max(12, page_width(console) - 52 - sum(2 + widest([*each]) for each in more.values()))
        table = new_table("Influencer", "Effect", ">Without → with", ">Factor", ">95% interval", *more)
        for at, edge in enumerate(edges):
            told = (edge.effect, change(edge), times(edge) or "unclear", limits(edge))
            table.add_row(label(edge.influencer, width), *told, *(cells[at] for cells in more.values()))
        console.print(table)
        words = ("Factor: how many times as likely with it, other influencers equal.", *sure.sentences())
        console.print(" ".join(words))
    else:
        console.print("No event and no attribute was found to change it; a weak influence may be missed.")
    console.print()
    console.print(str(model.states_sheet()))
    print_certificate(console, model.model_)
