"""What an edit of a claim is: what stood there, what stands there now, and whether that is an error."""

from __future__ import annotations

from msgspec import Struct

ERROR_KINDS = ("number", "date", "unit", "name", "negation", "addition", "comparison")
"""Edits after which a claim says something else than before."""
CONTROL_KINDS = ("number_form", "date_form", "contraction", "synonym", "punctuation", "framing", "unicode_form", "case")
"""Edits after which a claim says the same in another form."""


class Edit(Struct, frozen=True):
    """One stretch of a text written anew."""

    start: int
    end: int
    written: str
    """What is put in the place of what stands from `start` to `end`."""
    note: str = ""


class Mutation(Struct, frozen=True):
    """A claim with one stretch of it written anew.

    What the claim said before is `text[:start] + original + text[end:]`.
    """

    kind: str
    """One of `ERROR_KINDS` or `CONTROL_KINDS`."""
    text: str
    """The edited claim."""
    start: int | None
    """Where the wrong part begins in the edited text, in code points; None for a control, in which nothing is wrong.

    Where a word was dropped it is the words around it.
    """
    end: int | None
    original: str
    """What stood there before."""
    is_error: bool
    note: str = ""
    """What was done, in a few words."""


def error(kind: str, text: str, edit: Edit) -> Mutation:
    """A claim that an edit made wrong.

    >>> error("number", "It has 5 floors.", Edit(7, 8, "12")).text
    'It has 12 floors.'
    """
    return Mutation(
        kind=kind,
        text=_edited(text, edit),
        start=edit.start,
        end=edit.start + len(edit.written),
        original=text[edit.start : edit.end],
        is_error=True,
        note=edit.note,
    )


def control(kind: str, text: str, edit: Edit) -> Mutation:
    """A claim that an edit left as right or wrong as it was."""
    original = text[edit.start : edit.end]
    return Mutation(kind, _edited(text, edit), None, None, original, is_error=False, note=edit.note)


def _edited(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.written + text[edit.end :]
