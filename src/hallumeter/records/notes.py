"""Notes on verdicts that judges write and that reports count: each is worded here alone."""

_UNCHECKED = "judged by rules: the model was trained and checked on English, not "
_LANGUAGES = {"fr": "on French", "ko": "on Korean"}
_ANOTHER = "in this language"
_CUT = "judged on {shown:,} of {windows:,} windows ({shown_characters:,} of {characters:,} characters)"
_CUT_OPENING, _CUT_MIDDLE = "judged on ", " windows ("


def unchecked_language_note(language: str) -> str:
    """What the embedded judge notes where its model does not know the language.

    >>> unchecked_language_note("fr")
    'judged by rules: the model was trained and checked on English, not on French'
    """
    return _UNCHECKED + _LANGUAGES.get(language, _ANOTHER)


def unchecked_language_in(note: str) -> str | None:
    """The language that a judge notes as one that its model does not know, or ``another``; None where it notes none.

    >>> unchecked_language_in(unchecked_language_note("ko")), unchecked_language_in("the year is wrong")
    ('ko', None)
    """
    _, found, told = note.rpartition(_UNCHECKED)
    if not found:
        return None
    return next((code for code, words in _LANGUAGES.items() if told.startswith(words)), "another")


def cut_evidence_note(*, shown: int, windows: int, shown_characters: int, characters: int) -> str:
    """What a judge notes that has not seen all of the evidence.

    >>> cut_evidence_note(shown=1, windows=3, shown_characters=8_000, characters=21_000)
    'judged on 1 of 3 windows (8,000 of 21,000 characters)'
    """
    return _CUT.format(shown=shown, windows=windows, shown_characters=shown_characters, characters=characters)


def is_cut_evidence(note: str) -> bool:
    """Whether a judge notes that it has not seen all of the evidence.

    >>> is_cut_evidence("it says so; judged on 1 of 3 windows (8,000 of 21,000 characters)"), is_cut_evidence("no")
    (True, False)
    """
    return _CUT_MIDDLE in note and _CUT_OPENING in note
