"""``summarkov show``: look at a model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from summarkov.cli.files import is_a, load_model
from summarkov.cli.options.shared import Json, ModelFile, flag, option
from summarkov.cli.printing.console import output, print_json
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.wording import escape, is_visible

if TYPE_CHECKING:
    from summarkov.models import InfluenceGraph


def show(
    model: ModelFile,
    target: Annotated[
        str | None, option("LABEL", "Show the model of this label in full.", "--target -t")
    ] = None,
    rows: Annotated[int, option("N", "Show at most N states; 0 for all.", min=0)] = 40,
    dot: Annotated[bool, flag("--dot", "Print the graph in Graphviz's DOT language instead.")] = False,
    json: Json = False,
) -> None:
    """Look at a model: who influences whom, how strongly, on how many observations.

    With --target, or for a model of one target: the probability of the label in
    every state of the past, with its interval and counts, and how the
    influencers were found.
    """
    if dot and json:
        raise SettingError("--dot and --json exclude each other; give one of them")
    plain = not (dot or target)
    fitted = load_model(model, "JointSuMM", *(("Bag", "OutcomeModel") if plain else ()))
    if is_a(fitted, "OutcomeModel"):
        from summarkov.cli.printing.outcome import outcome_document, print_outcome

        if json:
            print_json(outcome_document(fitted))
        else:
            print_outcome(output(), fitted)
        return
    if is_a(fitted, "Bag"):
        from summarkov.cli.printing.graph import print_bag

        print_bag(output(), fitted, json)
        return
    if is_a(fitted, "JointSuMM"):
        _show_joint(fitted, target, dot, json)
        return
    if dot:
        print_dot(fitted, target)
        return
    one, label = choose(fitted, target)
    if json:
        from summarkov.cli.printing.documents import graph_document, model_document

        print_json(graph_document(fitted) if one is None else model_document(one))
    elif one is None:
        from summarkov.cli.printing.graph import print_graph

        print_graph(output(), fitted)
    else:
        from summarkov.cli.printing.model import print_model

        print_model(output(), one, only=label, most=rows or None)


def _show_joint(fitted: Any, target: str | None, dot: bool, json: bool) -> None:
    from summarkov.cli.printing.joint import joint_json, print_joint

    if target is not None and target not in fitted.influencers_:
        raise UnknownLabelError(target, fitted.influencers_)
    if dot:
        if target is not None:
            raise SettingError("--dot draws all labels of a joint model; leave out --target")
        _write_dot(fitted.to_dot())
    elif json:
        print_json(joint_json(fitted, target))
    else:
        print_joint(output(), fitted, target=target)


def choose(fitted: Any, target: str | None) -> tuple[Any, str | None]:
    """The model to show (None: the whole graph), and the one label of its target to show."""
    from summarkov.models import InfluenceGraph

    if isinstance(fitted, InfluenceGraph):
        if target is None:
            return None, None
        if target not in fitted.models_:
            raise UnknownLabelError(target, fitted.models_)
        return fitted.models_[target], None
    if target is not None and target not in fitted.target_:
        raise UnknownLabelError(target, fitted.target_)
    return fitted, target


def print_dot(fitted: Any, target: str | None) -> None:
    """Print DOT; what a terminal might obey is escaped, twice since a backslash escapes in DOT too."""
    _write_dot(as_graph(fitted, target).to_dot())


def _write_dot(text: str) -> None:
    sys.stdout.write("".join(c if is_visible(c) or c == "\n" else "\\" + escape(c) for c in text))


def as_graph(fitted: Any, target: str | None) -> InfluenceGraph:
    """A graph, or the model of one label as a graph of its own."""
    from summarkov.models import InfluenceGraph

    one, _ = choose(fitted, target)
    if one is None:
        assert isinstance(fitted, InfluenceGraph)
        return fitted
    if len(one.target_) > 1:
        raise SettingError("--dot draws a graph, or a model of one label; this one is of several at once")
    graph = InfluenceGraph(one.copy(target=None), targets=one.target_)
    graph._models = {one.target_[0]: one}
    return graph
