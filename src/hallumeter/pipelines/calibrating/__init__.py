"""Thresholds that keep a promise, and probabilities that do."""

from .pipeline import calibrate
from .settings import CalibrateSettings
from .wording import calibration_markdown, calibration_text

__all__ = ["CalibrateSettings", "calibrate", "calibration_markdown", "calibration_text"]
