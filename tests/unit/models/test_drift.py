"""Drift: an edge that changes is found, with the part since which it did, and the others are not."""

import numpy as np
import pytest

import summarkov as sm
from strategies import from_counts
from summarkov.errors import SettingError


def day(seed, p):
    """Sequences in which "b" follows "a" with probability ``p``, and "d" follows "c" half of the time."""
    rng = np.random.default_rng(seed)
    sequences = []
    for chances, others in zip(rng.random((60, 21)), rng.integers(4, size=(60, 21)), strict=True):
        made = []
        for chance, other in zip(chances, others, strict=True):
            label, often = {"a": ("b", p), "c": ("d", 0.5)}.get(made[-1] if made else "", ("", 0))
            made.append(label if chance < often else "abcd"[other])
        sequences.append(made)
    return sequences


@pytest.fixture(scope="module")
def days():
    return {f"day {number + 1}": day(number, 0.6 if number < 4 else 0.2) for number in range(6)}


def graph_of(parts, model=None):
    """The graph of all parts together."""
    return sm.InfluenceGraph(model or sm.BSuMM(lookback=1)).fit(
        [case for part in parts.values() for case in part]
    )


def test_what_changed_and_since_when(days):
    graph = graph_of(days)
    found = sm.drift(graph, days)
    assert len(found) == sum(map(len, graph.influencers_.values()))
    change = found[0]
    assert (change.influencer, change.target, change.since) == ("a", "b", "day 5")
    assert change.has_changed
    assert change.high_after < change.low_before
    assert ("c", "d") not in {(one.influencer, one.target) for one in found if one.has_changed}
    # each side is what the edge would be, were it all of the data
    later = [sequence for number in (4, 5) for sequence in day(number, 0.2)]
    model = sm.BSuMM("b", lookback=1, required=graph.influencers_["b"], candidates=[]).fit(later)
    edge = next(one for one in from_counts(model) if one.influencer == "a")
    assert change.ratio_after == edge.ratio
    assert change.low_after <= edge.low < edge.high <= change.high_after  # as sequences differ
    assert str(found).startswith(f"{len(found)} × Change\n")
    assert found.to_frame("pyarrow").num_rows == len(found)


def test_nothing_changes_where_nothing_does():
    """Over all graphs hardly ever: the level is for all edges and places together."""
    wrong = 0
    for trial in range(5):
        parts = {str(number): day(100 + 10 * trial + number, 0.5) for number in range(4)}
        wrong += sum(one.has_changed for one in sm.drift(graph_of(parts), parts))
    assert wrong <= 1


def test_what_cannot_be_compared(days):
    graph = graph_of(days)
    for wrong in ({"day 1": days["day 1"]}, [*days.values()]):
        with pytest.raises(SettingError, match="parts must be at least two by name"):
            sm.drift(graph, wrong)
    with pytest.raises(SettingError, match="level must be"):
        sm.drift(graph, days, level=2)
    with pytest.raises(SettingError, match="have no factors; use a BSuMM"):
        sm.drift(graph_of(days, sm.TreeSuMM(max_depth=2)), days)
