"""``summarkov show``, ``export`` and ``report``: a model on the terminal, in another program, as a page."""

from __future__ import annotations

from typing import Any

from summarkov.cli.documents import choose, document, is_a
from summarkov.cli.files import check_output, load_model, saving, suffix_of, write_rows, write_text
from summarkov.cli.learned import learned
from summarkov.cli.page import Document, saved, shown, working
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError

_FIGURES = (".pdf", ".svg", ".png")
_TEXTS = {".dot": "to_dot", ".gv": "to_dot", ".graphml": "to_graphml"}


def show(given: Any) -> Document:
    """A model on the terminal."""
    fitted = load_model(given.model, "JointSuMM", *(() if given.target else ("OutcomeModel",)))
    parts = learned(fitted, given.target, rows=given.rows or None)
    return Document(lambda: document(fitted, given.target), parts)


def export(given: Any) -> Document:
    """A model as a figure, a graph file or a table."""
    from summarkov.models import InfluenceGraph

    out, kind = given.out, suffix_of(given.out)
    known = ", ".join([*_FIGURES, *_TEXTS, ".csv", ".parquet"])
    check_output(out, given.model, endings=f"one of {known}", safe_csv=given.safe_csv)
    asked = {"most": given.edges, "size": given.width, "font_size": given.font_size}
    options = {name: value for name, value in asked.items() if value is not None}
    fitted = load_model(given.model, "JointSuMM")
    if is_a(fitted, "JointSuMM") and given.target is not None:
        raise SettingError("a joint model is drawn and written as a whole; leave out --target")
    one, label = choose(fitted, given.target)
    if options and (one is not None or kind not in _FIGURES):
        raise SettingError("--edges, --width and --font-size are for figures of a graph: leave them out here")
    if kind in _FIGURES:
        from summarkov import plot

        if one is None:
            axes = plot.graph(fitted, **options)
        else:
            axes = (plot.states if one.fitted.nodes is None else plot.tree)(one, label=label)
        with saving(out):
            plot.save(axes, out)
        return saved(f"Saved {shown(out)}")
    if one is not None:  # a graph of its own
        if len(one.target_) > 1:
            raise SettingError(
                f"{kind} holds a graph, or a model of one label; this one is of several at once"
            )
        fitted = InfluenceGraph(one.copy(target=None), targets=one.target_)
        fitted._models = {one.target_[0]: one}
    if kind in _TEXTS:
        write_text(out, getattr(fitted, _TEXTS[kind])())
    else:
        frame = fitted.edges_.to_frame("pyarrow")
        write_rows([dict(zip(frame.column_names, frame.columns, strict=True))], out, safe_csv=given.safe_csv)
    return saved(f"Saved {shown(out)}")


def report(given: Any) -> Document:
    """A model as one page."""
    from summarkov.read.addresses import size_of

    output = given.output
    check_output(output, given.model, given.events, given.passages)
    fitted = load_model(given.model, "JointSuMM", "OutcomeModel")
    reading, more = Reading(given).as_learned(fitted.layout_), {}
    if is_a(fitted, "OutcomeModel"):
        if given.passages is not None:
            raise SettingError("the page of an outcome has no passages; leave out --passages")
        if fitted.outcome is not None:
            reading = reading.with_attribute(fitted.outcome)
    elif given.passages is not None:
        from summarkov.text import read_text_events

        more["passages"] = read_text_events(given.passages)
    events = None if given.events is None else reading.read(given.events, fitted.labels_)
    with working(f"Writing {shown(output)}"), saving(output):
        fitted.to_html(output, events=events, title=given.title, sequences=given.sequences, **more)
    words = f"Saved the page as {shown(output)}; open it in a browser"
    return saved(words, saved=shown(output), bytes=size_of(output))
