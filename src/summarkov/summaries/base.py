"""What every summary can do; and a summary of one's own, of which the user writes two methods."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError, StoreError, place
from summarkov.settings import Duration
from summarkov.typing import IntArray, KeyArray

#: The state of every position, ids[N], and the keys of the states, keys[S, ...], in order.
Encoded = tuple[IntArray, KeyArray]
#: A row of a key array.
Key = Sequence[Any]


@dataclass(frozen=True)
class Names:
    """What keys are about: the labels of the influencers, sorted, and all labels."""

    influencers: Sequence[str]
    labels: Sequence[str]

    @cached_property
    def codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}


class Reach(NamedTuple):
    """Where a label is looked for: more than ``delay`` and at most ``lookback`` back, None without end.

    Each is a number of positions, or a :class:`Duration`.
    """

    delay: int
    lookback: int | None

    @property
    def delay_span(self) -> kernels.Span:
        return kernels.Span(int(self.delay), isinstance(self.delay, Duration))

    @property
    def lookback_span(self) -> kernels.Span:
        size = kernels.UNLIMITED if self.lookback is None else int(self.lookback)
        return kernels.Span(size, isinstance(self.lookback, Duration))


class Summary(ABC):
    """A function from histories to states, given the influencers U (Definition 2 of the paper).

    A state is known by its *key*, a row of a key array. States stand in the order of their keys, so equal
    counts are equal arrays wherever they were made.
    """

    #: Whether one label can join the influencers as one more level per state, so that one scan counts all
    #: candidates, and leave them again by merging states.
    by_level: ClassVar[bool] = False

    #: Whether it can be told of single labels if they make the target more or less likely.
    by_label: ClassVar[bool] = False

    @abstractmethod
    def n_states(self, n_influencers: int, n_labels: int) -> int:
        """|S(U)|, the closed formula, whether or not every state can be reached."""

    @abstractmethod
    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        """The state of every position of a shard."""

    def state(self, key: Key, names: Names) -> Hashable:
        """A key as a value that a person can read and compare."""
        return tuple(key)

    def words(self, key: Key, names: Names) -> str:
        """A key in words, for tables and explanations."""
        return " ".join(map(str, key))

    @property
    @abstractmethod
    def horizon(self) -> int | None:
        """How many of the last positions can matter; None: the whole history, or no one knows how many."""

    @property
    def durations(self) -> tuple[Duration, ...]:
        """The look-backs and delays that are times."""
        return ()

    #: Whether it can tell events that happened together from events in a row.
    takes_ticks: ClassVar[bool] = False

    def window(self, labels: Sequence[str]) -> kernels.Window | None:
        """The window as the kernels take it, where states are levels of labels (``by_level``)."""
        return None

    def where(self, label: str) -> str:
        """Where an influencer is looked for, in words to follow it, if each is in a place of its own."""
        return ""

    def reach(self, label: str) -> Reach:
        """How far back a label is looked for."""
        return Reach(0, self.horizon)

    def n_reachable(self, influencers: Sequence[str], n_labels: int) -> int:
        """How many states some history can reach at this look-back; all, unless a summary knows better."""
        return self.n_states(len(influencers), n_labels)

    def restricted(self, keys: KeyArray, columns: Sequence[int]) -> KeyArray:
        """Keys of the same states once only the influencers in ``columns`` are left (``by_level`` only)."""
        raise TypeError(f"{type(self).__name__} cannot leave out an influencer")  # pragma: no cover

    # ------------------------------------------------------------------ on the page

    #: Whether the page has the keys of states, and can tell from them what a history of one's own leads to;
    #: else it has states in words.
    keys_on_page: ClassVar[bool] = False

    def page_form(self, names: Names) -> dict[str, Any]:
        """How the page can tell the state of a history, as plain values; ``kind`` "own" where it cannot.

        ``names.labels`` are all labels as the page writes them in words.
        """
        return {"kind": "own"}

    # ------------------------------------------------------------------ in files

    def learned_document(self, labels: Sequence[str]) -> dict[str, Any]:
        """What of the summary itself was learned, as plain values by name; nothing where it was given."""
        return {}

    def state_document(self, key: Key, names: Names) -> Any:
        """A state as a plain value, for a file that people may read."""
        return list(key)

    def read_key(self, state: Any, names: Names) -> tuple[Any, ...]:
        """The key of a state in a file; ``names.codes`` has the code of every label."""
        width = self.key_width(len(names.influencers))
        if not isinstance(state, list) or len(state) != width or not all(map(is_level, state)):
            raise StoreError.expected(f"a list of {width}, each a whole number from 0 to {2**31 - 1}", state)
        return tuple(state)

    def key_width(self, n_influencers: int) -> int:
        """How many entries a key has."""
        return n_influencers

    def read_table(self, states: Sequence[Any], counts: IntArray, names: Names) -> tuple[KeyArray, IntArray]:
        """The keys and counts of all states in a file, which stand in the order of their keys, each once.

        ``counts`` are those in the file, one row per state: what its estimate rests on.
        """
        keys: list[tuple[Any, ...]] = []
        for row, state in enumerate(states):
            with place(f"[{row}].state"):
                keys.append(self.read_key(state, names))
                if row and not keys[-2] < keys[-1]:
                    raise StoreError.expected("states in canonical order, each once", state)
        width = self.key_width(len(names.influencers))
        return np.array(keys, dtype=np.int32).reshape(len(keys), width), counts


def is_level(value: object) -> bool:
    """Whether a value in a file is a number that keys have."""
    return type(value) is int and 0 <= value < 2**31


# ---------------------------------------------------------------------- the user's own


class HistorySummary(Protocol):
    """What the user writes: two methods, and optionally a ``lookback`` attribute.

    ``state`` is given the labels before a position, oldest first (the last ``lookback`` of them where the
    object has that attribute and it is not None), and the influencers in sorted order. An event of a label
    that the model does not know is None.
    """

    def state(self, history: Sequence[str | None], influencers: tuple[str, ...]) -> Hashable:
        """The state that a history is in."""

    def n_states(self, n_influencers: int) -> int:
        """How many states there can be; the penalty of the score is for this number."""


@dataclass(frozen=True)
class CustomSummary(Summary):
    """Wraps a :class:`HistorySummary`. States are asked for one position at a time, in Python."""

    function: HistorySummary

    def __post_init__(self) -> None:
        if isinstance(self.function, type):
            name = self.function.__name__
            raise SettingError(f"summary must be an object, not a class; write summary={name}()")
        for method in ("state", "n_states"):
            if not callable(getattr(self.function, method, None)):
                raise SettingError(
                    f"summary must have methods state(history, influencers) and n_states(n_influencers); "
                    f"{type(self.function).__name__} has no {method}"
                )

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int(self.function.n_states(n_influencers))

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        text = [*labels, None]  # code -1 is the last
        chosen = tuple(labels[z] for z in influencers)
        states: list[Hashable] = []
        for start, stop in itertools.pairwise(index.offsets.tolist()):
            history = [text[code] for code in index.codes[start:stop].tolist()]
            for end in range(len(history)):
                begin = 0 if self.horizon is None else max(0, end - self.horizon)
                states.append(self.function.state(history[begin:end], chosen))
        try:
            distinct = sorted(set(states), key=repr)
        except TypeError:
            raise SettingError(
                "a summary's states must be hashable; return a tuple instead of a list"
            ) from None
        id_of = {state: i for i, state in enumerate(distinct)}
        ids = np.array([id_of[state] for state in states], dtype=np.int64)
        keys = np.empty((len(distinct), 1), dtype=object)
        keys[:, 0] = distinct
        return ids, keys

    def state(self, key: Key, names: Names) -> Hashable:
        state: Hashable = key[0]
        return state

    def words(self, key: Key, names: Names) -> str:
        return str(key[0])

    @property
    def horizon(self) -> int | None:
        reach = getattr(self.function, "lookback", None)
        return None if reach is None else int(reach)
