"""What figures are drawn with: axes, how they look by default, and lines from box to box."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from summarkov.errors import SettingError, optional_library
from summarkov.explain import Influence
from summarkov.explain.verdicts import times
from summarkov.models.edges import STROKES, colour, width
from summarkov.typing import FloatArray
from summarkov.wording import cut

#: Text as text in vector files, so that it can be searched and edited; sizes that suit a column of a paper.
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}
#: A colour for each of several series that the colour-blind can tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def require() -> None:
    """Refuse to draw without matplotlib, before any long work and not after it."""
    with optional_library("a figure", "matplotlib", extra="plot"):
        import matplotlib  # noqa: F401


def axes_for(ax: Any, width: float, height: float) -> Any:
    """The given axes, or new ones on a figure of this size in inches: no window shows it, notebooks do."""
    require()
    if ax is not None:
        return ax

    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)

        class ShownAxes(Axes):
            """Axes whose figure a notebook shows where they are the result of a cell."""

            def _repr_png_(self) -> bytes:
                written = io.BytesIO()
                figure.savefig(written, format="png", dpi=110)
                return written.getvalue()

        return figure.add_subplot(axes_class=ShownAxes)


def renderer_of(ax: Any) -> Any:
    """What measures text as the figure of some axes will show it."""
    from matplotlib.backends import backend_agg

    renderer: Any = backend_agg.RendererAgg  # which has no types
    return renderer(1, 1, ax.figure.dpi)


def plain(text: str, most: int = 40) -> str:
    r"""A label as matplotlib shall show it: cut, no formulas, nothing invisible.

    >>> plain("a$b$ " + "x" * 60)
    'a\\$b\\$ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    shown = cut(text, most)
    return shown.replace("\\", "\\\\").replace("$", r"\$") if "$" in shown else shown


def short(probability: float) -> str:
    """A probability with about two digits.

    >>> [short(p) for p in (0.25, 0.0123, 0.00002, 0.9999)]
    ['0.25', '0.012', '<0.001', '>0.999']
    """
    if probability < 0.001:
        return "<0.001"
    return ">0.999" if probability > 0.999 else f"{probability:.2g}"


