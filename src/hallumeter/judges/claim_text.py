"""The words of a claim."""

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
