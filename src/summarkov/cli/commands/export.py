"""``summarkov export``: a model as a figure, or as a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from summarkov.cli.files import (
    TABLES,
    check_output,
    is_a,
    load_model,
    refuse_unless_csv,
    saving,
    suffix_of,
    write_table,
)
from summarkov.cli.options.shared import ModelFile, SafeCsv, option
from summarkov.cli.printing.console import output, print_line, shown
from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.models import InfluenceGraph, JointSuMM

_FIGURES = (".pdf", ".svg", ".png")
_ONLY_GRAPHS = "--edges, --width and --font-size are for figures of a graph: leave them out here"
_TEXTS = {".dot": "to_dot", ".gv": "to_dot", ".mmd": "to_mermaid", ".graphml": "to_graphml"}


def export(
    model: ModelFile,
    out: Annotated[
        Path,
        option(
            "FILE",
            "What to write; its ending tells the format: .pdf, .svg or .png for a figure; .dot or .gv "
            "(Graphviz), .mmd (Mermaid), .graphml; .csv or .parquet for a table of the edges.",
            "--out -o",
        ),
    ],
    target: Annotated[
        str | None,
        option("LABEL", "The model of this label alone; a figure shows its states.", "--target -t"),
    ] = None,
    edges: Annotated[
        int | None, option("N", "In a figure of a graph: at most the N surest edges.", min=1)
    ] = None,
    width: Annotated[float | None, option("INCHES", "How wide a figure of a graph is.", min=1)] = None,
    font_size: Annotated[
        float | None, option("POINTS", "Of the labels in a figure of a graph.", min=1)
    ] = None,
    safe_csv: SafeCsv = False,
) -> None:
    """Write a model as a figure, a graph file or a table of its edges.

    A figure of a graph shows who influences whom, one of a single target the
    probability of the label in every state of the past (or a tree's questions).
    """
    from summarkov.cli.commands.show import as_graph, choose

    kind = suffix_of(out)
    if kind not in (*_FIGURES, *TABLES, *_TEXTS):
        known = ", ".join([*_FIGURES, *_TEXTS, *TABLES])
        raise SettingError(f"cannot tell the format of {shown(out)}; let its name end in one of {known}")
    if safe_csv:
        refuse_unless_csv(out)
    asked = {"most": edges, "size": width, "font_size": font_size}
    options = {name: value for name, value in asked.items() if value is not None}
    check_output(out, model)
    fitted = load_model(model, "JointSuMM")
    if is_a(fitted, "JointSuMM") and target is not None:
        raise SettingError("a joint model is drawn and written as a whole; leave out --target")
    with saving(out):
        if is_a(fitted, "JointSuMM") and kind in _FIGURES:
            _figure(None, None, fitted, out, options)
        elif kind in _FIGURES:
            _figure(*choose(fitted, target), fitted, out, options)
        elif options:
            raise SettingError(_ONLY_GRAPHS)
        else:
            _write(fitted if is_a(fitted, "JointSuMM") else as_graph(fitted, target), kind, out, safe_csv)
    print_line(output(), f"Saved {shown(out)}")


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


def _write(graph: InfluenceGraph | JointSuMM, kind: str, out: Path, safe_csv: bool) -> None:
    from summarkov.io.temporary import write_atomically

    if kind in _TEXTS:
        write_atomically(out, getattr(graph, _TEXTS[kind])())
        return
    write_table(graph.edges_.to_frame("pyarrow"), out, safe_csv)
