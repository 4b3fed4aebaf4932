"""Logs made for tools/golden.py: a shop with times, attributes, weights and ends; days of several events."""

from __future__ import annotations

import csv
import datetime
import io
import json
import random
from pathlib import Path


def make_logs(folder: Path, data: Path) -> None:
    """Write the made logs, and slices of the paper's data, into the temporary folder."""
    draw, begin = random.Random(7), datetime.datetime(2024, 3, 1)
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    names = ["case", "event", "time", "channel", "age", "weight", "kind", "done"]
    rows, ticks, plain = [], [], []
    for case in range(300):
        channel, age = draw.choice(["web", "shop", "phone"]), draw.randint(18, 70)
        weight, now, past = draw.choice([1, 2, 3]), begin + datetime.timedelta(hours=draw.randint(0, 250)), []
        labels = ["view", "search", "cart", "buy", "help", "error", "review", "gift"]
        for _ in range(draw.randint(1, 14)):
            weights = [5, 3, 2, 1, 0.6, 0.5, 0.5, 0.2]
            weights[2] *= 4 if "view" in past[-2:] else 1
            weights[3] *= 9 if "cart" in past[-3:] else 0.6 if channel == "phone" else 1
            weights[4] *= 12 if "error" in past[-3:] else 1
            weights[6] *= 10 if "buy" in past[-4:] else 0.3
            now += datetime.timedelta(minutes=draw.randint(1, 400))
            past.append(draw.choices(labels, weights)[0])
            rows.append([f"c{case}", past[-1], now.isoformat(), channel, age, weight, "", ""])
        done = draw.random() < 0.6
        if done and past[-1] != "buy":
            past.append("leave")
            rows.append(
                [
                    f"c{case}",
                    "leave",
                    (now + datetime.timedelta(hours=1)).isoformat(),
                    channel,
                    age,
                    weight,
                    "",
                    "",
                ]
            )
        kind = "good" if draw.random() < (0.8 if "buy" in past else 0.2) else "bad"
        for row in rows[-len(past) :]:
            row[6:] = [kind, str(done).lower()]
        plain.append(" ".join(past))
    for case in range(120):
        before: set[str] = set()
        for day in range(draw.randint(2, 15)):
            today = {x for x in "abcde" if draw.random() < (0.6 if x == "b" and "a" in before else 0.25)}
            ticks += [[f"t{case}", x, day] for x in sorted(today)]
            before = today
    draw.shuffle(rows)

    def write(name: str, text: str) -> None:
        """A file, unless it is there already: others may be reading it."""
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)

    for name, head, body in [
        ("shop.csv", names, rows),
        ("ticks.csv", ["case", "event", "day"], ticks),
    ]:
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows([head, *body])
        write(name, table.getvalue())
    write("plain.txt", "\n".join(plain) + "\n")
    write("map.json", '{"gift": "extra", "review": "extra"}')
    cases: dict[str, list[str]] = {}
    for case, event, when, *_ in sorted(rows, key=lambda row: (row[0], row[2])):
        for stage in ("start", "complete") if event == "buy" else ("complete",):
            cases.setdefault(case, []).append(
                f'<event><string key="concept:name" value="{event}"/>'
                f'<date key="time:timestamp" value="{when}Z"/>'
                f'<string key="lifecycle:transition" value="{stage}"/></event>'
            )
    traces = (
        f'<trace><string key="concept:name" value="{c}"/>{"".join(e)}</trace>' for c, e in cases.items()
    )
    write("shop.xes", '<?xml version="1.0"?>\n<log xes.version="1.0">' + "\n".join(traces) + "</log>\n")
    for name, lines, length in [("diabetes", 12, 120), ("stackoverflow", 25, 60)]:
        if data.exists():
            cut = [
                json.loads(line) for line in (data / f"{name}.train.jsonl").read_text().splitlines()[:lines]
            ]
            write(
                f"{name}.jsonl",
                "".join(json.dumps({**c, "events": c["events"][:length]}) + "\n" for c in cut),
            )
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, some in [
        ("shop", rows),
        ("parts/1", rows[: len(rows) // 2]),
        ("parts/2", rows[len(rows) // 2 :]),
    ]:
        if not (folder / f"{name}.parquet").exists():
            pq.write_table(
                pa.table(dict(zip(names, map(list, zip(*some, strict=True)), strict=True))),
                folder / f"{name}.parquet",
            )
