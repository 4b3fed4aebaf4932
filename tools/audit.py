"""Known holes in what is installed, by pip-audit; where its index cannot be reached, one line and no failure.

Run by ``make lint``.
"""

from __future__ import annotations

import json
import subprocess
import sys


def main() -> None:
    """Audit the environment that this runs in."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--progress-spinner=off",
        "--skip-editable",
        "--format=json",
    ]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
        found = json.loads(ended.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
        print("audit: skipped, for the index of known holes cannot be reached")
        return
    holes = [(each, hole) for each in found for hole in each.get("vulns", ())]
    for each, hole in holes:
        versions = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"audit: {each['name']} {each['version']} has {hole['id']}, mended in {versions}")
    if holes:
        sys.exit(1)
    looked_up = [each for each in found if "skip_reason" not in each]  # an index that knows none skips all
    if not looked_up:
        print("audit: skipped, for the index knows none of the packages")
        return
    print(f"audit: nothing is known against {len(looked_up)} packages; {len(found) - len(looked_up)} skipped")


if __name__ == "__main__":
    main()
