"""Whether, in which order and how often influencers occur (BSuMM, OSuMM, CSuMM); a summary of your own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError, StoreError
from summarkov.settings import check_whole
from summarkov.summaries.base import Encoded, Summary
from summarkov.summaries.window import WindowSummary
from summarkov.typing import KeyArray
from summarkov.wording import AttributeName


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

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The influencers that occurred."""
        return tuple(z for z, level in zip(influencers, key, strict=True) if level)


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

    def state(
        self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]
    ) -> tuple[tuple[str, int], ...]:
        """The influencers that occurred, each with its capped count."""
        return tuple((z, int(level)) for z, level in zip(influencers, key, strict=True) if level)

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

    def keys(self, influencers: Sequence[str], *, reachable: bool = False) -> list[tuple[int, ...]]:
        """List all orders of all subsets, or only those that fit into the window; for few influencers."""
        n = len(influencers)
        most = self._room(influencers) if reachable else n
        orders = itertools.chain.from_iterable(itertools.permutations(range(n), i) for i in range(most + 1))
        return sorted(tuple(order.index(u) + 1 if u in order else 0 for u in range(n)) for order in orders)

    def is_key(self, key: Sequence[int]) -> bool:
        """Whether a key is a state: places 1, 2, ... each taken once."""
        placed = sorted(level for level in key if level)
        return placed == list(range(1, len(placed) + 1))

    def fits(self, key: Sequence[int], influencers: Sequence[str]) -> bool:
        """Whether some history can have this state: a position of the window holds one label."""
        return max(key, default=0) <= self._room(influencers)

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

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The influencers that occurred, oldest first."""
        placed = sorted((level, z) for z, level in zip(influencers, key, strict=True) if level)
        return tuple(z for _, z in placed)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        if not influencers:
            return "any history"
        return " then ".join(self.state(key, influencers, labels)) or "none of them"


class HistorySummary(Protocol):
    """What the user writes: two methods, and optionally a ``lookback`` attribute.

    ``state`` is given the labels before a position, oldest first (the last ``lookback`` of them where the
    object has that attribute and it is not None), and the influencers in sorted order. An event of a label
    that the model does not know is None.
    """

    def state(self, history: Sequence[str | None], influencers: tuple[str, ...]) -> Hashable:
        """The state that a history is in; texts, numbers and tuples of them can be saved."""

    def n_states(self, n_influencers: int) -> int:
        """How many states there can be; the penalty of the score is for this number."""


Factory = TypeVar("Factory", bound=Callable[[], Any])
_REGISTERED: dict[str, Callable[[], HistorySummary]] = {}


def register_summary(name: str) -> Callable[[Factory], Factory]:
    """Give a summary class a name, so that models that use it can be stored and loaded.

    The same registration, with the same ``name``, must have run before such a model is loaded.

    >>> @register_summary("length of the history, up to 2")
    ... class Length:
    ...     def state(self, history, influencers):
    ...         return min(len(history), 2)
    ...     def n_states(self, n_influencers):
    ...         return 3
    """

    def register(factory: Factory) -> Factory:
        _REGISTERED[name] = factory
        factory.summary_name = name  # type: ignore[attr-defined]  # a mark on what is the user's own
        return factory

    return register


def registered_summary(name: str) -> HistorySummary:
    """Make the summary registered under ``name``."""
    if name not in _REGISTERED:
        raise SettingError(
            f"no summary is registered as {name!r}; "
            f"import the code that calls register_summary({name!r}) first"
        )
    return _REGISTERED[name]()


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

    @property
    def name(self) -> str | None:
        """The name it is registered under, or None."""
        return getattr(self.function, "summary_name", None)

    def stored_name(self) -> str:
        """The name by which a file knows it."""
        if self.name is None:
            raise SettingError(
                "a model with your own summary can be stored once that is registered: "
                "put @summarkov.register_summary('a name') above the class"
            )
        return self.name

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int(self.function.n_states(n_influencers))

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        text = [*labels, None]  # code -1 is the last
        chosen = tuple(labels[z] for z in influencers)
        reach = getattr(self.function, "lookback", None)
        states: list[Hashable] = []
        for start, stop in itertools.pairwise(index.offsets.tolist()):
            history = [text[code] for code in index.codes[start:stop].tolist()]
            for end in range(len(history)):
                begin = 0 if reach is None else max(0, end - reach)
                states.append(self.function.state(history[begin:end], chosen))
        try:
            distinct = sorted(set(states), key=repr)
        except TypeError:
            raise SettingError(
                "a summary's states must be hashable; return a tuple instead of a list"
            ) from None
        id_of = {state: i for i, state in enumerate(distinct)}
        ids = np.array([id_of[state] for state in states], dtype=np.int64)
        return ids, self.key_array([(state,) for state in distinct], 0)

    def state(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Hashable:
        state: Hashable = key[0]
        return state

    def words(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> str:
        return str(key[0])

    @property
    def horizon(self) -> int | None:
        reach = getattr(self.function, "lookback", None)
        return None if reach is None else int(reach)

    def state_document(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Any:
        return plain(key[0])

    def read_key(self, state: Any, influencers: Sequence[str], codes: Mapping[str, int]) -> tuple[Any, ...]:
        return (_read_state(state),)

    def key_width(self, n_influencers: int) -> int:
        return 1

    def key_order(self, key: tuple[Any, ...]) -> Any:
        return repr(key[0])

    def key_array(self, keys: Sequence[tuple[Any, ...]], n_influencers: int) -> KeyArray:
        found = np.empty((len(keys), 1), dtype=object)
        found[:, 0] = [key[0] for key in keys]
        return found


def plain(state: Hashable) -> Any:
    """A state of a user's own summary as JSON has it."""
    if isinstance(state, np.generic):
        return plain(state.item())
    if isinstance(state, float) and not math.isfinite(state):
        raise SettingError(f"a state of {state} cannot be stored; use texts, finite numbers and tuples")
    if state is None or isinstance(state, str | int | float | bool):
        return state
    if isinstance(state, tuple):
        return [plain(part) for part in state]
    raise SettingError(
        f"a state of type {type(state).__name__} cannot be stored; use texts, numbers and tuples"
    )


def _read_state(state: Any) -> Hashable:
    if isinstance(state, dict):
        raise StoreError.expected("a text, a number, or a list of them", state)
    if isinstance(state, list):
        return tuple(_read_state(part) for part in state)
    found: Hashable = state
    return found
