"""Questions to the history that have the answer yes or no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError, StoreError
from summarkov.settings import Duration, is_whole, span_of
from summarkov.summaries.window import FARTHEST, place_words, plain_span
from summarkov.typing import CodeArray, IntArray
from summarkov.wording import AttributeName


@dataclass(frozen=True)
class Occurs:
    """Did a label occur, at least ``times`` times, within ``within`` positions (None: ever)?"""

    label: int
    within: int | None
    times: int = 1

    def row(self) -> tuple[int, ...]:
        """The test as the kernels take it."""
        within = kernels.UNLIMITED if self.within is None else int(self.within)
        return kernels.OCCURS, self.label, 0, self.times, within

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that are looked at."""
        return (self.label,)

    def implies(self, answer: bool, other: HistoryTest) -> bool:
        """Whether this answer leaves ``other`` no choice but the same."""
        if not isinstance(other, Occurs) or other.label != self.label:
            return False
        narrow, wide = (self, other) if answer else (other, self)
        return narrow.times >= wide.times and _reach(narrow.within) <= _reach(wide.within)

    def words(self, answer: bool, labels: Sequence[str]) -> str:
        """The test with its answer, for people."""
        what = labels[self.label]
        if isinstance(what, AttributeName):
            return what if answer else f"no {what}"
        when = "before" if self.within is None else f"within {place_words(self.within)}"
        if self.within == 1:
            when = "just before"
        if self.times == 1:
            return f"{what} {when}" if answer else f"no {what} {when}"
        return f"{what} {'at least' if answer else 'fewer than'} {self.times} times {when}"

    def document(self, labels: Sequence[str]) -> dict[str, Any]:
        """The test as JSON has it."""
        return {
            "test": "occurs",
            "label": labels[self.label],
            "times": self.times,
            "within": plain_span(self.within),
        }

    def page_form(self) -> list[Any]:
        """The test as the page has it."""
        return ["occurs", self.label, plain_span(self.within), self.times]


@dataclass(frozen=True)
class MoreRecent:
    """Is the last occurrence of a label more recent than that of another, which may be missing?"""

    label: int
    than: int

    def row(self) -> tuple[int, ...]:
        """The test as the kernels take it."""
        return kernels.MORE_RECENT, self.label, self.than, 1, 0

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that are looked at."""
        return self.label, self.than

    def implies(self, answer: bool, other: HistoryTest) -> bool:
        """Whether this answer leaves ``other`` no choice but the same."""
        return answer and other == Occurs(self.label, None)

    def words(self, answer: bool, labels: Sequence[str]) -> str:
        """The test with its answer, for people."""
        what, other = labels[self.label], labels[self.than]
        return f"{what} and no {other} since" if answer else f"no {what} since {other} or the start"

    def document(self, labels: Sequence[str]) -> dict[str, Any]:
        """The test as JSON has it."""
        return {"test": "more recent", "label": labels[self.label], "than": labels[self.than]}

    def page_form(self) -> list[Any]:
        """The test as the page has it."""
        return ["more recent", self.label, self.than]


@dataclass(frozen=True)
class Start:
    """Have there been fewer than ``events`` positions in the sequence?"""

    events: int

    def row(self) -> tuple[int, ...]:
        """The test as the kernels take it."""
        return kernels.START, 0, 0, 1, self.events

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that are looked at: none."""
        return ()

    def implies(self, answer: bool, other: HistoryTest) -> bool:
        """Whether this answer leaves ``other`` no choice but the same."""
        if not isinstance(other, Start):
            return False
        return self.events <= other.events if answer else self.events >= other.events

    def words(self, answer: bool, labels: Sequence[str]) -> str:
        """The test with its answer, for people."""
        if self.events == 1:
            return "at the start" if answer else "not at the start"
        last = f"the first {self.events} positions"
        return f"among {last}" if answer else f"after {last}"

    def document(self, labels: Sequence[str]) -> dict[str, Any]:
        """The test as JSON has it."""
        return {"test": "start", "events": self.events}

    def page_form(self) -> list[Any]:
        """The test as the page has it."""
        return ["start", self.events]


HistoryTest = Occurs | MoreRecent | Start


def _reach(within: int | None) -> int:
    return kernels.UNLIMITED if within is None else within


