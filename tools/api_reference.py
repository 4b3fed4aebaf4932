"""Write docs/api.md from the signatures and docstrings of the public names.

Run ``python tools/api_reference.py`` after a change to either; a test tells if that was forgotten.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import summarkov

FILE = Path(__file__).parents[1] / "docs" / "api.md"

HEAD = """\
# API reference

Written by `python tools/api_reference.py` from the docstrings; change those instead of this file. The
[guides](guide/getting-started.md) explain how the parts go together.

The examples take it that all names are there:

```python
>>> from summarkov import *
>>> from summarkov.confidence import *
>>> from summarkov.errors import *
>>> from summarkov.text import *

```
"""

#: Headings, and what stands under them: a public name, or ``module:name`` for what one only gets handed.
LAYOUT = {
    "Events": ["read_events", "EventSequences", "EventSource", "summarkov.events:Description"],
    "Models": [
        "BSuMM",
        "OSuMM",
        "CSuMM",
        "SuMM",
        "MarkovChain",
        "VariableOrderChain",
        "ContextTreeWeighting",
        "summarkov.models.model:SummaryModel",
        "OTHER",
        "summarkov.scores:Scorer",
    ],
    "Graphs": ["InfluenceGraph", "compare_groups"],
    "In scikit-learn": ["scorer", "PoolRare", "MapLabels", "CollapseRepeats", "AddEnd", "ReadEvents"],
    "Which influencers stay": [
        "sensitivity",
        "summarkov.models:Stability",
        "summarkov.models:StabilityRow",
        "summarkov.models:StableEdge",
    ],
    "What models and graphs return": [
        "summarkov.frames:Tabular",
        "summarkov.frames:Sheet",
        "summarkov.frames:Records",
        "summarkov.models.predictor:Predictions",
        "summarkov.models.edges:Edges",
        "summarkov.models.table:StateTable",
        "summarkov.models.table:Row",
        "summarkov.explain:Influence",
        "summarkov.explain:Pattern",
        "summarkov.confidence:Confidence",
        "summarkov.confidence:EdgeConfidence",
        "summarkov.confidence:OrderTest",
        "summarkov.confidence:EdgeOrder",
        "summarkov.confidence:Remainder",
        "summarkov.confidence:Discoveries",
        "summarkov.confidence:Discovery",
        "summarkov.confidence:rate_ratio",
        "summarkov.confidence:exact_intervals",
        "summarkov.explain:GroupComparison",
        "summarkov.explain:LabelDifference",
        "summarkov.explain:EdgeDifference",
        "summarkov.confidence:Difference",
        "summarkov.explain:Explanation",
        "summarkov.explain:Active",
        "summarkov.explain:Counterfactual",
        "summarkov.search:Step",
        "summarkov.search:Certificate",
        "summarkov.models.follow:Follower",
        "summarkov.models.next_event:GraphFollower",
    ],
    "Your own summary": ["summarkov.summaries.custom:HistorySummary", "register_summary"],
    "Text": [
        f"summarkov.text:{name}"
        for name in (
            "read_documents",
            "Document",
            "TopicModel",
            "load_topics",
            "Concepts",
            "text_events",
            "TextEvents",
            "read_text_events",
            "Sentence",
            "Grounds",
            "Passages",
            "Passage",
            "Before",
            "split_sentences",
        )
    ],
    "Simulation": ["Dynamics"],
    "Evidence": ["compare", "summarkov.evaluation:Comparison", "summarkov.baselines:ModelContender"],
    "The rest": ["load", "backend"],
    "Errors": [
        f"summarkov.errors:{name}"
        for name in (
            "SummarkovError",
            "DataError",
            "UnknownLabelError",
            "SettingError",
            "TooLargeError",
            "NotFittedError",
            "MissingLibraryError",
            "StoreError",
        )
    ],
}

#: What families of models decide, and what stands behind a fitted model: not for use from outside.
HIDDEN = {
    "make_summary",
    "make_problem",
    "make_search",
    "make_searches",
    "shared_search",
    "fitted_type",
    "fitted",
    "key",
    "row",
}

#: What is said ahead of some entries.
NOTES = {
    "summarkov.models.model:SummaryModel": "What every model above can do, once fitted.",
}

#: Types as a reader knows them.
TYPES = {"FloatArray": "float64 array", "IntArray": "int64 array", "CodeArray": "int32 array", "Self": "self"}


def main() -> None:
    """Write the file."""
    FILE.write_text(reference(), encoding="utf-8")


def reference() -> str:
    """The text of the file."""
    named = {name for names in LAYOUT.values() for name in names}
    layout = {title: list(names) for title, names in LAYOUT.items()}
    layout["The rest"] += [name for name in summarkov.__all__ if name not in named]
    lines = [HEAD]
    for title, names in layout.items():
        links = ", ".join(f"[{short(name)}](#{short(name).lower()})" for name in names)
        lines.append(f"- [{title}](#{title.lower().replace(' ', '-')}): {links}")
    for title, names in layout.items():
        lines += ["", f"## {title}"]
        if title == "Errors":
            lines += ["", *markdown(inspect.getdoc(importlib.import_module("summarkov.errors")))]
        for name in names:
            lines += ["", f"### {short(name)}", "", *entry(name)]
    return "\n".join(lines) + "\n"


def short(name: str) -> str:
    """A name without its module."""
    return name.rpartition(":")[2]


def entry(name: str) -> Iterator[str]:
    """What is said about one name."""
    module, _, attribute = name.rpartition(":")
    thing = getattr(importlib.import_module(module), attribute) if module else getattr(summarkov, name)
    if name in NOTES:
        yield from (NOTES[name], "")
    if inspect.isclass(thing):
        yield from class_entry(thing, public=not module)
    elif callable(thing):
        yield from (*call(name + signature(thing)), "", *markdown(inspect.getdoc(thing)))
    else:
        yield from markdown(inspect.getdoc(type(thing)))


def class_entry(cls: type, *, public: bool) -> Iterator[str]:
    """A class: how it is made, what it is, its attributes, its methods."""
    if public:
        yield from (*call(cls.__name__ + constructor(cls)), "")
    yield from markdown(inspect.getdoc(cls) if cls.__doc__ else "")
    members = dict(members_of(cls))
    attributes = {name: each for name, each in members.items() if not inspect.isroutine(each)}
    fields = fields_of(cls) if not public else {}
    if fields or attributes:
        yield from ("", "**Attributes**", "")
        for name, kind in fields.items():
            yield f"- `{name}` (`{kind}`)"
        for name, each in attributes.items():
            yield from bullet(f"`{name}`{returned(each.fget, ' ({})')}", markdown(inspect.getdoc(each)))
    for name, each in members.items():
        if name not in attributes:
            made = each.__func__ if isinstance(each, classmethod | staticmethod) else each
            prefix = f"{cls.__name__}." if made is not each else ""
            how = f"`{prefix}{name}{signature(made, bound=True)}`{returned(made, ' → {}')}"
            yield from ("", f"**{how}**", "", *markdown(inspect.getdoc(made)))


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties: a class's own, and those of bases that have no entry of their own."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if base.__name__ in ("SummaryModel", "SearchedModel") and base is not cls:
            return
        if not base.__module__.startswith("summarkov"):
            continue
        for name, each in vars(base).items():
            wanted = inspect.isroutine(each) or isinstance(each, property | classmethod | staticmethod)
            if wanted and not name.startswith("_") and name not in seen | HIDDEN:
                seen.add(name)
                yield name, each


def fields_of(cls: type) -> dict[str, str]:
    """The fields of a record and their types."""
    if dataclasses.is_dataclass(cls) and "Parameters" not in [base.__name__ for base in cls.__mro__]:
        return {field.name: str(field.type) for field in dataclasses.fields(cls)}
    kinds = cls.__annotations__ if hasattr(cls, "_fields") else {}
    return {name: getattr(kind, "__forward_arg__", kind) for name, kind in kinds.items()}


def constructor(cls: type) -> str:
    """The arguments that make an object of a class."""
    if not dataclasses.is_dataclass(cls):
        return signature(cls.__init__, bound=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
        )
        for field in sorted(dataclasses.fields(cls), key=lambda field: field.kw_only)
    ]
    return str(inspect.Signature(parameters))


def signature(function: Any, *, bound: bool = False) -> str:
    """The arguments of a function, without types."""
    given = list(inspect.signature(function).parameters.values())[bound:]
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in given]
    return str(inspect.Signature(bare))


def call(text: str) -> list[str]:
    """A call as a block of code, in lines that fit."""
    lines = textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return ["```text", *lines, "```"]


def returned(function: Any, shown: str) -> str:
    """What a function returns, where that is worth saying."""
    kind = function.__annotations__.get("return", "Any")
    kind = re.sub(r"npt\.NDArray\[np\.(\w+)\]", r"\1 array", TYPES.get(kind, kind))
    return "" if kind in ("Any", "None") else shown.format(f"`{kind}`")


# ------------------------------------------------------------------------------ docstrings as Markdown


def markdown(doc: str | None) -> list[str]:
    """A docstring in Markdown: sections in bold, parameters as a list, examples as blocks of code."""
    lines = roles(doc or "").splitlines()
    out: list[str] = []
    at, section = 0, ""
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and set(lines[at + 1]) == {"-"}:
            section = line
            out += [f"**{line}**", ""]
            at += 2
        elif line.lstrip().startswith(">>>"):
            block, at = until_blank(lines, at)
            out += ["```python", *inspect.cleandoc("\n".join(block)).splitlines(), "", "```"]
        elif line == "::":
            block, at = until_blank(lines, at + 2)
            out += ["```text", *inspect.cleandoc("\n".join(block)).splitlines(), "```"]
        elif line.startswith(".. math::"):
            block, at = until_blank(lines, at)
            out += ["$$", *[part.strip() for part in " ".join(block)[9:].splitlines()], "$$"]
        elif section == "Parameters" and line and not line.startswith(" "):
            body = at + 1
            while body < len(lines) and (lines[body].startswith(" ") or not lines[body]):
                body += 1
            names, _, kind = line.partition(" : ")
            text = inspect.cleandoc("\n".join(lines[at + 1 : body])).splitlines()
            shown = ", ".join(f"`{name}`" for name in names.split(", "))
            out += bullet(f"{shown}{f' ({kind})' if kind else ''}", text)
            out += [""] if body < len(lines) and not lines[body - 1] else []
            section = section if not (body < len(lines) and not lines[body - 1]) else ""
            at = body
        else:
            out.append(line)
            at += 1
    return out


def roles(text: str) -> str:
    """Names and formulas, from reStructuredText's roles to Markdown."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text)
    return text.replace("``", "`")


def bullet(head: str, body: list[str]) -> list[str]:
    """An item of a list."""
    if not body:
        return [f"- {head}"]
    if body[0].startswith("- "):
        return [f"- {head}", *(f"  {line}".rstrip() for line in body)]
    return [f"- {head}: {body[0]}", *(f"  {line}".rstrip() for line in body[1:])]


def until_blank(lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines up to the next empty one, and where that is."""
    end = at
    while end < len(lines) and lines[end]:
        end += 1
    return lines[at:end], end


if __name__ == "__main__":
    main()
