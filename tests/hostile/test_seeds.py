"""Seeds and numbers of resamples that are no use: refused in one sentence, or kept whole in a file."""

from __future__ import annotations

import pytest

import summarkov as sm
from summarkov.errors import SettingError
from summarkov.simulate.example import web_shop

EVENTS = sm.read_events([["A", "B", "C", "D"] * 4, ["D", "D", "A", "B", "C", "C"] * 4] * 3)
LARGEST = 2**62


def graph() -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(EVENTS)


#: Everything that takes a seed, with it as an argument.
SEEDED = {
    "order_test": lambda seed: graph().order_test(EVENTS, n=19, random_state=seed),
    "confidence": lambda seed: graph().confidence(EVENTS, n=5, random_state=seed),
    "simulate": lambda seed: graph().simulate(2, 3, random_state=seed),
    "dynamics": lambda seed: web_shop().simulate(2, 3, random_state=seed),
    "split": lambda seed: EVENTS.split((0.5, 0.5), random_state=seed),
    "compare": lambda seed: sm.compare(
        EVENTS, models=[sm.MarkovChain(order=1)], random_state=seed, n_bootstrap=9
    ),
}


@pytest.mark.parametrize("seed", [-1, LARGEST + 1, 1.5, None], ids=repr)
@pytest.mark.parametrize("name", SEEDED)
def test_seeds_that_are_refused(name, seed):
    with pytest.raises(SettingError, match=r"^random_state must be a whole number from 0 to 2\^62, not "):
        SEEDED[name](seed)


@pytest.mark.parametrize("name", SEEDED)
def test_the_largest_seed(name):
    assert SEEDED[name](LARGEST) is not None


@pytest.mark.parametrize("asked", ["order_test", "confidence"])
def test_the_largest_seed_is_kept_in_a_file(tmp_path, asked):
    """What a file cannot hold must not be taken: the model could be saved, and not loaded."""
    found = graph()
    getattr(found, asked)(EVENTS, n=19, random_state=LARGEST)
    found.save(tmp_path / "graph.json")
    loaded = sm.load(tmp_path / "graph.json")
    assert (loaded.order_ or loaded.confidence_).seed == LARGEST


@pytest.mark.parametrize("n", [10**6 + 1, 2**63])
def test_more_replicates_than_anyone_can_wait_for(n):
    limit = r"must be a whole number from \d to 1000000, not "
    with pytest.raises(SettingError, match=f"^n {limit}"):
        graph().order_test(EVENTS, n=n)
    with pytest.raises(SettingError, match=f"^n {limit}"):
        graph().confidence(EVENTS, n=n)
    with pytest.raises(SettingError, match=f"^n_bootstrap {limit}"):
        sm.compare(EVENTS, models=[sm.MarkovChain(order=1)], n_bootstrap=n)


def test_more_shuffles_than_there_is_memory_for():
    with pytest.raises(SettingError, match="n must be at most 100,000 shuffles, not 100,001: the counts of"):
        graph().order_test(EVENTS, n=100_001)


@pytest.mark.parametrize("within", [2**62 + 1, 1, -5])
def test_blocks_that_no_kernel_can_count(within):
    with pytest.raises(
        SettingError, match=r"within must be a number of positions from 2 on and at most 2\^62, a time"
    ):
        graph().order_test(EVENTS, n=19, within=within)


def test_the_largest_blocks_are_whole_sequences():
    as_whole, blocks = (graph().order_test(EVENTS, n=19, within=within) for within in (None, 2**62))
    assert [edge.ratio for edge in as_whole.edges] == [edge.ratio for edge in blocks.edges]
