"""Outcomes of sequences: counted by hand, learned, predicted for open cases; and their files."""

import io
import json
from collections import Counter

import numpy as np
import pytest

import summarkov as sm
from oracle_outcomes import open_cases, share_at
from summarkov.engines import EventSource
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.events.attributes import Attributes
from summarkov.models.outcome import window_words

pytestmark = pytest.mark.cut_off


def made(seed=1, n=1500, chance=lambda s: 0.7 if "e1" in s and "e2" in s else 0.1):
    rng = np.random.default_rng(seed)
    sequences = [[f"e{j}" for j in rng.integers(0, 8, rng.integers(3, 15))] for _ in range(n)]
    return sequences, ["declined" if rng.random() < chance(s) else "paid" for s in sequences]


def test_open_cases_are_told_from_those_that_had_got_as_far():
    sequences, y = made(n=300)
    model = sm.OutcomeModel(value="declined").fit(sequences, y)
    expected = open_cases(
        [
            ([tuple(z for z in model.influencers_ if z in s[:n]) for n in range(len(s) + 1)], hit, 1, None)
            for s, hit in zip(sequences, [each == "declined" for each in y], strict=True)
        ]
    )
    histories = [[], ["e1"], ["e2", "e3"], ["e2", "e1"], ["e2", "e1"] * 6, ["e3"] * 30]
    for history, p in zip(histories, model.predict_open(histories), strict=True):
        hits, misses = share_at(expected, len(history), tuple(z for z in model.influencers_ if z in history))
        assert p == pytest.approx((hits + 0.1) / (hits + misses + 0.2), rel=1e-5)
    ended = model.predict_ended([list(row.state) for row in model.table_])
    assert ended.tolist() == [row.probabilities[0] for row in model.table_]  # of whole cases
    told = model.explain(["e1"])
    assert told.probability == pytest.approx(float(model.predict_open([["e1"]])[0]), rel=1e-12)
    table = {row.state: list(row.counts) for row in model.open_table(1)}
    assert {state: table[state] for state in expected[1]} == expected[1]
    at_one = [sum(counts) for counts in zip(*expected[1].values(), strict=True)]
    assert (told.moment, told.base_rate) == (1, at_one[0] / sum(at_one))


def test_a_column_is_the_outcome_and_no_influencer():
    rng = np.random.default_rng(0)
    region = np.array(["n", "s"])[rng.integers(0, 2, 800)]
    y = np.array([rng.random() < (0.6 if each == "n" else 0.1) for each in region])
    names = ["region=n", "region=s", "result=(missing)", "result=bad", "result=good"]
    missing = np.arange(800) % 100 == 0
    present = np.column_stack([region == "n", region == "s", missing, y & ~missing, ~y & ~missing])
    attributes = Attributes(names, present)
    events = sm.read_events([["a", "b"]] * 800).with_attributes(attributes)
    model = sm.OutcomeModel(outcome="result", value="bad").fit(events)
    assert model.left_out_ == {"no outcome known": 8}
    assert [z.partition("=")[0] for z in model.influencers_] == ["region"]
    p = model.predict_open(events)
    assert p[region == "n"].min() > 0.5
    assert p[region == "s"].max() < 0.2
    for ask, history in ((model.predict_open, [["a"]]), (model.explain, ["a"])):
        with pytest.raises(DataError, match=r"learned with attributes of sequences.*attributes=\['region'\]"):
            ask(history)
    why = model.explain(events[int(np.flatnonzero(region == "n")[0])])
    assert why.probability == p[region == "n"][0]
    with pytest.raises(SettingError, match=r"say which value of 'region' is asked about|no sequence has"):
        sm.OutcomeModel(outcome="region", value="x").fit(events)
    with pytest.raises(DataError, match=r"no attribute 'resul'; did you mean 'result'\?"):
        sm.OutcomeModel(outcome="resul").fit(events)
    with pytest.raises(DataError, match="'zzz'") as refused:
        sm.OutcomeModel(contains="zzz", after=1).fit(events)
    assert "region" not in str(refused.value)


