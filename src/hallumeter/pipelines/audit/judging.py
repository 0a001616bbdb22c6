"""From claims to verdicts: every judge on every claim, what was said before taken from the cache."""

from __future__ import annotations

import time
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.engines import map_in_order
from hallumeter.errors import RecordError
from hallumeter.judges import JudgeTask
from hallumeter.providers.language_models import PASSING_CODES
from hallumeter.records import Failure, Response, Verdict, check_span
from hallumeter.runner import BudgetReached, Interrupted, Lane, run_lanes

from .cached_verdicts import VerdictKeys, cached_form, from_cached
from .entries import PREPARED, Judged, Prepared, entry_of, judged_count, step_of
from .preparing import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from threading import Event

    from hallumeter.judges import Judge
    from hallumeter.records import Claim
    from hallumeter.runner import Watch
    from hallumeter.store import Done, Entry, Journal, VerdictCache

    from .entries import Means

_AT_A_TIME = 128
"""Records whose verdicts are looked up in the cache, or put into the journal, together."""
_SECONDS_AT_MOST = 0.5
"""A judge may be slow: what it has done is kept, and told, all the same."""
_DECODER = msgspec.json.Decoder(Prepared)
_JUDGED = msgspec.json.Decoder(Judged)


class Job(Struct, frozen=True):
    """Claims of one record for one judge to look at."""

    record: int
    part: int
    task: JudgeTask
    keys: tuple[bytes, ...] = ()
    """Of the claims, in the cache."""
    known: tuple[Verdict, ...] = ()
    """Verdicts on other claims of the same part that the cache had."""


class Bench(Struct, frozen=True):
    """One judge at work."""

    number: int
    judge: Judge
    cache: VerdictCache | None = None
    """What this judge has said in other runs; None for a judge that is asked again at no cost."""
    is_strict: bool = False

    @property
    def step(self) -> str:
        """What the judge's verdicts are called in the journal."""
        return step_of(self.number)

    def judged(self, job: Job) -> Judged:
        """What the judge says; a judge on this machine that breaks on one record has failed on that record."""
        try:
            said = self.judge.judge(job.task)
        except Exception as error:
            # What a remote judge raises ends the run, which can be resumed.
            if self.is_strict or self.judge.spec.is_remote:
                raise
            message = f"{type(error).__name__}: {error}"
            said = [self._failure(claim, message) for claim in job.task.claims]
        found = {item.claim_id: item for item in said}
        answers = [self._answer(claim, found, job.task.response) for claim in job.task.claims]
        verdicts = tuple(item for item in answers if isinstance(item, Verdict))
        return Judged((*job.known, *verdicts), tuple(item for item in answers if isinstance(item, Failure)))

    def _answer(
        self, claim: Claim, found: dict[str | None, Verdict | Failure], response: Response
    ) -> Verdict | Failure:
        """What was said of a claim, or of the whole task; a verdict that points outside the texts is none."""
        said, whole = found.get(claim.claim_id), found.get(None)
        if said is None and isinstance(whole, Failure):
            said = structs.replace(whole, record_id=claim.record_id, claim_id=claim.claim_id)
        if said is None:
            return self._failure(claim, "the judge said nothing of this claim")
        if isinstance(said, Verdict):
            try:
                _check_places(said, response)
            except RecordError as error:
                return self._failure(claim, str(error))
        return self._owned(said)

    def _failure(self, claim: Claim, message: str) -> Failure:
        return failure_of(claim, self.judge.spec.name, "judge_error", message=message)

    def _owned(self, item: Verdict | Failure) -> Verdict | Failure:
        """Under the name by which the run knows the judge, whatever it calls itself."""
        name = self.judge.spec.name
        return item if item.judge == name else structs.replace(item, judge=name)

    def jobs(self, journal: Journal, watch: Watch, *, stop: Event) -> Iterator[Job]:
        """The work that is left, in the order of the records; what the cache knows goes straight to the journal.

        Raises:
            Interrupted: It was stopped, which much work for the cache would not notice.
        """
        done, again = journal.done(self.step), self._to_be_asked_again(journal)
        entries = journal.entries(PREPARED)
        while batch := list(islice(entries, _AT_A_TIME)):
            cut = [job for entry in batch for job in self._cut(entry, done, again)]
            if self.cache is None:
                yield from cut
                continue
            if stop.is_set():
                raise Interrupted("stopped while verdicts were looked up in the cache")
            looked_up = self._looked_up(cut, self.cache)
            known = [job for job in looked_up if not job.task.claims]
            journal.add([entry_of(self.step, job.record, Judged(job.known), part=job.part) for job in known])
            found = sum(len(job.known) for job in known)
            watch.done(found, cached=found)
            yield from (job for job in looked_up if job.task.claims)

    def _to_be_asked_again(self, journal: Journal) -> dict[tuple[int, int], Judged]:
        """Parts on which the judge has failed before, for reasons that may have passed."""
        if not self.judge.spec.is_remote:
            return {}
        judged = ((entry.record, entry.part, _JUDGED.decode(entry.body)) for entry in journal.entries(self.step))
        return {
            (record, part): said
            for record, part, said in judged
            if any(failure.code in PASSING_CODES for failure in said.failures)
        }

    def _cut(self, entry: Entry, done: Done, again: dict[tuple[int, int], Judged]) -> Iterator[Job]:
        """The parts of a record that are not done."""
        prepared = _DECODER.decode(entry.body)
        claims = prepared.claims
        size = self.judge.spec.claims_per_task or max(1, len(claims))
        parts = enumerate(range(0, len(claims), size))
        left = [
            (part, first) for part, first in parts if (entry.record, part) not in done or (entry.record, part) in again
        ]
        if not left:
            return
        keys = () if self.cache is None else VerdictKeys(self.judge.spec).of(prepared.response, claims)
        for part, first in left:
            own = slice(first, first + size)
            job = Job(entry.record, part, JudgeTask(prepared.response, claims[own]), keys[own])
            said = again.get((entry.record, part))
            yield job if said is None else _without_verdicts(job, said.verdicts)

    def _looked_up(self, jobs: Sequence[Job], cache: VerdictCache) -> list[Job]:
        """The jobs without the claims whose verdicts are known, and with those verdicts."""
        found = cache.get_many([key for job in jobs for key in job.keys])
        return [_without_known(job, found) for job in jobs]

    def kept(self, journal: Journal, results: Sequence[tuple[Job, Judged]], watch: Watch) -> None:
        """Put what was said into the journal first, then into the cache."""
        journal.add([entry_of(self.step, job.record, judged, part=job.part) for job, judged in results])
        if self.cache is not None:
            self.cache.put_many(row for job, judged in results for row in _cache_rows(job, judged))
        for job, judged in results:
            watch.done(len(job.task.claims) + len(job.known), failures=len(judged.failures), cached=len(job.known))


