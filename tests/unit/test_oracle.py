"""The oracle itself, against worked examples and scores computed by hand."""

import math

import pytest

import oracle


def test_history_and_binary_summary_of_the_worked_example():
    sequence = ["A", "A", "C", "B"]  # position 4 counted from 1 is 3 counted from 0
    past = oracle.history(sequence, 3)
    assert past == ["A", "A", "C"]
    assert oracle.binary_state(past, ("A", "B", "C"), None) == (1, 0, 1)
    assert oracle.binary_state(past, ("A", "B", "C"), 1) == (0, 0, 1)


@pytest.mark.parametrize("lookback", [1, 2, 3, 7, None])
@pytest.mark.parametrize("delay", [0, 1, 2, 3])
def test_the_window_is_its_inequality(lookback, delay):
    for i in range(6):
        expected = [j for j in range(10) if delay < i - j and (lookback is None or i - j <= lookback)]
        assert list(oracle.window(i, lookback, delay)) == expected


def test_ordinal_state_of_the_worked_example():
    past = ["A", "B", "A"]  # A,B,A,C at C: only the later A counts
    assert oracle.ordinal_order(past, ("A", "B"), 3) == ["B", "A"]
    assert oracle.ordinal_state(past, ("A", "B"), 3) == (2, 1)
    assert oracle.ordinal_order(past, ("A", "B"), 3, mask="first") == ["A", "B"]
    assert oracle.ordinal_state(past, ("A", "B"), 3, mask="first") == (1, 2)
    # Look-back 2 sees B,A only: the first occurrence in the window, not in the sequence, is what counts.
    assert oracle.ordinal_order(past, ("A", "B"), 2, mask="first") == ["B", "A"]
    # Delay 1 hides the later A.
    assert oracle.ordinal_order(past, ("A", "B"), 3, delay=1) == ["A", "B"]
    assert oracle.ordinal_state(past, ("A", "B"), 1) == (1, 0)


def test_each_label_may_have_its_own_lookback():
    past = ["A", "B", "A", "C", "B"]  # lags: A 5 and 3, B 4 and 1, C 2
    assert oracle.binary_state(past, ("A", "B", "C"), {"A": 2, "B": 1, "C": None}) == (0, 1, 1)
    assert oracle.binary_state(past, ("A", "B", "C"), {"A": 3, "B": 3, "C": 2}, delay=1) == (1, 0, 1)
    assert oracle.count_state(past, ("A", "B", "C"), {"A": 5, "B": 3, "C": 1}) == (2, 1, 0)


def test_counts_are_capped():
    past = ["A", "A", "B", "A", "A"]
    assert oracle.count_state(past, ("A", "B", "C"), None, cap=3) == (3, 1, 0)
    assert oracle.count_state(past, ("A", "B", "C"), 3, cap=3) == (2, 1, 0)
    assert oracle.count_state(past, ("A", "B", "C"), 5, cap=1) == oracle.binary_state(
        past, ("A", "B", "C"), 5
    )


def test_chain_contexts_are_shorter_at_the_start():
    states = [oracle.chain_state(oracle.history(["A", "B", "C", "A"], i), 2) for i in range(4)]
    assert states == [(), ("A",), ("B", "A"), ("C", "B")]
    assert oracle.chain_state(["A", "B"], 0) == ()


def test_closed_formulas():
    assert [oracle.n_states("binary", n) for n in range(4)] == [1, 2, 4, 8]
    assert [oracle.n_states("ordinal", n) for n in range(5)] == [1, 2, 5, 16, 65]
    assert oracle.n_states("count", 2, cap=2) == 9
    assert oracle.n_states("count", 2, cap=3) == 16
    assert oracle.n_states("chain", n_labels=3, order=2) == 1 + 3 + 9
    assert oracle.n_states("chain", n_labels=3, order=0) == 1


