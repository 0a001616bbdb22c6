"""What a run of aspect agents comes to, beyond its rates."""

from msgspec import Struct, field


class Breakdown(Struct, frozen=True):
    """The parts of a whole in plain counts: which rules decided, why aspects were dropped."""

    name: str
    total: int
    """Of how many the parts are; they need not add up to it."""
    parts: dict[str, int]
    by: dict[str, str] = field(default_factory=dict)
    """The run that it speaks of; empty for all."""
    intervals: dict[str, tuple[float, float]] | None = None
    """Of the share of each part, by Wilson, where the whole counts sentences that add at most one to a part.

    None where one sentence adds several: aspects, risks, proposals, turns and overrides of a sentence belong together,
    as do the same sentences in several runs, and an interval that takes each for itself would be too narrow.
    """


class MappingWarning(Struct, frozen=True):
    """A debate whose turns can hardly be mapped to aspects."""

    level: str
    """``HIGH`` or ``WARN``."""
    metric: str
    value: float
    bound: float
    advice: str


class SeedSpread(Struct, frozen=True):
    """A metric over several runs."""

    metric: str
    mean: float | None
    """Of the runs in which it has a value; None when it has none."""
    deviation: float | None
    """Of the population; None with fewer than two values."""
    runs: int
    """Runs in which it has a value."""


class AspectSummary(Struct, frozen=True):
    """All that a summary of scorecards tells beside its metrics."""

    samples: int = 0
    """Sentences, measured or failed."""
    failed: int = 0
    with_gold: int = 0
    profile: str | None = None
    """The profile that was asked for; None for all."""
    profiles: dict[str, int] = field(default_factory=dict)
    """How many scorecards there are of every profile, those left out included."""
    runs: tuple[dict[str, str], ...] = ()
    """Every run, as its id and its seed."""
    right_under: dict[str, int] = field(default_factory=dict)
    """Spans that are right, by way of counting; ``placed`` is how many could be."""
    suggested_convention: str | None = None
    """The way of counting that makes more spans right than code points do."""
    grounding_sum: float | None = None
    """The four grounding buckets added up, which must be 1."""
    breakdowns: tuple[Breakdown, ...] = ()
    warnings: tuple[MappingWarning, ...] = ()
    spread: tuple[SeedSpread, ...] = ()
    unequal_gold: int = 0
    """Sentences whose gold does not match itself: nothing measured against it can be trusted."""
    unequal_final: int = 0
    """Sentences whose result does not match itself."""
