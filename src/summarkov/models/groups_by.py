"""Groups of sequences by an attribute: each compared with all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.explain import GroupShare, SeveralGroups
from summarkov.io import read_events
from summarkov.io.case_attributes import ranked
from summarkov.models.comparing_groups import compare_groups
from summarkov.models.model import SummaryModel
from summarkov.settings import Progress, check_level, reporter
from summarkov.typing import BoolArray

#: More groups would be compared for hours, and nobody would read it.
MOST_GROUPS = 20


def compare_groups_by(
    model: SummaryModel,
    events: Any,
    by: str | Sequence[str],
    *,
    targets: Iterable[str] | None = None,
    n: int = 200,
    seed: int = 0,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> SeveralGroups:
    """Compare groups of sequences by an attribute, each with all others, as :func:`compare_groups` does two.

    First comes how often each label is in every group, then how influences differ. With more than two groups
    the level of each comparison is such that all hold together (Bonferroni).

    Parameters
    ----------
    model : SummaryModel
        The template: a BSuMM, OSuMM or CSuMM without a target.
    events
        Events in memory, read with ``attributes=[by]``; or any, if ``by`` is a list.
    by : str or list of str
        An attribute of the sequences, which is then left out as an influencer; or the group of each sequence.
    targets, n, seed, random_state, level, n_jobs, progress
        As for :func:`compare_groups`.

    >>> from summarkov import BSuMM, read_events
    >>> events = read_events([["A", "B", "C"] * 5] * 30 + [["A", "C", "B"] * 5] * 30)
    >>> model = BSuMM(lookback=1, candidates=["A"])
    >>> found = compare_groups_by(model, events, ["old"] * 30 + ["new"] * 30, targets=["B"], n=50)
    >>> found.names, [len(edges) for edges in found.differing().values()]
    (('new', 'old'), [1])
    """
    check_level("level", level)
    events = read_events(events)
    column, groups = _groups(events, by)
    sizes = {name: int(np.count_nonzero(groups == name)) for name in ranked(set(groups.tolist()))}
    filled = {name: int(np.count_nonzero((groups == name) & (events.lengths > 0))) for name in sizes}
    names = [name for name in sizes if filled[name] >= 2]
    if len(sizes) > MOST_GROUPS:
        raise DataError(
            f"{column} makes {len(sizes)} groups, more than {MOST_GROUPS}; cut numbers into fewer ranges "
            "with cuts=, or make groups of its values first"
        )
    if len(names) < 2 and not (names and len(sizes) > 1):
        raise DataError(
            f"{column} makes fewer than two groups of at least two sequences that are not empty; name "
            "another column, or pool its values"
        )
    held = events.attributes
    plain = events.with_attributes(None if held is None else held.without(column))
    tell = reporter(progress)
    compared = names[1:] if len(sizes) == 2 and len(names) == 2 else names
    comparisons = []
    for done, name in enumerate(compared):
        here = groups == name
        others = names[0] if compared is not names else "others"
        one = compare_groups(
            model,
            plain[~here],
            plain[here],
            names=(others, name),
            targets=targets,
            n=n,
            seed=seed,
            random_state=random_state,
            level=1 - (1 - level) / len(compared),
            n_jobs=n_jobs,
        )
        comparisons.append(one)
        tell(done + 1, len(compared))
    return SeveralGroups(
        column,
        tuple(names),
        tuple(sizes[name] for name in names),
        {name: size for name, size in sizes.items() if name not in names},
        tuple(_shares(plain, groups, names, [one.label for one in comparisons[0].labels])),
        tuple(comparisons),
    )


def _groups(events: EventSequences, by: str | Sequence[str]) -> tuple[str, Any]:
    """What the groups are by, and the group of every sequence."""
    if isinstance(by, str):
        if events.attributes is None:
            raise SettingError(f"the events have no attributes; read them with attributes=[{by!r}]")
        named = events.attributes.values(by)
        return by, np.array([name.removeprefix(f"{by}=") for name in named], object)
    groups = [str(name) for name in by]
    if len(groups) != len(events):
        raise SettingError(
            f"by must be an attribute, or the group of each of the {len(events)} sequences, not {len(groups)}"
        )
    return "group", np.array(groups, object)


def _shares(
    events: EventSequences, groups: Any, names: Sequence[str], labels: Sequence[str]
) -> Iterable[GroupShare]:
    """In which share of the sequences of each group each label occurs, and its share of events."""
    weights = np.ones(len(events)) if events.weights is None else events.weights
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    for label in labels:
        is_it = events.codes == events.code(label)
        occurs: BoolArray = np.bincount(sequence[is_it], minlength=len(events)) > 0
        for name in names:
            here = (groups == name) & (events.lengths > 0)
            of_events = here[sequence]
            weight = weights[sequence]
            yield GroupShare(
                label,
                name,
                float(weights[here & occurs].sum() / weights[here].sum()),
                float(weight[of_events & is_it].sum() / weight[of_events].sum()),
            )
