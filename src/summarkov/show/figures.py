"""Figures for papers (needs matplotlib): each function draws on axes that it is given, or makes, and returns
them.

Lengths in the figure of a graph are inches, so that boxes, lines and heads can be laid out before they are
drawn.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import SettingError, optional_library
from summarkov.evidence import Influence, is_joint, weight
from summarkov.evidence.edges import IMPACT
from summarkov.evidence.findings import impact_cell, impact_limits
from summarkov.evidence.ratios import exact_intervals
from summarkov.evidence.words import limits, times
from summarkov.show import STROKES, colour, width
from summarkov.show.layout import ASPECT, apart, layout_edges, places
from summarkov.typing import FloatArray
from summarkov.wording import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Text as text in vector files, so that it can be searched and edited; sizes that suit a column of a paper.
_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}
#: A colour for each of several series that the colour-blind can tell apart (Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def require() -> None:
    """Refuse to draw without matplotlib, before any long work and not after it."""
    with optional_library("a figure", "matplotlib", extra="plot"):
        import matplotlib  # noqa: F401


def _axes(ax: Any, width: float, height: float) -> Any:
    """The given axes, or new ones on a figure of this size in inches: no window shows it, notebooks do."""
    require()
    if ax is not None:
        return ax

    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)

        class ShownAxes(Axes):
            """Axes whose figure a notebook shows where they are the result of a cell."""

            def _repr_png_(self) -> bytes:
                written = io.BytesIO()
                figure.savefig(written, format="png", dpi=110)
                return written.getvalue()

        return figure.add_subplot(axes_class=ShownAxes)


def save(ax: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure of some axes as .pdf, .svg or .png, text as text, all or nothing.

    Equal figures are equal files.
    """
    import matplotlib

    from summarkov.read.files import name_of, replacing

    kind = name_of(path).rsplit(".", 1)[-1].lower()
    if kind not in ("pdf", "svg", "png"):
        raise SettingError(f"cannot draw {path}; let its name end in .pdf, .svg or .png")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    drawn = io.BytesIO()  # for where a file cannot be written, matplotlib may stumble
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": "summarkov"}):
        ax.figure.savefig(drawn, format=kind, metadata=metadata, dpi=200)
    with replacing(path) as temporary:
        temporary.write_bytes(drawn.getvalue())


