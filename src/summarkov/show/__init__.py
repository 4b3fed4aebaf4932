"""Models as a page and as figures; and how an influence looks in every picture."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from summarkov.evidence import Influence, weight


class Stroke(NamedTuple):
    """How the edges of one effect are drawn: colour, line and arrowhead (of Graphviz)."""

    colour: str
    line: str
    head: str


#: Every picture of a graph draws effects alike: in blue and orange, which people with any colour vision tell
#: apart, and never by colour alone.
STROKES: Mapping[str, Stroke] = MappingProxyType(
    {
        "amplifies": Stroke("#0a62a9", "solid", "normal"),
        "inhibits": Stroke("#a94a00", "dashed", "tee"),
        "mixed": Stroke("#3d3d3d", "dotted", "diamond"),
        "unclear": Stroke("#666666", "dotted", "odot"),
    }
)


def width(edge: Influence) -> float:
    """Line width of an edge: 1 to 5, wider the larger the lower bound of its effect; 1 if it is faint."""
    return 1 + min(weight(edge), 4.0)


def colour(edge: Influence) -> str:
    """The colour of an edge's effect; grey where it is unclear or faint."""
    return STROKES["unclear" if edge.faint else edge.shown_effect].colour
