"""Measurements, and the summary that pools them and says how sure it is."""

from typing import Literal

from msgspec import Struct, field

from .ranking import Direction, Ranking
from .summaries import AspectSummary, DialogueSummary

# The short string that lets someone else repeat a number.


class Signature(Struct, frozen=True):
    """Everything that could change a number, in a fixed order.

    >>> str(Signature("mihr", "embedded:full@1", (("nei", "unsupported"),), seed=0, version="0.1.0"))
    'mihr|judge:embedded-full-1|nei:unsupported|seed:0|v:0.1.0'
    """

    metric: str
    judge: str | None
    settings: tuple[tuple[str, str], ...]
    """Names and values of the settings that the number depends on, in order."""
    seed: int | None
    """None when no random number is drawn."""
    version: str

    def __str__(self) -> str:
        parts = [self.metric]
        if self.judge is not None:
            parts.append(f"judge:{_plain(self.judge)}")
        parts += [f"{name}:{_plain(value)}" for name, value in self.settings]
        if self.seed is not None:
            parts.append(f"seed:{self.seed}")
        parts.append(f"v:{self.version}")
        return "|".join(parts)


def _plain(value: str) -> str:
    """Replace what would break the signature apart when it is read back or split."""
    return "-".join(value.replace("|", " ").replace(":", " ").replace("@", " ").split())


Scope = Literal["record", "group", "run"]


SUMMARY_VERSION = 1
"""Of the form of a summary."""


class Measurement(Struct, frozen=True):
    """One metric on one response, one group or a whole run."""

    metric: str
    scope: Scope
    record_id: str | None
    by: dict[str, str]
    """The group, as field and value; empty for all."""
    judge: str | None
    count: float | None
    total: float | None
    value: float | None
    undefined: str | None = None
    """Why there is no value; None when there is one."""


class MetricSummary(Struct, frozen=True):
    """A metric over a group of responses: counts, value, interval, what is missing, and how to repeat it."""

    metric: str
    by: dict[str, str]
    judge: str | None
    count: float | None
    """What was counted; None for a statistic that is not a ratio of counts, such as kappa."""
    total: float | None
    value: float | None
    interval: tuple[float, float] | None
    interval_method: str | None
    direction: Direction
    undefined: str | None
    """Why there is no value; None when there is one."""
    undecided: int
    """Claims on which the judge could not tell."""
    failed: int
    """Claims or responses whose measurement broke."""
    bounds: tuple[float, float] | None
    """The values possible if everything unmeasured had turned out best, and worst."""
    signature: str
    note: str | None = None
    """A warning that belongs to the number, such as the prevalence warning of kappa."""


class Counts(Struct, frozen=True):
    """What a run holds."""

    records: int = 0
    claims: int = 0
    verdicts: int = 0
    failures: int = 0
    records_without_claims: int = 0
    judges: int = 0
    models: int = 0


class Profile(Struct, frozen=True):
    """The opinion a policy forms of a summary."""

    policy: str
    reliability: Literal["high", "medium", "low", "unknown"]
    is_high_risk: bool
    measured: tuple[str, ...] = ()
    """The metrics that had a value."""
    reasons: tuple[str, ...] = ()
    """Why the reliability is what it is, one sentence each."""


class Summary(Struct, frozen=True):
    """Everything measured in a run, pooled, with intervals and an opinion."""

    version: int
    instrument: str
    counts: Counts
    metrics: tuple[MetricSummary, ...]
    profile: dict[str, Profile] = field(default_factory=dict)
    """One profile per policy that was asked for."""
    notices: tuple[str, ...] = ()
    """What a reader must know: accepted aliases, skipped lines, missing inputs."""
    ranking: Ranking | None = None
    """Which engines differ on the same pages; None for an instrument without engines."""
    dialogue: DialogueSummary | None = None
    """How ways to answer differ on the same patients; None for an instrument without dialogues."""
    aspects: AspectSummary | None = None
    """What scorecards tell beside their metrics; None for an instrument without aspects."""


NO_VALUE = "(none)"
"""The group of rows that lack the field they are grouped by."""
