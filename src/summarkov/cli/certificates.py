"""What an exact search proved, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from summarkov.cli.text import shorten
from summarkov.wording import number, plural

if TYPE_CHECKING:
    from summarkov.models import InfluenceGraph, SummaryModel


def print_certificate(console: Console, model: SummaryModel) -> None:
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
        console.print(Text(f"Greedy search finds {names}, which scores {found.greedy_gap:,.1f} less."))
    else:
        console.print("Greedy search finds nothing worse.")


def print_certificates(console: Console, graph: InfluenceGraph) -> None:
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
    console.print(Text(words))


def _sets(n: int) -> str:
    """A number of sets, which may be astronomical.

    >>> _sets(32), _sets(2**173)
    ('32 sets', '1.2e+52 sets')
    """
    return plural(n, "set") if n < 10**9 else f"10^{len(str(n)) - 1} sets" if n > 10**300 else f"{n:.1e} sets"
