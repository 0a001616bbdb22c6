"""Dialogues with the judges of claims: the one place where the two instruments meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.dialogue.measure.commands import dialogue_to_folder, opened_dialogues
from hallumeter.dialogue.measure.settings import DialogueSettings
from hallumeter.dialogue.measure.setup import CONCURRENCY
from hallumeter.dialogue.records import Event
from hallumeter.run.finished import Run, written_run

if TYPE_CHECKING:
    from hallumeter.dialogue.run.scoring import ClaimChecker
    from hallumeter.models.prices import Spending
    from hallumeter.models.protocol import Provider
    from hallumeter.records.claim import Failure, Verdict
    from hallumeter.records.judging import Judge
    from hallumeter.records.response import Response

    Given = str | Path | Sequence[str | Path] | Iterable[Event | Mapping[str, object]]


def dialogue(
    given: Given,
    *,
    scripts: str | Path | None = None,
    settings: DialogueSettings | None = None,
    out: str | Path | None = None,
) -> Run:
    """Measure the answers of clinical dialogues, and keep everything in a run.

    Give files of events, or events in Python. Without `out` the run lives in a temporary folder, for as long as it is
    used.

    >>> facts = {"key_meds": ["Metformin"]}
    >>> event = {"patient_id": "p1", "turn_id": 2, "question": "What do I take?", "slots_truth": facts,
    ...          "answer": "You are currently taking warfarin."}
    >>> [finding.verdicts[0].reason for finding in dialogue([event]).findings() if finding.claim.kind == "slot"]
    ['invented_medication']
    """
    chosen = settings or DialogueSettings()
    judge = None if chosen.judge is None else judge_of_dialogues(chosen.judge)
    return written_run(
        out, lambda place: dialogue_to_folder(opened_dialogues(given, scripts), place, settings=chosen, judge=judge)
    )


def judge_of_dialogues(name: str, spending: Spending | None = None) -> Judge:
    """A judge that tells contradictions in place of words, and safety beside them; its calls may be counted."""
    from hallumeter.claims.judges.by_name import judge_named

    return judge_named(name, provider_of=partial(_provider, spending=spending))


def sentence_checker() -> ClaimChecker:
    """The embedded judge on the sentences of an answer."""
    from hallumeter.claims.extractors.statements import SentenceExtractor
    from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
    from hallumeter.records.judging import JudgeTask

    extractor, judge = SentenceExtractor(), EmbeddedJudge()

    def check(response: Response) -> Sequence[Verdict | Failure]:
        claims = tuple(extractor.extract(response))
        return judge.judge(JudgeTask(response, claims)) if claims else ()

    return check


def _provider(name: str, spending: Spending | None) -> Provider:
    from hallumeter.models.by_name import provider_named
    from hallumeter.models.pace import PaceSettings
    from hallumeter.models.prices import price_of
    from hallumeter.models.retry import PacedProvider

    pace = PaceSettings()
    provider = provider_named(name, timeout_seconds=pace.timeout_seconds, connections=CONCURRENCY)
    return PacedProvider(provider, pace=pace, price=price_of(provider.spec), spending=spending)
