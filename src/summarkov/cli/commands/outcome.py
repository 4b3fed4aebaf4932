"""``summarkov outcome``: what makes sequences end one way and not the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from summarkov.cli.options.model import DEFAULTS, ModelSettings
from summarkov.cli.options.reading import PLAIN_OPENING, Opening
from summarkov.cli.options.shared import EventsPath, Json, takes_options
from summarkov.cli.printing.console import label, new_table, output, page_width, print_json
from summarkov.errors import SettingError
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models import OutcomeModel, SummaryModel

Column = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN=VALUE", help="The column that tells the outcome, and the value asked about."
    ),
]
Reaches = Annotated[str | None, typer.Option(metavar="LABEL", help="Instead: does this label ever occur?")]
EndsWith = Annotated[str | None, typer.Option(metavar="LABEL", help="Instead: is this label the last?")]
After = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Look at the first N events only, of sequences that have as many; --reaches needs it.",
    ),
]
OpenCases = Annotated[
    Path | None,
    typer.Option("--open", metavar="FILE", help="Cases that have not ended: tell their probabilities."),
]


@takes_options
def outcome(
    file: EventsPath,
    column: Column = None,
    reaches: Reaches = None,
    ends_with: EndsWith = None,
    after: After = None,
    open_cases: OpenCases = None,
    settings: ModelSettings = DEFAULTS,
    opening: Opening = PLAIN_OPENING,
    json: Json = False,
) -> None:
    """Learn what makes a sequence end one way and not the other.

    Which events, and which attributes, change the probability of an outcome:
    --column result=declined, --reaches LABEL or --ends-with LABEL.
    """
    from summarkov.events import EventSequences
    from summarkov.models import JointSuMM, OutcomeModel

    template = settings.template()
    if isinstance(template, JointSuMM):
        raise SettingError("--model joint is for 'summarkov learn'; choose another model here")
    if settings.lookback is None and "lookback" in template.get_params(deep=False):
        template = template.copy(lookback=None)  # what matters to the end may lie far back
    name, _, value = (column or "").partition("=")
    model = OutcomeModel(
        template,
        outcome=name or None,
        value=value or None,
        reaches=reaches,
        ends_with=ends_with,
        after=after,
    )
    opening = replace(opening, engine="memory")
    with (replace(opening, attribute=[*(opening.attribute or []), name]) if name else opening).open(
        file
    ) as events:
        assert isinstance(events, EventSequences)  # so it was asked for
        model.fit(events)
        n = len(events)
    told: Any = None
    if open_cases is not None:
        with opening.open(open_cases) as events:
            told = model.predictions(events, unknown="ignore")
    if json:
        print_json(_document(model, n, told))
    else:
        _print(model, template, n, told)


def _document(model: OutcomeModel, n: int, told: Any) -> dict[str, Any]:
    rows = [
        {"state": row.words, "sequences": row.n, "with_outcome": row.counts[model.yes]}
        for row in model.table_
    ]
    document = {
        "outcome": model.name_,
        "sequences": n,
        "left_out": model.n_left_out_,
        "base_rate": model.base_rate_,
        "influencers": list(model.influencers_),
        "influences": [dict(vars(edge)) for edge in model.influences_],
        "states": rows,
    }
    if told is not None:
        document["open"] = {
            told.ids[s]: float(p) for s, p in zip(told.sequences, told.probabilities[:, 0], strict=True)
        }
    return document


def _print(model: OutcomeModel, template: SummaryModel, n: int, told: Any) -> None:
    from summarkov.explain.sentences import change, limits, times

    console = output()
    told_of = plural(n - model.n_left_out_, "sequence")
    console.print(Text(f"{model.name_}: {percent(model.base_rate_)} of {told_of}", style="bold"))
    if model.n_left_out_:
        console.print(f"{plural(model.n_left_out_, 'sequence')} left out: too short, decided, or not known")
    console.print()
    edges = model.influences_
    if edges:
        width = max(12, page_width(console) - 52)
        table = new_table()
        table.add_column("Influencer", no_wrap=True)
        table.add_column("Effect", no_wrap=True)
        for heading in ("Otherwise → after", "Factor", "95% interval"):
            table.add_column(heading, justify="right", no_wrap=True)
        for edge in edges:
            table.add_row(label(edge.influencer, width), edge.effect, change(edge), times(edge), limits(edge))
        console.print(table)
        console.print("Factor: how many times as likely after it, other influencers equal.")
    else:
        console.print("Nothing that happened changes it beyond chance.")
    console.print()
    console.print(str(model.states_sheet()))
    if told is not None:
        console.print()
        console.print(str(told.summary()))