def test_the_end_of_a_case_is_no_event_of_it():
    """How cut-off cases end is not known; if all are, they are taken as they are."""
    sequences, y = made(n=200)
    whole, cut = sm.read_events(sequences), sm.read_events(sequences, ends="cut off")
    for asked, given_y in (({"ends_with": "e3"}, None), ({}, y)):
        model = sm.OutcomeModel(**asked).fit(whole, given_y)
        assert sm.OutcomeModel(**asked).fit(cut, given_y).to_document() == model.to_document()
    some = sm.read_events(sequences).with_ends(np.arange(200) % 4 == 0)
    found = sm.OutcomeModel(ends_with="e3").fit(some)
    assert found.left_out_ == {"cut off before the end": 150}
    assert found.base_rate_ == sum(s[-1] == "e3" for s in sequences[::4]) / 50
    assert sm.OutcomeModel().fit(some, y).left_out_ == {}


@pytest.mark.parametrize(
    ("template", "where"),
    [
        (sm.TreeSuMM(lookbacks=(2,), counts=(), pairs=False, starts=()), 2),
        (sm.BSuMM(lookback=2), 2),
        (sm.CSuMM(lookback=None), 99),
        (sm.OSuMM(lookback=None), 99),
    ],
    ids=["tree", "look-back", "counts", "order"],
)
def test_every_kind_counts_cases_with_an_influencer_in_its_window(template, where):
    """A tree asks about an influencer in some cases only; what is said of it is counted in all."""
    sequences, y = made()
    model = sm.OutcomeModel(template, value="declined").fit(sequences, y)
    assert model.influences_
    for edge in model.influences_:
        there = [edge.influencer in s[-where:] for s in sequences]
        hits = [each == "declined" for each in y]
        assert edge.n_with == sum(there)
        assert edge.hits_with == sum(h for h, t in zip(hits, there, strict=True) if t)
        assert (edge.n_without, edge.hits_without) == (len(y) - edge.n_with, sum(hits) - edge.hits_with)
        words = window_words(model.model_.fitted, edge.influencer)
        assert words == (" within 2 events of the end" if where == 2 else "")


def test_an_influencer_that_is_the_outcome_is_named():
    log = [["ask", "check", "paid out", "done"]] * 97 + [["ask", "check", "done"]] * 3 + [["ask", "no"]] * 95
    y = ["good"] * 100 + ["bad"] * 95
    model = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["paid out"]), value="good").fit(log, y)
    words = (
        "'paid out' nearly determines the outcome 'outcome=good': 97 of 97 cases with it and 3 of 98 without "
        "have it; add it to what is forbidden to leave it out"
    )
    assert words in model.notices_
    opposite = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["paid out"]), value="bad").fit(log, y)
    assert any("'paid out' nearly determines the outcome 'outcome=bad'" in each for each in opposite.notices_)
    weak = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["check"], candidates=["check"]), value="good")
    some = [*y[:60], *["bad"] * 40, *["bad"] * 95]
    assert weak.fit(log, some).notices_ == ()


def test_a_score_at_a_moment_looks_at_what_had_happened_by_then():
    sequences, y = made(n=400)
    model = sm.OutcomeModel(value="declined", after=3).fit(sequences, y)
    p = model.predict_ended(sequences)
    hits = np.array([each == "declined" for each in y])
    assert model.score(sequences, y) == pytest.approx(np.log(np.where(hits, p, 1 - p)).mean(), rel=1e-9)
    assert p.tolist() == model.predict_ended([s[:3] for s in sequences]).tolist()


