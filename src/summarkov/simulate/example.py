"""Made-up data whose truth is known: a small web shop."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from summarkov.simulate.dynamics import Dynamics, Rule

#: How many events back a visitor's past matters.
LOOKBACK = 5

#: What visitors do when nothing else happens: this label takes the rest of the probability.
REST = "browse"

#: For every other label: its probability after an uneventful past, and the factor by which each influencer
#: multiplies it if it occurred among the last ``LOOKBACK`` events. Above 1 amplifies, below 1 inhibits.
SHOP: Mapping[str, tuple[float, Mapping[str, float]]] = MappingProxyType(
    {
        "search": (0.10, {"out of stock": 2.0}),
        "view product": (0.11, {"search": 1.8}),
        "out of stock": (0.05, {}),
        "add to cart": (0.05, {"view product": 2.5, "out of stock": 0.3}),
        "get coupon": (0.03, {"add to cart": 3.0}),
        "purchase": (0.02, {"add to cart": 5.0, "get coupon": 2.0, "page error": 0.25}),
        "write review": (0.01, {"purchase": 8.0}),
        "page error": (0.04, {"page error": 2.5}),
        "contact support": (0.02, {"page error": 4.0}),
    }
)


def web_shop() -> Dynamics:
    """The dynamics of the shop: ten labels, eleven influences, and ``browse`` for the rest.

    >>> shop = web_shop()
    >>> shop.minimal_influencers("purchase")
    ('add to cart', 'get coupon', 'page error')
    >>> shop.simulate(n_sequences=2, length=4, random_state=1).to_lists()[0]
    ['browse', 'browse', 'browse', 'search']
    """
    rules: dict[str, Rule] = {}
    for label, (_, factors) in SHOP.items():
        rules[label] = _rule(tuple(sorted(factors)), partial(_probability, label))
    # The rest is what the others leave; more labels than fit into the look-back cannot have occurred in it.
    every = tuple(sorted({z for _, factors in SHOP.values() for z in factors}))
    rules[REST] = _rule(every, lambda z: max(0.0, 1.0 - math.fsum(_probability(x, z) for x in SHOP)))
    return Dynamics(rules, lookback=LOOKBACK)


def _probability(label: str, occurred: Collection[str]) -> float:
    start, factors = SHOP[label]
    return math.prod((factor for z, factor in factors.items() if z in occurred), start=start)


def _rule(influencers: tuple[str, ...], probability: Callable[[Collection[str]], float]) -> Rule:
    """A table of the probability after every combination of influencers that occurred."""
    keys = itertools.product((0, 1), repeat=len(influencers))
    return influencers, {key: probability(list(itertools.compress(influencers, key))) for key in keys}


def compare_with_truth(edges: Iterable[Any]) -> dict[str, int]:
    """How many of the influences that were written down were found, and how many were made up.

    The label that takes the rest of the probability depends a little on everything, and is left out.
    """
    true = {
        (z, x): "amplifies" if factor > 1 else "inhibits"
        for x, (_, factors) in SHOP.items()
        for z, factor in factors.items()
    }
    learned = {(e.influencer, e.target): e.effect for e in edges if e.target != REST}
    return {
        "influences": len(true),
        "found": len(true.keys() & learned.keys()),
        "right_direction": sum(learned.get(pair) == effect for pair, effect in true.items()),
        "made_up": len(learned.keys() - true.keys()),
    }


def truth_words(found: dict[str, int]) -> str:
    """The comparison in one line."""
    n, hit = found["influences"], found["found"]
    right, wrong = found["right_direction"], found["made_up"]
    return (
        f"Truth: {'all' if hit == n else f'{hit} of'} {n} influences found, "
        f"{'each' if right == hit else right} with the right direction; {wrong or 'none'} made up."
    )