def test_reachable_states_of_short_lookbacks():
    # One window position: nothing, or one of the three.
    assert oracle.n_reachable("binary", [1, 1, 1]) == 4
    assert oracle.n_reachable("ordinal", [1, 1, 1]) == 4
    # Two: at most two of the three present, 1 + 3 + 3; in order, 1 + 3 + 3*2.
    assert oracle.n_reachable("binary", [2, 2, 2]) == 7
    assert oracle.n_reachable("ordinal", [2, 2, 2]) == 10
    # The delay takes one position of the window away.
    assert oracle.n_reachable("binary", [3, 3, 3], delay=1) == 7
    # Counts (a, b) up to 2 with a + b <= 3: all nine but (2, 2).
    assert oracle.n_reachable("count", [3, 3], cap=2) == 8
    # Look-backs 1 and 2: each alone, both (the second one at lag 2), none.
    assert oracle.n_reachable("binary", [1, 2]) == 4
    # Look-backs 1, 1 and None: the first two never together, 3 * 2.
    assert oracle.n_reachable("binary", [1, 1, None]) == 6
    with pytest.raises(ValueError, match="one look-back"):
        oracle.n_reachable("ordinal", [1, 2])


def test_counts_by_hand():
    def state(past):
        return oracle.binary_state(past, ("A", "B"), 2)

    # A B A C: states at the four positions (nothing), (A), (A,B), (A,B).   C A: (nothing), (nothing).
    sequences = [["A", "B", "A", "C"], ["C", "A"]]
    assert oracle.counts(sequences, ("A",), state) == {(0, 0): [2, 1], (1, 0): [0, 1], (1, 1): [1, 1]}
    weighted = oracle.counts(sequences, ("A",), state, weights=[3, 10])
    assert weighted == {(0, 0): [13, 10], (1, 0): [0, 3], (1, 1): [3, 3]}
    assert oracle.counts(sequences, ("A",), state, weights=[0, 2]) == {(0, 0): [2, 2]}


def test_there_is_a_residual_outcome_unless_the_target_is_the_whole_vocabulary():
    def everything(past):
        return "any"

    assert oracle.counts([["A", "B", "C"]], ("A", "B"), everything) == {"any": [1, 1, 1]}
    assert oracle.counts([["A", "B", "A"]], ("A", "B"), everything) == {"any": [2, 1]}
    # A vocabulary wider than the data, as of a slice, has a residual that was never seen.
    assert oracle.counts([["A", "B", "A"]], ("A", "B"), everything, labels="ABC") == {"any": [2, 1, 0]}


def test_estimates_by_hand():
    table = {"s": [8, 2], "t": [1, 9]}
    # (1+8)/(2+10), (1+2)/(2+10); (1+1)/12, (1+9)/12
    estimates = oracle.theta(table, alpha=1.0)
    assert estimates["s"] == pytest.approx([9 / 12, 3 / 12], rel=1e-12)
    assert estimates["t"] == pytest.approx([2 / 12, 10 / 12], rel=1e-12)
    # Totals N(x) = 9, 11 and N = 20: centre (9.5/21, 11.5/21), total weight 2: pseudo-counts 19/21, 23/21.
    assert oracle.pseudo_counts(table, 1.0, "base-rate") == pytest.approx([19 / 21, 23 / 21], rel=1e-12)
    # (19/21 + 8) / 12 = 187/252, (23/21 + 2) / 12 = 65/252
    estimates = oracle.theta(table, 1.0, "base-rate")
    assert estimates["s"] == pytest.approx([187 / 252, 65 / 252], rel=1e-12)


def test_predictions_are_a_row_a_position_and_unseen_states_get_the_prior_mean():
    def state(past):
        return oracle.binary_state(past, ("A",), 1)

    # The state (1,) was not seen in training.
    table = {(0,): [3, 0]}
    rows = oracle.predict([["A", "B"], ["B"]], ("A",), state, table, alpha=1.0)
    assert rows == [pytest.approx([4 / 5, 1 / 5]), [0.5, 0.5], pytest.approx([4 / 5, 1 / 5])]
    # Base rate: (3 + 1/2) / (3 + 1) = 7/8.
    rows = oracle.predict([["A", "B"]], ("A",), state, table, alpha=1.0, prior="base-rate")
    assert rows[1] == [7 / 8, 1 / 8]


