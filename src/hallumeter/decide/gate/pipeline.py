"""A run held to the bounds of a policy, and a first policy to begin with: what `hallumeter gate` runs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.measure.commands import read_policy
from hallumeter.claims.measure.response_names import run_record_id
from hallumeter.claims.metrics.rates import rate_bounds
from hallumeter.claims.profiles import Policy, headline_rows
from hallumeter.claims.settings import OperatingPoint, check_operating_point
from hallumeter.decide.compare.rows import rates_bounds
from hallumeter.decide.compare.sides import CompareSettings, Side, decided_label
from hallumeter.decide.policy import usual_metrics
from hallumeter.errors import HallumeterError, InputError, SettingsError, nearest
from hallumeter.formats.files import read_rows
from hallumeter.formats.records import rows_of
from hallumeter.ingest.scores import metric_named
from hallumeter.records.bounds import Bound
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.columns import FAILED_CODE, UNDECIDED_CODE
from hallumeter.records.decisions import GATE_VERSION, BoundCheck, GateResult, OffendingClaim, OffendingRecord, Place
from hallumeter.records.manifest import InputFile, Manifest
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.rate import Rates
from hallumeter.records.response import Response
from hallumeter.run.finished import Run, load
from hallumeter.run.inputs import named_files, sha256_of
from hallumeter.run.run_folder import RunFolder
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates
from hallumeter.text.normalize import one_line

# Rows of a summary for slices that a run was not summarised by.


class ReadRun:
    """The records of a run by the values of some fields, and what was counted in them."""

    def __init__(self, run: Run, fields: tuple[str, ...], threshold: float | None = None) -> None:
        self.side = Side(run, CompareSettings(by=fields), threshold)
        self._is_decided_again = threshold is not None
        self.fields = fields
        for _ in self.side.records():
            pass
        self._labels = self.side.labels()
        codes: dict[str, int] = {}
        self._clusters = np.array([codes.setdefault(name, len(codes)) for name in self.side.clusters], dtype=np.intp)

    def slices(self) -> list[dict[str, str]]:
        """Every combination of values."""
        found = sorted(set(self.side.slices))
        if self.fields and all(not any(values) for values in found):
            raise SettingsError(f"no record has the field {' or '.join(map(repr, self.fields))}")
        return [dict(zip(self.fields, values, strict=True)) for values in found]

    def records_in(self, by: dict[str, str]) -> NDArray[np.intp]:
        """The records of a slice."""
        wanted = [(self.fields.index(field), value) for field, value in by.items()]
        return np.array(
            [
                number
                for number, values in enumerate(self.side.slices)
                if all(values[place] == value for place, value in wanted)
            ],
            dtype=np.intp,
        )

    def row(self, metric: str, by: dict[str, str]) -> MetricSummary:
        """One metric on one slice, with its interval and its bounds."""
        if metric not in self.side.metrics:
            raise SettingsError(f"{metric} was not measured record by record, so it has no slices")
        chosen = self.records_in(by)
        low, high = self.side.range(metric) or (None, None)
        known = metric_named(metric, direction=self.side.direction(metric), low=low, high=high)
        settings, labels = self.side.manifest.settings, self._labels[chosen]
        unmeasured = labels.table.sum(axis=0)
        is_of_claims = metric in METRICS_BY_ID and known.reads == "labels"
        broken = 0 if is_of_claims else len(self.side.lacking(metric).keys() & set(chosen.tolist()))
        rates = self.rates(metric)[chosen]
        _, clusters = np.unique(self._clusters[chosen], return_inverse=True)
        resamples, confidence = settings.get("resamples"), settings.get("confidence")
        return summarize_rates(
            known,
            rates if len(clusters) and clusters.max() + 1 == len(rates) else rates.pooled_by(clusters),
            Slice(
                by,
                self.side.judge,
                undecided=int(unmeasured[UNDECIDED_CODE]) if is_of_claims else 0,
                failed=int(unmeasured[FAILED_CODE]) if is_of_claims else broken,
            ),
            settings=SummarySettings(
                version=self.side.manifest.hallumeter,
                seed=self.side.manifest.seed,
                resamples=resamples if isinstance(resamples, int) else 2_000,
                confidence=confidence if isinstance(confidence, float) else 0.95,
                cluster=self.side.unit,
            ),
            bounds=rate_bounds(known.compute, labels, widened_by_claimless=known.is_widened_by_claimless)
            if is_of_claims
            else rates_bounds(rates, broken, ends=self.side.range(metric)),
        )

    def rates(self, metric: str) -> Rates:
        """What a metric counted in each record; from the labels where these were decided again."""
        known = METRICS_BY_ID.get(metric)
        if self._is_decided_again and known is not None and known.reads == "labels":
            found = known.compute(self._labels)
            assert isinstance(found, Rates)
            return found
        return self.side.rates(metric)

    def claims_in(self, by: dict[str, str]) -> float:
        """All claims of a slice, measured or not."""
        return float(self._labels[self.records_in(by)].claims.sum())


# Where records stand in the files that a run was made from.


class Places:
    """Finds the line of a record in the inputs of a run, as long as they are what they were."""

    def __init__(self, manifest: Manifest, folder: Path, files: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._files = dict(named_files(files))
        self._lines: dict[str, Place] = {}
        self._names = {each.name for each in manifest.inputs}
        self.notices: list[str] = []
        """Inputs without lines, and why."""
        for each in manifest.inputs:
            if not (folder / each.name).is_dir():
                self._read(each)

    def of_record(self, record_id: str) -> Place | None:
        """The line on which a record stands."""
        return self._lines.get(record_id)

    def of_claim(self, response: Response, start: int | None) -> Place | None:
        """The line of a claim: in the file of its page, else the line of its record."""
        page = response.fields.get("page")
        if not isinstance(page, str) or response.model not in self._names:
            return self._lines.get(response.record_id)
        file = self._folder / str(response.model) / f"{page}.txt"
        if not file.is_file():
            return None
        text, read = file.read_text(encoding="utf-8", errors="replace"), response.response or ""
        begin = text.find(read)
        line = text.count("\n", 0, begin + start) + 1 if begin >= 0 and start is not None else None
        return Place(file.as_posix(), line)

    def _read(self, each: InputFile) -> None:
        path = self._files.get(each.name, self._folder / each.name)
        if not path.is_file():
            self.notices.append(f"{path}: no such file, so its records have no line; --source DIR says where it is")
        elif each.sha256 is None or sha256_of(path) != each.sha256:
            self.notices.append(f"{path}: changed since the run was made, so its records have no line")
        else:
            try:
                for name, line in _named_lines(path, each.name):
                    self._lines.setdefault(name, Place(path.as_posix(), line))
            except HallumeterError as error:
                self.notices.append(f"{path}: its records have no line ({error})")


def _named_lines(path: Path, source: str) -> Iterator[tuple[str, int]]:
    """What a row may be called in a run, and its line."""
    for batch in read_rows(path, fields=None):
        for line, row in rows_of(batch):
            given, model = row.get("record_id"), row.get("model")
            name = f"{source}:{line}" if given in (None, "") else str(given)
            yield run_record_id(name, None if model is None else str(model), is_shared=True), line
            yield name, line


MOST_RECORDS = 20
"""Offending records that are named for each bound."""
MOST_CLAIMS = 5_000
"""Unsupported claims that are kept; code hosts show no more."""
UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)


def gate_result(
    run: Run,
    policy: Policy,
    *,
    source: Path | None = None,
    files: Sequence[Path] = (),
    threshold: float | OperatingPoint | None = None,
) -> GateResult:
    """Hold a run to the bounds of a policy, or of its rules where it has no bounds.

    `source` is the folder with the files that the run was made from, in which records are looked up; `files` are these
    files themselves, where they are known. With a `threshold`, or an operating point that a calibration found, the
    labels of the headline judge are decided again from the probabilities that the run kept; nobody is asked anything.

    Raises:
        SettingsError: A metric of the policy is not known, or cannot be measured at another threshold.
    """
    bounds = policy.bounds or tuple(rule.bound for rule in policy.rules)
    gate_ = _Gate(run, threshold)
    gate_.refuse_unknown(bounds)
    checks = []
    places = Places(run.manifest, source or Path(), files)
    for bound in bounds:
        for row in gate_.rows(bound):
            check = bound.check(row, claims=gate_.claims(row), max_unmeasured=policy.max_unmeasured)
            checks.append(gate_.with_offenders(check, bound, places) if check.status == "broken" else check)
    claims, total = _unsupported(gate_, places)
    statuses = {check.status for check in checks}
    outcome: Literal["passed", "broken", "unmeasured"] = "passed"
    if "broken" in statuses:
        outcome = "broken"
    elif "unmeasured" in statuses:
        outcome = "unmeasured"
    return GateResult(
        version=GATE_VERSION,
        run=run.path.name or str(run.path),
        policy=policy.name,
        outcome=outcome,
        checks=tuple(checks),
        claims=tuple(claims),
        claims_total=total,
        notices=tuple(places.notices),
        threshold=gate_.threshold,
    )


class _Gate:
    """A run while it is held to bounds; its records are read only when a slice or a broken bound asks for them."""

    def __init__(self, run: Run, threshold: float | OperatingPoint | None = None) -> None:
        self._run = run
        self.path = run.path
        self._summary = run.summary
        whole = [row for row in self._summary.metrics if not row.by]
        self._judge = whole[0].judge if whole else None
        judges = {entry.name for entry in run.manifest.judges}
        self.headline = self._judge if self._judge in judges else None
        self._read: dict[tuple[str, ...], ReadRun] = {}
        self.threshold = threshold.threshold if isinstance(threshold, OperatingPoint) else threshold
        if self.threshold is not None:
            check_operating_point(None, self.threshold)
            _check_probabilities(run, self.headline, threshold)

    def refuse_unknown(self, bounds: Sequence[Bound]) -> None:
        """A metric that is neither in the catalog nor a score of this run is a mistake in the policy."""
        known = {*METRICS_BY_ID, *(row.metric for row in self._summary.metrics)}
        for bound in bounds:
            metric = METRICS_BY_ID.get(bound.metric)
            if self.threshold is not None and (
                bound.metric == "mihr_refuted" or (metric and metric.reads == "ratings")
            ):
                raise SettingsError(
                    f"{bound.metric} cannot be measured at another threshold: a probability does not tell whether the "
                    "evidence contradicts a claim; take it out of the policy, or audit again with --threshold"
                )
            if bound.metric not in known:
                raise SettingsError(
                    f"unknown metric {bound.metric!r}: {self._run.path} has no such score; "
                    f"{nearest(bound.metric, [row.metric for row in self._summary.metrics])}"
                )

    def rows(self, bound: Bound) -> Iterator[MetricSummary]:
        """What a bound speaks of: the row of the run, of one slice, or of each."""
        fields = bound.each or tuple(bound.by)
        metric = METRICS_BY_ID.get(bound.metric)
        if self.threshold is not None and metric is not None and metric.reads == "labels":
            read = self.read(fields)
            for by in [bound.by] if bound.by or not fields else read.slices():
                yield read.row(bound.metric, by)
            return
        if not fields:
            found = headline_rows(self._summary.metrics, self._judge).get(bound.metric)
            yield found if found is not None else _unmeasured(bound.metric, {})
            return
        known = [
            row
            for row in self._summary.metrics
            if row.metric == bound.metric and set(row.by) == set(fields) and row.judge in (self._judge, None)
        ]
        if known:
            wanted = [row for row in known if not bound.by or row.by == bound.by]
            yield from wanted or [_unmeasured(bound.metric, bound.by)]
            return
        read = self.read(fields)
        for by in [bound.by] if bound.by else read.slices():
            yield read.row(bound.metric, by)

    def claims(self, row: MetricSummary) -> float:
        """All claims that a row speaks of, measured or not; of another tool's score, all records."""
        missing = row.undecided + row.failed
        if row.metric not in METRICS_BY_ID:
            return (row.total or 0.0) + missing
        if self.threshold is not None:
            return self.read(tuple(row.by)).claims_in(row.by)
        for other in self._summary.metrics:
            if other.metric == "mihr" and other.by == row.by and other.judge == row.judge:
                return (other.total or 0.0) + missing
        if row.by and missing:
            return self.read(tuple(row.by)).claims_in(row.by)
        return (row.total or 0.0) + missing

    def read(self, fields: tuple[str, ...]) -> ReadRun:
        """The records, by some fields."""
        if fields not in self._read:
            self._read[fields] = ReadRun(self._run, fields, self.threshold)
        return self._read[fields]

    def with_offenders(self, check: BoundCheck, bound: Bound, places: Places) -> BoundCheck:
        """Name the records that count most against the bound; none for a figure that no record has on its own."""
        read = self.read(tuple(check.by))
        if check.metric not in read.side.metrics:
            return check
        chosen = read.records_in(check.by)
        rates = read.rates(check.metric)[chosen]
        against = rates.counts if bound.at_most is not None else rates.totals - rates.counts
        worst = np.argsort(-against, kind="stable")
        worst = worst[against[worst] > 0]
        offenders = tuple(
            OffendingRecord(
                record_id=(name := read.side.record_ids[int(chosen[place])]),
                count=float(against[place]),
                total=float(rates.totals[place]),
                place=places.of_record(name),
            )
            for place in worst[:MOST_RECORDS].tolist()
        )
        return structs.replace(check, offenders=offenders, offenders_total=len(worst))


