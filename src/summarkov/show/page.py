"""A fitted model or graph as one self-contained HTML page: markup, style, program and the model, in one."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.evidence import Shown, is_joint, models_of
from summarkov.read.files import write_atomically
from summarkov.show import content
from summarkov.wording import visible

#: The program, one idea per file, in the order in which the parts build on each other.
SCRIPTS = (
    *("model.js", "text.js", "intervals.js", "history.js", "joint.js", "states.js", "picker.js", "filter.js"),
    *("view.js", "names.js", "draw.js", "gestures.js", "tables.js", "card.js", "matrix.js", "findings.js"),
    *("label.js", "whatif.js", "sequences.js", "groups.js", "data.js", "save.js", "main.js"),
)
#: Parts of the program that only some pages need, and what these have.
ONLY_WITH = {"joint.js": "joint", "findings.js": "findings", "groups.js": "groups"}
#: More labels than a browser can draw, or anybody look at.
_MOST_LABELS = 20_000
STYLES = ("page.css", "graph.css", "panels.css", "screens.css")


def to_html(model: Shown, path: str | os.PathLike[str] | None = None, **shown: Any) -> str | None:
    """Write the page of a fitted model or graph, all or nothing; without a path, return its text.

    ``shown`` is what else the page shows, see :func:`content` and :meth:`InfluenceGraph.to_html`.
    """
    text = page(model, **shown)
    if path is None:
        return Page(text)
    write_atomically(path, text)
    return None


class Page(str):
    """The text of a page. Where it is the result of a cell, a notebook shows the page, to explore there.

    It stands in a frame of its own that may run its program and save pictures, and nothing else: it reaches
    neither the notebook nor the network.

    >>> Page("<p>")._repr_html_()[-28:]
    'srcdoc="&lt;p&gt;"></iframe>'
    """

    #: How high the frame is, in pixels.
    height = 640

    def __repr__(self) -> str:
        return f"<page of {len(self):,} characters; to_html(path) writes it, a notebook shows it>"

    def _repr_html_(self) -> str:
        look = f"width: 100%; height: {self.height}px; border: 1px solid #8888"
        return (
            f'<iframe title="summarkov" style="{look}" sandbox="allow-scripts allow-downloads" '
            f'srcdoc="{html.escape(self)}"></iframe>'
        )


def page(model: Shown, *, title: str | None = None, **shown: Any) -> str:
    """The text of the page."""
    labels = model.labels_ if is_joint(model) else models_of(model)[0].labels_
    if len(labels) > _MOST_LABELS:
        raise SettingError(
            f"the model has {len(labels):,} labels, and a page can show {_MOST_LABELS:,}; make one of "
            "the rare ones with pool_rare (--min-count) before learning"
        )
    if title is not None and not isinstance(title, str):
        raise SettingError(f"title must be a text, not {title!r}")
    what = content.content(model, title=title, **shown)
    style = "\n".join(_part(name) for name in STYLES)
    needed = [name for name in SCRIPTS if what.get(ONLY_WITH.get(name, "version"))]
    lines = [line.strip() for name in needed for line in _part(name).splitlines()]
    program = "\n".join(line for line in lines if line and not line.startswith("//"))
    script = f'"use strict";\n(() => {{\n{program}\n}})();\n'
    parts = {
        "policy": policy(style, script),
        "title": html.escape(visible(title or f"Influences among {len(what['labels'])} labels"))
        + " - summarkov",
        "style": style,
        "script": script,
        "model": as_script(what),
    }
    # in one pass, so that nothing inside a part is taken for a place to fill
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def policy(style: str, script: str) -> str:
    """A content security policy: this style and this program, and nothing from anywhere.

    >>> policy("", "")[:45]
    "default-src 'none'; style-src 'sha256-47DEQpj"
    """
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; " + (
        "img-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def as_script(value: Any) -> str:
    r"""JSON that can stand in a script element: plain ASCII, and no character that HTML knows.

    >>> as_script(["</script>", "a&b"])
    '["\\u003c/script\\u003e","a\\u0026b"]'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _plain(value: Any) -> Any:
    """What JSON does not know: numbers of NumPy, further lists, and the user's own summary, by its name."""
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, Iterable) else type(value).__name__


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _part(name: str) -> str:
    return resources.files("summarkov.show").joinpath(name).read_text(encoding="utf-8")
