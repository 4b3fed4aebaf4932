"""What ``make lint`` says of known holes in what is installed."""

import importlib.util
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

PATH = Path(__file__).resolve().parents[2] / "tools" / "audit.py"


def dependencies(*each):
    return json.dumps({"dependencies": list(each)})


SKIPPED = {"name": "a", "skip_reason": "Dependency not found on PyPI and could not be audited: a (1)"}
GOOD = {"name": "b", "version": "2", "vulns": []}
BAD = {"name": "c", "version": "3", "vulns": [{"id": "CVE-1", "fix_versions": ["3.1"]}]}


@pytest.mark.parametrize(
    ("said", "code", "line"),
    [
        (dependencies(GOOD, GOOD), None, "audit: nothing is known against 2 packages; 0 skipped\n"),
        (dependencies(GOOD, SKIPPED), None, "audit: nothing is known against 1 packages; 1 skipped\n"),
        (dependencies(SKIPPED, SKIPPED), None, "audit: skipped, for the index knows none of the packages\n"),
        (dependencies(GOOD, BAD), 1, "audit: c 3 has CVE-1, mended in 3.1\n"),
        ("", None, "audit: skipped, for the index of known holes cannot be reached\n"),
    ],
)
def test_audit(monkeypatch, capsys, said, code, line):
    spec = importlib.util.spec_from_file_location("audit", PATH)
    audit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(audit)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=said))
    if code is None:
        audit.main()
    else:
        with pytest.raises(SystemExit) as ended:
            audit.main()
        assert ended.value.code == code
    assert capsys.readouterr().out == line
