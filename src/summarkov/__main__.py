"""The command ``summarkov``. First of all it gets ready for Ctrl-C, before anything else is imported.

Before that come only Python's own start, the script that installers write, and the few lines that make this
module: an interruption there is Python's to tell.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; before the commands themselves take over, an interruption is told here."""
    came: list[int] = []
    try:
        from summarkov import cli

        came = cli.came
        cli.take_signals()
        from summarkov.cli.main import app

        app()
    except SystemExit:
        raise
    except BaseException as error:  # an interrupted import may fail with any error
        if not came and not isinstance(error, KeyboardInterrupt):
            raise
        sys.stderr.write("Error: interrupted\n")
        sys.exit(128 + (came[0] if came else 2))


if __name__ == "__main__":
    main()
