"""Two runs over the same records, side by side."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from .measurement import html_table
from .ranking import Direction, Ranking

COMPARISON_VERSION = 1
"""Of the form of a comparison."""

RowOutcome = Literal["same", "worse", "better", "equivalent", "not_worse", "differs", "inconclusive", "unmeasured"]
"""What is shown of one metric: the same, where no response and no label changed; worse, or better, by more than
chance; equal within the margin; not worse by more than the margin; different (a metric without a better side); nothing;
or not even measured."""
Outcome = Literal["no_regression", "regression", "inconclusive", "unmeasured"]
"""What is shown of all of them."""
State = Literal["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "FAILED", "ABSENT"]
"""The label of a claim in one run; FAILED without a verdict, ABSENT when that run has no such claim."""


class ComparedRun(Struct, frozen=True):
    """One of the runs."""

    name: str
    records: int
    """All of its records."""
    claims: int
    failures: int
    judge: str | None
    """Whose verdicts count; None for an instrument without judges to choose from."""


class MetricComparison(Struct, frozen=True, kw_only=True):
    """One metric on the records that both runs have, or on a slice of them."""

    metric: str
    by: dict[str, str]
    """The slice, as field and value; empty for all."""
    direction: Direction
    clusters: int = 0
    """Units of resampling in which either run counted something."""
    differing: int = 0
    """Those in which the runs differ: the discordance."""
    first: float | None
    second: float | None
    difference: float | None = None
    """Second less first."""
    interval: tuple[float, float] | None = None
    interval_method: str | None = None
    p_value: float | None = None
    """Two-sided, that the runs are exchangeable; None when no cluster differs."""
    test: str | None = None
    """`mcnemar_mid_p`, or `sign_flip` with how it was computed, and what it counts."""
    adjusted_p_value: float | None = None
    """After Holm's correction over metrics and slices."""
    effect_size: float | None = None
    effect: str | None = None
    """`cohen_h` for shares, `paired_d` for anything else."""
    minimum_detectable: float | None = None
    """The difference that this many records would show in 80 of 100 repetitions, corrected for all tests."""
    margin: float | None = None
    equivalence_p_value: float | None = None
    """That the runs lie at least the margin apart (two one-sided tests); small speaks for equivalence."""
    not_worse_p_value: float | None = None
    """That the second run is worse by at least the margin; small speaks for it not being so."""
    unmeasured: tuple[int, int]
    """Of these records, in the first and in the second run: claims that are undecided or failed, and records that
    broke before they had a claim; for a metric that does not count claims, the records that it broke on."""
    measurable: tuple[int, int]
    """All claims of these records, and those that broke; or all these records, where some of them should have been
    measured and were not."""
    difference_bounds: tuple[float, float] | None
    """The differences possible if everything unmeasured had turned out best for one run and worst for the other."""
    outcome: RowOutcome = "unmeasured"
    undefined: str | None = None
    """Why there is no difference; None when there is one."""
    counted: Literal["claims", "records"] = "claims"
    """What is unmeasured."""
    causes: dict[str, int] = {}
    """Why records broke, in one word each, with the number of records in both runs."""


class ClaimChange(Struct, frozen=True):
    """A claim whose label differs between the runs."""

    record_id: str
    first: str | None
    """Its text in the first run; None where it is absent."""
    second: str | None


class Transition(Struct, frozen=True):
    """Claims with one label in the first run and another, or the same, in the second."""

    first: State
    second: State
    claims: int
    records: int
    """Records with such a claim."""
    examples: tuple[ClaimChange, ...] = ()
    """The first of them; none for claims that did not change."""


class Transitions(Struct, frozen=True):
    """What became of every claim."""

    cells: tuple[Transition, ...]
    exact: int
    """Claims of both runs that are alike in place and wording."""
    moved: int
    """Alike in wording, at another place."""
    reworded: int
    """Matched by similar wording, or by their place in an unchanged response."""
    broken: int
    """Supported in the first run, and not in the second."""
    mended: int
    """Not supported in the first run, and supported in the second."""
    claims_mid_p: float | None
    """McNemar's mid-p on these two, as if claims were independent: for orientation, it decides nothing."""


class Comparison(Struct, frozen=True):
    """What two runs over the same records show: metric by metric, and claim by claim."""

    version: int
    instrument: str
    first: ComparedRun
    second: ComparedRun
    common: int
    """Records that both runs have; everything below speaks of these."""
    only_first: int
    only_second: int
    cluster: str
    """The unit of resampling."""
    confidence: float
    rows: tuple[MetricComparison, ...]
    transitions: Transitions
    outcome: Outcome
    reasons: tuple[str, ...]
    """Why, one sentence each."""
    notices: tuple[str, ...] = ()
    """What a reader must know: other judges, other settings, records left out."""
    are_slices_gated: bool = False
    """Whether slices decide the outcome as well."""

    def __getitem__(self, metric: str) -> MetricComparison:
        """The row of a metric on all common records."""
        wanted = metric.strip().lower()
        found = next((row for row in self.rows if row.metric.lower() == wanted and not row.by), None)
        if found is None:
            known = ", ".join(dict.fromkeys(row.metric for row in self.rows)) or "none"
            raise KeyError(f"the comparison has no metric {metric!r}; it has {known}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(row.metric for row in self.rows))

    def __repr__(self) -> str:
        names = f"{self.first.name} -> {self.second.name}"
        shown = [_row_words(row) for row in self.rows if not row.by]
        rest = f"; and {len(self.rows) - len(shown[:2])} more" if len(self.rows) > len(shown[:2]) else ""
        rows = "; ".join(shown[:2])
        return f"Comparison({names}: {self.outcome}, {self.common:,} common records; {rows}{rest})"

    def _repr_html_(self) -> str:
        """The metrics of both runs for a notebook."""
        fields = list(dict.fromkeys(name for row in self.rows for name in row.by))
        headings = [
            "metric",
            *fields,
            "first",
            "second",
            "difference",
            "low",
            "high",
            "adjusted p",
            "outcome",
            "why not",
        ]
        rows = [
            [
                *(row.metric, *map(row.by.get, fields), row.first, row.second, row.difference),
                *(row.interval or (None, None)),
                *(row.adjusted_p_value, row.outcome, row.undefined),
            ]
            for row in self.rows
        ]
        names = f"{self.first.name} -> {self.second.name}: {self.outcome}"
        return html_table(headings, rows, caption=f"{names}, {self.common:,} common records")


def _row_words(row: MetricComparison) -> str:
    if row.first is None or row.second is None:
        return f"{row.metric} {row.outcome}"
    return f"{row.metric} {row.first:.3g} -> {row.second:.3g}, {row.outcome}"


class RunRanking(Struct, frozen=True):
    """Three runs or more, ranked on the records that all of them have."""

    version: int
    instrument: str
    runs: tuple[ComparedRun, ...]
    common: int
    cluster: str
    rankings: tuple[Ranking, ...]
    """One per metric."""
    notices: tuple[str, ...] = ()
