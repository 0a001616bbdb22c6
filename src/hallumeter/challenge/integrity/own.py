"""Our own judges as evaluators: the share of checked claims that the evidence supports, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hallumeter.claims.audit.commands import audit
from hallumeter.claims.judges.by_name import is_language_model, judge_named
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.errors import SettingsError
from hallumeter.models.protocol import Provider
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Label
from hallumeter.records.judging import Judge

Evaluator = Callable[..., object]
_UNCHECKED = frozenset({"no_evidence"})
"""Reasons of verdicts that say that nothing was there to check against."""


def evaluator_of(judge: str) -> Evaluator:
    """The evaluator that a judge makes; only a language model can be given a reply."""
    return _language_model(judge) if is_language_model(judge) else _local(judge_named(judge, provider_of=_none))


def _none(name: str) -> Provider:
    raise SettingsError(f"no judge is called {name!r}")


def _local(judge: Judge) -> Evaluator:
    def evaluate(response: object, evidence: Sequence[str], question: str | None = None) -> dict[str, object]:
        return supported_share(response, evidence, question, judge=judge)

    return evaluate


def _language_model(judge: str) -> Evaluator:
    def evaluate(
        response: object,
        evidence: Sequence[str],
        question: str | None = None,
        *,
        ask: Callable[[str], str] | None = None,
    ) -> dict[str, object]:
        if ask is None:
            return supported_share(response, evidence, question, judge=judge)
        played = ScriptedProvider(lambda request: ask(request.messages[-1].content))
        return supported_share(response, evidence, question, judge=LanguageModelJudge(played))

    return evaluate


def supported_share(
    response: object, evidence: Sequence[str], question: str | None = None, *, judge: str | Judge = "embedded"
) -> dict[str, object]:
    """Audit one answer: ``score`` is the supported share of its claims, None with a ``reason`` if one was not checked.

    >>> supported_share("Hello!", ["The Seine is 777 km long."])
    {'score': None, 'reason': 'no claim was found'}
    """
    run = audit([{"id": "answer", "response": response, "evidence": list(evidence), "question": question}], judge=judge)
    verdicts = [verdict for finding in run.findings() for verdict in finding.verdicts]
    checked = [item for item in verdicts if item.label is not Label.UNDECIDED and item.reason not in _UNCHECKED]
    unmeasured = run.summary.counts.claims - len(checked)
    if checked and not unmeasured:
        return {"score": sum(verdict.label is Label.SUPPORTED for verdict in checked) / len(checked)}
    reasons = [failure.message for failure in run.failures] + [item.reason or "undecided" for item in verdicts]
    return {"score": None, "reason": "; ".join(dict.fromkeys(reasons)) or "no claim was found"}
