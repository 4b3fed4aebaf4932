"""Fitted models and graphs as notebooks show them: small tables in HTML, every label escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from summarkov.explain.sentences import change, limits, times
from summarkov.models.exports import colour
from summarkov.wording import number, percent, visible

if TYPE_CHECKING:
    from summarkov.explain import Influence
    from summarkov.models.graph import InfluenceGraph
    from summarkov.models.model import SummaryModel

#: Show at most this many rows.
MOST = 30


def model_html(model: SummaryModel) -> str:
    """The states that were seen most, with probabilities, intervals and counts."""
    if not model.is_fitted:
        return f"<code>{_text(repr(model))}</code>"
    shown = [(i, str(x)) for i, x in enumerate(model.target_)]
    head = ["state", "n", *(part for _, x in shown for part in (x, "95% interval"))]
    table = sorted(model.table_, key=lambda row: -row.n)
    rows = [
        [
            _text(row.words or "any history"),
            f"{row.n:,g}",
            *(
                cell
                for i, _ in shown
                for cell in (
                    f"{row.probabilities[i]:.4f}",
                    "{:.4f} to {:.4f}".format(*row.intervals[i]) if row.n else "never seen",
                )
            ),
        ]
        for row in table[:MOST]
    ]
    influencers = ", ".join(model.influencers_) or "none"
    title = f"{type(model).__name__} of {', '.join(model.target_)}; influencers: {influencers}"
    return _table(title, head, rows, len(table))


def graph_html(graph: InfluenceGraph) -> str:
    """The surest edges."""
    if not hasattr(graph, "_models"):
        return f"<code>{_text(repr(graph))}</code>"
    edges = graph.edges_
    sure = any(edge.frequency is not None for edge in edges)
    head = [
        "influencer",
        "effect",
        "target",
        "otherwise → after",
        "times as likely",
        "95% interval",
        "sequences",
        *(["found again"] if sure else []),
    ]
    rows = [
        [
            _text(edge.influencer),
            f'<span style="color:{colour(edge)}">{_effect(edge)}</span>',
            _text(edge.target),
            escape(change(edge)),
            escape(times(edge)),
            escape(limits(edge)),
            "" if edge.sequences is None else number(edge.sequences),
            *([percent(edge.frequency) if edge.frequency is not None else ""] if sure else []),
        ]
        for edge in edges[:MOST]
    ]
    title = (
        f"InfluenceGraph of {len(graph.models_)} targets: {len(edges)} influences, the surest first; factors "
        "with other influencers equal"
    )
    return _table(title, head, rows, len(edges))


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], total: int) -> str:
    cells = "".join(f"<th>{_text(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<p>... and {total - MOST} more</p>" if total > MOST else ""
    return (
        f"<table><caption>{_text(title)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )


def _effect(edge: Influence) -> str:
    return f"{edge.effect} ({edge.faint})" if edge.faint else edge.effect


def _text(text: str) -> str:
    """Text from data as text, long ones cut, in its own direction of writing."""
    shown = visible(text)
    return f"<bdi>{escape(shown if len(shown) <= 80 else shown[:79] + '…')}</bdi>"
