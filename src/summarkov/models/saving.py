"""What model files hold: plain JSON that a colleague can read in ten years. And results, read back from it.

JSON has no infinity, so that what is infinite or not known is null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import (
    ORDERS,
    Confidence,
    EdgeConfidence,
    EdgeOrder,
    OrderTest,
    Remainder,
    ShortScale,
    benjamini_hochberg,
    competing,
    order_word,
)
from summarkov.engines.followings import Followed
from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.explain import Influence, effect_of
from summarkov.models.bootstrap import edge_confidence
from summarkov.models.stored_followings import FOLLOW_FIELDS, following_document
from summarkov.models.stored_sums import sums_document
from summarkov.settings import Duration, is_whole
from summarkov.store import Node, Place, finite, write_sealed
from summarkov.summaries import CustomSummary

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.graph import InfluenceGraph
    from summarkov.models.joint_fitted import FittedJoint
    from summarkov.models.model import SummaryModel

#: Of the format.
VERSION = 2
#: Settings that are lists of numbers; other lists are sets of labels.
NUMBERS = ("lookback", "lookbacks", "counts", "starts")
#: Settings that are stored elsewhere, or are of this machine only.
NOT_STORED = ("target", "n_jobs")


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
    settings = {k: v for k, v in fitted.settings.items() if k not in NOT_STORED}
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
        **({} if fitted.followed is None else {"followings": _followings(model, fitted.followed)}),
        **sums_document(fitted),
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


def _followings(model: SummaryModel, followed: Followed) -> dict[str, Any]:
    """How often each label of the target follows each influencer."""
    return {
        z: {x: following_document(each) for x, each in zip(model.target_, edges, strict=True)}
        for z, edges in zip(model.fitted.influencer_labels, followed.edges, strict=False)
    }


# ---------------------------------------------------------------------- what was found out about edges

#: The counts of an edge.
COUNTS = ("hits_with", "n_with", "hits_without", "n_without")
#: What a file says of an edge of a joint model.
JOINT_EDGE = ("influencer", "target", "depends", "ratio", "low", "high", *COUNTS, *FOLLOW_FIELDS)


def confidence_document(confidence: Confidence) -> dict[str, Any]:
    """How sure the edges of a graph are, as plain values."""
    return {**vars(confidence), "edges": [finite(vars(edge)) for edge in confidence.edges]}


def order_document(found: OrderTest) -> dict[str, Any]:
    """An order test as plain values."""
    edges = []
    for edge in found.edges:
        left = None
        if edge.remainder is not None:
            left = {_without(edge): edge.remainder.without, **finite(vars(edge.remainder))}
            del left["without"]
        short = None if edge.short is None else finite(vars(edge.short))
        numbers = vars(edge)
        if edge.local_low is None:  # of an earlier version
            numbers = {name: numbers[name] for name in numbers if name not in _OF_SCALES}
        edges.append({**finite(numbers), "remainder": left, "short": short})
    return {**vars(found), "edges": edges}


#: What tests of earlier versions do not know.
_OF_SCALES = ("local_ratio", "local_low", "local_high", "hits", "expected")


def _without(edge: EdgeOrder) -> str:
    """What the labels are called that are left out of the remainder of an edge."""
    return "inhibited" if edge.ratio > 1 else "amplified"


def read_confidence(node: Node, graph: InfluenceGraph) -> Confidence:
    """Read it back; it must be about the edges of the graph."""
    n, level = _at_least_one(node["n"]), node["level"].number()
    if not 0 < level < 1:
        node["level"].wrong("a number above 0 and below 1")
    edges = tuple(_read_edge_confidence(item, graph, n) for item in node["edges"].list())
    names = [(edge.influencer, edge.target) for edge in edges]
    of_graph = {(z, x) for x, found in graph.influencers_.items() for z in found}
    if len(set(names)) < len(names) or not of_graph <= set(names):
        node["edges"].wrong("every edge of the graph, and each once")
    units = node["units"].one_of(("sequences", "blocks"))
    seldom = tuple(_read_seldom(item, graph, n) for item in node["seldom"].list()) if "seldom" in node else ()
    pairs = [(z, x) for z, x, _ in seldom]
    if len({*pairs, *names}) < len(pairs) + len(names):
        node["seldom"].wrong("each pair once, and none that is among 'edges'")
    return Confidence(n, node["seed"].count(), level, units, node["n_units"].count(), edges, seldom)


def _read_seldom(node: Node, graph: InfluenceGraph, n: int) -> tuple[str, str, int]:
    """A pair that few of ``n`` replicates have."""
    influencer, target, count = node.list(3)
    k = count.count()
    if not 0 < k < n:
        count.wrong(f"a whole number between 0 and {n}")
    return influencer.label(graph.labels_), target.one_of(graph.models_), k


def _read_edge_confidence(node: Node, graph: InfluenceGraph, n: int) -> EdgeConfidence:
    z, x = node["influencer"].label(graph.labels_), node["target"].one_of(graph.models_)
    frequency = node["frequency"].number()
    if not 0 <= frequency <= 1 or abs(frequency * n - round(frequency * n)) > 1e-6:
        node["frequency"].wrong(f"a share of {n}")
    known = next((i for i in graph.models_[x].fitted.influences if i.influencer == z), None)
    if "ratio" not in node:  # of the first version, which had another measure: counts tell the ratio
        return edge_confidence(z, x, known, frequency)
    ratio, low, high = _read_ratio(node)
    effect = effect_of(low, high, is_mixed(node))
    if known is not None:
        if (effect == "mixed") != (known.effect == "mixed"):
            node["effect"].wrong("'mixed' just where the counts say so")
        ratio = known.ratio
    return EdgeConfidence(
        z, x, known is not None, effect, ratio, low, high, frequency, *_read_corrected(node, known)
    )


def _read_corrected(
    node: Node, known: Influence | None
) -> tuple[float, float, float] | tuple[None, None, None]:
    """The ratio that allows for selection, where the edge was selected by a margin that is known."""
    if "corrected_low" not in node:  # younger than the format
        return None, None, None
    is_given = node["corrected_low"].value is not None
    if is_given != (known is not None and known.corrected_low is not None):
        node["corrected_low"].wrong("a number just for edges of the graph, if its models tell margins")
    return _read_ratio(node, "corrected_") if is_given else (None, None, None)


def read_order(node: Node, graph: InfluenceGraph) -> OrderTest:
    """Read an order test back; it must be about the edges of the graph."""
    n, n_pairs = _at_least_one(node["n"]), node["n_pairs"].count()
    given = node["within"]
    within = given.value if given.value is None else given.count() if is_whole(given.value) else given.text()
    if within == "":
        given.wrong("a whole number, a time, the name of a column or null")
    items = node["edges"].list()
    names = [
        (item["influencer"].label(graph.labels_), item["target"].one_of(graph.models_)) for item in items
    ]
    held = set(graph.layout_.attributes)
    every = ((z, x) for x, found in graph.influencers_.items() for z in found if z not in held)
    if sorted(names) != sorted(every):
        node["edges"].wrong("every edge of the graph, and each once")
    if n_pairs < len(items):
        node["n_pairs"].wrong("at least as many pairs as there are edges")
    adjusted = benjamini_hochberg([_read_share(item["p_value"]) for item in items], n_pairs)
    shown = {(e.influencer, x): e for x, m in graph.models_.items() for e in m.fitted.influences}
    edges = [
        _read_edge_order(item, name, q, shown.get(name))
        for item, name, q in zip(items, names, adjusted, strict=True)
    ]
    if "within_short" not in node:  # younger than the format
        _add_remainders(edges, [item["remainder"] for item in items], graph, n_pairs)
        return OrderTest(n, node["seed"].count(), within, n_pairs, tuple(edges))
    _add_short(edges, [item["short"] for item in items], n_pairs)
    _add_remainders(edges, [item["remainder"] for item in items], graph, n_pairs)
    short = None if node["within_short"].value is None else node["within_short"].count()
    learned = bool(node["after_selection"].value)
    return OrderTest(n, node["seed"].count(), within, n_pairs, tuple(edges), short, learned)


def _read_edge_order(node: Node, name: tuple[str, str], q: float, shown: Influence | None) -> EdgeOrder:
    """The verdict on one edge, which its numbers tell."""
    ratio, low, high = _read_ratio(node)
    observed, shuffled = (read_size(node[which], math.nan) for which in ("observed", "shuffled"))
    numbers = ratio, low, high, node["p_value"].number(), q, observed, shuffled
    size = math.nan if shown is None else shown.ratio
    if "local_low" not in node:  # younger than the format
        return EdgeOrder(*name, order_word(size, low, high, q), *numbers)
    local = _read_ratio(node, "local_")
    hits, expected = (read_size(node[which], math.nan) for which in ("hits", "expected"))
    fixed = shown is not None and shown.has_fixed_order
    evidence = 0.0 if shown is not None and shown.comes_first else max(hits, expected)
    word = order_word(size, *local[1:], q, evidence, fixed=fixed)
    return EdgeOrder(*name, word, *numbers, None, *local, hits, expected)


def _add_short(edges: list[EdgeOrder], nodes: list[Node], n_pairs: int) -> None:
    """Add what was found in short blocks."""
    there = [at for at, node in enumerate(nodes) if node.value is not None]
    adjusted = benjamini_hochberg([_read_share(nodes[at]["p_value"]) for at in there], n_pairs)
    for at, q in zip(there, adjusted, strict=True):
        if edges[at].order != ORDERS[0]:
            nodes[at].wrong("null, as this edge does not depend on order")
        short = ShortScale(*_read_ratio(nodes[at]), nodes[at]["p_value"].number(), q)
        edges[at] = replace(edges[at], short=short)


def _add_remainders(edges: list[EdgeOrder], nodes: list[Node], graph: InfluenceGraph, n_pairs: int) -> None:
    """Add what is left of edges beside those that compete with them."""
    some = competing(edges)
    either = {*some[0], *some[1]}
    for at, node in enumerate(nodes):
        if node.value is not None and at not in either:
            node.wrong("null, as nothing competes with this edge")
    for which in some:
        there = [at for at in which if nodes[at].value is not None]
        adjusted = benjamini_hochberg([_read_share(nodes[at]["p_value"]) for at in there], n_pairs)
        for at, q in zip(there, adjusted, strict=True):
            node = nodes[at]
            without = tuple(item.label(graph.labels_) for item in node[_without(edges[at])].list())
            left = Remainder(without, *_read_ratio(node), node["p_value"].number(), q)
            edges[at] = replace(edges[at], remainder=left)


def read_influence(node: Node, influencer: str, target: str, is_mixed: bool, **more: Any) -> Influence:
    """An influence, whose effect its interval tells unless it differs between configurations."""
    ratio, low, high = _read_ratio(node)
    more |= {name: read_size(node[name], 0.0) for name in COUNTS}
    return Influence(influencer, target, effect_of(low, high, is_mixed), ratio, low, high, **more)


def is_mixed(node: Node) -> bool:
    """Whether a file says that an effect differs between configurations."""
    return node["effect"].text() == "mixed"


def _read_ratio(node: Node, which: str = "") -> tuple[float, float, float]:
    """A ratio and its limits ``low`` and ``high``, whose names may begin with a word.

    Nothing is known of a ratio without limits; one that has a lower limit only is infinite.
    """
    low, high = read_size(node[f"{which}low"], 0.0), read_size(node[f"{which}high"], math.inf)
    if not low <= high:
        node[f"{which}low"].wrong(f"a number up to '{which}high'")
    unknown = math.inf if low > 0 and high == math.inf else math.nan
    return read_size(node[f"{which}ratio"], unknown), low, high


def read_size(node: Node, missing: float) -> float:
    """A number from 0 on; ``missing`` where it is null."""
    if node.value is None:
        return missing
    value = node.number()
    if value < 0:
        node.wrong("a number from 0 on")
    return value


def _read_share(node: Node) -> float:
    value = node.number()
    if not 0 <= value <= 1:
        node.wrong("a number from 0 to 1")
    return value


def _at_least_one(node: Node) -> int:
    if (n := node.count()) < 1:
        node.wrong("a whole number from 1 on")
    return n
