"""The picture of the page in a real browser: tips, names, milliseconds, bytes and axe-core's violations.

Generated events, and real ones where ``SUMMARKOV_DATA`` names their folder. ``python -m benchmarks.page
a.html ...`` measures pages that are there.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import summarkov as sm
from benchmarks.data import planted, process
from benchmarks.timing import Row
from summarkov.simulate.example import web_shop

HERE = Path(__file__).resolve().parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(sys.prefix) / "npm" / "node_modules" / "axe-core" / "axe.min.js"
#: Files of the folder of real data, and what they are called here.
REAL = {
    "FOMC": "fomc.jsonl",
    "Timelines": "timelines.train.jsonl",
    "Stack Overflow": "stackoverflow.train.jsonl",
}


def graphs() -> Iterator[tuple[str, sm.InfluenceGraph, sm.EventSequences]]:
    """What pages are made of."""
    shop = web_shop().simulate(1000, 30, random_state=1)
    yield "the demo", sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(shop), shop
    for name, file in REAL.items():
        path = Path(os.environ.get("SUMMARKOV_DATA", "")) / file
        if path.is_file():
            events = sm.read_events(path)
            yield name, sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events), events
    steps = process()
    yield "a process", sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(steps), steps
    events = planted(100_000, 1000, seed=1)
    template = sm.BSuMM(lookback=1, required=events.labels[:20], candidates=[])
    yield "1,000 labels", sm.InfluenceGraph(template).fit(events), events


@contextmanager
def browser() -> Iterator[Any]:
    """A real browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield found
        found.close()


def measured(open_browser: Any, path: Path, address: str = "", **screen: Any) -> dict[str, Any]:
    """What is measured of the graph of one page, at 1280 by 800 pixels unless told otherwise."""
    screen = {"viewport": {"width": 1280, "height": 800}} | screen
    context = open_browser.new_context(**screen, bypass_csp=True)
    page = context.new_page()
    page.set_default_timeout(600_000)
    page.goto(path.resolve().as_uri() + address)
    page.wait_for_timeout(500)
    graph = page.locator("#view-graph")
    if graph.count() and graph.is_visible():
        graph.click()
    found = dict(page.evaluate((HERE / "page.js").read_text(encoding="utf-8")))
    if AXE.is_file():
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found["axe"] = page.evaluate("async () => (await axe.run(document)).violations.length")
    found["kilobytes"] = path.stat().st_size / 1000
    context.close()
    return found


def rows() -> Iterator[Row]:
    """Measure pages as they open, and with all influences where they open with some."""
    with TemporaryDirectory() as folder, browser() as open_browser:
        for name, graph, events in graphs():
            if len(graph.labels_) < 1000:
                graph.order_test(events)
            path = Path(folder) / "page.html"
            graph.to_html(path, events=events)
            found = measured(open_browser, path)
            yield from _of_picture(name, found, len(graph.edges_))
            if found["edges"] < len(graph.edges_):
                every = measured(open_browser, path, "#factor=1")
                yield from _of_picture(f"{name}, all influences", every, len(graph.edges_))
            size = "under 250 KB" if name == "Timelines" else "-"
            yield Row(f"{name}: size with events", f"{found['kilobytes']:.0f} KB", size)
            phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
            both = [found, measured(open_browser, path, **phone)]
            text, line = (" and ".join(f"{each[key]:.1f}" for each in both) for key in ("text", "line"))
            yield Row(f"{name}: least contrast of text, light and dark", text, "at least 4.5")
            yield Row(f"{name}: least contrast of lines at the least confidence", line, "at least 3")
            axe = " and ".join(str(each.get("axe", "not asked")) for each in both)
            yield Row(f"{name}: violations that axe-core finds, screen and dark phone", axe, "0 and 0")


def _of_picture(name: str, found: dict[str, Any], n_edges: int) -> Iterator[Row]:
    what = f"{name}, {found['edges']} lines of {n_edges:,}"
    off = f"{found['empty']} and {found['under']}"
    yield Row(f"{what}: tips in empty space, and under names", off, "0 and 0")
    over = f"{found['crossings']}, {found['overlaps']} and {found['cut']}"
    yield Row(f"{what}: lines over names, names over names, names cut", over, "0, 0 and 0")
    yield Row(f"{what}: labels with their names", f"{found['named']} of {found['labels']}", "all")
    wheel = f"{found['wheel']:.0f} ms, {found['frame']:.0f} ms until the next frame"
    yield Row(f"{what}: a turn of the wheel", wheel, "at most 50 ms")
    yield Row(f"{what}: names and lines placed anew, once it rests", f"{found['again']:.0f} ms", "-")


if __name__ == "__main__":
    with browser() as opened:
        for argument in sys.argv[1:]:
            file, _, where = argument.partition("#")
            print(argument, measured(opened, Path(file), f"#{where}" if where else ""), flush=True)
