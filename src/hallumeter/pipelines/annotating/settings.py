"""Who is asked, and for what."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.errors import SettingsError

UNITS = ("claim", "response")


class AnnotateSettings(Struct, frozen=True, kw_only=True):
    """Settings of a session in which somebody gives labels."""

    annotator: str
    """Whose labels these are."""
    judge: str | None = None
    """Whose verdicts the labels are held against; None for the one that the headline rests on."""
    unit: str = "claim"
    """What is drawn: single claims, or responses of which every claim is asked for."""
    overlap: float = 0.2
    """Share of the questions that another annotator has answered already, where there is one."""
    half_width: float = 0.03
    """Plus or minus how much the rate should be known."""
    seed: int = 0
    """Of the order in which claims are drawn."""

    def __post_init__(self) -> None:
        if not self.annotator.strip():
            raise SettingsError("the annotator has no name; give one")
        if self.unit not in UNITS:
            raise SettingsError(f"the unit is {self.unit!r}; expected one of {', '.join(UNITS)}")
        if not 0 <= self.overlap <= 1:
            raise SettingsError(f"the overlap is {self.overlap}; expected a number from 0 to 1")
