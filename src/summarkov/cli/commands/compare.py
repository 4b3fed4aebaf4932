"""``summarkov compare`` and ``sensitivity``: other models on the same events, and other settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands.learn import refuse_nothing_to_learn
from summarkov.cli.files import check_output, going_on, json_text, suffix_of, write_text
from summarkov.cli.options import command, make_template, read_option, several
from summarkov.cli.page import Document, Headline, Line, Note, Part, Table, name, progress, sheet, shown
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError
from summarkov.wording import plural

if TYPE_CHECKING:
    from summarkov.comparison import Comparison
    from summarkov.models import Stability


@command
def compare(given: Any) -> Document:
    """Tune several models on one part of the data and see which predicts another part best.

    Options:
    <path>
    parts:[DEV TEST]...  Two more of these, if the data is split already.
    --model -m NAME...  A model to compare; may be repeated. bsumm, bsumm-auto, osumm, csumm, also with a
        look-back, bsumm-5 or bsumm-6h; tree, tree-average; chain-0 to chain-4; vom, ctw, kneser-ney; joint,
        joint-boosted; lr-presence-K, lr-counts-K, lr-onehot-K, lr-relaxed-K with K = 3, 5, 10; boosting; or
        all. Default: chain-0, chain-1, chain-2, bsumm, osumm. Where events happened together, or there are
        attributes: chain-0, bsumm, osumm.
    --target -t LABEL...  Average over these labels only; repeatable.
    --splits N  Split the file at random N times. [default: 1]
    --seed N  Seed of the first split. [default: 0]
    --output -o FILE  Save everything as .json, or the table as .md. An interrupted run goes on where it
        stopped when it is started again.
    --jobs -j N  Threads; -1 for one per core. [default: 1]
    <json>
    <opening>
    """
    from summarkov.comparison import DEFAULT, NAMES
    from summarkov.comparison import compare as run
    from summarkov.comparison.tuning import lineup

    parts, output = given.parts or [], given.output
    names = list(NAMES) if given.model and "all" in given.model else given.model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_output(output, given.file, *parts, endings=".json or .md")
    asked: dict[str, Any] = {
        "models": names,
        "targets": given.target,
        "seed": given.seed,
        "n_jobs": given.jobs,
    }
    reading = Reading(given).for_models(*(getattr(each, "template", None) for each in lineup(names or ())))
    with (
        reading.open_several([given.file, *parts], given.jobs) as data,
        going_on(output) as checkpoint,
        progress("Comparing", given.splits * len(names or DEFAULT), "models") as advance,
    ):
        asked["progress"] = lambda done, total, what: advance(done, total)
        result = run(*data, **asked, splits=given.splits, checkpoint=checkpoint)

    def save() -> Iterator[Part]:
        if output is not None:
            is_markdown = suffix_of(output) == ".md"
            write_text(output, result.to_markdown() if is_markdown else json_text(result.to_dict()))
            yield ""
            yield Line(f"Saved {shown(output)}")

    return Document(result.to_dict, _comparison(result), save)


def _comparison(result: Comparison) -> Iterator[Part]:
    yield from sheet(result.summary())
    yield (
        f"Log-likelihood of the test {result.unit}s, mean over the target labels; log loss and Brier per "
        f"{result.unit} and label. Worse: the interval, from resampling the test sequences, lies below 0. "
        "The others this data cannot tell apart. For the next event the probabilities of all labels are "
        "divided by their sum; of equally likely ones the first by name counts."
    )
    if chosen := result.settings:
        yield ""
        yield "Settings that were best on dev for all labels together:"
        yield from (f"{model}: {words}" for model, words in chosen.items())
    yield from (str(each) for each in result.windows if each.differs)


#: The kinds of models that have both settings.
_MODELS = ("bsumm", "osumm", "csumm")
_NAMES = {"lookback": "look-back", "gamma": "gamma"}


@command
def sensitivity(given: Any) -> Document:
    """Learn with every combination of some settings, and see which influences stay.

    Options:
    <file>
    --target -t LABEL...  Learn what influences this label; repeat for several. Without it: every label.
    --gamma G,G,...  Penalties for complexity to try. [default: 0.1,0.5,1]
    --lookback -k N,N,...  Look-backs to try: events, or times as 6h; none: the whole past. [default: 1,5,10]
    --model -m KIND  bsumm, osumm or csumm. [default: bsumm]
    --alpha A  Pseudo-count of each outcome. Default 0.1.
    --search greedy|sweep|exact  The search. Default greedy.
    <jobs>
    <json>
    <reading>
    """
    from summarkov.models import InfluenceGraph
    from summarkov.models import sensitivity as run

    template = make_template(given.model, {"alpha": given.alpha, "search": given.search}, _MODELS)
    gammas = read_option(
        "gamma", given.gamma, lambda text: [*map(float, text.split(","))], "numbers such as 0.1,0.5,1"
    )
    lookbacks = read_option(
        "lookback", given.lookback, several, "numbers or times such as 1,5,10 or 6h,1d, or none"
    )
    reading = Reading(given).for_models(*(template.copy(lookback=k) for k in lookbacks))
    events = reading.read(given.file)
    refuse_nothing_to_learn(events, given.file)
    what: Any = InfluenceGraph(template, targets=given.target, n_jobs=given.jobs)
    total = len(set(given.target or events.labels)) * len(gammas) * len(lookbacks)
    with progress("Learning", total, "models") as advance:
        found = run(what, events, gamma=gammas, lookback=lookbacks, progress=advance)
    return Document(found.to_dict, _stability(found))


def _stability(found: Stability) -> Iterator[Part]:
    edges, n = found.edges, len(found.settings)
    yield Headline(f"{plural(len(edges), 'influence')} in {plural(n, 'setting')}")
    tried = (f"{_NAMES[x]} {', '.join(map(_value, values))}" for x, values in found.paths.items())
    yield Note(" x ".join(tried))
    yield from sheet(found.summary())
    if len({row.target for row in found.rows}) == 1:  # every setting; scores of one gamma can be compared
        rows = [
            [
                *map(_value, row.settings.values()),
                f"{row.score:,.1f}",
                name(" + ".join(row.influencers) or "none"),
            ]
            for row in found.rows
        ]
        yield Table((*(f">{_NAMES[x]}" for x in found.rows[0].settings), ">score", "*influencers"), rows)
    stable = sum(edge.share == 1 for edge in edges)
    yield (
        f"{plural(stable, 'influence')} found in every setting. Look-back and gamma: with which values it is "
        "found, whatever the other is."
    )


def _value(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else f"{value:g}"
