"""Who influences whom, as a figure: the same graph as on the page."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.explain import Influence, weight
from summarkov.models import InfluenceGraph, JointSuMM
from summarkov.models.edges import STROKES
from summarkov.plot.canvas import (
    BEYOND,
    LOOP,
    LOOP_WIDTH,
    Taken,
    arrow,
    axes_for,
    draw_edge,
    look,
    plain,
    renderer_of,
    write_factor,
)
from summarkov.report.content import layout_edges
from summarkov.report.layout import ASPECT, apart, places
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A new figure is at least this wide and high, in inches, so that there is room for the legend.
_LEAST = np.array([4.0, 1.6])
#: Between boxes, in inches; where the figure may be as large as it needs, more, for arrows and factors.
_GAP, _WIDE_GAP = np.array([0.25, 0.3]), np.array([0.42, 0.3])
#: How wide sample lines of the legend are, in points, and what it says of widths.
_SAMPLE, _WIDER = 1.2, "wider: larger lower bound of the effect"
#: Letters are at least this large, in points; a figure of a given width is at most this many times as high.
_SMALLEST, _HIGHEST = 4.5, 1.3


def graph(
    fitted: InfluenceGraph | JointSuMM,
    *,
    least: float = 0.0,
    most: int | None = None,
    factors: bool | None = None,
    size: float | None = None,
    font_size: float = 8.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a fitted graph: blue solid arrows amplify, orange dashed ones with a bar inhibit.

    Parameters
    ----------
    fitted : InfluenceGraph or JointSuMM
        Fitted.
    least : float
        Draw only edges of at least this evidence: the logarithm of the lower bound of the effect. More than 0
        leaves out unclear and faint ones.
    most : int, optional
        Draw at most this many edges, the surest.
    factors : bool, optional
        Whether to write the rate ratio on each edge, of a joint model the ratio of odds; by default where
        there are at most 40 edges. "raw" marks ratios that nothing else is held equal for.
    size : float, optional
        How wide a new figure is, in inches; by default as wide as the labels need. It becomes as high as they
        need then.
    font_size : float
        Of the labels, in points; smaller where the figure would become too high, or given axes are small.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure, larger for more labels.

    Returns the axes. Labels stand about where the page has them, and apart from each other; labels without
    any edge that is drawn are left out where there are more than 40. Lines bend round other labels, and a
    ratio is left out where there is no room for it. The wider a line, the larger the lower bound of the
    effect. Dotted ones with a diamond are mixed, those with a ring unclear. Light grey ones have too few
    events, are not comparable or co-occurrence only, light grey dotted ones with a bar are crowding out.
    Where confidence is known, paler lines are less sure.
    """
    drawn = [edge for edge in fitted.edges_ if weight(edge) >= least][:most]
    linked = {label for edge in drawn for label in (edge.influencer, edge.target)}
    is_small = len(fitted.labels_) <= 40 or not linked
    held = set(fitted.layout_.attributes)  # of sequences: no events, so drawn only where they influence
    labels = [label for label in fitted.labels_ if label in linked or (is_small and label not in held)]
    codes = {label: i for i, label in enumerate(labels)}
    place = np.array(places(len(labels), layout_edges(drawn, codes))) * [ASPECT, -1.0]
    is_new = ax is None
    ax = axes_for(ax, 4.0, 4.0)
    ax.set_axis_off()
    if factors is None:
        factors = len(drawn) <= 40
    boxes = _boxes(ax, labels, font_size)
    room: tuple[float | None, float | None] = size, None
    if not is_new:
        there = ax.get_window_extent(renderer_of(ax))
        room = there.width / ax.figure.dpi, there.height / ax.figure.dpi
    looped = {codes[edge.target] for edge in drawn if edge.is_self}
    loop = LOOP + (2 * BEYOND if factors else 0.0)
    ends = [(codes[edge.influencer], codes[edge.target]) for edge in drawn]
    side = _sides(place, ends)
    beside = np.array([[0.0, loop if code in looped else 0.0] for code in range(len(labels))])
    found, taken, font_size = _arranged(ax, boxes, place, beside, font_size, room)
    low, high = _frame(found, taken, room, _LEAST if is_new else np.zeros(2))
    told = (
        ""
        if not factors
        else "×2: twice the odds with it in the window"
        if isinstance(fitted, JointSuMM)
        else "×2: twice as likely as next event with it in the window"
    )
    legend = _explain(ax, drawn, told, min(font_size, 8.0), float(high[0] - low[0]))
    _fit(ax, low, high, legend if is_new else None)
    found, taken = found - side[:, None] * beside / 2, taken - beside
    for box, (x, y), (w, h), up in zip(boxes, found.tolist(), taken.tolist(), side.tolist(), strict=True):
        box.set_position((x, y))
        box.half, box.loop_side = (w / 2, h / 2), up
    loops = found + side[:, None] * (taken + beside) * [0.0, 0.5]
    half = np.array([LOOP_WIDTH, loop]) / 2
    rectangles = Taken(
        np.vstack(
            [
                np.hstack([found - taken / 2, found + taken / 2]),
                np.hstack([loops - half, loops + half])[sorted(looped)],
            ]
        )
    )
    spots = [draw_edge(ax, edge, two, boxes, rectangles) for edge, two in zip(drawn, ends, strict=True)]
    if factors:
        for edge, some in zip(drawn, spots, strict=True):
            write_factor(ax, edge, some, 0.8 * font_size, rectangles)
    return ax


def _sides(place: FloatArray, ends: Sequence[tuple[int, int]]) -> FloatArray:
    """For each label 1 if a loop shall stand above it, -1 if below: where fewer lines come from."""
    above = np.zeros(len(place))
    for pair in ends:
        for here, there in (pair, pair[::-1]):
            x, y = place[there] - place[here]
            above[here] += np.sign(y) * (abs(y) > abs(x))
    return np.where(above > 0, -1.0, 1.0)


