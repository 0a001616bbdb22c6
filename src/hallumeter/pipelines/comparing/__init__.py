"""Compare runs: what changed, metric by metric and claim by claim."""

from .markdown import comparison_markdown
from .pipeline import compare
from .settings import CompareSettings
from .several import rank_runs
from .terminal import comparison_text, ranking_text

__all__ = ["CompareSettings", "compare", "comparison_markdown", "comparison_text", "rank_runs", "ranking_text"]
