"""What the tests of the page have in common: events, and where things are on it."""

import datetime
from typing import Any

import numpy as np

import summarkov as sm
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(300, 20, random_state=3)


def node(page: Any, graph: Any, label: str) -> Any:
    return page.locator(f'#picture .node[data-code="{graph.labels_.index(label)}"]')


def shown_edges(page: Any) -> int:
    return page.locator("#picture .edge:not(.gone)").count()


def heading(page: Any) -> str:
    return page.locator("#panel-label h2").inner_text()


def history(page: Any) -> list[str]:
    return page.locator(".history bdi").all_inner_texts()


STEPS = ["ask", "check", "pay", "wait"]


def timed(seed: int, n: int, steps: tuple[int, ...] = (0, 1, 2, 5, 9)) -> tuple[Any, list[Any], list[Any]]:
    """Events with times in hours, which are often equal; and the labels and times by themselves."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {"case": [], "event": [], "time": []}
    labels, times = [], []
    for case in range(n):
        hours = np.cumsum(rng.choice(steps, rng.integers(1, 9))).tolist()
        names = rng.choice(STEPS, len(hours)).tolist()
        labels.append(names)
        times.append([3600 * h for h in hours])
        rows["case"] += [f"{case:03d}"] * len(hours)
        rows["event"] += names
        rows["time"] += [datetime.datetime(2026, 3, 1) + datetime.timedelta(hours=h) for h in hours]
    return (
        sm.read_events(rows, case="case", event="event", order_by="time", times=True, ties="in row order"),
        labels,
        times,
    )
