"""Commands that turn measurements into decisions."""

from .calibrate import calibrate
from .compare import compare
from .correct import correct
from .gate import gate
from .label import label

__all__ = ["calibrate", "compare", "correct", "gate", "label"]
