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
        assert source == events
        assert source.label_counts.tolist() == events.label_counts.tolist()
        assert source.sequence_keys().tolist() == list(range(len(events)))


def test_models_and_what_is_refused(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(f"{json.dumps(list(each))}\n" for each in ("aabbc", "", "cab", "ccca") * 6))
    events = sm.read_events(path)
    with sm.scan_events(path, memory=1) as source:
        prepared, expected = (each.collapse_repeats().add_start() for each in (source, events))
        one, other = (sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(each) for each in (prepared, expected))
        assert one.influencers_ == other.influencers_
        assert one.log_likelihood(prepared) == other.log_likelihood(expected)
        assert one.confidence(prepared, n=5, random_state=1) == other.confidence(
            expected, n=5, random_state=1
        )
        with pytest.raises(SettingError, match="there is a label 'a' already"):
            source.add_start("a")
        with pytest.raises(SettingError, match="min_count must be a whole number"):
            source.pool_rare(-1)
