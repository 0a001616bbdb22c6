"""What a user can choose about a comparison."""

from __future__ import annotations

from msgspec import Struct, field

from hallumeter.errors import SettingsError
from hallumeter.policy import ComparePolicy
from hallumeter.summary import check_interval_settings


class CompareSettings(Struct, frozen=True, kw_only=True):
    """How two runs are compared; the defaults suit most."""

    metrics: tuple[str, ...] = ()
    """Which are compared; none are the usual ones of the instrument, and `all` is every metric of a record."""
    by: tuple[str, ...] = ()
    """Fields whose values make slices, each compared beside the whole."""
    on: tuple[str, ...] = ()
    """Fields by which records are aligned; none is their id."""
    cluster: str | None = None
    """The unit of resampling, a field; None is what the runs themselves used."""
    similarity: float = 0.7
    """How alike the wording of two claims must be, from 0 to 1, to be one claim that was reworded."""
    examples: int = 20
    """Changed claims that are kept of each transition."""
    policy: ComparePolicy = field(default_factory=ComparePolicy)
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if not 0 < self.similarity <= 1:
            raise SettingsError(f"similarity is {self.similarity:g}; expected a number above 0 and up to 1")
        if self.examples < 0:
            raise SettingsError(f"examples is {self.examples}; expected a whole number from 0")