def _plain(text: str, most: int = 40) -> str:
    r"""A label as matplotlib shall show it: cut, no formulas, nothing invisible.

    >>> _plain("a$b$ " + "x" * 60)
    'a\\$b\\$ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    shown = cut(text, most)
    return shown.replace("\\", "\\\\").replace("$", r"\$") if "$" in shown else shown


# ------------------------------------------------------------------ the graph

#: A new figure is at least this wide, in inches, so that there is room for the legend; and between boxes.
_LEAST, _GAP = 4.0, np.array([0.42, 0.3])
#: How high a loop stands on its label and how wide it is, and how far beyond it its factor stands, in inches.
_LOOP, _LOOP_WIDTH, _BEYOND = 0.26, 0.3, 0.09
#: How a line may bend, as a share of its length to the side; the first that is free is taken.
_BENDS = (0.12, 0.05, 0.2, -0.08, 0.3, -0.18, 0.42, -0.3, 0.55, -0.45, 0.7, -0.6)
#: Where along a line its factor may stand.
_ALONG = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26])
_LINES: dict[str, Any] = {"solid": "-", "dashed": (0, (4, 2)), "dotted": (0, (1, 2))}
#: Lines that are faint are lighter and thinner than those of any effect.
_FAINT, _FAINT_WIDTH = "#9c9c9c", 0.5
#: The end of a line that points to the right, as corners from its tip at 0, in points: an arrow, a bar, a
#: diamond and a ring, as on the page. And the mark of each in the legend.
_TURN = np.linspace(0, 2 * np.pi, 25)
_HEADS = {
    "amplifies": np.array([(0, 0), (-5, 2.5), (-5, -2.5)]),
    "inhibits": np.array([(0, 4), (-1, 4), (-1, -4), (0, -4)]),
    "mixed": np.array([(0, 0), (-3.5, 2.5), (-7, 0), (-3.5, -2.5)]),
    "unclear": np.stack([2.0 * np.cos(_TURN) - 2.0, 2.0 * np.sin(_TURN)], axis=1),
}
_MARKS = {"amplifies": ">", "inhibits": "|", "mixed": "D", "unclear": "o"}


def graph(
    fitted: Any,
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
        Of the labels, in points; smaller where one label is wider than the figure, or given axes are small.
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
    factors = len(drawn) <= 40 if factors is None else factors
    axes: Any = _axes(ax, 4.0, 4.0)
    axes.set_axis_off()
    boxes = [_box(axes, label, font_size) for label in labels]
    measured = np.array([box.get_window_extent().size for box in boxes]) / axes.figure.dpi
    taken = measured + 0.7 * font_size / 72
    loops = np.zeros((len(labels), 2))  # what stands above boxes
    loops[[codes[edge.target] for edge in drawn if edge.is_self], 1] = _LOOP + 2 * _BEYOND * factors
    area = float((taken + loops + _GAP).prod(axis=1).sum())
    wide = max(_LEAST, ASPECT * np.sqrt(3.0 * area)) if size is None or ax is not None else size
    shrink = min(1.0, wide / (taken[:, 0].max() + _GAP[0] / 2))
    place, font_size = np.array(places(len(labels), layout_edges(drawn, codes))), shrink * font_size
    taken = shrink * taken + loops
    widest = taken[:, 0].max()
    place = place * [wide - widest, -2.0 * area / wide] + [widest / 2, 0.0]
    place = apart(place, taken + _GAP, width=wide)
    low = np.array([0.0, (place - taken / 2)[:, 1].min() - _GAP[1] / 2])
    high = np.array([wide, (place + taken / 2)[:, 1].max() + _GAP[1] / 2])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), autoscale_on=False)
    told = "the odds" if is_joint(fitted) else "as likely as next event"
    told = f"×2: twice {told} with it in the window" if factors else ""
    if ax is None:
        legend, tall = _legend(axes, drawn, told, min(font_size, 8.0), wide), high[1] - low[1]
        axes.figure.set_size_inches(wide, tall + legend)
        axes.figure.set_layout_engine("none")  # sizes are known
        axes.set_position((0.0, legend / (tall + legend), 1.0, tall / (tall + legend)))
    else:  # as large as there is room for
        room = axes.get_window_extent().size / axes.figure.dpi
        font_size *= float(min(1.0, *(room / (high - low))))
        axes.set_aspect("equal", adjustable="datalim")
        _legend(axes, drawn, told, font_size, float(room[0]))
    place, half = place - loops / 2, (taken - loops) / 2 + 0.01  # of the boxes alone, and their rims
    for box, middle in zip(boxes, place.tolist(), strict=True):
        box.set(position=middle, fontsize=font_size)
    loop = np.array([_LOOP_WIDTH, loops.max(initial=0.0)]) / 2
    over = (place + [0.0, 1.0] * (half + loop))[loops[:, 1] > 0]  # the middle of each loop with its factor
    outside = [(-np.inf, -np.inf, 0.0, np.inf), (wide, -np.inf, np.inf, np.inf)]
    rectangles = np.vstack(
        [np.hstack([place - half, place + half]), np.hstack([over - loop, over + loop]), outside]
    )
    lines, bends = [], dict[tuple[int, int], float]()
    for edge in drawn:
        a, b = codes[edge.influencer], codes[edge.target]
        lines.append(_loop(place[a], half[a]) if a == b else _route(a, b, rectangles, bends))
        _draw(axes, edge, lines[-1])
    for edge, points in zip(drawn if factors else (), lines, strict=False):
        rectangles = _write_factor(axes, edge, points, rectangles, 0.8 * font_size)
    drawn_on: Axes = axes
    return drawn_on


def _box(ax: Any, label: str, font_size: float) -> Any:
    """A label in a box, a long one in two lines."""
    text = "\n".join(wrap(_plain(label, 34), 20, max_lines=2, placeholder="…")) or _plain(label, 34)
    face = {"facecolor": "#f4f4f4", "edgecolor": "#888888", "linewidth": 0.7}
    style = {"fontsize": font_size, "bbox": {"boxstyle": "round,pad=0.35", **face}, "zorder": 3}
    return ax.text(0, 0, text, ha="center", va="center", **style)


def _look(edge: Influence) -> dict[str, Any]:
    """How the line of an edge looks."""
    line = "dotted" if edge.faint == "crowding out" else STROKES[edge.shown_effect].line
    return {
        "color": _FAINT if edge.faint else colour(edge),
        "linewidth": _FAINT_WIDTH if edge.faint else 0.3 + 0.5 * width(edge),
        "linestyle": _LINES[line],
        "alpha": 1.0 if edge.frequency is None else 0.7 + 0.3 * edge.frequency,
    }


def _draw(ax: Any, edge: Influence, points: FloatArray) -> None:
    """Draw an edge along some points, with its head at the last one, which is solid where the line is not."""
    from matplotlib.patches import Polygon

    look, head, tip = _look(edge), _HEADS[edge.shown_effect] / 72, points[-1]
    line = points[np.linalg.norm(points - tip, axis=1) >= -head[:, 0].min()]
    base = line[-1] if len(line) else points[0]
    x, y = (tip - base) / max(float(np.linalg.norm(tip - base)), 1e-9)
    ax.plot(*line.T, **look, zorder=2, solid_capstyle="butt")
    face = "white" if edge.shown_effect == "unclear" else look["color"]
    style = {"edgecolor": look["color"], "facecolor": face, "linewidth": look["linewidth"] / 2}
    corners = tip + head @ np.array([[x, y], [-y, x]])
    ax.add_patch(Polygon(corners, closed=True, **style, alpha=look["alpha"], zorder=2.2))


def _inside(points: FloatArray, rectangles: FloatArray) -> Any:
    """Which points lie in which rectangles, ``[point, rectangle]``."""
    low, high = rectangles[:, :2], rectangles[:, 2:]
    return ((points[:, None] > low) & (points[:, None] < high)).all(axis=2)


def _route(a: int, b: int, rectangles: FloatArray, bends: dict[tuple[int, int], float]) -> FloatArray:
    """The curve between two boxes that meets fewest others; its part outside of both.

    It does not run along the one the other way.
    """
    start, end = ((rectangles[i, :2] + rectangles[i, 2:]) / 2 for i in (a, b))
    across = np.array([end[1] - start[1], start[0] - end[0]])
    t = np.linspace(0, 1, 201)[:, None]
    best, fewest = start[None], np.inf
    for bend in _BENDS:
        control = (start + end) / 2 + bend * across
        curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
        inside = _inside(curve, rectangles)
        met = inside.any(axis=0).sum() + 3 * (abs(bend + bends.get((b, a), np.inf)) < 0.1)
        if met < fewest:
            outside = curve[~inside[:, [a, b]].any(axis=1)]
            best, fewest, bends[a, b] = outside if len(outside) > 1 else curve, met, bend
    return best


def _loop(middle: FloatArray, half: FloatArray) -> FloatArray:
    """A curve from the upper rim of a box back to it."""
    side, far = min(0.6 * half[0], 0.07), _LOOP * 4 / 3
    corners = np.array([(-side, 0), (-side - 0.09, far), (side + 0.09, far), (side, 0.03)])
    t = np.linspace(0, 1, 61)[:, None]
    shares = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.asarray(shares @ corners + [0.0, half[1]] + middle)


def _write_factor(
    ax: Any, edge: Influence, points: FloatArray, rectangles: FloatArray, font_size: float
) -> FloatArray:
    """Write the factor of an edge where nothing stands, if there is such a place; return what is taken then.

    The factor of a loop has its own room above it.
    """
    said = times(edge)
    half = np.array([0.62 * len(said), 1.15]) * font_size / 72 / 2 + 0.02
    spots = points[(_ALONG * (len(points) - 1)).astype(int)]
    if edge.is_self:
        spots = points[[len(points) // 2]] + [0.0, _BEYOND]
    for spot in spots if said else ():
        low, high = spot - half, spot + half
        meets = ((rectangles[:, :2] < high) & (rectangles[:, 2:] > low)).all(axis=1)
        if edge.is_self or not meets.any():
            around = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            style = {"fontsize": font_size, "color": colour(edge), "bbox": around, "zorder": 2.5}
            ax.text(*spot, said, ha="center", va="center", **style)
            return np.vstack([rectangles, [*low, *high]])
    return rectangles


def _legend(ax: Any, drawn: Sequence[Influence], told: str, font_size: float, wide: float) -> float:
    """Explain what is drawn, with a sample of each line; return how high that is, in inches.

    ``told`` says what a factor is.
    """
    from matplotlib.lines import Line2D

    samples: dict[str, Any] = {}
    for edge in drawn:
        look = {**_look(edge), "alpha": 1.0, "linewidth": _FAINT_WIDTH if edge.faint else 1.2}
        mark = {"marker": _MARKS[edge.shown_effect], "markersize": 5.0, "markeredgewidth": look["linewidth"]}
        face = "white" if edge.shown_effect == "unclear" else look["color"]
        sample = Line2D([], [], **look, **mark, markerfacecolor=face)
        samples.setdefault(edge.faint or edge.shown_effect, sample)
    if not samples:
        return 0.0
    names = sorted(samples, key=lambda name: (*STROKES, *samples).index(name))
    title = "; ".join(part for part in (told, "wider: larger lower bound of the effect") if part)
    legend = ax.legend(
        handles=[samples[name] for name in names],
        labels=names,
        handlelength=2.6,
        columnspacing=1.5,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0,
        ncols=max(1, min(len(names), int(wide * 72 / (14 * font_size)))),
        frameon=False,
        fontsize=font_size,
        title=fill(title, int(wide * 72 / (0.56 * font_size))),
        title_fontsize=font_size,
    )
    legend.get_title().set_multialignment("center")
    return float(legend.get_window_extent().height) / float(ax.figure.dpi)


# ------------------------------------------------------------------ findings


def forest(fitted: Any, *, of: str = "ratio", most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the findings of a graph, one below the other, each with its 95% interval.

    Parameters
    ----------
    fitted : InfluenceGraph
        Fitted; its ``findings_`` are drawn, in their order.
    of : str
        "ratio": rate ratios on a logarithmic axis. "impact": how many more or fewer targets there are than
        without the influencer.
    most : int
        Draw at most this many.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. Squares with a blue line amplify, triangles with an orange one inhibit.
    """
    if of not in ("ratio", "impact") or not hasattr(type(fitted), "findings_"):
        raise SettingError(
            f"a forest shows of='ratio' or 'impact' of an InfluenceGraph, not {of!r} of {fitted}"
        )
    is_ratio, found = of == "ratio", fitted.findings_
    names: Sequence[str] = ("ratio", "low", "high") if is_ratio else IMPACT
    edges = [edge for edge in found.influences if is_ratio or edge.impact is not None][:most]
    ax = _axes(ax, 6.3, 1.2 + 0.3 * len(edges))
    for place, edge in enumerate(edges):
        at, *ends = [getattr(edge, name) for name in names]
        if is_ratio:
            at, *ends = np.clip([at, *ends], 0.01, 100)
        ax.plot(ends, [place, place], color=colour(edge), linewidth=1.4, zorder=2)
        mark = "s" if edge.effect == "amplifies" else "v"
        ax.plot([at], [place], mark, color=colour(edge), markersize=5, zorder=3)
        told = [f"{times(edge)} ({limits(edge)})"] * is_ratio
        told += [f"impact {impact_cell(edge)} ({impact_limits(edge)})"] * (edge.impact is not None)
        ax.text(1.02, place, "; ".join(told), transform=ax.get_yaxis_transform(), va="center", fontsize=8)
    if is_ratio:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("×{x:g}")
        ax.xaxis.set_minor_formatter("")
    ax.axvline(is_ratio, color="#666666", linewidth=0.8, linestyle="--", zorder=1)
    ax.set_ylim(len(edges) - 0.5, -0.5)
    rows = [f"{_plain(edge.influencer, 30)} → {_plain(edge.target, 30)}" for edge in edges]
    ax.set_yticks(range(len(edges)), rows)
    n = len(found.influences)
    kept = f" (the first {len(edges)} of {n} findings)" if len(edges) < n else ""
    ax.set_title(fill(f"{found.extent}{kept}", 44), loc="left")
    axis = "rate ratio, other influencers equal" if is_ratio else "more or fewer targets than without it"
    ax.set_xlabel(f"{axis}, 95% interval")
    return ax


