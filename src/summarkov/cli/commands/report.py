"""``summarkov report``: a model as a page to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from summarkov.cli.files import check_output, is_a, load_model, saving
from summarkov.cli.options.reading import PLAIN, Reading
from summarkov.cli.options.shared import Jobs, Json, ModelFile, option, takes_options
from summarkov.cli.printing.console import output as results
from summarkov.cli.printing.console import print_json, print_line, progress, shown, working
from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.explain import GroupComparison


@takes_options
def report(
    model: ModelFile,
    output: Annotated[Path, option("FILE", "Where to save the page.", "--output -o")] = Path("report.html"),
    events: Annotated[
        Path | None,
        option(
            "FILE",
            "The events it was learned from, to show how long their sequences are and when a label "
            "comes after its influencers.",
        ),
    ] = None,
    passages: Annotated[
        Path | None,
        option(
            "FILE",
            "The events that 'summarkov text' made, to show the sentences behind every edge. "
            "They become part of the page.",
        ),
    ] = None,
    title: Annotated[str | None, option("TEXT", "What the events are, as the page's title.")] = None,
    sequences: Annotated[
        int | None,
        option(
            "N",
            "Put N of the sequences of --events into the page, to look at one event after the other. "
            "Whoever has the page can read them.",
        ),
    ] = None,
    group: Annotated[
        list[Path] | None,
        option(
            "FILE",
            "Events of a group of sequences. Give it two times or more, to show groups side by side, "
            "each against the first.",
        ),
    ] = None,
    reading: Reading = PLAIN,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Write a model as one HTML page that needs nothing else, and can be mailed.

    It shows the graph, every label's states and the data, and computes what
    a history of your own makes of every label's probability.
    """
    check_output(output, model, events, passages, *(group or ()))
    fitted = load_model(model, "Bag", "JointSuMM", "OutcomeModel")
    reading = reading.as_learned(fitted.layout_)
    if is_a(fitted, "OutcomeModel"):
        if passages is not None or group:
            raise SettingError("the page of an outcome has no passages and no groups; leave these out")
        if fitted.outcome is not None:
            reading = replace(reading, attribute=[*(reading.attribute or []), fitted.outcome])
    data = None if events is None else reading.read(events, fitted.labels_)
    quoted = None
    if passages is not None:
        from summarkov.text import read_text_events

        with working(f"Reading {passages}"):
            quoted = read_text_events(passages)
    groups = (
        None
        if not group
        else _compared(fitted, {path: reading.read(path, fitted.labels_) for path in group}, jobs)
    )
    with working(f"Writing {shown(output)}"), saving(output):
        more = {} if is_a(fitted, "OutcomeModel") else {"passages": quoted, "groups": groups}
        fitted.to_html(output, events=data, title=title, sequences=sequences, **more)
    if json:
        from summarkov.io.addresses import size_of

        print_json({"saved": shown(output), "bytes": size_of(output)})
    else:
        print_line(results(), f"Saved the page as {shown(output)}; open it in a browser")


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
