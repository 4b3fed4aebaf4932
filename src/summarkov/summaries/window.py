"""Summaries by one level per label, seen through a window: whether, how often, in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError, StoreError, UnknownLabelError
from summarkov.settings import Duration, check_whole, span_of
from summarkov.summaries.base import Encoded, Key, Names, Reach, Summary, is_level
from summarkov.typing import KeyArray
from summarkov.wording import AttributeName, plural

Lookback = int | None | Mapping[str, int | None]

#: The kernels tell distances apart up to this.
FARTHEST = 2**30


@dataclass(frozen=True)
class WindowSummary(Summary):
    """A summary by levels: how each influencer stands in the window d < i - j <= k before position i.

    ``lookback`` is k: one number, None for the whole past, or a mapping from label to its own k (a label
    that it does not name is looked for in the whole past). ``delay`` is d. Each may also be a time, such as
    "6h": then what lies further back in time than that is left out. ``only`` says that no label but
    those that the mapping names is ever looked for, so that no more need be remembered than they need.
    """

    lookback: Lookback = 5
    delay: int = 0
    _: KW_ONLY
    only: bool = False
    together: bool = False  # whether a position can hold several labels

    kind: ClassVar[int]
    cap: ClassVar[int] = 1
    by_level: ClassVar[bool] = True
    by_label: ClassVar[bool] = True
    takes_ticks: ClassVar[bool] = True
    keys_on_page: ClassVar[bool] = True
    #: What the page calls it.
    page_kind: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "delay", span_of(self.delay, "delay"))
        given = self.lookback
        if isinstance(given, Mapping):
            object.__setattr__(self, "lookback", {z: span_of(k, "lookback") for z, k in given.items()})
        else:
            object.__setattr__(self, "lookback", span_of(given, "lookback"))
        if not isinstance(self.delay, Duration):
            check_whole("delay", self.delay, 0)
            if self.delay > FARTHEST:
                raise SettingError(f"delay {self.delay} is too large; it may be {FARTHEST} at most")
        for lookback in self._given:
            if lookback is None:
                continue
            if not isinstance(lookback, Duration):
                check_whole("lookback", lookback, 1, limits="from 1 on, None, or a time such as '7d'")
                if lookback > FARTHEST:
                    raise SettingError(f"lookback {lookback} is too large; use None for the whole past")
            if isinstance(lookback, Duration) == isinstance(self.delay, Duration) and self.delay >= lookback:
                raise SettingError(f"delay {self.delay} must be less than lookback {lookback}")

    @property
    def _given(self) -> list[int | None]:
        return list(self.lookback.values()) if isinstance(self.lookback, Mapping) else [self.lookback]

    @property
    def durations(self) -> tuple[Duration, ...]:
        return tuple(k for k in (*self._given, self.delay) if isinstance(k, Duration))

    def reach(self, label: str) -> Reach:
        given = self.lookback
        return Reach(self.delay, given.get(label) if isinstance(given, Mapping) else given)

    def widths(self, influencers: Sequence[str]) -> list[float]:
        """The number of positions in each influencer's window, infinite where it has no limit but time."""
        each = [self.reach(z).lookback for z in influencers]
        delay = 0 if isinstance(self.delay, Duration) else self.delay
        return [math.inf if k is None or isinstance(k, Duration) else k - delay for k in each]

    def where(self, label: str) -> str:
        """Where a label is looked for, in words to follow it; nothing where all have one look-back, or none.

        >>> from summarkov.summaries import BinarySummary
        >>> summary = BinarySummary({"A": 1, "B": 10, "C": None})
        >>> [summary.where(label) for label in "ABC"], BinarySummary(3).where("A")
        (['just before', 'within 10 positions', 'ever'], '')
        """
        if not isinstance(self.lookback, Mapping) or isinstance(label, AttributeName):
            return ""
        lookback = self.lookback.get(label)
        far = "" if lookback is None else place_words(lookback)
        if isinstance(self.delay, Duration) or (self.delay and isinstance(lookback, Duration)):
            last = "" if lookback is None else f" and within {far}"
            return f"more than {place_words(self.delay)}{last} before"
        if self.delay:
            last = "or more positions" if lookback is None else f"to {far}"
            return f"{self.delay + 1} {last} before"
        return "ever" if lookback is None else "just before" if lookback == 1 else f"within {far}"

    def variant(self, own: Iterable[tuple[str, int | None]], rest: int | None, labels: Sequence[str]) -> Self:
        """The same summary with look-backs of their own for some labels, and another one for the rest.

        As long as somebody holds it, it is the same object each time: what several searches ask of it is then
        counted once for all of them.
        """
        name = (frozenset(own), rest)
        found = self._variants.get(name)
        if found is None:
            found = replace(self, lookback=dict.fromkeys(labels, rest) | dict(name[0]), only=True)
            self._variants[name] = found
        return found

    @cached_property
    def _variants(self) -> WeakValueDictionary[object, Self]:
        return WeakValueDictionary()

    def fits(self, key: Sequence[int], influencers: Sequence[str]) -> bool:
        """Whether some history has a key: a position of a window holds one event, unless it is a tick."""
        needed = 0
        for width, level in sorted(zip(self.widths(influencers), key, strict=True)):
            needed += level
            if level > self.cap or (level and needed > width and not self.together):
                return False
        return True

    def n_reachable(self, influencers: Sequence[str], n_labels: int) -> int:
        """How many states fit into the windows, each position of which holds one event.

        The windows are nested, so levels c_1, c_2, ... of influencers sorted by the width of their windows
        fit if and only if c_1 + ... + c_i is at most the i-th width for every i that occurs.
        """
        if self.together:
            return self.n_states(len(influencers), n_labels)
        ways = {0: 1}  # events needed so far -> number of states
        for width in sorted(self.widths(influencers)):
            grown: dict[int, int] = {}
            for needed, n in ways.items():
                for level in range(self.cap + 1):
                    if level == 0 or needed + level <= width:
                        grown[needed + level] = grown.get(needed + level, 0) + n
            ways = grown
        return sum(ways.values())

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        ids, keys = kernels.window_states(index, np.array(influencers, np.int32), self.window(labels))
        return ids, keys

    def window(self, labels: Sequence[str]) -> kernels.Window:
        each, times = self._given, len(labels)
        if isinstance(self.lookback, Mapping):
            known = set(labels)
            for label in self.lookback:
                if label not in known:
                    raise UnknownLabelError(label, labels)
            each, times = [self.lookback.get(z) for z in labels], 1
        sizes = np.array([kernels.UNLIMITED if k is None else int(k) for k in each], np.int64)
        timed = [isinstance(k, Duration) for k in each]
        in_time = np.repeat(timed, times) if any(timed) else None
        delay_in_time = isinstance(self.delay, Duration)
        return kernels.Window(
            self.kind, np.repeat(sizes, times), int(self.delay), self.cap, in_time, delay_in_time
        )

    @property
    def horizon(self) -> int | None:
        if self.durations or (isinstance(self.lookback, Mapping) and not self.only):
            return None
        far = [k for k in self._given if k is not None]
        return None if len(far) < len(self._given) else max([self.delay, *far])

    def level(self, keys: KeyArray, columns: Sequence[int], column: int) -> KeyArray:
        """The level of the label in ``column`` where only those in ``columns`` are looked at beside it."""
        return np.asarray(keys[:, column])

    def restricted(self, keys: KeyArray, columns: Sequence[int]) -> KeyArray:
        only = keys[:, columns]
        for at, column in enumerate(columns):
            only[:, at] = self.level(keys, columns, column)
        return np.asarray(only)

    def words(self, key: Key, names: Names) -> str:
        if not names.influencers:
            return "any history"
        named = (f"{z} {self.where(z)}".rstrip() for z in names.influencers)
        return ", ".join(
            f"{name}{self.times(z, level)}" if level else f"no {name}"
            for z, name, level in zip(names.influencers, named, key, strict=True)
        )

    def times(self, label: str, level: int) -> str:
        """How often a label occurred, to follow it, where that matters."""
        return ""

    def page_form(self, names: Names) -> dict[str, Any]:
        return {
            "kind": self.page_kind,
            "where": [self.where(z) for z in names.influencers],
            "delay": plain_span(self.delay),
            "cap": int(self.cap),
        }

    def learned_document(self, labels: Sequence[str]) -> dict[str, Any]:
        if not self.only:
            return {}
        assert isinstance(self.lookback, Mapping)  # if it looks for no others
        return {"lookbacks": {z: plain_span(k) for z, k in self.lookback.items()}}

    def state_document(self, key: Key, names: Names) -> Any:
        return dict(zip(names.influencers, key, strict=True))

    def read_key(self, state: Any, names: Names) -> tuple[int, ...]:
        if not isinstance(state, dict) or sorted(state) != list(names.influencers):
            every = ", ".join(names.influencers) or "no influencers"
            raise StoreError.expected(f"a level for each of {every}", state)
        key = tuple(state[z] for z in names.influencers)
        if not all(map(is_level, key)) or not self.fits(key, names.influencers):
            raise StoreError.expected("a state that this summary has and that fits into its look-back", state)
        return key


