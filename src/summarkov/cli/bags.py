"""A bag of models on a page: how often each label was found to be an influencer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from summarkov.cli.console import print_json
from summarkov.cli.documents import edge_documents
from summarkov.cli.graphs import print_influences
from summarkov.cli.text import bar, label, new_table, page_width, widest
from summarkov.settings import seed_of
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models import Bag


def print_bag(console: Console, bag: Bag, json: bool) -> None:
    """Print the usage of influencers, as text or JSON."""
    kind = type(bag.models_[0]).__name__
    if json:
        print_json(
            {
                "kind": "Bag",
                "model": kind,
                "target": list(bag.target_),
                "n_models": len(bag.models_),
                "seed": seed_of(bag.seed, bag.random_state),
                "usage": bag.usage_,
                "edges": edge_documents(bag.influences_) if hasattr(bag, "_influences") else [],
                "influencers": [list(model.influencers_) for model in bag.models_],
            }
        )
        return
    width = page_width(console)
    console.print(label(f"{plural(len(bag.models_), kind)} of {', '.join(bag.target_)}", width, style="bold"))
    console.print(Text("Each was learned from a resample of the sequences; they predict by their mean.\n"))
    if not bag.usage_:
        console.print("No label influences it in any of them.")
    elif hasattr(bag, "_influences") and bag.influences_:
        print_influences(console, bag.influences_, {})
        console.print(
            Text(
                "\nSure: how many of the models have the influencer. The other numbers are counted on the "
                "data themselves, where these models ask for it, their other influencers equal.",
                style="dim",
            )
        )
    else:
        _print_usage(console, bag.usage_, width)


def _print_usage(console: Console, usage: Mapping[str, float], width: int) -> None:
    """How often each label is an influencer, where no more is known."""
    table = new_table()
    table.add_column("Influencer", no_wrap=True)
    table.add_column("In", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    names = min(width - 32, max(10, widest(list(usage))))
    for z, share in usage.items():
        table.add_row(label(z, names), percent(share), bar(share, 20))
    console.print(table)
