"""``summarkov show``, ``export`` and ``report``: a model on the terminal, in another program, as a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from summarkov.cli.documents import choose, document, is_a
from summarkov.cli.files import TABLES, check_output, load_model, save_table, saving, suffix_of, write_text
from summarkov.cli.learned import learned
from summarkov.cli.options import command
from summarkov.cli.page import Document, Raw, progress, saved, shown, working
from summarkov.cli.reading import Reading, read_quoted
from summarkov.errors import SettingError
from summarkov.wording import escape, is_visible

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.explain import GroupComparison
    from summarkov.models import InfluenceGraph, JointSuMM


@command
def show(given: Any) -> Document:
    """Look at a model: who influences whom, how strongly, on how many observations.

    With --target, or for a model of one target: the probability of the label in
    every history state, with its interval and counts, and how the
    influencers were found.

    Options:
    <model>
    --target -t LABEL  Show the model of this label in full.
    --rows N>=0  Show at most N states; 0 for all. [default: 40]
    --dot  Print the graph in Graphviz's DOT language instead.
    <json>
    """
    target = given.target
    if given.dot and given.json:
        raise SettingError("--dot and --json exclude each other; give one of them")
    fitted = load_model(given.model, "JointSuMM", *(() if given.dot or target else ("OutcomeModel",)))
    if given.dot:
        return Document(dict, [_dot(fitted, target)])
    return Document(lambda: document(fitted, target), learned(fitted, target, rows=given.rows or None))


def _dot(fitted: Any, target: str | None) -> Raw:
    """DOT; what a terminal might obey is escaped, twice since a backslash escapes in DOT too."""
    choose(fitted, target)
    if target is not None and is_a(fitted, "JointSuMM"):
        raise SettingError("--dot draws all labels of a joint model; leave out --target")
    text = _as_graph(fitted, target).to_dot()
    return Raw("".join(c if is_visible(c) or c == "\n" else "\\" + escape(c) for c in text))


def _as_graph(fitted: Any, target: str | None) -> InfluenceGraph | JointSuMM:
    """A graph or a joint model; the model of one label as a graph of its own."""
    from summarkov.models import InfluenceGraph

    one, _ = choose(fitted, target)
    if one is None:
        return cast("InfluenceGraph | JointSuMM", fitted)
    if len(one.target_) > 1:
        raise SettingError("--dot draws a graph, or a model of one label; this one is of several at once")
    graph = InfluenceGraph(one.copy(target=None), targets=one.target_)
    graph._models = {one.target_[0]: one}
    return graph


_FIGURES = (".pdf", ".svg", ".png")
_ONLY_GRAPHS = "--edges, --width and --font-size are for figures of a graph: leave them out here"
_TEXTS = {".dot": "to_dot", ".gv": "to_dot", ".mmd": "to_mermaid", ".graphml": "to_graphml"}


@command
def export(given: Any) -> Document:
    """Write a model as a figure, a graph file or a table of its edges.

    A figure of a graph shows who influences whom, one of a single target the
    probability of the label in every history state (or a tree's questions).

    Options:
    <model>
    --out -o FILE  What to write; its ending tells the format: .pdf, .svg or .png for a figure; .dot or .gv
        (Graphviz), .mmd (Mermaid), .graphml; .csv or .parquet for a table of the edges. (required)
    --target -t LABEL  The model of this label alone; a figure shows its states.
    --edges N>=1  In a figure of a graph: at most the N surest edges.
    --width INCHES>=1  How wide a figure of a graph is.
    --font-size POINTS>=1  Of the labels in a figure of a graph.
    <safe-csv>
    """
    out, target, kind = given.out, given.target, suffix_of(given.out)
    known = ", ".join([*_FIGURES, *_TEXTS, *TABLES])
    check_output(out, given.model, endings=f"one of {known}", safe_csv=given.safe_csv)
    asked = {"most": given.edges, "size": given.width, "font_size": given.font_size}
    options = {name: value for name, value in asked.items() if value is not None}
    fitted = load_model(given.model, "JointSuMM")
    if is_a(fitted, "JointSuMM") and target is not None:
        raise SettingError("a joint model is drawn and written as a whole; leave out --target")
    if kind in _FIGURES:
        with saving(out):
            _figure(*choose(fitted, target), fitted, out, options)
    elif options:
        raise SettingError(_ONLY_GRAPHS)
    elif kind in _TEXTS:
        write_text(out, getattr(_as_graph(fitted, target), _TEXTS[kind])())
    else:
        save_table(_as_graph(fitted, target).edges_, out, safe_csv=given.safe_csv)
    return saved(f"Saved {shown(out)}")


def _figure(one: Any, label: str | None, fitted: Any, out: Path, options: dict[str, Any]) -> None:
    from summarkov import plot

    if one is None:
        axes = plot.graph(fitted, **options)
    elif options:
        raise SettingError(_ONLY_GRAPHS)
    else:
        draw = plot.states if one.fitted.nodes is None else plot.tree
        axes = draw(one, label=label)
    plot.save(axes, out)


@command
def report(given: Any) -> Document:
    """Write a model as one HTML page that needs nothing else, and can be mailed.

    It shows the graph, every label's states and the data, and computes what
    a history of your own makes of every label's probability.

    Options:
    <model>
    --output -o FILE  Where to save the page. [default: report.html]
    --events FILE  The events it was learned from, to show how long their sequences are and when a label comes
        after its influencers.
    --passages FILE  The events that 'summarkov text' made, to show the sentences behind every edge. They
        become part of the page.
    --title TEXT  What the events are, as the page's title.
    --sequences N  Put N of the sequences of --events into the page, to look at one event after the other.
        Whoever has the page can read them.
    --group FILE...  Events of a group of sequences. Give it two times or more, to show groups side by side,
        each against the first.
    <jobs>
    <json>
    <reading>
    """
    from summarkov.read.addresses import size_of

    output, group = given.output, given.group or []
    check_output(output, given.model, given.events, given.passages, *group)
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    is_outcome = is_a(fitted, "OutcomeModel")
    reading = Reading(given).as_learned(fitted.layout_)
    if is_outcome:
        if given.passages is not None or group:
            raise SettingError("the page of an outcome has no passages and no groups; leave these out")
        if fitted.outcome is not None:
            reading = reading.changed(attribute=[*reading.attributes, fitted.outcome])
    events = None if given.events is None else reading.read(given.events, fitted.labels_)
    more: dict[str, Any] = {}
    if not is_outcome:
        more["passages"] = None if given.passages is None else read_quoted(given.passages)
        read = {path: reading.read(path, fitted.labels_) for path in group}
        more["groups"] = _compared(fitted, read, given.jobs) if read else None
    with working(f"Writing {shown(output)}"), saving(output):
        fitted.to_html(output, events=events, title=given.title, sequences=given.sequences, **more)
    words = f"Saved the page as {shown(output)}; open it in a browser"
    return saved(words, saved=shown(output), bytes=size_of(output))


def _compared(fitted: Any, groups: Mapping[Path, EventSequences], jobs: int | None) -> list[GroupComparison]:
    """How each group but the first differs from the first, by the settings of a graph."""
    from summarkov.models import InfluenceGraph, compare_groups

    if not isinstance(fitted, InfluenceGraph):
        raise SettingError("groups are compared by a graph; learn the model without --target")
    if len(groups) < 2:
        raise SettingError("--group must be given two times or more, with other files")
    (first, events), *others = groups.items()
    found = []
    for path, other in others:
        names, targets = (first.stem, path.stem), list(fitted.models_)
        with progress(f"Comparing {path.stem}", 5, "steps") as advance:
            how: dict[str, Any] = {"names": names, "targets": targets, "n_jobs": jobs, "progress": advance}
            found.append(compare_groups(fitted.model, events, other, **how))
    return found
