"""What comes at all: the probability that a label comes within some events, or before a sequence ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from summarkov.errors import SettingError
from summarkov.events.vocabulary import END, iterate
from summarkov.models.distribution import Distribution
from summarkov.models.parameters import codes_of
from summarkov.settings import check_whole
from summarkov.typing import CodeArray, FloatArray

#: Different pasts that are followed at once; where there are more, sequences are drawn.
_MOST_PASTS = 20_000
#: Sequences that are drawn.
_DRAWN = 10_000
#: What may be left undecided of an event that may come at any time.
_LEFT = 1e-9
#: Events after which such a one is not waited for any longer.
_LONGEST = 10_000


@dataclass(frozen=True)
class Reached:
    """The probability that a label comes, and how it was found.

    Attributes
    ----------
    probability : float
        The probability.
    error : float
        Its standard error; 0 where it was worked out exactly from all that may happen.
    method : str
        "exact" or "drawn".
    """

    probability: float
    error: float
    method: Literal["exact", "drawn"]


def reach(
    model: Distribution, history: Iterable[object], label: object, within: int | None, seed: int
) -> Reached:
    """See :meth:`InfluenceGraph.probability_of`."""
    model.check_complete()
    labels = model.labels
    past = np.array(codes_of(iterate(history), labels), np.int32)
    (x,) = codes_of([label], labels)
    end = labels.index(END) if END in labels else None
    if within is None and end is None:
        raise SettingError(
            "without within=, a number of events, it must be known when a sequence ends; learn from complete "
            "sequences (ends='complete')"
        )
    if within is not None:
        check_whole("within", within, 1, _LONGEST)
    steps = _LONGEST if within is None else within
    recent = model.horizon
    if recent is not None:
        found = _exactly(model, past[max(0, len(past) - recent) :], x, end, steps, recent)
        if found is not None:
            return Reached(found, 0.0, "exact")
    return _by_drawing(model, past, x, end, steps, recent, seed)


def _exactly(
    model: Distribution, past: CodeArray, x: int, end: int | None, steps: int, recent: int
) -> float | None:
    """Follow all that may happen; None where there is too much of it."""
    pasts, reached = past[None, :], 0.0
    mass: FloatArray = np.ones(1)
    for _ in range(steps):
        p = model.after(pasts)
        reached += float(mass @ p[:, x])
        p = p * mass[:, None]
        p[:, [x] if end is None else [x, end]] = 0.0
        if p.sum() < _LEFT:
            break
        came, label = np.nonzero(p)
        longer = np.column_stack([pasts[came], label.astype(np.int32)])
        longer = longer[:, max(0, longer.shape[1] - recent) :]
        pasts, which = np.unique(longer, axis=0, return_inverse=True)
        if len(pasts) > _MOST_PASTS:
            return None
        mass = np.bincount(which.reshape(-1), p[came, label], len(pasts)).astype(float)
    return min(reached, 1.0)


def _by_drawing(
    model: Distribution, past: CodeArray, x: int, end: int | None, steps: int, recent: int | None, seed: int
) -> Reached:
    """Draw sequences that go on from the history, and count."""
    rng = np.random.default_rng(seed)
    pasts, reached = np.repeat(past[None, :], _DRAWN, axis=0), 0
    for _ in range(steps):
        if not len(pasts):
            break
        p: FloatArray = model.after(pasts)
        drawn = (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)).sum(axis=1).astype(np.int32)
        drawn = np.minimum(drawn, p.shape[1] - 1)
        reached += int((drawn == x).sum())
        on = (drawn != x) & (True if end is None else drawn != end)
        pasts = np.column_stack([pasts[on], drawn[on]])
        if recent is not None:
            pasts = pasts[:, max(0, pasts.shape[1] - recent) :]
    share = reached / _DRAWN
    return Reached(share, float(np.sqrt(max(share * (1 - share), 1 / _DRAWN) / _DRAWN)), "drawn")
