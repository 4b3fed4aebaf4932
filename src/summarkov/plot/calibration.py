"""Do predicted probabilities come true as often as they say?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from summarkov.evaluation.comparison import Comparison
from summarkov.plot.canvas import COLOURS, axes_for, plain


def calibration(comparison: Comparison, names: Iterable[str] | None = None, *, ax: Any = None) -> Any:
    """Draw the calibration curves of contenders (by default the best five): occurred against predicted.

    A bin of predictions is a mark whose area goes with the number of predictions in it; on the dashed line
    what is predicted occurs as often as it should. Both scales are logarithmic, since most events are rare;
    a bin in which nothing occurred has no place there and is drawn hollow at the bottom.
    """
    ax = axes_for(ax, 4.2, 4.0)
    chosen = [line.name for line in comparison.lines][:5] if names is None else list(names)
    curves = {name: comparison.reliability(name) for name in chosen}
    known = [value for bins in curves.values() for b in bins for value in (b["predicted"], b["occurred"])]
    low = min([value for value in known if value > 0], default=1e-3) / 2
    most = max([b["n"] for bins in curves.values() for b in bins], default=1)
    ax.plot([low, 1], [low, 1], color="#777777", linewidth=0.8, linestyle="--", zorder=1)
    for (name, bins), colour in zip(curves.items(), itertools.cycle(COLOURS), strict=False):
        predicted = [max(b["predicted"], low) for b in bins]
        occurred = [max(b["occurred"], low) for b in bins]
        area = [10 + 70 * b["n"] / most for b in bins]
        face = [colour if b["occurred"] > 0 else "none" for b in bins]
        some = [i for i, b in enumerate(bins) if b["occurred"] > 0]
        ax.plot([predicted[i] for i in some], [occurred[i] for i in some], color=colour, linewidth=1)
        ax.scatter(predicted, occurred, s=area, facecolors=face, edgecolors=colour, zorder=3)
        ax.plot([], [], color=colour, marker="o", label=plain(name))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, 1.1)
    ax.set_ylim(low * 0.9, 1.2)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("share that occurred")
    ax.legend(frameon=False, loc="upper left")
    return ax
