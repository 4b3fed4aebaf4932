"""Files of versions 1 and 2 load and say what they said; they were written by the programs of their time."""

import copy
import io
import json
import math
from dataclasses import asdict
from functools import reduce
from operator import getitem

import pytest
from fuzz import CORPUS
from fuzz.stored import as_learned, places

import summarkov as sm
from summarkov.errors import StoreError
from summarkov.models import InfluenceGraph, JointSuMM, OutcomeModel

FILES = {path.stem.removeprefix("old_"): path for path in sorted((CORPUS / "model").glob("old_*.json"))}
DOCUMENTS = {name: json.loads(path.read_text()) for name, path in FILES.items()}

#: Of the first outcome, and the first model of graphs, as the last program that wrote version 2 predicts.
PROBABILITIES = {
    "graph": [0.315647482, 0.86159601, 0.265784114, 0.315647482, 0.097615499, 0.315647482],
    "joint": [0.358842928, 0.142428025, 0.212161404, 0.358842928, 0.055048956, 0.358842928],
    "ordered": [0.427174781, 0.100821168, 0.427174781, 0.427174781, 0.427174781, 0.427174781],
    "outcome": [0.99382716, 0.1875, 0.261904762],
    "rules": [0.233238265, 0.716906319, 0.233238265, 0.233238265, 0.233238265, 0.233238265],
    "sure": [0.202970297, 0.598039216, 0.202970297, 0.202970297, 0.202970297, 0.202970297],
    "times": [0.001845018, 0.001845018, 0.001845018],
    "tree": [0.299250451, 0.820006448, 0.107727627, 0.299250451, 0.107727627, 0.299250451],
}


def models_of(model):
    """The models of single targets in what a file holds."""
    if isinstance(model, InfluenceGraph):
        return list(model.models_.values())
    return (
        [] if isinstance(model, JointSuMM) else [model.model_ if isinstance(model, OutcomeModel) else model]
    )


def loaded(document):
    return sm.load(io.StringIO(json.dumps(document)))


def edited(name, *path_and_value):
    """A file in which a value was set at a path, or deleted if it is ``...``, without its checksum."""
    *way, last, value = path_and_value
    document = {k: copy.deepcopy(v) for k, v in DOCUMENTS[name].items() if k != "checksum"}
    holder = reduce(getitem, way, document)
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return document


