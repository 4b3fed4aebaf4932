"""Influence graphs as files of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from summarkov.explain import Influence
from summarkov.explain.sentences import rates, times, verdict
from summarkov.wording import percent, visible

if TYPE_CHECKING:
    from summarkov.models.graph import InfluenceGraph


class Stroke(NamedTuple):
    """How the edges of one effect are drawn: colour, line and arrowhead (of Graphviz and of Mermaid)."""

    colour: str
    line: str
    head: str
    arrow: str


#: Every picture of a graph draws effects alike: in blue and orange, which people with any colour vision tell
#: apart, and never by colour alone.
STROKES: Mapping[str, Stroke] = MappingProxyType(
    {
        "amplifies": Stroke("#0a62a9", "solid", "normal", "-->"),
        "inhibits": Stroke("#a94a00", "dashed", "tee", "-.-x"),
        "mixed": Stroke("#3d3d3d", "dotted", "diamond", "-.-o"),
        "unclear": Stroke("#666666", "dotted", "odot", "-.-"),
    }
)


def width(edge: Influence) -> float:
    """Line width of an edge: 1 to 5, wider the larger the factor that is sure; 1 if it is a faint one."""
    return 1 + min(weight(edge), 4.0)


def weight(edge: Influence) -> float:
    """How much an edge counts in a picture: its evidence, and nothing where it is faint."""
    return 0.0 if edge.faint else edge.evidence


def colour(edge: Influence) -> str:
    """The colour of an edge's effect; grey where it is thin, company only or competition only."""
    return STROKES["unclear" if edge.faint else edge.effect].colour


def to_networkx(graph: InfluenceGraph) -> Any:
    """networkx, see :meth:`InfluenceGraph.to_networkx`."""
    import networkx

    found = networkx.DiGraph()
    fitted = next(iter(graph.models_.values())).fitted
    for label, n in zip(graph.labels_, (fitted.label_counts / fitted.scale).tolist(), strict=True):
        found.add_node(label, n=n)
    for edge in graph.edges_:
        numbers = {
            k: v
            for k, v in vars(edge).items()
            if isinstance(v, float | int) or (v is not None and k in ("effect", "interval", "order"))
        }
        found.add_edge(edge.influencer, edge.target, **numbers, is_thin=edge.is_thin)
    return found


def to_dot(graph: InfluenceGraph) -> str:
    """Graphviz, see :meth:`InfluenceGraph.to_dot`."""
    lines = [
        "digraph influence {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    lines += [f"  {_dot(label)};" for label in graph.labels_]
    for edge in graph.edges_:
        _, line, head, _ = STROKES[edge.effect]
        sure = "" if edge.frequency is None else percent(edge.frequency)
        lines.append(
            f"  {_dot(edge.influencer)} -> {_dot(edge.target)} "
            f'[color="{colour(edge)}", fontcolor="{colour(edge)}", style={line}, arrowhead={head}, '
            f'penwidth={width(edge):.2f}, label="{f"{times(edge)} {sure}".strip()}", '
            f'tooltip="{rates(edge)}: {_dot_text(verdict(edge))}"];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    """Quote a label for DOT."""
    return f'"{_dot_text(text)}"'


def _dot_text(text: str) -> str:
    """What may stand between quotes in DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def to_mermaid(graph: InfluenceGraph) -> str:
    """Mermaid, see :meth:`InfluenceGraph.to_mermaid`."""
    node = {label: f"n{i}" for i, label in enumerate(graph.labels_)}
    lines = ["flowchart LR"]
    lines += [f'  {node[label]}["{_mermaid(label)}"]' for label in graph.labels_]
    styles = []
    for i, edge in enumerate(graph.edges_):
        text = f'|"{times(edge)}"|' if times(edge) else ""
        lines.append(f"  {node[edge.influencer]} {STROKES[edge.effect].arrow}{text} {node[edge.target]}")
        styles.append(
            f"  linkStyle {i} stroke:{colour(edge)},stroke-width:{width(edge):.1f}px,color:{colour(edge)}"
        )
    return "\n".join([*lines, *styles]) + "\n"


def _mermaid(text: str) -> str:
    """A label between quotes: whatever is not a letter or digit of some script becomes an entity."""
    return "".join(c if c.isalnum() or c in " -_" else f"#{ord(c)};" for c in visible(text))


def to_graphml(graph: InfluenceGraph) -> str:
    """GraphML, see :meth:`InfluenceGraph.to_graphml`."""
    import networkx

    found = graph.to_networkx()
    named = networkx.DiGraph()
    node = {label: f"n{i}" for i, label in enumerate(found)}
    for label, attributes in found.nodes(data=True):
        named.add_node(node[label], label=visible(label), **attributes)
    for a, b, attributes in found.edges(data=True):
        named.add_edge(node[a], node[b], **{k: v for k, v in attributes.items() if v is not None})
    return "\n".join(networkx.generate_graphml(named)) + "\n"
