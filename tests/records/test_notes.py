"""Notes that judges write and reports count."""

from __future__ import annotations

import pytest

from hallumeter.records.claim import (
    cut_evidence_note,
    is_cut_evidence,
    unchecked_language_in,
    unchecked_language_note,
)


@pytest.mark.parametrize(
    ("language", "read"), [("fr", "fr"), ("ko", "ko"), ("another", "another"), ("de", "de"), ("sv", "another")]
)
def test_the_language_of_a_note_is_read_back(language: str, read: str) -> None:
    assert unchecked_language_in(f"numbers differ; {unchecked_language_note(language)}") == read


def test_cut_evidence_is_told_from_other_notes() -> None:
    note = cut_evidence_note(shown=2, windows=9, shown_characters=16_000, characters=70_000)
    assert is_cut_evidence(f"it says so; {note}")
    assert not is_cut_evidence("judged on the whole")
    assert unchecked_language_in(note) is None
