"""Sources prepared while they are read: what preparing the events in memory gives, however they are cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

STEPS = {
    "map": lambda events: events.map_labels(lambda label: "b" if label == "c" else label),
    "pool": lambda events: events.pool_rare(3),
    "collapse": lambda events: events.collapse_repeats(),
    "start": lambda events: events.add_start(),
}


def sequences(source, most):
    """Names and labels, from blocks of at most ``most`` events (of the source as it was read)."""
    found, going = [], False
    for block in source.part().read(most):
        assert len(block.names) == len(block.offsets) - 1
        for number, name in enumerate(block.names.to_pylist()):
            codes = block.codes[block.offsets[number] : block.offsets[number + 1]]
            labels = [source.labels[code] for code in codes.tolist()]
            if number == 0 and going:
                assert labels
                assert found[-1][0] == name
                found[-1][1].extend(labels)
            else:
                found.append((name, labels))
        going = block.goes_on
    assert not going
    return found


@given(
    st.lists(st.lists(st.sampled_from("aabc"), max_size=9), min_size=1, max_size=6),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=3, unique=True),
)
def test_what_memory_gives(tmp_path_factory, backend, lists, steps):
    path = tmp_path_factory.mktemp("prepared") / "events.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lists))
    events = sm.read_events(path)
    if "pool" in steps and not events.labels:
        return  # nothing to pool
    with sm.scan_events(path, memory=1 << 20, scratch=path.parent, names=True) as source:
        for step in steps:
            source, events = STEPS[step](source), STEPS[step](events)
        assert (source.labels, source.n_sequences) == (events.labels, len(events))
        assert source.label_counts.tolist() == events.label_counts.tolist()
        assert [keys.tolist() for keys in source.sequence_keys()] == [list(range(len(events)))]
        held = int((events.lengths > 0).sum())
        assert (source.n_filled, len(source.filled_keys())) == (held, held)
        for most in (1, 2, 3, 100):
            assert sequences(source, most) == list(zip(events.ids, events.to_lists(), strict=True))


def test_models_and_what_is_refused(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(f"{json.dumps(list(each))}\n" for each in ("aabbc", "", "cab", "ccca") * 6))
    events = sm.read_events(path)
    with sm.scan_events(path, memory=1) as source:
        prepared, expected = (each.collapse_repeats().add_start() for each in (source, events))
        one, other = (sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(each) for each in (prepared, expected))
        assert one.influencers_ == other.influencers_
        assert one.log_likelihood(prepared) == other.log_likelihood(expected)
        assert one.confidence(prepared, n=5, seed=1) == other.confidence(expected, n=5, seed=1)
        with pytest.raises(SettingError, match="there is a label 'a' already"):
            source.add_start("a")
        with pytest.raises(SettingError, match="min_count must be a whole number"):
            source.pool_rare(-1)
