"""The switches and thresholds of the pipeline."""

from __future__ import annotations

from msgspec import Struct, field

from hallumeter.records.response import FieldValue

from .records.aspect import AspectTuple

# Comparison with a bound, where the last digits of a difference of decimals must not decide.

TOLERANCE = 1e-9


def reaches(value: float, bound: float) -> bool:
    """Whether a value is at least a bound, or so near below it that it means the bound.

    >>> 0.7 - 0.5 >= 0.2, reaches(0.7 - 0.5, 0.2), reaches(0.19, 0.2)
    (False, True, False)
    """
    return value >= bound - TOLERANCE


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence to be read."""

    text_id: str
    text: str
    language: str
    domain: str | None = None
    split: str | None = None
    case_type: str | None = None
    gold_tuples: tuple[AspectTuple, ...] | None = None
    """None when no gold is known. No agent ever sees it."""
    fields: dict[str, FieldValue] = field(default_factory=dict)
    unreadable: str | None = None
    """Why nobody is to read it, as its failure tells; None for a sentence that can be read."""


class Switches(Struct, frozen=True, kw_only=True):
    """Which steps are taken."""

    enable_validator: bool = True
    """Without it an empty validation stands in the output."""
    enable_debate: bool = True
    enable_stage2: bool = True
    enable_debate_override: bool = True
    enable_moderator: bool = True
    """Without it the final label is that of the last stage."""


class OverrideThresholds(Struct, frozen=True, kw_only=True):
    """When the hints of a debate are strong and agree: a profile of `debate_override_thresholds.json`."""

    min_total: float = 1.6
    min_margin: float = 0.8
    min_target_conf: float = 0.7
    l3_conservative: bool = False
    """Leave sentences with a risk of negation, contrast or irony alone."""


class MappingThresholds(Struct, frozen=True, kw_only=True):
    """When the mapping of a debate to aspects is worth a warning: `debate_thresholds.json`."""

    coverage_warn: float = 0.4
    coverage_high: float = 0.25
    no_match_warn: float = 0.4
    no_match_high: float = 0.6
    neutral_warn: float = 0.4
    neutral_high: float = 0.6


class LanguagePatterns(Struct, frozen=True, kw_only=True):
    """The pattern file of a language: words that stages look for where morphology alone does not decide."""

    synonyms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """A canonical aspect and the words for it."""
    mixed_words: tuple[str, ...] = ()
    """Words by which a debate's text is read as mixed, and so on; in this order."""
    positive_words: tuple[str, ...] = ()
    negative_words: tuple[str, ...] = ()
    neutral_words: tuple[str, ...] = ()
    stop_terms: tuple[str, ...] = ()
    """Words that are no targets."""
    allowlist: tuple[str, ...] = ()
    """Targets that are shorter than two characters, or look like stop terms."""
    denials: tuple[str, ...] = ()
    """Words that deny: a clause with one of them names no label."""
    guidance: tuple[str, ...] = ()
    """What reviewers are told about the debate, one line each."""


class StageSettings(Struct, frozen=True, kw_only=True):
    """All that decides what code makes of agents' answers."""

    switches: Switches = Switches()
    override: OverrideThresholds = OverrideThresholds()
    mapping: MappingThresholds = MappingThresholds()
    patterns: dict[str, LanguagePatterns] = field(default_factory=dict)
    """By language code; a language without patterns has none."""
    run_id: str = ""
    seed: int = 0
    mode: str = "proposed"
    profile: str = "regression"
    cfg_hash: str | None = None
