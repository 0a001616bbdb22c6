"""Stand-ins for users' own tests: models and judges that say what they are told, and responses to try them on.

No network, no key and no waiting:

    >>> from hallumeter.records.judging import JudgeTask
    >>> from hallumeter.records.claim import Claim, Label
    >>> response = sample_responses()[0]
    >>> claim = Claim(response.record_id, "c1", text="A P60 is a summary of pay and tax.")
    >>> judge = judge_that_says({"A P60 is a summary of pay and tax.": Label.SUPPORTED})
    >>> judge.judge(JudgeTask(response, (claim,)))[0].label
    <Label.SUPPORTED: 'SUPPORTED'>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources

from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.claims.judges.recorded import RecordedJudge
from hallumeter.formats.files import read_rows
from hallumeter.formats.records import response_of, rows_of
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Label
from hallumeter.records.judging import Judge
from hallumeter.records.response import Response

__all__ = ["RecordedJudge", "ScriptedProvider", "judge_that_says", "sample_responses"]


def judge_that_says(
    answers: Mapping[str, Label | str | float | None] | Callable[..., object], *, name: str = "scripted"
) -> Judge:
    """A judge whose verdicts are given beforehand.

    Args:
        answers: Labels (or probabilities that a claim is not supported) by the words of the claim; a claim that is
            not there is UNDECIDED. Or a function of the claim and the list of evidence, as for `FunctionJudge`.
        name: As it stands in verdicts.
    """
    if callable(answers):
        return FunctionJudge(answers, name=name)
    known = dict(answers)
    return FunctionJudge(lambda claim, _evidence: known.get(claim), name=name)


def sample_responses() -> list[Response]:
    """Real answers of language models to questions with passages, each once, with their evidence.

    They are RAGTruth's (MIT licence), as the package ships them; ids are ``question@model``.

    >>> len(sample_responses()) > 50
    True
    """
    with resources.as_file(resources.files("hallumeter.samples").joinpath("rag_answers.jsonl")) as path:
        rows = [row for batch in read_rows(path, fields=None) for _, row in rows_of(batch)]
    about_claims = {"claim_id", "text", "label", "judge", "reason", "start", "end"}
    responses = {}
    for row in rows:
        if row.get("response") is not None:
            record_id = f"{row['record_id']}@{row['model']}"
            given = {name: value for name, value in row.items() if name not in about_claims}
            responses[record_id] = response_of(given, record_id)
    return list(responses.values())
