"""One pass over all candidates, against merely reading the codes; native kernels against NumPy ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.data import planted
from benchmarks.timing import Row, best_of, seconds
from summarkov.kernels import BINARY, COUNT, ORDINAL_LAST, UNLIMITED, Index, Window, backend, numpy_kernels


def one_pass(kernels: object, index: Index, lookback: int, kind: int = BINARY) -> Callable[[], object]:
    """Count all candidates beside two influencers from the middle third, for a fairly frequent target."""
    n_labels = index.n_labels
    influencers = np.array([n_labels // 2, n_labels // 2 + 1], np.int32)
    candidates = np.setdiff1d(np.arange(n_labels), influencers).astype(np.int32)
    outcome_of = np.ones(n_labels + 1, np.int32)
    outcome_of[n_labels // 10] = 0
    window = Window(kind, np.full(n_labels, lookback), 0, 2 if kind == COUNT else 1)
    count = kernels.count_candidates
    return lambda: count(index, None, influencers, candidates, outcome_of, 2, window)


def rows() -> Iterator[Row]:
    """Time the kernels."""
    if backend() != "native":
        yield Row("native kernels", "not built here", "built")
        return
    from summarkov.kernels import native_kernels

    for n_events, n_labels, lookback, wanted in ((10**6, 50, 10, 20), (10**7, 200, 5, 8)):
        events = planted(n_events, n_labels)
        index = Index(events.codes, events.offsets, n_labels)
        task = one_pass(native_kernels, index, lookback)
        task()  # the positions of every label are found once, with the first pass
        ours, reading = best_of(
            5, task, lambda codes=events.codes, n=lookback: [codes.sum(dtype=np.int64) for _ in range(n)]
        )
        yield Row(
            f"one pass, all candidates, 2 influencers, N={n_events:.0e}, M={n_labels}, "
            f"look-back {lookback} / sum of the codes, {lookback} times",
            f"{ours / reading:.1f}x ({seconds(ours)})",
            f"at most {wanted}x",
        )

    events = planted(10**5, 50)
    index = Index(events.codes, events.offsets, 50)
    for name, kind in (("binary", BINARY), ("ordinal", ORDINAL_LAST), ("count", COUNT)):
        for lookback in (1, 10, 100, UNLIMITED):
            native, numpy = (one_pass(k, index, lookback, kind) for k in (native_kernels, numpy_kernels))
            native(), numpy()
            fast, slow = best_of(3, native, numpy)
            reach = "unlimited" if lookback == UNLIMITED else lookback
            yield Row(
                f"{name} summary, look-back {reach}, N=1e5, M=50: NumPy / native",
                f"{slow / fast:.0f}x ({seconds(fast)})",
                "reported",
            )
