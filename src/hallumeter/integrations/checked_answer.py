"""What every adapter says about an answer, before a tool gets it in its own words.

A rate is a number only if the judge looked at evidence and could tell. Whatever else happens (an empty answer, no
claim, no evidence, a refusal, a judge that cannot tell or breaks) has a `problem` and no rate, so that no tool can
average it with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

from msgspec import Struct, to_builtins

from hallumeter.claims.check import CheckSettings, JudgeLike, acheck, check
from hallumeter.claims.checked import FAILED, MOST_CLAIMS, UNCHECKED, Check, CheckedClaim, OnRefusal
from hallumeter.errors import MissingExtraError, RecordError, SettingsError
from hallumeter.formats.shapes import FieldPath, evidence_in, text_in
from hallumeter.records.claim import Label
from hallumeter.text.normalize import one_line

UNSUPPORTED_RATE = "unsupported_rate"
"""The share of decided claims that the evidence does not support: 0 is best."""
SUPPORTED_RATE = "supported_rate"
"""One less the other, for tools in which more is better."""
UNMEASURED = "unmeasured"
LONGEST_QUOTE = 200
FIELDS = ("response", "evidence", "question")

Problem = Literal["empty", "no_claims", "no_evidence", "refused", "undecided", "judge_failed"]


class CheckerOptions(TypedDict, total=False):
    """What every adapter takes; each has the meaning and default that it has in `hallumeter.check`."""

    judge: JudgeLike
    preset: str | None
    threshold: float | None
    """The probability from which the embedded judge calls a claim unsupported."""
    on_refusal: OnRefusal


class CheckedAnswer(Struct, frozen=True):
    """A checked answer as adapters see it."""

    check: Check

    def _labelled(self, *labels: str) -> int:
        return sum(claim.label in labels and claim.reason != UNCHECKED for claim in self.check.findings)

    @property
    def counts(self) -> dict[str, int]:
        """Claims of the answer, and how many of them are what."""
        findings = self.check.findings
        return {
            "claims": len(findings),
            "supported": self._labelled(Label.SUPPORTED.value),
            "unsupported": len(self.check.unsupported),
            "undecided": self._labelled(Label.UNDECIDED.value),
            "failed": self._labelled(FAILED),
            "without_evidence": sum(claim.reason == UNCHECKED for claim in findings),
        }

    @property
    def problem(self) -> Problem | None:
        """Why there is no rate; None where there is one."""
        found = self.check
        if found.status == "refused":
            return "refused"
        if found.status in ("supported", "unsupported"):
            return None
        if not found.findings:
            return "no_claims" if found.response.strip() else "empty"
        counts = self.counts
        if counts["failed"]:
            return "judge_failed"
        return "undecided" if counts["undecided"] else "no_evidence"

    @property
    def has_failed(self) -> bool:
        """Whether the judge broke, so that asking again may help."""
        return self.problem == "judge_failed"

    @property
    def unsupported_rate(self) -> float | None:
        """The share of decided claims that are unsupported; None where something stands in the way."""
        if self.problem is not None:
            return None
        counts = self.counts
        return counts["unsupported"] / (counts["supported"] + counts["unsupported"])

    @property
    def supported_rate(self) -> float | None:
        """The share of decided claims that are supported."""
        if self.problem is not None:
            return None
        counts = self.counts
        return counts["supported"] / (counts["supported"] + counts["unsupported"])

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The unsupported rates possible if every claim without a verdict had turned out best, and worst."""
        counts = self.counts
        if self.problem is not None:
            return None
        open_claims = counts["undecided"] + counts["failed"] + counts["without_evidence"]
        return counts["unsupported"] / counts["claims"], (counts["unsupported"] + open_claims) / counts["claims"]

    @property
    def passed(self) -> bool | None:
        """Whether all is supported; None where nothing was measured and nobody said what a refusal counts as."""
        found = self.check
        if self.problem is None:
            return found.passed
        return found.passed if self.problem == "refused" and found.on_refusal != UNMEASURED else None

    @property
    def label(self) -> str:
        """``supported``, ``unsupported``, ``refused`` (if it passes or fails) or ``unmeasured``."""
        return UNMEASURED if self.passed is None else self.check.status

    @property
    def explanation(self) -> str:
        """The outcome, then a line for each unsupported claim: its wrong words, why, and what the evidence says."""
        shown = [_explained(claim) for claim in self.check.unsupported[:MOST_CLAIMS]]
        more = len(self.check.unsupported) - len(shown)
        return "\n".join([self.check.headline, *shown, *([f"... and {more} more"] if more else [])])

    def metadata(self) -> dict[str, Any]:
        """Counts, judge and unsupported claims as plain values, for JSON."""
        low, high = self.bounds or (None, None)
        claims = self.check.unsupported[:MOST_CLAIMS]
        names = ("text", "wrong", "wrong_start", "wrong_end", "label", "reason", "quote", "evidence_id")
        return {
            "status": self.check.status,
            "problem": self.problem,
            **self.counts,
            "lowest_rate": low,
            "highest_rate": high,
            "judge": self.check.judge,
            "signature": self.check.signature,
            "unsupported_claims": [{name: to_builtins(getattr(claim, name)) for name in names} for claim in claims],
        }


