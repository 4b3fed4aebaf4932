"""Outcomes of sequences: counted by hand, learned, predicted for open cases."""

import io
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import summarkov as sm
from oracle_worth import worth
from strategies import examples
from summarkov.errors import DataError, NotFittedError, SettingError
from summarkov.events.attributes import Attributes


def made(seed=1, n=1500, chance=lambda s: 0.7 if "e1" in s and "e2" in s else 0.1):
    rng = np.random.default_rng(seed)
    sequences = [[f"e{j}" for j in rng.integers(0, 8, rng.integers(3, 15))] for _ in range(n)]
    return sequences, ["declined" if rng.random() < chance(s) else "paid" for s in sequences]


def twin(sequences, hits, influencers):
    """How often each set of influencers that occurred went with the outcome, and how often not."""
    found = {}
    for sequence, hit in zip(sequences, hits, strict=True):
        state = tuple(z for z in influencers if z in sequence)
        found.setdefault(state, [0, 0])[0 if hit else 1] += 1
    return found


def twin_of_beginnings(sequences, hits, influencers):
    """The same at every beginning of every sequence, the empty one and the whole included."""
    return worth(
        [
            ([tuple(z for z in influencers if z in s[:n]) for n in range(len(s) + 1)], hit)
            for s, hit in zip(sequences, hits, strict=True)
        ]
    )


def test_both_of_two_events_are_found_and_counted():
    sequences, y = made()
    model = sm.OutcomeModel(value="declined").fit(sequences, y)
    assert model.influencers_ == ("e1", "e2")
    expected = twin(sequences, [each == "declined" for each in y], ("e1", "e2"))
    assert {row.state: list(row.counts) for row in model.table_} == expected
    assert model.base_rate_ == Counter(y)["declined"] / len(y)
    assert {edge.target for edge in model.influences_} == {"outcome=declined"}
    assert all(edge.effect == "amplifies" for edge in model.influences_)


def test_open_cases_are_told_from_all_beginnings():
    sequences, y = made(n=300)
    model = sm.OutcomeModel(value="declined").fit(sequences, y)
    expected = twin_of_beginnings(sequences, [each == "declined" for each in y], model.influencers_)
    histories = [[], ["e1"], ["e2", "e3"], ["e2", "e1"]]
    for history, p in zip(histories, model.predict_open(histories), strict=True):
        hits, misses = expected[tuple(z for z in model.influencers_ if z in history)]
        assert p == pytest.approx((hits + 0.1) / (hits + misses + 0.2), rel=1e-5)
    for row, p in zip(
        model.table_, model.predict_ended([list(row.state) for row in model.table_]), strict=True
    ):
        assert p == row.probabilities[0]  # at the end, what the table says
    told = model.explain(["e1"])
    assert told.probability == pytest.approx(float(model.predict_open([["e1"]])[0]), rel=1e-12)


@examples(40)
@given(st.lists(st.tuples(st.text("ABC", max_size=6), st.booleans()), min_size=2, max_size=12))
def test_any_cases_are_counted_like_the_twin(cases):
    sequences, hits = [list(text) for text, _ in cases], [hit for _, hit in cases]
    assume(len(set(hits)) == 2 and any(sequences))
    template = sm.BSuMM(lookback=None, required=[z for z in "ABC" if any(z in s for s in sequences)][:2])
    model = sm.OutcomeModel(template, value="yes").fit(sequences, ["yes" if hit else "no" for hit in hits])
    expected = twin(sequences, hits, model.influencers_)
    assert {row.state: list(row.counts) for row in model.table_} == expected
    everywhere = twin_of_beginnings(sequences, hits, model.influencers_)
    seen = {row.state: list(row.counts) for row in model.open_table_}
    assert seen.keys() == everywhere.keys()
    assert all(seen[state] == pytest.approx(everywhere[state], abs=1e-6) for state in seen)


