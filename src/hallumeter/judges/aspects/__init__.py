"""Whether aspects and what is felt about them stand in their sentence."""

from .grounding import AspectGrounder, drop_class_of, placement_of
from .offset_conventions import CONVENTIONS, CountedText, suggested_convention
from .sentiment_grounding import judge_sentiments
from .targets import TargetWords, target_words

__all__ = [
    "CONVENTIONS",
    "AspectGrounder",
    "CountedText",
    "TargetWords",
    "drop_class_of",
    "judge_sentiments",
    "placement_of",
    "suggested_convention",
    "target_words",
]
