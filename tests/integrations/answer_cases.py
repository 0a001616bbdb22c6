"""The same answers for every adapter, with what must be said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

QUESTION = "How high is the tower?"
EVIDENCE = ("The Eiffel Tower is 330 m high.", "It stands in Paris.")
ROOMS = " ".join(f"Room {number} measures {number} square metres." for number in range(10, 310))


def breaks(claim: str, evidence: list[str]) -> bool:
    raise ConnectionError("the judge is not there")


def cannot_tell(claim: str, evidence: list[str]) -> None:
    return None


def breaks_at_paris(claim: str, evidence: list[str]) -> bool:
    if "Paris" in claim:
        raise ConnectionError("the judge is not there")
    return "999" not in claim


class Case(NamedTuple):
    """An answer, and what must be said of it."""

    name: str
    response: str
    evidence: tuple[str, ...] = EVIDENCE
    judge: str | Callable[..., object] = "rules"
    on_refusal: str = "unmeasured"
    rate: float | None = None
    """The share of unsupported claims, counted by hand; None where there is none."""
    problem: str | None = None
    passed: bool | None = None
    said: str = ""
    """Words that must be in the explanation."""

    @property
    def options(self) -> dict[str, Any]:
        return {"judge": self.judge, "on_refusal": self.on_refusal}


CASES = (
    Case("good", "The tower is 330 m high. It stands in Paris.", rate=0.0, passed=True, said="supported"),
    Case("bad", "The tower is 999 m high.", rate=1.0, passed=False, said="999 m"),
    Case("half", "The tower is 999 m high. It stands in Paris.", rate=0.5, passed=False, said="1 of 2 claims"),
    Case("empty", "", problem="empty", said="empty"),
    Case("no claims", "Hello!", problem="no_claims", said="no claim"),
    Case("no evidence", "The tower is 330 m high.", evidence=(), problem="no_evidence", said="no evidence"),
    Case("refusal", "I cannot answer that question.", problem="refused", said="refuses"),
    Case(
        "refusal that passes",
        "Je suis désolé, je ne peux pas répondre à cette question.",
        on_refusal="pass",
        problem="refused",
        passed=True,
        said="refuses",
    ),
    Case("refusal that fails", "죄송하지만 답변할 수 없습니다.", on_refusal="fail", problem="refused", passed=False),
    Case(
        "partial refusal",
        "I cannot say who built it, but the tower is 330 m high.",
        rate=0.0,
        passed=True,
    ),
    Case("broken judge", "The tower is 330 m high.", judge=breaks, problem="judge_failed", said="not there"),
    Case("undecided judge", "The tower is 330 m high.", judge=cannot_tell, problem="undecided", said="undecided"),
    Case(
        "judge that breaks once",
        "The tower is 999 m high. It stands in Paris.",
        judge=breaks_at_paris,
        rate=1.0,
        passed=False,
    ),
    Case(
        "Korean",
        "에펠탑의 높이는 999m입니다.",
        evidence=("에펠탑의 높이는 330m입니다. 파리에 있습니다.",),
        rate=1.0,
        passed=False,
        said="999m",
    ),
    Case(
        "French",
        "La tour mesure 999 mètres.",
        evidence=("La tour mesure 330 mètres et se trouve à Paris.",),
        rate=1.0,
        passed=False,
        said="999 mètres",
    ),
    Case(
        "very long",
        ROOMS.replace("Room 200 measures 200", "Room 200 measures 999"),
        evidence=(ROOMS,),
        rate=1 / 300,
        passed=False,
        said="1 of 300 claims",
    ),
)
