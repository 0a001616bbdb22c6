"""Claims, evidence and replies for the tests of the language-model judge."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.claims.settings import LanguageModelSettings
from hallumeter.models.protocol import Message, Provider, Request
from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

EVIDENCE = (
    Passage("tower.txt", "The Eiffel Tower was completed in 1889. It is 330 metres tall."),
    Passage("louvre.txt", "Le Louvre est fermé le mardi. L’entrée coûte 22 euros."),
    Passage("seoul.txt", "서울은 대한민국의 수도이다. 인구는 약 940만 명이다."),
)


def task_of(texts: Sequence[str], evidence: Sequence[Passage] = EVIDENCE, *, question: str | None = None) -> JudgeTask:
    """Sentences of one response as claims."""
    response = " ".join(texts)
    claims = []
    place = 0
    for number, text in enumerate(texts):
        start = response.index(text, place)
        place = start + len(text)
        claims.append(Claim("r1", f"r1#{number}", start=start, end=place, text=text))
    return JudgeTask(Response("r1", question, response, tuple(evidence)), tuple(claims))


def entry(label: str, quote: str = "", evidence_id: int = 0, note: str = "") -> dict[str, object]:
    return {"evidence_id": evidence_id, "quote": quote, "label": label, "note": note}


def reply(*entries: dict[str, object] | str) -> str:
    """The reply that was asked for."""
    return json.dumps({str(number): said for number, said in enumerate(entries, 1)}, ensure_ascii=False)


def judged(provider: Provider, task: JudgeTask, **settings: object) -> list[Verdict | Failure]:
    chosen = msgspec.convert(settings, LanguageModelSettings)
    return LanguageModelJudge(provider, chosen).judge(task)


def one(provider: Provider, task: JudgeTask, **settings: object) -> Verdict:
    said = judged(provider, task, **settings)[0]
    assert isinstance(said, Verdict)
    return said


def sent(request: Request) -> dict[str, object]:
    """The JSON object that the model was shown."""
    message: Message = request.messages[1]
    decoded = json.loads(message.content)
    assert isinstance(decoded, dict)
    return decoded
