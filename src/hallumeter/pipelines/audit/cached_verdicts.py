"""Verdicts that were given before: under which key they are kept, and in which form."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from hallumeter.errors import RecordError
from hallumeter.records import Verdict

if TYPE_CHECKING:
    from hallumeter.judges import JudgeSpec
    from hallumeter.records import Claim, Response

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Verdict)


class VerdictKeys:
    """Keys of the verdicts of one judge: they differ whenever the judge would be asked something else."""

    def __init__(self, spec: JudgeSpec) -> None:
        self._digest = spec.digest

    def of(self, response: Response, claims: tuple[Claim, ...]) -> tuple[bytes, ...]:
        """One key per claim, made of judge, question, evidence, response and the claim's words and place."""
        context = hashlib.blake2b(self._digest, digest_size=16)
        context.update(_ENCODER.encode((response.question, response.evidence, response.response)))
        keys = []
        for claim in claims:
            own = context.copy()
            own.update(_ENCODER.encode((claim.text, claim.start, claim.end)))
            keys.append(own.digest())
        return tuple(keys)


def cached_form(verdict: Verdict) -> bytes:
    """A verdict without the names of its record and claim, which may be others next time."""
    return _ENCODER.encode(structs.replace(verdict, record_id="", claim_id="")).removeprefix(_head("", ""))


def from_cached(body: bytes, claim: Claim) -> Verdict | None:
    """The verdict on a claim, as it was given before; None when it cannot be read."""
    try:
        return _DECODER.decode(_head(claim.record_id, claim.claim_id) + body)
    except (msgspec.DecodeError, RecordError):
        return None


def _head(record_id: str, claim_id: str) -> bytes:
    """What an encoded verdict begins with: put before the rest as text, it need not be made and checked twice."""
    return b'{"record_id":%b,"claim_id":%b,' % (_ENCODER.encode(record_id), _ENCODER.encode(claim_id))
