"""Context trees as people meet them: settings, tables, files, commands."""

import json

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, StoreError
from summarkov.search.trees import Tree

pytestmark = pytest.mark.cut_off

#: C follows B only if A came before that.
EVENTS = [["A", "B", "C", "D"], ["D", "B", "D", "D"], ["D", "D", "A", "B", "C"], []] * 15


def test_a_context_is_as_long_as_it_is_worth():
    chain = sm.VariableOrderChain("C", max_order=3).fit(EVENTS)
    found = {row.words: (row.n, row.counts[0]) for row in chain.table_ if row.state[-1:] == ("B",)}
    assert found == {"B": (45, 30), "A B": (30, 30), "D B": (15, 0)}
    assert chain.influencers_ == ("A", "B", "D")
    assert chain.influences_ == ()
    assert chain.trace_ == ()
    assert chain.table_[0].state == ()
    assert (chain.table_[0].words, chain.table_[0].n) == ("any history", 195)
    assert chain.base_rates_ == pytest.approx((30 / 195, 165 / 195), rel=1e-12)
    only = sm.VariableOrderChain("C", max_order=3, gamma=4).fit(EVENTS)
    assert [row.words for row in only.table_] == ["any history", "B", "A B", "D B"]
    assert only.influencers_ == ("A", "B", "D")
    assert only.explain(["C", "C", "B"]).words == "B"


def test_a_history_that_was_never_seen_has_its_longest_suffix():
    model = sm.VariableOrderChain("C", max_order=3).fit(EVENTS)
    after = model.explain(["C", "C", "C", "A", "B"])
    assert (after.words, after.support) == ("A B", 30)
    assert after.probability > 0.9
    nothing = model.explain(["C", "A", "?"], unknown="ignore")
    assert (nothing.words, nothing.support) == ("any history", 195)
    assert nothing.probability == model.table_[0].probabilities[0]


def test_contexts_start_where_sequences_do():
    model = sm.VariableOrderChain("A", max_order=2, gamma=0).fit([["A", "B"], ["A"]])
    assert [(row.words, row.state, row.n) for row in model.table_] == [
        ("any history", (), 3),
        ("start", (), 2),
        ("A", ("A",), 1),
        ("start A", ("A",), 1),
    ]


def test_a_leaf_can_make_up_for_its_parent():
    tree = Tree(np.array([-1, 0, 1, 1, 0]))
    assert tree.prune(np.array([0, -2, 3, -1, -1])).tolist() == [True, True, True, False, False]
    assert tree.prune(np.array([0, -4, 3, -1, 1])).tolist() == [True, False, False, False, True]
    assert tree.prune(np.zeros(5)).all()  # ties are kept
    assert tree.prune(np.array([0, -1e-9, 0, 0, -1.1e-9])).tolist() == [True, True, True, True, False]


def test_settings_that_make_no_sense():
    with pytest.raises(SettingError, match="max_order must be a whole number from 0 to 1000, not -1"):
        sm.VariableOrderChain("C", max_order=-1).fit(EVENTS)
    with pytest.raises(SettingError, match="gamma must be a number from 0 on, not -1"):
        sm.VariableOrderChain("C", gamma=-1).fit(EVENTS)


@pytest.mark.parametrize("weights", [None, [0, 0.5, 1.5, 2] * 15], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "model",
    [
        sm.VariableOrderChain("C", max_order=np.int32(3), gamma=np.float64(0.5)),
        sm.VariableOrderChain("C", gamma=0, prior="base-rate", alpha=2.0),
        sm.VariableOrderChain(("A", "B", "C", "D"), max_order=2, gamma=0.1),
    ],
    ids=["pruned", "whole tree", "all labels"],
)
def test_round_trip(model, weights, tmp_path):
    model.fit(sm.read_events(EVENTS), sample_weight=weights)
    model.save(tmp_path / "a.json")
    loaded = sm.load(tmp_path / "a.json")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.influencers_ == model.influencers_
    assert (loaded.score_, loaded.log_likelihood_) == (model.score_, model.log_likelihood_)
    assert list(loaded.table_) == list(model.table_)
    assert np.array_equal(loaded.predict_proba(EVENTS), model.predict_proba(EVENTS))
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_file_can_be_read():
    document = sm.VariableOrderChain("C", max_order=3, gamma=4).fit(EVENTS).to_document()
    document = json.loads(json.dumps(document))
    assert document["settings"] == {"alpha": 0.1, "prior": "uniform", "max_order": 3, "gamma": 4}
    (target,) = document["targets"]
    assert target["influencers"] == ["A", "B", "D"]
    assert [(row["state"], row["counts"]) for row in target["states"]] == [
        ([], [30, 165]),
        (["B"], [30, 15]),
        (["B", "A"], [30, 0]),  # the most recent first
        (["B", "D"], [0, 15]),
    ]
    assert target["states"][1]["probabilities"] == pytest.approx([30.1 / 45.2, 15.1 / 45.2], rel=1e-12)


def swap(rows, i, j):
    rows[i], rows[j] = rows[j], rows[i]


DAMAGE = {
    "no root": (lambda rows: rows.pop(0), "expected the empty context first"),
    "no parent": (lambda rows: rows.pop(1), "a context of which the next shorter one is there too"),
    "order": (lambda rows: swap(rows, 1, 2), "states in canonical order, each once"),
    "twice": (lambda rows: rows.insert(1, dict(rows[1])), "states in canonical order, each once"),
    "a text": (lambda rows: rows[1].update(state="B"), "labels of 'data', or null before"),
    "too long": (lambda rows: rows[2].update(state=["B", "A", "A", "A"]), "at most 3 labels"),
    "early start": (lambda rows: rows[2].update(state=["B", None, "A"]), "the last null"),
    "never seen": (lambda rows: rows[2].update(counts=[0, 0]), "counts of each that was seen"),
    "too many": (lambda rows: rows[2].update(counts=[30, 16]), "at least those of longer contexts"),
    "fewer at the root": (lambda rows: rows[0].update(counts=[30, 100]), "do not add up to those"),
    "beyond integers": (  # which would add up to less than 0
        lambda rows: [row.update(counts=[0, 2**62]) for row in rows[2:]],
        "at least those of longer contexts",
    ),
    "negative": (lambda rows: rows[2].update(counts=[-1, 0]), "a whole number >= 0"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_the_contexts_is_refused(damage, tmp_path):
    model = sm.VariableOrderChain("C", max_order=3, gamma=4).fit(EVENTS)
    document = json.loads(json.dumps(model.to_document()))
    change, sentence = DAMAGE[damage]
    change(document["targets"][0]["states"])
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match=r"m\.json\.targets\[0\]") as caught:
        sm.load(tmp_path / "m.json")
    assert sentence in str(caught.value)
