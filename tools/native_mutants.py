"""Mutants of the native kernels: all of them in one build, each asleep until its number is called.

A copy of the package is made in ``build/mutants``, and every small change is written into its C++ as a
condition: ``a < b`` becomes ``a < mutant::is(7) + (b)``, which is ``a <= b`` for mutant 7 and for all others
what it was. So there is one build for all, and a process is forked for each, as for those in Python.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pybind11

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "src" / "summarkov" / "kernels" / "native"
BUILT = ROOT / "build" / "mutants"

#: The files, and the tests that compare what each does with the oracle, the quickest first.
_COUNTS = ["every_engine/test_counts", "every_engine/test_cuts", "every_engine/test_weights"]
_TICKS = "unit/kernels/test_ticks"
TESTS = {
    name: [f"tests/{each}.py" for each in tests]
    for name, tests in {
        "arrays.hpp": [*_COUNTS, _TICKS],
        "boosted.hpp": ["every_engine/test_joint"],
        "count.hpp": [*_COUNTS, _TICKS],
        "followed.hpp": ["every_engine/test_followed", "unit/kernels/test_followed"],
        "index.hpp": [*_COUNTS, "every_engine/test_followed", "every_engine/test_recency", _TICKS],
        "module.cpp": [
            *_COUNTS,
            _TICKS,
            "every_engine/test_joint",
            "every_engine/test_followed",
            "every_engine/test_recency",
            "every_engine/test_replicates",
            "every_engine/test_shuffles",
        ],
        "order.hpp": ["every_engine/test_shuffles"],
        "present.hpp": [*_COUNTS, _TICKS],
        "resampling.hpp": ["every_engine/test_replicates", "every_engine/test_shuffles"],
        "states.hpp": [*_COUNTS, _TICKS],
        "tests.hpp": ["every_engine/test_recency", _TICKS],
    }.items()
}

#: What every file sees: whether a mutant is called, and what it does then.
_HEADER = """
#pragma once
#include <algorithm>
namespace mutant {
inline int active = 0;
inline int is(int k) { return active == k; }
inline int sign(int k) { return active == k ? -1 : 1; }
template <int k, class T> T min(const T& a, const T& b) { return (is(k) ? a > b : a < b) ? a : b; }
template <int k, class T> T max(const T& a, const T& b) { return (is(k) ? a < b : a > b) ? a : b; }
}
"""
_TOKEN = re.compile(
    r"//[^\n]*|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_]\w*|0x\w+|\d[\w.]*|<=|>=|==|!=|&&|\|\||\+=|-=|\+\+|--|->|::|<<|>>|\S"
)
_ENDS = {";", ",", "?", ":", "&&", "||", "return", "{", "}", "=", "+=", "-=", "|=", "else"}
#: Statements on a line of their own that can be left out: assignments, and calls that have an effect. What
#: the module offers to Python is told when it is imported, before a mutant can be called.
_ASSIGNED = re.compile(r"[ ]+(\*?[\w.\[\]>*+-]+(?:\[[^\]]*\])?) (?:=|\+=|-=|\|=|\^=) [^;]*;(?: *//.*)?$")
_CALLED = re.compile(
    r"[ ]+(?!return|throw|if|for|while|switch|static_assert|m\.def)[\w.:]+\([^;]*\);(?: *//.*)?$"
)
#: Constants of the compiler, and sizes of arrays, cannot be changed while it runs.
_FIXED = re.compile(
    r"constexpr|static_assert|template|enum |struct |\b(?:Position|std::u?int64_t)\{|\w \w+\[2\]|py::init"
)
#: Where one pointer is taken from another.
_POINTERS = re.compile(r"_bound\(|- recency|- \w+\.begin\(\)")


class Tokens:
    """The words of a C++ file and where they stand, without comments."""

    def __init__(self, source: str) -> None:
        self.source = source
        found = [match for match in _TOKEN.finditer(source) if not match.group().startswith(("//", "#"))]
        self.words = [match.group() for match in found]
        self.begins = [match.start() for match in found]
        self.ends = [match.end() for match in found]

    def stands_apart(self, i: int) -> bool:
        """Whether a word is not the bracket of a template."""
        return self.words[i] not in "<>" or self.spaced(i)

    def spaced(self, i: int) -> bool:
        """Whether a word stands between blanks, as operators do here, and brackets of templates do not."""
        return self.source[self.begins[i] - 1] == " " and self.source[self.ends[i] : self.ends[i] + 1] in (
            " ",
            "\n",
        )

    def right(self, i: int, stops: set[str]) -> int:
        """The last word of what stands to the right of an operator."""
        depth = 0
        while True:
            i += 1
            word = self.words[i]
            if depth == 0 and ((word in stops and self.stands_apart(i)) or word in ")]}"):
                return i - 1
            depth += (word in "([{") - (word in ")]}")

    def left(self, i: int, stops: set[str]) -> int:
        """The first word of what stands to the left of an operator."""
        depth = 0
        while True:
            i -= 1
            word = self.words[i]
            if depth == 0 and ((word in stops and self.stands_apart(i)) or word in "([{"):
                return i + 1
            depth += (word in ")]}") - (word in "([{")


#: Where something begins and ends, what is put before and after it ({k}: the number), and what that changes.
Change = tuple[int, int, str, str, str]


def changes(source: str) -> Iterator[Change]:
    """Every small change of a file."""
    tokens = Tokens(source)
    words, begins, ends = tokens.words, tokens.begins, tokens.ends
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def line_of(i: int) -> str:
        return lines[source.count("\n", 0, begins[i])]

    def around(first: int, last: int, before: str, after: str, what: str) -> Change:
        return begins[first], ends[last], before, after, what

    compared = {"==", "!=", "<", "<=", ">", ">="}
    for i, word in enumerate(words):
        if _FIXED.search(line_of(i)):
            continue
        if word in ("<", "<=", ">", ">=") and tokens.spaced(i):
            more = "+" if word in ("<", ">=") else "-"
            other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[word]
            last = tokens.right(i, _ENDS | compared)
            yield around(i + 1, last, f"{more}mutant::is({{k}}) + (", ")", f"{word}  ->  {other}")
        elif word in ("==", "!=") and tokens.spaced(i):
            first, last = tokens.left(i, _ENDS), tokens.right(i, _ENDS)
            yield around(
                first, last, "(mutant::is({k}) != (", "))", f"{word}  ->  {'!=' if word == '==' else '=='}"
            )
        elif word in ("+", "-") and tokens.spaced(i) and not _POINTERS.search(line_of(i)):
            last = tokens.right(i, _ENDS | compared | {"+", "-"})
            yield around(
                i + 1, last, "mutant::sign({k}) * ", "", f"{word}  ->  {'-' if word == '+' else '+'}"
            )
        elif word in ("+=", "-="):
            last = tokens.right(i, {";", ","})
            yield around(
                i + 1, last, "mutant::sign({k}) * (", ")", f"{word}  ->  {'-=' if word == '+=' else '+='}"
            )
        elif word == "*" and tokens.spaced(i):
            last = tokens.right(i, _ENDS | compared | {"+", "-", "*", "/", "%", ">>", "<<"})
            yield around(i + 1, last, "(mutant::is({k}) + ", ")", "one factor more by 1")
        elif word in ("min", "max") and words[i - 1] == "::" and words[i + 1] in ("(", "<"):
            last = i if words[i + 1] == "(" else words.index(">", i)
            kind = ", ".join(["{k}", *(["".join(words[i + 2 : last])] if last > i else [])])
            yield (
                begins[i - 2],
                ends[last],
                f"mutant::{word}<{kind}>",
                "REPLACED",
                f"std::{word}  ->  the other",
            )
        elif word.isdigit() and words[i - 1] not in ("*", "/"):
            yield around(i, i, "(mutant::is({k}) + ", ")", f"{word}  ->  {int(word) + 1}")
        elif word in ("&&", "||"):
            before, after = (
                ("(mutant::is({k}) || (", "))") if word == "&&" else ("(!mutant::is({k}) && (", "))")
            )
            sides = [(tokens.left(i, _ENDS), i - 1), (i + 1, tokens.right(i, _ENDS))]
            for first, last in sides[0 if words[sides[0][0] - 1] not in ("&&", "||") else 1 :]:
                yield around(
                    first, last, before, after, f"without the condition {source[begins[first] : ends[last]]}"
                )
        elif word == "?" or (word == "if" and words[i + 1] == "("):
            first, last = (
                (tokens.left(i, _ENDS), i - 1) if word == "?" else (i + 2, tokens.right(i + 1, set()))
            )
            if not {*compared, "&&", "||"} & set(words[first : last + 1]):
                before = "mutant::is({k}) != static_cast<bool>("
                yield around(first, last, before, ")", f"not {source[begins[first] : ends[last]]}")
        elif word in ("continue", "break") or (word == "return" and words[i + 1] == ";"):
            yield around(i, i + 1, "{{ if (!mutant::is({k})) ", " }}", f"no {word}")
    for number, line in enumerate(lines):
        if (_ASSIGNED.match(line) or _CALLED.match(line)) and not (
            _FIXED.search(line) or lines[number - 1].endswith(",")
        ):
            begin = starts[number] + len(line) - len(line.lstrip())
            end = starts[number] + line.rindex(";", 0, line.find("//") if "//" in line else len(line)) + 1
            yield begin, end, "{{ if (!mutant::is({k})) ", " }}", f"without {source[begin:end]}"


def written(source: str, numbers: Sequence[int], found: Sequence[Change]) -> str:
    """A file with all its changes in it."""
    at: dict[int, list[tuple[tuple[int, int], str]]] = {}
    cut: list[tuple[int, int]] = []
    for number, (begin, end, before, after, _) in zip(numbers, found, strict=True):
        if after == "REPLACED":
            cut.append((begin, end))
            after = ""
        # what ends goes before what begins; the outer begins first, the inner ends first
        at.setdefault(begin, []).append(((1, -end), before.format(k=number)))
        at.setdefault(end, []).append(((0, -begin), after.format()))
    pieces, done = [], 0
    for place in sorted(at):
        pieces.append(source[done:place])
        pieces += [text for _, text in sorted(at[place], key=lambda each: each[0])]
        done = next((end for begin, end in cut if begin == place), place)
    return "".join(pieces) + source[done:]


def build(names: Sequence[str]) -> dict[str, list[tuple[int, str, Callable[[], None]]]]:
    """Build all mutants of some files, or of all, let Python import them, and tell what they are."""
    shutil.rmtree(BUILT, ignore_errors=True)
    shutil.copytree(ROOT / "src", BUILT / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    native = BUILT / NATIVE.relative_to(ROOT)
    (native / "mutant.hpp").write_text(_HEADER)
    mutants: dict[str, list[tuple[int, str, int]]] = {}
    last = 0
    for path in sorted(NATIVE.iterdir()):
        source = path.read_text()
        found = list(changes(source)) if not names or path.name in names else []
        numbers = range(last + 1, last + 1 + len(found))
        last += len(found)
        text = written(source, numbers, found)
        if path.name == "module.cpp":
            text = text.replace(
                "m.doc()", 'm.def("activate", [](int k) { mutant::active = k; });\n    m.doc()'
            )
        (native / path.name).write_text(text)
        if found:
            mutants[path.name] = [
                (source.count("\n", 0, begin) + 1, f"{what}, at {source[begin - 20 : end + 10]!r}", number)
                for number, (begin, end, _, _, what) in zip(numbers, found, strict=True)
            ]
    command = [os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-std=c++17", "-O1", "-w"]
    command += [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_path('include')}"]
    command += [
        "-include",
        "mutant.hpp",
        "module.cpp",
        "-o",
        f"../_native{sysconfig.get_config_var('EXT_SUFFIX')}",
    ]
    subprocess.run(command, cwd=native, check=True)
    sys.path.insert(0, str(BUILT / "src"))
    activate = importlib.import_module("summarkov.kernels._native").activate  # not those that are installed
    return {
        name: [(line, what, partial(activate, number)) for line, what, number in found]
        for name, found in mutants.items()
    }
