"""The words of a claim, and the place of a part of it."""

from __future__ import annotations

from hallumeter.records import Claim, Response


def claim_text(claim: Claim, response: Response) -> str:
    """What a claim says; one that only has a place says what stands there, one without either says nothing.

    >>> claim_text(Claim("r1", "c1", start=0, end=4), Response("r1", response="Oui. Non."))
    'Oui.'
    """
    if claim.text is None and claim.start is not None and response.response is not None:
        return response.response[claim.start : claim.end]
    return claim.text or ""


def place_in_response(claim: Claim, response: Response, span: tuple[int, int]) -> tuple[int | None, int | None]:
    """A part of a claim as a place in the response; the claim's own place when it is worded otherwise there.

    >>> claim = Claim("r1", "c1", text="Non.", start=5, end=9)
    >>> place_in_response(claim, Response("r1", response="Oui. Non."), (0, 3))
    (5, 8)
    """
    if claim.start is None or claim.end is None:
        return None, None
    text = claim.text
    if text is not None and (response.response or "")[claim.start : claim.end] != text:
        return claim.start, claim.end
    return claim.start + span[0], claim.start + span[1]
