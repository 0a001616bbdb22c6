"""Runs side by side: in a terminal, as Markdown, and as a page."""

from .markdown import comparison_markdown, ranking_markdown
from .page import render_comparison, served_comparison, write_comparison
from .terminal import comparison_text, ranking_text

__all__ = [
    "comparison_markdown",
    "comparison_text",
    "ranking_markdown",
    "ranking_text",
    "render_comparison",
    "served_comparison",
    "write_comparison",
]
