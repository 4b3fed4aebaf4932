"""Arrows between boxes of text, which end at the boxes whatever size the figure gets."""

from __future__ import annotations

from typing import Any

import numpy as np

_HEADS = {
    "amplifies": "-|>,head_length=5,head_width=3",
    "inhibits": "|-|,widthA=0,widthB=4",
    "mixed": "-|>,head_length=5,head_width=3",
    "unclear": "-",
}


def arrow(start: Any, end: Any, effect: str, shown: dict[str, Any]) -> tuple[Any, Any]:
    """An arrow from the box of one text to that of another, and the middle of it."""
    from matplotlib.patches import FancyArrowPatch

    class Arrow(FancyArrowPatch):
        """Boxes know their size only when they are drawn; arrows must know it before."""

        def draw(self, renderer: Any) -> None:
            for text in (start, end):
                text.update_bbox_position_size(renderer)
            super().draw(renderer)

    patch = Arrow(
        start.get_position(),
        end.get_position(),
        patchA=start.get_bbox_patch(),
        patchB=end.get_bbox_patch(),
        shrinkA=1,
        shrinkB=3,
        connectionstyle="arc3,rad=0.12",  # so that the two ways between two labels lie apart
        arrowstyle=_HEADS[effect],
        mutation_scale=1,
        zorder=2,
        **shown,
    )
    a, b = np.array(start.get_position()), np.array(end.get_position())
    along = b - a
    return patch, (a + b) / 2 + 0.06 * np.array([along[1], -along[0]])


def loop(box: Any, effect: str, shown: dict[str, Any]) -> tuple[Any, Any]:
    """An arrow from the upper rim of a box back to it, and the top of it."""
    from matplotlib.patches import FancyArrowPatch

    x, y = box.get_position()
    half_width, half_height = box.half
    side = min(0.6 * half_width, 0.16)
    patch = FancyArrowPatch(
        (x - side, y + half_height),
        (x + side, y + half_height + 0.03),
        shrinkA=0,
        shrinkB=0,
        connectionstyle=f"arc3,rad={-min(0.35 / side, 2.0):.3f}",
        arrowstyle=_HEADS[effect],
        mutation_scale=1,
        zorder=2,
        **shown,
    )
    return patch, (x, y + half_height + 0.24)
