"""A fitted model or graph as one self-contained HTML page."""

from summarkov.report.page import to_html

__all__ = ["to_html"]
