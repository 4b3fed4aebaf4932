"""``HasPage``: what can be looked at as a page in a browser."""

from __future__ import annotations

from os import PathLike
from typing import Any, cast

from summarkov.explain import Shown


class HasPage:
    """Something fitted that has a page: a model, a graph, a joint model."""

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        events: Any = None,
        passages: Any = None,
        title: str | None = None,
        sequences: int | None = None,
        groups: Any = None,
    ) -> str | None:
        """Write it as one HTML page that needs nothing else, all or nothing; or return its text.

        A notebook shows the text as the page itself, to explore in the cell.

        The page shows the graph, every label's table and the data, and computes what a history of one's own
        makes of the probabilities. With ``events`` it also tells what a graph does not know: how long their
        sequences are, and how the share of a target changes from event to event after an influencer. With
        ``passages``, the :class:`summarkov.text.TextEvents` that it was learned from or their
        file, it shows the sentences behind every edge; they are then part of the page. ``title`` says what
        the events are. ``sequences`` is the number of sequences of the events that become part of the page,
        to be looked at one event after the other: none unless asked for. ``groups``, what
        :func:`compare_groups` returned, or several of these, are shown side by side.
        """
        from summarkov.report import to_html

        return to_html(
            cast(Shown, self),
            path,
            events=events,
            passages=passages,
            title=title,
            sequences=sequences,
            groups=groups,
        )
