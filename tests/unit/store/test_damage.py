"""Damaged, foreign and edited files: each is refused, with what is wrong and where."""

import copy
import json

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import StoreError, SummarkovError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = sm.read_events(
    [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"], ["B", "A", "C", "B"], ["A", "C"]] * 5,
    ends="cut off",
)


MODELS = {
    "binary": sm.BSuMM("B", lookback=1, required=["A", "C"], candidates=[]),
    "searched": sm.BSuMM("B", lookback=2, gamma=0.1, false_edges=None),
    "learned": sm.BSuMM("B", lookback=(1, 2, None), gamma=0.1, false_edges=None),
    "ordinal": sm.OSuMM("B", lookback=2, required=["A", "C"]),
    "count": sm.CSuMM("B", lookback=2, cap=2, required=["A"]),
    "chain": sm.MarkovChain("B", order=2),
    "set": sm.BSuMM(["A", "B"], lookback=1),
    "graph": sm.InfluenceGraph(sm.BSuMM(lookback=1)),
}
DOCUMENTS = {}


def document(name):
    """The file of a model, parsed, to be damaged."""
    if name not in DOCUMENTS:
        DOCUMENTS[name] = json.loads(json.dumps(MODELS[name].fit(EVENTS).to_document()))
    return copy.deepcopy(DOCUMENTS[name])


def refusal(tmp_path, text, encoding="utf-8"):
    """What ``load`` says about a file; one sentence that begins with the file's name."""
    path = tmp_path / "m.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    with pytest.raises(StoreError) as caught:
        sm.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 600
    assert isinstance(caught.value, SummarkovError)
    assert isinstance(caught.value, ValueError)
    return message[len(str(path)) :]


def put(*path_and_value):
    """An edit: set the value at a path of keys and indices."""
    *path, last, value = path_and_value

    def edit(document):
        for key in path:
            document = document[key]
        document[last] = value

    return edit


def drop(*path):
    """An edit: delete what is at a path."""
    *path, last = path

    def edit(document):
        for key in path:
            document = document[key]
        del document[last]

    return edit


def swap(*path):
    """An edit: exchange the first two items of a list or object."""

    def edit(document):
        *way, last = path
        for key in way:
            document = document[key]
        items = document[last]
        if isinstance(items, dict):
            a, b, *rest = items.items()
            document[last] = dict([b, a, *rest])
        else:
            items[0], items[1] = items[1], items[0]

    return edit


T = ("targets", 0)
S = (*T, "states")

EDITS = [
    # what it is
    ("binary", put("format", "pickle"), ": not a summarkov model; its 'format' is not 'summarkov'"),
    ("binary", put("version", 4), ": written in version 4 of the format, but this program reads versions 1"),
    ("binary", put("kind", "ForestSuMM"), ".kind: expected one of BSuMM, CSuMM"),
    ("binary", put("kind", "OSuMM"), ".targets: a OSuMM has one target of its own kind"),
    # keys that are missing
    ("binary", drop("version"), ": expected a 'version' from 1 on, found null"),
    ("binary", drop("data"), ": 'data' is missing"),
    ("binary", drop("settings", "lookback"), ".settings: 'lookback' is missing"),
    ("binary", drop(*T, "influencers"), ".targets[0]: 'influencers' is missing"),
    ("binary", drop(*S, 1, "state"), ".targets[0].states[1]: 'state' is missing"),
    # types that are wrong
    ("binary", put(*T, "target", []), ".settings: target is an empty list; name at least one label"),
    ("searched", put(*T, "trace", 0, "action", "ad"), ".targets[0].trace[0].action: unknown value 'ad'"),
    ("searched", put(*T, "trace", 0, "label", "Z"), ".targets[0].trace: expected labels of 'data'"),
    # counts
    ("binary", put(*S, 0, "counts", 0, -1), ".targets[0].states[0].counts[0]: expected a whole number >= 0"),
    ("binary", put(*S, 0, "counts", 0, 1.0), ".targets[0].states[0].counts[0]: expected a whole number, fou"),
    ("binary", put(*S, 0, "counts", 0, 2**63), ".targets[0].states[0].counts[0]: expected a whole number <="),
    ("binary", put("data", "labels", "A", 2**62), ".data.labels: expected sorted labels, with counts that a"),
    ("binary", put("data", "scale", 2), ".data.scale: unknown value 2"),
    ("binary", put(*S, 0, "counts", 0, 10**6), ".targets[0].states: the counts do not add up to those"),
    # shapes
    ("binary", put(*S, 0, "counts", [1]), ".targets[0].states: expected numbers of shape 3 by 2, found "),
    ("chain", put(*S, 0, "state", [None]), ".targets[0].states[0].state: expected 2 labels, or null where t"),
    # order and repeats
    ("binary", swap("data", "labels"), ".data.labels: expected sorted labels, with counts that are not all "),
    ("binary", swap(*T, "influencers"), ".targets[0]: expected 'target' and 'influencers' of sorted labels,"),
    ("binary", swap(*S), ".targets[0].states[1].state: expected states in canonical order, each "),
    ("binary", put(*S, 1, "state", {"A": 0, "C": 0}), ".targets[0].states[1].state: expected states in cano"),
    # influencers and states that cannot be
    ("binary", put(*T, "influencers", ["A", "Z"]), ".targets[0]: expected 'target' and 'influencers' of sor"),
    ("binary", put(*T, "influencers", ["A"]), ".states[0].state: expected a level for each of A, found"),
    ("binary", put(*S, 0, "state", "A", 2), ".states[0].state: expected a state that this summary has"),
    ("ordinal", put(*S, 0, "state", {"A": 1, "C": 1}), ".state: expected a state that this summary has"),
    ("chain", put(*S, 0, "state", ["A", "Z"]), ".state: expected labels of 'data', or null before the start"),
    # settings
    ("binary", put("settings", "depth", 3), ".settings.depth: BSuMM has no such setting"),
    ("binary", put("settings", "alpha", 0), ".settings: alpha must be a number above 0, not 0"),
    ("binary", put("settings", "search", "best"), ".settings: search must be one of greedy, sweep, exact"),
    ("binary", put("settings", "lookback", "1"), ".settings: look-back or delay 1 is a time"),
    ("binary", put("settings", "lookback", [1]), ".targets[0]: expected 'lookbacks' for each of A, C, found"),
    ("learned", put(*T, "lookbacks", "A", 7), ".targets[0]: expected one of the look-backs 1, 2, None, foun"),
    ("binary", put("settings", "lookback", {"Z": 1}), ".settings: unknown label 'Z'; the labels are 'A'"),
    ("binary", put("settings", "delay", 1), ".settings: delay 1 must be less than lookback 1"),
    ("binary", put("settings", "required", "A"), ".settings: required must be a list of labels; write ['A']"),
    ("binary", put("settings", "required", [1]), ".settings.required[0]: expected a text, found a whole num"),
    ("binary", put("settings", "forbidden", ["A"]), ".settings: 'A' is both required and forbidden"),
    ("binary", put("settings", "required", ["B"]), ".targets[0]: expected 'influencers' that are required o"),
    # graphs
    ("graph", put("targets", []), ".targets: a graph has targets of one label each"),
    ("graph", swap("targets"), ".targets: a graph has targets of one label each, sorted and not repeated"),
]  # fmt: skip


#: What follows from counts is not read, and other settings are taken as they are; a checksum tells of them.
HARMLESS = [
    ("binary", drop(*T, "score")),
    ("binary", put(*S, 1, "probabilities", 0, 0.5)),
    ("binary", put(*T, "score", -1.0)),
    ("binary", put("settings", "alpha", 0.2)),
    ("searched", put("settings", "max_influencers", 0)),
]


@pytest.mark.parametrize(("name", "edit"), HARMLESS)
def test_what_is_not_read_and_settings_that_are_possible(name, edit, tmp_path):
    damaged, path = document(name), tmp_path / "m.json"
    edit(damaged)
    path.write_text(json.dumps(damaged))
    assert sm.load(path).influencers_ == MODELS[name].influencers_
    path.write_text(json.dumps({**damaged, "checksum": "sha256:0"}))
    with pytest.raises(StoreError, match="its checksum does not fit"):
        sm.load(path)


@pytest.mark.parametrize(("name", "edit", "words"), EDITS, ids=[words for _, _, words in EDITS])
def test_edits(name, edit, words, tmp_path):
    damaged = document(name)
    edit(damaged)
    assert words in refusal(tmp_path, json.dumps(damaged))


@pytest.mark.parametrize("name", MODELS)
def test_the_files_load_before_they_are_damaged(name, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps(document(name)))
    assert sm.load(tmp_path / "m.json").influencers_ == MODELS[name].influencers_


# ---------------------------------------------------------------------------------- damaged texts


def text(name="binary"):
    return json.dumps(document(name), indent=1) + "\n"


def alpha(number):
    return text().replace('"alpha": 0.1', f'"alpha": {number}')


def nested(depth):
    return text().replace('"trace": []', f'"trace": {"[" * depth}{"]" * depth}')


TEXTS = [
    ("empty", "", "not valid JSON at line 1, column 1"),
    ("prose", "this is no model", "column 1 (Expecting value); was the file cut short, or is it a file"),
    ("a number", "3", "not a summarkov model"),
    ("foreign", '{"format": "ONNX"}', "not a summarkov model"),
    ("rest", text() + "{}", "(Extra data); was the file cut short, or is it a file of events?"),
    ("binary", b"\x80\x04\x95pickle", ": not a JSON text ("),
    ("utf-16", text().encode("utf-16"), ": not a JSON text ("),
    ("nul", text().replace('"B"', '"\x00"', 1), "Invalid control character"),
    ("repeated", text().replace('"version": 3', '"version": 3, "version": 3'), ": the name 'version' stands"),
    ("repeated label", text().replace('"A": 25', '"A": 1, "A": 24'), ": the name 'A' stands twice in one"),
    ("nan", alpha("NaN"), ": NaN is not a number that a model can hold"),
    ("large float", alpha("1e999"), ": a number is too large for a model to hold"),
    ("huge int", alpha("1" + "0" * 10**5), ": not a JSON text (Exceeds the"),
    ("deep 50", nested(50), ".targets[0].trace[0]: expected an object, found a list"),
    ("deep 10^5", nested(10**5), ": nested far too deeply to be a model"),
    ("deep and open", "[" * 10**5, ": nested far too deeply to be a model"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), [t[1:] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_texts(content, words, tmp_path):
    assert words in refusal(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(StoreError, match=r"no\.json: there is no such file"):
        sm.load(tmp_path / "no.json")
    with pytest.raises(StoreError, match=r"cannot be read \(Is a directory\)"):
        sm.load(tmp_path)


# ---------------------------------------------------------------------------------- anything anywhere


def places(value, path=()):
    """Every place of a document, as a path."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


WRONG = [None, True, -1, 7, 0.5, 10**400, "Z", "A", [], {"Z": 1}]


@pytest.mark.parametrize("name", ["searched", "chain"])
def test_any_value_anywhere_is_refused_or_harmless(name, tmp_path):
    """Nothing but StoreError comes out of a damaged file, and no damage that loads changes a prediction.

    Unless it makes another model of it: counts do not tell settings, a checksum does.
    """
    expected = MODELS[name].fit(EVENTS).predict_proba(EVENTS)
    path = tmp_path / "m.json"
    refused = harmless = 0
    for place in places(document(name)):
        if place[2:3] in (("states",), ("trace",)) and place[3:4] > (1,):
            continue  # the first two states and steps stand for the rest
        for edit in (drop(*place), *(put(*place, value) for value in WRONG)):
            damaged = document(name)
            edit(damaged)
            path.write_text(json.dumps(damaged))
            try:
                loaded = sm.load(path)
            except StoreError:
                refused += 1
            else:
                if not (place[0] == "settings" or "state" in place):
                    assert np.array_equal(loaded.predict_proba(EVENTS), expected), place
                assert loaded.predict_proba(EVENTS).sum(axis=1) == pytest.approx(1, rel=1e-12)
                harmless += 1
    assert refused > 2 * harmless > 0
