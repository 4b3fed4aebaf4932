"""The probability of a label in every state of the past, as a forest plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.models import SummaryModel
from summarkov.plot.canvas import COLOURS, axes_for, plain


def states(model: SummaryModel, *, label: str | None = None, most: int = 40, ax: Any = None) -> Any:
    """Draw a fitted model's states: estimate, 95% interval and count, against the base rate.

    Parameters
    ----------
    model : SummaryModel
        Fitted.
    label : str, optional
        Which label of the target; needed where there are several.
    most : int
        Draw at most so many states, those seen most often, in the order of the table.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. The area of a mark goes with how often its state was seen.
    """
    x = chosen_label(model, label)
    table = list(model.table_)
    if len(table) > most:
        often = sorted(range(len(table)), key=lambda i: (-table[i].n, i))[:most]
        table = [table[i] for i in sorted(often)]
    axes = axes_for(ax, 5.5, 1.2 + 0.24 * len(table))
    p = np.array([row.probabilities[x] for row in table])
    ends = np.array([row.intervals[x] for row in table]).reshape(len(table), 2)
    n = np.array([row.n for row in table])
    place = np.arange(len(table))
    axes.hlines(place, ends[:, 0], ends[:, 1], color=COLOURS[0], linewidth=1.2, zorder=2)
    axes.scatter(p, place, s=12 + 80 * n / max(n.max(initial=0), 1e-300), color=COLOURS[0], zorder=3)
    axes.axvline(model.base_rates_[x], color="#777777", linewidth=0.8, linestyle="--", zorder=1)
    axes.set_yticks(place, [f"{plain(row.words or 'always')}  ({row.n:,g})" for row in table])
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"probability of {plain(model.target_[x])}, 95% interval; dashed: base rate")
    axes.tick_params(axis="y", length=0)
    return axes


def chosen_label(model: SummaryModel, label: str | None) -> int:
    """The place of a label in the target; without one, of the only label there is."""
    if label is None:
        if len(model.target_) > 1:
            raise SettingError(f"say which label to draw: label= one of {', '.join(model.target_)}")
        return 0
    if label not in model.target_:
        raise SettingError(f"{label!r} is not in the target; its labels are {', '.join(model.target_)}")
    return model.target_.index(label)
