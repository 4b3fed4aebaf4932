"""What comes next after a history that is typed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from summarkov.cli.console import output, print_json
from summarkov.cli.tables import state_text
from summarkov.cli.text import (
    factor,
    interval,
    label,
    new_table,
    number,
    page_width,
    percent,
    plural,
    shorten,
    widest,
)
from summarkov.cli.windows import window_words


def print_after(fitted: Any, history: Sequence[str], unknown: str, json: bool) -> None:
    """Print the probability of every label that the model knows about, and why."""
    from summarkov.models import InfluenceGraph

    console = output()
    if isinstance(fitted, InfluenceGraph):
        rows = next_events(fitted, history, unknown)
        if json:
            print_json({"after": list(history), "next": rows})
            return
        _print_history(console, history)
        _print_next(console, fitted, rows)
        return
    rows = [_plain(fitted.explain(history, label=x, unknown=unknown)) for x in fitted.target_]
    if json:
        print_json({"after": list(history), "next": rows})
        return
    _print_history(console, history)
    _print_one(console, fitted, rows)


def next_events(graph: Any, history: Sequence[str], unknown: str) -> list[dict[str, Any]]:
    """Every label of a graph, the most likely first.

    ``probability`` is normalised where the graph is over all labels; the interval, support and base rate
    are those of the label's own model.
    """
    found = {x: graph.explain(history, x, unknown=unknown) for x in graph.models_}
    shares = {x: each.probability for x, each in found.items()}
    if len(shares) == len(graph.labels_):
        total = sum(shares.values())
        shares = {x: p / total for x, p in shares.items()}
    ordered = sorted(found, key=lambda x: (-shares[x], x))
    return [{**_plain(found[x]), "probability": shares[x]} for x in ordered]


def _plain(explanation: Any) -> dict[str, Any]:
    low, high = explanation.interval
    values = explanation.to_dict()
    del values["interval"]
    return {"label": values.pop("target"), **values, "low": low, "high": high}


def _print_history(console: Console, history: Sequence[str]) -> None:
    words = ", ".join(shorten(x, 30) for x in history[-12:])
    console.print(Text(f"After: {'..., ' if len(history) > 12 else ''}{words}", style="bold"))
    console.print()


def _print_one(console: Console, model: Any, rows: list[dict[str, Any]]) -> None:
    """The labels of one model: they share the state that the history is in."""
    state, words, support = (rows[0][name] for name in ("state", "words", "support"))
    where = window_words(model)
    seen = f"seen {plural(support, 'time')}" if support else "never seen, so this is the prior alone"
    console.print(Text(f"{where[:1].upper()}{where[1:]}: {state_text(model, state, words)} ({seen})"))
    console.print()
    width = min(max(12, page_width(console) - 55), max(10, widest([row["label"] for row in rows])))
    table = new_table()
    table.add_column("Next", no_wrap=True)
    for heading in ("Probability", "95% interval", "Usually"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Change", no_wrap=True)
    for row in rows:
        p, usual = row["probability"], row["base_rate"]
        bounds = interval(row["low"], row["high"])
        table.add_row(label(row["label"], width), percent(p), bounds, percent(usual), _change(p, usual))
    console.print(table)


def _change(probability: float, usual: float) -> Text:
    if usual <= 0:
        return Text("")
    ratio = probability / usual
    return Text(factor(ratio), style="green" if ratio > 1.2 else "red" if ratio < 1 / 1.2 else "")


def _print_next(console: Console, graph: Any, rows: list[dict[str, Any]]) -> None:
    room = page_width(console)
    width = min(max(12, room // 4), max(10, widest([row["label"] for row in rows])))
    because = max(12, room - width - 44)
    table = new_table()
    table.add_column("Next", no_wrap=True)
    table.add_column("Probability", justify="right", no_wrap=True)
    table.add_column("Usually", justify="right", no_wrap=True)
    table.add_column("Change", no_wrap=True)
    table.add_column("Seen", justify="right", no_wrap=True)
    table.add_column("Because of", width=because)
    for row in rows:
        model = graph.models_[row["label"]]
        usual = row["base_rate"]
        words = state_text(model, row["state"], row["words"], because) if model.influencers_ else "-"
        table.add_row(
            label(row["label"], width),
            percent(row["probability"]),
            percent(usual),
            _change(row["probability"], usual),
            number(row["support"]),
            Text(words, style="" if row["state"] else "dim"),
        )
    console.print(table)
    console.print()
    words = window_words(next(iter(graph.models_.values())))
    console.print(
        Text(
            f"Because of: which of its influencers occurred {words}, and how often that was seen. "
            "Usually: the label's share of all events."
        )
    )
