"""What is drawn at random does not depend on the order of sequences, of rows or of files."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.events import draws

ORDER = np.random.default_rng(3).permutation(60)


@pytest.fixture(params=["written down", "by hashes"], autouse=True)
def few(request, monkeypatch):
    """Both ways in which draws are told: those of few sequences, and those of many."""
    if request.param == "by hashes":
        monkeypatch.setattr(draws, "FEW", 4)


@pytest.fixture(scope="module")
def events():
    rng = np.random.default_rng(8)
    made = [["ABCD"[label] for label in rng.integers(4, size=rng.integers(5, 15))] for _ in range(60)]
    for sequence in made:
        for place in range(1, len(sequence)):
            if sequence[place - 1] == "A" and rng.random() < 0.6:
                sequence[place] = "B"
    return sm.EventSequences.from_lists(made, ids=[f"visit {number}" for number in range(60)])


def results(graph, data):
    compared = sm.compare(data, models=["chain-0", "bsumm"], targets=["B"], splits=2)
    values = []
    for line in compared.lines:
        for name, value in vars(line).items():
            if name != "seconds":
                values.extend(value if isinstance(value, tuple) else [value])
    return graph.confidence(data, n=20, random_state=1), values


def same(found, expected):
    """The same draws; sums over sequences are rounded in the order of these."""
    wanted = [pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for value in expected[1]]
    return found[0] == expected[0] and found[1] == wanted


def test_the_order_of_sequences_and_the_layout_of_files_do_not_matter(events, tmp_path):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, false_edges=None)).fit(events)
    expected = results(graph, events)
    assert expected[0].n_sequences == 60
    assert same(results(graph, events[ORDER]), expected)
    case = np.repeat(np.arange(60), events.lengths)
    place = np.arange(events.n_events) - events.offsets[case]
    labels = [label for sequence in events for label in sequence]
    table = pa.table({"case": [f"visit {k}" for k in case], "event": labels, "position": place})
    for number, cuts in enumerate(([0, 3], [0, 1, 2, 3])):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = np.argsort(ORDER[case] if number else case, kind="stable")
        ends = [len(rows) * cut // 3 for cut in cuts]
        for start, stop in pairwise(ends):
            parquet.write_table(table.take(pa.array(rows[start:stop])), folder / f"{start:05}.parquet")
        with sm.scan_events(folder) as source:
            assert same(results(graph, source), expected)