def test_which_came_first_is_told_by_an_ordinal_model():
    def chance(s):
        return 0.7 if "e1" in s and "e2" in s and s.index("e1") < s.index("e2") else 0.1

    sequences, y = made(chance=chance)
    model = sm.OutcomeModel(sm.OSuMM(lookback=None, mask="first"), value="declined").fit(sequences, y)
    assert model.influencers_ == ("e1", "e2")
    shares = {row.state: row.counts[0] / row.n for row in model.table_}
    assert shares["e1", "e2"] > 0.6
    assert max(share for state, share in shares.items() if state != ("e1", "e2")) < 0.2


def test_trees_and_exact_search_take_outcomes():
    sequences, y = made(n=600)
    for template in (sm.TreeSuMM(), sm.BSuMM(lookback=None, search="exact")):
        model = sm.OutcomeModel(template, value="declined").fit(sequences, y)
        assert model.influencers_ == ("e1", "e2")


def test_a_column_is_the_outcome_and_no_influencer():
    rng = np.random.default_rng(0)
    region = np.array(["n", "s"])[rng.integers(0, 2, 800)]
    y = np.array([rng.random() < (0.6 if each == "n" else 0.1) for each in region])
    names = ["region=n", "region=s", "result=(missing)", "result=bad", "result=good"]
    missing = np.arange(800) % 100 == 0
    present = np.column_stack([region == "n", region == "s", missing, y & ~missing, ~y & ~missing])
    attributes = Attributes(names, ["region", "region", "result", "result", "result"], present)
    events = sm.read_events([["a", "b"]] * 800).with_attributes(attributes)
    model = sm.OutcomeModel(outcome="result", value="bad").fit(events)
    assert model.n_left_out_ == 8
    assert [z.partition("=")[0] for z in model.influencers_] == ["region"]
    p = model.predict_open(events)
    assert p[region == "n"].min() > 0.5
    assert p[region == "s"].max() < 0.2
    with pytest.raises(DataError, match=r"learned with attributes of sequences.*attributes=\['region'\]"):
        model.predict_open([["a"]])
    with pytest.raises(DataError, match=r"learned with attributes of sequences.*attributes=\['region'\]"):
        model.explain(["a"])
    why = model.explain(events[int(np.flatnonzero(region == "n")[0])])
    assert why.probability == p[region == "n"][0]
    with pytest.raises(SettingError, match=r"say which value of 'region' is asked about|no sequence has"):
        sm.OutcomeModel(outcome="region", value="x").fit(events)
    with pytest.raises(DataError, match=r"no attribute 'resul'; did you mean 'result'\?"):
        sm.OutcomeModel(outcome="resul").fit(events)


def test_what_a_sequence_reaches_and_ends_with_is_no_part_of_its_past():
    sequences = [["a", "x", "b"], ["a", "b"], ["b", "x"], ["b", "a", "a"], ["x", "a"], ["a"]] * 10
    template = sm.BSuMM(lookback=None, required=["a", "b"])
    reached = sm.OutcomeModel(template, reaches="x", after=1).fit(sequences)
    before = [["a"], ["a"], ["b"], ["b"]] * 10
    expected = twin(before, [True, False, True, False] * 10, ("a", "b"))
    assert {row.state: list(row.counts) for row in reached.table_} == expected
    assert reached.n_left_out_ == 20
    with pytest.raises(SettingError, match="'reaches' needs 'after'"):
        sm.OutcomeModel(reaches="x").fit(sequences)
    sequences = sequences[: 4 * 10]
    ended = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["a"]), ends_with="b").fit(sequences)
    before = [s[:-1] for s in sequences]
    expected = twin(before, [s[-1] == "b" for s in sequences], ended.influencers_)
    assert {row.state: list(row.counts) for row in ended.table_} == expected