def _boxes(ax: Any, labels: Sequence[str], font_size: float) -> list[Any]:
    """The labels in boxes, those of long ones in two lines."""
    return [
        ax.text(
            0,
            0,
            "\n".join(wrap(plain(label, 34), 20, max_lines=2, placeholder="…")) or plain(label, 34),
            ha="center",
            va="center",
            fontsize=font_size,
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": "#f4f4f4",
                "edgecolor": "#888888",
                "linewidth": 0.7,
            },
            zorder=3,
        )
        for label in labels
    ]


def _arranged(
    ax: Any,
    boxes: Sequence[Any],
    place: FloatArray,
    beside: FloatArray,
    font_size: float,
    room: tuple[float | None, float | None],
) -> tuple[FloatArray, FloatArray, float]:
    """Places where boxes lie apart and their sizes, in inches, with letters as large as there is room for.

    ``beside`` is what loops take above or below the boxes; it is part of the sizes.
    """
    wide, high = room
    while True:
        taken = _sizes(ax, boxes, font_size) + beside
        gap = _WIDE_GAP if wide is None else _GAP
        area = float((taken + gap).prod(axis=1).sum())
        if wide is None:
            return apart(place * np.sqrt(3.0 * area), taken + gap), taken, font_size
        inner = max(wide - float(taken[:, 0].max()) - gap[0], 0.1)
        stretched = place * [inner / ASPECT, 1.8 * area / wide] + [taken[:, 0].max() / 2 + gap[0] / 2, 0.0]
        found = apart(stretched, taken + gap, width=wide)
        fits = np.ptp(found[:, 1]) + taken[:, 1].max() + gap[1] <= (high or _HIGHEST * wide)
        if (fits and (taken[:, 0] <= wide).all()) or font_size <= _SMALLEST:
            return found, taken, font_size
        font_size = max(_SMALLEST, 0.92 * font_size)


def _sizes(ax: Any, boxes: Sequence[Any], font_size: float) -> FloatArray:
    """How wide and high boxes are with letters of a size, in inches."""
    renderer = renderer_of(ax)
    extents = []
    for box in boxes:
        box.set_fontsize(font_size)
        box.update_bbox_position_size(renderer)
        extents.append(box.get_bbox_patch().get_window_extent(renderer))
    return np.array([(each.width, each.height) for each in extents]).reshape(-1, 2) / float(ax.figure.dpi)


def _frame(
    found: FloatArray, taken: FloatArray, room: tuple[float | None, float | None], least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The lower left and the upper right corner of the picture, in inches."""
    low = (found - taken / 2).min(axis=0) - _GAP / 2
    high = (found + taken / 2).max(axis=0) + _GAP / 2
    least = np.array([side if given is None else given for side, given in zip(least, room, strict=True)])
    spare = np.maximum(least - (high - low), 0) / 2
    if room[0] is not None:
        low[0], high[0], spare[0] = 0.0, room[0], 0.0
    return low - spare, high + spare


def _fit(ax: Any, low: FloatArray, high: FloatArray, legend: float | None) -> None:
    """Let the units of the axes be inches; a new figure has room below for a legend of this height."""
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    if legend is None:
        ax.set_aspect("equal", adjustable="datalim")
        return
    wide, tall = high - low
    ax.figure.set_size_inches(wide, tall + legend)
    ax.figure.set_layout_engine("none")  # sizes are known
    below = legend / (tall + legend)
    ax.set_position((0.0, below, 1.0, 1.0 - below))


def _explain(ax: Any, drawn: Sequence[Influence], told: str, font_size: float, wide: float) -> float:
    """Explain what is drawn, with samples of lines and heads; return how high that is, in inches.

    ``told`` says what a factor is. There are as many columns as fit into the width of the picture.
    """
    from matplotlib.legend_handler import HandlerPatch
    from matplotlib.patches import FancyArrowPatch

    samples: dict[str, Any] = {}
    for edge in drawn:
        sample = {**look(edge), "alpha": 1.0}
        if not edge.faint:
            sample["linewidth"] = _SAMPLE
        samples.setdefault(edge.faint or edge.shown_effect, sample)
    if not samples:
        return 0.0

    def line(orig_handle: Any, xdescent: float, width: float, height: float, **_: Any) -> Any:
        ends = (-xdescent, height / 2), (width - xdescent, height / 2)
        style = {"arrowstyle": orig_handle.get_arrowstyle(), "linestyle": orig_handle.get_linestyle()}
        return arrow(*ends, shrinkA=0, shrinkB=0, **style)

    names = list(dict.fromkeys(name for name in (*STROKES, *samples) if name in samples))
    titles = ["; ".join(filter(None, (told, _WIDER))), "\n".join(filter(None, (told, _WIDER)))]
    renderer = renderer_of(ax)
    for columns, title in [(len(names), titles[0]), *((n, titles[1]) for n in range(len(names), 0, -1))]:
        legend = ax.legend(
            handles=[arrow((0, 0), (1, 0), **samples[name]) for name in names],
            labels=names,
            handler_map={FancyArrowPatch: HandlerPatch(patch_func=line)},
            handlelength=2.6,
            columnspacing=1.5,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=0,
            ncols=columns,
            frameon=False,
            fontsize=font_size,
            title=title,
            title_fontsize=font_size,
        )
        legend.get_title().set_multialignment("center")
        box = legend.get_window_extent(renderer)
        if box.width <= wide * ax.figure.dpi:
            break
    return float(box.height) / float(ax.figure.dpi)