def _unmeasured(metric: str, by: dict[str, str]) -> MetricSummary:
    """The row of a metric, or of a slice, that the run does not have."""
    return MetricSummary(
        metric=metric,
        by=by,
        judge=None,
        count=None,
        total=None,
        value=None,
        interval=None,
        interval_method=None,
        direction=metric_named(metric, direction="none").direction,
        undefined="the run has no such slice" if by else "the run does not measure it",
        undecided=0,
        failed=0,
        bounds=None,
        signature="",
    )


def _check_probabilities(run: Run, headline: str | None, threshold: float | OperatingPoint | None) -> None:
    """Refuse to decide labels again where no single judge decided them, or by probabilities that nobody kept."""
    if headline is None:
        raise SettingsError(f"{run.path}: its labels are not those of one judge, so they have no threshold")
    if isinstance(threshold, OperatingPoint) and threshold.judge != headline:
        raise SettingsError(f"the calibration is for the judge {threshold.judge}, and the run is judged by {headline}")
    verdicts = (verdict for verdict in RunFolder(run.path).verdicts() if verdict.judge == headline)
    if not any(verdict.unsupported_probability is not None for verdict in verdicts):
        raise SettingsError(f"{run.path}: {headline} gave no probabilities, so its labels have no threshold")


def _unsupported(gate_: _Gate, places: Places) -> tuple[list[OffendingClaim], int]:
    """The claims that the evidence does not support, the surest first, with their places; and how many there are."""
    total = 0

    def unsupported() -> Iterator[tuple[Response, Claim, Verdict]]:
        nonlocal total
        for response, findings in RunFolder(gate_.path).findings():
            for finding in findings:
                label = decided_label(finding, gate_.headline, gate_.threshold)
                if label in UNSUPPORTED:
                    total += 1
                    verdict = next((said for said in finding.verdicts if said.label is label), finding.verdicts[0])
                    # Decided again at a threshold, the label is another than that of the verdict.
                    yield response, finding.claim, structs.replace(verdict, label=label)

    surest = heapq.nlargest(MOST_CLAIMS, unsupported(), key=lambda found: found[2].unsupported_probability or 0.0)
    return [_offending(*found, places=places) for found in surest], total


