"""Counts for sets of influencers that grow: only what the label that joined last tells apart is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from summarkov.engines.counts import CandidateCounts, Counts
from summarkov.engines.requests import CandidatesRequest, Request
from summarkov.engines.source import EventSource
from summarkov.kernels import BINARY, COUNT, merge_keys

#: With fewer events, counting takes no longer than putting counts together.
_FROM_EVENTS = 1 << 17
#: Bytes of counts that are kept for the next pass.
_MOST_KEPT = 1 << 28


class _Known(NamedTuple):
    """What an earlier pass has told."""

    candidates: tuple[int, ...]
    counts: CandidateCounts


class GrowingCounts:
    r"""Asks for less where an earlier answer helps, and completes what comes back.

    With the counts of U known, those of :math:`U \cup \{g\}` follow from what is counted where g is present:

    .. math:: N(x; s, g \text{ absent}, z) = N(x; s, z) - \sum_{l > 0} N(x; s, g \text{ at level } l, z)

    So a round of a search looks at the surroundings of the labels that joined in the last one, not at those
    of all influencers. It holds where the level of a label does not depend on other labels: in binary and
    count summaries. The answers of one pass are kept for the next, as far as there is room.
    """

    def __init__(self, source: object) -> None:
        # A state that only sequences of weight 0 are in is listed, and counts do not tell of it.
        self._is_worth = (
            isinstance(source, EventSource)
            and not source.is_weighted
            and int(source.label_counts.sum()) >= _FROM_EVENTS
        )
        self._known: dict[tuple[object, ...], _Known] = {}
        self._requests: list[Request] = []  # of the last pass, so that their summaries stay

    def ask(self, requests: Sequence[Request]) -> list[Request]:
        """What is left to be counted."""
        return [self._reduced(request) for request in requests]

    def complete(self, requests: Sequence[Request], answers: Sequence[Counts]) -> list[Counts]:
        """The answers to requests, from those to what was asked; they are kept for the next pass."""
        if not self._is_worth:
            return list(answers)
        found: list[Counts] = []
        for request, answer in zip(requests, answers, strict=True):
            before = self._before(request)
            found.append(answer if before is None else _completed(answer, *before))
        self._known, self._requests, room = {}, list(requests), _MOST_KEPT
        for request, answer in zip(requests, found, strict=True):
            if _can_grow(request) and isinstance(answer, CandidateCounts) and room > 0:
                self._known[_name(request, request.influencers)] = _Known(request.candidates, answer)
                room -= answer.present.nbytes
        return found

    def _reduced(self, request: Request) -> Request:
        before = self._before(request)
        return request if before is None else before[0]

    def _before(self, request: Request) -> tuple[CandidatesRequest, _Known] | None:
        """What is left to be counted, and what is known without one of the influencers, if anything is."""
        if self._known and _can_grow(request):
            for at, label in enumerate(request.influencers):
                others = (*request.influencers[:at], *request.influencers[at + 1 :])
                known = self._known.get(_name(request, others))
                if known is not None and set(request.candidates) <= set(known.candidates):
                    return replace(request, given=label), known
        return None


def _can_grow(request: Request) -> TypeGuard[CandidatesRequest]:
    return (
        isinstance(request, CandidatesRequest)
        and request.replicates is None
        and request.summary.kind in (BINARY, COUNT)
    )


def _name(request: CandidatesRequest, influencers: tuple[int, ...]) -> tuple[object, ...]:
    return id(request.summary), request.target, influencers


def _completed(answer: Counts, request: CandidatesRequest, known: _Known) -> CandidateCounts:
    """The counts of all positions, from those at which a label is present and those without that label."""
    assert isinstance(answer, CandidateCounts)
    assert request.given is not None
    place, before = request.influencers.index(request.given), known.counts
    chosen = np.searchsorted(known.candidates, request.candidates)  # both are sorted
    keys, (rows, held) = merge_keys([before.keys, np.delete(answer.keys, place, axis=1)])
    counts = np.zeros((len(keys), before.counts.shape[1]), np.int64)
    present = np.zeros((len(keys), len(chosen), *before.present.shape[2:]), np.int64)
    counts[rows], present[rows] = before.counts, before.present[chosen].swapaxes(0, 1)
    np.subtract.at(counts, held, answer.counts)
    np.subtract.at(present, held, answer.present.swapaxes(0, 1))
    left = counts.any(axis=1)  # states in which the label was ever absent
    keys = np.concatenate([np.insert(keys[left], place, 0, axis=1), answer.keys])
    order = np.lexsort(keys.T[::-1])
    return CandidateCounts(
        keys[order],
        np.concatenate([counts[left], answer.counts])[order],
        np.concatenate([present[left].swapaxes(0, 1), answer.present], axis=1)[:, order],
    )
