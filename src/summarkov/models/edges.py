"""The influences of a model or graph: a tuple to work with, a table, files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self

from summarkov.evidence import Influence, ranked
from summarkov.evidence.words import (
    cases,
    effect_word,
    follow_note,
    follows,
    follows_others,
    headline,
    limits,
    rates,
    times,
    verdict,
)
from summarkov.frames import MOST, Records, Sheet
from summarkov.show import STROKES, colour, width
from summarkov.wording import percent, visible

if TYPE_CHECKING:
    import networkx as nx


class Edges(Records[Influence]):
    """Influences by evidence: the surest first, then labels on themselves, then faint ones.

    A tuple of :class:`Influence`: all that a search selected. ``passing`` are those that count as found.
    ``to_frame()`` has one row per influence, with the fields of it and ``rate_with``, ``rate_without``,
    ``precedence``, ``evidence``, ``set_aside`` and others that are derived from them.
    """

    def __new__(cls, records: Iterable[Influence] = (), record: type = Influence) -> Self:
        """Rank the influences."""
        return super().__new__(cls, ranked(records), record)

    @property
    def passing(self) -> Edges:
        """The influences that count as found: all but those with a reason in ``set_aside``."""
        return Edges(edge for edge in self if not edge.set_aside)

    def summary(self) -> Sheet:
        """The surest influences, as a table that prints well and that notebooks show in HTML."""
        what = "odds ratios, all else equal" if self._of_odds else "rate ratios with other influencers equal"
        return self.sheet(f"{headline(self)}, the surest first; {what}")

    @property
    def _of_odds(self) -> bool:
        """Whether these are edges of a joint model, whose ratios are odds ratios."""
        return any(edge.interval == "likelihood" for edge in self)

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The surest influences, under a title."""
        columns = {
            "influencer": [edge.influencer for edge in self],
            "effect": [_effect(edge) for edge in self],
            "target": [edge.target for edge in self],
            "follows": [follows(edge) for edge in self],
            "after others": [follows_others(edge, counts=False) for edge in self],
            "odds ratio" if self._of_odds else "rate ratio": [times(edge) for edge in self],
            "95% interval": [limits(edge) for edge in self],
            "cases": [cases(edge) for edge in self],
        }
        if any(edge.frequency is not None for edge in self):
            columns["found again"] = [
                "" if edge.frequency is None else percent(edge.frequency) for edge in self
            ]
        shown = self[:MOST]
        rows = [list(row) for row in zip(*(cells[:MOST] for cells in columns.values()), strict=True)]
        notes = (*notes, *filter(None, [follow_note(self)]))
        colours = [[None, colour(edge), *[None] * (len(columns) - 2)] for edge in shown]
        return Sheet(title, list(columns), rows, len(self), notes, colours)


def _effect(edge: Influence) -> str:
    """The effect, and why an edge is faint."""
    word = effect_word(edge)
    return f"{word} ({edge.faint})" if edge.faint not in ("", word) else word


#: Fields of an edge that are text and go into graph files.
_TEXTS = ("effect", "interval", "order", "follow_rule", "not_comparable")


def to_networkx(edges: Iterable[Influence], label_counts: Mapping[str, float]) -> nx.DiGraph:
    """A ``networkx.DiGraph``; edges have their effect and all numbers."""
    import networkx

    found = networkx.DiGraph()
    for label, n in label_counts.items():
        found.add_node(label, n=n)
    for edge in edges:
        told = {
            k: v
            for k, v in vars(edge).items()
            if isinstance(v, float | int) or (v is not None and k in _TEXTS)
        }
        told |= {"is_thin": edge.is_thin, "set_aside": edge.set_aside}
        found.add_edge(edge.influencer, edge.target, **told)
    return found


def to_graphml(graph: nx.DiGraph) -> str:
    """GraphML, for Gephi, Cytoscape, yEd and others."""
    import networkx

    named = networkx.DiGraph()
    node = {label: f"n{i}" for i, label in enumerate(graph)}
    for label, attributes in graph.nodes(data=True):
        # only plain text, for networkx looks up the very class of a value
        named.add_node(node[label], label=str(visible(label)), **attributes)
    for a, b, attributes in graph.edges(data=True):
        named.add_edge(node[a], node[b], **{k: v for k, v in attributes.items() if v is not None})
    return "\n".join(networkx.generate_graphml(named)) + "\n"


def to_dot(edges: Iterable[Influence], labels: Iterable[str]) -> str:
    """Graphviz's DOT language."""
    lines = [
        "digraph influence {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *(f"  {_dot(label)};" for label in labels),
    ]
    for edge in edges:
        _, line, head, _ = STROKES[edge.shown_effect]
        sure = "" if edge.frequency is None else percent(edge.frequency)
        lines.append(
            f"  {_dot(edge.influencer)} -> {_dot(edge.target)} "
            f'[color="{colour(edge)}", fontcolor="{colour(edge)}", style={line}, arrowhead={head}, '
            f'penwidth={width(edge):.2f}, label="{f"{times(edge)} {sure}".strip()}", '
            f'tooltip="{rates(edge)}: {_dot_text(verdict(edge))}"];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(edges: Iterable[Influence], labels: Iterable[str]) -> str:
    """Mermaid's language."""
    node = {label: f"n{i}" for i, label in enumerate(labels)}
    lines = ["flowchart LR", *(f'  {name}["{_mermaid(label)}"]' for label, name in node.items())]
    styles = []
    for i, edge in enumerate(edges):
        text = f'|"{times(edge)}"|' if times(edge) else ""
        arrow = STROKES[edge.shown_effect].arrow
        lines.append(f"  {node[edge.influencer]} {arrow}{text} {node[edge.target]}")
        styles.append(
            f"  linkStyle {i} stroke:{colour(edge)},stroke-width:{width(edge):.1f}px,color:{colour(edge)}"
        )
    return "\n".join([*lines, *styles]) + "\n"


def _dot(text: str) -> str:
    """Quote a label for DOT."""
    return f'"{_dot_text(text)}"'


def _dot_text(text: str) -> str:
    """What may stand between quotes in DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _mermaid(text: str) -> str:
    """A label between quotes: whatever is not a letter or digit of some script becomes an entity."""
    return "".join(c if c.isalnum() or c in " -_" else f"#{ord(c)};" for c in visible(text))
