"""Commands that turn measurements into decisions."""

from .compare import compare
from .correct import correct
from .gate import gate

__all__ = ["compare", "correct", "gate"]