def _check_places(verdict: Verdict, response: Response) -> None:
    """Refuse places outside the response, and those of quotations outside their passage."""
    owner = f"the place that the judge gives in the response for claim {verdict.claim_id!r}"
    check_span(verdict.start, verdict.end, owner, length=len(response.response or ""))
    if not verdict.evidence:
        return
    lengths = {passage.evidence_id: len(passage.text) for passage in response.evidence}
    for quote in verdict.evidence:
        owner = f"the quotation from {quote.evidence_id!r} for claim {verdict.claim_id!r}"
        check_span(quote.start, quote.end, owner, length=lengths.get(quote.evidence_id))


def _without_verdicts(job: Job, verdicts: tuple[Verdict, ...]) -> Job:
    """A job without the claims on which there are verdicts."""
    known = {verdict.claim_id for verdict in verdicts}
    kept = [number for number, claim in enumerate(job.task.claims) if claim.claim_id not in known]
    task = JudgeTask(job.task.response, tuple(job.task.claims[number] for number in kept))
    return Job(job.record, job.part, task, tuple(job.keys[number] for number in kept if job.keys), verdicts)


def _without_known(job: Job, found: dict[bytes, bytes]) -> Job:
    known: list[Verdict] = list(job.known)
    left: list[tuple[Claim, bytes]] = []
    for claim, key in zip(job.task.claims, job.keys, strict=True):
        body = found.get(key)
        verdict = None if body is None else from_cached(body, claim)
        if verdict is None:
            left.append((claim, key))
        else:
            known.append(verdict)
    task = JudgeTask(job.task.response, tuple(claim for claim, _ in left))
    return Job(job.record, job.part, task, tuple(key for _, key in left), tuple(known))