@dataclass(frozen=True)
class BinarySummary(WindowSummary):
    """Presence of each influencer in its window: 2^|U| states (Definition 4 of the paper).

    >>> BinarySummary(lookback=3).n_states(3, n_labels=10)
    8
    """

    kind: ClassVar[int] = kernels.BINARY
    page_kind: ClassVar[str] = "binary"

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int(2**n_influencers)

    def state(self, key: Key, names: Names) -> tuple[str, ...]:
        return tuple(z for z, level in zip(names.influencers, key, strict=True) if level)


@dataclass(frozen=True)
class CountSummary(WindowSummary):
    """Occurrences of each influencer in its window, at most ``cap``: (c + 1)^|U| states.

    The paper names it as future work. With ``cap=1`` it is the binary summary.

    >>> CountSummary(lookback=3, cap=2).n_states(2, n_labels=10)
    9
    """

    cap: int = 2  # type: ignore[misc]  # a constant in the other summaries, a setting here

    kind: ClassVar[int] = kernels.COUNT
    page_kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cap", check_whole("cap", self.cap, 1, 1000))  # no limit to powers of an int

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int((self.cap + 1) ** n_influencers)

    def state(self, key: Key, names: Names) -> tuple[tuple[str, int], ...]:
        return tuple((z, int(level)) for z, level in zip(names.influencers, key, strict=True) if level)

    def times(self, label: str, level: int) -> str:
        return "" if isinstance(label, AttributeName) else f" x{level}{'+' if level == self.cap else ''}"


