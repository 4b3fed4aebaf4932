"""Model files of versions 1 and 2 in the words of version 3, whose reader checks what comes out of this."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from summarkov.errors import StoreError, place
from summarkov.evidence import ORDERS, Influence, effect_of
from summarkov.evidence.edges import CORRECTED, Totals
from summarkov.kernels import NONE
from summarkov.models.joint import JointSuMM
from summarkov.models.model import SummaryModel, all_families

Entry = dict[str, Any]

#: Settings that are younger than a file may be, and the values that files without them were written with.
_YOUNGER: Entry = {"max_sets": 100_000, "false_edges": None, "given": [], "contexts": 0.0, "paper": False}
#: Kinds of models that are gone.
_GONE = {"Bag": "a bag of models", "ContextTreeWeighting": "an average of context trees"}
#: What the verdicts of the order test were called.
_ORDERS = {"about order": ORDERS[0], "company only": ORDERS[1]}


def upgraded(document: Entry, read: Callable[[Entry], Any]) -> Entry:
    """A document of version 1 or 2 as one of version 3; ``read`` makes the graph of such a document."""
    kind, model = document.get("kind"), document.get("model")
    for gone in (kind, model):
        if isinstance(gone, str) and gone in _GONE:
            raise StoreError(f"{_GONE[gone]}, which this version no longer has; fit a JointSuMM instead")
    if kind == "OutcomeModel" and "open_cases" not in document:
        raise StoreError(
            "a model of an outcome from before outcomes were about whole cases, so its numbers mean "
            "something else; learn it again with 'summarkov outcome' or OutcomeModel.fit"
        )
    families: dict[Any, type[SummaryModel | JointSuMM]] = {**all_families(), "JointSuMM": JointSuMM}
    family, data = families.get(model if "model" in document else kind), document["data"]
    known = family().get_params(deep=False) if family else {}
    new = {**document, "version": 3, "settings": _settings(document["settings"], known)}
    if kind == "JointSuMM":
        return new | _joint(document)
    counted = {*(data.get("outcomes") or data["labels"])} - {*data.get("attributes", [])}
    if not data.get("together") or data.get("outcomes"):
        new["data"] = {**data, "positions": sum(n for x, n in data["labels"].items() if x in counted)}
    new["targets"] = [{**each, **_counted(each, is_tree=model == "TreeSuMM")} for each in document["targets"]]
    if asked := document.get("outcome"):
        texts = {name: asked[name] for name in ("value", "contains", "ends_with", "after")}
        texts = {
            name: text for name, text in {"outcome": asked["column"], **texts}.items() if text is not None
        }
        new["outcome"] = {**asked, "settings": texts}
    if order := document.get("order"):
        new["order"] = {**order, "edges": [_order(edge) for edge in order["edges"]]}
    if kind == "InfluenceGraph" and (sure := document.get("confidence")):
        models = read({**new, "confidence": None}).models_.values()
        edges = {(edge.influencer, edge.target): edge for each in models for edge in each.fitted.influences}
        with place(".confidence"):
            new["confidence"] = {"n_sequences": sure.get("n_units"), **sure, **_confidence(sure, edges)}
    return new


def _settings(old: Entry, known: Entry) -> Entry:
    """Settings with those that are younger, and without those that are gone."""
    found = {name: value for name, value in _YOUNGER.items() if name in known} | old
    if "random_state" in known and "seed" in found:
        seed = found.pop("seed")
        found["random_state"] = found.get("random_state") or seed
    if "max_depth" in known:  # a tree
        if found.pop("average", False):
            raise StoreError(".settings: trees are no longer averaged over prunings; learn the model again")
        found.pop("split", None)
    return found


def _counted(old: Entry, is_tree: bool) -> Entry:
    """What was counted of edges, in the order of influencers and labels; it stood there by their names."""
    labels, found = old["target"], dict.fromkeys(("moments", "clusters"))
    followings, moments, clusters = (old.get(name) for name in ("followings", "moments", "clusters"))
    if followings is None and (older := old.get("sequences")) is not None:
        followings = {
            z: {x: {"cases_followed": one["followed"][x]} for x in labels} for z, one in older.items()
        }
    if followings is not None and not (is_tree and moments is None):  # such trees counted other hits
        if followings and list(followings) != old["influencers"]:
            raise StoreError(f".targets: expected 'followings' of each of {', '.join(old['influencers'])}")
        found["followed"] = [[each[x] for x in labels] for each in followings.values()]
    z_of = old["influencers"]
    if moments is not None:
        rows = [[moments[z][x] for x in labels] for z in z_of if moments]
        found["moments"] = [[[one[name] for name in Totals._fields] for one in row] for row in rows]
    if clusters is not None:
        ones, kinds = [clusters[z] for z in z_of if clusters], (0, 1)
        squares = [[[one["squares"][x][kind] for one in ones] for x in labels] for kind in kinds]
        found["clusters"] = {"squares": squares, "n": [[one["n"][kind] for one in ones] for kind in kinds]}
    return found


def _numbers(old: Entry) -> Entry:
    """The entry of an edge with what null stands for in numbers that may be infinite or not known.

    There is no upper limit; a ratio that has a lower limit only is infinite, else it is not known.
    """
    found = dict(old)
    for name in (name for name, value in old.items() if value is None):
        if name.endswith(("low", "high")):
            found[name] = math.inf
        elif name.endswith("ratio") or name in ("observed", "shuffled"):
            which = name.removesuffix("ratio") if name.endswith("ratio") else ""
            is_endless = old.get(f"{which}high") is None and old.get(f"{which}low") and name != "shuffled"
            found[name] = math.inf if is_endless else math.nan
    return found


def _order(old: Entry) -> Entry:
    """What the order test found of an edge."""
    left, short = (each if each is None else _numbers(each) for each in map(old.get, ("remainder", "short")))
    if left is not None:
        left["without"] = left.get("inhibited", left.get("amplified"))
    order = _ORDERS.get(old["order"], old["order"])
    return {**_numbers(old), "order": order, "remainder": left, "short": short}


def _confidence(old: Entry, known: Mapping[tuple[str, str], Influence]) -> Entry:
    """Edges of the graph with what was found of them, and how often others were found."""
    edges: list[Entry] = []
    others: list[tuple[str, str, float]] = []
    for edge in map(_numbers, old["edges"]):
        names = edge["influencer"], edge["target"]
        mine, taken = known.get(names), ["frequency"]
        if mine is None:
            others.append((*names, edge["frequency"]))
            continue
        if "ratio" in edge:  # else of the first version, which had another measure: counts tell the ratio
            taken += ["effect", "low", "high"]
            taken += CORRECTED if math.isfinite(edge.get("corrected_low", math.inf)) else ()
        is_mine = "ratio" not in edge or (edge["low"], edge["high"]) == (mine.low, mine.high)
        interval = mine.interval if is_mine else "resampled"
        edges.append(vars(mine) | {"interval": interval} | {name: edge[name] for name in taken})
    return {"edges": edges, "others": others}


def _joint(old: Entry) -> Entry:
    """The penalty, edges, trees and contexts of a joint model."""
    codes = {None: 0} | {label: code for code, label in enumerate(old["data"]["labels"], start=1)}
    contexts, edges = old.get("last_labels", []), list(map(_numbers, old["edges"]))
    for edge in edges:
        edge.setdefault("cases_followed", edge.get("sequences"))
        edge["effect"] = effect_of(edge["low"], edge["high"], bool(edge.get("depends")))
        edge["interval"] = "likelihood"
    keys = [[codes[label] for label in one["last"]] for one in contexts]
    last = {"keys": keys, "counts": [one["counts"] for one in contexts]} if contexts else None
    trees = {name: _trees([one[name] for one in old["outcomes"]]) for name in ("trees", "alone")}
    return {**trees, "penalty": old["settings"]["penalty"], "last_labels": last, "edges": edges}


def _trees(old: list[list[Entry]]) -> Entry:
    """Trees of all outcomes, round by round, each with as many splits as it may have."""
    flat = [tree for of_round in zip(*old, strict=True) for tree in of_round]
    none = [(NONE, NONE, 0)]
    filled = [one["splits"] + none * (len(one["values"]) - 1 - len(one["splits"])) for one in flat]
    splits = {
        name: [[split[k] for split in tree] for tree in filled]
        for k, name in enumerate(("leaf", "feature", "level"))
    }
    return {**splits, "value": [one["values"] for one in flat], "n_outcomes": len(old)}
