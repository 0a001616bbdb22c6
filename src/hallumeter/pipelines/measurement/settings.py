"""What a user can choose about a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.policy import HALLUMETER, JUDGE_AUDITOR, Policy
from hallumeter.summary import SummarySettings, check_interval_settings

if TYPE_CHECKING:
    from hallumeter.metrics.uncertainty import UncertaintyMethod

    from .inputs import ConsensusMethod


class MeasureSettings(Struct, frozen=True, kw_only=True):
    """How verdicts are turned into a summary; the defaults suit most files."""

    by: tuple[str, ...] = ()
    """Fields to group by."""
    consensus: ConsensusMethod = "majority"
    headline: str | None = None
    """The judge that the headline figures rest on; None for the only one, or the consensus of several."""
    uncertainty: UncertaintyMethod = "information"
    similarity: float | None = None
    """How alike two claims of different models must be to count as the same; None asks for the same text."""
    cluster: str = "response"
    """The unit of resampling: the response, or a field that groups responses, such as a document."""
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95
    policies: tuple[Policy, ...] = (HALLUMETER, JUDGE_AUDITOR)
    is_strict: bool = False
    """Whether the first faulty row ends the work."""

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise SettingsError(f"similarity is {self.similarity:g}; expected a number above 0 and up to 1")
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field of the input that the settings name."""
        further = () if self.cluster == "response" else (self.cluster,)
        return tuple(dict.fromkeys((*self.by, *further)))

    def numbers(self, version: str, stated: tuple[tuple[str, str], ...] = ()) -> SummarySettings:
        """What every number of the summary depends on; `stated` is said first in every signature."""
        return SummarySettings(
            version=version,
            seed=self.seed,
            resamples=self.resamples,
            confidence=self.confidence,
            cluster=self.cluster,
            stated=stated,
        )
