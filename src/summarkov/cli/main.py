"""``summarkov``: all commands. Options are what --help says of them: tables of text, one for each command.

A line such as ``--rows N>=0  Show at most N labels; 0 for all. [default: 20]`` is an option,
``file:FILE  Events.`` an argument, ``Reading the events:`` the heading of what follows. ``<reading>`` stands
for a table that several commands share. --help shows the first sentence of what stands above all headings or
has a ``*``; --help-all shows all. What a value is called tells what it is: N is a whole number, FILE a path.
After it, ``...`` means that the option may be repeated, and ``(required)`` at the end that it must be given.
All other lines are the help of the command.

The tables load nothing, so that --help is instant; a test holds them against the models and ``read_events``.
Every command imports what it needs when it runs.
"""

from __future__ import annotations

import inspect
import itertools
import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from summarkov import __version__
from summarkov.cli.errors import Commands
from summarkov.errors import SettingError
from summarkov.wording import plural

#: Tables that several commands share.
SHARED = {
    "events": """
file:FILE  Events: .csv or .tsv (one event per row), .parquet, .xes, .jsonl (one sequence per line), .txt (the
    same, labels separated by blanks) or .spmf. All but .parquet also packed (.gz, .zst)""",
    "file": "<events>.",
    "path": "<events>; or a folder or quoted pattern of .csv, .tsv, .parquet or .jsonl files.",
    "model": "model:MODEL  A model that 'summarkov learn' saved.",
    "json": "*--json  Print one JSON document instead, for programs.",
    "jobs": "--jobs -j N  Threads; -1 for one per core.",
    "seed": "--seed N  For the random draws. [default: 0]",
    "targets": """
*--target -t LABEL...  Learn what influences this label. Repeat for several. Without it: every label.""",
    "safe-csv": """
--safe-csv  In a .csv file for spreadsheets, put ' before texts that these would take for formulas.""",
    "unknown": """
--unknown error|ignore  What to do with labels that the model does not know: stop, or let them pass as events
    that say nothing. [default: error]""",
    "within": """
--within N|TIME  Shuffle events within blocks of N positions, or of a time such as 7d. Default: 4 times the
    longest look-back.""",
    "lookback": """
*--lookback -k N|TIME  How many events back to look, or a time such as 7d; none: the whole past;
    auto: learned for each influencer. A time may be '30 units' of an order column of numbers; 1,4,none or
    1h,1d: learned, out of these.""",
    "reading": """
Reading the events:
*--case COLUMN  Column that names the sequence.
*--event COLUMN  Column of the event's label.
*--order-by COLUMN...  Column that orders the events of a sequence (time or number), else the order of the
    rows. Repeat it for columns to sort by where the first has equal values.
--in-order  The rows are in order, whatever their columns are called.
--date-format FORMAT  How dates are written, such as '%d/%m/%Y %H:%M', if not as ISO has it.
--weight COLUMN  Column of how much each sequence counts; constant per sequence.
--lifecycle NAME  Keep only events of this lifecycle, such as complete.
--missing error|skip|LABEL  What to do with events without a label, or a label for them. skip also leaves out
    rows without a case. [default: error]
--drop-duplicates  Leave out rows of the case, event and place of an earlier row.
--ties KIND  What events with the same place are: 'in row order' after each other, 'together', or an error. If
    not given they are taken in row order, with a note if they are many.
--times  Keep the times of events. A look-back in time keeps them, too.
*--attribute COLUMN...  Column of an attribute, constant per sequence. Repeat for more.
--cut COLUMN=N,N...  Cut numbers here, as age=30,50; COLUMN=none leaves them as they are.
--format FORMAT  csv, tsv, parquet, jsonl, text, xes or spmf, where the file's name does not tell.
*--cut-off  Cases go on: do not count their ends. They are windows onto something longer.
--closed-by LABEL...  Only a case whose last event is this one is complete; repeat for more labels.
--open-since TIME  A case with an event at this time or later may go on.
--ends-column COLUMN  Column that is true for complete cases, else false.
Preparing the events:
--session-gap TIME  Begin a new sequence after such a time without events: 30min, 2h, 1d, or a number in the
    unit of the order column.
--map FILE  Rename labels as this JSON file says: {"old": "new", ...}.
--min-count N  Make one label, "(rare)", of all that occur fewer than N times; with a model, of all that the
    model does not know.
--drop-first  Leave out the first event of every case.
--collapse  Keep only the first of equal labels in a row.
--start  Begin every sequence with one more event, "(start)".
""",
    "opening": """
<reading>
How it runs:
--engine auto|memory|stream  Take the events into memory, or stream them through a temporary folder on disk.
    auto streams folders, patterns, and files that need more than --memory. [default: auto]
--memory SIZE  What streaming may use, such as 500M or 4G. [default: 1G]
""",
    "settings": """
How influencers are chosen:
--alpha A  Pseudo-count of each outcome; larger is more cautious. Default 0.1; tree: 5.
--gamma G  Penalty for complexity; larger finds fewer influencers. Default 1; joint: 0.5.
*--false-edges N|none  In pure noise, find at most N influences by chance, on average. That is among all that
    is learned; none: ask for no more than the criterion does, as in the paper. Default 0.2.
--search greedy|sweep|exact  The search; exact proves that no other influencers score better. Default greedy.
--required LABEL...  An influencer that must be there.
--forbidden LABEL...  One that may not be there.
--candidates LABEL...  Consider only these.
--given COLUMN...  An attribute (--attribute) within whose values all influences are reported; repeat for
    more.
--max-influencers N  At most N influencers of a label.
--paper  The paper's settings: --cut-off and --false-edges none.
--set NAME=VALUE...  Any other setting of the model, called as in Python, such as delay=2 or criterion=aic;
    --model KIND --help lists them.
""",
}

