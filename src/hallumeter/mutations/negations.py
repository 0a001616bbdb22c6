"""Errors of negation: what is said is denied, what is denied is said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .choosing import Choice
from .donors import Donors
from .negation.english import english_edits
from .negation.french import french_edits
from .negation.korean import korean_edits
from .protocol import Edit
from .reading import Reading

_QUESTION = re.compile(r"\?[\"'”’)]*\s*$")
_BY_LANGUAGE = {"en": english_edits, "fr": french_edits, "ko": korean_edits}


def negation_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """A negation put in or taken out, by the rules of the claim's language; none for a question."""
    del donors, choice  # what can be denied first is denied, whatever the seed
    if _QUESTION.search(reading.text) is None:
        yield from _BY_LANGUAGE[reading.language](reading)
