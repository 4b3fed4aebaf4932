"""At home in scikit-learn: pipelines, searches, scorers, and its own list of checks."""

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.needs("sklearn")

EVENTS = web_shop().simulate(90, 12, random_state=4)
GRAPH = sm.InfluenceGraph(sm.BSuMM(lookback=2))


@pytest.fixture(scope="module")
def selection():
    from sklearn import model_selection

    return model_selection


@pytest.fixture(scope="module")
def prepared():
    """A pipeline that collapses repeats and learns a graph."""
    from sklearn.preprocessing import FunctionTransformer

    from summarkov.models import Pipeline

    collapse = FunctionTransformer(lambda x: sm.read_events(x).collapse_repeats())
    return Pipeline([("collapse", collapse), ("influencegraph", GRAPH.copy())])


def test_a_pipeline_prepares_learns_and_scores(prepared):
    whole = prepared.fit(EVENTS)
    by_hand = EVENTS.collapse_repeats()
    expected = GRAPH.copy().fit(by_hand)
    assert whole.score(EVENTS) == expected.score(by_hand)
    assert np.array_equal(whole.predict_proba(EVENTS), expected.predict_proba(by_hand))
    assert np.array_equal(whole.classes_, expected.classes_)
    after, wanted = whole.predict_next([["browse", "browse"], []]), expected.predict_next([["browse"], []])
    assert np.array_equal(after.probabilities, wanted.probabilities)


def test_a_grid_search_over_a_pipeline(selection, prepared):
    grid = {"influencegraph__model__lookback": [1, 3]}
    found = selection.GridSearchCV(prepared, grid, cv=3, error_score="raise").fit(EVENTS)
    scores = found.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    for settings, score in zip(found.cv_results_["params"], scores, strict=True):
        by_hand = []
        for train, test in selection.KFold(3).split(np.zeros(len(EVENTS))):
            template = sm.BSuMM(lookback=settings["influencegraph__model__lookback"])
            graph = sm.InfluenceGraph(template).fit(EVENTS[train].collapse_repeats())
            by_hand.append(graph.score(EVENTS[test].collapse_repeats()))
        assert score == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert found.score(EVENTS) == found.best_estimator_.score(EVENTS)


def test_labels_that_a_part_does_not_know(selection):
    """In lists, unlike EventSequences, a part has the labels that occur in it and no others."""
    lists = [["a", "b"], ["b", "a"], ["a", "b", "c"]] * 4 + [["a", "odd"]]
    model = sm.BSuMM("b", lookback=1)
    fitted = model.copy().fit(lists[:-1])
    with pytest.raises(DataError, match="unknown label 'odd'"):
        fitted.score(lists)
    for estimator in (fitted, sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(lists[:-1])):
        assert estimator.score(lists, unknown="ignore") < 0
    cut = selection.KFold(13)

    def scoring(estimator, events, y=None):
        return estimator.score(events, unknown="ignore")

    found = selection.cross_val_score(model, lists, cv=cut, scoring=scoring)
    by_hand = [
        model.copy().fit([lists[i] for i in train]).score([lists[i] for i in test], unknown="ignore")
        for train, test in cut.split(lists)
    ]
    assert found == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.needs("pandas")
def test_cross_validation_does_not_cut_sequences(selection, prepared):
    table = EVENTS.to_frame("pandas")
    words = "cross-validation splits a table by row, in the middle of sequences; read it first"
    for estimator in (sm.BSuMM("browse"), prepared):
        with pytest.raises(DataError, match=words):
            selection.cross_val_score(estimator, table, error_score="raise")
        with pytest.raises(ValueError, match=words):
            selection.GridSearchCV(estimator, {}).fit(table)
    whole = sm.read_events(table)
    found = selection.GridSearchCV(sm.BSuMM("browse"), {"lookback": [1, 2]}, cv=3).fit(whole)
    assert found.score(table) == found.score(whole)  # a whole table is as good as its events


def test_a_random_state_may_be_a_number_of_numpy():
    for model, n in ((GRAPH.copy().fit(EVENTS), 3), (sm.OutcomeModel(ends_with="browse").fit(EVENTS), 3)):
        same = [model.confidence(EVENTS, n=n, random_state=state) for state in (5, np.int64(5))]
        assert same[0] == same[1]
        with pytest.raises(SettingError, match="random_state must be a whole number from 0 to"):
            model.confidence(EVENTS, n=n, random_state="x")


class RowsGraph(sm.InfluenceGraph):
    """Lets the checks give a matrix of numbers, the rows of which are then sequences of labels."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        tags.input_tags.categorical = True
        return tags


ONE_PER_POSITION = "predictions have one row per position, and a sequence has many"
NO_FEATURES = "sequences have no features to count"
NO_MATRIX = "a table is read by its columns of cases and events, and not as a matrix"
OWN_WORDS = "it is refused, in other words than scikit-learn's"
NUMBERS_ARE_LABELS = "numbers are labels, which are text: any number has one"

#: Checks that cannot apply, and why; docs/guide/sklearn.md says the same.
CANNOT = {
    "check_estimators_unfitted": "summarkov.errors.NotFittedError is its own: scikit-learn is not required",
    "check_n_features_in_after_fitting": NO_FEATURES,
    "check_n_features_in": NO_FEATURES,
    "check_sample_weights_pandas_series": NO_MATRIX,
    "check_sample_weights_not_an_array": NO_MATRIX,
    "check_all_zero_sample_weights_error": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_fit2d_predict1d": OWN_WORDS,
    "check_dtype_object": OWN_WORDS,
    "check_sample_weight_equivalence_on_dense_data": NUMBERS_ARE_LABELS,
    "check_complex_data": NUMBERS_ARE_LABELS,
    "check_estimators_nan_inf": NUMBERS_ARE_LABELS,
    "check_methods_sample_order_invariance": ONE_PER_POSITION,
    "check_methods_subset_invariance": ONE_PER_POSITION,
    "check_fit_idempotent": ONE_PER_POSITION,
    "check_estimators_pickle": "labels are text, and the check subtracts them (test_parameters.py pickles)",
}


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator

    found = check_estimator(RowsGraph(sm.BSuMM(lookback=1)), on_fail=None, on_skip=None)
    failed = {check["check_name"] for check in found if check["status"] == "failed"}
    assert failed - set(CANNOT) == set()
    assert sum(check["status"] == "passed" for check in found) >= 30