#: What --help says of each command; its module is named before it.
COMMANDS = {
    "events.demo": """
Learn from the visits to a made-up web shop, and look at what was found.
--output -o FOLDER  Where to save events and model. [default: demo]
<json>
""",
    "events.describe": """
Count the sequences, events and labels of a file.
<file>
--rows N>=0  Show at most N labels; 0 for all. [default: 20]
<json> <reading>
""",
    "events.convert": """
Write the events of a file in another format, or prepared.
<file>
output:OUT  The new file: .csv, .tsv, .parquet or .jsonl; .gz or .zst after it packs it.
<safe-csv> <json> <reading>
""",
    "learn.learn": """
Learn from events which labels make which others more or less likely.

Without --target or with several: a graph of influences. With one --target or with --joint: one model.
<path>
--output -o MODEL  Save the model in this file (JSON).
--all  Print every influence, also what is set aside.
--by impact|ratio  Show the influences with the largest impact first, or rate ratio. [default: impact]
<json>
What to learn:
<targets>
--joint  Make the targets (or all labels) one variable, with one set of influencers.
*--model -m KIND  bsumm, osumm, csumm, tree, chain, vom or joint. What each asks: bsumm: did
    an influencer occur? osumm: in which order did they? csumm: how often? tree: a decision tree over
    questions to the past; chain: the last labels themselves; vom: as many of them as they are worth; joint:
    one distribution over all labels. [default: bsumm]
What of the past counts:
<lookback> Default 5; joint: a number from 20 on, 500.
<settings>
<opening> <jobs>
How sure they are:
*--order-test/--no-order-test  Test whether each edge depends on the order of events. If not, shuffled
    cases show it too. Default: for a graph.
<within>
*--confidence N  Learn N more graphs from resampled data: how many have each edge?
""",
    "learn.outcome": """
Learn what makes a case end one way and not the other.

Which events and attributes change the probability of an outcome. Each case counts once, with all of its
events; --after asks what was known before.
<path>
--column COLUMN=VALUE  The column that tells the outcome, and the value asked about.
--contains LABEL  Instead: does the case contain this label?
--ends-with LABEL  Instead: is this label the last one of the case?
--after N|TIME  Ask what was known before the end: after N events, or at an age of the case such as 3d.
    Cases that ended before, or had reached the outcome, are left out and counted.
--output -o MODEL  Save the model in this file (JSON).
--all  Print every influence and every history state.
<json>
What to learn:
*--model -m KIND  bsumm, osumm, csumm or tree. What each asks: bsumm: did an influencer occur? osumm:
    in which order did they? csumm: how often? tree: a decision tree over questions to the past.
    [default: bsumm]
What of the past counts:
<lookback> Default: the whole past.
<settings> <opening>
How sure they are:
*--order-test  Test whether each influence depends on the order of events. If not, shuffled cases show it
    too.
*--confidence N  Learn N more models from resampled sequences, and say how many of them have each
    influence.
""",
    "use.show": """
Look at a model: who influences whom, how strongly, on how many observations.

With --target, or for a model of one target: the probability of the label in every history state, with its
interval and counts, and how the influencers were found.
<model>
--target -t LABEL  Show the model of this label in full.
--all  Print everything: what is set aside, all states, how they were found.
--by impact|ratio  Show the influences with the largest impact first, or rate ratio. [default: impact]
<json>
""",
    "use.report": """
Write a model as one HTML page that needs nothing else, and can be mailed.

It shows the graph, every label's states and the data, and computes what a history of your own makes likely.
<model>
--output -o FILE  Where to save the page. [default: report.html]
--events FILE  The events it was learned from, to show how long their sequences are and when a label comes
    after its influencers.
--passages FILE  The events that 'summarkov text' made, to show the sentences behind every edge. They
    become part of the page.
--title TEXT  What the events are, as the page's title.
--sequences N  Put N of the sequences of --events into the page, to look at one event after the other.
    Whoever has the page can read them.
<jobs> <json> <reading>
""",
    "evidence.confidence": """
Say how sure each edge of a graph is: learn it again from resampled events.

FILE must be what MODEL was learned from. An edge is sure if most of the graphs have it.
<model> <path>
--graphs -n N  How many graphs to learn. [default: 100]
--level P  Level of the intervals of ratios. [default: 0.95]
--order-test/--no-order-test  Test too whether each edge depends on order, or whether shuffled cases show
    it. [default: yes]
<within> <seed> <jobs>
--output -o MODEL  Save the graph with its confidence.
--all  Print every influence, also what is set aside.
<json> <opening>
""",
    "use.predict": """
Give every label its probability, before each event of a file or after a history.

One row per event (tick, if some happen together): sequence, position, event, and a column p(label) for each
label of the model, worked out from the events before it. Of an outcome, one row per sequence.
<model>
file:[FILE]  Events, as for 'summarkov learn'; folders too.
--after -a LABEL...  Instead of a file: what comes next after this label; repeat for a longer history,
    oldest first.
--target -t LABEL  With --after or --why: this label alone, why, and what would be different.
--why CASE  What comes next in this case of FILE, and why: with its times, ticks and attributes.
--output -o FILE  Save as .csv, .jsonl or .parquet.
<safe-csv> <unknown> <json> <opening>
""",
    "use.evaluate": """
Measure how well a model predicts events, best some that it was not learned from.
<model> <path> <unknown>
<json> <opening>
""",
    "events.simulate": """
Draw new sequences of events.
source:MODEL  A graph or joint model of all labels, or a JSON file of dynamics written down.
--sequences -n K>=0  How many sequences. [default: 100]
--length T>=0  How many events each. [default: 20]
--seed N>=0  Same seed, same events. [default: 0]
--output -o FILE  Save as .jsonl, .csv or .parquet; else JSON lines are printed.
<safe-csv> <json>
""",
    "use.export": """
Write a model as a figure, a graph file or a table of its edges.

A figure of a single target shows how often the label came next in each history state.
<model>
--out -o FILE  What to write; its ending tells the format: .pdf, .svg or .png for a figure; .dot or .gv
    (Graphviz), .graphml; .csv or .parquet for a table of the edges. (required)
--target -t LABEL  The model of this label alone; a figure shows its states.
--forest  A figure of the findings with their intervals, one below the other, instead of the graph.
<safe-csv>
""",
    "evidence.groups": """
Learn the same graph from groups of sequences, and say how they differ.

The groups are two files, or with --by the values of a column of one file; more than two are each compared
with all others: in how many sequences each label occurs, and by how much each influence changes.
<file>
second:[FILE]  Events of the other group, unless --by is given.
--by COLUMN  Make groups of one file, by a column that is constant per sequence.
--model -m KIND  bsumm, osumm, csumm or tree. [default: bsumm]
--target -t LABEL...  Only what influences this label; repeat for more.
--lookback -k N|TIME  How far back to look: events, or a time as 6h; a tree finds it. Default 5.
--alpha A  Pseudo-count. Default 0.1.
--gamma G  Weight of the penalty; larger: fewer influencers. Default 1.
--level P  Level of the intervals. [default: 0.95]
--all  Print every influence and label, not only the first.
<jobs> <json> <reading>
""",
    "evidence.compare": """
Tune several models on one part of the data and see which predicts another part best.
<path>
parts:[DEV TEST]...  Two more of these, if the data is split already.
--model -m NAME...  A model to compare; may be repeated. bsumm, bsumm-auto, osumm, csumm, also with a
    look-back, bsumm-5 or bsumm-6h; tree; chain-0 to chain-4; vom; joint, joint-boosted;
    lr-presence-K, lr-counts-K, lr-onehot-K with K = 3, 5, 10; boosting; or all. Default:
    chain-0, chain-1, chain-2, bsumm, osumm. Where events happened together, or there are attributes:
    chain-0, bsumm, osumm.
--target -t LABEL...  Average over these labels only; repeatable.
--splits N  Split the file at random N times. [default: 1]
--seed N  Seed of the first split. [default: 0]
--output -o FILE  Save everything as .json.
--jobs -j N  Threads; -1 for one per core. [default: 1]
<json> <opening>
""",
    "evidence.sensitivity": """
Learn with every combination of some settings, and see which influences stay.
<file> <targets>
--gamma G,G,...  Penalties for complexity to try. [default: 0.1,0.5,1]
--lookback -k N,N,...  Look-backs to try: events, or times as 6h; none: the whole past. [default: 1,5,10]
--model -m KIND  bsumm, osumm or csumm. [default: bsumm]
--alpha A  Pseudo-count of each outcome. Default 0.1.
--search greedy|sweep|exact  The search. Default greedy.
<jobs> <json> <reading>
""",
    "events.text": """
Make sequences of events from documents: a topic or a concept for each sentence.

Topics are found in the documents, and kept beside the events as NAME.topics.json. In Python, summarkov.text
has more settings, and the sentences behind an edge; report --passages puts these into a page.
files:FILE...  Documents: .jsonl (one object per line), .csv or .tsv (one row per document), .txt (one
    document), or folders of .txt files.
--output -o FILE  Save the events here, as .jsonl. (required)
--topics -n N  How many topics to find. Default: 15.
--use TOPICS  Label with these stored topics, and their language, instead.
--concept -c NAME...  Instead: a concept to recognise, or 'NAME: description in a few words'; repeatable.
--repeats runs|once|all  Keep the first event of every run of the same label, the first of each label in a
    document, or all. [default: runs]
--leave-out TOPIC...  No events of this topic, if it is about the form of the documents; repeatable.
--language CODE  For splitting into sentences. [default: en]
<json>
Reading the documents:
*--id COLUMN  A document's name. [default: id]
*--text COLUMN  A document's text. [default: text]
""",
}

