"""Measurements, and the summary that pools them and says how sure it is."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from html import escape
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

    def __str__(self) -> str:
        """The number in words: counts, value, interval, or why there is none."""
        counted = "" if self.count is None or self.total is None else f", {self.count:g} of {self.total:g}"
        if self.value is None:
            return f"{self.metric} not measured: {self.undefined or 'no value'}{counted}"
        ends = "" if self.interval is None else f" ({self.interval[0]:.3g} to {self.interval[1]:.3g})"
        return f"{self.metric} {self.value:.3g}{ends}{counted}"


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


SPOKEN = {
    "halluc": ("mihr", "mahr"),
    "unsupported": ("mihr", "mahr"),
    "contradict": ("mihr_refuted",),
    "refut": ("mihr_refuted",),
    "faithful": ("factscore", "mihr"),
    "ground": ("factscore", "mihr"),
    "factual": ("factscore", "mihr"),
}
"""What people call metrics, by a part of the word, and the metrics that may be meant."""
MOST_ROWS = 20
"""Metrics that a notebook shows of a summary."""


class Summary(Struct, frozen=True):
    """Everything measured in a run, pooled, with intervals and an opinion.

    ``summary["mihr"]`` is the row of a metric for the whole run, by the headline judge; `get` also finds that of a
    group or of another judge. Iterating gives the names of the metrics.
    """

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

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(row.metric for row in self.metrics))

    def __contains__(self, metric: object) -> bool:
        return isinstance(metric, str) and self._known(metric) is not None

    def __getitem__(self, metric: str) -> MetricSummary:
        name = self.metric_id(metric)
        found = self.get(name)
        # A metric of groups alone, if there were one, has no row for the whole run.
        return found if found is not None else next(row for row in self.metrics if row.metric == name)

    def get(self, metric: str, *, by: dict[str, str] | None = None, judge: str | None = None) -> MetricSummary | None:
        """The row of a metric for the whole run, or for a group such as ``{"model": "gpt"}``; None if there is none.

        Without a judge it is the one that the headline rests on: its rows come first.
        """
        name, group = self._known(metric), by or {}
        for row in self.metrics:
            if row.metric == name and row.by == group and (judge is None or row.judge == judge):
                return row
        return None

    def metric_id(self, name: str) -> str:
        """The id of a metric, whatever the case it is written in.

        Raises:
            KeyError: The run does not measure it; the message names those that may be meant.
        """
        found = self._known(name)
        if found is None:
            raise KeyError(f"the run has no metric {name!r}; {self._suggestion(name)}")
        return found

    def _known(self, name: str) -> str | None:
        wanted = name.strip().lower()
        return next((metric for metric in self if metric.lower() == wanted), None)

    def _suggestion(self, name: str) -> str:
        ids, wanted = list(self), name.strip().lower()
        spoken = [metric for part, metrics in SPOKEN.items() if part in wanted for metric in metrics if metric in ids]
        near = list(dict.fromkeys([*spoken, *get_close_matches(wanted, ids, n=2)]))
        return f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(ids) or 'none'}"

    def __repr__(self) -> str:
        rows = [row for row in (self.get(metric) for metric in self) if row is not None]
        parts = [f"{self.counts.records:,} records", f"{self.counts.claims:,} claims", *map(str, rows[:2])]
        rest = f"; and {len(rows) - 2} more metrics" if len(rows) > 2 else ""
        return f"Summary({self.instrument}: {'; '.join(parts)}{rest})"

    def _repr_html_(self) -> str:
        """The metrics for a notebook, undefined ones with their reason."""
        fields = list(dict.fromkeys(name for row in self.metrics for name in row.by))
        headings = ["metric", *fields, "judge", "count", "of", "value", "low", "high", "not measured because"]
        rows = [
            [
                *(row.metric, *map(row.by.get, fields), row.judge, row.count, row.total, row.value),
                *(row.interval or (None, None)),
                row.undefined,
            ]
            for row in self.metrics[:MOST_ROWS]
        ]
        more = f"; the first {MOST_ROWS} of {len(self.metrics)} rows" if len(self.metrics) > MOST_ROWS else ""
        counts = self.counts
        caption = (
            f"{self.instrument}: {counts.records:,} records, {counts.claims:,} claims, {counts.failures:,} failures"
        )
        return html_table(headings, rows, caption=f"{caption}{more}")


NO_VALUE = "(none)"
"""The group of rows that lack the field they are grouped by."""


# Tables for notebooks: everything that is shown is escaped.


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """A table as HTML; None is an empty cell, numbers stand to the right.

    >>> html_table(["a"], [["<b>"], [None], [0.25]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td style="text-align: left">&lt;b&gt;</td></tr>\
<tr><td></td></tr><tr><td style="text-align: right">0.25</td></tr></tbody></table>'
    """
    titled = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>{titled}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, float):
        return f'<td style="text-align: right">{value:.6g}</td>'
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="text-align: right">{value}</td>'
    return f'<td style="text-align: left">{escape(str(value))}</td>'
