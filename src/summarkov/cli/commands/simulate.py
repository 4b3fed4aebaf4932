"""``summarkov simulate`` and ``demo``: events from a model or from rules, and the whole way on them."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from summarkov.cli.commands.confidence import add_order_test
from summarkov.cli.files import check_output, refuse_unless_csv, saving
from summarkov.cli.options import Json, SafeCsv, flag, option
from summarkov.cli.printing import print_json, print_line, progress, results, shown
from summarkov.errors import SettingError
from summarkov.wording import plural, visible

if TYPE_CHECKING:
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import Dynamics


def simulate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A graph or joint model of all labels, or a JSON file of dynamics written down.",
        ),
    ],
    sequences: Annotated[int, option("K", "How many sequences.", "--sequences -n", min=0)] = 100,
    length: Annotated[int, option("T", "How many events each.", min=0)] = 20,
    seed: Annotated[int, option("S", "Same seed, same events.", min=0)] = 0,
    output: Annotated[
        Path | None,
        option(
            "FILE",
            "Save as .jsonl, .csv, .parquet, .xes or .spmf; else JSON lines are printed.",
            "--output -o",
        ),
    ] = None,
    safe_csv: SafeCsv = False,
    json: Json = False,
) -> None:
    """Draw new sequences of events."""
    from summarkov.io.jsonl_files import json_lines
    from summarkov.io.write import writable_format, write_events

    if safe_csv:
        refuse_unless_csv(output)
    check_output(output, source)
    if output is not None:
        writable_format(shown(output))
    events = draw(read_source(source), sequences, length, seed)
    if output is not None:
        with saving(output):
            write_events(events, output, safe_csv=safe_csv)
        if json:
            print_json({"saved": shown(output), **_sizes(events), "seed": seed})
        else:
            what = f"{plural(len(events), 'sequence')} with {plural(events.n_events, 'event')}"
            print_line(results(), f"Saved {what} as {shown(output)}")
    elif json:
        lists = zip(events.ids, events.to_lists(), strict=True)
        print_json({**_sizes(events), "seed": seed, "data": [{"id": i, "events": e} for i, e in lists]})
    else:
        for line in json_lines(events):
            typer.echo(line)


def read_source(path: Path) -> Dynamics | InfluenceGraph | JointSuMM:
    """Read dynamics, a graph, or a joint model."""
    from summarkov.models import InfluenceGraph, JointSuMM, load
    from summarkov.models.predictor import check_drawable
    from summarkov.simulate import Dynamics
    from summarkov.store import read_document

    document = read_document(path)
    if isinstance(document.value, dict) and document.value.get("kind") == "dynamics":
        try:
            return Dynamics.from_dict(document.value)
        except ValueError as problem:
            raise SettingError(f"{path}: {problem}") from None
    model = load(path)
    if isinstance(model, JointSuMM):
        model.fitted.check_complete()
        return model
    if not isinstance(model, InfluenceGraph) or set(model.labels_) - {
        *model.models_,
        *model.layout_.attributes,
    }:
        raise SettingError(
            f"{path} is no graph or joint model of all labels, so it cannot tell what comes next; "
            "learn one, without --target and --joint"
        )
    check_drawable(model.layout_, (each.fitted.summary for each in model.models_.values()))
    return model


def draw(
    source: Dynamics | InfluenceGraph | JointSuMM, sequences: int, length: int, seed: int
) -> EventSequences:
    """Draw sequences, with a bar that counts the events of a sequence."""
    from summarkov.models import InfluenceGraph, JointSuMM
    from summarkov.simulate import draw_sequences

    if isinstance(source, JointSuMM):
        labels, ask = source.labels_, source.fitted.after
    elif isinstance(source, InfluenceGraph):
        if source.layout_.together:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels_, source._next.after
    else:
        if not source.beside.is_plain or source.outcomes:
            return source.simulate(sequences, length, seed)
        labels, ask = source.labels, source._next_event
    with progress("Simulating", length, "events per sequence") as advance:

        def next_event(histories: Any) -> Any:
            advance(histories.shape[1], length)
            return ask(histories)

        return draw_sequences(next_event, labels, sequences, length, seed)


def _sizes(events: EventSequences) -> dict[str, int]:
    return {"sequences": len(events), "events": events.n_events, "labels": len(events.labels)}


SEQUENCES, LENGTH, SEED = 1000, 30, 1


def demo(
    output: Annotated[Path, option("FOLDER", "Where to save events and model.", "--output -o")] = Path(
        "demo"
    ),
    json: Annotated[bool, flag("--json", "Print one JSON document instead.")] = False,
) -> None:
    """Learn from the visits to a made-up web shop, and look at what was found."""
    from summarkov.io import write_events
    from summarkov.io.temporary import write_atomically
    from summarkov.models import BSuMM, InfluenceGraph
    from summarkov.simulate.example import LOOKBACK, web_shop

    folder = _folder(output)
    shop = web_shop()
    events = draw(shop, SEQUENCES, LENGTH, SEED)
    with progress("Learning", len(events.labels), "labels") as advance:
        graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(events, progress=advance)
    add_order_test(graph, events)
    files = {
        "events": folder / "events.jsonl",
        "truth": folder / "truth.json",
        "model": folder / "model.json",
        "page": folder / "report.html",
    }
    with saving(folder):
        write_events(events, files["events"])
        write_atomically(files["truth"], _json_text(shop.to_dict()))
        graph.save(files["model"])
        graph.to_html(files["page"], events=events, title="Visits to a made-up web shop")
    found = compare_with_truth(graph)
    if json:
        from summarkov.cli.printing.documents import graph_document

        saved = {name: str(path) for name, path in files.items()}
        print_json({"saved": saved, "truth": found, **graph_document(graph)})
    else:
        _print(results(), graph, found, files)


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingError(f"cannot make the folder {path}: {problem.strerror or problem}") from None
    return path


def _json_text(document: Any) -> str:
    import json

    return json.dumps(document, indent=1) + "\n"


def compare_with_truth(graph: InfluenceGraph) -> dict[str, int]:
    """How many of the influences that were written down were found, and how many were made up.

    The label that takes the rest of the probability depends a little on everything, and is left out.
    """
    from summarkov.simulate.example import REST, SHOP

    true = {
        (z, x): "amplifies" if factor > 1 else "inhibits"
        for x, (_, factors) in SHOP.items()
        for z, factor in factors.items()
    }
    learned = {(e.influencer, e.target): e.effect for e in graph.edges_ if e.target != REST}
    return {
        "influences": len(true),
        "found": len(true.keys() & learned.keys()),
        "right_direction": sum(learned.get(pair) == effect for pair, effect in true.items()),
        "made_up": len(learned.keys() - true.keys()),
    }


def truth_words(found: dict[str, int]) -> str:
    """The comparison in one line."""
    n, hit = found["influences"], found["found"]
    right, wrong = found["right_direction"], found["made_up"]
    return (
        f"Truth: {'all' if hit == n else f'{hit} of'} {n} influences found, "
        f"{'each' if right == hit else right} with the right direction; {wrong or 'none'} made up."
    )


def _print(console: Console, graph: InfluenceGraph, found: dict[str, int], files: dict[str, Path]) -> None:
    from summarkov.cli.printing.graph import print_graph
    from summarkov.simulate.example import REST

    console.print(
        f"{SEQUENCES:,} made-up visits to a web shop. Their rules are known, but the model sees only "
        "the order of the events.\n"
    )
    print_graph(console, graph)
    console.print()
    console.print(truth_words(found), style="bold")
    told = (
        f"(Not counting '{REST}', which takes the rest of the probability: whatever inhibits it is "
        "competition, called so or not.)"
    )
    console.print(told, style="dim")
    console.print()
    for name, path in files.items():
        print_line(console, f"Saved the {name:<6} {path}")
    console.print()
    console.print("Try next:")
    folder = files["model"].parent
    new = folder / "new.jsonl"
    for command in (
        ["show", files["model"], "--target", "purchase"],
        ["predict", files["model"], "-a", "add to cart", "-a", "page error"],
        ["simulate", files["truth"], "--seed", "2", "-o", new],
        ["evaluate", files["model"], new],
    ):
        print_line(console, "  " + " ".join([_program(), *(_quoted(str(word)) for word in command)]), "cyan")


def _program() -> str:
    """How this program can be called again."""
    called = Path(sys.argv[0])
    found = shutil.which("summarkov")
    if called.name != "summarkov":
        return "summarkov" if found else f"{_quoted(sys.executable)} -m summarkov"
    if found is not None and Path(found).resolve() == Path(shutil.which(called) or called).resolve():
        return "summarkov"
    return _quoted(visible(str(called)))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word and not set(word) & set('"$`\\!') else shlex.quote(word)
