"""A Python function of the user's as a judge."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from hallumeter.errors import RecordError
from hallumeter.formats.records import label_of, verdict_of
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text
from hallumeter.records.response import Response

JudgingFunction = Callable[..., object]


class FunctionJudge:
    """Asks a function, called as ``function(claim, evidence)`` with a text and a list of texts.

    Where its parameters are so named it is also given ``question=``, a text or None, and ``record=``, the whole
    `Response`. It may return a label; True or False for supported or not; the probability that the claim is not
    supported (below one half is SUPPORTED, above is NOT_ENOUGH_INFO, one half is UNDECIDED); a mapping with `label` or
    `unsupported_probability`, and any other field of a verdict; or None for UNDECIDED. What it raises, and what it
    returns of another kind, is a failure, `judge_error`.

    >>> judge = FunctionJudge(lambda claim, evidence: any(claim in text for text in evidence), name="verbatim")
    >>> from hallumeter.records.response import Passage
    >>> response = Response("r1", evidence=(Passage("e1", "It rains today."),))
    >>> judge.judge(JudgeTask(response, (Claim("r1", "c1", text="It rains"),)))[0].label
    <Label.SUPPORTED: 'SUPPORTED'>
    """

    def __init__(self, function: JudgingFunction, name: str | None = None) -> None:
        self._function = function
        self._name = name or f"python:{_name_of(function)}"
        self._extras = _extras_of(function)

    @property
    def spec(self) -> JudgeSpec:
        """The function by name; what it does is not known, so that nothing it says is kept for another run."""
        return JudgeSpec(self._name)

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """What the function says of each claim."""
        return [self._said_of(claim, task.response) for claim in task.claims]

    def _said_of(self, claim: Claim, response: Response) -> Verdict | Failure:
        given = {"question": response.question, "record": response}
        extras = {name: given[name] for name in self._extras}
        evidence = [passage.text for passage in response.evidence]
        try:
            said = self._function(claim_text(claim, response), evidence, **extras)
        except Exception as error:  # whatever a user's function raises concerns this claim alone
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            return self._failure(claim, cause)
        row = _row_of(said)
        if isinstance(row, str):
            return self._failure(claim, f"it returned {row}")
        place = {"start": claim.start, "end": claim.end}
        row = {**place, **row, "claim_id": claim.claim_id}
        label = row["label"]
        assert isinstance(label, Label)
        try:
            return verdict_of(row, claim.record_id, label=label, judge=self._name)
        except (RecordError, ValueError, TypeError) as error:
            return self._failure(claim, f"it returned what is no verdict: {error}")

    def _failure(self, claim: Claim, message: str) -> Failure:
        return Failure(claim.record_id, claim.claim_id, "judge", self._name, "judge_error", message)


def _name_of(function: JudgingFunction) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', None) or 'function'}.{name}"


def _extras_of(function: JudgingFunction) -> tuple[str, ...]:
    """Which of the further things a function has parameters for; one whose parameters are not known gets none."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = [name for name, parameter in parameters.items() if parameter.kind in named]
    return tuple(
        name for name in ("question", "record") if name in taken and taken.index(name) >= _first_extra(parameters)
    )


def _first_extra(parameters: Mapping[str, inspect.Parameter]) -> int:
    """The first two parameters take claim and evidence, whatever they are called."""
    return 0 if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters.values()) else 2


def _row_of(said: Any) -> dict[str, object] | str:
    """What a function returned as the fields of a verdict; a text says why it is none."""
    if said is None:
        return {"label": Label.UNDECIDED, "reason": "uncertain"}
    if isinstance(said, Label):
        return {"label": said}
    if isinstance(said, str):
        label = label_of(said)
        return f"{said!r}, which is not a label" if label is None else {"label": label}
    if isinstance(said, bool | np.bool_):
        return {"label": Label.SUPPORTED if said else Label.NOT_ENOUGH_INFO}
    if isinstance(said, Real):
        return _row_of_probability(float(said))
    return _row_of_mapping(said) if isinstance(said, Mapping) else f"a {type(said).__name__}, which is no verdict"


def _row_of_probability(probability: float) -> dict[str, object] | str:
    if math.isnan(probability) or not 0 <= probability <= 1:
        return f"{probability}; expected a probability from 0 to 1"
    label = Label.UNDECIDED
    if probability != 0.5:
        label = Label.SUPPORTED if probability < 0.5 else Label.NOT_ENOUGH_INFO
    return {
        "label": label,
        "unsupported_probability": probability,
        "confidence": max(probability, 1 - probability),
        "reason": "uncertain" if label is Label.UNDECIDED else None,
    }


def _row_of_mapping(said: Mapping[str, object]) -> dict[str, object] | str:
    key = "label" if said.get("label") is not None else "unsupported_probability"
    if isinstance(said.get(key), Mapping) or (said.get(key) is None and "label" not in said):
        return f"a mapping with {', '.join(map(str, said)) or 'nothing'}; expected label or unsupported_probability"
    row = _row_of(said.get(key))
    if isinstance(row, str):
        return row
    others = {str(name): value for name, value in said.items() if name != "label" and value is not None}
    return {**row, **others}
