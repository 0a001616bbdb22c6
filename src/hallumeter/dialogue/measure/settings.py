"""What a measurement of dialogues depends on, beside the answers."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hallumeter.stats.summarize import check_interval_settings

MODE, TURN, PATIENT = "mode", "turn_id", "patient_id"


class DialogueSettings(Struct, frozen=True, kw_only=True):
    """Everything that can be chosen."""

    config: Path | None = None
    """A folder with `required_slots_by_turn.yaml` and `safety_rules.yaml`; None takes those that ship."""
    by: tuple[str, ...] = ()
    """Fields to group by, beside mode and turn."""
    judge: str | None = None
    """A judge that decides on contradictions, and is asked about safety beside the words; None leaves both to words."""
    is_indirect_by_vectors: bool = False
    """Whether a sentence near a fact in meaning counts as its indirect use, beside the lexicon's hints."""
    reader: str | None = None
    """Another reader of mentions, as ``module:name``; None is the lexicon."""
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95
    workers: int = 1
    is_strict: bool = False
    """Whether a line that cannot be used, or an unfair comparison, stops the measurement."""

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
