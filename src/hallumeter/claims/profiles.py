"""Opinions on a run: which numbers speak for it, and which against.

A policy is a list of rules, one per metric, each with two bounds: on the good side of the first the metric speaks for
high reliability, beyond the second for low. Which end of the number is looked at (`looks_at`) is part of the rule: the
point, the far end of its interval, or the worst case that the unmeasured claims allow. Its bounds are what a gate
holds a run to.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct

from hallumeter.errors import TOLERANCE, SettingsError, nearest
from hallumeter.records.bounds import Bound, LooksAt, far_end
from hallumeter.records.measurement import MetricSummary, Profile


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """What one metric has to say about reliability."""

    metric: str
    good: float
    """At this value or better the metric speaks for high reliability."""
    bad: float
    """Beyond this value it speaks for low reliability and high risk."""
    looks_at: LooksAt = "point"
    is_required: bool = False
    """Whether high reliability is out of reach while this metric is not measured."""

    def __post_init__(self) -> None:
        if math.isnan(self.good) or math.isnan(self.bad) or self.good == self.bad:
            found = f"good = {self.good:g} and bad = {self.bad:g}"
            raise SettingsError(f"rule for {self.metric!r}: expected two different numbers, found {found}")

    @property
    def is_lower_better(self) -> bool:
        """A lower bound for good than for bad says that less is better."""
        return self.good < self.bad

    def examined(self, row: MetricSummary) -> float | None:
        """The number that this rule looks at, the value where there is no such end; None when it was not measured."""
        end = far_end(row, self.looks_at, is_upper=self.is_lower_better)
        return row.value if end is None else end

    @property
    def bound(self) -> Bound:
        """What a gate holds a run to by this rule: not to be bad."""
        at_most, at_least = (self.bad, None) if self.is_lower_better else (None, self.bad)
        return Bound(self.metric, at_most, at_least, self.looks_at)

    def is_good(self, value: float) -> bool:
        """Whether a value speaks for high reliability; the bound itself does."""
        return value <= self.good + TOLERANCE if self.is_lower_better else value >= self.good - TOLERANCE

    def is_bad(self, value: float) -> bool:
        """Whether a value speaks for low reliability; the bound itself does not."""
        return value > self.bad + TOLERANCE if self.is_lower_better else value < self.bad - TOLERANCE


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules that turn a summary into a profile."""

    name: str
    rules: tuple[Rule, ...] = ()
    bounds: tuple[Bound, ...] = ()
    """What `hallumeter gate` holds a run to."""
    max_unmeasured: float | None = None
    """Share of the claims that may be undecided or failed, for every bound that does not say otherwise."""


JUDGE_AUDITOR = Policy(
    name="judge-auditor",
    rules=(
        Rule("mihr", good=0.15, bad=0.3, is_required=True),
        Rule("fleiss_kappa", good=0.6, bad=0.4),
        Rule("uncertainty_total", good=0.5, bad=0.8),
    ),
)
"""The reliability table and the high-risk rule of judge-auditor, on points."""

HALLUMETER = Policy(
    name="hallumeter",
    rules=(
        Rule("mihr", good=0.15, bad=0.3, looks_at="worst_case", is_required=True),
        Rule("mahr", good=0.5, bad=0.9, looks_at="worst_case"),
        Rule("gwet_ac1", good=0.6, bad=0.4, looks_at="interval"),
        Rule("uncertainty_total", good=0.5, bad=0.8, looks_at="interval"),
        Rule("far", good=0.1, bad=0.3, looks_at="interval"),
    ),
)
"""The product's own: it looks at worst cases and interval ends, and at AC1, because kappa misleads on skewed labels."""


def profile_of(policy: Policy, rows: Mapping[str, MetricSummary]) -> Profile:
    """The opinion of a policy on the headline rows of a summary, by metric."""
    return opinion_on(
        policy, {rule.metric: rule.examined(rows[rule.metric]) for rule in policy.rules if rule.metric in rows}
    )


def opinion_on(policy: Policy, values: Mapping[str, float | None]) -> Profile:
    """The opinion of a policy on the numbers that its rules look at; None, or no entry, for what was not measured.

    Low when any measured metric is beyond its bad bound, high when every measured one is good and none that is
    required is missing, unknown when nothing was measured, else medium. What was not measured never raises a risk.

    >>> opinion_on(JUDGE_AUDITOR, {"mihr": 2 / 3}).reliability
    'low'
    """
    measured = {rule: value for rule in policy.rules if (value := values.get(rule.metric)) is not None}
    if not measured:
        return Profile(policy.name, "unknown", is_high_risk=False, reasons=("nothing was measured",))
    missing = [rule for rule in policy.rules if rule.is_required and rule not in measured]
    reasons = [f"{rule.metric} was not measured" for rule in missing]
    reasons += [_reason(rule, value) for rule, value in measured.items() if not rule.is_good(value)]
    is_high_risk = any(rule.is_bad(value) for rule, value in measured.items())
    return Profile(
        policy=policy.name,
        reliability="low" if is_high_risk else "medium" if reasons else "high",
        is_high_risk=is_high_risk,
        measured=tuple(rule.metric for rule in measured),
        reasons=tuple(reasons),
    )


def parse_policy(text: str, *, source: str, known_metrics: Collection[str]) -> Policy:
    r"""Read a policy from TOML; every fault names the file, the rule and what was expected.

    >>> policy = parse_policy('name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2',
    ...                       source="policy.toml", known_metrics=["mihr"])
    >>> policy.rules[0].bad
    0.2
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits, or lists in lists in lists
        raise SettingsError(f"{source}: not valid TOML: {error}") from None
    try:
        policy = msgspec.convert(document, Policy)
    except SettingsError as error:
        raise SettingsError(f"{source}: {error}") from None
    except msgspec.ValidationError as error:
        raise SettingsError(f"{source}: {error}; a policy has a name, [[rules]] and [[bounds]]") from None
    if not policy.rules and not policy.bounds:
        raise SettingsError(
            f"{source}: no [[rules]] found (metric, good, bad), nor [[bounds]] (metric, and at_most or at_least)"
        )
    named = [*(rule.metric for rule in policy.rules), *(bound.metric for bound in policy.bounds)]
    # A score of another tool, such as ragas:faithfulness, is known to the run alone.
    unknown = [metric for metric in named if metric not in known_metrics and ":" not in metric]
    if unknown:
        raise SettingsError(f"{source}: unknown metric {unknown[0]!r}; {nearest(unknown[0], known_metrics)}")
    return policy


def headline_rows(rows: Iterable[MetricSummary], headline: str | None) -> dict[str, MetricSummary]:
    """The rows that speak of the whole run: one per metric, by the headline judge where judges differ."""
    chosen: dict[str, MetricSummary] = {}
    for row in rows:
        if not row.by and (row.judge in (None, headline) or row.metric not in chosen):
            chosen[row.metric] = row
    return chosen


def _reason(rule: Rule, value: float) -> str:
    looked_at = {"point": "is", "interval": "is up to" if rule.is_lower_better else "is down to"}
    verb = looked_at.get(rule.looks_at, "is in the worst case")
    side = "above" if rule.is_lower_better else "below"
    bound = rule.bad if rule.is_bad(value) else rule.good
    return f"{rule.metric} {verb} {value:.3f}, {side} {bound:g}"
