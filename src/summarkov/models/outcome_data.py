"""Data that tell how sequences ended: what is asked of them, and how far a model can be trusted on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov.engines import EventSource, Layout
from summarkov.engines.endings import EndedSource
from summarkov.engines.outcomes import NOT_KNOWN, NOT_TOLD, Outcome
from summarkov.errors import DataError, SettingError, nearest
from summarkov.models.families import SearchedModel
from summarkov.models.learning import check_time
from summarkov.models.model import SummaryModel
from summarkov.models.parameters import codes_of, label_list
from summarkov.models.tree import TreeSuMM
from summarkov.settings import Duration, check_whole, span_of
from summarkov.wording import plural


def outcome_of(
    source: EventSource,
    y: Iterable[object] | None,
    outcome: str | None,
    value: str | None,
    contains: str | None,
    ends_with: str | None,
    after: object,
) -> Outcome:
    """What tells the outcome, from the settings of an ``OutcomeModel``; see there."""
    if sum(each is not None for each in (outcome, contains, ends_with, y)) != 1:
        raise SettingError("say what the outcome is: one of outcome=, contains=, ends_with=, or y in fit")
    if contains is not None:
        found = Outcome(f"contains {contains}", contained=_code(source, contains))
    elif ends_with is not None:
        found = Outcome(f"ends with {ends_with}", last=_code(source, ends_with))
    elif y is not None:
        found = _given(source, list(y), value)
    else:
        found = _of_column(source, str(outcome), value)
    moment, layout = moment_of(after), Layout.of(source)
    if isinstance(moment, Duration):
        check_time("after", moment, layout)
    return replace(found, after=moment, thing="tick" if layout.together else "event")


def moment_of(after: object) -> int | Duration | None:
    """A moment in the life of a case: after a number of events, or at an age."""
    if after is None or isinstance(span_of(after, "after"), Duration):
        return None if after is None else Duration.of(after, "after")
    return check_whole("after", after, 1)


def left_out(outcome: Outcome, ended: EndedSource) -> dict[str, int]:
    """How many sequences do not count, by reason."""
    numbers = zip(outcome.reasons[1:], ended.survey[1:, 0].tolist(), strict=True)
    return {reason: n for reason, n in numbers if n}


def overall_rate(ended: EndedSource) -> float:
    """The share with the outcome of all sequences of which it is known, by weight."""
    known = ended.survey[[0, *range(3, len(ended.survey))]].sum(axis=0)
    return float(known[2] / known[1])


def classes_of(source: EventSource, y: list[Any] | None, column: str | None) -> tuple[Any, Any]:
    """The two values of an outcome, sorted; False and True if it has others, or is told by events."""
    values = set() if y is None else {each for each in y if each is not None and each == each}
    if column is not None:
        named = zip(source.labels, source.label_counts.tolist(), strict=True)
        values = {name.removeprefix(f"{column}=") for name, n in named if n and name.startswith(f"{column}=")}
        values -= {"(missing)"}
    first, second = sorted(values) if len(values) == 2 else (False, True)
    return first, second


def _code(source: EventSource, label: Any) -> int:
    """The code of a label of events."""
    held = set(source.attributes)
    if str(label) in held:
        raise SettingError(f"{label!r} is an attribute of sequences, and not a label of events")
    events = [each for each in source.labels if each not in held]
    (at,) = codes_of([label], events)
    return source.labels.index(events[at])


def _given(source: EventSource, y: list[object], value: str | None) -> Outcome:
    """From values that were given, one for each sequence."""
    if len(y) != source.n_sequences:
        raise DataError(f"there are {source.n_sequences} sequences but {len(y)} outcomes")
    values = [None if each is None or each != each else str(each) for each in y]
    chosen = _chosen("outcome", value, Counter(each for each in values if each is not None))
    hits = [NOT_KNOWN if each is None else int(each == chosen) for each in values]
    return Outcome(f"outcome={chosen}", hits=np.array(hits, np.int64))


def _of_column(source: EventSource, column: str, value: str | None) -> Outcome:
    """From the values of an attribute."""
    if not any(name.startswith(f"{column}=") for name in source.attributes):
        columns = sorted({name.partition("=")[0] for name in source.attributes})
        raise DataError(
            f"the events have no attribute {column!r}{nearest(column, columns)}; read them with "
            f"attributes=[{column!r}]"
        )
    named = {name.partition("=")[2]: name for name in source.attributes if name.startswith(f"{column}=")}
    codes = {text: int(np.searchsorted(source.labels, name)) for text, name in named.items()}
    counts = {text: int(source.label_counts[code]) for text, code in codes.items() if text != "(missing)"}
    chosen = _chosen(column, value, {text: n for text, n in counts.items() if n})
    values = np.full(len(source.labels) + 1, NOT_TOLD)
    for text, code in codes.items():
        values[code] = NOT_KNOWN if text == "(missing)" else int(text == chosen)
    return Outcome(f"{column}={chosen}", values=values)


def _chosen(column: str, value: str | None, counts: Mapping[str, int]) -> str:
    """The value that is asked about; of two the rarer one, if none is named."""
    if not counts:
        raise DataError(f"{column!r} is known of no sequence; give the outcome of some")
    if value is None:
        if len(counts) != 2:
            there = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
            raise SettingError(f"say which value of {column!r} is asked about: value= one of {there}")
        return min(sorted(counts), key=lambda name: counts[name])
    if str(value) not in counts:
        raise SettingError(
            f"no sequence has {column}={value}{nearest(str(value), list(counts))}; there are "
            f"{', '.join(sorted(counts))}"
        )
    return str(value)


def refuse_telling_label(
    outcome: Outcome, source: EventSource, forbidden: Iterable[object], candidates: Iterable[object] | None
) -> None:
    """Refuse an outcome that is also a label of events, by which it would be told after the fact."""
    value = outcome.name.partition("=")[2]
    is_given = outcome.values is not None or outcome.hits is not None
    if not is_given or value not in source.labels or value in source.attributes:
        return
    if value in map(str, forbidden) or (candidates is not None and value not in map(str, candidates)):
        return
    raise DataError(
        f"{value!r} is the outcome, and also a label of events, which would tell it after the fact; leave it "
        f"out of the model with forbidden=[{value!r}], or ask for contains={value!r} or ends_with={value!r}"
    )


def without_itself(template: SearchedModel | TreeSuMM, itself: object) -> SummaryModel:
    """A template with the label that is the outcome among the forbidden ones: it explains nothing."""
    if itself is None:
        return template
    if str(itself) in map(str, getattr(template, "required", ())):
        raise SettingError(f"{itself!r} is the outcome, so it cannot be required to influence it")
    forbidden = [str(each) for each in label_list("forbidden", template.forbidden)]
    return template.copy(forbidden=tuple(dict.fromkeys((*forbidden, str(itself)))))


def refuse_one_sided(outcome: Outcome, ended: EndedSource) -> None:
    """Refuse sequences that all have the outcome, all have not, or of which none is left to tell."""
    hits, others = (int(ended.label_counts[ended.labels.index(each)]) for each in outcome.names)
    if hits and others:
        return
    if hits or others:
        every = "every" if hits else "no"
        among = "case" if outcome.after is None else f"case that is open after {outcome.moment}"
        raise DataError(f"{every} {among} has the outcome {outcome.name!r}; there is nothing to tell apart")
    gone = " and ".join(f"{plural(n, 'case')} {why}" for why, n in left_out(outcome, ended).items())
    if outcome.after is None:
        raise DataError(f"the outcome of no case is known ({gone or 'there are none'}); give that of some")
    raise DataError(f"no case is left to learn from: {gone}; choose a smaller 'after'")
