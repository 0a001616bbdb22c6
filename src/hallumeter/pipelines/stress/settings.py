"""What a user can choose about a stress test."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.pipelines.audit import AuditSettings

Origin = Literal["given", "evidence"]
"""Where supported claims come from: labelled ones in the input, or sentences of the evidence itself."""
ORIGINS: tuple[Origin, ...] = ("given", "evidence")


class StressSettings(Struct, frozen=True, kw_only=True):
    """How judges are put to the test; the defaults need no key, no network and no download."""

    claims: Origin | None = None
    """Which claims are edited: ``given`` takes those that the input labels SUPPORTED, ``evidence`` the sentences of
    the evidence; None takes given ones where there are any."""
    limit: int = 200
    """How many claims are edited at most; they are spread evenly over the records."""
    judging: AuditSettings = AuditSettings()
    """Who judges and how, as in an audit; the seed, the resamples and the confidence are those of its `measure`."""

    def __post_init__(self) -> None:
        if self.claims not in (None, *ORIGINS):
            raise SettingsError(f"claims is {self.claims!r}; expected one of {', '.join(ORIGINS)}")
        if self.limit < 1:
            raise SettingsError(f"limit is {self.limit}; expected a whole number from 1")
