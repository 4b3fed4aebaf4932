"""One model as a figure, states or tree; and how far results can be trusted: settings, calibration."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.models import Evaluation, Stability, SummaryModel, TreeSuMM
from summarkov.plot.canvas import COLOURS, axes_for, plain, short
from summarkov.summaries import TreeSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: More influencers than this are told in words.
MOST_DOTS = 14


def states(model: SummaryModel, *, label: str | None = None, most: int = 40, ax: Axes | None = None) -> Axes:
    """Draw a fitted model's states: estimate, 95% interval and count, against the base rate.

    Parameters
    ----------
    model : SummaryModel
        Fitted.
    label : str, optional
        Which label of the target; needed where there are several.
    most : int
        Draw at most this many states, those seen most often.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. The most probable state comes first. The area of a mark goes with how often its state
    was seen, which stands beside it. A filled dot says that the influencer above it is there.
    """
    x = chosen_label(model, label)
    table = list(model.table_)
    often = sorted(range(len(table)), key=lambda i: (-table[i].n, i))[:most]
    chosen = sorted(often, key=lambda i: (-table[i].probabilities[x], i))
    table = [table[i] for i in chosen]
    ax = axes_for(ax, 5.5, 1.4 + 0.24 * len(table))
    p = np.array([row.probabilities[x] for row in table])
    ends = np.array([row.intervals[x] for row in table]).reshape(len(table), 2)
    n = np.array([row.n for row in table])
    place = np.arange(len(table))
    ax.hlines(place, ends[:, 0], ends[:, 1], color=COLOURS[0], linewidth=1.2, zorder=2)
    ax.scatter(p, place, s=12 + 80 * n / max(n.max(initial=0), 1e-300), color=COLOURS[0], zorder=3)
    ax.axvline(model.base_rates_[x], color="#666666", linewidth=0.8, linestyle="--", zorder=1)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(
        f"probability of {plain(model.target_[x])}, 95% interval\n(dashed: its share of all events)"
    )
    ax.tick_params(axis="y", length=0)
    if model.fitted.summary.by_level and 0 < len(model.influencers_) <= MOST_DOTS:
        _dots(ax, model.influencers_, model.fitted.table.keys[chosen])
        ax.set_yticks(place, [f"{row.n:,g}" for row in table])
    else:
        words = [fill(plain(row.words or "always", 120), 44) for row in table]
        ax.set_yticks(place, [f"{told}  ({row.n:,g})" for told, row in zip(words, table, strict=True)])
    return ax


def _dots(ax: Any, influencers: Sequence[str], keys: Any) -> None:
    """Which influencers are there in each state: a column of dots each, left of the axes, filled if it is."""
    from matplotlib.transforms import ScaledTranslation

    for i, label in enumerate(influencers):
        inches = -0.75 - 0.2 * (len(influencers) - 1 - i)
        beside = ax.get_yaxis_transform() + ScaledTranslation(inches, 0, ax.figure.dpi_scale_trans)
        faces = ["#222222" if level else "white" for level in keys[:, i].tolist()]
        rows = np.arange(len(keys))
        ax.scatter(
            np.zeros(len(keys)), rows, s=34, c=faces, edgecolors="#555555", transform=beside, clip_on=False
        )
        for row, level in enumerate(keys[:, i].tolist()):
            if level > 1:  # how often, or in which order
                ax.text(
                    0, row, str(level), transform=beside, color="white", fontsize=6, ha="center", va="center"
                )
        ax.text(0, -0.8, plain(label, 24), transform=beside, rotation=60, rotation_mode="anchor", fontsize=8)


def chosen_label(model: SummaryModel, label: str | None) -> int:
    """The place of a label in the target; without one, of the only label there is."""
    if label is None:
        if len(model.target_) > 1:
            raise SettingError(f"say which label to draw: label= one of {', '.join(model.target_)}")
        return 0
    if label not in model.target_:
        raise SettingError(f"{label!r} is not in the target; its labels are {', '.join(model.target_)}")
    return model.target_.index(label)


#: How wide a column of tests is, and how high a leaf, in inches.
_COLUMN, _LEAF = 2.0, 0.42


def tree(model: TreeSuMM, *, label: str | None = None, ax: Axes | None = None) -> Axes:
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
    found: Any,
    names: Iterable[str] | None = None,
    *,
    target: str | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw calibration curves: how often what was predicted occurred.

    Parameters
    ----------
    found : Comparison or Evaluation
        What :func:`summarkov.compare` returned, or ``model.evaluate(events)`` of one model.
    names : iterable of str, optional
        The contenders of a comparison; by default the best five.
    target, label : str, optional
        Of which ``target`` of a comparison, or of which ``label`` of an evaluation; by default over all.
    ax : matplotlib axes, optional
        Where to draw; by default on a new figure.

    Returns the axes. A bin of predictions is a mark whose area goes with the number of predictions in it; on
    the dashed line what is predicted occurs as often as it should. Both scales are logarithmic, since most
    events are rare; a bin in which nothing occurred has no place there and is drawn hollow at the bottom.
    """
    is_comparison = hasattr(found, "lines") and hasattr(found, "reliability")
    if is_comparison:
        if label is not None:
            raise SettingError("label= is for one model's evaluation; of a comparison choose a target=")
        chosen = [line.name for line in found.lines][:5] if names is None else list(names)
        if not chosen:
            raise SettingError("names= is empty; name the contenders to draw, or leave it out")
        curves = {name: found.reliability(name, target) for name in chosen}
    elif isinstance(found, Evaluation):
        if names is not None or target is not None:
            raise SettingError("names= and target= are for a comparison; of an evaluation choose a label=")
        curves = {"": found.reliability(label)}
    else:
        raise SettingError(
            f"{type(found).__name__} has no calibration; give what model.evaluate(events) or "
            "compare(events) returned"
        )
    ax = axes_for(ax, 4.2, 4.0)
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
        if name:
            ax.plot([], [], color=colour, marker="o", label=plain(name))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(low, 1.1)
    ax.set_ylim(low * 0.9, 1.2)
    of = target if label is None else label
    ax.set_xlabel("predicted probability" if of is None else f"predicted probability of {plain(of)}")
    ax.set_ylabel("share that occurred")
    if is_comparison:
        ax.legend(frameon=False, loc="upper left")
    return ax
