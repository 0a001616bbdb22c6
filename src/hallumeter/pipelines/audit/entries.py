"""What the journal of an audit holds, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
from msgspec import Struct

from hallumeter.records import Claim, Failure, Response, Verdict
from hallumeter.store import Entry, Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from threading import Event

    from hallumeter.runner import Spending, Watch

READ, FAULTS, PREPARED, SAMPLED = "read", "faults", "prepared", "sampled"
"""Steps: records as they were read, rows that could not be, records with their claims, samples that were compared."""
_SPENT = "spent"
"""Under which the journal notes what the calls of the run have cost so far."""

_Body = TypeVar("_Body")


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


class Judged(Struct, frozen=True, array_like=True):
    """What one judge said of some claims of a record."""

    verdicts: tuple[Verdict, ...]
    failures: tuple[Failure, ...] = ()


def step_of(judge: int) -> str:
    """The step of the judge with this number."""
    return f"judge {judge}"


_ENCODER = msgspec.json.Encoder()


def entry_of(step: str, record: int, body: Struct, *, part: int = 0) -> Entry:
    """A line of the journal."""
    return Entry(step, record, part, _ENCODER.encode(body))


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


class Merged(Struct):
    """Entries of one step in the order of the records, taken record by record."""

    entries: Iterator[Entry]
    waiting: Entry | None = None
    is_started: bool = False

    def take(self, record: int) -> list[bytes]:
        """The bodies of a record; records must be asked for in order."""
        if not self.is_started:
            self.waiting, self.is_started = next(self.entries, None), True
        taken: list[bytes] = []
        while self.waiting is not None and self.waiting.record <= record:
            if self.waiting.record == record:
                taken.append(self.waiting.body)
            self.waiting = next(self.entries, None)
        return taken


def decoded(bodies: Iterable[bytes], kind: type[_Body]) -> Iterator[_Body]:
    """Bodies as what they are."""
    decoder = msgspec.json.Decoder(kind)
    return map(decoder.decode, bodies)


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


class Means(Struct, frozen=True):
    """What every step of an audit works with."""

    journal: Journal
    stop: Event
    watch: Watch
    spending: Spending

    def note_spending(self) -> None:
        """Keep what the run has spent so far, for the run that goes on with it."""
        self.journal.note(_SPENT, _ENCODER.encode(self.spending.counted()))

    def resume_spending(self) -> None:
        """Go on counting where an earlier run stopped: a budget holds for both together."""
        noted = self.journal.noted(_SPENT)
        if noted is not None:
            self.spending.restore(msgspec.json.decode(noted, type=dict[str, float]))
