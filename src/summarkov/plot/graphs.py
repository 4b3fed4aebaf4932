"""Who influences whom, as a figure: the same graph as on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.explain.sentences import times
from summarkov.models import InfluenceGraph
from summarkov.models.exports import STROKES, colour, weight, width
from summarkov.plot.canvas import axes_for, plain
from summarkov.report.layout import ASPECT, places

#: Heads and lines as matplotlib knows them.
_HEADS = {"amplifies": "-|>", "inhibits": "|-|", "mixed": "-|>", "unclear": "-"}
_LINES = {"solid": "-", "dashed": (0, (5, 3)), "dotted": (0, (1, 2))}


def graph(fitted: InfluenceGraph, *, least: float = 0.0, factors: bool | None = None, ax: Any = None) -> Any:
    """Draw a fitted graph: green solid arrows amplify, red dashed ones with a bar inhibit.

    Parameters
    ----------
    fitted : InfluenceGraph
        Fitted.
    least : float
        Draw only edges of at least this evidence: the logarithm of the factor that is sure. More than 0
        leaves out thin ones.
    factors : bool, optional
        Whether to write on each edge by which factor the probability changes; by default where there are at
        most 40 edges.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure, larger for more labels.

    Returns the axes. Labels stand where the page has them. The wider a line, the larger the factor that is
    sure; thin evidence is grey, and where confidence is known paler lines are less sure.
    """
    edges = fitted.edges_
    number = {label: i for i, label in enumerate(fitted.labels_)}
    place = np.array(
        places(len(number), [(number[e.influencer], number[e.target], weight(e)) for e in edges])
    )
    drawn = [e for e in edges if weight(e) >= least]
    size = float(np.clip(2.2 * len(number) ** 0.45, 4, 14))
    axes = axes_for(ax, size * ASPECT, size)
    place = place * [ASPECT, -1.0]
    counts = fitted.models_[next(iter(fitted.models_))].fitted.label_counts
    boxes = []
    for label, (x, y), n in zip(fitted.labels_, place, (counts / max(counts.max(), 1)).tolist(), strict=True):
        boxes.append(
            axes.text(
                x,
                y,
                plain(label, 24),
                ha="center",
                va="center",
                fontsize=7 + 3 * n**0.5,
                bbox={"boxstyle": "round,pad=0.35", "facecolor": "#f4f4f4", "edgecolor": "#888888"},
                zorder=3,
            )
        )
    if factors is None:
        factors = len(drawn) <= 40
    for edge in drawn:
        _draw(axes, edge, boxes[number[edge.influencer]], boxes[number[edge.target]], factors)
    margin = 0.12
    axes.set_xlim(-margin, ASPECT + margin)
    axes.set_ylim(-1 - margin, margin)
    axes.set_axis_off()
    return axes


def _draw(axes: Any, edge: Any, start: Any, end: Any, factors: bool) -> None:
    from matplotlib.patches import FancyArrowPatch

    stroke = STROKES[edge.effect]
    a, b = np.array(start.get_position()), np.array(end.get_position())
    shown: dict[str, Any] = {
        "color": colour(edge),
        "linewidth": 0.6 * width(edge),
        "linestyle": _LINES[stroke.line],
        "alpha": 1.0 if edge.frequency is None else 0.25 + 0.75 * edge.frequency,
        "zorder": 2,
    }
    heads = {"-|>": "-|>,head_length=5,head_width=3", "|-|": "|-|,widthA=0,widthB=4", "-": "-"}
    if edge.influencer == edge.target:  # a loop above the label
        patch = FancyArrowPatch(
            (a[0] - 0.03, a[1] + 0.025),
            (a[0] + 0.03, a[1] + 0.025),
            connectionstyle="arc3,rad=-1.6",
            arrowstyle=heads[_HEADS[edge.effect]],
            mutation_scale=1,
            **shown,
        )
        middle = np.array([a[0], a[1] + 0.07])
    else:
        patch = FancyArrowPatch(
            start.get_position(),
            end.get_position(),
            patchA=start.get_bbox_patch(),
            patchB=end.get_bbox_patch(),
            shrinkA=1,
            shrinkB=3,
            connectionstyle="arc3,rad=0.12",  # so that the two ways between two labels lie apart
            arrowstyle=heads[_HEADS[edge.effect]],
            mutation_scale=1,
            **shown,
        )
        along = b - a
        middle = (a + b) / 2 + 0.06 * np.array([along[1], -along[0]])
    axes.add_patch(patch)
    if factors and times(edge):
        axes.text(
            *middle,
            times(edge),
            fontsize=6.5,
            color=colour(edge),
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            zorder=4,
        )