def _offending(response: Response, claim: Claim, verdict: Verdict, *, places: Places) -> OffendingClaim:
    text = claim.text
    if text is None:
        text = (response.response or "")[claim.start : claim.end] if claim.start is not None else ""
    return OffendingClaim(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        text=text,
        label=verdict.label.value,
        reason=verdict.reason,
        note=verdict.note,
        place=places.of_claim(response, claim.start),
    )


def gate(run: Run | str | Path, policy: Policy | str | Path, *, source: str | Path | None = None) -> GateResult:
    """Hold a run to the bounds of a policy: `outcome` is ``passed``, ``broken`` or ``unmeasured``.

    A run may be given by its folder, a policy by its TOML file. `source` is the folder with the files that the run was
    made from, in which the lines of records are looked up.

    Raises:
        InputError: There is no run in the folder.
        SettingsError: The policy cannot be read, or names a metric that does not exist.

    >>> from hallumeter import audit, Bound, Policy
    >>> run = audit([{"response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}], judge="rules")
    >>> gate(run, Policy("release", bounds=(Bound("mihr", at_most=0.1),))).outcome
    'broken'
    """
    opened = run if isinstance(run, Run) else load(run)
    held_to = policy if isinstance(policy, Policy) else read_policy(Path(policy), METRICS_BY_ID)
    return gate_result(opened, held_to, source=None if source is None else Path(source))


