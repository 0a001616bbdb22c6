"""What the verdicts of a part of a run add up to, and the summary that comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.records.columns import Ratings
from hallumeter.records.measurement import SUMMARY_VERSION, Counts, MetricSummary, Summary
from hallumeter.records.metric import Metric
from hallumeter.run.run_folder import decoded_partial, is_part, read_partial
from hallumeter.stats.agreement import (
    FEWEST_JUDGES,
    judge_accuracies,
    panel_fleiss_kappa,
    panel_gwet_ac1,
    prevalence_warning,
)
from hallumeter.stats.summarize import (
    Slice,
    SummarySettings,
    summarize_agreement,
    summarize_clusters,
    summarize_expected,
    summarize_rates,
    summarize_value,
)
from hallumeter.stats.tally import RateTally, rounded

from .catalog import (
    ABSTENTION_METRICS,
    CLAIM_METRICS,
    EXPECTED_METRICS,
    METRICS_BY_ID,
    UNCERTAINTY_METRICS,
)
from .measure.columns import CONSENSUS
from .measure.counts import Measured, panel_name
from .measure.tallies import (
    ASKED,
    JOINT,
    ConsensusTally,
    GroupTally,
    JudgeTally,
    check_joined,
    consensus_tally,
    group_tallies,
    merged_groups,
    questions_column,
)
from .metrics.consensus import ConsensusPart, mean_over_models
from .metrics.rates import ends_of_rate
from .profiles import headline_rows, profile_of
from .samples import SampleTally
from .settings import MeasureSettings

_CONSENSUS_PARTS: tuple[tuple[str, ConsensusPart, str], ...] = (
    ("consensus_precision", "precision", "all"),
    ("consensus_recall", "recall", "all"),
    ("consensus_f1", "f1", "all"),
    ("consensus_f1_others", "f1", "others"),
)
_CONSENSUS_COUNTS = 4
"""Precise and all claims of a model, consensus claims that it includes and all of them."""
AGREEMENT_IDS = ("fleiss_kappa", "observed_agreement", "krippendorff_alpha", "gwet_ac1")
ALL_JUDGES = "all judges"
NO_JOINT_PROBABILITY = "the joint verdict of several judges has no probability; see each judge"
_QUESTION_FIELDS = ("question", "question_id")
_FEW_MODELS = "needs the answers of several models to the same questions (field model)"
_NO_TEXT = "needs the text of each claim (field text) to see which claims are the same"
_NOT_SHARED = "no question is answered by two models; give the field question_id, or the same record_id for each model"
_SPLIT = (
    "the answers to one question may be in different parts of the run; "
    "give them the same record_id, or cut the run by question (--cluster question_id)"
)


class NoticeCounts(Struct, frozen=True):
    """What the notices of a summary are made of."""

    aliases: dict[str, str] = {}
    rows: dict[str, int] = {}
    """By a notice on rows: how many it is about."""
    failures: dict[str, int] = {}
    """By code."""
    verdicts: dict[str, int] = {}
    """By judge."""
    records_left_out: int = 0
    rows_passed_over: int = 0
    records_without_evidence: int = 0
    unaligned: int = 0
    """Claims without a place in their response."""
    instructed: int = 0
    """Verdicts on evidence that gives the judge instructions."""

    def merge(self, other: NoticeCounts) -> NoticeCounts:
        """Both together."""
        return NoticeCounts(
            dict(sorted((self.aliases | other.aliases).items())),
            _added(self.rows, other.rows),
            _added(self.failures, other.failures),
            _added(self.verdicts, other.verdicts),
            self.records_left_out + other.records_left_out,
            self.rows_passed_over + other.rows_passed_over,
            self.records_without_evidence + other.records_without_evidence,
            self.unaligned + other.unaligned,
            self.instructed + other.instructed,
        )


def _added(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in sorted({*first, *second})}


class ClaimsPartial(Struct, frozen=True, kw_only=True):
    """What the records of a part add up to."""

    instrument: str
    settings: MeasureSettings
    numbers: SummarySettings
    judges: tuple[str, ...]
    models: tuple[str, ...]
    counts: Counts
    notices: NoticeCounts = NoticeCounts()
    stated: dict[str, tuple[tuple[str, str], ...]] = {}
    """By judge: what signatures state of its verdicts, such as the threshold of its labels."""
    groups: tuple[GroupTally, ...]
    """The whole, then each group in the order of its values."""
    consensus: ConsensusTally = ConsensusTally()
    outcomes: int = 0
    """Of the distribution over most outcomes; 0 without one."""
    has_distributions: bool = False
    """Whether a distribution counts."""
    has_answers: bool = False
    """Whether it is known of some response that it could be given, or could not."""
    samples: SampleTally = SampleTally()

    @classmethod
    def of(
        cls,
        measured: Measured,
        settings: MeasureSettings,
        numbers: SummarySettings,
        *,
        instrument: str,
        counts: Counts,
        notices: NoticeCounts | None = None,
    ) -> ClaimsPartial:
        """What was counted, added up."""
        table = measured.table
        return cls(
            instrument=instrument,
            settings=settings,
            numbers=numbers,
            judges=table.judge_names,
            models=tuple(sorted(table.model_names)),
            counts=counts,
            notices=NoticeCounts().merge(notices or NoticeCounts()),
            stated=dict(sorted(table.stated.items())),
            groups=group_tallies(measured),
            consensus=consensus_tally(measured),
            outcomes=max((len(item.probabilities) for item in table.distributions), default=0),
            has_distributions=measured.uncertainties is not None,
            has_answers=bool(len(measured.answers)),
        )

    def merge(self, other: ClaimsPartial) -> ClaimsPartial:
        """Both parts together."""
        if (self.instrument, self.settings, self.numbers) != (other.instrument, other.settings, other.numbers):
            raise SettingsError("parts that were measured with different settings or versions cannot be merged")
        judges = self.judges if self.judges == other.judges else tuple(sorted({*self.judges, *other.judges}))
        check_joined(judges, self.settings.consensus)
        models = tuple(sorted({*self.models, *other.models}))
        (whole, *groups), (others_whole, *others) = (
            [group.for_judges(part.judges, judges) for group in part.groups] for part in (self, other)
        )
        is_by_question = self.settings.cluster in _QUESTION_FIELDS
        return ClaimsPartial(
            instrument=self.instrument,
            settings=self.settings,
            numbers=self.numbers,
            judges=judges,
            models=models,
            counts=_added_counts(self.counts, other.counts, judges=len(judges), models=len(models)),
            notices=self.notices.merge(other.notices),
            stated=dict(sorted((self.stated | other.stated).items())),
            groups=(whole.merge(others_whole), *merged_groups(groups, others)),
            consensus=self.consensus.merge(other.consensus, is_whole_by_question=is_by_question),
            outcomes=max(self.outcomes, other.outcomes),
            has_distributions=self.has_distributions or other.has_distributions,
            has_answers=self.has_answers or other.has_answers,
            samples=self.samples.merge(other.samples),
        )

    def to_bytes(self) -> bytes:
        """As JSON; equal partials give equal bytes."""
        return msgspec.json.encode(self)

    def summary(self) -> Summary:
        """Every metric with its interval, and the opinion that each policy forms of them."""
        if not is_part():
            self._check()
        rows = (*_Rows(self).all(), *self.samples.rows(self.settings.by, self.numbers))
        headlines = headline_rows(rows[: len(rows) - self.samples.size], self.headline)
        return Summary(
            version=SUMMARY_VERSION,
            instrument=self.instrument,
            counts=self.counts,
            metrics=rows,
            profile={policy.name: profile_of(policy, headlines) for policy in self.settings.policies},
            notices=tuple(_notices(self)),
        )

    @property
    def panel(self) -> dict[str, str]:
        """The judges in the order in which they are told, the headline first, by their keys in the tallies."""
        keys = {panel_name(self.judges): JOINT} if len(self.judges) > 1 else {}
        keys |= {judge: judge for judge in self.judges}
        first = self.settings.headline
        return {first: keys[first], **keys} if first in keys else keys

    @property
    def headline(self) -> str:
        """The judge whose verdicts the headline figures rest on."""
        return next(iter(self.panel), CONSENSUS)

    def _check(self) -> None:
        if self.settings.headline not in (None, CONSENSUS, *self.judges):
            known = ", ".join(self.judges)
            raise SettingsError(f"no verdict is by a judge called {self.settings.headline!r}; judges found: {known}")


def _added_counts(first: Counts, second: Counts, *, judges: int, models: int) -> Counts:
    return Counts(
        records=first.records + second.records,
        claims=first.claims + second.claims,
        verdicts=first.verdicts + second.verdicts,
        failures=first.failures + second.failures,
        records_without_claims=first.records_without_claims + second.records_without_claims,
        judges=judges,
        models=models,
    )


def partial_of(folder: Path) -> ClaimsPartial:
    """The partial that a finished run has kept."""
    return partial_from_bytes(read_partial(folder))


def partial_from_bytes(data: bytes) -> ClaimsPartial:
    """A partial as `ClaimsPartial.to_bytes` wrote it."""
    return decoded_partial(data, ClaimsPartial)


# Every metric for the whole run, then for each group.


class _Rows:
    """The rows of a summary."""

    def __init__(self, partial: ClaimsPartial) -> None:
        self._partial = partial
        self._numbers = partial.numbers

    def all(self) -> Iterator[MetricSummary]:
        for group in self._partial.groups:
            by = dict(zip(self._partial.settings.by, group.values, strict=False))
            yield from self._claims(group, by)
            yield from self._expected(group, by)
            if not by:
                yield from self._consensus()
            yield from self._agreement(group, by)
            yield from self._uncertainty(group, by)
            yield from self._abstention(group, by)

    def _claims(self, group: GroupTally, by: dict[str, str]) -> Iterator[MetricSummary]:
        for judge, key in self._partial.panel.items():
            mine = group.judges.get(key, JudgeTally())
            stated = (("joined", self._partial.settings.consensus),) if key == JOINT else self._stated(judge)
            part = Slice(by, judge, undecided=mine.undecided, failed=mine.failed, settings=stated)
            for metric in CLAIM_METRICS:
                found = mine.metric(metric.id)
                claimless = group.audited - mine.with_claims if metric.is_widened_by_claimless else 0
                bounds = ends_of_rate(found.ends, found.rates.pooled.value, claimless=claimless)
                yield summarize_rates(metric, found.rates, part, settings=self._numbers, bounds=bounds)

    def _expected(self, group: GroupTally, by: dict[str, str]) -> Iterator[MetricSummary]:
        """The expected share of each judge; the joint verdict of several has no probability."""
        for metric in EXPECTED_METRICS:
            for judge, key in self._partial.panel.items():
                mine = group.judges.get(key, JudgeTally())
                part = Slice(by, judge, undecided=mine.undecided, failed=mine.failed, settings=self._stated(judge))
                sums = mine.probabilities
                if sums is None:
                    why = NO_JOINT_PROBABILITY if key == JOINT else None
                    yield summarize_value(metric, None, part, settings=self._numbers, undefined=why)
                    continue
                named = _with_settings(metric, ("calibration_error", sums.calibration_error))
                expected, claims = rounded(sums.rates.count), sums.claims + mine.unknown
                yield summarize_expected(
                    named,
                    sums.rates,
                    part,
                    settings=self._numbers,
                    shifts=sums.shifts,
                    bounds=(expected / claims, (expected + mine.unknown) / claims),
                )

    def _stated(self, judge: str) -> tuple[tuple[str, str], ...]:
        return self._partial.stated.get(judge, ())

    def _consensus(self) -> Iterator[MetricSummary]:
        """Precision, recall and F1 of each model, and their means over models for the run."""
        models, tally = self._partial.models, self._partial.consensus
        undefined = _why_no_consensus(models, tally)
        for name, part, vote in _CONSENSUS_PARTS:
            metric = METRICS_BY_ID[name]
            if undefined is not None:
                yield summarize_value(metric, None, Slice({}, None), settings=self._numbers, undefined=undefined)
                continue
            metric = _with_identity(metric, self._partial.settings.similarity)
            columns = [questions_column(vote, number, model) for model in models for number in range(_CONSENSUS_COUNTS)]
            table = tally.counts.table([ASKED, *columns])
            yield self._consensus_mean(metric, table[:, 1:], part=part, questions=int(table[:, 0].sum()))
            sums = table[:, 1:].sum(axis=0).reshape(len(models), _CONSENSUS_COUNTS).astype(np.float64)
            for model, counts in zip(models, sums, strict=True):
                yield self._consensus_row(metric, model, counts, part=part)

    def _consensus_mean(
        self, metric: Metric, clusters: NDArray[np.int64], *, part: ConsensusPart, questions: int
    ) -> MetricSummary:
        """The mean over models, with questions as the unit of resampling."""

        def statistic(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            return mean_over_models(rows.reshape(len(rows), -1, _CONSENSUS_COUNTS), part=part)

        row = summarize_clusters(metric, clusters, Slice({}, None), settings=self._numbers, statistic=statistic)
        return structs.replace(row, total=float(questions))

    def _consensus_row(
        self, metric: Metric, model: str, counts: NDArray[np.float64], *, part: ConsensusPart
    ) -> MetricSummary:
        value = float(mean_over_models(counts[np.newaxis], part=part))
        pair = {"precision": counts[:2], "recall": counts[2:]}.get(part)
        return summarize_value(
            metric,
            None if math.isnan(value) else value,
            Slice({"model": model}, None),
            settings=self._numbers,
            counts=None if pair is None else (float(pair[0]), float(pair[1])),
        )

    def _agreement(self, group: GroupTally, by: dict[str, str]) -> Iterator[MetricSummary]:
        names = self._partial.judges
        if len(names) < 2:
            return
        ratings = group.ratings(names)
        warning = prevalence_warning(panel_fleiss_kappa(ratings), panel_gwet_ac1(ratings))
        for name in AGREEMENT_IDS:
            row = summarize_agreement(METRICS_BY_ID[name], ratings, Slice(by, ALL_JUDGES), settings=self._numbers)
            yield structs.replace(row, note=warning) if name == "fleiss_kappa" else row
        for first, second in combinations(range(len(names)), 2):
            pair = Slice(by, f"{names[first]} & {names[second]}")
            judges = {"first": first, "second": second}
            yield summarize_agreement(
                METRICS_BY_ID["cohen_kappa"], ratings, pair, settings=self._numbers, judges=judges
            )
        sensitivity, specificity = METRICS_BY_ID["judge_sensitivity"], METRICS_BY_ID["judge_specificity"]
        for name, accuracy in zip(names, judge_accuracies(ratings), strict=True):
            yield summarize_value(sensitivity, accuracy.sensitivity, Slice(by, name), settings=self._numbers)
            yield summarize_value(specificity, accuracy.specificity, Slice(by, name), settings=self._numbers)
        if not by:  # a judge is kept or dropped for the whole run
            yield from self._left_out(ratings)

    def _left_out(self, ratings: Ratings) -> Iterator[MetricSummary]:
        """How each judge agrees with the others, and how they agree without it."""
        beside = METRICS_BY_ID["agreement_with_others"]
        for column, name in enumerate(ratings.judges):
            part = Slice({}, name)
            yield summarize_rates(beside, beside.compute(ratings, column), part, settings=self._numbers)
            if len(ratings.judges) >= FEWEST_JUDGES:
                for metric in (METRICS_BY_ID["alpha_without"], METRICS_BY_ID["alpha_gain_without"]):
                    yield summarize_agreement(metric, ratings, part, settings=self._numbers, judges={"judge": column})

    def _uncertainty(self, group: GroupTally, by: dict[str, str]) -> Iterator[MetricSummary]:
        partial = self._partial
        if not partial.has_distributions:
            return
        part = Slice(by, partial.judges[0] if len(partial.judges) == 1 else ALL_JUDGES)
        largest = max(math.log(partial.outcomes), 1.0)  # of the entropy; the other methods stay below it
        for metric in UNCERTAINTY_METRICS:
            named = _with_settings(metric, ("method", partial.settings.uncertainty))
            rates = group.uncertainty.get(metric.id, RateTally())
            yield summarize_rates(named, rates, part, settings=self._numbers, largest=largest)

    def _abstention(self, group: GroupTally, by: dict[str, str]) -> Iterator[MetricSummary]:
        if self._partial.has_answers:
            for metric in ABSTENTION_METRICS:
                rates = group.answers.get(metric.id, RateTally())
                yield summarize_rates(metric, rates, Slice(by, None), settings=self._numbers)


def _why_no_consensus(models: Sequence[str], tally: ConsensusTally) -> str | None:
    if len(models) < 2:
        return _FEW_MODELS
    if not (tally.has_statements if tally.is_by_record else tally.has_questions):
        return _NO_TEXT
    if tally.is_split and not tally.is_by_record:
        return _SPLIT
    return None if ASKED in tally.counts.columns else _NOT_SHARED


def _with_settings(metric: Metric, *stated: tuple[str, str]) -> Metric:
    return structs.replace(metric, settings=(*metric.settings, *stated))


def _with_identity(metric: Metric, similarity: float | None) -> Metric:
    if similarity is None:
        return metric
    others = ((name, value) for name, value in metric.settings if name != "identity")
    return structs.replace(metric, settings=(*others, ("identity", f"fuzzy-{similarity:g}")))


# What a reader must know before reading the numbers.

MOST_FAILURES = 100_000
"""Failures of one run that are kept with their messages; more are only counted."""


def _notices(partial: ClaimsPartial) -> Iterator[str]:
    return _notices_of_measure(partial) if partial.instrument == "measure" else _notices_of_audit(partial)


def _notices_of_measure(partial: ClaimsPartial) -> Iterator[str]:
    counted = partial.notices
    yield from (f"{alias!r} was read as {name}" for alias, name in counted.aliases.items())
    for code, number in counted.failures.items():
        yield f"{number} {'row' if number == 1 else 'rows'} could not be used: {code}"
    omitted = sum(counted.failures.values()) - MOST_FAILURES
    if omitted > 0:
        yield f"{omitted} of these faults are counted without their messages"
    if partial.headline not in partial.judges and partial.judges:
        yield f"headline figures rest on the consensus of {len(partial.judges)} judges"
    if not partial.judges:
        yield "no verdict was found: claim metrics are left out"


def _notices_of_audit(partial: ClaimsPartial) -> Iterator[str]:
    counted = partial.notices
    # The guide asks for the id under this name.
    yield from (f"{alias!r} was read as {name}" for alias, name in counted.aliases.items() if alias != "id")
    yield from (f"{notice}: {_counted(number, 'row')}" for notice, number in counted.rows.items())
    if counted.records_left_out:
        yield f"{_counted(counted.records_left_out, 'record')} left out by --sample"
    if counted.rows_passed_over:
        yield f"{_counted(counted.rows_passed_over, 'row')} passed over: the response stands on an earlier row"
    if counted.records_without_evidence:
        yield f"{_counted(counted.records_without_evidence, 'record')} came without evidence"
    if counted.unaligned:
        yield f"{_counted(counted.unaligned, 'claim')} not found in the response, so without a place in it"
    if counted.instructed:
        verdicts = _counted(counted.instructed, "verdict")
        yield f"{verdicts} on evidence that gives the judge instructions; read them yourself"
    for code, number in counted.failures.items():
        yield f"{_counted(number, 'failure')}: {code}"
    if len(partial.judges) > 1:
        yield from _notices_of_panel(partial)


def _notices_of_panel(partial: ClaimsPartial) -> Iterator[str]:
    """Whose votes are missing, and whose count."""
    claims = partial.counts.claims
    for judge in partial.judges:
        if silent := claims - partial.notices.verdicts.get(judge, 0):
            yield f"{judge} gave no verdict on {silent:,} of {_counted(claims, 'claim')}"
    if partial.headline not in partial.judges:
        yield f"headline figures rest on the consensus of {len(partial.judges)} judges"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
