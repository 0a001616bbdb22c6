"""What is said about the records besides the scripts: what was missing, odd, or not known."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct


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