def test_how_sure_it_is():
    sequences, y = made(n=400)
    model = sm.OutcomeModel(value="declined").fit(sequences, y)
    sure = model.confidence(sequences, y, n=10)
    assert {(edge.influencer, edge.target) for edge in sure.edges} == {
        ("e1", "outcome=declined"),
        ("e2", "outcome=declined"),
    }
    near = sm.OutcomeModel(sm.BSuMM(lookback=2), value="declined").fit(
        sequences, ["declined" if "e5" in s[-2:] else "paid" for s in sequences]
    )
    tested = near.order_test(sequences, ["declined" if "e5" in s[-2:] else "paid" for s in sequences], n=49)
    assert [(edge.influencer, edge.order) for edge in tested.edges] == [("e5", "depends on order")]


ITSELF = sm.BSuMM(lookback=None, required=["outcome=x"])


@pytest.mark.parametrize(
    ("settings", "y", "error", "message"),
    [
        ({}, None, SettingError, "say what the outcome is: one of outcome=, contains=, ends_with=, or y"),
        ({"contains": "a", "after": 1}, ["x", "y"], SettingError, "say what the outcome is"),
        ({"value": "x", "after": 0}, ["x", "y"], SettingError, "after must be a whole number from 1 on"),
        ({}, ["x"], DataError, "there are 2 sequences but 1 outcomes"),
        ({"ends_with": "b", "after": "3"}, None, SettingError, "after 3 is a time, and these events have no"),
        ({}, [None, None], DataError, "'outcome' is known of no sequence; give the outcome of some"),
        ({"value": "x"}, ["x", "x"], DataError, "every case has the outcome 'outcome=x'"),
        ({"value": "z"}, ["x", "y"], SettingError, "no sequence has outcome=z; there are x, y"),
        ({"contains": "b", "after": 9}, None, DataError, "no case is left to learn from: 2 cases reached it"),
        ({"ends_with": "b", "after": 9}, None, DataError, "2 cases ended before event 9; choose a smaller"),
        ({"value": "x", "after": 9}, ["x", "y"], DataError, "2 cases ended before event 9; choose a smaller"),
        (
            {"model": sm.BSuMM("a"), "value": "x"},
            ["x", "y"],
            SettingError,
            "must be a model without a target",
        ),
        (
            {"model": sm.MarkovChain(), "value": "x"},
            ["x", "y"],
            SettingError,
            "MarkovChain has no influencers",
        ),
        ({"model": ITSELF, "value": "x"}, ["x", "y"], SettingError, "'outcome=x' is both required and forb"),
    ],
)
def test_what_is_refused(settings, y, error, message):
    with pytest.raises(error, match=message):
        sm.OutcomeModel(**settings).fit([["a", "b"], ["b"]], y)


def test_what_is_reached_is_marked_and_later_moments_are_asked_at_their_own():
    sequences = [list("abxa"), list("abcc"), list("baax"), list("bbac")] * 20
    template = sm.BSuMM(lookback=None, required=["a"], max_influencers=1)
    model = sm.OutcomeModel(template, contains="x", after=2).fit(sequences)
    found = model.predictions([["a", "x"], list("abcx"), ["b"], list("abc"), list("abccc")])
    assert found.already_reached.tolist() == [True, True, False, False, False]
    assert model.classes_.tolist() == [False, True]
    assert found.probabilities[:2, 0].tolist() == [1.0, 1.0]
    assert found.after.tolist() == [2, 4, 1, 3, 4]
    assert found.probabilities[2, 0] == pytest.approx(0.5, abs=0.001)  # baax and bbac
    assert found.probabilities[3, 0] == pytest.approx(1 / 3, abs=0.002)  # after three, of abcc, baax and bbac
    assert found.probabilities[4, 0] < 0.01
    assert "already reached" in str(found.summary())
    assert "100" not in str(found.summary())
    why = model.explain(["a", "x", "b"])
    assert (why.probability, why.interval, why.is_certain) == (1.0, (1.0, 1.0), True)
    assert str(why) == "contains x: already reached"
    assert not model.explain(["a", "b"]).is_certain


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize("names", [("paid", "declined"), ("a", "b"), (True, False)])
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
    """Of two values the rarer one is meant; in the new data it is the other one."""
    sequences, y = made(n=300)
    model = sm.OutcomeModel().fit(sequences, y)
    assert (model.name_, model.base_rate_) == ("outcome=declined", Counter(y)["declined"] / 300)
    rare = [at for at, each in enumerate(y) if f"outcome={each}" == model.name_][:40]
    common = [at for at, each in enumerate(y) if f"outcome={each}" != model.name_][:10]
    some = [sequences[at] for at in rare + common]
    p = model.predict_ended(some)
    expected = (np.log(p[:40]).sum() + np.log(1 - p[40:]).sum()) / 50
    assert model.score(some, [y[at] for at in rare + common]) == pytest.approx(expected, rel=1e-9)


