"""The reference misses nothing: parameters and fitted attributes stand in the docstrings."""

import dataclasses
import inspect
import pydoc
import re
from pathlib import Path

import pytest

import summarkov as sm

ROOT = Path(__file__).parents[2]
NAMES = [name for name in sm.__all__ if callable(getattr(sm, name))]
ESTIMATORS = [name for name in NAMES if hasattr(getattr(sm, name), "get_params")]


def named_in(section: str, doc: str) -> set[str]:
    """The names that a section of a docstring lists, alone or several in a line, as numpydoc reads them."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^(\S.*)$", found.group(1), re.MULTILINE) if found else []
    return {name.strip() for line in lines for name in line.partition(" : ")[0].split(",")}


def test_sections_are_read():
    doc = "Sum.\n\nParameters\n----------\na, b : int\n    Terms.\nc\n    More.\n\n"
    doc += "Attributes\n----------\nd_ : int\n    It."
    assert named_in("Parameters", doc) == {"a", "b", "c"}
    assert named_in("Attributes", doc) == {"d_"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_list_their_parameters(name):
    estimator = getattr(sm, name)
    listed = named_in("Parameters", inspect.getdoc(estimator))
    assert [each for each in inspect.signature(estimator).parameters if each not in listed] == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_estimators_learn_is_described(name):
    estimator = getattr(sm, name)
    learned = {each for each in dir(estimator) if each.endswith("_") and not each.startswith("_")}
    assert all(inspect.getdoc(getattr(estimator, each)) for each in learned - estimator._machinery)


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isfunction(getattr(sm, name))])
def test_functions_tell_of_all_their_parameters(name):
    doc = inspect.getdoc(getattr(sm, name))
    listed = {each.lstrip("*") for each in named_in("Parameters", doc)}
    given = inspect.signature(getattr(sm, name)).parameters
    assert [each for each in given if each not in listed and f"``{each}``" not in doc] == []


def test_what_is_inherited_is_described_as_above():
    chain, tree = inspect.getdoc(sm.MarkovChain), inspect.getdoc(sm.TreeSuMM)
    threads = "n_jobs : int, optional\n    Threads; None is one, -1 one per core."
    assert threads in chain
    assert threads in tree
    assert "alpha : float\n    Pseudo-count of the prior" in chain
    assert "alpha : float\n    The weight, for each outcome," in tree  # its own words
    assert "order : int\n    k, how many of the last labels to look at.\n\nAttributes\n----------\n" in chain
    assert "influences_, trace_\n    Empty: nothing is searched for.\n" in chain
    assert chain.count("Parameters\n---") == chain.count("Examples\n---") == 1


def test_an_estimator_without_a_docstring_has_none():
    class Plain(sm.MarkovChain):
        pass

    assert Plain.__doc__ is None
    del sm.MarkovChain.families["Plain"]


PAGES = re.findall(r"^   (summarkov\.\S+)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE)
#: Classes of the reference that hold what was found: dataclasses and named tuples that are no estimators.
RECORDS = [
    found
    for found in map(pydoc.locate, PAGES)
    if inspect.isclass(found)
    and not hasattr(found, "get_params")
    and (dataclasses.is_dataclass(found) or hasattr(found, "_fields"))
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda each: each.__name__)
def test_records_describe_all_their_fields(record):
    """As attributes, in a sentence, or as parameters of what users make; and nothing that is not there."""
    named = dataclasses.is_dataclass(record)
    fields = [each.name for each in dataclasses.fields(record)] if named else list(record._fields)
    doc = inspect.getdoc(record)
    described = named_in("Attributes", doc) | named_in("Parameters", doc)
    docs = [base.__doc__ or "" for base in record.__mro__]
    told = described | {name for text in docs for name in re.findall(r"``(\w+)``", text)}
    told |= {name for text in docs for name in named_in("Attributes", inspect.cleandoc(text))}
    assert [each for each in fields if each not in told and not each.startswith("_")] == []
    assert [each for each in described if not hasattr(record, each) and each not in fields] == []


def test_whatever_results_hold_is_on_a_page_of_the_reference():
    """Records that fields of records are made of are there, too."""
    known = {page.rpartition(".")[2] for page in PAGES}
    held = {
        name
        for record in RECORDS
        for hint in inspect.get_annotations(record).values()
        for name in re.findall(r"[A-Z]\w+", str(hint))
    }
    there = {name for name in held if dataclasses.is_dataclass(vars(sm.models).get(name))}
    there |= {name for name in held if dataclasses.is_dataclass(vars(sm.evidence).get(name))}
    assert len(there) >= 10
    assert there - known == set()
