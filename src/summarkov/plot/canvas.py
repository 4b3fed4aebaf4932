"""Axes to draw on, and how figures look by default."""

from __future__ import annotations

import io
import os
from typing import Any

from summarkov.errors import SettingError, optional_library

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


def axes_for(ax: Any, width: float, height: float) -> Any:
    """The given axes, or new ones on a figure of this size in inches: no window shows it, notebooks do."""
    with optional_library("a figure", "matplotlib", extra="plot"):
        import matplotlib
        from matplotlib.axes import Axes
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    if ax is not None:
        return ax

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


#: What makes one sign of several, as in some emoji, and is not seen itself.
_JOINERS = "\u200c\u200d"


def plain(text: str, most: int = 40) -> str:
    r"""A label as matplotlib shall show it: cut, no formulas, nothing invisible.

    >>> plain("a$b$ " + "x" * 60)
    'a\\$b\\$ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    shown = "".join(c if c.isprintable() or c in _JOINERS else ascii(c)[1:-1] for c in text)
    shown = shown if len(shown) <= most else shown[: most - 1] + "…"
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

    from summarkov.io.addresses import plain_name
    from summarkov.io.temporary import replacing

    kind = plain_name(path).rsplit(".", 1)[-1].lower()
    if kind not in ("pdf", "svg", "png"):
        raise SettingError(f"cannot draw {path}; let its name end in .pdf, .svg or .png")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    drawn = io.BytesIO()  # for where a file cannot be written, matplotlib may stumble
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "summarkov"}):
        ax.figure.savefig(drawn, format=kind, metadata=metadata, dpi=200)
    with replacing(path) as temporary:
        temporary.write_bytes(drawn.getvalue())
