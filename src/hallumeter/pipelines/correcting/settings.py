"""How rates are corrected."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.pipelines.labelled import LabelSettings
from hallumeter.summary import check_interval_settings


class CorrectSettings(Struct, frozen=True, kw_only=True):
    """Settings of a correction."""

    source: LabelSettings = LabelSettings()
    """Which labels, judge and slices."""
    half_width: float = 0.03
    """Plus or minus how much a corrected rate should be known: so many labels are asked for."""
    confidence: float = 0.95
    resamples: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.half_width < 0.5:
            raise SettingsError(f"the half width is {self.half_width}; expected a number between 0 and 0.5")
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
