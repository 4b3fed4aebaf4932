"""Model files: plain JSON that a colleague can read in ten years.

A file holds counts, settings and results of tests; what follows from counts is there for people only, and
worked out again when a file is loaded. JSON has no infinity: what is infinite or not known is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.errors import DataError, SettingError, StoreError, place
from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.explain.contrasts import Totals
from summarkov.kernels import NONE
from summarkov.models.joint_features import PER_LABEL
from summarkov.settings import Duration
from summarkov.store import Place, check_seal, finite, read_document, write_sealed
from summarkov.summaries import CustomSummary

if TYPE_CHECKING:
    from summarkov.confidence import Confidence, EdgeOrder, OrderTest
    from summarkov.engines.followings import Following
    from summarkov.models.fitted import Fitted
    from summarkov.models.graph import InfluenceGraph
    from summarkov.models.joint import JointSuMM
    from summarkov.models.joint_fitted import FittedJoint
    from summarkov.models.model import SummaryModel
    from summarkov.models.outcome import OutcomeModel
    from summarkov.search.boosting import Trees

#: Of the format.
VERSION = 2
#: Settings that are lists of numbers; other lists are sets of labels.
NUMBERS = ("lookback", "lookbacks", "counts", "starts")
#: Settings that are stored elsewhere, or are of this machine only.
NOT_STORED = ("target", "n_jobs")
#: How often a target follows an influencer, in the edges of a joint model.
FOLLOW_FIELDS = (
    *("cases_with", "cases_followed", "occurrences", "followed", "follow_rate"),
    *("occurrences_other", "followed_other", "follow_rate_other", "left_out", "follow_rule"),
    *("cases_both", "cases_first"),
)
#: What a file says of an edge of a joint model.
JOINT_EDGE = (
    *("influencer", "target", "depends", "ratio", "low", "high"),
    *("hits_with", "n_with", "hits_without", "n_without", *FOLLOW_FIELDS),
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


def load(path: Place) -> SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel:
    """Read a model or graph that ``save`` wrote; what is wrong with the file is named with its place.

    ``path`` is that of a file, an address such as ``"s3://bucket/model.json"``, or a file that is open.

    Returns a model (``BSuMM``, ..., ``JointSuMM``), an ``InfluenceGraph`` or an ``OutcomeModel``.
    """
    from summarkov.models.stored import read_model  # which needs msgspec

    name, document = read_document(path)
    with place(name):
        if not isinstance(document, dict) or document.get("format") != "summarkov":
            raise StoreError("not a summarkov model; its 'format' is not 'summarkov'")
        version = document.get("version")
        if type(version) is not int or version < 1:
            raise StoreError.expected("a 'version' from 1 on", version)
        if version > VERSION:
            raise StoreError(
                f"written in version {version} of the format, but this program reads versions 1 to "
                f"{VERSION}; install a newer summarkov"
            )
        if document.get("kind") == "Bag":
            raise StoreError("a bag of models, which this version no longer has; fit a JointSuMM instead")
        try:
            model: SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel = read_model(document)
        except (SettingError, DataError) as problem:
            raise StoreError(f".settings: {problem}") from None
        check_seal(document)
    return model


# ---------------------------------------------------------------------- models of one summary, and graphs


def document_of(kind: str) -> dict[str, Any]:
    """What every file begins with."""
    return {"format": "summarkov", "version": VERSION, "kind": kind}


def models_document(kind: str, models: Sequence[SummaryModel]) -> dict[str, Any]:
    """Fitted models that share their settings and data, as plain values."""
    first = models[0].fitted
    layout = first.layout
    return {
        **document_of(kind),
        "model": type(models[0]).__name__,
        "settings": settings_document(first),
        "data": {
            "sequences": first.n_sequences,
            "scale": first.scale,
            "labels": dict(zip(first.labels, first.label_counts.tolist(), strict=True)),
            **({"together": True, "positions": int(first.table.counts.sum())} if layout.together else {}),
            **({} if layout.time is None else {"time": layout.time}),
            **({"attributes": list(layout.attributes)} if layout.attributes else {}),
            **({"outcomes": list(layout.outcomes)} if layout.outcomes else {}),
        },
        "n_targets": first.n_targets,
        "targets": [_target_document(model) for model in models],
    }


def settings_document(fitted: Fitted | FittedJoint) -> dict[str, Any]:
    """The settings that the model was fitted with, whatever was set since."""
    settings = {k: v for k, v in fitted.settings.items() if k not in NOT_STORED}
    for name, value in settings.items():
        if name == "summary":
            assert isinstance(fitted.summary, CustomSummary)
            settings[name] = fitted.summary.stored_name()
        elif isinstance(value, Mapping):
            settings[name] = dict(sorted((label_text(label), _plain(k)) for label, k in value.items()))
        elif isinstance(value, str | int | float | bool | None | timedelta | np.generic):
            settings[name] = _plain(value)
        else:
            settings[name] = [_plain(number) for number in value] if name in NUMBERS else vocabulary_of(value)
    return settings


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta | np.timedelta64):
        return Duration.of(value, "lookback").text
    return value.item() if isinstance(value, np.generic) else value


def _target_document(model: SummaryModel) -> dict[str, Any]:
    fitted = model.fitted
    found: dict[str, Any] = {
        "target": list(model.target_),
        "influencers": list(fitted.influencer_labels),
        **fitted.summary.learned_document(fitted.labels),
        "score": fitted.score if np.isfinite(fitted.score) else None,
        "log_likelihood": fitted.log_likelihood,
        **_counted_of_edges(fitted),
        "states": states_document(fitted),
        "trace": [
            {name: value.text if isinstance(value, Duration) else value for name, value in vars(step).items()}
            for step in model.trace_
        ],
    }
    return found if fitted.certificate is None else {**found, "certificate": dict(vars(fitted.certificate))}


def states_document(fitted: Fitted) -> list[dict[str, Any]]:
    """The states that were seen, with their counts and estimates."""
    summary, names, labels = fitted.summary, fitted.influencer_labels, fitted.labels
    return [
        {"state": summary.state_document(key, names, labels), "counts": n, "probabilities": p}
        for key, n, p in zip(
            fitted.table.keys.tolist(), fitted.observed.tolist(), fitted.theta[:-1].tolist(), strict=True
        )
    ]


def _counted_of_edges(fitted: Fitted) -> dict[str, Any]:
    """What was counted of edges that states do not tell: followings, totals of trees, sums over sequences."""
    target, names = [fitted.labels[x] for x in fitted.target.codes], fitted.influencer_labels
    found: dict[str, Any] = {}
    if fitted.followed is not None:
        found["followings"] = {
            z: {x: _following(each) for x, each in zip(target, edges, strict=True)}
            for z, edges in zip(names, fitted.followed.edges, strict=False)
        }
    if fitted.moments is not None:
        found["moments"] = {
            z: {x: Totals(*n)._asdict() for x, n in zip(target, each.tolist(), strict=True)}
            for z, each in zip(names, fitted.moments, strict=True)
        }
    if (clusters := fitted.clusters) is not None:
        found["clusters"] = {
            z: {
                "n": clusters.n[:, u].tolist(),
                "squares": {x: clusters.squares[:, at, u].tolist() for at, x in enumerate(target)},
            }
            for u, z in enumerate(names)
        }
    return found


def _following(counted: Following) -> dict[str, Any]:
    """What was counted of an edge; lags only where a window was cut off."""
    names = ("cases_with", "cases_followed", "cases_both", "cases_first")
    found: dict[str, Any] = {name: getattr(counted, name) for name in names}
    for name, each in (("own", counted.own), ("others", counted.others)):
        found[name] = None if each is None else dict(vars(each))
    if counted.own is not None and counted.own.n_whole < counted.own.n and counted.lags is not None:
        found["lags"] = counted.lags.tolist()
    return {name: value for name, value in found.items() if value is not None}


# ---------------------------------------------------------------------- what was found out about edges


def confidence_document(confidence: Confidence) -> dict[str, Any]:
    """How sure the edges of a graph are, as plain values."""
    return {**vars(confidence), "edges": [finite(vars(edge)) for edge in confidence.edges]}


def order_document(found: OrderTest) -> dict[str, Any]:
    """An order test as plain values."""
    return {**vars(found), "edges": [_edge_order(edge) for edge in found.edges]}


def _edge_order(edge: EdgeOrder) -> dict[str, Any]:
    left = None
    if edge.remainder is not None:
        left = {"inhibited" if edge.ratio > 1 else "amplified": edge.remainder.without}
        left |= {name: value for name, value in finite(vars(edge.remainder)).items() if name != "without"}
    numbers = dict(vars(edge))
    if edge.local_low is None:  # of an earlier version
        for name in ("local_ratio", "local_low", "local_high", "hits", "expected"):
            del numbers[name]
    short = None if edge.short is None else finite(vars(edge.short))
    return {**finite(numbers), "remainder": left, "short": short}


# ---------------------------------------------------------------------- joint models


def joint_document(fitted: FittedJoint) -> dict[str, Any]:
    """A fitted joint model as plain values."""
    contexts: list[dict[str, Any]] = []
    if fitted.last is not None:  # how often each outcome followed the last labels, the last one first
        names = (None, *fitted.labels)
        contexts = [
            {"last": [names[code] for code in key], "counts": counts}
            for key, counts in zip(fitted.last.keys.tolist(), fitted.last.counts.tolist(), strict=True)
        ]
    return {
        **document_of("JointSuMM"),
        "settings": settings_document(fitted),
        "data": {
            "sequences": fitted.n_sequences,
            "labels": dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True)),
        },
        "log_likelihood": fitted.log_likelihood,
        "outcomes": [_outcome(fitted, x) for x in range(fitted.features.target.n_outcomes)],
        "last_labels": contexts,
        "edges": [{name: getattr(edge, name) for name in JOINT_EDGE} for edge in fitted.edges],
    }


def _outcome(fitted: FittedJoint, x: int) -> dict[str, Any]:
    codes, weights = fitted.features.target.codes, fitted.weights
    return {
        "target": fitted.labels[codes[x]] if x < len(codes) else None,
        "level": float(weights.level[x]),
        "habits": weights.own[:, x].tolist(),
        "place": weights.shared[PER_LABEL * len(fitted.labels) :, x].tolist(),
        "influencers": {
            fitted.labels[z]: {
                "weights": weights.shared[fitted.features.columns(z), x].tolist(),
                "gain": float(fitted.gains[z, x]),
            }
            for z in np.flatnonzero(fitted.chosen[:, x]).tolist()
        },
        "trees": _trees(fitted.trees, x),
        "alone": _trees(fitted.alone, x),
    }


def _trees(trees: Trees, outcome: int) -> list[dict[str, Any]]:
    return [
        {
            "splits": [
                [int(trees.leaf[t, k]), int(trees.feature[t, k]), int(trees.level[t, k])]
                for k in range(trees.leaf.shape[1])
                if trees.leaf[t, k] != NONE
            ],
            "values": trees.value[t].tolist(),
        }
        for t in range(outcome, len(trees), trees.n_outcomes)
    ]