# ------------------------------------------------------------------ one model


def _chosen(model: Any, label: str | None) -> int:
    """The place of a label in the target; without one, of the only label there is."""
    if label is None and len(model.target_) > 1:
        raise SettingError(f"say which label to draw: label= one of {', '.join(model.target_)}")
    if label is not None and label not in model.target_:
        raise SettingError(f"{label!r} is not in the target; its labels are {', '.join(model.target_)}")
    return 0 if label is None else model.target_.index(label)


def states(model: Any, *, label: str | None = None, most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw a fitted model's states: share as counted, exact 95% interval and count, against the base rate.

    Parameters
    ----------
    model : SummaryModel
        Fitted.
    label : str, optional
        Which label of the target; needed where there are several.
    most : int
        Draw at most this many states, those seen most often; the title says how many there are.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. The largest share comes first. The area of a mark goes with how often its state was
    seen, which stands in brackets. Of more than two influencers those that occurred are named.
    """
    x, rows = _chosen(model, label), model.table_
    often = sorted(range(len(rows)), key=lambda i: (-rows[i].n, i))[:most]
    table = sorted((rows[i] for i in often if rows[i].n), key=lambda row: -row.counts[x] / row.n)
    is_set = getattr(model.fitted.summary, "page_kind", "") == "binary" and len(model.fitted.influencers) > 2
    said = [", ".join(row.state) or "none of them" if is_set else row.words or "always" for row in table]
    words = [fill(_plain(each, 120), 44) for each in said]
    high = 0.1 + 0.14 * max((each.count("\n") + 1 for each in words), default=1)
    ax = _axes(ax, 6.3, 1.6 + high * len(table))
    n, hits = np.array([(row.n, row.counts[x]) for row in table]).reshape(-1, 2).T
    ends, place = 100 * exact_intervals(hits, n), np.arange(len(table))
    ax.hlines(place, ends[:, 0], ends[:, 1], color=_COLOURS[0], linewidth=1.2, zorder=2)
    area = 12 + 80 * n / max(n.max(initial=0), 1e-300)
    ax.scatter(100 * hits / n, place, s=area, color=_COLOURS[0], zorder=3, clip_on=False)
    ax.axvline(100 * model.base_rates_[x], color="#666666", linewidth=0.8, linestyle="--", zorder=1)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter("{x:g}%")
    name = _plain(model.target_[x])
    kept = (
        f"the {len(often)} most frequent of {len(rows):,}" if len(often) < len(rows) else f"all {len(rows)}"
    )
    ax.set_title(fill(f"{name} as the next event: {kept} history states", 34), loc="left")
    ax.set_xlabel(f"share of {name}, as counted\n95% interval; dashed: its share of all events")
    ax.tick_params(axis="y", length=0)
    names = [f"{word}  ({row.n:,g})" for word, row in zip(words, table, strict=True)]
    ax.set_yticks(place, names)
    return ax


# ------------------------------------------------------------------ how far to trust it


def calibration(found: Any, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a calibration curve: how often what was predicted occurred.

    Parameters
    ----------
    found : Evaluation
        What ``model.evaluate(events)`` returned.
    label : str, optional
        Of which label; by default over all.
    ax : matplotlib axes, optional
        Where to draw, such as beside the curve of another model; by default on a new figure.

    Returns the axes. A bin of predictions is a mark whose area goes with the number of predictions in it; on
    the dashed line what is predicted occurs as often as it should. Both scales are logarithmic, since most
    events are rare; a bin in which nothing occurred has no place there and is drawn hollow at the bottom.
    """
    if not hasattr(found, "top_1"):
        raise SettingError(
            f"{type(found).__name__} has no calibration; give what model.evaluate(events) returned"
        )
    ax, bins = _axes(ax, 4.2, 4.0), found.reliability(label)
    known = [value for each in bins for value in (each.predicted, each.occurred) if value > 0]
    low, most = min(known, default=1e-3) / 2, max((each.n for each in bins), default=1)
    ax.plot([low, 1], [low, 1], color="#777777", linewidth=0.8, linestyle="--", zorder=1)
    at = np.array([(max(b.predicted, low), max(b.occurred, low)) for b in bins]).reshape(-1, 2)
    some = np.array([b.occurred > 0 for b in bins], bool)
    tint = _COLOURS[len(ax.collections) % len(_COLOURS)]
    ax.plot(*at[some].T, color=tint, linewidth=1)
    face = np.where(some, tint, "none").tolist()
    area = [10 + 70 * b.n / most for b in bins]
    ax.scatter(at[:, 0], at[:, 1], s=area, facecolors=face, edgecolors=tint, zorder=3)
    ax.set(xscale="log", yscale="log", xlim=(low, 1.1), ylim=(low * 0.9, 1.2))
    ax.set_xlabel(f"predicted probability{'' if label is None else f' of {_plain(label)}'}")
    ax.set_ylabel("share that occurred")
    return ax
