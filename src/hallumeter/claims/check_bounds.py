"""A checked answer held to the bounds of a policy, for tests of an application."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.records.bounds import Bound
from hallumeter.records.claim import Label
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES, LabelCounts

from .catalog import METRICS_BY_ID
from .checked import FAILED, Check
from .metrics.rates import rate_bounds
from .profiles import Policy


class ResponseBounds(Struct, frozen=True):
    """What a policy asks of a single answer."""

    bounds: tuple[Bound, ...]
    max_unmeasured: float

    def problems(self, check: Check) -> Iterator[str]:
        """Bounds that are broken and what could not be measured, a line each; none when all is well."""
        if not check.findings:
            if not check.passed:
                yield check.headline
            return
        codes = [FAILED_CODE if claim.label == FAILED else LABEL_CODES[Label(claim.label)] for claim in check.findings]
        counts = LabelCounts.tally(np.zeros(len(codes), dtype=np.int64), np.array(codes), size=1)
        if int(counts.unmeasured[0]) > self.max_unmeasured * len(codes):
            yield check.headline if check.why else f"not measured: {int(counts.unmeasured[0])} of {len(codes)} claims"
        for bound in self.bounds:
            value = _value(bound, counts)
            if value is not None and not bound.is_kept_by(value):
                yield f"{bound.metric} is {value:.3f}, the rule is {bound}"


def bounds_of(policy: Policy) -> ResponseBounds:
    """The bounds that a single answer can be held to: on rates of claims, of no slice.

    Raises:
        SettingsError: There is none.
    """
    found = tuple(
        bound
        for bound in policy.bounds or tuple(rule.bound for rule in policy.rules)
        if _is_of_claims(bound.metric) and not bound.by and not bound.each
    )
    if not found:
        raise SettingsError(
            f"the policy {policy.name!r} has no bound on claims, such as on mihr, that a test could use"
        )
    return ResponseBounds(found, policy.max_unmeasured or 0.0)


def _is_of_claims(metric: str) -> bool:
    """Whether it is a rate of claims; a policy may name metrics of other instruments and scores of other tools."""
    return metric in METRICS_BY_ID and METRICS_BY_ID[metric].reads == "labels"


def _value(bound: Bound, counts: LabelCounts) -> float | None:
    """The number that a bound looks at; a single answer has no interval, so its value counts."""
    metric = METRICS_BY_ID[bound.metric]
    if bound.looks_at == "worst_case":
        ends = rate_bounds(metric.compute, counts, widened_by_claimless=metric.is_widened_by_claimless)
        return None if ends is None else ends[1 if bound.at_most is not None else 0]
    value: float | None = metric.compute(counts).value
    return value
