"""How scripts are made."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from hallumeter.errors import SettingsError

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
