"""What the journal of an audit holds, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct, structs

from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.response import FieldValue, Response
from hallumeter.run.journal import Entry, Journal, entry_of

READ, FAULTS, PREPARED, SAMPLED = "read", "faults", "prepared", "sampled"
"""Steps: records as they were read, rows that could not be, records with their claims, samples that were compared."""


class ReadRecord(Struct, frozen=True, array_like=True):
    """A record as it was read."""

    response: Response
    claims: object = None
    """Claims that came with the record, as they were given."""


class Prepared(Struct, frozen=True, array_like=True):
    """A record with its evidence and its claims."""

    response: Response
    claims: tuple[Claim, ...]
    source_id: str
    """The id of the record in the input, which the answers of several models may share."""
    failure: Failure | None = None
    """Why no claims could be found."""
    abstained: bool | None = None
    """Whether the response abstains; None unless it is known whether the question has an answer."""


class Judged(Struct, frozen=True, array_like=True):
    """What one judge said of some claims of a record."""

    verdicts: tuple[Verdict, ...]
    failures: tuple[Failure, ...] = ()
    kind: str | None = None
    """The kind of text by which the judge calibrated its probabilities; None when it has said nothing of it."""


def step_of(judge: int) -> str:
    """The step of the judge with this number."""
    return f"judge {judge}"


class Case(Protocol):
    """Something for judges to look at that is no record of a file."""

    def prepared(self) -> Prepared:
        """As a record with its claims."""
        ...


class CaseJournal(Journal):
    """A journal whose prepared records are made whenever they are read: many claims share one long evidence."""

    cases: Sequence[Case] = ()

    def entries(self, step: str, *, after: int = -1) -> Iterator[Entry]:
        """The entries of a step in order of record and part, from the record that follows `after`."""
        if step != PREPARED:
            yield from super().entries(step, after=after)
            return
        for number, case in enumerate(self.cases):
            if number > after:
                yield entry_of(PREPARED, number, case.prepared())


class _TextlessResponse(Struct, frozen=True):
    """A response without the texts that only extractors and judges read."""

    record_id: str
    question: str | None = None
    samples: tuple[str, ...] = ()
    token_logprobs: tuple[float, ...] | None = None
    answerable: bool | None = None
    model: str | None = None
    fields: dict[str, FieldValue] = {}


class _TextlessRecord(Struct, frozen=True, array_like=True):
    """A record as it was read, or prepared, whose response is left as it is written."""

    response: msgspec.Raw


class _TextlessPrepared(_TextlessRecord, frozen=True, array_like=True):
    """A prepared record whose response is left as it is written."""

    claims: tuple[Claim, ...]
    source_id: str
    failure: Failure | None = None
    abstained: bool | None = None


_TEXTLESS_RESPONSE = msgspec.json.Decoder(_TextlessResponse)
_TEXTLESS_RECORD = msgspec.json.Decoder(_TextlessRecord)
_TEXTLESS_PREPARED = msgspec.json.Decoder(_TextlessPrepared)


def textless_response(body: bytes) -> Response:
    """The response of a record as it was read, without its text, evidence and reference, which are not decoded."""
    return _textless(_TEXTLESS_RECORD.decode(body).response)


def textless_prepared(body: bytes) -> tuple[Prepared, bytes]:
    """A prepared record whose response has no texts, and the whole response as a line of JSON.

    Writing a run needs the texts of a response as they are: decoding them would cost as much as judging by rule.
    """
    found = _TEXTLESS_PREPARED.decode(body)
    response = _textless(found.response)
    return Prepared(response, found.claims, found.source_id, found.failure, found.abstained), bytes(found.response)


def _textless(line: msgspec.Raw) -> Response:
    return Response(**structs.asdict(_TEXTLESS_RESPONSE.decode(line)))


class _ClaimsOfRecord(Struct, array_like=True):
    """The beginning of a prepared record, of which only the claims are counted."""

    response: msgspec.Raw
    claims: list[msgspec.Raw]


class _AnswersOfJudge(Struct, array_like=True):
    """What a judge said, of which only the number is wanted."""

    verdicts: list[msgspec.Raw]
    failures: list[msgspec.Raw] = []


_CLAIMS_OF_RECORD = msgspec.json.Decoder(_ClaimsOfRecord)
_ANSWERS_OF_JUDGE = msgspec.json.Decoder(_AnswersOfJudge)


def claim_count(prepared: bytes) -> int:
    """How many claims the body of a prepared record holds."""
    return len(_CLAIMS_OF_RECORD.decode(prepared).claims)


def judged_count(judged: bytes) -> int:
    """On how many claims the body of a judge's answers speaks.

    >>> judged_count(b'[[{"label": "SUPPORTED"}, {"label": "REFUTED"}], [{"code": "timeout"}]]')
    3
    """
    answers = _ANSWERS_OF_JUDGE.decode(judged)
    return len(answers.verdicts) + len(answers.failures)
