"""The tables of noise and of what the bound of chance costs, small."""

import numpy as np
import pytest
from paper.noise import HARD, SETTINGS, Ranking, noise_table, recall_table
from paper.worlds import alike, drawn, swapped


def test_noise_is_counted_with_and_without_the_bound():
    told = []
    section = noise_table([(10, 400, 2), (31, 400, 1)], lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert section.headings[3:] == list(SETTINGS)
    small, large = section.rows
    assert small[:3] == ["10", "400", "2"]
    bounded, free = zip(*((float(n) for n in cell.strip(")").split(" (")) for cell in small[3:]), strict=True)
    assert max(bounded) <= 1.5
    assert sum(free) > 10 * max(1, sum(bounded))
    assert all("(" not in cell for cell in large[3:])


def test_rankings_by_hand():
    found = Ranking(np.array([3.0, 1.0, 2.0, 0.5]), np.array([True, True, False, False]), 4)
    assert (found.precision, found.recall) == (0.5, 0.5)
    assert [found.recall_at(p) for p in (1.0, 0.6, 0.5)] == [0.25, 0.5, 0.5]
    nothing = Ranking(np.empty(0), np.empty(0, bool), 4)
    assert (nothing.precision, nothing.recall, nothing.recall_at(0.9)) == (1.0, 0.0, 0.0)


def test_the_bound_makes_graphs_more_precise():
    name = "30 labels, 2,000 events, 20 edges x3"
    assert name in HARD
    bounded, free = recall_table(2, [name]).rows
    assert [row[:2] for row in (bounded, free)] == [[name, "false_edges=0.2"], [name, "None"]]
    assert float(bounded[2]) > 0.9 > float(free[2])
    assert bounded[3] == bounded[4]
    assert float(bounded[3]) < float(free[3])


def test_swapping_keeps_what_stands_two_by_two():
    rng = np.random.default_rng(0)
    world = drawn(rng, alike(rng, 100, 10, 6))
    codes, after = (each.codes.reshape(-1, 2) for each in (world.events, swapped(rng, world).events))
    assert (np.sort(codes, axis=1) == np.sort(after, axis=1)).all()
    differ = codes[:, 0] != codes[:, 1]
    assert np.mean((codes != after).any(axis=1)[differ]) == pytest.approx(0.5, abs=0.1)