def test_a_state_of_few_cases_says_that_moments_around_it_are_counted():
    """x is the third event of 30 cases and the fifth of one: after two events no case is in this state."""
    cases = [list("abxcd")] * 30 + [list("abcdx")] + [list("abcde")] * 30
    template = sm.BSuMM(lookback=None, required=["x"], candidates=["x"])
    model = sm.OutcomeModel(template, ends_with="d").fit(cases)
    third, second = model.explain(list("abx")), model.explain(list("ax"))
    assert (third.support, third.is_nearby) == (30, False)
    assert "(30 cases)" in str(third)
    assert second.is_nearby  # in no case x is the second event
    assert "cases at the moments around this one)" in str(second)
    few, many = (str(model.predictions([case]).summary()) for case in (list("ax"), list("abx")))
    assert "1 case: fewer than 20 were in that state then, so moments around it count." in few
    assert "around" not in many


def test_a_list_of_outcomes_needs_events_in_an_order():
    """On a cluster every partition took the first outcomes of the list."""

    class Cluster(EventSource):
        labels, n_sequences = ("a", "b"), 4

        def map(self, *_):
            raise AssertionError("nothing is counted")

    with pytest.raises(SettingError, match="a Cluster has none; name the column of the outcome"):
        sm.OutcomeModel().fit(Cluster(), ["x", "y", "x", "y"])


def test_the_score_weighs_sequences():
    sequences, y = made(n=60)
    model, weights = sm.OutcomeModel(value="declined").fit(sequences, y), np.arange(60.0)
    p = model.predict_proba(sequences)[np.arange(60), [list(model.classes_).index(each) for each in y]]
    expected = np.average(np.log(p), weights=weights)
    assert model.score(sequences, y, sample_weight=weights) == pytest.approx(expected, rel=1e-9)
    weighed = sm.read_events(sequences).with_weights(weights)
    assert model.score(weighed, y) == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def cases():
    return made(5, 300, lambda s: 0.8 if "e1" in s else 0.1)


def again(model):
    file = io.StringIO()
    model.save(file)
    file.seek(0)
    return sm.load(file)


@pytest.mark.parametrize(
    "template",
    [
        None,
        sm.BSuMM(lookback=3, delay=1, search="exact"),
        sm.OSuMM(lookback=None, mask="first"),
        sm.CSuMM(lookback=None, cap=3, forbidden=["e2"]),
        sm.TreeSuMM(candidates=["e1", "e3"]),
    ],
    ids=["default", "exact", "order", "counts", "tree"],
)
def test_what_is_read_is_what_was_saved(cases, template):
    sequences, y = cases
    model = sm.OutcomeModel(template, value="declined").fit(sequences, y)
    read = again(model)
    assert read.to_document() == model.to_document()
    assert read.name_ == "outcome=declined"
    assert read.influences_ == model.influences_
    assert read.table_.to_frame("pyarrow") == model.table_.to_frame("pyarrow")
    for after in (None, 0, 3):
        assert read.open_table(after).to_frame("pyarrow") == model.open_table(after).to_frame("pyarrow")
    assert np.array_equal(read.predict_open(sequences), model.predict_open(sequences))
    assert np.array_equal(read.predict_ended(sequences), model.predict_ended(sequences))
    assert read.explain(["e1", "e2"]) == model.explain(["e1", "e2"])


