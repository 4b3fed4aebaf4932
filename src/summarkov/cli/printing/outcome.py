"""A model of how sequences end, printed and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Console

from summarkov.cli.printing.console import label, new_table, page_width
from summarkov.cli.printing.settings import settings, settings_words
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models import OutcomeModel
    from summarkov.models.predictions import Predictions


def outcome_document(model: OutcomeModel) -> dict[str, Any]:
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


def print_outcome(console: Console, model: OutcomeModel) -> None:
    """How often it came about, what changes that, and how often it did in each state."""
    from summarkov.explain.sentences import change, limits, times

    told_of = plural(model.model_.fitted.n_sequences, "sequence")
    console.print(f"{model.name_}: {percent(model.base_rate_)} of {told_of}", style="bold")
    if model.n_left_out_:
        console.print(f"{plural(model.n_left_out_, 'sequence')} left out: too short, decided, or not known")
    console.print(settings_words(model.model_))
    console.print()
    edges = model.influences_
    if edges:
        width = max(12, page_width(console) - 52)
        table = new_table("Influencer", "Effect", ">Without → with", ">Factor", ">95% interval")
        for edge in edges:
            factor = times(edge) or "unclear"
            table.add_row(label(edge.influencer, width), edge.effect, change(edge), factor, limits(edge))
        console.print(table)
        console.print("Factor: how many times as likely with it, other influencers equal.")
    else:
        console.print("No event and no attribute was found to change it; a weak influence may be missed.")
    console.print()
    console.print(str(model.states_sheet()))