# A policy to begin with: what a run measured, a little looser, with every line explained.

_SLACK = 0.01
"""How much looser than measured a bound is: a point of a rate."""
_DIGITS = 2
_STEPS = 100
FEWEST_UNMEASURED = 0.02


def first_policy(run: Run) -> str:
    """The text of a policy that this run passes.

    Raises:
        InputError: The run measured nothing that has a better side.
    """
    summary = run.summary
    whole = [row for row in summary.metrics if not row.by]
    rows = headline_rows(summary.metrics, whole[0].judge if whole else None)
    chosen = [rows[name] for name in usual_metrics(summary.instrument, list(rows)) if rows[name].value is not None]
    chosen = [row for row in chosen if row.direction != "none"]
    if not chosen:
        raise InputError(f"{run.path}: nothing was measured that a policy could bound")
    return "\n".join(_policy_lines(run, chosen)) + "\n"


def _policy_lines(run: Run, rows: list[MetricSummary]) -> Iterator[str]:
    missing = max(
        (row.undecided + row.failed) / max((row.total or 0.0) + row.undecided + row.failed, 1) for row in rows
    )
    yield f"# Made by `hallumeter gate --init` from {one_line(run.path.name)}: what that run measured, a little looser."
    yield "# Tighten it to what you can stand behind; `hallumeter metrics` says what each metric means."
    yield "#"
    yield "# looks_at: point (the value), interval (its unfavourable end), worst_case (what the unmeasured allow)."
    yield '# by = { task = "QA" } bounds one slice; each = ["task"] bounds every slice of a field on its own.'
    yield f'name = "{_quoted(run.path.resolve().name)}"'
    yield ""
    yield "# At most this share of the claims may be undecided or failed, or of the records without a score; beyond it"
    yield "# nothing passes (exit code 3)."
    yield f"max_unmeasured = {max(FEWEST_UNMEASURED, _up(missing)):.{_DIGITS}f}"
    for row in rows:
        yield from _bound_lines(row)


