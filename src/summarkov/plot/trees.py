"""A tree of tests, drawn from left to right."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.models import TreeSuMM
from summarkov.plot.canvas import COLOURS, axes_for, plain, short
from summarkov.plot.states import chosen_label
from summarkov.summaries import TreeSummary

#: A column of tests is so many inches wide; a leaf so high.
_COLUMN, _LEAF = 2.0, 0.42


def tree(model: TreeSuMM, *, label: str | None = None, ax: Any = None) -> Any:
    """Draw a fitted tree: its tests, and at every leaf the probability with its 95% interval and count.

    Parameters
    ----------
    model : TreeSuMM
        Fitted.
    label : str, optional
        Which label of the target; needed where there are several.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure, as large as the tree needs.

    Returns the axes. Of two branches the upper one is yes. The bars are probabilities.
    """
    rules = model.fitted.summary
    if not isinstance(rules, TreeSummary):
        raise SettingError(f"only a TreeSuMM is a tree; draw a {type(model).__name__} with plot.states")
    x = chosen_label(model, label)
    states = list(model.table_)
    depth = np.array([len(rules.path(row)) for row in range(len(rules.nodes))])
    deepest = int(depth.max())
    height = np.zeros(len(rules.nodes))
    height[rules.leaves] = np.arange(len(rules.leaves))
    for row in range(len(rules.nodes) - 1, -1, -1):
        if rules.nodes[row] is not None:
            height[row] = height[rules.branches[row]].mean()
    ax = axes_for(ax, _COLUMN * (deepest + 1.6), 0.9 + _LEAF * max(len(states), 2))
    for row, test in enumerate(rules.nodes):
        if test is None:
            continue
        for branch, answer in zip(rules.branches[row].tolist(), ("yes", "no"), strict=True):
            start, end = depth[row], depth[branch] if rules.nodes[branch] is not None else deepest
            ax.plot([start, start], [height[row], height[branch]], color="#999999", linewidth=0.8, zorder=1)
            ax.plot([start, end], [height[branch]] * 2, color="#999999", linewidth=0.8, zorder=1)
            ax.text(start + 0.42, height[branch], answer, va="bottom", fontsize="x-small", color="#555555")
        ax.text(
            depth[row],
            height[row],
            fill(plain(test.words(True, model.labels_) + "?", 60), 22),
            ha="center",
            va="center",
            fontsize="small",
            bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "#999999"},
            zorder=3,
        )
    most = max([state.intervals[x][1] for state in states])
    for place, state in enumerate(states):
        p, (low, high) = state.probabilities[x], state.intervals[x]
        scale = 0.55 / most
        ax.barh(place, p * scale, left=deepest, height=0.5, color=COLOURS[0], zorder=2)
        ax.hlines(
            place, deepest + low * scale, deepest + high * scale, color="black", linewidth=0.8, zorder=3
        )
        ax.text(
            deepest + 0.6,
            place,
            f"{short(p)} ({short(low)} to {short(high)}), n={state.n:,g}",
            va="center",
            fontsize="small",
        )
    ax.set_xlim(-0.55, deepest + 1.7)
    ax.set_ylim(len(states) - 0.3, -0.7)
    ax.set_title(f"probability of {plain(model.target_[x])}", loc="left")
    ax.set_axis_off()
    return ax
