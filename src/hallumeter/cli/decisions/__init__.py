"""Commands that turn measurements into decisions."""

from .compare import compare
from .correct import correct
from .gate import gate
from .label import label

__all__ = ["compare", "correct", "gate", "label"]
