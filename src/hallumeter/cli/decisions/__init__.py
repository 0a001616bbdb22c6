"""Commands that turn measurements into decisions."""

from .baselines import baselines
from .compare import compare
from .gate import gate

__all__ = ["baselines", "compare", "gate"]
