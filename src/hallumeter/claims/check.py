"""One response checked at once, without a run: for tests of an application."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.formats.records import passages_of
from hallumeter.models.protocol import Provider
from hallumeter.records.bounds import Bound
from hallumeter.records.claim import Failure, Finding, Label, Verdict
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES, LabelCounts
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.response import Response
from hallumeter.text.normalize import one_line

from .catalog import METRICS_BY_ID
from .extractors.statements import SentenceExtractor
from .judges.by_name import is_language_model, judge_named
from .judges.function import FunctionJudge
from .metrics.rates import rate_bounds
from .profiles import Policy

NOTHING_UNSUPPORTED = (Bound("mihr", at_most=0.0),)
"""What a response is held to without a policy."""
LONGEST_TEXT = 200
MOST_CLAIMS = 10
"""Unsupported claims that a message shows."""


class CheckedResponse(Struct, frozen=True):
    """A response with its claims, the verdicts on them, and what is wrong with it."""

    response: Response
    findings: tuple[Finding, ...]
    judge: str
    problems: tuple[str, ...]
    """Bounds that are broken and what could not be measured, a line each; none when all is well."""

    @property
    def message(self) -> str:
        """The problems, then every claim that is not supported, with the evidence that was looked at."""
        return "\n".join([*self.problems, *_claim_lines(self.findings)])


class ResponseChecker:
    """Checks responses against their evidence, with judges that need no network."""

    def __init__(self, policy: Policy | None = None, *, judge: str = "embedded") -> None:
        self._default = judge
        self._largest_unmeasured = 0.0 if policy is None or policy.max_unmeasured is None else policy.max_unmeasured
        self._bounds = NOTHING_UNSUPPORTED if policy is None else tuple(_bounds_of_a_response(policy))
        self._judges: dict[str, Judge] = {}
        self._extractor = SentenceExtractor()

    def check(
        self,
        response: str,
        evidence: object,
        *,
        question: str | None = None,
        judge: str | Judge | Callable[..., object] | None = None,
    ) -> CheckedResponse:
        """Find the claims of a response, judge them, and hold it to the bounds."""
        chosen = self._judge(self._default if judge is None else judge)
        record = Response("response", question, response, evidence=passages_of(evidence))
        claims = tuple(self._extractor.extract(record))
        said = chosen.judge(JudgeTask(record, claims)) if claims else []
        verdicts = {verdict.claim_id: verdict for verdict in said if isinstance(verdict, Verdict)}
        findings = tuple(
            Finding(claim, (verdicts[claim.claim_id],) if claim.claim_id in verdicts else ()) for claim in claims
        )
        failures = [each for each in said if isinstance(each, Failure)]
        return CheckedResponse(record, findings, chosen.spec.name, tuple(self._problems(findings, failures)))

    def _judge(self, given: str | Judge | Callable[..., object]) -> Judge:
        if not isinstance(given, str):
            return FunctionJudge(given) if callable(given) and not hasattr(given, "spec") else given  # type: ignore[return-value]
        if given not in self._judges:
            if is_language_model(given):
                raise SettingsError(f"{given} needs the network; in a test, name rules or embedded, or give a function")
            self._judges[given] = judge_named(given, provider_of=_no_provider)
        return self._judges[given]

    def _problems(self, findings: Sequence[Finding], failures: Sequence[Failure]) -> Iterator[str]:
        if not findings:
            yield "not measured: no claim was found in the response"
            return
        labels = [finding.verdicts[0].label if finding.verdicts else None for finding in findings]
        codes = np.array([FAILED_CODE if label is None else LABEL_CODES[label] for label in labels])
        counts = LabelCounts.tally(np.zeros(len(codes), dtype=np.int64), codes, size=1)
        missing = int(counts.unmeasured[0])
        if missing > self._largest_unmeasured * len(findings):
            why = f": {one_line(failures[0].message)}" if failures else ""
            yield f"not measured: {missing} of {len(findings)} claims are undecided or failed{why}"
        for bound in self._bounds:
            value = _value(bound, counts)
            if value is not None and not bound.is_kept_by(value):
                yield f"{bound.metric} is {value:.3f}, the rule is {bound}"


def _bounds_of_a_response(policy: Policy) -> Iterator[Bound]:
    """The bounds that a single response can be held to: on rates of claims, of no slice."""
    found = [
        bound
        for bound in policy.bounds or tuple(rule.bound for rule in policy.rules)
        if _is_of_claims(bound.metric) and not bound.by and not bound.each
    ]
    if not found:
        raise SettingsError(
            f"the policy {policy.name!r} has no bound on claims, such as on mihr, that a test could use"
        )
    yield from found


def _is_of_claims(metric: str) -> bool:
    """Whether it is a rate of claims; a policy may name metrics of other instruments and scores of other tools."""
    return metric in METRICS_BY_ID and METRICS_BY_ID[metric].reads == "labels"


def _value(bound: Bound, counts: LabelCounts) -> float | None:
    """The number that a bound looks at; a single response has no interval, so its value counts."""
    metric = METRICS_BY_ID[bound.metric]
    if bound.looks_at == "worst_case":
        ends = rate_bounds(metric.compute, counts, widened_by_claimless=metric.is_widened_by_claimless)
        return None if ends is None else ends[1 if bound.at_most is not None else 0]
    value: float | None = metric.compute(counts).value
    return value


def _claim_lines(findings: Sequence[Finding]) -> Iterator[str]:
    shown = [finding for finding in findings if not finding.verdicts or finding.verdicts[0].label != Label.SUPPORTED]
    for finding in shown[:MOST_CLAIMS]:
        verdict = finding.verdicts[0] if finding.verdicts else None
        yield f"  {verdict.label.value if verdict else 'NO VERDICT'}: {_cut(finding.claim.text or '')}"
        if verdict is None:
            continue
        if verdict.note or verdict.reason:
            yield f"    why: {_cut(verdict.note or verdict.reason or '')}"
        for quote in verdict.evidence[:1]:
            if quote.quote:
                yield f"    evidence {quote.evidence_id}: {_cut(quote.quote)}"
    if len(shown) > MOST_CLAIMS:
        yield f"  ... and {len(shown) - MOST_CLAIMS} more"


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _no_provider(name: str) -> Provider:
    raise SettingsError(f"{name} needs the network; a test has none")