def _bound_lines(row: MetricSummary) -> Iterator[str]:
    known = METRICS_BY_ID.get(row.metric)
    is_upper = row.direction == "lower"
    looks_at, end = "point", row.value or 0.0
    measured = f"measured {end:.3f}"
    if row.interval is not None:
        looks_at, end = "interval", row.interval[1 if is_upper else 0]
        measured += f", its interval ends at {end:.3f}"
    loose = _up(end + _SLACK) if is_upper else _down(end - _SLACK)
    # A score of another tool that was between 0 and 1 is taken to stay there.
    low, high = known.range if known else (0.0 if end >= 0 else -math.inf, 1.0 if end <= 1 else None)
    loose = max(low, loose if high is None else min(high, loose))
    yield ""
    yield (
        f"# {known.name}: {one_line(known.question)}" if known else f"# {one_line(row.metric)}: as that tool scores it."
    )
    yield f"# {measured}; {'less' if is_upper else 'more'} is better."
    yield "[[bounds]]"
    yield f'metric = "{_quoted(row.metric)}"'
    yield f"{'at_most' if is_upper else 'at_least'} = {loose:.{_DIGITS}f}"
    yield f'looks_at = "{looks_at}"'


def _up(value: float) -> float:
    return math.ceil(value * _STEPS - 1e-9) / _STEPS


def _down(value: float) -> float:
    return math.floor(value * _STEPS + 1e-9) / _STEPS


def _quoted(text: str) -> str:
    """Text as a basic string of TOML."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
