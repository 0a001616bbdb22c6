"""Judge claims yourself: a function, a class with settings, and a language model that follows a script for tests.

On the command line, `--judge python:my_judges.verbatim` asks the function verbatim in my_judges.py.
"""

import hallumeter
from hallumeter import FunctionJudge, Judge, JudgeSpec, JudgeTask, LanguageModelJudge, LanguageModelSettings

ANSWERS = [
    {"id": "en", "response": "It rains. It snows.", "evidence": ["It rains.", "It is cold."]},
    {"id": "fr", "response": "Il pleut.", "evidence": ["Il pleut."]},
    {"id": "ko", "response": "비가 온다.", "evidence": ["눈이 온다."]},
]


def verbatim(claim: str, evidence: list[str]) -> bool:
    """Supported only where the claim stands in the evidence word by word."""
    return any(claim in text for text in evidence)


class SharedWords:
    """A judge with a setting, which its spec names: results with another setting are another judge's."""

    def __init__(self, share: float) -> None:
        self._share = share

    @property
    def spec(self) -> JudgeSpec:
        """What changes its verdicts."""
        return JudgeSpec("shared-words", settings=(("share", f"{self._share:g}"),))

    def judge(self, task: JudgeTask) -> list[hallumeter.Verdict | hallumeter.Failure]:
        """One verdict for each claim of a response."""
        known = {word for passage in task.response.evidence for word in passage.text.split()}
        return [
            hallumeter.Verdict(
                claim.record_id, claim.claim_id, self.spec.name, self._label((claim.text or "").split(), known)
            )
            for claim in task.claims
        ]

    def _label(self, words: list[str], known: set[str]) -> hallumeter.Label:
        found = sum(word in known for word in words)
        return hallumeter.Label.SUPPORTED if found >= self._share * len(words) else hallumeter.Label.NOT_ENOUGH_INFO


# Every claim is asked for by itself, and the script has one reply to all.
settings = LanguageModelSettings(claims_per_call=1, wants_quotes=False)
model = LanguageModelJudge(hallumeter.ScriptedProvider(lambda _: '{"1": "REFUTED"}'), settings)
judges: list[Judge] = [FunctionJudge(verbatim, name="verbatim"), SharedWords(0.5), model]
run = hallumeter.audit(ANSWERS, judge=judges)
for finding in run.findings():
    said = ", ".join(f"{verdict.judge}: {verdict.label.value}" for verdict in finding.verdicts)
    print(f"{finding.claim.text!r:14} {said}")
for row in run.summary.metrics:
    if row.metric == "mihr":
        print(f"not supported according to {row.judge}: {row.count:.0f} of {row.total:.0f}")
