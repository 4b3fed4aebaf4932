"""``summarkov confidence``, ``groups``, ``compare``, ``sensitivity``: how far to believe what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from summarkov.cli.errors import reporting
from summarkov.cli.learn import add_confidence, add_order_test, refuse_nothing_to_learn
from summarkov.cli.learned import learned
from summarkov.cli.page import Document, Headline, Line, Part, progress, shown
from summarkov.cli.reading import (
    Reading,
    check_output,
    load_model,
    make_template,
    read_values,
    save_model,
    write_text,
)
from summarkov.errors import SettingError
from summarkov.evidence.edges import Difference
from summarkov.evidence.groups import GroupComparison, shown_ratio
from summarkov.frames import Sheet
from summarkov.wording import factor_interval, number, percent, plural

#: The kinds of models whose edges are compared.
_KINDS = ("bsumm", "osumm", "csumm")


def confidence(given: Any) -> Document:
    """How sure each edge of a graph is."""
    from summarkov.models import InfluenceGraph

    output, seed = given.output, given.seed
    check_output(output, given.file)  # into the model itself is fine: nothing in it is lost
    graph = load_model(given.model)
    if not isinstance(graph, InfluenceGraph):
        raise SettingError(
            f"{given.model} is a model of one target; confidence is about the edges of a graph"
        )
    graph = graph.set_params(n_jobs=given.jobs)
    with Reading(given).as_learned(graph.layout_).open(given.file, known=graph.labels_) as (events,):
        if given.order_test:
            add_order_test(graph, events, within=given.within, seed=seed)
        add_confidence(graph, events, n=given.graphs, level=given.level, random_state=seed)
    saved = save_model(graph, output)

    def data() -> dict[str, Any]:
        tested = {} if graph.order_ is None else {"order": graph.order_}
        return {"saved": saved, **vars(graph.confidence_), **tested}

    said = [] if saved is None else ["", Line(f"Saved the graph as {saved}")]
    parts = [*learned(graph, every=given.all), *said]
    return Document(data, parts, more="--all prints all", is_short=not given.all)


# ---------------------------------------------------------------------- groups


def groups(given: Any) -> Document:
    """How groups of sequences differ."""
    from summarkov.models import compare_groups

    first, second, by = given.file, given.second, given.by
    template = make_template(given, _KINDS)
    reading = Reading(given).for_models(template)
    if (second is None) == (by is None):
        raise SettingError("groups are two files, or one file and --by; give one of these")
    asked: dict[str, Any] = {"by": by}
    if by is None:
        several = first.stem != second.stem
        asked = {"names": (first.stem, second.stem) if several else ("first", "second")}
    else:
        reading = reading.with_attribute(by)
    asked |= {"targets": given.target or None, "level": given.level, "n_jobs": given.jobs}
    files = [first] if second is None else [first, second]
    events = reading.read(*files, first=False)
    with progress("Comparing", 1, "steps") as advance:
        found = compare_groups(template, *([events] if by else events), **asked, progress=advance)
    parts = _differences(found, found.comparisons if by else [found], given.all)
    return Document(lambda: found, parts, more="--all prints all", is_short=not given.all)


def _differences(found: Any, each: Sequence[GroupComparison], every: bool) -> Iterator[Part]:
    """What differs between groups, or if nothing does what came nearest; all of it if ``every``."""
    rows: dict[str, list[tuple[Difference, str, tuple[str, ...]]]] = {"Influence": [], "Event type": []}
    for one in each:
        for edge in one.edges:
            ratios = shown_ratio(edge.first), shown_ratio(edge.second)
            cells = f"{edge.influencer} → {edge.target}", *ratios
            rows["Influence"].append((edge.change, one.names[1], cells))
        for label in one.labels:
            shares = percent(label.reach_first), percent(label.reach_second)
            rows["Event type"].append((label.reach, one.names[1], (label.label, *shares)))
    first, *others = each
    differing = {
        what: sum(change.adjusted <= 1 - first.level for change, *_ in some) for what, some in rows.items()
    }
    counted = " and ".join(plural(n, what.lower()) for what, n in differing.items())
    groups = zip(found.names, found.sizes, strict=True)
    yield Headline(
        f"{counted} surely differ between {', '.join(f'{x} ({number(n)} cases)' for x, n in groups)}."
    )
    few = getattr(found, "left_out", {})
    yield from (f"{name}: {plural(n, 'case')}, too few to compare" for name, n in few.items())
    if not rows["Influence"]:
        yield "No influence was found, neither in one of the groups nor in both together."
    sides = ("In", "Others", "Group") if others else first.names
    for what, some in rows.items():
        n, nearest = differing[what], not any(differing.values())
        some.sort(key=lambda row: (row[0].adjusted, row[0].p_value, row[2]))
        table = [
            (name, *[group] * bool(others), *cells, factor_interval(change.low, change.high))
            for change, group, (name, *cells) in (some if every else some[: n or 3])
        ]
        if table and (every or n or nearest):
            title = "" if n or every else "None surely differs; these come nearest:"
            yield Sheet(title, (what, *sides, "Change"), table, n if n and not every else len(some))
    yield (
        f"Change: how many times as large, {first.level:.0%} intervals that hold together. Influences: rate "
        "ratios, all influencers of either group held equal. Event types: share of cases with it."
    )


# ---------------------------------------------------------------------- other models, other settings


def compare(given: Any) -> Document:
    """Other models on the same events."""
    from summarkov.comparison import DEFAULT, NAMES
    from summarkov.comparison import compare as run
    from summarkov.comparison.tuning import lineup

    parts, output = given.parts or [], given.output
    names = list(NAMES) if given.model and "all" in given.model else given.model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_output(output, given.file, *parts, endings=".json")
    reading = Reading(given).for_models(*(getattr(each, "template", None) for each in lineup(names or ())))
    with (
        reading.open(given.file, *parts) as data,
        reporting(),
        progress("Comparing", given.splits * len(names or DEFAULT), "models") as advance,
    ):
        result = run(
            *data,
            models=names,
            targets=given.target,
            random_state=given.seed,
            n_jobs=given.jobs,
            splits=given.splits,
            progress=lambda done, total, what: advance(done, total),
        )

    def show() -> Iterator[Part]:
        yield result.summary()
        yield (
            f"Log-likelihood of the test {result.unit}s, mean over the target labels; log loss and Brier "
            f"per {result.unit} and label. Worse: the interval, from resampling the test sequences, lies "
            "below 0. The others this data cannot tell apart. For the next event the probabilities of all "
            "labels are divided by their sum; of equally likely ones the first by name counts."
        )
        if chosen := result.settings:
            yield ""
            yield "Settings that were best on dev for all labels together:"
            for model, settings in chosen.items():
                words = (", ".join(f"{name}={value}" for name, value in one.items()) for one in settings)
                yield f"{model}: {'; '.join(dict.fromkeys(words))}"

    def save() -> Iterator[Part]:
        if output is not None:
            write_text(output, result.to_dict())
            yield ""
            yield Line(f"Saved {shown(output)}")

    return Document(result.to_dict, show(), save)


def sensitivity(given: Any) -> Document:
    """Which influences stay with other settings."""
    from summarkov.models import InfluenceGraph
    from summarkov.models import sensitivity as run

    template = make_template(given, _KINDS, but=("gamma", "lookback"))
    gammas, lookbacks = read_values(given.gamma), read_values(given.lookback)
    reading = Reading(given).for_models(*(template.copy(lookback=k) for k in lookbacks))
    events = reading.read(given.file)
    refuse_nothing_to_learn(events, given.file)
    graph = InfluenceGraph(template, targets=given.target, n_jobs=given.jobs)
    total = len(set(given.target or events.labels)) * len(gammas) * len(lookbacks)
    with progress("Learning", total, "models") as advance:
        found = run(graph, events, gamma=gammas, lookback=lookbacks, progress=advance)
    title = f"Influences that some of {len(gammas) * len(lookbacks)} settings find, and with which values"
    paths = {"lookback": lookbacks, "gamma": gammas}
    return Document(lambda: {"paths": paths, "edges": found}, [found.sheet(title)], more="--json has all")
