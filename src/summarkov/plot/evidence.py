"""Figures of how far results can be trusted: with which settings edges are found, and calibration."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from summarkov.evaluation.comparison import Comparison
from summarkov.models import Stability
from summarkov.plot.canvas import COLOURS, axes_for, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def path(stability: Stability, *, most: int = 40, ax: Axes | None = None) -> Axes:
    """Draw what ``sensitivity`` found: one row per edge, one column per setting, a mark where it is found.

    Parameters
    ----------
    stability : Stability
        What :func:`summarkov.sensitivity` returned.
    most : int
        The most edges to draw: those found with most settings.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. Beside each edge stands the share of the settings that find it.
    """
    edges = list(stability.edges)
    if len(edges) > most:
        often = sorted(range(len(edges)), key=lambda i: (-edges[i].share, i))[:most]
        edges = [edges[i] for i in sorted(often)]
    settings = stability.settings
    found = {(row.target, z, tuple(row.settings.values())) for row in stability.rows for z in row.influencers}
    ax = axes_for(ax, 3.2 + 0.3 * len(settings), 1.1 + 0.22 * len(edges))
    there = np.array(
        [[(e.target, e.influencer, tuple(s.values())) in found for s in settings] for e in edges], bool
    ).reshape(len(edges), len(settings))
    rows, columns = np.nonzero(there)
    other_rows, other_columns = np.nonzero(~there)
    ax.scatter(other_columns, other_rows, s=4, color="#cccccc", zorder=2)
    ax.scatter(columns, rows, s=34, color=COLOURS[0], zorder=3)
    ax.set_yticks(
        np.arange(len(edges)),
        [f"{plain(e.influencer, 24)} → {plain(_name(e.target), 24)}  {e.share:.0%}" for e in edges],
    )
    ax.set_xticks(
        np.arange(len(settings)),
        ["\n".join("all" if v is None else f"{v:g}" for v in reversed(list(s.values()))) for s in settings],
    )
    ax.set_xlabel(
        ", below it ".join({"lookback": "look-back"}.get(n, n) for n in reversed(list(stability.paths)))
    )
    ax.set_xlim(-0.6, len(settings) - 0.4)
    ax.set_ylim(len(edges) - 0.4, -0.6)
    ax.tick_params(length=0)
    return ax


def _name(target: str | tuple[str, ...]) -> str:
    return target if isinstance(target, str) else " + ".join(target)


def calibration(
    comparison: Comparison,
    names: Iterable[str] | None = None,
    *,
    target: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the calibration curves of contenders (by default the best five): occurred against predicted.

    Over all targets, or of one ``target``.

    A bin of predictions is a mark whose area goes with the number of predictions in it; on the dashed line
    what is predicted occurs as often as it should. Both scales are logarithmic, since most events are rare;
    a bin in which nothing occurred has no place there and is drawn hollow at the bottom.
    """
    ax = axes_for(ax, 4.2, 4.0)
    chosen = [line.name for line in comparison.lines][:5] if names is None else list(names)
    curves = {name: comparison.reliability(name, target) for name in chosen}
    known = [value for bins in curves.values() for b in bins for value in (b.predicted, b.occurred)]
    low = min([value for value in known if value > 0], default=1e-3) / 2
    most = max([b.n for bins in curves.values() for b in bins], default=1)
    ax.plot([low, 1], [low, 1], color="#777777", linewidth=0.8, linestyle="--", zorder=1)
    for (name, bins), colour in zip(curves.items(), itertools.cycle(COLOURS), strict=False):
        predicted = [max(b.predicted, low) for b in bins]
        occurred = [max(b.occurred, low) for b in bins]
        area = [10 + 70 * b.n / most for b in bins]
        face = [colour if b.occurred > 0 else "none" for b in bins]
        some = [i for i, b in enumerate(bins) if b.occurred > 0]
        ax.plot([predicted[i] for i in some], [occurred[i] for i in some], color=colour, linewidth=1)
        ax.scatter(predicted, occurred, s=area, facecolors=face, edgecolors=colour, zorder=3)
        ax.plot([], [], color=colour, marker="o", label=plain(name))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, 1.1)
    ax.set_ylim(low * 0.9, 1.2)
    ax.set_xlabel("predicted probability" if target is None else f"predicted probability of {plain(target)}")
    ax.set_ylabel("share that occurred")
    ax.legend(frameon=False, loc="upper left")
    return ax
