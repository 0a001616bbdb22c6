"""What a user can choose about a measurement."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field, structs

from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.shapes import RowShape
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import Price
from hallumeter.records.decisions import Calibration
from hallumeter.records.judging import Judge
from hallumeter.stats.summarize import SummarySettings, check_interval_settings

from .extractors.protocol import Extractor
from .measure.columns import ConsensusMethod
from .metrics.uncertainty import UncertaintyMethod
from .profiles import HALLUMETER, JUDGE_AUDITOR, Policy


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
    map: dict[str, str] = {}
    """Where fields stand that are not found by their names: ``{"response": "output.text"}``."""

    source_format: Literal["otel"] | None = None
    """``otel`` takes every file for traces of OpenTelemetry, also one that is not recognised as such."""

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise SettingsError(f"similarity is {self.similarity:g}; expected a number above 0 and up to 1")
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        RowShape.of(self.map)  # a path that is none is refused before anything is read

    @property
    def shape(self) -> RowShape:
        """How rows are read."""
        return structs.replace(RowShape.of(self.map), is_traces=self.source_format == "otel")

    @property
    def stated_map(self) -> list[str] | None:
        """The map as a manifest states it; None for none."""
        return [f"{own}={path}" for own, path in sorted(self.map.items())] or None

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


# What a user can choose about an audit.

DEFAULT_JUDGE = "embedded"
PRESETS = ("precise", "balanced", "sensitive")
"""Names of thresholds that ship with a judge: few false alarms, both alike, few misses."""
_LEAST_WINDOW = 200


class LanguageModelSettings(Struct, frozen=True, kw_only=True):
    """How a language model is asked."""

    claims_per_call: int = 8
    """Small models judge one claim at a time better than many; servers that cache prompts then lose little time."""
    window_characters: int = 24_000
    """How much evidence is shown at a time."""
    most_windows: int = 8
    """How many parts of longer evidence are shown, one after the other."""
    wants_quotes: bool = True
    """Ask for the words of the evidence that decide a claim, and check them; without, a call is cheaper."""
    wants_logprobs: bool = False
    """Ask for the probabilities of the labels, where the provider gives them."""
    context_characters: int = 300
    """How much of the response before the claims is shown, so that "it" and "they" can be understood."""
    tokens_per_claim: int = 160
    """Room for the reply on one claim with its quotation."""
    temperature: float | None = 0.0
    seed: int | None = 0
    repairs: int = 2
    """How often a model is told what was wrong with its reply."""

    def __post_init__(self) -> None:
        least = {
            "claims_per_call": 1,
            "window_characters": _LEAST_WINDOW,
            "most_windows": 1,
            "context_characters": 0,
            "tokens_per_claim": 1,
            "repairs": 0,
        }
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise SettingsError(f"{name} is {getattr(self, name)}; expected {bound} or more")


class AuditSettings(Struct, frozen=True, kw_only=True):
    """How answers are audited; the defaults need no key, no network and no download."""

    judges: tuple[str | Judge, ...] = (DEFAULT_JUDGE,)
    """Who judges; several form a panel."""
    preset: str | None = None
    """Where the embedded judge draws the line: ``precise`` (few false alarms), ``balanced``, ``sensitive`` (few
    misses); None for ``balanced``."""
    threshold: float | None = None
    """The probability from which the embedded judge calls a claim unsupported, instead of a preset's."""
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
        if self.preset is not None and self.threshold is not None:
            raise SettingsError("preset and threshold were both given; choose one")
        check_operating_point(self.preset, self.threshold)


def check_operating_point(preset: str | None, threshold: float | None) -> None:
    """Refuse a preset that does not exist, and a threshold that is no probability.

    Raises:
        SettingsError: It is one of the two.
    """
    if preset is not None and preset not in PRESETS:
        raise SettingsError(f"there is no preset {preset!r}; expected one of {', '.join(PRESETS)}")
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise SettingsError(f"threshold is {threshold:g}; expected a probability from 0 to 1")


class OperatingPoint(Struct, frozen=True):
    """Where a judge draws the line, as labels have shown it to be right."""

    threshold: float
    """The probability from which a claim is called unsupported."""
    judge: str
    """Whose probabilities it is a threshold on."""
    promise: str
    """What it keeps, in words."""


def operating_point_of(given: Calibration | str | Path) -> OperatingPoint:
    """The operating point of a calibration, or of the file that `hallumeter calibrate --out` wrote.

    A calibration accepts what has its threshold as probability, a judge flags what has its own: the point is the next
    number above.

    Raises:
        InputError: The file is no calibration.
        SettingsError: It has no threshold for all claims: nothing could be promised, or only of slices or responses.
    """
    found, name = (given, "the calibration") if isinstance(given, Calibration) else (_calibration_in(given), str(given))
    if found.unit != "claim":
        raise SettingsError(f"{name}: is about responses; calibrate claims, with --unit claim")
    whole = [row for row in found.thresholds if not row.by]
    if not whole:
        raise SettingsError(f"{name}: has thresholds for slices only; calibrate without --by for one that fits all")
    if whole[0].threshold is None:
        raise SettingsError(f"{name}: no threshold could promise {found.promise.words!r}: {whole[0].why_not}")
    return OperatingPoint(min(1.0, math.nextafter(whole[0].threshold, 2.0)), found.judge, found.promise.words)


def _calibration_in(path: str | Path) -> Calibration:
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Calibration)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}; `hallumeter calibrate RUN --out FILE` writes one"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a calibration ({error}); write one with `hallumeter calibrate --out`") from error