@dataclass(frozen=True)
class HistoryTests:
    """The tests that are tried, in canonical order.

    For candidates z, y in sorted order: z occurred within k positions, for each k of ``lookbacks``; fewer
    than k positions since the start, for each k of ``starts``; z is more recent than y (``pairs``); z
    occurred at least c times within k positions, for each c of ``counts`` and each k of at least c.

    >>> tests = HistoryTests(lookbacks=(1, None), counts=(2,), starts=(1,), pairs=True)
    >>> [tests.nth(i, (0, 1)).words(True, ["A", "B"]) for i in range(tests.size(2))]  # doctest: +ELLIPSIS
    ['A just before', 'A before', 'B just before', 'B before', 'at the start', 'A and no B since', ...]
    """

    lookbacks: tuple[int | None, ...] = (1, 2, 3, 5, 10, 20, None)
    counts: tuple[int, ...] = (2, 3)
    starts: tuple[int, ...] = (1, 2, 3, 5, 10)
    pairs: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "lookbacks", tuple(span_of(k, "lookbacks") for k in self.lookbacks))
        if None in self.lookbacks[:-1]:
            raise SettingError("lookbacks must be in ascending order, with None, the whole past, last")
        times = [k for k in self.lookbacks if isinstance(k, Duration)]
        if times and len(times) < sum(k is not None for k in self.lookbacks):
            raise SettingError("lookbacks must all be numbers of positions, or all times such as '6h'")
        for name, least, most, each in (
            ("lookbacks", 1, 2**62 if times else FARTHEST, [k for k in self.lookbacks if k is not None]),
            ("counts", 2, 1000, self.counts),
            ("starts", 1, FARTHEST, self.starts),
        ):
            for k in each:
                if not is_whole(k) or not least <= k <= most:
                    limits = f"from {least} to {most}" if is_whole(k) and k > most else f"from {least} on"
                    raise SettingError(f"{name} must be whole numbers {limits}, not {k!r}")
            if list(each) != sorted(set(each)):
                raise SettingError(f"{name} must be in ascending order, each once")

    @cached_property
    def depth(self) -> int:
        """How many occurrences of a label matter."""
        return max(self.counts, default=1)

    def windows(self, times: int) -> list[int | None]:
        """The look-backs that can hold this number of occurrences."""
        return [k for k in self.lookbacks if k is None or isinstance(k, Duration) or k >= times]

    def size(self, n_candidates: int) -> int:
        """How many tests there are."""
        once = n_candidates * len(self.lookbacks) + len(self.starts)
        pairs = n_candidates * (n_candidates - 1) if self.pairs else 0
        return once + pairs + n_candidates * sum(len(self.windows(c)) for c in self.counts)

    def nth(self, number: int, candidates: Sequence[int]) -> HistoryTest:
        """The test of that number."""
        n, k = len(candidates), len(self.lookbacks)
        if number < n * k:
            return Occurs(candidates[number // k], self.lookbacks[number % k])
        number -= n * k
        if number < len(self.starts):
            return Start(self.starts[number])
        number -= len(self.starts)
        if self.pairs:
            if number < n * (n - 1):
                z, y = divmod(number, n - 1)
                return MoreRecent(candidates[z], candidates[y + (y >= z)])
            number -= n * (n - 1)
        for c in self.counts:
            windows = self.windows(c)
            if number < n * len(windows):
                return Occurs(candidates[number // len(windows)], windows[number % len(windows)], c)
            number -= n * len(windows)
        raise IndexError(number)

    def holds(self, test: HistoryTest) -> bool:
        """Whether a test is one of these."""
        if isinstance(test, Start):
            return test.events in self.starts
        if isinstance(test, MoreRecent):
            return self.pairs and test.label != test.than
        return test.within in self.windows(test.times) and (test.times == 1 or test.times in self.counts)

    def read(self, told: Mapping[str, Any], codes: Mapping[str, int]) -> HistoryTest:
        """A test in a file, which must be one of these; ``codes`` are those of the labels to test."""
        named = {k.text: k for k in self.durations}
        try:
            test: HistoryTest
            if told["test"] == "start":
                test = Start(told["events"])
            elif told["test"] == "more recent":
                test = MoreRecent(codes[told["label"]], codes[told["than"]])
            else:
                within = {"occurs": told["within"]}[told["test"]]
                test = Occurs(codes[told["label"]], named.get(within, within), told["times"])
            numbers = [told.get(name) for name in ("events", "within", "times")]
            if self.holds(test) and not any(isinstance(each, bool | float) for each in numbers):
                return test
        except (KeyError, TypeError):  # what is missing, or no key of a table
            pass
        names = ("test", "label", "than", "within", "times", "events")
        raise StoreError.expected(
            "a test that the settings allow", {name: told[name] for name in names if name in told}
        )

    @property
    def durations(self) -> tuple[Duration, ...]:
        """The look-backs that are times."""
        return tuple(k for k in self.lookbacks if isinstance(k, Duration))

    def recency(self, candidates: Sequence[int]) -> kernels.Recency:
        """What to have counted. The last bin is the rest of the past, whether or not a test asks for it."""
        limits = [k for k in self.lookbacks if k is not None]
        labels: CodeArray = np.array(candidates, np.int32)
        lookbacks: IntArray = np.array([*map(int, limits), kernels.UNLIMITED], np.int64)
        starts = np.array(self.starts, np.int64)
        return kernels.Recency(labels, lookbacks, self.depth, starts, self.pairs, bool(self.durations))

    def yes(self, lags: IntArray, starts: IntArray, pairs: IntArray) -> IntArray:
        """N(x; open leaf, test answered yes) as ``[open, test, x]``, from what the kernels counted.

        Lags and starts add up from bin to bin. Where z occurred, it is the more recent unless y occurred
        after it; so the count of z more recent than y is that of z less ``pairs[y, z]``.
        """
        n_open, n, _, _, n_outcomes = lags.shape
        ever = lags.cumsum(axis=3)
        parts = [ever[:, :, 0, : len(self.lookbacks)].reshape(n_open, -1, n_outcomes), starts.cumsum(axis=1)]
        if self.pairs and n > 1:
            more = ever[:, :, None, 0, -1] - pairs.swapaxes(1, 2)
            apart = ~np.eye(n, dtype=bool)
            parts.append(more[:, apart])
        for c in self.counts:
            first = len(self.lookbacks) - len(self.windows(c))  # those too short come first
            parts.append(ever[:, :, c - 1, first : len(self.lookbacks)].reshape(n_open, -1, n_outcomes))
        return np.concatenate(parts, axis=1)
