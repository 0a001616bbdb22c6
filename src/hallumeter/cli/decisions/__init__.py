"""Commands that turn measurements into decisions."""

from .compare import compare
from .gate import gate

__all__ = ["compare", "gate"]