#: What a value is, by what it is called; text where it is not named here.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("N", "K", "T"), int),
    **dict.fromkeys(("A", "C", "G", "P", "Q", "S", "X"), float),
    **dict.fromkeys(("FILE", "FOLDER", "MODEL", "OUT", "TOPICS", "DEV TEST"), Path),
}
#: An entry: whether --help shows it; short and long names, or the name of an argument; what its value is; and
#: what it is for.
_ENTRY = re.compile(r"(\*?)((?:--?[\w/-]+ ?)+|[a-z]+:)(\S.*?)?  (.*?)(?: \[default: (.*)\]| \((required)\))?")


def expanded(table: str) -> str:
    """A table with those that it shares put in, each entry in one line."""
    while "\n<" in f"\n{table}":
        table = re.sub(r"(?m)(?:^| (?=<))<([\w-]+)>", lambda name: "\n" + SHARED[name[1]].strip("\n"), table)
    return re.sub(r"\n +", " ", table)


def declared(table: str) -> tuple[str, list[inspect.Parameter]]:
    """The help of a command, and the parameters that its table declares.

    >>> words, (rows,) = declared("Look.\\n--rows N  At most N. [default: 20]")
    >>> words, rows.name, rows.annotation.__name__, rows.default.default
    ('Look.', 'rows', 'int', 20)
    """
    panel, words, found = None, [], []
    for line in expanded(table).splitlines():
        entry = _ENTRY.fullmatch(line)
        if entry:
            is_everyday, *parts = entry.groups()
            found.append(_parameter(None if is_everyday else panel, *parts))
        elif re.fullmatch(r"[A-Z][a-z ]+:", line):
            panel = line.removesuffix(":")
        else:
            words.append(line)
    return "\n".join(words).strip(), found


