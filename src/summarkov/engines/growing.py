"""Counts for sets of influencers that grow: only what the label that joined last tells apart is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from summarkov.engines.counts import CandidateCounts, CandidatesRequest, Counts, Request
from summarkov.engines.source import Counting, EventSource
from summarkov.kernels import BINARY, COUNT, merge_keys
from summarkov.typing import IntArray

#: With fewer events, counting takes no longer than putting counts together.
_FROM_EVENTS = 1 << 17
#: Bytes of counts that are kept for the next pass.
_MOST_KEPT = 1 << 28


class _Known(NamedTuple):
    """What an earlier pass has told."""

    candidates: IntArray
    counts: CandidateCounts


class _Asked(NamedTuple):
    """A request for less, the place of its label, the counts before that joined, and of candidates there."""

    request: CandidatesRequest
    place: int
    before: CandidateCounts
    candidates: IntArray


class GrowingCounts:
    r"""Asks a source for less where its last answers help, and completes what comes back.

    With the counts of U known, those of :math:`U \cup \{g\}` follow from what is counted where g is present:

    .. math:: N(x; s, g \text{ absent}, z) = N(x; s, z) - \sum_{l > 0} N(x; s, g \text{ at level } l, z)

    So a round of a search looks at the surroundings of the labels that joined in the last one, not at those
    of all influencers. It holds where the level of a label does not depend on other labels: in binary and
    count summaries. The answers of one pass are kept for the next, as far as there is room.
    """

    def __init__(self, source: Counting) -> None:
        self._source = source
        # A state that only sequences of weight 0 are in is listed, and counts do not tell of it.
        self._is_worth = (
            isinstance(source, EventSource)
            and not source.is_weighted
            and int(source.label_counts.sum()) >= _FROM_EVENTS
        )
        self._known: dict[tuple[object, ...], _Known] = {}
        self._requests: list[Request] = []  # of the last pass, so that their summaries stay

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not self._is_worth:
            return self._source.count(requests)
        asked = [self._less(request) for request in requests]
        answers = self._source.count(
            [request if less is None else less.request for request, less in zip(requests, asked, strict=True)]
        )
        found = [
            answer if less is None else _completed(answer, less)
            for answer, less in zip(answers, asked, strict=True)
        ]
        self._known, self._requests, room = {}, list(requests), _MOST_KEPT
        arrays: dict[int, IntArray] = {}  # many requests have one and the same candidates
        for request, answer in zip(requests, found, strict=True):
            if _can_grow(request) and isinstance(answer, CandidateCounts) and room > 0:
                candidates = arrays.setdefault(id(request.candidates), np.array(request.candidates, np.int64))
                self._known[_name(request, request.influencers)] = _Known(candidates, answer)
                room -= answer.present.nbytes
        return found

    def _less(self, request: Request) -> _Asked | None:
        """What is left to be counted, if enough is known without one of the influencers."""
        if not (self._known and _can_grow(request)):
            return None
        for at, label in enumerate(request.influencers):
            known = self._known.get(
                _name(request, (*request.influencers[:at], *request.influencers[at + 1 :]))
            )
            if known is not None:
                candidates = np.array(request.candidates, np.int64)  # sorted, as all are
                places = np.searchsorted(known.candidates, candidates)
                if np.array_equal(known.candidates.take(places, mode="clip"), candidates):
                    return _Asked(replace(request, given=label), at, known.counts, places)
        return None


def _can_grow(request: Request) -> TypeGuard[CandidatesRequest]:
    return (
        isinstance(request, CandidatesRequest)
        and request.replicates is None
        and request.summary.kind in (BINARY, COUNT)
    )


def _name(request: CandidatesRequest, influencers: tuple[int, ...]) -> tuple[object, ...]:
    return id(request.summary), request.target, influencers


def _completed(answer: Counts, asked: _Asked) -> CandidateCounts:
    """The counts of all positions, from those at which a label is present and those without that label."""
    assert isinstance(answer, CandidateCounts)
    _, place, before, chosen = asked
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
