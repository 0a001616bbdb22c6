"""By what scorecards are aggregated."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.aspects.score.quality import PROFILES
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.errors import SettingsError
from hallumeter.stats.summarize import check_interval_settings

INSTRUMENT = "aspects"


class AggregateSettings(Struct, frozen=True, kw_only=True):
    """Which scorecards count, and how sure their rates are said to be."""

    profile: str | None = None
    """Only scorecards of this profile; None for all."""
    thresholds: MappingThresholds = MappingThresholds()
    is_strict: bool = False
    """Stop at a line that cannot be used."""
    workers: int = 1
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if self.profile is not None and self.profile not in PROFILES:
            raise SettingsError(f"no profile is called {self.profile!r}; expected one of {', '.join(PROFILES)}")
