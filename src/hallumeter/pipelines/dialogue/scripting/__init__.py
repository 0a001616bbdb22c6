"""Scripts of five questions from patients' records."""

from .facts import PatientFacts, facts_of
from .notes import Note, Notes
from .pipeline import Scripting, ScriptOutcome, write_scripts
from .settings import LANGUAGES, ScriptSettings
from .slots import slots_of
from .wording import turns_of

__all__ = [
    "LANGUAGES",
    "Note",
    "Notes",
    "PatientFacts",
    "ScriptOutcome",
    "ScriptSettings",
    "Scripting",
    "facts_of",
    "slots_of",
    "turns_of",
    "write_scripts",
]
