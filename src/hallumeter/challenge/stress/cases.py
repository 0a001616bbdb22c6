"""What the judges are asked: every claim as it is, with each error, and in each other form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, groupby
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from hallumeter.challenge.mutations.donors import Donors, Facts, facts_of
from hallumeter.challenge.mutations.edits import controls_of, errors_of
from hallumeter.challenge.mutations.protocol import Mutation
from hallumeter.claims.audit.entries import READ, Prepared, ReadRecord
from hallumeter.claims.audit.inputs import Inputs
from hallumeter.claims.audit.prepare import ReadingReport
from hallumeter.claims.extractors.json_leaves import json_leaves
from hallumeter.claims.extractors.statements import statement_spans
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.records import label_of, rows_of
from hallumeter.records.claim import Claim, Label
from hallumeter.records.response import Response
from hallumeter.run.journal import Journal
from hallumeter.run.progress import ProgressListener
from hallumeter.text.terms import language_of, terms_of

# What a user can choose about a stress test.

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


# Claims that the input labels as supported.

Answer = tuple[str, str | None]
"""A record of the input and the model whose answer it is."""
Given = dict[Answer, dict[str, str]]
"""Texts of supported claims by their ids, for every answer."""


def labelled_claims(inputs: Inputs) -> Given:
    """Claims that stand in rows of their own, or in the list `claims` of a record, with the label SUPPORTED.

    A claim on which several rows speak must be supported by all of them.
    """
    supported: Given = {}
    doubted: set[tuple[Answer, str]] = set()
    for answer, row in _answers(inputs):
        for claim_id, text, label in _labels(row):
            if label is Label.SUPPORTED:
                supported.setdefault(answer, {}).setdefault(claim_id, text)
            else:
                doubted.add((answer, claim_id))
    for answer, claim_id in doubted:
        supported.get(answer, {}).pop(claim_id, None)
    return {answer: claims for answer, claims in supported.items() if claims}


def _answers(inputs: Inputs) -> Iterator[tuple[Answer, Mapping[str, object]]]:
    """Rows by the answer they speak of, named as an audit names it: a record without an id after its place."""
    for source, batches in inputs.sources():
        for line, row in chain.from_iterable(map(rows_of, batches)):
            given, model = row.get("record_id"), row.get("model")
            name = f"{source}:{line}" if given in (None, "") else str(given)
            yield (name, None if model in (None, "") else str(model)), row


def _labels(row: Mapping[str, object]) -> Iterable[tuple[str, str, Label]]:
    """Id, text and label of every claim that a row labels."""
    claims = row.get("claims")
    several = claims if isinstance(claims, list | tuple) else ()
    for number, entry in enumerate([row, *several]):
        if not isinstance(entry, Mapping):
            continue
        text = entry.get("text", entry.get("claim"))
        label = _label(entry.get("label"))
        if isinstance(text, str) and text.strip() and label is not None:
            claim_id = entry.get("claim_id")
            yield f"#{number}" if claim_id in (None, "") else str(claim_id), text.strip(), label


def _label(value: object) -> Label | None:
    if isinstance(value, Label):
        return value
    return label_of(value) if isinstance(value, str) else None


# Which supported claims are edited.

_Item = TypeVar("_Item")

FEWEST_WORDS, MOST_WORDS = 2, 40
_CODE = re.compile(r"[{}<>|`\\]|=[=>\"']|\);|https?://|(?:^|\s)[#@$]\w")
_WORD = re.compile(r"[^\W\d_]{2,}|[가-힣]")
_PASSAGE_LABEL = re.compile(r"[^\W\d_]+ \d{1,3}\s?:\s*")
_FOR_LANGUAGE = 2_000
"""Characters that tell the language of a passage."""
_LETTERS = 0.6
"""Share of the characters that are letters, below which a text is a table or a formula rather than prose."""


class SourceClaim(Struct, frozen=True):
    """A claim that the evidence of its record supports."""

    response: Response
    """The record, with its question and its evidence."""
    claim_id: str
    text: str
    language: str | None = None
    """Of the passage that it stands in; None when it is not from the evidence."""


class Selection(Struct, frozen=True):
    """The claims of a stress test."""

    origin: Origin
    claims: tuple[SourceClaim, ...]
    available: int
    """Usable claims of the records that were looked at; more than were taken when there is a limit."""
    skipped: int
    """Claims of those records that are no prose of 2 to 40 words: tables, code, links, single words."""
    records_read: int
    records_without_evidence: int

    @property
    def records(self) -> int:
        """Records that the claims belong to."""
        return len({claim.response.record_id for claim in self.claims})


def select_claims(inputs: Inputs, journal: Journal, report: ReadingReport, *, settings: StressSettings) -> Selection:
    """Choose claims, evenly spread over the records that were read.

    Raises:
        InputError: No record has a claim that can be used.
    """
    given: Given = {}
    if settings.claims != "evidence" and {"label", "claims"} & set(report.fields):
        given = labelled_claims(inputs)
    records = _Records(journal, report)
    if settings.claims == "given" or (settings.claims is None and _any_with_evidence(records, given)):
        numbers = [number for number, response in records if (response.record_id, response.model) in given]
        found = [
            [SourceClaim(named, claim_id, text) for claim_id, text in given[response.record_id, response.model].items()]
            for response, named in records.named(_spread(numbers, settings.limit))
        ]
        selection = _selection("given", found, records, limit=settings.limit)
    else:
        selection = _of_evidence(records, settings.limit)
    if not selection.claims:
        raise InputError(_nothing_found(selection))
    return selection


def is_usable(text: str) -> bool:
    """Whether a text is prose of 2 to 40 words.

    >>> is_usable("The tower is 330 m high."), is_usable("| 1 | 2 |"), is_usable("🙂 !")
    (True, False, False)
    """
    words = text.split()
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS or len(_WORD.findall(text)) < FEWEST_WORDS:
        return False
    visible = "".join(words)
    letters = sum(map(str.isalpha, visible))
    return letters >= _LETTERS * len(visible) and _CODE.search(text) is None


class _Records:
    """The records that were read, one after the other."""

    def __init__(self, journal: Journal, report: ReadingReport) -> None:
        self._journal = journal
        self._names = report.names
        self._decoder = msgspec.json.Decoder(ReadRecord)
        self.count = report.records
        self.without_evidence = report.records_without_evidence

    def __iter__(self) -> Iterator[tuple[int, Response]]:
        for entry in self._journal.entries(READ):
            response = self._decoder.decode(entry.body).response
            if response.evidence:
                yield entry.record, response

    def named(self, numbers: Iterable[int]) -> Iterator[tuple[Response, Response]]:
        """Some records, as they were read and under the name that is theirs alone."""
        for number in numbers:
            [entry] = self._journal.of_record(READ, number)
            response = self._decoder.decode(entry.body).response
            yield response, self._names.named(response)


def _any_with_evidence(records: _Records, given: Given) -> bool:
    return bool(given) and any((response.record_id, response.model) in given for _, response in records)


def _of_evidence(records: _Records, limit: int) -> Selection:
    """Sentences of evidence, of which several answers to one question may share the same."""
    firsts: dict[bytes, int] = {}
    for number, response in records:
        evidence = msgspec.json.encode(response.evidence)
        firsts.setdefault(blake2b(evidence, digest_size=16).digest(), number)
    found = [list(_evidence_claims(named)) for _, named in records.named(_spread(list(firsts.values()), limit))]
    return _selection("evidence", found, records, limit=limit)


def _evidence_claims(response: Response) -> Iterator[SourceClaim]:
    for passage in response.evidence:
        if json_leaves(passage.text) is not None:
            continue
        language = language_of(terms_of(passage.text[:_FOR_LANGUAGE]))
        for start, end in statement_spans(passage.text):
            label = _PASSAGE_LABEL.match(passage.text, start)
            first = start if label is None or label.end() >= end else label.end()
            text = " ".join(passage.text[first:end].split())
            yield SourceClaim(response, f"{passage.evidence_id}:{first}", text, language)


def _selection(origin: Origin, found: list[list[SourceClaim]], records: _Records, *, limit: int) -> Selection:
    usable = [[claim for claim in claims if is_usable(claim.text)] for claims in found]
    shares = _shares([len(claims) for claims in usable], limit)
    taken = [claim for claims, share in zip(usable, shares, strict=True) for claim in _spread(claims, share)]
    available = sum(map(len, usable))
    return Selection(
        origin=origin,
        claims=tuple(taken),
        available=available,
        skipped=sum(map(len, found)) - available,
        records_read=records.count,
        records_without_evidence=records.without_evidence,
    )


def _spread(items: Sequence[_Item], size: int) -> list[_Item]:
    """So many items at equal distances; all of them when there are no more.

    >>> _spread([0, 1, 2, 3, 4, 5], 3)
    [0, 2, 4]
    """
    if len(items) <= size:
        return list(items)
    return [items[place * len(items) // size] for place in range(size)]


def _shares(counts: list[int], limit: int) -> list[int]:
    """How many are taken from each when no one may have more than another as long as that one has any left.

    >>> _shares([1, 10, 10], 9)
    [1, 4, 4]
    """
    shares = [0] * len(counts)
    left = limit
    while left > 0 and (open_places := [place for place, count in enumerate(counts) if shares[place] < count]):
        each = max(1, left // len(open_places))
        for place in open_places[:left]:
            more = min(each, counts[place] - shares[place])
            shares[place] += more
            left -= more
    return shares


def _nothing_found(selection: Selection) -> str:
    if selection.records_without_evidence == selection.records_read:
        return "no record has evidence, so no claim is known to be supported; expected the field evidence"
    kind = "claim labelled SUPPORTED with evidence" if selection.origin == "given" else "sentence of the evidence"
    skipped = f"; {selection.skipped:,} were skipped" if selection.skipped else ""
    wanted = f"prose of {FEWEST_WORDS} to {MOST_WORDS} words, no tables and no code"
    return f"no usable {kind} found: expected {wanted}{skipped}"


UNCHANGED = "unchanged"
"""The kind of a claim as it was."""
_OTHER_RECORDS = 40
"""Records whose names may stand in the claims of others."""
_OTHER_CHARACTERS = 4_000
"""As much of the evidence of each is read for them."""


class Case(Struct, frozen=True):
    """One claim, edited or not, for the judges to look at."""

    source: SourceClaim
    mutation: Mutation | None = None
    """None for the claim as it was."""

    @property
    def kind(self) -> str:
        """What was done to the claim."""
        return UNCHANGED if self.mutation is None else self.mutation.kind

    @property
    def is_error(self) -> bool:
        """Whether a judge should catch it."""
        return self.mutation is not None and self.mutation.is_error

    @property
    def text(self) -> str:
        """What the judges read."""
        return self.source.text if self.mutation is None else self.mutation.text

    def prepared(self) -> Prepared:
        """A response of its own, which says nothing but this claim."""
        response = structs.replace(self.source.response, response=self.text, samples=(), token_logprobs=None)
        claim_id = f"{self.source.claim_id}:{self.kind}"
        claim = Claim(response.record_id, claim_id, start=0, end=len(self.text), text=self.text)
        return Prepared(response, (claim,), response.record_id)


def cases_of(claims: Sequence[SourceClaim], *, seed: int, progress: ProgressListener) -> Iterator[Case]:
    """Every claim as it is, then its errors, then its controls; the claims of a record stand together."""
    others = _names_of_others(claims)
    for _, group in groupby(claims, key=lambda claim: claim.response.record_id):
        own = list(group)
        donors = Donors(facts_of(passage.text for passage in own[0].response.evidence), others)
        for claim in own:
            yield Case(claim)
            errors = errors_of(claim.text, donors=donors, seed=seed, language=claim.language)
            controls = controls_of(claim.text, seed=seed, language=claim.language)
            yield from (Case(claim, mutation) for mutation in (*errors, *controls))
            progress.done(1)


def _names_of_others(claims: Sequence[SourceClaim]) -> Facts:
    """What a claim whose own evidence has no other name is given instead."""
    evidence = {claim.response.record_id: claim.response.evidence for claim in claims}
    chosen = list(evidence.values())[:_OTHER_RECORDS]
    return facts_of(passage.text[:_OTHER_CHARACTERS] for passages in chosen for passage in passages[:1])
