"""Influence graphs as files of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from summarkov.explain import Influence
    from summarkov.models.graph import InfluenceGraph


class Stroke(NamedTuple):
    """How the edges of one effect are drawn: colour, line and arrowhead (of Graphviz and of Mermaid)."""

    colour: str
    line: str
    head: str
    arrow: str


#: Every picture of a graph draws effects alike, and never by colour alone.
STROKES: Mapping[str, Stroke] = MappingProxyType(
    {
        "amplifies": Stroke("#1b7837", "solid", "normal", "-->"),
        "inhibits": Stroke("#b2182b", "dashed", "tee", "-.-x"),
        "mixed": Stroke("#7570b3", "dotted", "diamond", "-.-o"),
        "unclear": Stroke("#777777", "dotted", "odot", "-.-"),
    }
)


def width(edge: Influence) -> float:
    """Line width of an edge: 1 to 5, wider if stronger."""
    return 1 + min(abs(edge.strength), 4)


def factor(edge: Influence) -> str:
    """What is written on an edge: the factor with about two digits; nothing where it is unclear."""
    if edge.effect == "unclear":
        return ""
    ratio = edge.ratio
    return f"x{ratio:.0f}" if ratio >= 10 else f"x{ratio:.1f}" if ratio >= 1 else f"x{ratio:.2g}"


def visible(label: str) -> str:
    r"""A label without control characters, which no format of text can hold: they are spelt out.

    >>> visible("a\x07b\n")
    'a\\x07b\\n'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in label)


def to_networkx(graph: InfluenceGraph) -> Any:
    """networkx, see :meth:`InfluenceGraph.to_networkx`."""
    import networkx

    found = networkx.DiGraph()
    fitted = next(iter(graph.models_.values())).fitted
    for label, n in zip(graph.labels_, (fitted.label_counts / fitted.scale).tolist(), strict=True):
        found.add_node(label, n=n)
    for edge in graph.edges_:
        numbers = {k: v for k, v in vars(edge).items() if isinstance(v, float) or k == "effect"}
        found.add_edge(edge.influencer, edge.target, **numbers)
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
        colour, line, head, _ = STROKES[edge.effect]
        sure = "" if edge.frequency is None else f"{edge.frequency:.0%}"
        lines.append(
            f"  {_dot(edge.influencer)} -> {_dot(edge.target)} "
            f'[color="{colour}", fontcolor="{colour}", style={line}, arrowhead={head}, '
            f'penwidth={width(edge):.2f}, label="{f"{factor(edge)} {sure}".strip()}", '
            f'tooltip="{" ".join(filter(None, (edge.effect, factor(edge), sure)))}"];'
        )
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    """Quote a label for DOT."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def to_mermaid(graph: InfluenceGraph) -> str:
    """Mermaid, see :meth:`InfluenceGraph.to_mermaid`."""
    node = {label: f"n{i}" for i, label in enumerate(graph.labels_)}
    lines = ["flowchart LR"]
    lines += [f'  {node[label]}["{_mermaid(label)}"]' for label in graph.labels_]
    styles = []
    for i, edge in enumerate(graph.edges_):
        colour, _, _, arrow = STROKES[edge.effect]
        text = f'|"{factor(edge)}"|' if factor(edge) else ""
        lines.append(f"  {node[edge.influencer]} {arrow}{text} {node[edge.target]}")
        styles.append(f"  linkStyle {i} stroke:{colour},stroke-width:{width(edge):.1f}px,color:{colour}")
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


def edge_columns(edges: Sequence[Influence]) -> dict[str, list[Any]]:
    """The edges as columns: influencer, target, effect, strength, ratio, counts, confidence where known."""
    rows = [{**vars(edge), "ratio": edge.ratio} for edge in edges]
    names = list(rows[0]) if rows else ["influencer", "target", "effect", "strength", "ratio"]
    return {name: [row[name] for row in rows] for name in names}