def shown(value):
    """A number as old files write it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


@pytest.mark.parametrize("name", PROBABILITIES)
def test_predictions_are_those_of_the_program_that_wrote_it_and_of_the_numbers_in_it(name):
    model = sm.load(FILES[name])
    first = next(iter(model.models_.values())) if isinstance(model, InfluenceGraph) else model
    p = first.predict_proba(as_learned(first.layout_), unknown="ignore")
    assert p[:, 0] == pytest.approx(PROBABILITIES[name], abs=1e-9)
    for one, written in zip(models_of(model), DOCUMENTS[name].get("targets", []), strict=True):
        assert one.score_ == pytest.approx(written["score"])
        for row, state in zip(one.table_, written["states"], strict=True):
            assert list(row.probabilities) == pytest.approx(state["probabilities"])


@pytest.mark.parametrize("name", PROBABILITIES)
def test_saving_writes_version_3_and_loses_nothing(name):
    model = sm.load(FILES[name])
    document = model.to_document()
    assert set(PROBABILITIES) == set(FILES)
    assert DOCUMENTS[name]["version"] < document["version"] == 3
    again = loaded(document)
    assert again.to_document() == document
    assert str(again) == str(model)


@pytest.mark.parametrize("name", ["graph", "tree"])
def test_what_was_counted_of_edges_by_their_names(name):
    for one, old in zip(models_of(sm.load(FILES[name])), DOCUMENTS[name]["targets"], strict=True):
        fitted = one.fitted
        for u, z in enumerate(old["influencers"]):
            for x, label in enumerate(old["target"]):
                counted = asdict(fitted.followed[u][x])
                counted["lags"] = None if counted["lags"] is None else counted["lags"].tolist()
                assert {k: v for k, v in counted.items() if v is not None} == old["followings"][z][label]
                assert fitted.clusters.squares[:, x, u].tolist() == old["clusters"][z]["squares"][label]
                if "moments" in old:
                    assert fitted.moments[u, x].tolist() == list(old["moments"][z][label].values())
            assert fitted.clusters.n[:, u].tolist() == old["clusters"][z]["n"]


@pytest.mark.parametrize("name", ["ordered", "graph"])
def test_order_tests(name):
    found, old = sm.load(FILES[name]).order_, DOCUMENTS[name]["order"]
    assert (found.n, found.within, len(found.edges)) == (old["n"], old["within"], len(old["edges"]))
    for one, written in zip(found.edges, old["edges"], strict=True):
        assert one.order == written["order"].replace("about", "depends on")
        assert shown(one.ratio) == written["ratio"]
        assert one.local_high == written.get("local_high")
        if (left := written["remainder"]) is not None:
            assert list(one.remainder.without) == left.get("inhibited", left.get("amplified"))
            assert [shown(one.remainder.ratio), shown(one.remainder.high)] == [left["ratio"], left["high"]]


def test_confidence():
    graph = sm.load(FILES["graph"])
    found, old = graph.confidence_, DOCUMENTS["graph"]["confidence"]
    assert (found.n, found.n_sequences, len(found.edges)) == (12, 40, len(old["edges"]))
    for written in old["edges"]:
        one = found.of(written["influencer"], written["target"])
        assert {k: getattr(one, k) for k in written if k != "in_graph"} | {"in_graph": True} == written
        assert one.n_with > one.hits_with > 0
    # what the graph does not have: how often it was found
    edge = old["edges"][0] | {"influencer": "d", "in_graph": False, "ratio": None, "low": 3.0, "high": None}
    edge |= dict.fromkeys(("corrected_ratio", "corrected_low", "corrected_high"))
    found = loaded(edited("graph", "confidence", "edges", 0, edge)).confidence_
    assert found.others == (("d", edge["target"], edge["frequency"]),)


def test_confidence_of_the_first_version_had_another_measure():
    graph = sm.load(FILES["sure"])
    (edge,), (other,) = graph.confidence_.edges, graph.confidence_.others
    (counted,) = graph.models_["b"].fitted.influences
    assert (edge.ratio, edge.low, edge.high) == (counted.ratio, counted.low, counted.high)
    assert graph.confidence_.n_sequences == 8
    assert other == ("b", "b", edge.frequency) == ("b", "b", pytest.approx(1 / 3))


def test_sequences_that_were_counted_alone():
    (edge,) = sm.load(FILES["ordered"]).models_["a"].influences_
    assert (edge.cases_followed, edge.cases_with, edge.occurrences, edge.follow_rate) == (
        21,
        None,
        None,
        None,
    )
    (edge, *_) = sm.load(FILES["rules"]).influences_  # trees counted other hits
    assert edge.cases_followed is None


def test_without_lags_complete_windows_alone_are_told():
    """Few windows are complete, and nothing says how soon the others were cut off."""
    document = edited("graph", "targets", 0, "followings", "a", "b", "lags", ...)
    own = document["targets"][0]["followings"]["a"]["b"]["own"]
    own |= {"n_whole": 4.0, "followed_whole": 3.0}
    for each in (document, loaded(document).to_document()):
        edge = next(e for e in loaded(each).edges_ if (e.influencer, e.target) == ("a", "b"))
        assert (edge.follow_rule, edge.occurrences, edge.follow_rate) == ("complete windows", 4, 0.75)
        assert edge.left_out == own["n"] - 4


def test_settings_that_are_younger_or_were_called_otherwise():
    tree = sm.load(FILES["rules"])
    assert (tree.max_depth, tree.lookbacks) == (12, (1, 2))
    graph = sm.load(FILES["sure"])
    settings = graph.models_["b"].get_params()
    assert [settings[name] for name in ("false_edges", "given", "paper")] == [None, (), False]
    joint = edited("joint", "settings", "seed", 5)
    joint["settings"]["random_state"] = None
    assert loaded(joint).random_state == 5


REFUSED = [
    ("graph", ["kind", "Bag"], "a bag of models, which this version no longer has; fit a JointSuMM instead"),
    ("tree", ["model", "ContextTreeWeighting"], "an average of context trees, which this version no longer"),
    ("outcome", ["open_cases", ...], "a model of an outcome from before outcomes were about whole cases"),
    ("rules", ["settings", "average", True], ".settings: trees are no longer averaged over prunings; learn"),
    ("graph", ["settings", "colour", 1], ".settings.colour: BSuMM has no such setting"),
    ("graph", ["targets", 0, "followings", "a", ...], "expected 'followings' of each of a, b"),
    ("graph", ["targets", 0, "clusters", "a", ...], "its parts do not fit together ('a'); learn the model"),
    ("tree", ["kind", "ForestSuMM"], ".kind: expected one of BSuMM, CSuMM"),
    ("sure", ["data", "labels", "a", 11], "the counts do not add up to those"),
    ("joint", ["outcomes", 0, "trees", []], "its parts do not fit together"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "edit", "said"), REFUSED)
def test_what_was_refused_is_still(name, edit, said):
    with pytest.raises(StoreError) as caught:
        loaded(edited(name, *edit))
    assert said in str(caught.value)


def test_the_checksum_is_that_of_the_file_as_it_was_written():
    document = edited("graph", "settings", "alpha", 0.2)
    assert loaded(document).models_["b"].alpha == 0.2
    with pytest.raises(StoreError, match="its checksum does not fit"):
        loaded(document | {"checksum": DOCUMENTS["graph"]["checksum"]})


@pytest.mark.parametrize("name", PROBABILITIES)
def test_any_value_anywhere_is_refused_or_loads(name):
    """Nothing but StoreError; the first of every list stands for the rest."""
    tried = refused = 0
    for place in places(edited(name, "version", DOCUMENTS[name]["version"])):
        if any(isinstance(each, int) and each for each in place):
            continue
        for value in (..., None, -1, 10**400, "Z", [], {"Z": 1}):
            tried += 1
            try:
                model = loaded(edited(name, *place, value))
            except StoreError:
                refused += 1
            else:
                assert json.dumps(model.to_document(), allow_nan=False)
                assert str(model)
    assert tried > refused > tried / 4
