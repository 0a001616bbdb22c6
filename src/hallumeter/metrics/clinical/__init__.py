"""What an answer in a clinical dialogue is worth: facts, safety, use of context, consistency, actionability."""

from .actionability import actionability
from .consistency import consistency
from .context import context_utilisation, slots_used
from .overall import OverallPart, overall_parts, overall_score
from .safety import contraindication_penalty
from .slots import slot_factuality
from .turns import mean_of, pooled, turn_rates

__all__ = [
    "OverallPart",
    "actionability",
    "consistency",
    "context_utilisation",
    "contraindication_penalty",
    "mean_of",
    "overall_parts",
    "overall_score",
    "pooled",
    "slot_factuality",
    "slots_used",
    "turn_rates",
]
