"""Compare runs: what changed, metric by metric and claim by claim."""

from .pipeline import compare
from .settings import CompareSettings
from .several import rank_runs

__all__ = ["CompareSettings", "compare", "rank_runs"]