def _cache_rows(job: Job, judged: Judged) -> Iterator[tuple[bytes, bytes]]:
    key_of = {claim.claim_id: key for claim, key in zip(job.task.claims, job.keys, strict=True)}
    for verdict in judged.verdicts:
        if verdict.claim_id in key_of:
            yield key_of[verdict.claim_id], cached_form(verdict)


def failure_of(claim: Claim, judge: str, code: str, *, message: str, attempts: int = 1) -> Failure:
    """A claim that a judge gave no verdict on."""
    return Failure(claim.record_id, claim.claim_id, "judge", judge, code, message, attempts)


class Judging(Struct, frozen=True):
    """All judges at work on one journal."""

    means: Means
    benches: tuple[Bench, ...]
    concurrency: int = 16
    workers: int = 1

    def run(self, claims: int) -> bool:
        """Judge every claim that has no verdict in the journal yet; False when it was stopped."""
        here = [bench for bench in self.benches if not bench.judge.spec.is_remote]
        for bench in here:
            self.means.watch.begin(f"judging by {bench.judge.spec.name}", total=claims, done=self._done(bench))
            if not self._run_here(bench, workers=self.workers if claims >= FEW else 1):
                return False
        remote = {bench.step: bench for bench in self.benches if bench.judge.spec.is_remote}
        return not remote or self._run_remote(remote, claims)

    def _run_remote(self, remote: dict[str, Bench], claims: int) -> bool:
        """All at once, each in threads of its own."""
        names = ", ".join(bench.judge.spec.name for bench in remote.values())
        self.means.watch.begin(
            f"judging by {names}",
            total=claims * len(remote),
            done=sum(map(self._done, remote.values())),
            spent=lambda: self.means.spending.charged_usd,
        )
        lanes = [
            Lane(
                name=step,
                tasks=bench.jobs(self.means.journal, self.means.watch, stop=self.means.stop),
                work=bench.judged,
                concurrency=self.concurrency,
            )
            for step, bench in remote.items()
        ]

        def keep(results: Sequence[tuple[str, Job, Judged]]) -> None:
            for step, bench in remote.items():
                own = [(job, judged) for name, job, judged in results if name == step]
                if own:
                    bench.kept(self.means.journal, own, self.means.watch)
            self.means.note_spending()

        try:
            return run_lanes(lanes, keep, stop=self.means.stop)
        except BudgetReached:
            for bench in remote.values():
                self._take_from_cache(bench)
            raise

    def _take_from_cache(self, bench: Bench) -> None:
        """What the cache knows costs nothing; going through the jobs puts it into the journal."""
        if bench.cache is not None:
            for _ in bench.jobs(self.means.journal, self.means.watch, stop=self.means.stop):
                pass

    def _run_here(self, bench: Bench, *, workers: int) -> bool:
        """On this machine: in processes when copies of the judge may work side by side."""
        jobs = bench.jobs(self.means.journal, self.means.watch, stop=self.means.stop)
        waiting: list[tuple[Job, Judged]] = []
        keep_at = time.monotonic() + _SECONDS_AT_MOST
        is_parallel = bench.judge.spec.is_parallel
        with closing(map_in_order(_Work(bench), jobs, workers=workers if is_parallel else 1)) as results:
            for result in results:
                waiting.append(result)
                if len(waiting) >= _AT_A_TIME or time.monotonic() >= keep_at or self.means.stop.is_set():
                    bench.kept(self.means.journal, waiting, self.means.watch)
                    waiting, keep_at = [], time.monotonic() + _SECONDS_AT_MOST
                if self.means.stop.is_set():
                    return False
        bench.kept(self.means.journal, waiting, self.means.watch)
        return True

    def _done(self, bench: Bench) -> int:
        """Claims that were judged in an earlier run."""
        return sum(judged_count(entry.body) for entry in self.means.journal.entries(bench.step))


_NO_RESPONSE = Response("")


class _Work(Struct, frozen=True):
    """A bench as a function whose results carry the job they belong to, without the text that came with it."""

    bench: Bench

    def __call__(self, job: Job) -> tuple[Job, Judged]:
        judged = self.bench.judged(job)
        return Job(job.record, job.part, JudgeTask(_NO_RESPONSE, job.task.claims)), judged
