"""What a user can choose about an audit."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from hallumeter.errors import SettingsError
from hallumeter.extractors import Extractor
from hallumeter.judges import DEFAULT_JUDGE, Judge, LanguageModelSettings
from hallumeter.pipelines.measurement import MeasureSettings
from hallumeter.providers.language_models import Price
from hallumeter.runner import PaceSettings


class AuditSettings(Struct, frozen=True, kw_only=True):
    """How answers are audited; the defaults need no key, no network and no download."""

    judges: tuple[str | Judge, ...] = (DEFAULT_JUDGE,)
    """Who judges; several form a panel."""
    extractor: str | Extractor = "sentences"
    """How claims are found: ``sentences``, ``clauses``, ``llm`` (by the first language model that judges), or
    ``llm:`` and the name of a language model."""
    measure: MeasureSettings = MeasureSettings()
    """How verdicts are turned into a summary."""
    limit: int | None = None
    """Audit the first so many records."""
    sample: int | None = None
    """Audit so many records, drawn at random by the seed."""
    knowledge_base: Path | None = None
    """A folder or file of texts in which evidence is looked up for every claim."""
    passages_per_claim: int = 5
    samples: str | Judge | None = None
    """How it is told whether two sampled answers mean the same: ``vectors``, or a judge; None leaves samples alone."""
    budget_usd: float | None = None
    """Stop when calls have cost so much."""
    prices: dict[str, Price] = field(default_factory=dict)
    """Prices by name of the language model, where the table of prices has none or an old one."""
    language_model: LanguageModelSettings = LanguageModelSettings()
    pace: PaceSettings = PaceSettings()
    concurrency: int = 16
    """Calls to one language model at the same time."""
    workers: int = 1
    """Processes for judges on this machine."""
    cache: Path | None = None
    """The folder of the verdict cache; None for none."""

    def __post_init__(self) -> None:
        for name in ("limit", "sample", "passages_per_claim", "concurrency", "workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name.replace('_', ' ')} is {value}; expected a whole number from 1")
        if self.limit is not None and self.sample is not None:
            raise SettingsError("limit and sample were both given; choose the first records, or some at random")
        if self.budget_usd is not None and not self.budget_usd > 0:
            raise SettingsError(f"budget is {self.budget_usd:g}; expected US dollars above 0")
        if not self.judges:
            raise SettingsError("no judge was given; expected at least one")
