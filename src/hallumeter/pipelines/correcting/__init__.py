"""Rates corrected for the errors of the judge."""

from .pipeline import correct, corrected_rate, corrected_rates
from .settings import CorrectSettings
from .wording import correction_markdown, correction_text

__all__ = ["CorrectSettings", "correct", "corrected_rate", "corrected_rates", "correction_markdown", "correction_text"]
