"""Models as plain JSON that a colleague can read in ten years."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.models.bag import Bag
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel
from summarkov.models.stored_bags import influence_documents
from summarkov.models.stored_certificates import certificate_document
from summarkov.models.stored_confidence import confidence_document
from summarkov.models.stored_order import order_document
from summarkov.models.stored_states import (
    learned_document,
    plain,
    state_document,
)
from summarkov.models.stored_trees import tree_document
from summarkov.settings import seed_of
from summarkov.store import write_sealed
from summarkov.summaries import CustomSummary, TreeSummary

#: Of the format.
VERSION = 2
#: Settings that are lists of numbers; other lists are sets of labels.
NUMBERS = ("lookback", "lookbacks", "counts", "starts")
_NOT_STORED = ("target", "n_jobs")  # stored elsewhere, and of this machine only


def save(model: SummaryModel | InfluenceGraph | Bag, path: str | PathLike[str]) -> None:
    """Write a fitted model, graph or bag."""
    write_sealed(path, to_document(model), indent=1)


def to_document(model: SummaryModel | InfluenceGraph | Bag) -> dict[str, Any]:
    """A fitted model, graph or bag as plain values."""
    if isinstance(model, Bag):
        return {
            "format": "summarkov",
            "version": VERSION,
            "kind": "Bag",
            "settings": {"n_models": len(model.models_), "seed": seed_of(model.seed, model.random_state)},
            "usage": model.usage_,
            **({"influences": influence_documents(model)} if hasattr(model, "_influences") else {}),
            "models": [to_document(each) for each in model.models_],
        }
    models = list(model.models_.values()) if isinstance(model, InfluenceGraph) else [model]
    first = models[0]
    fitted = first.fitted
    sure = model.confidence_ if isinstance(model, InfluenceGraph) else None
    order = model.order_ if isinstance(model, InfluenceGraph) else None
    return {
        "format": "summarkov",
        "version": VERSION,
        "kind": "InfluenceGraph" if isinstance(model, InfluenceGraph) else type(model).__name__,
        "model": type(first).__name__,
        "settings": _settings(first),
        "data": {
            "sequences": fitted.n_sequences,
            "scale": fitted.scale,
            "labels": dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True)),
        },
        "targets": [_target_document(m) for m in models],
        **({} if sure is None else {"confidence": confidence_document(sure)}),
        **({} if order is None else {"order": order_document(order)}),
    }


def _settings(model: SummaryModel) -> dict[str, Any]:
    """The settings that the model was fitted with, whatever was set since."""
    settings = {k: v for k, v in model.fitted.settings.items() if k not in _NOT_STORED}
    for name, value in settings.items():
        if name == "summary":
            summary = model.fitted.summary
            assert isinstance(summary, CustomSummary)
            if summary.name is None:
                raise SettingError(
                    "a model with your own summary can be stored once that is registered: "
                    "put @summarkov.register_summary('a name') above the class"
                )
            settings[name] = summary.name
        elif isinstance(value, Mapping):
            settings[name] = dict(sorted((label_text(label), plain(k)) for label, k in value.items()))
        elif isinstance(value, np.number):
            settings[name] = value.item()
        elif value is not None and not isinstance(value, str | int | float | bool):
            settings[name] = [plain(number) for number in value] if name in NUMBERS else vocabulary_of(value)
    return settings


def _target_document(model: SummaryModel) -> dict[str, Any]:
    fitted = model.fitted
    return {
        "target": list(model.target_),
        "influencers": list(fitted.influencer_labels),
        **learned_document(fitted),
        "score": fitted.score if np.isfinite(fitted.score) else None,
        "log_likelihood": fitted.log_likelihood,
        **({} if fitted.followed is None else {"sequences": _sequences(model)}),
        **({"tree": tree_document(fitted)} if isinstance(fitted.summary, TreeSummary) else {}),
        "states": [
            {"state": state_document(fitted, key), "counts": n, "probabilities": p}
            for key, n, p in zip(
                fitted.table.keys.tolist(),
                fitted.observed.tolist(),
                fitted.theta[:-1].tolist(),
                strict=True,
            )
        ],
        "trace": [dict(vars(step)) for step in model.trace_],
        **({} if fitted.certificate is None else {"certificate": certificate_document(fitted.certificate)}),
    }


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
