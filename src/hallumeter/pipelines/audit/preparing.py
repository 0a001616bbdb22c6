"""From records to records with claims and evidence."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.engines import map_in_order
from hallumeter.errors import RecordError
from hallumeter.extractors import ExtractionFailure, claims_from
from hallumeter.pipelines.measurement.response_names import ResponseNames
from hallumeter.records import Failure
from hallumeter.runner import Lane, run_lanes

from .entries import PREPARED, READ, Prepared, ReadRecord, entry_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from hallumeter.extractors import Extractor
    from hallumeter.records import Claim, Passage, Response
    from hallumeter.retrieval import KnowledgeBase

    from .entries import Means

_AT_A_TIME = 64
FEW = 50
"""Fewer records than this are not worth starting processes for."""


class Preparation(Struct, frozen=True):
    """How claims and their evidence are found."""

    extractor: Extractor
    names: ResponseNames = ResponseNames()
    knowledge_base: KnowledgeBase | None = None
    passages_per_claim: int = 5
    is_strict: bool = False

    def prepared(self, item: tuple[int, bytes]) -> tuple[int, Prepared]:
        """One record with its claims; a record whose claims cannot be found keeps the reason instead."""
        number, body = item
        read = _DECODER.decode(body)
        source = read.response.record_id
        response = self.names.named(read.response)
        try:
            claims = self._claims(read, response)
        except (ExtractionFailure, RecordError) as error:
            return number, Prepared(response, (), source, self._failure(response, error))
        except Exception as error:
            # What a remote extractor raises ends the run, which can be resumed; one odd text does not.
            if self.is_strict or self.extractor.is_remote:
                raise
            return number, Prepared(response, (), source, self._failure(response, error))
        return number, Prepared(response, tuple(claims), source)

    def _claims(self, read: ReadRecord, response: Response) -> list[Claim]:
        if read.claims is not None:
            return claims_from(read.claims, response)
        return self.extractor.extract(response)

    def _failure(self, response: Response, error: Exception) -> Failure:
        code = getattr(error, "code", "impossible_claim" if isinstance(error, RecordError) else "extractor_error")
        return Failure(
            response.record_id, None, "extract", None, code, str(error), attempts=getattr(error, "attempts", 1)
        )

    def with_evidence(self, records: Sequence[tuple[int, Prepared]]) -> Iterator[tuple[int, Prepared]]:
        """The records with what the knowledge base holds on their claims, beside the evidence they came with."""
        if self.knowledge_base is None:
            yield from records
            return
        queries = [claim.text or "" for _, record in records for claim in record.claims]
        found = iter(self.knowledge_base.search(queries, top=self.passages_per_claim) if queries else ())
        for number, record in records:
            own = record.response.evidence
            looked_up = [passage for _ in record.claims for passage in next(found)]
            evidence = (*own, *_others(looked_up, {passage.evidence_id for passage in own}))
            yield number, structs.replace(record, response=structs.replace(record.response, evidence=evidence))


def _others(passages: Iterable[Passage], taken: Collection[str]) -> Iterable[Passage]:
    """The passages once each; one with the name of a passage that the record came with is given another."""
    others: dict[str, Passage] = {}
    for passage in passages:
        name = passage.evidence_id
        if name not in others:
            others[name] = structs.replace(passage, evidence_id=f"{name} (looked up)") if name in taken else passage
    return others.values()


_DECODER = msgspec.json.Decoder(ReadRecord)


def prepare_records(means: Means, preparation: Preparation, *, records: int, workers: int) -> bool:
    """Find the claims of every record that has none in the journal yet; False when it was stopped."""
    journal, stop, watch = means.journal, means.stop, means.watch
    done = journal.done(PREPARED)
    watch.begin("finding claims", total=records, done=len(done))
    items = ((entry.record, entry.body) for entry in journal.entries(READ) if (entry.record, 0) not in done)

    def keep(results: Sequence[tuple[int, Prepared]]) -> None:
        journal.add([entry_of(PREPARED, number, record) for number, record in preparation.with_evidence(results)])
        for _, record in results:
            watch.done(1, failures=record.failure is not None)

    if preparation.extractor.is_remote:
        lane = Lane(name="extract", tasks=items, work=preparation.prepared, concurrency=workers)

        def keep_paid(results: Sequence[tuple[str, tuple[int, bytes], tuple[int, Prepared]]]) -> None:
            keep([result for _, _, result in results])
            means.note_spending()

        return run_lanes([lane], keep_paid, stop=stop)
    waiting: list[tuple[int, Prepared]] = []
    found = map_in_order(preparation.prepared, items, workers=workers if records >= FEW else 1)
    with closing(found) as results:
        for result in results:
            waiting.append(result)
            if len(waiting) >= _AT_A_TIME or stop.is_set():
                keep(waiting)
                waiting = []
            if stop.is_set():
                return False
    keep(waiting)
    return True
