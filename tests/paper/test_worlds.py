"""The worlds of the calibration: what they promise of themselves, and what is claimed of them."""

import numpy as np
import pytest
from paper.coverage import SIZES, coverage_where_sequences_differ
from paper.coverage import WORLDS as COVERED
from paper.worlds import WORLDS, alike, drawn, drifting, regimes
from paper.worlds_table import CLAIMS, examine_world, worlds_table


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_have_what_their_names_say(name):
    world = WORLDS[name](np.random.default_rng(0))
    n_true = 8 if "8 " in name else 1 if "one true edge" in name else 0
    assert len(world.truth) == n_true
    assert world.events.n_events >= 10_000
    assert len(world.events.labels) == (100 if "100" in name else 40 if "rare" in name else 10)
    again = WORLDS[name](np.random.default_rng(0))
    assert again.events.codes.tolist() == world.events.codes.tolist()


def test_an_edge_multiplies_a_rate():
    rng = np.random.default_rng(1)
    world = drawn(rng, np.ones((2000, 30, 4)), {(0, 1): 3.0}, lookback=1)
    codes = world.events.codes.reshape(2000, 30)
    after = codes[:, 1:][codes[:, :-1] == 0]
    assert np.mean(after == 1) == pytest.approx(0.5, abs=0.02)  # 3 of 6
    assert np.mean(codes[:, 1:][codes[:, :-1] != 0] == 1) == pytest.approx(0.25, abs=0.01)
    assert world.truth == {("L000", "L001"): 3.0}


def test_starts_drift_and_regimes():
    rng = np.random.default_rng(2)
    started = drawn(rng, alike(rng, 50, 5, 6), first=3)
    assert set(started.events.codes.reshape(50, 5)[:, 0].tolist()) == {3}
    rates = drifting(rng, 2, 11)
    assert rates[0, 5] == pytest.approx((rates[0, 0] + rates[0, 10]) / 2)
    hidden = regimes(rng, 5000)[0]
    assert len(np.unique(hidden[:, 0])) == 3
    changes = (hidden[1:] != hidden[:-1]).any(axis=1).sum()
    assert 15 < changes < 60  # a change to the same regime is none


def test_claims_are_counted():
    world = WORLDS["competition: one true edge x6"](np.random.default_rng(3))
    found = examine_world(world, n=10)
    assert found.n_true == 1
    assert found.true == dict.fromkeys(CLAIMS, 1)
    assert found.claimed["depends on order"] == 1
    assert found.claimed["an edge"] > 5
    told = []
    section = worlds_table(2, 5, ["noise, 10 labels"], lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]
    (row,) = section.rows
    assert len(row) == len(section.headings) == 1 + 3 * len(CLAIMS)
    assert (row[0], row[2:4], float(row[4])) == ("noise, 10 labels", ["", ""], 0.0)


def test_coverage_where_sequences_differ():
    table = coverage_where_sequences_differ(times=2, n_events=20_000).split("\n")
    assert len(table) == 2 + 2 * len(COVERED)
    assert table[0].count("×") == len(SIZES)
    assert table[4].split("|")[-2].strip() == ""  # one sequence tells nothing of others
