"""Exact search on the paper's data sets: what is proved there, and where greedy search misses it.

BSuMM, look-back 5, alpha 0.1, gamma 0.5; all labels, of Stack Overflow three: `python -m benchmarks exact`
has all.
"""

import pytest

import summarkov as sm
from summarkov.engines import MemorySource, StatesRequest, Target

#: Data set, distinct states of all labels together, labels, and what greedy search scores less by label.
KNOWN = [
    ("linkedin", 63, 10, {}),
    (
        "beigebooks",
        113,
        15,
        {
            "activity continue decline": 17.733,
            "growth abroad continue": 14.055,
            "price manufacture goods": 15.571,
        },
    ),
    ("diabetes", 348, 13, {"BGM_up": 6.786}),
    ("stackoverflow", 2152, 20, {"11": 5.204, "6": 2.678}),
]


@pytest.mark.parametrize(("name", "n_states", "n_labels", "missed"), KNOWN, ids=lambda value: str(value)[:13])
def test_labels_are_certified(shared_data, name, n_states, n_labels, missed):
    events = sm.read_events(shared_data / f"{name}.train.jsonl", ends="cut off")
    template = sm.BSuMM(lookback=5, alpha=0.1, gamma=0.5, false_edges=None)
    request = StatesRequest(template.make_summary(), tuple(range(n_labels)), Target((0,), n_labels))
    (table,) = MemorySource(events).count([request])
    assert table.keys.shape == (n_states, n_labels)

    targets = events.labels if n_labels < 20 else (*missed, events.labels[0])  # which take long
    greedy = sm.InfluenceGraph(template, targets=targets).fit(events)
    exact = sm.InfluenceGraph(template.copy(search="exact"), targets=targets).fit(events)
    found = {label: model.trace_.certificate for label, model in exact.models_.items()}
    assert len(found) == len(targets)
    assert all(certificate.is_optimal for certificate in found.values())
    assert all(c.examined + c.pruned == 2**n_labels for c in found.values())
    gaps = {label: c.greedy_gap for label, c in found.items() if c.greedy_gap}
    assert gaps == pytest.approx(missed, abs=1e-3)
    for label, model in greedy.models_.items():
        assert found[label].greedy == model.influencers_
        assert exact.models_[label].score_ == pytest.approx(model.score_ + gaps.get(label, 0.0), rel=1e-12)
        if label not in gaps:
            assert exact.influencers_[label] == model.influencers_