def _parameter(
    panel: str | None, head: str, value: str | None, words: str, default: Any, required: str | None
) -> inspect.Parameter:
    """One option or argument, as typer takes it."""
    names = head.split()
    how: dict[str, Any] = {"help": words}
    name = names[0].strip("-:").partition("/")[0]
    kind: Any = bool
    if value is None:  # a flag; one that has an opposite may be left open
        kind = bool | None if "/" in head and not default else bool
        default = default == "yes" if default or "/" not in head else None
        how["show_default"] = bool(default)
    else:
        value, _, least = value.partition(">=")
        is_many = value.endswith("...") and ",..." not in value
        value = value.removesuffix("...") if is_many else value
        one = _KINDS.get(value.strip("[]"), str)
        how |= {"metavar": value} | ({"min": int(least)} if least else {})
        is_required = bool(required) or (head.endswith(":") and value[0] != "[")
        default = one(default) if default else ... if is_required else None
        kind = list[one] if is_many else one  # type: ignore[valid-type]
        kind = kind | None if default is None else kind
    if head.endswith(":"):
        made = typer.Argument(default, **how)
    else:
        made = typer.Option(default, *names, rich_help_panel=panel, **how)
    return inspect.Parameter(
        name.replace("-", "_"), inspect.Parameter.KEYWORD_ONLY, default=made, annotation=kind
    )


