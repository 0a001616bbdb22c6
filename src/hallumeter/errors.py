"""The faults that a user can mend, as a tree.

    HallumeterError              shown by the command line as one line, without a traceback
    ├── InputError               a file or stream cannot be used: missing, empty, wrong encoding, a folder
    │   └── RecordError          one row of it cannot be used: a field is missing or impossible
    ├── SettingsError            an option or a policy file asks for something that does not exist
    └── MissingExtraError        the work needs an optional package; the message names the pip line

Everything else that escapes is a fault of hallumeter itself and keeps its traceback.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class HallumeterError(Exception):
    """The user can mend this; the message says what was expected, found, where, and what to do."""


class InputError(HallumeterError):
    """A file or stream cannot be used at all."""


class RecordError(InputError):
    """One row of a file, or one record handed over in Python, cannot be used."""


class SettingsError(HallumeterError):
    """An option or a settings file asks for something impossible."""


class MissingExtraError(HallumeterError):
    """The work needs an optional package that is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an optional package; type: pip install 'hallumeter[{extra}]'")
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.extra, self.purpose)  # an error must come back whole from another process


# Checks that several policies make.

TOLERANCE = 1e-12
"""What two numbers may differ by in their last digits."""


def check_share(name: str, value: float) -> None:
    """Refuse what is not a share."""
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} is {value:g}; expected a share from 0 to 1, such as 0.05")


_SYNONYMS = {
    "hallucination_rate": ("mihr", "mahr"),
    "hallucination": ("mihr", "mahr"),
    "hallucinations": ("mihr", "mahr"),
    "unsupported": ("mihr", "mahr"),
    "unsupported_rate": ("mihr", "expected_unsupported_rate"),
    "faithfulness": ("factscore", "mihr"),
    "groundedness": ("factscore", "mihr"),
    "refusal_rate": ("correct_refusal_rate", "over_refusal_rate"),
}
"""What other tools, and people, call what is measured here."""


def nearest(name: str, known: Collection[str]) -> str:
    """What a misspelt metric, or one by the name that others give it, may have been meant to be.

    >>> nearest("mihrr", ["mihr", "mahr", "far"])
    '`hallumeter metrics` lists those that exist; did you mean mihr or mahr?'
    >>> nearest("hallucination-rate", ["mihr", "mahr", "far"])
    '`hallumeter metrics` lists those that exist; did you mean mihr or mahr?'
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    meant = [metric for metric in _SYNONYMS.get(plain, ()) if metric in known]
    near = meant or difflib.get_close_matches(plain, list(known), n=2)
    asked = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"`hallumeter metrics` lists those that exist{asked}"
