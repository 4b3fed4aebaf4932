"""The kind of a model and its settings, as options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from summarkov.cli.options.template import make_template

if TYPE_CHECKING:
    from summarkov.models import JointSuMM, SummaryModel

WHAT = "What to learn"
PAST = "What of the past counts"
SEARCH = "How influencers are chosen"


Labels = list[str] | None


@dataclass(frozen=True)
class InfluencerSettings:
    """The kind of a model that chooses influencers of an outcome, and its settings; every field is an option.

    None is the model's own default, but for the look-back.
    """

    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="KIND",
            help="bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? "
            "tree: a decision tree over questions to the past.",
            rich_help_panel=WHAT,
        ),
    ] = "bsumm"
    lookback: Annotated[
        str | None,
        typer.Option(
            "--lookback",
            "-k",
            metavar="N|TIME|none|auto",
            help="How many events back to look; or a time, such as 6h or 7d; none: the whole past; auto: "
            "learned for each influencer; 1,4,none or 1h,1d: learned out of these. Default: the whole past.",
            rich_help_panel=PAST,
        ),
    ] = None
    delay: Annotated[
        str | None,
        typer.Option(
            metavar="N|TIME",
            help="Leave out the N most recent events, or what is as recent as a time. Default 0.",
            rich_help_panel=PAST,
        ),
    ] = None
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="last|first",
            help="osumm: which occurrence of a label counts. Default last.",
            rich_help_panel=PAST,
        ),
    ] = None
    cap: Annotated[
        int | None, typer.Option(metavar="N", help="csumm: count up to N. Default 2.", rich_help_panel=PAST)
    ] = None
    lookbacks: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: how far back to look for a label, or times such as 1h,1d; none, the last: the "
            "whole past. "
            "Default 1,2,3,5,10,20,none.",
            rich_help_panel=PAST,
        ),
    ] = None
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: ask if a label occurred at least N times; none: do not. Default 2,3.",
            rich_help_panel=PAST,
        ),
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="auto|yes|no",
            help="tree: ask which of two labels is the more recent. Default auto: with at most 25 labels.",
            rich_help_panel=PAST,
        ),
    ] = None
    starts: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="tree: ask if fewer events precede; none: do not. Default 1,2,3,5,10.",
            rich_help_panel=PAST,
        ),
    ] = None
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="tree: at most N questions to a history. Default 12.", rich_help_panel=PAST
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="A",
            help="Pseudo-count of each outcome; larger is more cautious. Default 0.1; ctw: 0.5, tree: 5.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="uniform|base-rate",
            help="What rarely seen states are drawn to; base-rate pays off for rare labels with alpha from "
            "about 5 on. Default uniform; tree: base-rate.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="G",
            help="Penalty for complexity; larger finds fewer influencers. Default 1.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    average: Annotated[
        bool,
        typer.Option(
            "--average",
            help="tree: average over all smaller trees; best with a smaller --gamma, say 0.3.",
            rich_help_panel=SEARCH,
        ),
    ] = False
    split: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="ctw, tree --average: how likely a context or node is split, before anything is seen. "
            "Default 0.5; tree: as many times less as there are questions.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="bic, aic, extended-bic or marginal. Default bic.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    xi: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="extended-bic: weight of its extended part. Default 1.", rich_help_panel=SEARCH
        ),
    ] = None
    false_edges: Annotated[
        str | None,
        typer.Option(
            metavar="N|none",
            help="In pure noise, find at most N influences by chance, on average, among all that is learned; "
            "none: ask for no more than the criterion does, as in the paper. Default 0.2.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="all|reachable",
            help="Which states the penalty counts. Default all.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    search: Annotated[
        str | None,
        typer.Option(
            metavar="greedy|sweep|exact",
            help="The search; exact proves that no other influencers score better. Default greedy.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    required: Annotated[
        Labels,
        typer.Option(metavar="LABEL", help="An influencer that must be there.", rich_help_panel=SEARCH),
    ] = None
    forbidden: Annotated[
        Labels, typer.Option(metavar="LABEL", help="One that may not be there.", rich_help_panel=SEARCH)
    ] = None
    candidates: Annotated[
        Labels, typer.Option(metavar="LABEL", help="Consider only these.", rich_help_panel=SEARCH)
    ] = None
    given: Annotated[
        Labels,
        typer.Option(
            metavar="COLUMN",
            help="An attribute (--attribute) within whose values all influences are told; repeat for more.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    max_influencers: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most N influencers of a label.", rich_help_panel=SEARCH),
    ] = None
    max_sets: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="exact: stop after N sets per label, and say how much better others could be. "
            "Default 100000.",
            rich_help_panel=SEARCH,
        ),
    ] = None

    def template(self) -> SummaryModel | JointSuMM:
        """A model without a target, with the settings that were given."""
        given = {**vars(self), "average": self.average or None}
        del given["model"]
        return make_template(self.model, given, joint=True)


@dataclass(frozen=True)
class ModelSettings(InfluencerSettings):
    """The kind of a model and its settings; None is the model's own default. Every field is an option."""

    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="KIND",
            help="bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? "
            "tree: a decision tree over questions to the past; chain: the last labels themselves; vom: as "
            "many of them as they are worth; ctw: all such chains together; joint: one distribution over all "
            "labels.",
            rich_help_panel=WHAT,
        ),
    ] = "bsumm"
    lookback: Annotated[
        str | None,
        typer.Option(
            "--lookback",
            "-k",
            metavar="N|TIME|none|auto",
            help="How many events back to look; or a time, such as 6h or 7d; none: the whole past; auto: "
            "learned for each influencer; 1,4,none or 1h,1d: learned out of these. Default 5.",
            rich_help_panel=PAST,
        ),
    ] = None
    order: Annotated[
        int | None,
        typer.Option(metavar="N", help="chain: how many labels back. Default 1.", rich_help_panel=PAST),
    ] = None
    max_order: Annotated[
        int | None,
        typer.Option(metavar="N", help="vom, ctw: at most N labels back. Default 4.", rich_help_panel=PAST),
    ] = None
    penalty: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="joint: how strongly weights are held to 0; more for long sequences. Default 30.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="joint: trees of every label beside the weights; some 40 or more, or none. Default 0.",
            rich_help_panel=SEARCH,
        ),
    ] = None


#: Of every model what it takes itself.
DEFAULTS = ModelSettings()
#: The same of models of outcomes.
OUTCOME_DEFAULTS = InfluencerSettings()
