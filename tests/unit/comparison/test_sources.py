"""``compare`` on events that are not in memory: what it says, keeps and refuses."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same, examples, written_down
from summarkov.comparison import ModelContender, run
from summarkov.comparison.tuning import Split, named, tune
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.engines.work import EVENT_BYTES
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events.draws import Bootstrap
from summarkov.summaries import OrdinalSummary

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

MODELS = [
    "chain-0",
    ModelContender("osumm", sm.OSuMM(lookback=None, criterion="aic"), {"alpha": (0.1, 1)}),
]
PARTS = (
    [list("abcabcab"), list("bcabca"), [], list("cabc"), list("aabbcc")] * 3,
    [[], list("abcab"), list("cab"), list("dd")],
    [list("bcabc"), list("abca"), [], list("cabcab"), list("aceb"), []],
)


def told(comparison):
    """All that a comparison says, but the time it took."""
    document = comparison.to_dict()
    for line in document["lines"]:
        line["seconds"] = 0
    return document, [tuned.by_sequence.tolist() for each in comparison.results for tuned in each]


def lines_file(path, sequences):
    path.write_text("".join(json.dumps(sequence) + "\n" for sequence in sequences))
    return path


@pytest.fixture
def sources(tmp_path):
    """The three parts as files with one sequence per line, some of them empty, in blocks of some events."""
    opened = [
        sm.scan_events(
            lines_file(tmp_path / f"{number}.jsonl", part), memory=9 * EVENT_BYTES, scratch=tmp_path
        )
        for number, part in enumerate(PARTS)
    ]
    yield opened
    for source in opened:
        source.close()


def test_three_sources(sources):
    assert [source.labels for source in sources] == [tuple("abc"), tuple("abcd"), tuple("abce")]
    found = sm.compare(*sources, models=MODELS)
    assert told(found) == told(sm.compare(*PARTS, models=MODELS))
    assert len(found.results[0][0].by_sequence) == len(PARTS[2])
    assert found.lines[0].top_1 is not None


def test_one_source_is_split_as_in_memory(sources):
    for options in ({"seed": 5}, {"splits": 2, "targets": ["a", "c"]}):
        assert told(sm.compare(sources[0], models=MODELS, **options)) == told(
            sm.compare(PARTS[0], models=MODELS, **options)
        )


def test_sources_and_events_together(sources):
    mixed = (PARTS[0], sources[1], PARTS[2])
    assert told(sm.compare(*mixed, models=MODELS)) == told(sm.compare(*PARTS, models=MODELS))


@pytest.mark.parametrize("model", ["lr-presence-3", "boosting"])
def test_what_needs_a_matrix_is_refused_before_anything_is_fitted(sources, model, monkeypatch):
    monkeypatch.setattr(run, "tune", None)
    monkeypatch.setattr(run, "lineup", lambda models, n_jobs: list(map(named, models)))  # no library needed
    words = (
        f"{model} needs all events in memory, and test is a StreamSource; read it with read_events, or "
        f"leave {model} out of models="
    )
    with pytest.raises(SettingError) as problem:
        sm.compare(*PARTS[:2], sources[2], models=["chain-0", model])
    assert str(problem.value) == words


def test_a_contender_that_only_says_that_it_takes_sources(sources):
    class Half:
        name = "half"
        takes_sources = True

        def fit_each(self, train, targets):
            yield {}, self

        def probability(self, events, target):
            return np.full(events.n_events, 0.5)

        def influencers(self, target):
            return None

    with pytest.raises(SettingError, match=r"half says that it takes sources, but .* BlockPredictor"):
        sm.compare(*sources, models=[Half()])
    assert sm.compare(*PARTS, models=[Half()]).lines[0].log_likelihood < 0


def test_parts_without_events(tmp_path, sources):
    nothing = sm.scan_events(lines_file(tmp_path / "none.jsonl", [[]]), scratch=tmp_path)
    with nothing, pytest.raises(DataError, match="the dev part has no events"):
        sm.compare(sources[0], nothing, sources[2], models=MODELS)
    with pytest.raises(UnknownLabelError, match="unknown label 'x'"):
        sm.compare(*sources, models=MODELS, targets=["x"])


def test_an_interrupted_comparison_goes_on(sources, tmp_path, monkeypatch):
    path, worked = tmp_path / "kept", []
    real = run.tune

    def stopping(contender, *rest):
        if contender.name == "osumm" and len(worked) < 2:
            raise KeyboardInterrupt
        worked.append(contender.name)
        return real(contender, *rest)

    monkeypatch.setattr(run, "tune", stopping)
    with pytest.raises(KeyboardInterrupt):
        sm.compare(*sources, models=MODELS, checkpoint=path)
    worked.append("again")
    assert told(sm.compare(*sources, models=MODELS, checkpoint=path)) == told(
        sm.compare(*PARTS, models=MODELS)
    )
    assert worked[:3] == ["chain-0", "again", "osumm"]
    assert not path.exists()


def test_other_data_is_not_taken_for_the_same(sources, tmp_path):
    def names(*parts):
        kept = run.Checkpoint(tmp_path / "kept")
        (contender,) = run.lineup(["chain-0"])
        return kept.trial(Split(*parts), ["a"], contender)

    moved = sm.scan_events(
        lines_file(tmp_path / "moved.jsonl", [*PARTS[0][:-2], list("cabca"), list("abbcc")]), scratch=tmp_path
    )
    with moved:
        assert moved.label_counts.tolist() == sources[0].label_counts.tolist()
        others = [
            names(*sources),
            names(moved, *sources[1:]),
            names(sources[0], sources[2], sources[1]),
            names(sources[0].only(written_down(sources[0], [0, 1])), *sources[1:]),
            names(sources[0].only(written_down(sources[0], [0, 3])), *sources[1:]),
        ]
        assert len(set(others)) == 5
        assert names(*sources) == others[0]


# ------------------------------------------------------------------ views


def long_table(sequences, seed):
    case = [f"case {k}" for k, sequence in enumerate(sequences) for _ in sequence]
    step = [i for sequence in sequences for i, _ in enumerate(sequence)]
    event = [label for sequence in sequences for label in sequence]
    table = pa.table({"case": case, "event": event, "order": step})
    return table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))


@examples(15)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), min_size=1, max_size=8),
    st.data(),
    st.integers(1, 9),
    st.integers(0, 5),
)
def test_some_sequences_under_a_larger_vocabulary(tmp_path_factory, sequences, data, most, seed):
    """What is counted, drawn and measured through views is what it is in memory."""
    folder = tmp_path_factory.mktemp("views")
    parquet.write_table(long_table(sequences, seed), folder / "events.parquet")
    events = sm.read_events(folder / "events.parquet")
    chosen = sorted(data.draw(st.sets(st.integers(0, len(events) - 1), min_size=1)))
    labels = tuple("0abcd")
    expected = events.recode(labels)[np.array(chosen)]
    summary = OrdinalSummary(None)
    request = StatesRequest(summary, (1, 2), Target((1, 3), len(labels)))
    with sm.scan_events(folder, memory=most * EVENT_BYTES, scratch=folder) as source:
        view = source.recode(labels).only(written_down(source, chosen))
        again = source.only(written_down(source, chosen)).recode(labels)
        for seen in (view, again):
            assert seen.labels == labels
            assert seen.label_counts.tolist() == expected.label_counts.tolist()
            assert (seen.n_sequences, seen.n_events) == (len(expected), expected.n_events)
            assert_same(seen.count([request])[0], MemorySource(expected).count([request])[0])
            if len(chosen) > 1:
                draws = Bootstrap(3, seed)
                one, other = (s.replicated(draws).count([request])[0] for s in (seen, MemorySource(expected)))
                assert_same(one, other)
        contender = ModelContender("chain", sm.MarkovChain(order=1), {"alpha": (0.1, 1)})
        some, others = (tune(contender, Split(s, s, s), ["a", "b"]).to_dict() for s in (view, expected))
        assert {**some, "seconds": 0} == {**others, "seconds": 0}


def test_empty_sequences_among_the_chosen_are_not_drawn(sources):
    chosen = [0, 2, 3, 4, 7, 9]  # two of them are empty
    expected = sm.read_events(PARTS[0])[np.array(chosen)]
    request = StatesRequest(OrdinalSummary(2), (0,), Target((1,), 3))
    draws = Bootstrap(5, seed=1)
    some = sources[0].only(written_down(sources[0], chosen))
    one, other = (s.replicated(draws).count([request])[0] for s in (some, MemorySource(expected)))
    assert_same(one, other)
