"""Claims that came with the record instead of being extracted."""

from __future__ import annotations

from collections.abc import Mapping

from hallumeter.errors import RecordError
from hallumeter.records.claim import Claim
from hallumeter.records.response import Response

from .protocol import Aligner

_FORM = "a text, or an object with `text` (or `claim`) and, if wanted, `claim_id`, `start` and `end`"


def claims_from(values: object, response: Response) -> list[Claim]:
    """Read the claims that a record holds, in the order given, and find each in the response.

    A place that is given is kept; else the words are looked for, and a claim that is not found has no place.

    Raises:
        RecordError: An entry is no claim, a place lies outside of the response, or an id is there twice.

    >>> response = Response("r1", response="Paris lies on the Seine.")
    >>> [claim] = claims_from([{"claim": "lies on the Seine", "claim_id": "c7"}], response)
    >>> claim.claim_id, claim.start, claim.end
    ('c7', 6, 23)
    """
    owner = f"record {response.record_id!r}"
    if not isinstance(values, list | tuple):
        raise RecordError(f"{owner}: claims are {_shown(values)}; expected a list, each entry {_FORM}")
    aligner = Aligner(response.response or "")
    claims: list[Claim] = []
    ids: set[str] = set()
    after = 0
    for number, value in enumerate(values):
        claim = _claim(value, response, place=f"{owner}: claim {number}", number=number)
        if claim.claim_id in ids:
            raise RecordError(
                f"{owner}: claim {number} has the id {claim.claim_id!r} of an earlier one; make it unique"
            )
        ids.add(claim.claim_id)
        if claim.start is None and (span := aligner.place_of(claim.text or "", after)) is not None:
            claim = Claim(claim.record_id, claim.claim_id, start=span[0], end=span[1], text=claim.text)
        after = after if claim.end is None else claim.end
        claims.append(claim)
    return claims


def _claim(value: object, response: Response, *, place: str, number: int) -> Claim:
    entry: Mapping[object, object]
    if isinstance(value, str):
        entry = {"text": value}
    elif isinstance(value, dict):
        entry = value
    else:
        raise RecordError(f"{place} is {_shown(value)}; expected {_FORM}")
    start, end = _span(entry, response.response, place)
    text = entry.get("text", entry.get("claim"))
    if text is None and start is not None and response.response is not None:
        text = response.response[start:end]
    if not isinstance(text, str) or not text.strip():
        raise RecordError(f"{place} has the text {_shown(text)}; expected {_FORM}")
    claim_id = entry.get("claim_id")
    if claim_id is None:
        claim_id = f"{response.record_id}#{number}"
    elif isinstance(claim_id, int) and not isinstance(claim_id, bool):
        claim_id = str(claim_id)
    if not isinstance(claim_id, str) or not claim_id:
        raise RecordError(f"{place} has the id {_shown(claim_id)}; expected a text or a whole number")
    return Claim(response.record_id, claim_id, start=start, end=end, text=text)


def _span(entry: Mapping[object, object], response: str | None, place: str) -> tuple[int | None, int | None]:
    start, end = entry.get("start"), entry.get("end")
    if start is None and end is None:
        return None, None
    if type(start) is not int or type(end) is not int:
        raise RecordError(
            f"{place} stands from {_shown(start)} to {_shown(end)}; expected two whole numbers, or neither"
        )
    length = None if response is None else len(response)
    if not 0 <= start < end or (length is not None and end > length):
        inside = "" if length is None else f" within the {length} characters of the response"
        raise RecordError(f"{place} stands from {start} to {end}; expected 0 <= start < end{inside}")
    return start, end


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
