"""Where unsupported claims are most frequent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sections import ConcentrationSection

if TYPE_CHECKING:
    from typing import Literal

    from hallumeter.report.counting.tallies import Tallies


def concentration_section(
    tallies: Tallies, confidence: float, *, counted: Literal["unsupported", "REFUTED"] = "unsupported"
) -> ConcentrationSection | None:
    """By tenths of the responses and by their length; None when no claim is decided in a text that is known."""
    places = tallies.places
    tenths, lengths = places.tenths(confidence), places.lengths(confidence)
    if not tenths and not lengths:
        return None
    return ConcentrationSection(
        tenths, lengths, without_text=places.without_text, without_place=places.without_place, counted=counted
    )
