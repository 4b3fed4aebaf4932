"""``summarkov outcome``: what makes sequences end one way and not the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from summarkov.cli.commands.events import print_notes, print_origin
from summarkov.cli.files import check_output, saving
from summarkov.cli.options import SURE, EventsPath, InfluencerSettings, Json, ModelOutput, flag, option
from summarkov.cli.printing import print_json, results, shown, working
from summarkov.cli.printing.documents import outcome_document
from summarkov.cli.printing.graph import Sure, known, print_open, print_outcome
from summarkov.cli.reading import Opening
from summarkov.errors import SettingError

#: The models that choose influencers.
_KINDS = ("bsumm", "osumm", "csumm", "tree")


def outcome(
    file: EventsPath,
    column: str | None = option(
        "COLUMN=VALUE", "The column that tells the outcome, and the value asked about."
    ),
    reaches: str | None = option("LABEL", "Instead: does this label ever occur?"),
    ends_with: str | None = option("LABEL", "Instead: is this label the last?"),
    after: int | None = option(
        "N",
        "Look at the first N positions only (events, or ticks with --ties together), of sequences that have "
        "as many; --reaches needs it.",
    ),
    open_cases: Path | None = option(
        "FILE", "Cases that have not ended: tell their probabilities.", "--open"
    ),
    settings: InfluencerSettings = InfluencerSettings(),
    opening: Opening = Opening(),
    order_test: bool = flag(
        "--order-test",
        "Say of every influence whether it is about the order of events, or whether shuffled sequences show "
        "it too.",
        SURE,
    ),
    confidence: int | None = option(
        "N",
        "Learn N more models from resampled sequences, and say how many of them have each influence.",
        panel=SURE,
    ),
    output: ModelOutput = None,
    json: Json = False,
) -> None:
    """Learn what makes a sequence end one way and not the other.

    Which events, and which attributes, change the probability of an outcome:
    --column result=declined, --reaches LABEL or --ends-with LABEL.
    """
    from summarkov.events.describe import as_read
    from summarkov.models import OutcomeModel

    name, _, value = (column or "").partition("=")
    _refuse_no_question(column, value, reaches, ends_with)
    if settings.model.lower() not in _KINDS:
        raise SettingError(f"--model must be one of {', '.join(_KINDS)} here, not {settings.model!r}")
    template = settings.template()
    if settings.lookback is None and "lookback" in template.get_params(deep=False):
        template = template.copy(lookback=None)  # what matters to the end may lie far back
    model = OutcomeModel(
        template,
        outcome=name or None,
        value=value or None,
        reaches=reaches,
        ends_with=ends_with,
        after=after,
    )
    check_output(output, file, open_cases, opening.map)
    opening = opening.for_models(template)
    ended = replace(opening, attribute=[*(opening.attribute or []), name]) if name else opening
    with ended.open(file) as events, working("Learning"):
        model.fit(events)
        sure = Sure(
            model.order_test(events) if order_test else None,
            None if confidence is None else model.confidence(events, n=confidence),
        )
        tied_order, origin = events.tied_order, events.origin
    told: Any = None
    if open_cases is not None:
        told = model.predictions(opening.read(open_cases, model.labels_), unknown="ignore")
    if output is not None:
        with saving(output):
            model.save(output)
    if json:
        document: dict[str, Any] = {"saved": None if output is None else shown(output)}
        document |= {**outcome_document(model, sure), "read": as_read(origin, tied_order)}
        if told is not None:
            ids = (told.ids[sequence] for sequence in told.sequences)
            document["open"] = dict(zip(ids, known(told), strict=True))
        print_json(document)
        return
    console = results()
    print_outcome(console, model, sure)
    console.print()
    print_origin(console, origin)
    print_notes(console, (), tied_order, origin)
    if told is not None:
        console.print()
        print_open(console, model, told)
        console.print()
    console.print_saved(output)


def _refuse_no_question(column: str | None, value: str, reaches: str | None, ends_with: str | None) -> None:
    """One question must be asked, and in full."""
    if sum(each is not None for each in (column, reaches, ends_with)) != 1:
        raise SettingError(
            "say what the outcome is: one of --column COLUMN=VALUE, --reaches LABEL --after N or "
            "--ends-with LABEL"
        )
    if column is not None and (column[:1] in ("", "=") or ("=" in column and not value)):
        raise SettingError(
            f"--column must be COLUMN=VALUE, not {column!r}; a column alone, without '=', asks about the "
            "rarer of its two values"
        )