def save(ax: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure of some axes as .pdf, .svg or .png, text as text, all or nothing.

    Equal figures are equal files.
    """
    import matplotlib

    from summarkov.read.addresses import plain_name
    from summarkov.read.temporary import replacing

    kind = plain_name(path).rsplit(".", 1)[-1].lower()
    if kind not in ("pdf", "svg", "png"):
        raise SettingError(f"cannot draw {path}; let its name end in .pdf, .svg or .png")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    drawn = io.BytesIO()  # for where a file cannot be written, matplotlib may stumble
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "summarkov"}):
        ax.figure.savefig(drawn, format=kind, metadata=metadata, dpi=200)
    with replacing(path) as temporary:
        temporary.write_bytes(drawn.getvalue())


#: How a line may bend, as a share of its length to the side; the first that is free is taken.
_BENDS = (0.12, 0.05, 0.2, -0.08, 0.3, -0.18, 0.42, -0.3, 0.55, -0.45, 0.7, -0.6)
#: Where along the part of a line that is seen its factor may stand, how far from its head, and how near other
#: lines are close, in inches.
_ALONG, _OFF_HEAD, _CLOSE = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74), 0.2, 0.15
#: How high a loop stands on its label, how wide it is, and how far beyond it its factor stands, in inches.
LOOP, LOOP_WIDTH, BEYOND = 0.26, 0.3, 0.09
LINES: dict[str, Any] = {"solid": "-", "dashed": (0, (4, 2)), "dotted": (0, (1, 2))}
#: Lines that are faint are lighter and thinner than those of any effect.
FAINT, _FAINT_WIDTH = "#9c9c9c", 0.5
#: Corners of the mark at the end of a line that points to the right and ends at 0, in points: a diamond and a
#: ring, as on the page. Other heads are those of matplotlib.
_TURN = np.linspace(0, 2 * np.pi, 25)
_MARKS = {
    "mixed": np.array([(0, 0), (-3.5, 2.5), (-7, 0), (-3.5, -2.5), (0, 0)]),
    "unclear": np.stack([2.0 * np.cos(_TURN) - 2.0, 2.0 * np.sin(_TURN)], axis=1),
}
_HEADS = {"amplifies": "-|>,head_length=5,head_width=2.5", "inhibits": "|-|,widthA=0,widthB=4"}


class Taken:
    """What of a figure is taken: rectangles (left, bottom, right and top, one row each), and lines.

    ``bends`` are those of the lines from box to box, ``lines`` points of them.
    """

    def __init__(self, rectangles: FloatArray) -> None:
        self.rectangles = rectangles
        self.bends: dict[tuple[int, int], float] = {}
        self.lines: list[FloatArray] = []

    def hold(self, points: FloatArray, but: Iterable[int] = ()) -> int:
        """In how many of them, some left out, lies one of the points?"""
        x, y = points[:, 0, None], points[:, 1, None]
        left, bottom, right, top = self.rectangles.T
        inside = ((x > left) & (x < right) & (y > bottom) & (y < top)).any(axis=0)
        inside[list(but)] = False
        return int(inside.sum())

    def is_crowded(self, spot: FloatArray) -> bool:
        """Whether more than one line passes close by."""
        return sum(bool((np.linalg.norm(line - spot, axis=1) < _CLOSE).any()) for line in self.lines) > 1

    def take(self, middle: FloatArray, size: Sequence[float]) -> bool:
        """Take a rectangle of this size if nothing is there; say whether that is so."""
        half = np.array(size) / 2
        low, high = middle - half, middle + half
        left, bottom, right, top = self.rectangles.T
        if ((left < high[0]) & (right > low[0]) & (bottom < high[1]) & (top > low[1])).any():
            return False
        self.rectangles = np.vstack([self.rectangles, [*low, *high]])
        return True


def look(edge: Influence) -> dict[str, Any]:
    """How the line of an edge looks."""
    line = "dotted" if edge.faint == "crowding out" else STROKES[edge.shown_effect].line
    tint = FAINT if edge.faint else colour(edge)
    return {
        "edgecolor": tint,
        "facecolor": "white" if edge.shown_effect == "unclear" else tint,
        "linewidth": _FAINT_WIDTH if edge.faint else 0.3 + 0.5 * width(edge),
        "linestyle": LINES[line],
        "arrowstyle": head(edge.shown_effect),
        "alpha": 1.0 if edge.frequency is None else 0.7 + 0.3 * edge.frequency,
    }


def head(effect: str) -> Any:
    """The arrow style of an effect, as matplotlib takes it: it makes a line into itself and its head."""
    from matplotlib import patches
    from matplotlib.path import Path

    if effect in _HEADS:
        styles: Any = patches.ArrowStyle  # which has no types
        return styles(_HEADS[effect])

    def marked(
        path: Any, scale: float, line_width: float, aspect: float = 1.0
    ) -> tuple[list[Any], list[bool]]:
        end, before = path.vertices[-1], path.vertices[-2]
        x, y = (end - before) / max(np.linalg.norm(end - before), 1e-9)
        mark = end + scale * _MARKS[effect] @ np.array([[x, y], [-y, x]])
        return [path, Path(mark, closed=True)], [False, True]

    return marked


def _some(style: Any, part: slice, *asked: Any) -> tuple[list[Any], list[bool]]:
    """Some of the paths of an arrow style: the first is the line, others are its head."""
    paths, filled = style(*asked)
    return paths[part], filled[part]


def arrow(*ends: Any, boxes: Sequence[Any] = (), **options: Any) -> Any:
    """An arrow with a head that is not dashed, where its line is; ``boxes`` are the texts at its ends."""
    from matplotlib.patches import FancyArrowPatch

    class Arrow(FancyArrowPatch):
        """Boxes know their size only when they are drawn; arrows must know it before."""

        def draw(self, renderer: Any) -> None:
            for text in boxes:
                text.update_bbox_position_size(renderer)
            whole: Any = self.get_arrowstyle()
            line: Any = self.get_linestyle()
            for part, style in ((slice(1), line), (slice(1, None), "-")):
                self.set(arrowstyle=partial(_some, whole, part), linestyle=style)
                super().draw(renderer)
            self.set(arrowstyle=whole, linestyle=line)

    return Arrow(*ends, mutation_scale=1, **options)


def draw_edge(
    ax: Any, edge: Influence, ends: tuple[int, int], boxes: Sequence[Any], taken: Taken
) -> FloatArray:
    """Draw an edge between two of the boxes; return the points where its factor may stand."""
    start, end = (boxes[i] for i in ends)
    if edge.is_self:
        patch, spots = _loop(start, edge)
    else:
        patch, spots = _arrow(start, end, edge, _bend(start, end, ends, taken))
    ax.add_patch(patch)
    return spots


def write_factor(ax: Any, edge: Influence, spots: FloatArray, font_size: float, taken: Taken) -> None:
    """Write the factor of an edge at the first of some spots that is free; nowhere if none is.

    Spots where other lines pass come last. The factor of a loop has its own room.
    """
    said = times(edge)
    size = 0.62 * font_size / 72 * max(len(said), 1), 1.15 * font_size / 72
    free = (spot for spot in sorted(spots, key=taken.is_crowded) if edge.is_self or taken.take(spot, size))
    spot = next(free, None) if said else None
    if spot is None:
        return
    ax.text(
        *spot,
        said,
        fontsize=font_size,
        color=colour(edge),
        ha="center",
        va="center",
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        zorder=2.5,
    )


def _curve(a: FloatArray, b: FloatArray, bend: float, at: Any) -> FloatArray:
    """Points of matplotlib's ``arc3`` from a to b: a quadratic curve whose middle point lies to the side."""
    control = (a + b) / 2 + bend * np.array([b[1] - a[1], a[0] - b[0]])
    t = np.asarray(at)[:, None]
    return np.asarray((1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b)


def _bend(start: Any, end: Any, ends: tuple[int, int], taken: Taken) -> float:
    """The bend with which a line meets fewest other boxes, and does not run along the one the other way."""
    a, b = np.array(start.get_position()), np.array(end.get_position())
    along = np.linspace(0.02, 0.98, 60)
    back = taken.bends.get(ends[::-1], np.inf)

    def meets(bend: float) -> int:
        return taken.hold(_curve(a, b, bend, along), but=ends) + 3 * (abs(bend + back) < 0.1)

    taken.bends[ends] = best = min(_BENDS, key=meets)
    taken.lines.append(_curve(a, b, best, along))
    return best


def _arrow(start: Any, end: Any, edge: Influence, bend: float) -> tuple[Any, FloatArray]:
    patch = arrow(
        start.get_position(),
        end.get_position(),
        boxes=(start, end),
        patchA=start.get_bbox_patch(),
        patchB=end.get_bbox_patch(),
        shrinkA=1,
        shrinkB=2,
        connectionstyle=f"arc3,rad={bend}",
        zorder=2,
        **look(edge),
    )
    a, b = np.array(start.get_position()), np.array(end.get_position())
    return patch, _spots(_curve(a, b, bend, np.linspace(0, 1, 101)), start, end)


def _spots(curve: FloatArray, start: Any, end: Any) -> FloatArray:
    """Points of a curve outside the boxes at its ends, and off its head."""
    away = [(np.abs(curve - box.get_position()) > box.half).any(axis=1) for box in (start, end)]
    seen: FloatArray = curve[away[0] & away[1]]
    if not len(seen):
        return seen
    spots = seen[[int(share * (len(seen) - 1)) for share in _ALONG]]
    return np.asarray(spots[np.linalg.norm(spots - seen[-1], axis=1) > _OFF_HEAD])


def _loop(box: Any, edge: Influence) -> tuple[Any, FloatArray]:
    """An arrow from the upper or lower rim of a box back to it, and the place beyond it."""
    from matplotlib.path import Path

    x, y = box.get_position()
    up, side = box.loop_side, min(0.6 * box.half[0], 0.07)
    rim, far, out = y + up * box.half[1], y + up * (box.half[1] + LOOP * 4 / 3), side + 0.09
    curve = Path([(x - side, rim), (x - out, far), (x + out, far), (x + side, rim + up * 0.03)], [1, 4, 4, 4])
    spot = x, rim + up * (LOOP + BEYOND)
    return arrow(path=curve, zorder=2, **look(edge)), np.array([spot])
