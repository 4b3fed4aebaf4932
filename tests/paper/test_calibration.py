"""The study of confidence, small; the whole is `make calibration`."""

import pytest
from paper.calibration import LEAST_FACTOR, MOST, REST, TARGETS, calibration, examine, random_dynamics


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_exists(seed):
    """Dynamics that sum to 1 after every history (else they are refused), whose influencers all matter."""
    dynamics = random_dynamics(seed)
    assert sum(max(dynamics.rules[x][1].values()) for x in TARGETS) == pytest.approx(MOST)
    for x in TARGETS:
        influencers, table = dynamics.rules[x]
        assert dynamics.minimal_influencers(x) == influencers
        assert len(influencers) == 2
        for column in (0, 1):
            pairs = (
                [((0, 0), (1, 0)), ((0, 1), (1, 1))] if column == 0 else [((0, 0), (0, 1)), ((1, 0), (1, 1))]
            )
            assert max(max(table[a] / table[b], table[b] / table[a]) for a, b in pairs) >= LEAST_FACTOR
    assert min(dynamics.rules[REST][1].values()) > 0.1


def test_sure_edges_are_true():
    found = [examine(seed, 200, 40, 1.0, 30) for seed in range(3)]
    sure = [true for one in found for frequency, in_graph, true in one.edges if in_graph and frequency >= 0.9]
    assert len(sure) >= 15
    assert sum(sure) >= 0.9 * len(sure)
    assert all(one.n_true == 18 for one in found)


def test_the_tables():
    done = []
    sections = calibration(
        graphs=2, sizes=(20, 40), length=20, gammas=(1.0,), n=5, progress=lambda *at: done.append(at)
    )
    assert done[-1] == (4, 4)
    sure, reliability = sections
    assert [row[:2] for row in sure.rows] == [["1", "400"], ["1", "800"]]
    assert len(reliability.headings) == 5
    assert all(len(row) == 5 for row in reliability.rows)