def test_settings_are_those_of_the_template(cases):
    sequences, y = cases
    template = sm.CSuMM(lookback=4, forbidden=["e2"])
    read = again(sm.OutcomeModel(template, value="declined").fit(sequences, y))
    assert repr(read.model) == "CSuMM(forbidden=('e2',), lookback=4)"
    told = again(sm.OutcomeModel(ends_with="e1", after=5).fit(sequences))
    n = sum(len(s) < 5 for s in sequences)
    assert (told.ends_with, told.after, told.left_out_) == ("e1", 5, {"ended before event 5": n})
    told = again(sm.OutcomeModel(contains="e1").fit(sequences))
    assert (told.contains, told.model.forbidden, told.left_out_) == ("e1", ("e1",), {})
    assert told.predictions([["e1"], ["e2"]]).already_reached.tolist() == [True, False]


def test_a_moment_in_time_comes_back():
    rows = {"case": [i // 3 for i in range(300)], "event": list("abc") * 100, "time": [*range(300)]}
    events = sm.read_events(rows, case="case", event="event", order_by="time", times=True)
    y = ["x" if i % 4 else "y" for i in range(100)]
    read = again(sm.OutcomeModel(value="x", after="2 units").fit(events, y))
    assert (read.after, read.left_out_, read.table_[0].n) == ("2", {}, 100)


def test_ticks_attributes_times_and_weights_come_back():
    events = sm.read_events([[["a", "b"], ["c"]], [["a"], ["b"]], [["c"]]] * 40)
    region = np.arange(120) % 2 == 0
    events = events.with_attributes(Attributes(["r=n", "r=s"], np.column_stack([region, ~region])))
    y = ["x" if north else "y" for north in region]
    weights = np.linspace(0.5, 1.5, 120)
    model = sm.OutcomeModel(value="x").fit(events, y, sample_weight=weights)
    read = again(model)
    assert read.influencers_ == model.influencers_ == ("r=n",)
    assert np.array_equal(read.predict_open(events), model.predict_open(events))
    assert read.base_rate_ == pytest.approx(weights[region].sum() / weights.sum(), abs=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["outcome"].update(name="outcome=declined: no"), "and not its opposite"),
        (lambda d: d["outcome"]["settings"].update(after=0), "a whole number >= 1"),
        (lambda d: d["open_cases"]["after"].reverse(), "moments 'after' in order, each once, from 0 on"),
        (lambda d: d["open_cases"]["states"][0]["counts"][0].pop(), "numbers of shape 2 by 15 by 2"),
        (lambda d: d["open_cases"].update(after=[*range(99)]), "numbers of shape 2 by 99 by 2"),
        (lambda d: d["data"].pop("outcomes"), "numbers of shape 2 by 3"),
        (lambda d: d["data"].update(outcomes=["e0"]), "two 'outcomes' or none"),
        (lambda d: d["data"].update(outcomes=["e0", "e1"]), "expected the target e0, e1"),
        (lambda d: d.update(left_out={"no outcome known": -1}), "a whole number >= 0"),
        (lambda d: d.update(overall_rate=7), "a number <= 1"),
        (lambda d: d.update(kind="BSuMM", checksum="sha256:0"), "checksum does not fit"),
    ],
)
def test_files_that_do_not_hold_together_are_refused(cases, tmp_path, change, message):
    document = json.loads(json.dumps(sm.OutcomeModel(value="declined").fit(*cases).to_document()))
    change(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match=message):
        sm.load(tmp_path / "model.json")
