"""The demo's dynamics: what they say is what they are."""

import numpy as np
import pytest

from summarkov import BSuMM, Dynamics
from summarkov.simulate.example import LOOKBACK, REST, SHOP, web_shop

SEED = 7


@pytest.mark.parametrize("label", sorted(SHOP))
def test_the_influencers_written_down_are_the_minimal_ones(label: str) -> None:
    assert web_shop().minimal_influencers(label) == tuple(sorted(SHOP[label][1]))


def test_every_factor_multiplies_the_probability() -> None:
    influencers, table = web_shop().rules["purchase"]
    assert influencers == ("add to cart", "get coupon", "page error")
    assert table[0, 0, 0] == pytest.approx(0.02)
    assert table[1, 0, 0] == pytest.approx(0.02 * 5.0)
    assert table[1, 1, 1] == pytest.approx(0.02 * 5.0 * 2.0 * 0.25)


def test_the_rest_is_always_likely_enough_to_be_seen() -> None:
    shop = web_shop()
    every, table = shop.rules[REST]
    assert min(p for key, p in table.items() if shop.summary.fits(key, every)) > 0.05
    histories = np.random.default_rng(SEED).integers(0, len(shop.labels), (200, 12)).astype(np.int32)
    np.testing.assert_allclose(shop._next_event(histories).sum(axis=1), 1.0, rtol=1e-12)


def test_the_factors_can_be_learned() -> None:
    events = web_shop().simulate(2000, 30, random_state=SEED)
    model = BSuMM("contact support", lookback=LOOKBACK).fit(events)
    assert model.influencers_ == ("page error",)
    assert model.influences_[0].ratio == pytest.approx(SHOP["contact support"][1]["page error"], rel=0.1)


def test_round_trip_as_plain_values() -> None:
    shop = web_shop()
    again = Dynamics.from_dict(shop.to_dict())
    assert again.rules == shop.rules
    assert (
        again.simulate(3, 5, random_state=SEED).to_lists()
        == shop.simulate(3, 5, random_state=SEED).to_lists()
    )
