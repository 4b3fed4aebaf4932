"""Who influences whom, as a figure: the same graph as on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from summarkov.explain import Influence, weight
from summarkov.explain.sentences import times
from summarkov.models import InfluenceGraph
from summarkov.models.edges import STROKES, colour, width
from summarkov.plot.canvas import axes_for, plain, renderer_of
from summarkov.report.content import layout_edges
from summarkov.report.layout import ASPECT, apart, places
from summarkov.typing import FloatArray

#: A new figure is at least this wide and high, in inches, so that there is room for the legend.
_LEAST = np.array([4.0, 1.6])
#: How high the legend is, in inches.
_LEGEND = 0.5
_LINES: dict[str, Any] = {"solid": "-", "dashed": (0, (4, 2)), "dotted": (0, (1, 2))}


def graph(
    fitted: InfluenceGraph,
    *,
    least: float = 0.0,
    most: int | None = None,
    factors: bool | None = None,
    size: float | None = None,
    font_size: float = 8.0,
    ax: Any = None,
) -> Any:
    """Draw a fitted graph: blue solid arrows amplify, orange dashed ones with a bar inhibit.

    Parameters
    ----------
    fitted : InfluenceGraph
        Fitted.
    least : float
        Draw only edges of at least this evidence: the logarithm of the factor that is sure. More than 0
        leaves out thin ones.
    most : int, optional
        Draw at most this many edges, the surest.
    factors : bool, optional
        Whether to write on each edge by which factor the probability changes; by default where there are at
        most 40 edges.
    size : float, optional
        How wide a new figure is, in inches; by default as wide as the labels need.
    font_size : float
        Of the labels, in points; smaller where there is less room than the labels need.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure, larger for more labels.

    Returns the axes. Labels stand about where the page has them, and apart from each other; labels without
    any edge that is drawn are left out where there are more than 40. The wider a line, the larger the factor
    that is sure. Grey ones are thin, company only or competition only; where confidence is known, paler lines
    are less sure.
    """
    drawn = [edge for edge in fitted.edges_ if weight(edge) >= least][:most]
    linked = {label for edge in drawn for label in (edge.influencer, edge.target)}
    is_small = len(fitted.labels_) <= 40 or not linked
    labels = [label for label in fitted.labels_ if is_small or label in linked]
    codes = {label: i for i, label in enumerate(labels)}
    place = np.array(places(len(labels), layout_edges(drawn, codes))) * [ASPECT, -1.0]
    is_new = ax is None
    ax = axes_for(ax, 4.0, 4.0)
    boxes = _boxes(ax, labels, place, font_size, is_new, size)
    font_size = boxes[0].get_fontsize()
    if factors is None:
        factors = len(drawn) <= 40
    for edge in drawn:
        _draw(ax, edge, boxes[codes[edge.influencer]], boxes[codes[edge.target]], factors, font_size)
    _explain(ax, drawn, font_size)
    return ax


def _boxes(
    ax: Any, labels: Sequence[str], place: FloatArray, font_size: float, is_new: bool, size: float | None
) -> list[Any]:
    """The labels in boxes that lie apart, on axes whose units are inches where the figure is new."""
    boxes = [
        ax.text(
            0,
            0,
            plain(label, 28),
            ha="center",
            va="center",
            fontsize=font_size,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "#f4f4f4", "edgecolor": "#888888"},
            zorder=3,
        )
        for label in labels
    ]
    ax.set_axis_off()
    renderer = renderer_of(ax)
    for box in boxes:
        box.update_bbox_position_size(renderer)
    extents = [box.get_bbox_patch().get_window_extent(renderer) for box in boxes]
    taken = np.array([(each.width, each.height) for each in extents]) / ax.figure.dpi
    found = apart(place * np.sqrt(3.0 * (taken + 0.3).prod(axis=1).sum()), taken + np.array([0.25, 0.3]))
    low = (found - taken / 2).min(axis=0) - 0.25
    high = (found + taken / 2).max(axis=0) + np.array([0.25, 0.45])  # a loop stands above its label
    if is_new:
        spare = np.maximum(_LEAST - (high - low), 0) / 2
        low, high = low - spare, high + spare
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    wide, tall = high - low
    if is_new:
        share = 1.0 if size is None else size / wide
        ax.figure.set_size_inches(share * wide, share * tall + _LEGEND)
        ax.figure.set_layout_engine("none")  # sizes are known
        below = _LEGEND / (share * tall + _LEGEND)
        ax.set_position((0.0, below, 1.0, 1.0 - below))
    else:
        there = ax.get_window_extent(renderer)
        share = min(there.width / wide, there.height / tall) / ax.figure.dpi
    for box in boxes:
        box.set_fontsize(font_size * min(share, 1.0))
    for box, (x, y), (w, h) in zip(boxes, found.tolist(), taken.tolist(), strict=True):
        box.set_position((x, y))
        box.half = (w / 2, h / 2)
    return boxes


def _draw(ax: Any, edge: Influence, start: Any, end: Any, factors: bool, font_size: float) -> None:
    shown: dict[str, Any] = {
        "color": colour(edge),
        "linewidth": 0.5 * width(edge),
        "linestyle": _LINES[STROKES[edge.effect].line],
        "alpha": 1.0 if edge.frequency is None else 0.7 + 0.3 * edge.frequency,
    }
    if edge.influencer == edge.target:
        patch, middle = loop(start, edge.effect, shown)
    else:
        patch, middle = arrow(start, end, edge.effect, shown)
    ax.add_patch(patch)
    if factors and times(edge):
        ax.text(
            *middle,
            times(edge),
            fontsize=0.8 * font_size,
            color=colour(edge),
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            zorder=4,
        )


def _explain(ax: Any, drawn: Sequence[Influence], font_size: float) -> None:
    """A legend of what is drawn."""
    from matplotlib.lines import Line2D

    kinds = {effect: STROKES[effect] for effect in STROKES if any(e.effect == effect for e in drawn)}
    lines = [
        Line2D([], [], color=stroke.colour, linestyle=_LINES[stroke.line], label=effect)
        for effect, stroke in kinds.items()
    ]
    for why in dict.fromkeys(edge.faint for edge in drawn if edge.faint):
        lines.append(Line2D([], [], color=STROKES["unclear"].colour, linewidth=0.7, label=why))
    if lines:
        ax.legend(
            handles=lines,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=0,
            ncols=len(lines),
            frameon=False,
            fontsize=0.9 * font_size,
            title="×2: twice as likely after it; wider: more of it is sure",
            title_fontsize=0.9 * font_size,
        )


_HEADS = {
    "amplifies": "-|>,head_length=5,head_width=3",
    "inhibits": "|-|,widthA=0,widthB=4",
    "mixed": "-|>,head_length=5,head_width=3",
    "unclear": "-",
}


def arrow(start: Any, end: Any, effect: str, shown: dict[str, Any]) -> tuple[Any, Any]:
    """An arrow from the box of one text to that of another, and the middle of it."""
    from matplotlib.patches import FancyArrowPatch

    class Arrow(FancyArrowPatch):
        """Boxes know their size only when they are drawn; arrows must know it before."""

        def draw(self, renderer: Any) -> None:
            for text in (start, end):
                text.update_bbox_position_size(renderer)
            super().draw(renderer)

    patch = Arrow(
        start.get_position(),
        end.get_position(),
        patchA=start.get_bbox_patch(),
        patchB=end.get_bbox_patch(),
        shrinkA=1,
        shrinkB=3,
        connectionstyle="arc3,rad=0.12",  # so that the two ways between two labels lie apart
        arrowstyle=_HEADS[effect],
        mutation_scale=1,
        zorder=2,
        **shown,
    )
    a, b = np.array(start.get_position()), np.array(end.get_position())
    along = b - a
    return patch, (a + b) / 2 + 0.06 * np.array([along[1], -along[0]])


def loop(box: Any, effect: str, shown: dict[str, Any]) -> tuple[Any, Any]:
    """An arrow from the upper rim of a box back to it, and the top of it."""
    from matplotlib.patches import FancyArrowPatch

    x, y = box.get_position()
    half_width, half_height = box.half
    side = min(0.6 * half_width, 0.16)
    patch = FancyArrowPatch(
        (x - side, y + half_height),
        (x + side, y + half_height + 0.03),
        shrinkA=0,
        shrinkB=0,
        connectionstyle=f"arc3,rad={-min(0.35 / side, 2.0):.3f}",
        arrowstyle=_HEADS[effect],
        mutation_scale=1,
        zorder=2,
        **shown,
    )
    return patch, (x, y + half_height + 0.24)
