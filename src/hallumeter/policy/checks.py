"""Checks that several policies make."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from hallumeter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection

TOLERANCE = 1e-12
"""What two numbers may differ by in their last digits."""


def check_share(name: str, value: float) -> None:
    """Refuse what is not a share."""
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} is {value:g}; expected a share from 0 to 1, such as 0.05")


def nearest(name: str, known: Collection[str]) -> str:
    """What a misspelt metric may have been meant to be.

    >>> nearest("mihrr", ["mihr", "mahr", "far"])
    '`hallumeter metrics` lists those that exist; did you mean mihr or mahr?'
    """
    near = difflib.get_close_matches(name, list(known), n=2)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"`hallumeter metrics` lists those that exist{meant}"