@dataclass(frozen=True)
class OrdinalSummary(WindowSummary):
    r"""The influencers in the window in the order of their last (or first) occurrence there.

    .. math:: |S(U)| = \sum_{i=0}^{|U|} |U|! / i!

    ``mask`` says which occurrence counts (Definition 5 of the paper): "last", its choice, or "first".

    >>> OrdinalSummary(lookback=3).n_states(3, n_labels=10)
    16
    """

    mask: str = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mask not in ("last", "first"):
            raise SettingError(f"mask must be 'last' or 'first', not {self.mask!r}")
        if isinstance(self.lookback, Mapping):
            raise SettingError("an ordinal summary has one look-back for all labels; give a number or None")

    @property
    def kind(self) -> int:  # type: ignore[override]  # depends on the mask
        return kernels.ORDINAL_LAST if self.mask == "last" else kernels.ORDINAL_FIRST

    @property
    def page_kind(self) -> str:  # type: ignore[override]  # depends on the mask
        return self.mask

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(math.factorial(n_influencers) // math.factorial(i) for i in range(n_influencers + 1))

    def fits(self, key: Sequence[int], influencers: Sequence[str]) -> bool:
        """Whether a key has places 1, 2, ... once each; a position of the window holds one label."""
        placed = sorted(filter(None, key))
        return placed == list(range(1, len(placed) + 1)) and len(placed) <= self._room(influencers)

    def n_reachable(self, influencers: Sequence[str], n_labels: int) -> int:
        return sum(math.perm(len(influencers), i) for i in range(self._room(influencers) + 1))

    def _room(self, influencers: Sequence[str]) -> int:
        """How many of them can stand in the window at once: each takes a position, unless these are ticks."""
        n = len(influencers)
        return n if self.together else int(min([n, *self.widths(influencers)]))

    def level(self, keys: KeyArray, columns: Sequence[int], column: int) -> KeyArray:
        """The place of a label in the order of those in ``columns``: as many as come before it, and one."""
        place = keys[:, column]
        level = (place > 0).astype(keys.dtype)
        for u in columns:
            level += (keys[:, u] > 0) & (keys[:, u] < place)
        return level

    def state(self, key: Key, names: Names) -> tuple[str, ...]:
        placed = sorted((level, z) for z, level in zip(names.influencers, key, strict=True) if level)
        return tuple(z for _, z in placed)

    def words(self, key: Key, names: Names) -> str:
        if not names.influencers:
            return "any history"
        return " then ".join(self.state(key, names)) or "none of them"


# ---------------------------------------------------------------------- in words


def place_words(k: int, thing: str = "position") -> str:
    """A look-back or delay with its unit, for people.

    >>> place_words(3), place_words(1, "tick"), place_words(Duration.of("6h", "lookback"))
    ('3 positions', '1 tick', '6h')
    """
    return str(k) if isinstance(k, Duration) else plural(k, thing)


def later_words(reach: Reach, thing: str = "event") -> str:
    """Where something is looked for after an influencer.

    >>> [later_words(Reach(*window)) for window in ((0, 5), (0, 1), (0, None), (2, 5), (2, None))]
    ['within 5 events', 'immediately', 'later in the case', '3 to 5 events later', 'more than 2 events later']
    >>> later_words(Reach(0, Duration.of("6h", "lookback")))
    'within 6h'
    """
    delay, lookback = reach
    if isinstance(delay, Duration) or isinstance(lookback, Duration):
        far = f"more than {place_words(delay, thing)} later" if delay else ""
        near = "" if lookback is None else f"within {place_words(lookback, thing)}"
        return " and ".join(filter(None, (far, near)))
    if lookback is None:
        return f"more than {plural(delay, thing)} later" if delay else "later in the case"
    if lookback == delay + 1:
        return f"exactly {plural(lookback, thing)} later" if delay else "immediately"
    return f"{delay + 1} to {plural(lookback, thing)} later" if delay else f"within {plural(lookback, thing)}"


def plain_span(k: int | None) -> int | str | None:
    """A look-back or delay as JSON has it: times as they were written."""
    return k.text if isinstance(k, Duration) else None if k is None else int(k)
