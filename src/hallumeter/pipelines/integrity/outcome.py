"""What an evaluator returned, and whether that is honest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from .cases import Case

Kind = Literal["number", "nan", "nothing", "raised", "timeout", "crashed", "unreadable", "not_run"]
Opinion = Literal["honest", "silent", "nan", "blind", "unreadable", "unhandled", "not run"]
DISHONEST: frozenset[Opinion] = frozenset({"silent", "nan", "blind", "unreadable"})


class Outcome(Struct, frozen=True):
    """What came of one call."""

    kind: Kind
    value: float | None = None
    said: str | None = None
    """The reason, the error, or what was returned instead of a number."""

    @property
    def shown(self) -> str:
        """In a cell of a table."""
        if self.kind == "number" and self.value is not None:
            return f"{self.value:.4g}"
        words = {"nan": "NaN", "nothing": "undefined", "not_run": "–"}.get(self.kind, self.kind)
        return f"{words}: {self.said}" if self.said else words


class CaseResult(Struct, frozen=True):
    """What an evaluator made of one case."""

    case: str
    title: str
    returned: str
    returned_on_wrong: str | None
    """For the same answer with an error in it, where the case has one."""
    opinion: Opinion
    is_honest: bool | None
    """None when the case was not run."""
    is_measured: bool
    """Whether it gave a number where there was something to measure."""
    why: str


class IntegrityResult(Struct, frozen=True):
    """What an evaluator made of all cases."""

    evaluator: str
    cases: tuple[CaseResult, ...]
    honest: int
    unhandled: int
    """Of the honest, those that ended in an error."""
    dishonest: int
    not_run: int
    measured: int
    """Cases on which it gave a number where there was something to measure; 0 says that it was never seen at work."""


def judged(case: Case, outcome: Outcome, on_wrong: Outcome | None) -> CaseResult:
    """The opinion on what came of a case."""
    opinion, why = _opinion(outcome, on_wrong)
    return CaseResult(
        case=case.name,
        title=case.title,
        returned=outcome.shown,
        returned_on_wrong=None if on_wrong is None else on_wrong.shown,
        opinion=opinion,
        is_honest=None if opinion == "not run" else opinion not in DISHONEST,
        is_measured=on_wrong is not None and outcome.kind == "number",
        why=why,
    )


def summed(evaluator: str, cases: tuple[CaseResult, ...]) -> IntegrityResult:
    """All cases with their counts."""
    return IntegrityResult(
        evaluator=evaluator,
        cases=cases,
        honest=sum(case.is_honest is True for case in cases),
        unhandled=sum(case.opinion == "unhandled" for case in cases),
        dishonest=sum(case.is_honest is False for case in cases),
        not_run=sum(case.is_honest is None for case in cases),
        measured=sum(case.is_measured for case in cases),
    )


_BROKEN: dict[Kind, tuple[Opinion, str]] = {
    "not_run": ("not run", "the function has no parameter `ask`, by which its model could be played"),
    "nan": ("nan", "NaN is neither a number nor a reason, and poisons every mean"),
    "unreadable": ("unreadable", "neither a number, nor None, nor a mapping with a score"),
    "raised": ("unhandled", "an error is honest; whoever calls it must catch it, and count the record as failed"),
    "timeout": ("unhandled", "no answer in time; whoever calls it must count the record as failed"),
    "crashed": ("unhandled", "the process ended; whoever calls it must count the record as failed"),
}


def _opinion(outcome: Outcome, on_wrong: Outcome | None) -> tuple[Opinion, str]:
    for each in (outcome, on_wrong):
        if each is not None and each.kind in _BROKEN:
            return _BROKEN[each.kind]
    if on_wrong is None:
        if outcome.kind == "number":
            return "silent", "a number although nothing could be measured"
        return "honest", "says that nothing was measured"
    if "nothing" in (outcome.kind, on_wrong.kind):
        return "honest", "says that it could not measure"
    if outcome.value == on_wrong.value:
        return "blind", "the same number for an answer with an error and for one without"
    return "honest", "tells the two answers apart"
