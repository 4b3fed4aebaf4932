"""Models as plain JSON that a colleague can read in ten years."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.settings import Duration
from summarkov.store import Node, Place, write_sealed
from summarkov.summaries import CustomSummary

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.joint_learning import FittedJoint
    from summarkov.models.model import SummaryModel

#: Of the format.
VERSION = 2
#: Settings that are lists of numbers; other lists are sets of labels.
NUMBERS = ("lookback", "lookbacks", "counts", "starts")
_NOT_STORED = ("target", "n_jobs")  # stored elsewhere, and of this machine only
#: Entries that are younger than the format: a file may be without them.
_YOUNGER = (
    *("sequences", "max_sets", "seldom", "false_edges", "n_targets", "classes"),
    *("corrected_ratio", "corrected_low", "corrected_high", "contexts", "last_labels"),
)


class Saved:
    """Something fitted that is kept in a file."""

    def to_document(self) -> dict[str, Any]:
        """What was learned, as plain values: what ``save`` writes."""
        raise NotImplementedError  # each class that takes this in has its own

    def save(self, path: Place) -> None:
        """Write it as JSON, all or nothing; :func:`summarkov.load` reads it.

        ``path`` is that of a file, an address such as ``"s3://bucket/model.json"``, or an open file to write
        to.
        """
        write_sealed(path, self.to_document(), indent=1)


def document_of(kind: str) -> dict[str, Any]:
    """What every file begins with."""
    return {"format": "summarkov", "version": VERSION, "kind": kind}


def models_document(kind: str, models: Sequence[SummaryModel]) -> dict[str, Any]:
    """Fitted models that share their settings and data, as plain values."""
    first = models[0].fitted
    return {
        **document_of(kind),
        "model": type(models[0]).__name__,
        "settings": settings_document(first),
        "data": {
            "sequences": first.n_sequences,
            "scale": first.scale,
            "labels": dict(zip(first.labels, first.label_counts.tolist(), strict=True)),
            **_layout(first),
        },
        "n_targets": first.n_targets,
        "targets": [_target_document(model) for model in models],
    }


def _layout(fitted: Fitted) -> dict[str, Any]:
    """What the data had beside events in a row."""
    layout = fitted.layout
    return {
        **({"together": True, "positions": int(fitted.table.counts.sum())} if layout.together else {}),
        **({} if layout.time is None else {"time": layout.time}),
        **({"attributes": list(layout.attributes)} if layout.attributes else {}),
        **({"outcomes": list(layout.outcomes)} if layout.outcomes else {}),
    }


def settings_document(fitted: Fitted | FittedJoint) -> dict[str, Any]:
    """The settings that the model was fitted with, whatever was set since."""
    settings = {k: v for k, v in fitted.settings.items() if k not in _NOT_STORED}
    for name, value in settings.items():
        if name == "summary":
            assert isinstance(fitted.summary, CustomSummary)
            settings[name] = fitted.summary.stored_name()
        elif isinstance(value, Mapping):
            settings[name] = dict(sorted((label_text(label), _plain(k)) for label, k in value.items()))
        elif isinstance(value, timedelta | np.timedelta64):
            settings[name] = Duration.of(value, name).text
        elif isinstance(value, np.generic):
            settings[name] = value.item()
        elif value is not None and not isinstance(value, str | int | float | bool):
            settings[name] = [_plain(number) for number in value] if name in NUMBERS else vocabulary_of(value)
    return settings


def _plain(number: Any) -> Any:
    if isinstance(number, timedelta | np.timedelta64):
        return Duration.of(number, "lookback").text
    return number.item() if isinstance(number, np.generic) else number


def _target_document(model: SummaryModel) -> dict[str, Any]:
    fitted = model.fitted
    return {
        "target": list(model.target_),
        "influencers": list(fitted.influencer_labels),
        **fitted.summary.learned_document(fitted.labels),
        "score": fitted.score if np.isfinite(fitted.score) else None,
        "log_likelihood": fitted.log_likelihood,
        **({} if fitted.followed is None else {"sequences": _sequences(model)}),
        "states": states_document(fitted),
        "trace": [
            {name: value.text if isinstance(value, Duration) else value for name, value in vars(step).items()}
            for step in model.trace_
        ],
        **({} if fitted.certificate is None else {"certificate": dict(vars(fitted.certificate))}),
    }


def states_document(fitted: Fitted) -> list[dict[str, Any]]:
    """The states that were seen, with their counts and estimates."""
    summary, names, labels = fitted.summary, fitted.influencer_labels, fitted.labels
    return [
        {"state": summary.state_document(key, names, labels), "counts": n, "probabilities": p}
        for key, n, p in zip(
            fitted.table.keys.tolist(), fitted.observed.tolist(), fitted.theta[:-1].tolist(), strict=True
        )
    ]


def _sequences(model: SummaryModel) -> dict[str, Any]:
    """In how many sequences each influencer occurred, and in how many each label of the target followed."""
    followed = model.fitted.followed
    assert followed is not None
    return {
        z: {"present": float(present), "followed": dict(zip(model.target_, each.tolist(), strict=True))}
        for z, present, each in zip(
            model.fitted.influencer_labels, followed.present, followed.followed, strict=False
        )
    }


def _is_words(document: Mapping[str, Any], name: str) -> bool:
    """Whether an entry says in words, for people, what other entries of the file say: rules of a tree."""
    return name == "rule" or (name == "label" and document.get("action") == "split")


def _refuse_no_words(node: Node, words: str | list[str]) -> None:
    """Refuse what is no text; an earlier version may have said the same in other words."""
    for text in [node] if isinstance(words, str) else node.list(len(words)):
        text.text()


def refuse_differences(node: Node, expected: Any) -> None:
    """Refuse a file that says something else than what was read from it would be written as.

    Most of what a file says follows from its counts and settings. So it is worked out from these, and what
    the file says is only compared with it.
    """
    if isinstance(expected, Mapping):
        for name, value in expected.items():
            if _is_words(expected, name):
                _refuse_no_words(node[name], value)
            elif name in node or name not in _YOUNGER:
                refuse_differences(node[name], value)
    elif isinstance(expected, list | tuple):
        for item, value in zip(node.list(len(expected)), expected, strict=True):
            refuse_differences(item, value)
    elif isinstance(expected, float):
        if not math.isclose(node.number(), expected, rel_tol=1e-9, abs_tol=1e-12):
            node.wrong(f"{expected:.6g}, which is what the rest of the file says")
    elif node.value != expected or isinstance(node.value, bool) != isinstance(expected, bool):
        found = json.dumps(expected, ensure_ascii=False)
        node.wrong(f"{found}, which is what the rest of the file says")