TABLE = {"s": [8, 2], "t": [1, 9]}
LL = 8 * math.log(9 / 12) + 2 * math.log(3 / 12) + math.log(2 / 12) + 9 * math.log(10 / 12)


def test_log_likelihood_of_the_worked_example():
    # 8 log(9/12) + 2 log(3/12) + 1 log(2/12) + 9 log(10/12) = -2.3015 - 2.7726 - 1.7918 - 1.6409
    assert round(oracle.log_likelihood(TABLE, alpha=1.0), 3) == -8.507
    assert oracle.log_likelihood(TABLE, alpha=1.0) == pytest.approx(LL, rel=1e-12)


def test_scores_by_hand():
    # |P| = (2 - 1) * 2 = 2 and N = 20.
    # BIC = -8.5067 - 1 * 2 * log(20)/2 = -8.5067 - 2.9957 = -11.5024; with gamma 0.5: -8.5067 - 1.4979
    assert oracle.score("bic", TABLE, 2, 20, alpha=1.0) == pytest.approx(LL - math.log(20), rel=1e-12)
    assert oracle.score("bic", TABLE, 2, 20, alpha=1.0) == pytest.approx(-11.5024, abs=1e-3)
    assert oracle.score("bic", TABLE, 2, 20, 1.0, gamma=0.5) == pytest.approx(
        LL - math.log(20) / 2, rel=1e-12
    )
    # AIC = -8.5067 - 2, whatever gamma is
    assert oracle.score("aic", TABLE, 2, 20, alpha=1.0, gamma=0.1) == pytest.approx(LL - 2, rel=1e-12)
    # Extended BIC, 2 of 5 candidates, C(5, 2) = 10: BIC - 1 * log(10); xi = 0.5 takes half of log(10), and
    # leaves gamma alone.
    extended = oracle.score("extended_bic", TABLE, 2, 20, 1.0, n_candidates=5, n_influencers=2)
    assert extended == pytest.approx(LL - math.log(20) - math.log(10), rel=1e-12)
    extended = oracle.score("extended_bic", TABLE, 2, 20, 1.0, xi=0.5, n_candidates=5, n_influencers=2)
    assert extended == pytest.approx(LL - math.log(20) - math.log(10) / 2, rel=1e-12)


def test_the_penalty_counts_all_states_of_the_formula_and_all_free_outcomes():
    # Three outcomes, four states of which one was seen: |P| = (3 - 1) * 4 = 8.
    table = {"s": [4, 3, 2]}
    assert oracle.n_parameters(table, 4) == 8
    difference = oracle.score("aic", table, 4, 9, 1.0) - oracle.log_likelihood(table, 1.0)
    assert difference == pytest.approx(-8, rel=1e-12)


def test_marginal_likelihood_by_hand():
    # alpha = 1, two outcomes: each state is the beta integral a! b! / (a + b + 1)!
    # 8! 2! / 11! = 2 / (9 * 10 * 11) = 1/495 and 1! 9! / 11! = 1 / (10 * 11) = 1/110
    assert oracle.score("marginal", TABLE, alpha=1.0) == pytest.approx(-math.log(495 * 110), rel=1e-12)


@pytest.mark.parametrize("prior", ["uniform", "base-rate"])
def test_marginal_likelihood_is_a_product_of_predictions(prior):
    # One event at a time: outcome x after n(x) earlier ones of n has probability (a(x) + n(x)) / (A + n).
    table = {"s": [3, 1, 0], "t": [0, 2, 2]}
    pseudo = oracle.pseudo_counts(table, 0.5, prior)
    expected = 0.0
    for row in table.values():
        seen = [0, 0, 0]
        for x in [x for x, n in enumerate(row) for _ in range(n)]:
            expected += math.log((pseudo[x] + seen[x]) / (sum(pseudo) + sum(seen)))
            seen[x] += 1
    assert oracle.marginal(table, 0.5, prior) == pytest.approx(expected, rel=1e-12)


def from_table(**scores):
    """A score function from a table: keys are the labels run together, "empty" the empty set."""
    return lambda labels: scores["".join(labels) or "empty"]


