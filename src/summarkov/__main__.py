"""``python -m summarkov``."""

from summarkov.cli.main import main

main()
