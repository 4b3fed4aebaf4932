"""What every summary can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.errors import StoreError, place
from summarkov.settings import Duration
from summarkov.typing import IntArray, KeyArray

#: The state of every position, ids[N], and the keys of the states, keys[S, ...], in order.
Encoded = tuple[IntArray, KeyArray]


class Reach(NamedTuple):
    """Where a label is looked for: more than ``delay`` and at most ``lookback`` back, None without end.

    Each is a number of positions, or a :class:`Duration`.
    """

    delay: int
    lookback: int | None

    @property
    def delay_span(self) -> kernels.Span:
        """The delay as the kernels take it."""
        return kernels.Span(int(self.delay), isinstance(self.delay, Duration))

    @property
    def lookback_span(self) -> kernels.Span:
        """The look-back as the kernels take it."""
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

    @abstractmethod
    def state(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Hashable:
        """A key as a value that a person can read and compare."""

    @abstractmethod
    def words(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> str:
        """A key in words, for tables and explanations."""

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

    def page_form(self, influencers: Sequence[str], written: Sequence[str]) -> dict[str, Any]:
        """How the page can tell the state of a history, as plain values; ``kind`` "own" where it cannot.

        ``written`` are all labels as the page writes them in words.
        """
        return {"kind": "own"}

    # ------------------------------------------------------------------ in files

    def learned_document(self, labels: Sequence[str]) -> dict[str, Any]:
        """What of the summary itself was learned, as plain values by name; nothing where it was given."""
        return {}

    def state_document(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Any:
        """A state as a plain value, for a file that people may read."""
        return list(key)

    def read_key(self, state: Any, influencers: Sequence[str], codes: Mapping[str, int]) -> tuple[Any, ...]:
        """The key of a state in a file; ``codes`` has the code of every label."""
        width = self.key_width(len(influencers))
        if not isinstance(state, list) or len(state) != width:
            raise StoreError.expected(f"a list of {width}", state)
        for at, level in enumerate(state):
            if type(level) is not int or not 0 <= level < 2**31:
                with place(f"[{at}]"):
                    raise StoreError.expected(f"a whole number from 0 to {2**31 - 1}", level)
        return tuple(state)

    def key_width(self, n_influencers: int) -> int:
        """How many entries a key has."""
        return n_influencers

    def read_table(
        self, states: Sequence[Any], influencers: Sequence[str], codes: Mapping[str, int], counts: IntArray
    ) -> tuple[KeyArray, IntArray]:
        """The keys and counts of all states in a file, which stand in the order of their keys, each once.

        ``counts`` are those in the file, one row per state: what its estimate rests on.
        """
        keys: list[tuple[Any, ...]] = []
        for row, state in enumerate(states):
            with place(f"[{row}].state"):
                keys.append(self.read_key(state, influencers, codes))
                if row and not self.key_order(keys[-2]) < self.key_order(keys[-1]):
                    raise StoreError.expected("states in canonical order, each once", state)
        return self.key_array(keys, len(influencers)), counts

    def key_order(self, key: tuple[Any, ...]) -> Any:
        """What keys are sorted by."""
        return key

    def key_array(self, keys: Sequence[tuple[Any, ...]], n_influencers: int) -> KeyArray:
        """Some keys as an array."""
        return np.array(keys, dtype=np.int32).reshape(len(keys), self.key_width(n_influencers))
