"""``python -m summarkov.cli``."""

from summarkov.cli.main import main

main()
