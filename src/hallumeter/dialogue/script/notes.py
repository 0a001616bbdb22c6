"""What is said about the records besides the scripts: what was missing, odd, or not known."""

from __future__ import annotations

from collections import Counter
from datetime import date

from msgspec import Struct

from hallumeter.errors import SettingsError

# How scripts are made.

LANGUAGES = ("en", "ko")


class ScriptSettings(Struct, frozen=True):
    """How patients become scripts."""

    language: str = "ko"
    seed: int = 42
    """Chooses the phrasings, together with the patient's id."""
    as_of: date | None = None
    """The day at which patients are looked at; None is the last day of each record."""
    max_patients: int | None = None
    with_deceased: bool = False
    is_validated: bool = False
    """Whether resources are held against the definitions of FHIR first."""
    is_strict: bool = False

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise SettingsError(f"language {self.language!r}: expected one of {', '.join(LANGUAGES)}")
        if self.max_patients is not None and self.max_patients < 1:
            raise SettingsError(f"at most {self.max_patients} patients: expected 1 or more")


class Note(Struct, frozen=True):
    """Something worth saying about one patient's record."""

    patient_id: str
    code: str
    """What it is about, in one word: ``no_birth_date``, ``unit``."""
    message: str


class Notes:
    """Notes of many patients."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.unknown: dict[str, Counter[str]] = {"condition": Counter(), "drug": Counter(), "observation": Counter()}
        """Codes that no table knows, with their words, and how often each stood in a record."""
        self.patient_id = ""

    def say(self, code: str, message: str) -> None:
        """Say something about the patient at hand."""
        self.notes.append(Note(self.patient_id, code, message))

    def count_unknown(self, kind: str, code: str | None, words: str | None) -> None:
        """Count a code that no table knows."""
        self.unknown[kind][f"{code or 'no code'} {words or ''}".strip()] += 1
