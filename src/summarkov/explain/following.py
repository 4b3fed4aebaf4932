"""The share of an influencer's occurrences that a target follows, also where sequences were cut off."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.engines.followings import Following, Occurrences
from summarkov.typing import FloatArray


def follow_numbers(counted: Following) -> dict[str, Any]:
    """What was counted as the fields of an :class:`Influence` that tell of followings.

    >>> numbers = follow_numbers(Following(2, 3, own=Occurrences(4, 2, 4, 2), others=Occurrences(9, 3, 9, 3)))
    >>> numbers["follow_rule"], numbers["follow_rate"], numbers["follow_rate_other"]
    ('counted', 0.5, 0.3333333333333333)
    """
    found: dict[str, Any] = {
        name: getattr(counted, name) for name in ("cases_with", "cases_followed", "cases_both", "cases_first")
    }
    if counted.own is None or counted.others is None:
        return found
    rule = _rule(counted.own, counted.lags)
    found |= {"follow_rule": rule, "left_out": 0.0}
    if rule == "complete windows":
        found["left_out"] = counted.own.n - counted.own.n_whole
    for group, (name, each) in enumerate((("", counted.own), ("_other", counted.others))):
        n, followed = (
            (each.n, each.followed) if rule == "product-limit" else (each.n_whole, each.followed_whole)
        )
        rate = followed / n if n else None
        if rate is not None and rule == "product-limit":
            assert counted.lags is not None
            rate = product_limit(n, counted.lags[counted.lags[:, 0] == group, 1:])
        found |= {f"occurrences{name}": n, f"followed{name}": followed, f"follow_rate{name}": rate}
    return found


def _rule(own: Occurrences, lags: FloatArray | None) -> str:
    """How followings are counted, by how many of the influencer's windows were cut off."""
    if own.n_whole == own.n:
        return "counted"
    # Lags may be lost where a file of complete sequences was added to; its windows are whole.
    return "complete windows" if 2 * own.n_whole >= own.n or lags is None else "product-limit"


def product_limit(n: float, lags: FloatArray) -> float:
    r"""The share of occurrences that are followed within the window, where sequences were cut off.

    A row of ``lags`` is 0 (followed) or 1 (cut off), the bin of a lag, and a number of the ``n``
    occurrences. With :math:`h_l` followed after lag l and :math:`r_l` neither followed nor cut off before,
    it is :math:`1 - \prod_l (1 - h_l / r_l)`.

    Reference: Kaplan and Meier, Journal of the American Statistical Association 53 (1958).

    >>> product_limit(4, np.array([[0, 1, 1], [1, 1, 2], [0, 2, 1]]))
    1.0
    """
    order = np.lexsort((lags[:, 0], lags[:, 1]))  # one that is followed when it is cut off is followed
    kind, _, numbers = lags[order].T
    at_risk = n - np.append(0, np.cumsum(numbers))[:-1]
    hits = (kind == 0) & (numbers > 0)
    return float(1 - np.prod(np.clip(1 - numbers[hits] / at_risk[hits], 0, 1)))
