"""What measurements lead to: a comparison of runs, and the result of a gate."""

from .comparison import Comparison, RunRanking
from .gate import GateResult

__all__ = ["Comparison", "GateResult", "RunRanking"]
