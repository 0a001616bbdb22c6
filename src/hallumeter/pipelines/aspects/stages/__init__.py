"""What code does to a sentence between the agents: tidying, mapping, applying, deciding."""

from .moderator import Moderator, moderate
from .sequence import Ask, processed

__all__ = ["Ask", "Moderator", "moderate", "processed"]