def test_how_sure_it_is():
    sequences, y = made(n=400)
    model = sm.OutcomeModel(value="declined").fit(sequences, y)
    sure = model.confidence(sequences, y, n=10)
    assert {(edge.influencer, edge.target) for edge in sure.edges if edge.in_graph} == {
        ("e1", "outcome=declined"),
        ("e2", "outcome=declined"),
    }
    near = sm.OutcomeModel(sm.BSuMM(lookback=2), value="declined").fit(
        sequences, ["declined" if "e5" in s[-2:] else "paid" for s in sequences]
    )
    tested = near.order_test(sequences, ["declined" if "e5" in s[-2:] else "paid" for s in sequences], n=49)
    assert [(edge.influencer, edge.order) for edge in tested.edges] == [("e5", "depends on order")]


@pytest.mark.parametrize(
    ("settings", "y", "error", "message"),
    [
        (
            {},
            None,
            SettingError,
            "say what the outcome is: one of outcome=, reaches=, ends_with=, or y in fit",
        ),
        ({"reaches": "a", "after": 1}, ["x", "y"], SettingError, "say what the outcome is"),
        ({"value": "x", "after": 0}, ["x", "y"], SettingError, "after must be a whole number from 1 on"),
        ({}, ["x"], DataError, "there are 2 sequences but 1 outcomes"),
        ({}, [None, None], DataError, "'outcome' is known of no sequence; give the outcome of some"),
        ({"value": "x"}, ["x", "x"], DataError, "every sequence has the outcome 'outcome=x'"),
        ({"value": "z"}, ["x", "y"], SettingError, "no sequence has outcome=z; there are x, y"),
        (
            {"model": sm.BSuMM("a"), "value": "x"},
            ["x", "y"],
            SettingError,
            "model must be a model without a target",
        ),
        (
            {"model": sm.MarkovChain(), "value": "x"},
            ["x", "y"],
            SettingError,
            "MarkovChain has no influencers",
        ),
    ],
)
def test_what_is_refused(settings, y, error, message):
    with pytest.raises(error, match=message):
        sm.OutcomeModel(**settings).fit([["a", "b"], ["b"]], y)


def test_of_two_values_the_rarer_one_is_meant():
    model = sm.OutcomeModel().fit([["a"], ["b"], ["a", "b"]], ["y", "x", "y"])
    assert (model.name_, model.base_rate_) == ("outcome=x", 1 / 3)


def test_it_must_be_fitted():
    with pytest.raises(NotFittedError, match="call fit"):
        sm.OutcomeModel(value="x").predict_open([["a"]])


def test_what_comes_later_is_summed_over_all_ways_there():
    rng = np.random.default_rng(2)
    events = sm.read_events([[str(x) for x in rng.integers(0, 3, 20)] for _ in range(50)]).add_end()
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1, false_edges=None, gamma=0.1)).fit(events)
    labels = graph.labels_
    expected = 0.0
    for length in (1, 2, 3):
        for way in itertools.product(labels, repeat=length):
            if way[-1] != "2" or "2" in way[:-1] or "(end)" in way[:-1]:
                continue
            p, past = 1.0, ["0"]
            for label in way:
                p *= float(graph.predict_next([past]).probabilities[0, labels.index(label)])
                past = [*past, label]
            expected += p
    found = graph.probability_of("2", ["0"], within=3)
    assert (found.method, found.error) == ("exact", 0.0)
    assert found.probability == pytest.approx(expected, rel=1e-9)
    ever = graph.probability_of("2", ["0"])
    assert found.probability < ever.probability < 1
    drawn = sm.InfluenceGraph(sm.BSuMM(lookback=None)).fit(events).probability_of("2", ["0"], within=3)
    assert drawn.method == "drawn"
    assert 0 < drawn.error < 0.01
    assert drawn.probability == pytest.approx(1 - (1 - 0.32) ** 3, abs=0.08)


def test_without_an_end_a_number_of_events_is_needed():
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([["a", "b", "a", "b"]] * 9)
    with pytest.raises(SettingError, match=r"learn from events\.add_end\(\)"):
        graph.probability_of("a")


