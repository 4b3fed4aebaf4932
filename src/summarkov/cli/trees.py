"""A tree of questions to the past, drawn with its branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from summarkov.cli.graphs import is_plain
from summarkov.cli.text import page_width, shorten
from summarkov.summaries import TreeSummary
from summarkov.wording import number, percent, plural

if TYPE_CHECKING:
    from summarkov.models import SummaryModel

#: Of a target of several labels, tell so many at a leaf, the most likely first.
_MOST_LABELS = 2


def print_tree(console: Console, model: SummaryModel, chosen: Sequence[str], most: int | None) -> None:
    """Draw a tree: the question at every node, and what follows at every leaf; ``most`` leaves at most.

    In an average over prunings, it is told how likely a node is split if the tree reaches it.
    """
    tree = model.fitted.summary
    assert isinstance(tree, TreeSummary)
    width, splits = page_width(console), getattr(model.fitted, "splits", None)
    fork, last, down = ("|- ", "`- ", "|  ") if is_plain(console) else ("├─ ", "└─ ", "│  ")
    lines: list[Text] = []
    drawn = 0
    waiting = [(0, "", "")]  # a node, what stands before it, and what stands before those below it
    while waiting and (most is None or drawn < most):
        row, before, below = waiting.pop()
        test = tree.nodes[row]
        if test is None:
            text, style = _leaf(model, drawn, chosen), ""
            drawn += 1
        else:
            text, style = f"{test.words(True, model.labels_)}?", "bold"
            if splits is not None:
                text = f"{shorten(text, max(12, width - len(before) - 15))} (asked: {percent(splits[row])})"
            yes, no = tree.branches[row].tolist()
            waiting += [(no, f"{below}{last}no: ", f"{below}   "), (yes, f"{below}{fork}yes: ", below + down)]
        room = max(12, width - len(before))
        lines.append(Text.assemble(before, (shorten(text, room), style), no_wrap=True, overflow="ignore"))
    for line in lines:
        console.print(line)
    if drawn < len(tree.leaves):
        left = plural(len(tree.leaves) - drawn, "leaf").replace("leafs", "leaves")
        console.print(Text(f"... and {left} more; --rows 0 draws all", "dim"))


def _leaf(model: SummaryModel, leaf: int, chosen: Sequence[str]) -> str:
    """How likely the target is, and how often the leaf was seen."""
    fitted = model.fitted
    n = number(float(fitted.counts[leaf].sum()))
    if len(model.target_) == 1:
        return f"{percent(float(fitted.theta[leaf, 0]))} (n={n})"
    each = sorted(((float(fitted.theta[leaf, model.target_.index(x)]), x) for x in chosen), reverse=True)
    words = ", ".join(f"{shorten(x, 16)} {percent(p)}" for p, x in each[:_MOST_LABELS])
    return f"{words} (n={n})"
