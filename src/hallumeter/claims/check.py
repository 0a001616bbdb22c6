"""One answer checked at once, without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from msgspec import Struct

from hallumeter.errors import RecordError, SettingsError
from hallumeter.formats.records import passages_of
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.decisions import Calibration
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.response import Response
from hallumeter.text.abstention import detect_abstention

from .checked import ON_REFUSAL, UNCHECKED, Check, CheckedClaim, OnRefusal, Status, checked_claim
from .extractors.statements import SentenceExtractor
from .judges.by_name import has_threshold, is_language_model, judge_named
from .judges.function import FunctionJudge
from .settings import DEFAULT_JUDGE, check_operating_point, operating_point_of

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from hallumeter.models.protocol import Provider

JudgeLike = str | Judge | Callable[..., object]
MOST_JUDGES = 32
"""Judges that are kept, so that only the first check waits for one to be made."""
CONNECTIONS = 16
_LOCAL = Lock()
"""Only remote judges may be called from several threads at once."""
_EXTRACTOR = SentenceExtractor()


class CheckOptions(TypedDict, total=False):
    """What can be said of a check beside its judge."""

    on_refusal: OnRefusal
    """An answer that refuses as a whole: ``unmeasured`` (the default) and ``fail`` are false, ``pass`` is true."""
    calibration: Calibration | str | Path | None
    """What `hallumeter calibrate --format json` printed: claims are accepted up to its threshold."""


class CheckSettings(Struct, frozen=True, kw_only=True):
    """How an answer is checked."""

    judge: JudgeLike = DEFAULT_JUDGE
    """A name as `hallumeter audit --judge` takes it, a judge, or a function of a claim and its evidence."""
    preset: str | None = None
    threshold: float | None = None
    on_refusal: OnRefusal = "unmeasured"
    calibration: Calibration | str | Path | None = None

    def __post_init__(self) -> None:
        if self.on_refusal not in ON_REFUSAL:
            raise SettingsError(f"on_refusal is {self.on_refusal!r}; expected {', '.join(ON_REFUSAL[:-1])} or fail")
        given = ("calibration", "preset", "threshold")
        several = [name for name in given if getattr(self, name) is not None]
        if len(several) > 1:
            raise SettingsError(f"{' and '.join(several)} were both given; choose one")
        check_operating_point(self.preset, self.threshold)


def check(
    response: str,
    evidence: object,
    question: str | None = None,
    *,
    judge: JudgeLike = DEFAULT_JUDGE,
    preset: str | None = None,
    threshold: float | None = None,
    **options: Unpack[CheckOptions],
) -> Check:
    """Check one answer against its evidence: which words does the evidence not support, and why?

    The result is true when every claim is supported. It is false when one is not, and also when nothing could be
    measured: no claim, no evidence, a claim on which the judge cannot tell or broke, or (unless ``on_refusal="pass"``)
    a refusal; `status` and `why` say which. The first call makes the judge, later calls use it again.

    Args:
        response: The answer.
        evidence: A text, several, passages, or any JSON object.
        question: What was asked, if the judge should know.
        judge: A name such as ``embedded``, ``rules``, ``openai:MODEL`` or ``http://host/v1#MODEL``; a judge; or a
            function of a claim and its evidence.
        preset: Where the embedded judge draws the line: ``precise``, ``balanced`` or ``sensitive``.
        threshold: The probability from which the embedded judge calls a claim unsupported.
        options: `on_refusal` (``unmeasured``, ``pass`` or ``fail``) and `calibration`, see `CheckOptions`.

    >>> found = check("The fair drew 999 million people.", "The fair drew 1.2 million people.", judge="rules")
    >>> bool(found), found.unsupported[0].wrong, found.unsupported[0].quote
    (False, '999 million', '1.2 million')
    """
    if iscoroutinefunction(judge):
        raise SettingsError(f"{judge.__name__} is a coroutine function; await hallumeter.acheck instead")
    settings = CheckSettings(judge=judge, preset=preset, threshold=threshold, **options)
    return checked(response, evidence, question, settings=settings)


async def acheck(
    response: str,
    evidence: object,
    question: str | None = None,
    *,
    judge: JudgeLike = DEFAULT_JUDGE,
    preset: str | None = None,
    threshold: float | None = None,
    **options: Unpack[CheckOptions],
) -> Check:
    """Check one answer as `check` does, in a thread, so that an event loop goes on meanwhile.

    A judge may also be a coroutine function, which runs on the loop; a plain function is called in several threads if
    several checks are awaited at once.

    >>> import asyncio
    >>> bool(asyncio.run(acheck("The tower is 330 m high.", "The tower is 330 m high.", judge="rules")))
    True
    """
    import asyncio

    if iscoroutinefunction(judge):
        judge = _on_loop(judge, asyncio.get_running_loop())
    call = partial(check, judge=judge, preset=preset, threshold=threshold, **options)
    return await asyncio.to_thread(call, response, evidence, question)


def _on_loop(judge: Callable[..., Any], loop: AbstractEventLoop) -> Callable[..., object]:
    """A coroutine function as a plain one, for another thread than that of the loop."""
    import asyncio

    @wraps(judge)
    def asked(*arguments: object, **named: object) -> object:
        return asyncio.run_coroutine_threadsafe(judge(*arguments, **named), loop).result()

    return asked  # inspect.signature follows it to the parameters of the judge


def checked(response: str, evidence: object, question: str | None, *, settings: CheckSettings) -> Check:
    """Find the claims of a response and judge them."""
    if not isinstance(response, str):
        raise RecordError(f"response: expected the text of the answer, found {type(response).__name__}")
    judge, guard = _judge(settings)
    given = list(evidence) if isinstance(evidence, tuple) else evidence
    record = Response("response", question, response, evidence=passages_of(given))
    refusal = detect_abstention(response)
    findings: tuple[CheckedClaim, ...] = ()
    status: Status
    why: str | None
    if refusal.reason == "empty":
        status, why = "unmeasured", "the response is empty"
    elif refusal.did_abstain:
        status, why = "refused", f"the response refuses to answer: “{refusal.cue}”"
    else:
        with guard:
            findings = tuple(_findings(record, judge))
        status, why = _outcome(findings)
    return Check(
        status=status,
        why=why,
        findings=findings,
        judge=judge.spec.name,
        signature=str(judge.spec),
        response=response,
        question=question,
        evidence=record.evidence,
        on_refusal=settings.on_refusal,
    )


def _outcome(findings: Sequence[CheckedClaim]) -> tuple[Status, str | None]:
    """What the claims come to; one that is unsupported is so whatever became of the others."""
    if not findings:
        return "unmeasured", "no claim was found in the response"
    if any(claim.is_unsupported for claim in findings):
        return "unsupported", None
    if all(claim.reason == UNCHECKED for claim in findings):
        return "unmeasured", "there is no evidence to check against"
    missing = [claim for claim in findings if not claim.is_decided]
    if not missing:
        return "supported", None
    of = f"{len(findings)} {'claim' if len(findings) == 1 else 'claims'} {'is' if len(missing) == 1 else 'are'}"
    failures = [claim.failure for claim in missing if claim.failure]
    return "unmeasured", f"{len(missing)} of {of} undecided or failed{f': {failures[0]}' if failures else ''}"


def _findings(record: Response, judge: Judge) -> Iterator[CheckedClaim]:
    claims = _EXTRACTOR.extract(record)
    said = {item.claim_id: item for item in _said(record, claims, judge)}
    for claim in claims:
        yield checked_claim(claim, said.get(claim.claim_id), record)


def _said(record: Response, claims: Sequence[Claim], judge: Judge) -> Iterator[Verdict | Failure]:
    """What the judge says, asked about as many claims at a time as it takes."""
    size = judge.spec.claims_per_task or max(1, len(claims))
    try:
        for first in range(0, len(claims), size):
            yield from judge.judge(JudgeTask(record, tuple(claims[first : first + size])))
    except ProviderFault as fault:
        raise SettingsError(f"{judge.spec.name}: {fault.message}") from None


# The judge that the settings name, made once.


def _judge(settings: CheckSettings) -> tuple[Judge, AbstractContextManager[object]]:
    """The judge, and what keeps other threads from it."""
    given = settings.judge
    if isinstance(given, str):
        threshold = settings.threshold
        if settings.calibration is not None or settings.preset is not None or threshold is not None:
            _check_threshold_is_used(given)
        if settings.calibration is not None:
            threshold = calibrated_threshold(settings.calibration, named_judge(given, None, None).spec.name)
        made = named_judge(given, settings.preset, threshold)
    elif hasattr(given, "judge") and hasattr(given, "spec"):
        made = cast("Judge", given)
        _refuse_threshold(settings, made.spec.name)
    elif callable(given):
        made = FunctionJudge(given)
        _refuse_threshold(settings, made.spec.name)
        return made, nullcontext()
    else:
        raise SettingsError(f"judge: expected a name, a judge or a function, found {type(given).__name__}")
    return made, nullcontext() if made.spec.is_remote else _LOCAL


@lru_cache(maxsize=MOST_JUDGES)
def named_judge(name: str, preset: str | None, threshold: float | None) -> Judge:
    """A judge by its name."""
    return judge_named(name, provider_of=_provider, preset=preset, threshold=threshold)


def _provider(name: str) -> Provider:
    from hallumeter.models.pace import PaceSettings
    from hallumeter.models.prices import Spending
    from hallumeter.run.paced_models import PacedModels

    models = PacedModels({}, spending=Spending(None), stop=Event())
    return models.named(name, pace=PaceSettings(), connections=CONNECTIONS)


def _check_threshold_is_used(name: str) -> None:
    if not has_threshold(name):
        raise SettingsError(f"preset and threshold are for the embedded judge; {name} cannot use them")


def _refuse_threshold(settings: CheckSettings, name: str) -> None:
    if settings.preset is not None or settings.threshold is not None or settings.calibration is not None:
        _check_threshold_is_used(name.partition(":")[0] if name.startswith("python:") else name)


def calibrated_threshold(given: Calibration | str | Path, judge: str) -> float:
    """The probability from which a claim is not accepted, by what `hallumeter calibrate` found of this judge."""
    point = operating_point_of(given)
    if point.judge != judge:
        raise SettingsError(f"the calibration is about {point.judge}, not about {judge}")
    return point.threshold


def needs_network(judge: object) -> bool:
    """Whether a judge asks something outside this machine.

    >>> needs_network("openai:gpt-4o-mini"), needs_network("rules")
    (True, False)
    """
    if isinstance(judge, str):
        return is_language_model(judge)
    return bool(getattr(getattr(judge, "spec", None), "is_remote", False))