def test_beginnings_of_one_length_are_not_told_apart_by_length():
    """Nothing matters but how long a sequence is; whatever happens in long ones seems to matter then."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(2, 30, 1500)
    sequences = [[f"e{j}" for j in rng.integers(0, 6, n)] for n in lengths]
    y = ["yes" if rng.random() < n / 40 else "no" for n in lengths]
    whole = sm.OutcomeModel(value="yes").fit(sequences, y)
    assert whole.influencers_ != ()
    begun = sm.OutcomeModel(value="yes", after=5).fit(sequences, y)
    assert begun.influencers_ == ()
    assert begun.n_left_out_ == int((lengths < 5).sum())


def test_beginnings_of_one_sequence_are_not_taken_for_several():
    """The outcome is a fair coin that nothing tells: 95% intervals of open cases hold 1/2 about as often."""
    rng, held, runs = np.random.default_rng(11), 0, 60
    for _ in range(runs):
        sequences = [["ab"[j] for j in rng.integers(0, 2, rng.integers(20, 61))] for _ in range(30)]
        y = ["bad" if j else "good" for j in rng.integers(0, 2, 30)]
        model = sm.OutcomeModel(sm.BSuMM(lookback=None, candidates=[]), value="bad").fit(sequences, y)
        why = model.explain(["a", "b"])
        assert why.support <= 30
        held += why.interval[0] <= 0.5 <= why.interval[1]
    assert held >= 54
    assert f"(worth {why.support:.3g} sequences)" in str(why)


def test_what_is_reached_is_certain_and_nothing_is_said_of_later_moments():
    sequences = [list("abxa"), list("abcc"), list("baax"), list("bbac")] * 20
    template = sm.BSuMM(lookback=None, required=["a"], max_influencers=1)
    model = sm.OutcomeModel(template, reaches="x", after=2).fit(sequences)
    told = model.predictions([["a", "x"], list("abcx"), ["b"], list("abc")])
    assert told.probabilities[:2, 0].tolist() == [1.0, 1.0]
    assert told.probabilities[2, 0] == pytest.approx(3 / 7, abs=0.001)  # of 7 beginnings without an a
    assert np.isnan(told.probabilities[3, 0])
    why = model.explain(["a", "x", "b"])
    assert (why.probability, why.interval, why.is_certain) == (1.0, (1.0, 1.0), True)
    assert str(why) == "reaches x: 1, it has come about already; its base rate is 0.500"
    assert not model.explain(["a", "b"]).is_certain
    with pytest.raises(
        DataError, match=r"within their first 2 positions, and this one has 3; give less of it"
    ):
        model.explain(["a", "b", "c"])


def test_labels_and_lengths_that_are_not_there_are_told():
    region = np.arange(40) % 2 == 0
    attributes = Attributes(["region=n", "region=s"], ["region"] * 2, np.column_stack([region, ~region]))
    events = sm.read_events([["a", "b"]] * 40).with_attributes(attributes)
    with pytest.raises(DataError, match=r"'zzz'") as refused:
        sm.OutcomeModel(reaches="zzz", after=1).fit(events)
    assert "region" not in str(refused.value)
    for settings, y, why in (
        ({"reaches": "b"}, None, "goes on after 9 positions without having reached 'b' by then"),
        ({"ends_with": "b"}, None, "has 9 positions before its last one"),
        ({"value": "x"}, ["x", "y"] * 20, "with a known outcome has 9 positions"),
    ):
        with pytest.raises(DataError, match=f"no sequence {why}; choose a smaller 'after'"):
            sm.OutcomeModel(after=9, **settings).fit(events, y)
    with pytest.raises(SettingError, match="use a BSuMM, OSuMM, CSuMM or TreeSuMM"):
        sm.OutcomeModel(sm.MarkovChain(), value="x").fit(events, ["x", "y"] * 20)


def aged(n: int = 60) -> sm.EventSequences:
    """Cases of three ages; those below 18 have 'play', and most of those from 65 on 'rest'."""
    rng = np.random.default_rng(3)
    rows = []
    for case in range(n):
        age = (10, 40, 70)[case % 3]
        label = "play" if age == 10 else "rest" if age == 70 and rng.random() < 0.8 else "work"
        rows += [(str(case), "wake", age), (str(case), label, age)]
    cases, events, ages = zip(*rows, strict=True)
    return sm.read_events(
        {"case": cases, "event": events, "age": ages},
        case="case",
        attributes=["age"],
        cuts={"age": [18, 65]},
    )


@pytest.mark.parametrize(("value", "found"), [("below 18", ("play",)), ("18 to <65", ("work",))])
def test_a_range_of_numbers_is_a_value_like_any_other(value, found):
    model = sm.OutcomeModel(outcome="age", value=value).fit(aged())
    assert (model.name_, model.base_rate_, model.n_left_out_) == (f"age={value}", 1 / 3, 0)
    assert set(model.influencers_) & set(found)


def test_ranges_that_are_given_tell_no_effects_of_their_own():
    events = aged()
    assert sm.BSuMM("play", lookback=1, gamma=0.5).fit(events).influences_[0].influencer == "age=below 18"
    given_age = sm.BSuMM("play", lookback=1, gamma=0.5, given=["age"]).fit(events)
    assert {name for name in given_age.influencers_ if name.startswith("age")} == set(events.attributes.names)
    assert [edge.influencer for edge in given_age.influences_] == ["wake"]


def test_files_that_do_not_name_the_other_value_load():
    sequences, given = made(n=300)
    model = sm.OutcomeModel().fit(sequences, given)
    document = {key: value for key, value in model.to_document().items() if key != "checksum"}
    del document["outcome"]["classes"]
    found = sm.load(io.StringIO(json.dumps(document)))
    assert found.classes_.tolist() == [False, True]
    of_the_outcome = model.classes_.tolist().index("declined")
    assert found.predict_proba(sequences)[:, 1].tolist() == (
        model.predict_proba(sequences)[:, of_the_outcome].tolist()
    )


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize("names", [("paid", "declined"), ("a", "b"), (0, 1), (True, False)])
def test_measures_of_scikit_learn_are_about_the_right_value(names):
    """Whichever of the two values is the rarer one, and whichever comes first in sorted order."""
    from sklearn.metrics import log_loss, roc_auc_score
    from sklearn.model_selection import cross_val_score

    sequences, given = made(n=300)
    y = [names[each == "declined"] for each in given]
    model = sm.OutcomeModel().fit(sequences[:200], y[:200])
    assert model.classes_.tolist() == sorted(names)
    p = model.predict_proba(sequences[200:])
    assert roc_auc_score(y[200:], p[:, 1]) > 0.6
    assert log_loss(y[200:], p) == pytest.approx(-model.score(sequences[200:], y[200:]), rel=1e-9)
    events = sm.read_events(sequences)
    own = cross_val_score(model, events, y, cv=3, error_score="raise")
    theirs = cross_val_score(model, events, y, cv=3, scoring="neg_log_loss", error_score="raise")
    np.testing.assert_allclose(own, theirs, rtol=1e-9)
    areas = cross_val_score(model, events, y, cv=3, scoring="roc_auc", error_score="raise")
    assert areas.min() > 0.6


def test_the_value_that_was_learned_is_asked_about_in_new_data():
    """In these the other value is the rarer one."""
    sequences, y = made(n=300)
    model = sm.OutcomeModel().fit(sequences, y)
    rare = [at for at, each in enumerate(y) if f"outcome={each}" == model.name_][:40]
    common = [at for at, each in enumerate(y) if f"outcome={each}" != model.name_][:10]
    some = [sequences[at] for at in rare + common]
    p = model.predict_ended(some)
    expected = (np.log(p[:40]).sum() + np.log(1 - p[40:]).sum()) / 50
    assert model.score(some, [y[at] for at in rare + common]) == pytest.approx(expected, rel=1e-9)
