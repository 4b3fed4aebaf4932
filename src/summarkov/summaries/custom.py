"""The user's own summary: any function from a history to a hashable state."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError
from summarkov.summaries.base import Memory, Summary
from summarkov.typing import IntArray, KeyArray

if TYPE_CHECKING:
    from summarkov.store import Node


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

    def encode(
        self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]
    ) -> tuple[IntArray, KeyArray]:
        text = [*labels, None]  # code -1 is the last
        chosen = tuple(labels[z] for z in influencers)
        reach = getattr(self.function, "lookback", None)
        past = [text[code] for code in index.past_codes.tolist()]
        states: list[Hashable] = []
        for number, (start, stop) in enumerate(itertools.pairwise(index.offsets.tolist())):
            history = (past if number == 0 else []) + [
                text[code] for code in index.codes[start:stop].tolist()
            ]
            for end in range(len(history) - (stop - start), len(history)):
                begin = 0 if reach is None else max(0, end - reach)
                states.append(self.function.state(history[begin:end], chosen))
        try:
            distinct = sorted(set(states), key=repr)
        except TypeError:
            raise SettingError(
                "a summary's states must be hashable; return a tuple instead of a list"
            ) from None
        keys = np.empty((len(distinct), 1), dtype=object)
        keys[:, 0] = distinct
        id_of = {state: i for i, state in enumerate(distinct)}
        return np.array([id_of[state] for state in states], dtype=np.int64), keys

    def state(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Hashable:
        state: Hashable = key[0]
        return state

    def words(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> str:
        return str(key[0])

    def memory(self) -> Memory:
        reach = getattr(self.function, "lookback", None)
        return Memory(2**62 if reach is None else int(reach), None)

    def state_document(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Any:
        return plain(key[0])

    def read_key(self, node: Node, influencers: Sequence[str], codes: Mapping[str, int]) -> tuple[Any, ...]:
        return (_read_state(node),)

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


def _read_state(node: Node) -> Hashable:
    if isinstance(node.value, dict):
        node.wrong("a text, a number, or a list of them")
    if isinstance(node.value, list):
        return tuple(_read_state(part) for part in node.list())
    value: Hashable = node.value
    return value
