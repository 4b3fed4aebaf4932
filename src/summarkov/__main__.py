"""``python -m summarkov``."""

from summarkov.cli.start import main

main()
