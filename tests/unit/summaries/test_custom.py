"""The user's own summary."""

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


class Presence:
    """The binary summary, copied: which of the influencers occurred among the last three events."""

    lookback = 3

    def state(self, history, influencers):
        return tuple(z for z in influencers if z in history)

    def n_states(self, n_influencers):
        return 2**n_influencers


class WholePast(Presence):
    lookback = None


class JustBefore:
    """A summary of ten lines: the last label, if it is an influencer."""

    lookback = 1

    def state(self, history, influencers):
        return history[-1] if history and history[-1] in influencers else None

    def n_states(self, n_influencers):
        return n_influencers + 1


@pytest.fixture(scope="module")
def events():
    rules = {
        "A": (("B", "C"), {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}),
        "B": (("B", "C"), {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}),
        "C": 0.3,
        "D": 0.3,
    }
    return sm.Dynamics(rules, lookback=3).simulate(150, 8, random_state=2)


def test_ten_lines():
    model = sm.SuMM("B", summary=JustBefore()).fit([["A", "B", "C", "A", "B"]] * 10)
    assert model.influencers_ == ("A",)
    assert [(row.state, row.words, row.counts) for row in model.table_] == [
        ("A", "A", (20, 0)),
        (None, "None", (0, 30)),
    ]
    assert model.explain(["C", "A"]).probability == pytest.approx(20.1 / 20.2, rel=1e-14)
    assert model.influences_ == ()  # a state of one's own cannot be taken apart into labels


def test_a_graph_with_an_own_summary(events):
    own = sm.InfluenceGraph(sm.SuMM(summary=Presence())).fit(events)
    ours = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events)
    assert own.influencers_ == ours.influencers_
    assert own.predict_proba(events) == pytest.approx(ours.predict_proba(events), rel=1e-12)
    assert own.simulate(3, 5, random_state=1) == ours.simulate(3, 5, random_state=1)


@pytest.mark.parametrize("summary", [Presence(), WholePast(), JustBefore()], ids=lambda s: type(s).__name__)
def test_histories_and_threads(events, summary):
    model = sm.SuMM("A", summary=summary, gamma=0.1, false_edges=None).fit(events)
    batch = model.predict_proba(events[:4])
    histories = [sequence[:n] for sequence in events[:4] for n in range(len(sequence))]
    assert np.array_equal(model.predict_next(histories).probabilities, batch)
    threads = sm.SuMM("A", summary=summary, gamma=0.1, false_edges=None, n_jobs=3).fit(events)
    assert threads.score_ == model.score_
    assert threads.trace_ == model.trace_


def test_an_unknown_label_is_none_in_the_history():
    seen = []

    class Spy(JustBefore):
        def state(self, history, influencers):
            seen.append(tuple(history))
            return super().state(history, influencers)

    model = sm.SuMM("B", summary=Spy()).fit([["A", "B"]] * 3)
    seen.clear()
    model.predict_proba([["A", "?", "B"]], unknown="ignore")
    assert seen == [(), ("A",), (None,)]


def test_the_history_is_no_longer_than_the_lookback():
    lengths = set()

    class Spy(Presence):
        def state(self, history, influencers):
            lengths.add(len(history))
            return super().state(history, influencers)

    sm.SuMM("A", summary=Spy()).fit([list("ABABABAB")])
    assert lengths == {0, 1, 2, 3}


def test_a_state_that_cannot_be_hashed():
    class Lists(JustBefore):
        def state(self, history, influencers):
            return list(history)

    with pytest.raises(SettingError, match="a summary's states must be hashable; return a tuple instead"):
        sm.SuMM("A", summary=Lists()).fit([["A", "B"]])


def test_a_summary_without_n_states():
    class Half:
        def state(self, history, influencers):
            return 0

    with pytest.raises(SettingError, match=r"summary must have methods .* Half has no n_states"):
        sm.SuMM("A", summary=Half()).fit([["A", "B"]])


def test_an_error_of_the_users_own_is_not_hidden():
    class Broken(JustBefore):
        def state(self, history, influencers):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sm.SuMM("A", summary=Broken()).fit([["A", "B"]])


def test_a_notebook_shows_a_fitted_one():
    model = sm.SuMM("B", summary=JustBefore()).fit([["A", "B", "C", "A", "B"]] * 10)
    assert model.summary is not None  # the user's own object, not the method of other models
    assert "SuMM of B; influencers: A" in model._repr_html_()
