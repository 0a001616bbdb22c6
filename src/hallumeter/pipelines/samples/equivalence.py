"""Whether two answers mean the same: by their vectors, or by a judge asked in both directions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from hallumeter.judges import JudgeTask
from hallumeter.records import Claim, Failure, Label, Passage, Response
from hallumeter.retrieval import encode, encoder_name
from hallumeter.text import claim_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hallumeter.judges import Judge

STEP = "samples"
SAME_MEANING_COSINE = 0.8
"""From 0.75 to 0.85 marked errors are told about equally well, which is not very: see the table that
benchmarks/sample_consistency_validity.py prints."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Equivalence(Protocol):
    """Decides whether two answers mean the same."""

    @property
    def name(self) -> str:
        """As it stands in signatures; changes whenever a decision could."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether it waits for something outside."""
        ...

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:
        """Tells of two answers by their places whether they mean the same; raises `CannotTellError`."""
        ...


class CannotTellError(Exception):
    """Two answers could not be compared."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class VectorEquivalence:
    """Two answers mean the same when they are typed the same, or when the cosine of their vectors is large enough.

    Vectors hardly see a changed number, so answers of which each has a number that the other lacks are different.
    """

    def __init__(self, threshold: float = SAME_MEANING_COSINE) -> None:
        self._threshold = threshold
        self._name = f"vectors:{encoder_name()}@{threshold:g}"

    @property
    def name(self) -> str:
        """The encoder and the smallest cosine."""
        return self._name

    @property
    def is_remote(self) -> bool:
        """It works on this machine."""
        return False

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:  # noqa: ARG002
        """Compares by the vectors of all answers, encoded together."""
        vectors = encode(answers)
        numbers = [set(_NUMBER.findall(answer)) for answer in answers]

        def is_same(one: int, other: int) -> bool:
            if (found := _same_at_sight(answers[one], answers[other])) is not None:
                return found
            if numbers[one] - numbers[other] and numbers[other] - numbers[one]:
                return False
            return float(vectors[one] @ vectors[other]) >= self._threshold

        return is_same


class JudgeEquivalence:
    """Two answers mean the same when a judge finds that each supports the other."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def name(self) -> str:
        """The judge, and a hash of its settings."""
        spec = self._judge.spec
        return f"both-ways:{spec.name}-{spec.digest.hex()[:8]}"

    @property
    def is_remote(self) -> bool:
        """Whether the judge is."""
        return self._judge.spec.is_remote

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:
        """Asks the judge in both directions, unless the texts or the first direction tell already."""

        def is_same(one: int, other: int) -> bool:
            if (found := _same_at_sight(answers[one], answers[other])) is not None:
                return found
            return self._follows(response, answers, (one, other)) and self._follows(response, answers, (other, one))

        return is_same

    def _follows(self, response: Response, answers: Sequence[str], places: tuple[int, int]) -> bool:
        """Whether the first answer supports the second."""
        record_id, (premise, claimed) = response.record_id, (answers[place] for place in places)
        claim = Claim(record_id, f"{record_id}~{places[0]}~{places[1]}", start=0, end=len(claimed), text=claimed)
        asked = Response(record_id, response.question, claimed, evidence=(Passage(f"answer {places[0]}", premise),))
        try:
            said = self._judge.judge(JudgeTask(asked, (claim,)))[0]
        except Exception as error:
            # What a remote judge raises ends the run, which can be resumed.
            if self.is_remote:
                raise
            raise CannotTellError(
                self._failure(record_id, "judge_error", f"{type(error).__name__}: {error}")
            ) from error
        if isinstance(said, Failure):
            raise CannotTellError(structs.replace(said, claim_id=None, step=STEP))
        if said.label is Label.UNDECIDED:
            message = f"the judge could not tell whether two answers mean the same ({said.reason or 'no reason given'})"
            raise CannotTellError(self._failure(record_id, "undecided", message))
        return said.label is Label.SUPPORTED

    def _failure(self, record_id: str, code: str, message: str) -> Failure:
        return Failure(record_id, None, STEP, self._judge.spec.name, code, message)


def _same_at_sight(one: str, other: str) -> bool | None:
    """What the texts alone tell: typed alike is the same, nothing is not the same as something; else None."""
    keys = claim_key(one), claim_key(other)
    if keys[0] == keys[1]:
        return True
    return None if all(keys) else False