def _explained(claim: CheckedClaim) -> str:
    why = f": {_cut(claim.why)}" if claim.why else ""
    quote = f" (evidence {one_line(claim.evidence_id or '')}: “{_cut(claim.quote)}”)" if claim.quote else ""
    return f"“{_cut(claim.wrong or claim.text)}”{why}{quote}"


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"


class AnswerParts(Struct, frozen=True):
    """An answer with what is needed to check it."""

    response: str
    evidence: object
    question: str | None = None


class Checker:
    """Checks answers with settings that were looked at when it was made."""

    def __init__(self, options: CheckerOptions) -> None:
        unknown = set(options) - CheckerOptions.__optional_keys__
        if unknown:
            raise SettingsError(
                f"there is no option {', '.join(sorted(unknown))}; expected judge, preset, threshold or on_refusal"
            )
        CheckSettings(**options)
        self._options = options

    def __call__(self, parts: AnswerParts) -> CheckedAnswer:
        """Check an answer."""
        return CheckedAnswer(check(parts.response, parts.evidence, parts.question, **self._options))

    async def in_thread(self, parts: AnswerParts) -> CheckedAnswer:
        """Check without holding up the event loop."""
        return CheckedAnswer(await acheck(parts.response, parts.evidence, parts.question, **self._options))


class PartsReader:
    """Finds answer, evidence and question in what a tool hands over, by the names that `hallumeter audit` knows.

    Args:
        paths: Where else they are, by ``response``, ``evidence`` and ``question``, as ``audit --map`` takes it: the
            first step of a path is what the tool calls its value, such as ``outputs.docs[].text``.
    """

    def __init__(self, paths: Mapping[str, str] | None = None) -> None:
        unknown = set(paths or {}) - set(FIELDS)
        if unknown:
            raise SettingsError(f"map: there is no field {', '.join(sorted(unknown))}; expected {', '.join(FIELDS)}")
        self._paths = {name: FieldPath.parse(path) for name, path in (paths or {}).items()}

    def parts(self, values: Mapping[str, object], *, answer: str, asked: Iterable[str]) -> AnswerParts:
        """The parts in values of a tool, of which one holds the answer and others the question, evidence or both."""
        given = {name: plain(value) for name, value in values.items()}
        others = [given.get(name) for name in asked]
        questions = (text for value in others if (text := text_in("question", value)) is not None)
        found = (item for value in [given.get(answer), *others] if (item := evidence_in(value)) is not None)
        evidence = self._mapped("evidence", given) if "evidence" in self._paths else next(found, None)
        question = self._mapped("question", given) if "question" in self._paths else next(questions, None)
        value = self._mapped("response", given) if "response" in self._paths else given.get(answer)
        return AnswerParts(
            answer_text(value, named=answer), evidence or [], None if question is None else str(question)
        )

    def _mapped(self, name: str, given: Mapping[str, object]) -> object:
        return self._paths[name].column({key: [value] for key, value in given.items()}, 1)[0]


def answer_text(value: object, *, named: str = "answer") -> str:
    """The text of an answer, which may stand inside an object or a chat; nothing is an empty answer.

    Raises:
        RecordError: There is something, but no text in it.
    """
    if value is None:
        return ""
    text = text_in("response", plain(value))
    if text is None:
        held = f" with {', '.join(map(str, value))}" if isinstance(value, Mapping) else ""
        raise RecordError(f"{named}: found no answer in {type(value).__name__}{held}; say where it is with map")
    return text


def plain(value: object) -> object:
    """Pydantic models, mappings and tuples as dictionaries and lists; anything else as it is."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    dump = getattr(value, "model_dump", None)
    return plain(dump()) if callable(dump) and not isinstance(value, type) else value


def missing(extra: str, tool: str) -> MissingExtraError:
    """The error for a tool that is not installed."""
    return MissingExtraError(extra, f"the integration with {tool}")
