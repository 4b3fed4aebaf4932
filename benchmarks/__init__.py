"""Side-by-side ratios from one run: ``make bench``."""