# ---------------------------------------------------------------------- the commands

app = typer.Typer(
    name="summarkov",
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help", "--help-all"]},
)
#: The headings, and the commands under each.
_PANELS = {
    "Start here": ("demo",),
    "From events to a model": ("describe", "convert", "text", "learn", "outcome"),
    "Use a model": ("show", "report", "confidence", "predict", "evaluate", "simulate", "export"),
    "Evidence": ("groups", "compare", "sensitivity"),
}


class Command(typer.core.TyperCommand):
    """Shows everyday options, or all; refuses one that is given twice, of which only the last would count."""

    def format_help(self, context: Any, formatter: Any) -> None:
        """Write all options, or the everyday ones in a sentence each and those of the model typed."""
        typed, words = context.meta.get("typed", []), self.help or ""
        pairs = dict(itertools.pairwise(typed))
        kind = (pairs.get("--model") or pairs.get("-m") or "").lower()
        settings = _settings_of(kind) if kind else {}
        panels: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for each in self.params:
            where = "Arguments" if each.param_type_name == "argument" else "Options"
            panels.setdefault(getattr(each, "rich_help_panel", None) or where, []).append(each)
        rest = [
            each
            for some in list(panels.values())[2:]
            for each in some
            if "--help-all" not in typed and each.name not in settings
        ]
        self.format_usage(context, formatter)
        formatter.write_paragraph()
        formatter.write_text(words.partition("\n\n")[0] if rest else words)
        for panel, some in panels.items():
            rows = [_entry(each, context, is_short=bool(rest)) for each in some if each not in rest]
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows, col_max=24)
        formatter.write_paragraph()
        if "set" in (names := {each.name for each in self.params}):
            more = ", ".join(f"{name}={value}" for name, value in settings.items() if name not in names)
            other = f"Options of one kind of model: {context.command_path} --model KIND --help."
            formatter.write_text(f"With --set: {more}." if more else other)
        if rest:
            formatter.write_text(f"{plural(len(rest), 'more option')}: {context.command_path} --help-all.")

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Parse what was typed."""
        context.meta["typed"] = list(arguments)
        _, _, typed = self.make_parser(context).parse_args(args=list(arguments))
        for option in typed:
            if typed.count(option) > 1 and not getattr(option, "multiple", True):
                raise SettingError(f"{option.opts[0]} is given twice, and takes one value; give it once")
        return super().parse_args(context, arguments)


def _entry(each: Any, context: Any, *, is_short: bool) -> tuple[str, str]:
    """What an option or argument is called, and what it is for; if short, the first sentence of that."""
    names, words = each.get_help_record(context)
    if each.param_type_name == "argument":
        names = each.metavar.strip("[]")
    elif not each.is_flag:
        names = f"{', '.join(reversed(each.opts))} {each.metavar}"
    return names, re.split(r"(?<=[.?]) +(?=[A-Z-])", words.partition("  [")[0])[0] if is_short else words


def _settings_of(kind: str) -> dict[str, Any]:
    """The settings of a kind of model, with their defaults as they are typed; none of an unknown one."""
    from summarkov.cli.reading import families

    given = families()[kind]().get_params(deep=False) if kind in families() else {}
    texts = {name: value if isinstance(value, tuple) else (value,) for name, value in given.items()}
    left_out = ("target", "targets", "n_jobs")
    return {
        name: ",".join("none" if one is None else f"{one}".lower() for one in each) or "none"
        for name, each in texts.items()
        if name not in left_out
    }


def _add(key: str, panel: str) -> None:
    """Add a command: a function that takes its options as one object, and gives a document."""
    module, _, name = key.partition(".")
    words, parameters = declared(COMMANDS[key])

    def run(**given: Any) -> None:
        function = getattr(import_module(f"summarkov.cli.{module}"), name)
        function(SimpleNamespace(**given)).give(as_json=given.get("json", False))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, cls=Command, help=words, rich_help_panel=panel)(run)


for _panel, _names in _PANELS.items():
    for _name in _names:
        _add(next(key for key in COMMANDS if key.endswith(f".{_name}")), _panel)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"summarkov {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    help="Learn which events make which others more or less likely, from sequences of them.",
)
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
