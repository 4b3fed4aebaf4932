"""Parts that are counted in threads and in other processes give what memory gives."""

import operator
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import summarkov as sm
from summarkov.engines import MappedSource
from summarkov.errors import DataError, SettingError
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Files of a folder, the last without some of the labels and with an empty sequence."""
    folder = tmp_path_factory.mktemp("parts")
    events = web_shop().simulate(n_sequences=90, length=20, seed=2)
    lists = {f"visit {k}": labels for k, labels in enumerate(events.to_lists())}
    names = list(lists)
    for name in names[60:]:
        lists[name] = [label for label in lists[name] if label < "p"]
    lists[names[70]] = []
    paths = []
    for start in (0, 30, 60):
        some = sm.read_events({name: lists[name] for name in names[start : start + 30]})
        sm.write_events(some, folder / f"{start}.jsonl")
        paths.append(folder / f"{start}.jsonl")
    return paths, sm.read_events(lists)


def openers(paths):
    return [partial(sm.read_events, path) for path in paths]


def results(data):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(data)
    compared = sm.compare(data, models=["chain-1"], targets=["search"])
    line = {**vars(compared.lines[0]), "seconds": 0}
    order = graph.order_test(data, n=19)
    return graph.to_document(), graph.confidence(data, n=10), order, graph.score(data), line


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import summarkov as sm
from summarkov.engines import MappedSource

if __name__ == "__main__":
    openers = [partial(sm.read_events, path) for path in sys.argv[2:]]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        source = MappedSource(openers, map=pool.map)
        sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(source).save(sys.argv[1])
        print(source.n_sequences, source.n_filled)
"""


def test_in_other_processes(parts, tmp_path):
    paths, events = parts
    script, model = tmp_path / "script.py", tmp_path / "model.json"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(model), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout == "90 89\n"
    assert sm.load(model).to_document() == sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events).to_document()


@pytest.mark.parametrize("name", ["map", "threads"])
def test_here(parts, name):
    paths, events = parts
    with ThreadPoolExecutor(2) as pool:
        source = MappedSource(openers(paths), map=map if name == "map" else pool.map)
        assert results(source) == results(events)
        tree = sm.TreeSuMM("search", max_depth=2)
        assert tree.fit(source).to_document() == tree.fit(events).to_document()


def test_sequences_of_one_name_in_several_parts_are_several(parts):
    paths, _ = parts
    twice = MappedSource(openers([*paths, paths[0]]), map=map)
    assert twice.n_sequences == 120
    assert len(np.unique(np.concatenate(twice.sequence_keys()))) == 120


def test_what_cannot_be_mapped(parts, tmp_path):
    for wrong in ([], ["part.jsonl"], [None]):
        with pytest.raises(SettingError, match="give at least one function that opens a part"):
            MappedSource(wrong, map=map)
    with pytest.raises(DataError, match="there is no file"):
        MappedSource([partial(sm.read_events, tmp_path / "no.jsonl")], map=map)
    source = MappedSource([partial(operator.itemgetter(0), [[["a", "b"]] * 3])], map=map)
    assert source.label_counts.tolist() == [3, 3]


def recording(told):
    """A map that notes the kind and the size of the work of every pass."""

    def map_(function, openers, *others):
        if others:
            work = next(others[0])
            told.append((type(work), len(pickle.dumps(work))))
        return map(function, openers, *others)

    return map_


def test_draws_do_not_travel_with_every_sequence():
    """Twice as many sequences, and the work of a pass is as large: each part works out its own draws."""
    sizes = []
    for n in (17_000, 34_000):
        events = sm.EventSequences(np.tile([0, 1, 2, 1], n), np.arange(0, 4 * n + 1, 4), ["A", "B", "C"])
        told = []
        parts = [partial(events.__getitem__, half) for half in (slice(0, n // 2), slice(n // 2, n))]
        source = MappedSource(parts, map=recording(told))
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(source)
        told.clear()
        assert graph.confidence(source, n=5) == graph.confidence(events, n=5)
        sizes.append(max(size for _, size in told))
    assert sizes[1] < sizes[0] + 1_000 < 17_000  # bytes


def test_settings_of_a_grid_share_passes():
    """36 settings with three look-backs: as many passes as three searches have rounds, and few more."""
    events, told = web_shop().simulate(n_sequences=300, length=20, seed=2), []
    source = MappedSource([partial(events.__getitem__, slice(None))], map=recording(told))
    found = sm.compare(source, models=["bsumm"], targets=["purchase", "search"])
    assert (
        found.lines[0].difference
        == sm.compare(events, models=["bsumm"], targets=["purchase", "search"]).lines[0].difference
    )
    assert 8 <= len(told) <= 18


@pytest.mark.parametrize("weights", [(0, 2, 3), (0, 0.25, 1.5)])
def test_weights(parts, weights, tmp_path):
    """One part has none, one whole ones; the last decides in what unit all are counted."""
    paths, events = parts
    told = [[1] * 30, [k % 3 for k in range(30)], [weights[k % 3] for k in range(30)]]
    weighed = [path if at == 0 else tmp_path / path.name for at, path in enumerate(paths)]
    for at in (1, 2):
        sm.write_events(sm.read_events(paths[at]).with_weights(told[at]), weighed[at])
    given = openers(weighed[:1]) + [partial(sm.read_events, path, weight="weight") for path in weighed[1:]]
    source = MappedSource(given, map=map)
    expected = events.with_weights([weight for some in told for weight in some])
    assert source.scale == (1 if weights[1] == 2 else 2**20)
    assert source.n_events == events.n_events
    assert results(source) == results(expected)
