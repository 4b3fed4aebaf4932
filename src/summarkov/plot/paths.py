"""How the influencers come and go along a path of settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.models import Stability
from summarkov.plot.canvas import COLOURS, axes_for, plain


def path(stability: Stability, *, most: int = 40, ax: Any = None) -> Any:
    """Draw what ``sensitivity`` found: one row per edge, one column per setting, a mark where it is found.

    Parameters
    ----------
    stability : Stability
        What :func:`summarkov.sensitivity` returned.
    most : int
        Draw at most so many edges, those found with most settings.
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
    ax.scatter(*np.nonzero(~there)[::-1], s=4, color="#cccccc", zorder=2)
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
