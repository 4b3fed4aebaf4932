"""The first thing that the command does: be ready for Ctrl-C before all else is imported."""

from __future__ import annotations

import sys

from summarkov.cli.signals import interrupting


def main() -> None:
    """Run the command line; before the commands themselves take over, an interruption is told here."""
    with interrupting() as signals:
        try:
            from summarkov.cli.main import app

            app()
        except SystemExit:
            raise
        except BaseException:
            if not signals:
                raise
            sys.stderr.write("Error: interrupted\n")
            sys.exit(128 + signals[0])
