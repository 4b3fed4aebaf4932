"""``summarkov show``, ``export`` and ``report``: a model on the terminal, in another program, as a page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from summarkov.cli.files import TABLES, check_output, columns_of, load_model, saving, suffix_of, write_rows
from summarkov.cli.options import Jobs, Json, ModelFile, SafeCsv, flag, option
from summarkov.cli.printing import print_json, progress, results, shown, working
from summarkov.cli.printing.documents import choose, document, is_a
from summarkov.cli.printing.model import print_fitted
from summarkov.cli.reading import Reading, read_quoted
from summarkov.errors import SettingError
from summarkov.wording import escape, is_visible

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.explain import GroupComparison
    from summarkov.models import InfluenceGraph, JointSuMM


def show(
    model: ModelFile,
    target: str | None = option("LABEL", "Show the model of this label in full.", "--target -t"),
    rows: int = option("N", "Show at most N states; 0 for all.", min=0, default=40),
    dot: bool = flag("--dot", "Print the graph in Graphviz's DOT language instead."),
    json: Json = False,
) -> None:
    """Look at a model: who influences whom, how strongly, on how many observations.

    With --target, or for a model of one target: the probability of the label in
    every history state, with its interval and counts, and how the
    influencers were found.
    """
    if dot and json:
        raise SettingError("--dot and --json exclude each other; give one of them")
    plain = not (dot or target)
    fitted = load_model(model, "JointSuMM", *(("OutcomeModel",) if plain else ()))
    if dot:
        print_dot(fitted, target)
    elif json:
        print_json(document(fitted, target))
    else:
        print_fitted(results(), fitted, target, rows=rows or None)


def print_dot(fitted: Any, target: str | None) -> None:
    """Print DOT; what a terminal might obey is escaped, twice since a backslash escapes in DOT too."""
    choose(fitted, target)
    if target is not None and is_a(fitted, "JointSuMM"):
        raise SettingError("--dot draws all labels of a joint model; leave out --target")
    text = as_graph(fitted, target).to_dot()
    sys.stdout.write("".join(c if is_visible(c) or c == "\n" else "\\" + escape(c) for c in text))


def as_graph(fitted: Any, target: str | None) -> InfluenceGraph | JointSuMM:
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


def export(
    model: ModelFile,
    out: Path = option(
        "FILE",
        "What to write; its ending tells the format: .pdf, .svg or .png for a figure; .dot or .gv "
        "(Graphviz), .mmd (Mermaid), .graphml; .csv or .parquet for a table of the edges.",
        "--out -o",
        default=...,
    ),
    target: str | None = option(
        "LABEL", "The model of this label alone; a figure shows its states.", "--target -t"
    ),
    edges: int | None = option("N", "In a figure of a graph: at most the N surest edges.", min=1),
    width: float | None = option("INCHES", "How wide a figure of a graph is.", min=1),
    font_size: float | None = option("POINTS", "Of the labels in a figure of a graph.", min=1),
    safe_csv: SafeCsv = False,
) -> None:
    """Write a model as a figure, a graph file or a table of its edges.

    A figure of a graph shows who influences whom, one of a single target the
    probability of the label in every history state (or a tree's questions).
    """
    from summarkov.io.temporary import write_atomically

    kind = suffix_of(out)
    known = ", ".join([*_FIGURES, *_TEXTS, *TABLES])
    check_output(out, model, endings=f"one of {known}", safe_csv=safe_csv)
    asked = {"most": edges, "size": width, "font_size": font_size}
    options = {name: value for name, value in asked.items() if value is not None}
    fitted = load_model(model, "JointSuMM")
    if is_a(fitted, "JointSuMM") and target is not None:
        raise SettingError("a joint model is drawn and written as a whole; leave out --target")
    with saving(out):
        if kind in _FIGURES:
            _figure(*choose(fitted, target), fitted, out, options)
        elif options:
            raise SettingError(_ONLY_GRAPHS)
        else:
            graph = as_graph(fitted, target)
            if kind in _TEXTS:
                write_atomically(out, getattr(graph, _TEXTS[kind])())
            else:
                write_rows([columns_of(graph.edges_)], out, safe_csv=safe_csv)
    results().print_line(f"Saved {shown(out)}")


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


def report(
    model: ModelFile,
    output: Path = option("FILE", "Where to save the page.", "--output -o", default=Path("report.html")),
    events: Path | None = option(
        "FILE",
        "The events it was learned from, to show how long their sequences are and when a label "
        "comes after its influencers.",
    ),
    passages: Path | None = option(
        "FILE",
        "The events that 'summarkov text' made, to show the sentences behind every edge. "
        "They become part of the page.",
    ),
    title: str | None = option("TEXT", "What the events are, as the page's title."),
    sequences: int | None = option(
        "N",
        "Put N of the sequences of --events into the page, to look at one event after the other. "
        "Whoever has the page can read them.",
    ),
    group: list[Path] | None = option(
        "FILE",
        "Events of a group of sequences. Give it two times or more, to show groups side by side, "
        "each against the first.",
    ),
    reading: Reading = Reading(),
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Write a model as one HTML page that needs nothing else, and can be mailed.

    It shows the graph, every label's states and the data, and computes what
    a history of your own makes of every label's probability.
    """
    check_output(output, model, events, passages, *(group or ()))
    fitted = load_model(model, "JointSuMM", "OutcomeModel")
    reading = reading.as_learned(fitted.layout_)
    if is_a(fitted, "OutcomeModel"):
        if passages is not None or group:
            raise SettingError("the page of an outcome has no passages and no groups; leave these out")
        if fitted.outcome is not None:
            reading = replace(reading, attribute=[*(reading.attribute or []), fitted.outcome])
    data = None if events is None else reading.read(events, fitted.labels_)
    quoted = None if passages is None else read_quoted(passages)
    read = {path: reading.read(path, fitted.labels_) for path in group or ()}
    groups = _compared(fitted, read, jobs) if read else None
    with working(f"Writing {shown(output)}"), saving(output):
        more = {} if is_a(fitted, "OutcomeModel") else {"passages": quoted, "groups": groups}
        fitted.to_html(output, events=data, title=title, sequences=sequences, **more)
    if json:
        from summarkov.io.addresses import size_of

        print_json({"saved": shown(output), "bytes": size_of(output)})
    else:
        results().print_line(f"Saved the page as {shown(output)}; open it in a browser")


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
        with progress(f"Comparing {path.stem}", 5, "steps") as advance:
            found.append(
                compare_groups(
                    fitted.model,
                    events,
                    other,
                    names=(first.stem, path.stem),
                    targets=list(fitted.models_),
                    n_jobs=jobs,
                    progress=advance,
                )
            )
    return found
