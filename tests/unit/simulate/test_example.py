"""The demo's dynamics: what they say is what they are."""

import pytest

from summarkov import BSuMM
from summarkov.simulate.example import LOOKBACK, SHOP, web_shop


@pytest.mark.parametrize("label", sorted(SHOP))
def test_the_influencers_written_down_are_the_minimal_ones(label: str) -> None:
    assert web_shop().minimal_influencers(label) == tuple(sorted(SHOP[label][1]))


def test_every_factor_multiplies_the_probability() -> None:
    influencers, table = web_shop().rules["purchase"]
    assert influencers == ("add to cart", "get coupon", "page error")
    assert table[0, 0, 0] == pytest.approx(0.02)
    assert table[1, 0, 0] == pytest.approx(0.02 * 5.0)
    assert table[1, 1, 1] == pytest.approx(0.02 * 5.0 * 2.0 * 0.25)


def test_the_factors_can_be_learned() -> None:
    events = web_shop().simulate(2000, 30, random_state=7)
    model = BSuMM("contact support", lookback=LOOKBACK).fit(events)
    assert model.influencers_ == ("page error",)
    assert model.influences_[0].ratio == pytest.approx(SHOP["contact support"][1]["page error"], rel=0.1)