def additive(**gains):
    return lambda labels: float(sum(gains[label] for label in labels))


def test_ties_are_relative_above_one_and_absolute_below():
    assert oracle.ties(1e6, 1e6 + 9e-4)
    assert not oracle.ties(1e6, 1e6 + 2e-3)
    assert oracle.ties(0.0, 9e-10)
    assert not oracle.ties(0.0, 2e-9)
    assert oracle.improves(-1e9, -math.inf)
    assert not oracle.improves(-math.inf, -math.inf)


def test_greedy_adds_the_best_label_of_each_round_while_that_improves():
    found = oracle.greedy("ABC", additive(A=1, B=3, C=-1))
    assert found == (("A", "B"), 4.0, [("add", "B", 3.0), ("add", "A", 4.0)])


def test_ties_go_to_the_first_label_and_are_not_improvements():
    # B is better by less than a tie: A is added, and AB does not improve on it.
    scores = from_table(empty=0.0, A=1.0, B=1.0 + 1e-10, AB=1.0 + 2e-10)
    assert oracle.greedy("BA", scores) == (("A",), 1.0, [("add", "A", 1.0)])


def test_required_labels_are_there_from_the_start_and_stay():
    # A is required though it costs 5; B is added in the first round though it costs 1, then removed.
    found = oracle.greedy("ABC", additive(A=-5, B=-1, C=-2), required=("A",))
    assert found == (("A",), -5.0, [("add", "B", -6.0), ("remove", "B", -5.0)])
    found = oracle.sweep("ABC", additive(A=-5, B=-1, C=-2), required=("A",))
    assert found == (("A",), -5.0, [("add", "B", -6.0), ("remove", "B", -5.0)])


@pytest.mark.parametrize("search", [oracle.greedy, oracle.sweep])
def test_forbidden_labels_candidates_and_limits(search):
    gains = additive(A=1, B=3, C=2)
    assert search("ABC", gains)[0] == ("A", "B", "C")
    assert search("ABC", gains, forbidden=("B",))[0] == ("A", "C")
    assert search("ABC", gains, candidates=("B", "C"), forbidden=("B",))[0] == ("C",)
    assert search("ABC", gains, max_influencers=0) == ((), 0.0, [])
    assert search("ABC", gains, candidates=()) == ((), 0.0, [])
    # Required labels count towards the limit.
    assert search("ABC", gains, required=("A",), max_influencers=1) == (("A",), 1.0, [])
    assert len(search("ABC", gains, required=("A",), max_influencers=2)[0]) == 2


def test_the_sweep_passes_once_in_sorted_order():
    # Forward: A (-1 beats -inf), then B on top (2), C does not improve. Backward: without A 3, kept; then
    # B is tried: the empty set scores 0, which does not improve.
    found = oracle.sweep("CBA", additive(A=-1, B=3, C=-2))
    assert found == (("B",), 3.0, [("add", "A", -1.0), ("add", "B", 2.0), ("remove", "A", 3.0)])
    # A tie is no improvement.
    assert oracle.sweep("AB", additive(A=1, B=1e-10))[0] == ("A",)


def test_exhaustive_finds_what_greedy_misses():
    # Neither B nor C helps without the other: greedy stops at A.
    scores = from_table(empty=0.0, A=1.0, B=0.0, C=0.0, AB=0.5, AC=0.5, BC=5.0, ABC=4.0)
    assert oracle.greedy("ABC", scores)[:2] == (("A",), 1.0)
    assert oracle.exhaustive("ABC", scores) == (("B", "C"), 5.0)
    assert oracle.exhaustive("ABC", scores, max_influencers=1) == (("A",), 1.0)
    assert oracle.exhaustive("ABC", scores, max_influencers=0) == ((), 0.0)
    # Ties go to the smaller set.
    assert oracle.exhaustive("AB", additive(A=0, B=0)) == ((), 0.0)


# ---------------------------------------------------------------------------------------------------------
# All together
# ---------------------------------------------------------------------------------------------------------
