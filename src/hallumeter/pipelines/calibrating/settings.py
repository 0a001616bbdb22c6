"""How a threshold is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.pipelines.labelled import LabelSettings
from hallumeter.summary import check_interval_settings

from .targets import Target, read_target

if TYPE_CHECKING:
    from hallumeter.records.decisions.calibration import Unit


class CalibrateSettings(Struct, frozen=True, kw_only=True):
    """Settings of a calibration."""

    target: str = "at most 5% hallucinated among accepted"
    """What to promise, in words; `read_target` knows them."""
    source: LabelSettings = LabelSettings()
    """Which labels, judge and slices."""
    unit: Unit | None = None
    """What is accepted; None for responses where these are labelled as wholes, else claims."""
    confidence: float = 0.9
    """Of the promise, and of the intervals."""
    is_on_average: bool = False
    """Promise the target on average over calibrations, not in so many of a hundred of them."""
    is_joint: bool = False
    """Whether the confidence is to hold for all slices at once."""
    resamples: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if self.is_on_average and self.promised.risk == "among_accepted":
            raise SettingsError(
                "on average, only the targets of all and of what is missed can be promised: the share hallucinated "
                "among accepted may fall while the threshold rises"
            )

    @property
    def promised(self) -> Target:
        """The target, understood."""
        return read_target(self.target)
