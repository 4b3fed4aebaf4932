"""The tree of errors, and hints at what was meant."""

import inspect

import pytest

from summarkov import errors
from summarkov.errors import UnknownLabelError, nearest


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("protset", ["riot", "protest"], "; did you mean 'protest'?"),
        ("Protest", ["protest", "riot"], "; did you mean 'protest'?"),
        ("protest ", ["protest"], "; did you mean 'protest'?"),
        ("gamm", ["alpha", "gamma", "xi"], "; did you mean 'gamma'?"),
        ("xyz", ["alpha", "gamma"], ""),
        ("", ["alpha"], ""),
        ("a", [], ""),
        ("it's", ["its"], "; did you mean 'its'?"),
    ],
)
def test_nearest(name, known, hint):
    assert nearest(name, known) == hint
    assert nearest(name, iter(known)) == hint


def test_unknown_label():
    problem = UnknownLabelError("protset", ["riot", "protest"])
    assert str(problem) == "unknown label 'protset'; did you mean 'protest'?"
    assert problem.label == "protset"


def test_unknown_label_without_a_near_one():
    assert str(UnknownLabelError("x", ["riot", "arrest"])) == (
        "unknown label 'x'; the labels are 'riot', 'arrest'"
    )
    many = [f"label {i}" for i in range(9)]
    assert str(UnknownLabelError("x", many)).endswith("'label 6', 'label 7', ...")
    assert str(UnknownLabelError("x", many[:8])).endswith("'label 6', 'label 7'")
    assert str(UnknownLabelError("x", [])) == "unknown label 'x'"
    assert str(UnknownLabelError("x", (label for label in ["riot"]))) == (
        "unknown label 'x'; the labels are 'riot'"
    )


def test_one_tree():
    classes = [
        c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == "summarkov.errors"
    ]
    assert len(classes) == 9
    assert [c for c in classes if not issubclass(c, errors.SummarkovError)] == [errors.TiesWarning]
    assert issubclass(errors.TiesWarning, UserWarning)
    assert issubclass(UnknownLabelError, errors.DataError)
    assert issubclass(errors.TooLargeError, errors.SettingError)
    for c in (errors.DataError, errors.SettingError, errors.StoreError):
        assert issubclass(c, ValueError)
    assert issubclass(errors.NotFittedError, AttributeError)
    for c in classes:
        assert c.__name__ in errors.__doc__
        assert c.__doc__
