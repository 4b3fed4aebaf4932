"""Whole graphs: how the time grows, what threads bring, and what memory it takes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import summarkov as sm
from benchmarks.data import planted
from benchmarks.timing import Row, best_of, seconds

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

_PEAK = """
import resource
import summarkov as sm
from benchmarks.data import planted
events = planted(10**7, 200)
sm.BSuMM("label00000", lookback=5).fit(sm.EventSequences.from_lists([["label00000", "x"]]))  # all imports
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import os
def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # start the peak anew
base = now()
sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
print((peak - base) / events.codes.nbytes)
"""


def fit(
    events: sm.EventSequences, lookback: int, n_jobs: int | None = None, most: int | None = None
) -> sm.InfluenceGraph:
    """Learn a whole graph, with at most ``most`` influencers a label."""
    template = sm.BSuMM(lookback=lookback, max_influencers=most)
    return sm.InfluenceGraph(template, n_jobs=n_jobs).fit(events)


def rows() -> Iterator[Row]:
    """Time whole graphs."""
    yield from linkedin()
    yield labels()
    yield from growth()
    yield memory()
    yield from tests()


def tests() -> Iterator[Row]:
    """What an order test and a hundred resampled graphs take, over learning."""
    events = planted(10**5, 20)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5))
    for what, wanted in (("order_test", "at most 5x"), ("confidence", "reported")):
        one, many = best_of(
            3,
            lambda: graph.fit(events),
            lambda what=what: getattr(graph, what)(events),
            clock=time.process_time,
        )
        told = f"{many / one:.1f}x ({seconds(many)})"
        yield Row(f"{what}(), N=1e5, M=20 / learning the graph", told, wanted)


def labels() -> Row:
    """How the time grows with the number of labels."""
    few, many = planted(10**6, 50), planted(10**6, 1000)
    small, large = best_of(3, lambda: fit(few, 10), lambda: fit(many, 10))
    return Row(
        "whole graph, N=1e6, look-back 10: M=1000 / M=50",
        f"{large / small:.1f}x ({seconds(large)}, {seconds(small)})",
        "at most 3x",
    )


def growth() -> Iterator[Row]:
    """How the time grows with the number of events, and what threads bring.

    More events show more influences, so searches go deeper and ask for more. With at most one influencer
    every search has the same two rounds, however many events there are.
    """
    sizes = [10**5, 10**6, 10**7]
    each = [planted(n, 200) for n in sizes]
    for most, which, wanted in (
        (None, "look-back 5", "at most 1.3x"),
        (1, "look-back 5, at most one influencer", "reported"),
    ):
        times = best_of(3, *(lambda events=events, most=most: fit(events, 5, None, most) for events in each))
        found = [len(fit(events, 5, None, most).edges_) for events in each]
        for i in (1, 2):
            yield Row(
                f"whole graph, M=200, {which}: N={sizes[i]:.0e} / 10 times N={sizes[i - 1]:.0e}",
                f"{times[i] / times[i - 1] / 10:.2f}x ({seconds(times[i])}; {found[i]} edges found, "
                f"{found[i - 1]} before)",
                wanted,
            )
    one, two = best_of(2, lambda: fit(each[2], 5, 1), lambda: fit(each[2], 5, 2))
    yield Row("whole graph, N=1e7: 1 thread / 2 threads", f"{one / two:.2f}x", "1.6x")
    single = sm.EventSequences(each[1].codes, [0, each[1].n_events], each[1].labels)
    one, two = best_of(2, lambda: fit(single, 5, 1), lambda: fit(single, 5, 2))
    yield Row("whole graph, one sequence of 1e6: 1 thread / 2 threads", f"{one / two:.2f}x", "reported")


def memory() -> Row:
    """The peak of memory, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _PEAK], capture_output=True, text=True, check=False)
    peak = f"{float(done.stdout):.2f}x" if done.returncode == 0 else "not to be had here"
    return Row(
        "peak memory above the loaded events, graph, N=1e7, M=200 / bytes of the codes", peak, "at most 3x"
    )


def linkedin() -> Iterator[Row]:
    """The paper's LinkedIn data, all labels, against the naive code of the tests."""
    path = SHARED / "linkedin.train.jsonl"
    if not path.exists():
        yield Row("LinkedIn, all 10 labels", "the data is not here", "under 10 ms")
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import oracle

    events = sm.read_events(path)
    sequences, labels = events.to_lists(), list(events.labels)

    def ours() -> object:
        return sm.InfluenceGraph(sm.BSuMM(lookback=5, alpha=0.1, gamma=0.5)).fit(events)

    def naive() -> object:
        def score_of(target: str, influencers: tuple[str, ...]) -> float:
            counts = oracle.counts(
                sequences,
                (target,),
                lambda history: oracle.binary_state(history, influencers, 5),
                labels=labels,
            )
            n_states = oracle.n_states("binary", len(influencers))
            return oracle.bic(counts, n_states, events.n_events, 0.1, 0.5)

        return [oracle.greedy(labels, lambda u, x=x: score_of(x, u)) for x in labels]

    (fast,), (slow,) = best_of(20, ours), best_of(1, naive)
    yield Row("LinkedIn, full greedy fit of all 10 labels", seconds(fast), "under 10 ms")
    yield Row("LinkedIn, full greedy fit: the tests' naive oracle / ours", f"{slow / fast:.0f}x", "reported")
