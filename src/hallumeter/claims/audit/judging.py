"""From claims to verdicts: every judge on every claim, what was said before taken from the cache."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from threading import Event

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import RecordError
from hallumeter.models.pace import Interrupted
from hallumeter.models.prices import BudgetReached
from hallumeter.models.protocol import RETRYABLE_CODES
from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.judging import CalibratedJudge, Judge, JudgeSpec, JudgeTask
from hallumeter.records.response import Response, check_span
from hallumeter.run.context import RunContext
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.journal import Done, Journal, entry_of
from hallumeter.run.lanes import Lane, run_lanes
from hallumeter.run.progress import ProgressListener
from hallumeter.run.verdict_cache import Replies

from .entries import PREPARED, Judged, Prepared, judged_count, step_of
from .prepare import FEW

# Verdicts that were given before: under which key they are kept, and in which form.

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


_AT_A_TIME = 128
"""Records whose verdicts are looked up in the cache, or put into the journal, together."""
_SECONDS_AT_MOST = 0.5
"""A judge may be slow: what it has done is kept, and shown, all the same."""
_PREPARED_DECODER = msgspec.json.Decoder(Prepared)
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
    judge: int = 0
    """The number of the judge."""


class JudgeWorker(Struct, frozen=True):
    """One judge at work."""

    number: int
    judge: Judge
    cache: Replies | None = None
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
        failures = tuple(item for item in answers if isinstance(item, Failure))
        return Judged((*job.known, *verdicts), failures, self._kind(job.task) if verdicts else None)

    def _kind(self, task: JudgeTask) -> str | None:
        """The kind of text by which the judge calibrates; not asked of one whose calibration was never refitted."""
        judge = self.judge
        return judge.kind_of(task) if isinstance(judge, CalibratedJudge) and judge.refits else None

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

    def jobs(self, journal: Journal, progress: ProgressListener, *, stop: Event) -> Iterator[Job]:
        """The work that is left, in the order of the records; what the cache knows goes straight to the journal.

        Raises:
            Interrupted: It was stopped, which much work for the cache would not notice.
        """
        for cut in jobs_left([self], journal):
            if self.cache is None:
                yield from cut
                continue
            if stop.is_set():
                raise Interrupted("stopped while verdicts were looked up in the cache")
            looked_up = self._looked_up(cut, self.cache)
            known = [job for job in looked_up if not job.task.claims]
            journal.add([entry_of(self.step, job.record, Judged(job.known), part=job.part) for job in known])
            found = sum(len(job.known) for job in known)
            progress.done(found, cached=found)
            yield from (job for job in looked_up if job.task.claims)

    def _looked_up(self, jobs: Sequence[Job], cache: Replies) -> list[Job]:
        """The jobs without the claims whose verdicts are known, and with those verdicts."""
        found = cache.get_many([key for job in jobs for key in job.keys])
        return [_without_known(job, found) for job in jobs]

    def kept(self, journal: Journal, results: Sequence[tuple[Job, Judged]], progress: ProgressListener) -> None:
        """Put what was said into the journal first, then into the cache."""
        journal.add([entry_of(self.step, job.record, judged, part=job.part) for job, judged in results])
        if self.cache is not None:
            self.cache.put_many(row for job, judged in results for row in _cache_rows(job, judged))
        for job, judged in results:
            progress.done(len(job.task.claims) + len(job.known), failures=len(judged.failures), cached=len(job.known))


class _Left(Struct, frozen=True):
    """What one judge has not done yet."""

    worker: JudgeWorker
    done: Done
    again: dict[tuple[int, int], Judged]
    """Parts on which the judge has failed before, for reasons that may have gone away."""

    @classmethod
    def of(cls, worker: JudgeWorker, journal: Journal) -> _Left:
        """What the journal lacks of a judge."""
        entries = journal.entries(worker.step) if worker.judge.spec.is_remote else ()
        judged = ((entry.record, entry.part, _JUDGED.decode(entry.body)) for entry in entries)
        again = {
            (record, part): said
            for record, part, said in judged
            if any(failure.code in RETRYABLE_CODES for failure in said.failures)
        }
        return cls(worker, journal.done(worker.step), again)

    def jobs(self, record: int, prepared: Prepared) -> Iterator[Job]:
        """The parts of a record that are not done."""
        worker, claims = self.worker, prepared.claims
        size = worker.judge.spec.claims_per_task or max(1, len(claims))
        parts = enumerate(range(0, len(claims), size))
        left = [
            (part, first) for part, first in parts if (record, part) not in self.done or (record, part) in self.again
        ]
        has_keys = left and worker.cache is not None
        keys = VerdictKeys(worker.judge.spec).of(prepared.response, claims) if has_keys else ()
        for part, first in left:
            own = slice(first, first + size)
            job = Job(record, part, JudgeTask(prepared.response, claims[own]), keys[own], judge=worker.number)
            said = self.again.get((record, part))
            yield job if said is None else _without_verdicts(job, said.verdicts)


def jobs_left(workers: Sequence[JudgeWorker], journal: Journal) -> Iterator[list[Job]]:
    """The work that is left, in the order of the records, some at a time; all judges share one decoding of a record."""
    left = [_Left.of(worker, journal) for worker in workers]
    entries = journal.entries(PREPARED)
    while batch := list(islice(entries, _AT_A_TIME)):
        records = ((entry.record, _PREPARED_DECODER.decode(entry.body)) for entry in batch)
        yield [job for record, prepared in records for each in left for job in each.jobs(record, prepared)]


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
    keys = tuple(job.keys[number] for number in kept if job.keys)
    return structs.replace(job, task=task, keys=keys, known=verdicts)


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
    return structs.replace(job, task=task, keys=tuple(key for _, key in left), known=tuple(known))


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

    context: RunContext
    judge_workers: tuple[JudgeWorker, ...]
    concurrency: int = 16
    workers: int = 1

    def run(self, claims: int) -> bool:
        """Judge every claim that has no verdict in the journal yet; False when it was stopped."""
        here = [worker for worker in self.judge_workers if not worker.judge.spec.is_remote]
        # Judges of one kind go through the records together: each record is decoded once for all of them.
        for is_parallel in (True, False):
            together = [worker for worker in here if worker.judge.spec.is_parallel == is_parallel]
            if together:
                self._begin(together, claims)
                if not self._run_here(together, workers=self.workers if is_parallel and claims >= FEW else 1):
                    return False
        remote = {worker.step: worker for worker in self.judge_workers if worker.judge.spec.is_remote}
        return not remote or self._run_remote(remote, claims)

    def _begin(self, workers: Sequence[JudgeWorker], claims: int) -> None:
        names = ", ".join(worker.judge.spec.name for worker in workers)
        is_remote = workers[0].judge.spec.is_remote
        self.context.progress.begin(
            f"judging by {names}",
            total=claims * len(workers),
            done=sum(map(self._done, workers)),
            spent=(lambda: self.context.spending.charged_usd) if is_remote else None,
        )

    def _keep(self, results: Sequence[tuple[Job, Judged]]) -> None:
        for worker in self.judge_workers:
            own = [(job, judged) for job, judged in results if job.judge == worker.number]
            if own:
                worker.kept(self.context.journal, own, self.context.progress)

    def _run_remote(self, remote: dict[str, JudgeWorker], claims: int) -> bool:
        """All at once, each in threads of its own."""
        self._begin(tuple(remote.values()), claims)
        lanes = [
            Lane(
                name=step,
                tasks=worker.jobs(self.context.journal, self.context.progress, stop=self.context.stop),
                work=worker.judged,
                concurrency=self.concurrency,
            )
            for step, worker in remote.items()
        ]

        def keep(results: Sequence[tuple[str, Job, Judged]]) -> None:
            self._keep([(job, judged) for _, job, judged in results])
            self.context.note_spending()

        try:
            return run_lanes(lanes, keep, stop=self.context.stop)
        except BudgetReached:
            for worker in remote.values():
                self._take_from_cache(worker)
            raise

    def _take_from_cache(self, worker: JudgeWorker) -> None:
        """What the cache knows costs nothing; going through the jobs puts it into the journal."""
        if worker.cache is not None:
            for _ in worker.jobs(self.context.journal, self.context.progress, stop=self.context.stop):
                pass

    def _run_here(self, together: Sequence[JudgeWorker], *, workers: int) -> bool:
        """On this machine: in processes when copies of the judges may work side by side."""
        context = self.context
        jobs = chain.from_iterable(jobs_left(together, context.journal))
        work = _Work({worker.number: worker for worker in together})
        waiting: list[tuple[Job, Judged]] = []
        keep_at = time.monotonic() + _SECONDS_AT_MOST
        with closing(map_in_order(work, jobs, workers=workers)) as results:
            for result in results:
                waiting.append(result)
                if len(waiting) >= _AT_A_TIME or time.monotonic() >= keep_at or context.stop.is_set():
                    self._keep(waiting)
                    waiting, keep_at = [], time.monotonic() + _SECONDS_AT_MOST
                if context.stop.is_set():
                    return False
        self._keep(waiting)
        return True

    def _done(self, worker: JudgeWorker) -> int:
        """Claims that were judged in an earlier run."""
        return sum(judged_count(entry.body) for entry in self.context.journal.entries(worker.step))


_NO_RESPONSE = Response("")


class _Work(Struct, frozen=True):
    """Judges as a function whose results carry the job they belong to, without the text that came with it."""

    workers: dict[int, JudgeWorker]

    def __call__(self, job: Job) -> tuple[Job, Judged]:
        judged = self.workers[job.judge].judged(job)
        return structs.replace(job, task=JudgeTask(_NO_RESPONSE, job.task.claims)), judged
