"""Commands that turn measurements into decisions."""

from .baselines import baselines
from .calibrate import calibrate
from .compare import compare
from .correct import correct
from .gate import gate
from .label import label

__all__ = ["baselines", "calibrate", "compare", "correct", "gate", "label"]
