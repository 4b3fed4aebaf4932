"""Counts where events happen together, at times, in sequences with attributes, equal those of the twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_ticks as oracle
from strategies import examples
from summarkov import kernels
from summarkov.kernels import numpy_kernels, trees
from summarkov.kernels.index import UNLIMITED

try:
    from summarkov.kernels import native_kernels
except ImportError:
    native_kernels = None

BOTH = [
    pytest.param(numpy_kernels, id="numpy"),
    pytest.param(
        native_kernels,
        id="native",
        marks=pytest.mark.skipif(native_kernels is None, reason="the C++ kernels were not built"),
    ),
]
LABELS, ATTRIBUTES = ("A", "B", "C"), ("1st=yes", "zone=1")
NAMES = tuple(sorted((*LABELS, *ATTRIBUTES)))
KINDS = {
    "binary": kernels.BINARY,
    "last": kernels.ORDINAL_LAST,
    "first": kernels.ORDINAL_FIRST,
    "count": kernels.COUNT,
}


@st.composite
def cases(draw):
    """A few cases; ticks of no known label, empty cases and equal times included."""
    made = []
    for _ in range(draw(st.integers(0, 4))):
        time, ticks = 0, []
        for _ in range(draw(st.integers(0, 7))):
            time += draw(st.sampled_from([0, 1, 1, 2, 5]))
            ticks.append((time, frozenset(draw(st.sets(st.sampled_from(LABELS), max_size=3)))))
        made.append((frozenset(draw(st.sets(st.sampled_from(ATTRIBUTES)))), ticks))
    return made


def index_of(made):
    """The same as the kernels have it."""
    codes, starts, times, offsets = [], [], [], [0]
    for attributes, ticks in made:
        for name in sorted(attributes):
            codes.append(NAMES.index(name)), starts.append(False), times.append(-(2**40))
        for time, labels in ticks:
            rows = [NAMES.index(label) for label in sorted(labels)] or [-1]
            for place, code in enumerate(rows):
                codes.append(code), starts.append(place == 0), times.append(time)
        offsets.append(len(codes))
    attributes = np.array([name in ATTRIBUTES for name in NAMES] + [False])
    rows = np.array(codes, np.int32), np.array(offsets, np.int64), len(NAMES)
    return kernels.Index(*rows, np.array(starts, bool), attributes, np.array(times, np.int64))


spans = st.tuples(st.sampled_from([1, 2, 3, 6, None]), st.booleans())


@st.composite
def questions(draw):
    """Cases, and how the window is."""
    made, kind = draw(cases()), draw(st.sampled_from(sorted(KINDS)))
    if kind in ("last", "first"):
        lookbacks = dict.fromkeys(NAMES, draw(spans))
    else:
        lookbacks = {name: draw(spans) for name in NAMES}
    delay = draw(st.sampled_from([(0, False), (0, False), (1, False), (0, True), (2, True)]))
    return made, kind, lookbacks, delay


def window_of(kind, lookbacks, delay):
    sizes = [UNLIMITED if lookbacks[name][0] is None else lookbacks[name][0] for name in NAMES]
    in_time = np.array([lookbacks[name][1] for name in NAMES])
    return kernels.Window(
        KINDS[kind], np.array(sizes, np.int64), delay[0], 2 if kind == "count" else 1, in_time, delay[1]
    )


def outcomes(target):
    found = np.full(len(NAMES) + 1, len(target), np.int32)
    found[[NAMES.index(label) for label in target]] = range(len(target))
    return found


def naive(made, weights, target, state_of):
    """What the twin counts."""
    whole = oracle.counts(made, weights, target, state_of)
    return {key: row for key, row in whole.items() if any(row)}


def rows(keys, counts):
    return {tuple(key): row for key, row in zip(keys.tolist(), counts.tolist(), strict=True) if any(row)}


@pytest.mark.parametrize("kernel", BOTH)
@examples(120)
@given(
    questions(),
    st.sets(st.sampled_from(NAMES), max_size=3),
    st.sets(st.sampled_from(LABELS), min_size=1, max_size=3),
    st.booleans(),
)
def test_states_and_candidates(kernel, question, influencers, target, weighed):
    made, kind, lookbacks, delay = question
    influencers, target = sorted(influencers), sorted(target)
    weights = [number % 3 for number in range(1, len(made) + 1)] if weighed else [1] * len(made)
    index, window = index_of(made), window_of(kind, lookbacks, delay)
    candidates = [z for z in NAMES if z not in influencers]
    keys, counts, present = kernel.count_candidates(
        index,
        np.array(weights, np.int64) if weighed else None,
        np.array([NAMES.index(z) for z in influencers], np.int32),
        np.array([NAMES.index(z) for z in candidates], np.int32),
        outcomes(target),
        len(target) + 1,
        window,
    )

    def state_of(chosen):
        return lambda case, position: oracle.state(case, position, chosen, lookbacks, delay, kind)

    def expected(chosen):
        return naive(made, weights, target, state_of(chosen))

    assert rows(keys, counts) == expected(influencers)
    ids, own_keys = kernel.window_states(
        index, np.array([NAMES.index(z) for z in influencers], np.int32), window
    )
    assert own_keys.tolist() == keys.tolist()
    every = [(case, at) for case in made for at in range(len(case[1]))]
    assert [tuple(keys[i].tolist()) for i in ids[index.begins]] == [
        state_of(influencers)(*each) for each in every
    ]
    for number, z in enumerate(candidates):
        joined = sorted([*influencers, z])
        at = joined.index(z)
        found = {}
        for key, level in itertools.product(range(len(keys)), range(present.shape[2])):
            row = present[number, key, level].tolist()
            if any(row):
                own = list(keys[key].tolist())
                if kind in ("last", "first"):
                    own = [place + (place > level) for place in own]
                own.insert(at, level + 1)
                found[tuple(own)] = row
        assert found == {key: row for key, row in expected(joined).items() if key[at]}


@pytest.mark.parametrize("kernel", BOTH)
@examples(80)
@given(cases(), st.booleans())
def test_recency(kernel, made, in_time):
    index = index_of(made)
    tests = trees if kernel is numpy_kernels else kernel
    a, c, held = (NAMES.index(z) for z in ("A", "C", "1st=yes"))
    tree = np.array(
        [
            [kernels.OCCURS, a, 0, 2, 3, 1, 2],
            [kernels.MORE_RECENT, c, a, 1, 0, 3, 4],
            [kernels.START, 0, 0, 1, 2, 5, 6],
            *([kernels.LEAF, 0, 0, 0, 0, 0, 0] for _ in range(4)),
        ],
        np.int64,
    )

    def leaf(case, at):
        def lag(position):
            return case[1][at][0] - case[1][position][0] if in_time else at - position

        of_a = [j for j in range(at) if "A" in case[1][j][1]]
        of_c = [j for j in range(at) if "C" in case[1][j][1]]
        if len(of_a) >= 2 and lag(of_a[-2]) <= 3:
            return 3 if of_c and of_c[-1] >= of_a[-1] else 4
        return 5 if at < 2 else 6

    every = [(case, at) for case in made for at in range(len(case[1]))]
    assert tests.tree_leaves(index, tree, in_time)[index.begins].tolist() == [leaf(*each) for each in every]
    recency = kernels.Recency(
        np.array([a, c, held], np.int32), np.array([1, 3, UNLIMITED]), 2, np.array([1, 3]), True, in_time
    )
    slots = np.array([-1, -1, -1, 0, 1, 2, 3])
    counts, lags, starts, pairs = tests.count_tests(index, None, tree, slots, recency, outcomes(["B"]), 2)
    twin = [np.zeros(shape, np.int64) for shape in recency.shapes(4, 2)]
    for case, at in every:
        slot, x = leaf(case, at) - 3, 0 if "B" in case[1][at][1] else 1
        twin[0][slot, x] += 1
        if at < 3:
            twin[2][slot, 0 if at < 1 else 1, x] += 1
        last = []
        for number, name in enumerate(("A", "C", "1st=yes")):
            there = [j for j in range(at) if name in case[1][j][1]]
            ago = [case[1][at][0] - case[1][j][0] if in_time else at - j for j in reversed(there)]
            if name in case[0]:
                there, ago = [-1], [0]
            for c_th, lag in enumerate(ago[:2]):
                twin[1][slot, number, c_th, 0 if lag <= 1 else 1 if lag <= 3 else 2, x] += 1
            last.append((there[-1], number) if there else None)
        for z, y in itertools.permutations(range(3), 2):
            if last[z] and last[y] and last[z] > last[y]:
                twin[3][slot, z, y, x] += 1
    for found, expected in zip((counts, lags, starts, pairs), twin, strict=True):
        assert found.tolist() == expected.tolist()
