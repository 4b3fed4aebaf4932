"""``summarkov demo``: the whole way, on events whose truth is known."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from summarkov.cli.commands.confidence import add_order_test
from summarkov.cli.files import saving
from summarkov.cli.options.shared import flag, option
from summarkov.cli.printing.console import output as results
from summarkov.cli.printing.console import print_json, print_line, progress
from summarkov.errors import SettingError
from summarkov.wording import visible

if TYPE_CHECKING:
    from summarkov.models import InfluenceGraph

SEQUENCES, LENGTH, SEED = 1000, 30, 1


def demo(
    output: Annotated[Path, option("FOLDER", "Where to save events and model.", "--output -o")] = Path(
        "demo"
    ),
    json: Annotated[bool, flag("--json", "Print one JSON document instead.")] = False,
) -> None:
    """Learn from the visits to a made-up web shop, and look at what was found."""
    from summarkov.cli.commands.simulate import draw
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
