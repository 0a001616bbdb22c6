"""What a user can choose about baselines."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.pipelines.labelled import LabelSettings

MOST_RESPONSES = 200
"""Labelled responses on which judges are asked again, unless the user says otherwise."""


class BaselineSettings(Struct, frozen=True, kw_only=True):
    """How judges are held against baselines."""

    labels: LabelSettings = LabelSettings()
    """Where the truth comes from; its `judge` chooses one, None takes every judge of the run."""
    limit: int = MOST_RESPONSES
    """Ask judges again with other evidence on at most so many labelled responses; 0 asks none."""
    is_any_judge_asked: bool = False
    """Ask judges outside this machine, and functions of the user's, as well."""
    seed: int = 0
    confidence: float = 0.95
    workers: int = 1
    concurrency: int = 16
    timeout_seconds: float = 60.0
    cache: Path | None = None
    """The folder of the verdict cache; None for none."""

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise SettingsError(f"limit is {self.limit}; expected a number of responses from 0")
        if not 0 < self.confidence < 1:
            raise SettingsError(f"confidence is {self.confidence:g}; expected a number between 0 and 1")
        for name in ("workers", "concurrency"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; expected a whole number from 1")
