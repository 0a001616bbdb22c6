"""From a response to the things in it that can be true or false, and whether there are any."""

from .abstention import Abstention, AbstentionDetector, detect_abstention

__all__ = ["Abstention", "AbstentionDetector", "detect_abstention"]
