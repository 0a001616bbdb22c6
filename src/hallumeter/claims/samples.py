"""What a model says when it is asked again: the meanings of its samples, and the probabilities of its own tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import RecordError
from hallumeter.models.vectors import encode, encoder_name
from hallumeter.records.claim import Claim, Failure, Label
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.measurement import NO_VALUE, Measurement, MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.records.response import FieldValue, Passage, Response, check_logprobs
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates
from hallumeter.stats.tally import Exact, RateTally, added, exact_sum, rounded
from hallumeter.text.normalize import claim_key

from .catalog import SAMPLE_METRICS
from .measure.columns import order_of_values
from .measure.table import FieldIndex
from .metrics.samples import MeaningColumns, TokenColumns, clusters_of_equivalent
from .settings import MeasureSettings

# Whether two answers mean the same: by their vectors, or by a judge asked in both directions.

STEP = "samples"
SAME_MEANING_COSINE = 0.8
"""From 0.75 to 0.85 marked errors are told about equally well, which is not very: see the table that
benchmarks/sample_consistency_validity.py prints."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Equivalence(Protocol):
    """Decides whether two answers mean the same."""

    @property
    def name(self) -> str:
        """As it stands in signatures; changes whenever a decision could."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether it waits for something outside."""
        ...

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:
        """Tells of two answers by their places whether they mean the same; raises `CannotTellError`."""
        ...


class CannotTellError(Exception):
    """Two answers could not be compared."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class VectorEquivalence:
    """Two answers mean the same when they are typed the same, or when the cosine of their vectors is large enough.

    Vectors hardly see a changed number, so answers of which each has a number that the other lacks are different.
    """

    def __init__(self, threshold: float = SAME_MEANING_COSINE) -> None:
        self._threshold = threshold
        self._name = f"vectors:{encoder_name()}@{threshold:g}"

    @property
    def name(self) -> str:
        """The encoder and the smallest cosine."""
        return self._name

    @property
    def is_remote(self) -> bool:
        """It works on this machine."""
        return False

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:  # noqa: ARG002
        """Compares by the vectors of all answers, encoded together."""
        vectors = encode(answers)
        numbers = [set(_NUMBER.findall(answer)) for answer in answers]

        def is_same(one: int, other: int) -> bool:
            if (found := _same_at_sight(answers[one], answers[other])) is not None:
                return found
            if numbers[one] - numbers[other] and numbers[other] - numbers[one]:
                return False
            return float(vectors[one] @ vectors[other]) >= self._threshold

        return is_same


class JudgeEquivalence:
    """Two answers mean the same when a judge finds that each supports the other."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def name(self) -> str:
        """The judge, and a hash of its settings."""
        spec = self._judge.spec
        return f"both-ways:{spec.name}-{spec.digest.hex()[:8]}"

    @property
    def is_remote(self) -> bool:
        """Whether the judge is."""
        return self._judge.spec.is_remote

    def comparison(self, response: Response, answers: Sequence[str]) -> Callable[[int, int], bool]:
        """Asks the judge in both directions, unless the texts or the first direction tell already."""

        def is_same(one: int, other: int) -> bool:
            if (found := _same_at_sight(answers[one], answers[other])) is not None:
                return found
            return self._follows(response, answers, (one, other)) and self._follows(response, answers, (other, one))

        return is_same

    def _follows(self, response: Response, answers: Sequence[str], places: tuple[int, int]) -> bool:
        """Whether the first answer supports the second."""
        record_id, (premise, claimed) = response.record_id, (answers[place] for place in places)
        claim = Claim(record_id, f"{record_id}~{places[0]}~{places[1]}", start=0, end=len(claimed), text=claimed)
        asked = Response(record_id, response.question, claimed, evidence=(Passage(f"answer {places[0]}", premise),))
        try:
            said = self._judge.judge(JudgeTask(asked, (claim,)))[0]
        except Exception as error:
            # What a remote judge raises ends the run, which can be resumed.
            if self.is_remote:
                raise
            raise CannotTellError(
                self._failure(record_id, "judge_error", f"{type(error).__name__}: {error}")
            ) from error
        if isinstance(said, Failure):
            raise CannotTellError(structs.replace(said, claim_id=None, step=STEP))
        if said.label is Label.UNDECIDED:
            message = f"the judge could not tell whether two answers mean the same ({said.reason or 'no reason given'})"
            raise CannotTellError(self._failure(record_id, "undecided", message))
        return said.label is Label.SUPPORTED

    def _failure(self, record_id: str, code: str, message: str) -> Failure:
        return Failure(record_id, None, STEP, self._judge.spec.name, code, message)


def _same_at_sight(one: str, other: str) -> bool | None:
    """What the texts alone tell: typed alike is the same, nothing is not the same as something; else None."""
    keys = claim_key(one), claim_key(other)
    if keys[0] == keys[1]:
        return True
    return None if all(keys) else False


class SampleReading(Struct, frozen=True):
    """What was found about the samples and the token log-probabilities of one record."""

    record_id: str
    samples: int = 0
    meanings: tuple[int, ...] = ()
    """Of the response, then of each sample; empty without samples, or when they could not be compared."""
    tokens: int = 0
    surprisal: float = 0.0
    """Sum over the tokens, in nats."""
    least_probability: float | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def are_meanings_missing(self) -> bool:
        """Whether there are samples that could not be compared."""
        return self.samples > 0 and not self.meanings

    @property
    def are_tokens_refused(self) -> bool:
        """Whether there were log-probabilities that cannot be any."""
        return any(failure.code == "bad_logprobs" for failure in self.failures)


class SampleReader(Struct, frozen=True):
    """Reads records; without an equivalence, their token log-probabilities only."""

    equivalence: Equivalence | None

    @property
    def is_remote(self) -> bool:
        """Whether reading may cost something."""
        return self.equivalence is not None and self.equivalence.is_remote

    def has_work(self, response: Response) -> bool:
        """Whether there is anything to read in a record."""
        return bool(response.token_logprobs) or self.needs_text(response)

    def needs_text(self, response: Response) -> bool:
        """Whether the texts of a record are compared, and not only the numbers of its tokens read."""
        return self.equivalence is not None and bool(response.samples)

    def read(self, response: Response) -> SampleReading:
        """Everything that its samples and token log-probabilities tell; what broke stands among the failures."""
        reading = _with_tokens(SampleReading(response.record_id), response)
        if self.equivalence is None or not response.samples:
            return reading
        reading = structs.replace(reading, samples=len(response.samples))
        if response.response is None:
            message = "the record has samples but no response to compare them with"
            failure = Failure(response.record_id, None, STEP, None, "no_response", message)
            return structs.replace(reading, failures=(*reading.failures, failure))
        answers = (response.response, *response.samples)
        try:
            is_same = self.equivalence.comparison(response, answers)
            return structs.replace(reading, meanings=tuple(clusters_of_equivalent(len(answers), is_same)))
        except CannotTellError as error:
            return structs.replace(reading, failures=(*reading.failures, error.failure))


def _with_tokens(reading: SampleReading, response: Response) -> SampleReading:
    if not response.token_logprobs:
        return reading
    try:
        check_logprobs(response.token_logprobs)
    except RecordError as error:
        failure = Failure(response.record_id, None, STEP, None, "bad_logprobs", str(error))
        return structs.replace(reading, failures=(failure,))
    columns = TokenColumns.of([response.token_logprobs])
    return structs.replace(
        reading,
        tokens=int(columns.tokens[0]),
        surprisal=float(columns.surprisal[0]),
        least_probability=float(columns.least_probability[0]),
    )


# From readings of samples to rows of a summary and to measurements.


class SampleMetricTally(Struct, frozen=True):
    """What a metric of samples or of tokens adds up to over some readings."""

    rates: RateTally = RateTally()
    failed: int = 0
    """Readings that it could not be read of."""
    low: Exact = ()
    """The least that these could have counted, the most, and their totals."""
    high: Exact = ()
    total: Exact = ()

    def merge(self, other: SampleMetricTally) -> SampleMetricTally:
        """Both together."""
        return SampleMetricTally(
            self.rates.merge(other.rates),
            self.failed + other.failed,
            added(self.low, other.low),
            added(self.high, other.high),
            added(self.total, other.total),
        )


class SampleGroup(Struct, frozen=True):
    """The readings of a group, or of all records."""

    values: tuple[str, ...]
    answers: int
    """Of the record that has most, the response and its samples."""
    metrics: dict[str, SampleMetricTally]

    def merge(self, other: SampleGroup) -> SampleGroup:
        """Both together."""
        metrics = {
            metric: self.metrics[metric].merge(other.metrics[metric]) for metric in self.metrics.keys() & other.metrics
        }
        return SampleGroup(self.values, max(self.answers, other.answers), dict(sorted(metrics.items())))


class SampleTally(Struct, frozen=True):
    """What the readings of samples and tokens add up to, for the whole run and for each group."""

    equivalence: str | None = None
    """Who compared samples; None leaves their metrics out."""
    has_tokens: bool = False
    """Whether some record has tokens; else their metrics are left out."""
    groups: tuple[SampleGroup, ...] = ()
    """The whole, then each group in the order of its values; empty without readings."""

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that a summary has of it."""
        wanted = {"meanings": self.equivalence is not None, "token_logprobs": self.has_tokens}
        return [metric for metric in SAMPLE_METRICS if wanted[metric.reads]]

    @property
    def size(self) -> int:
        """How many rows a summary has of it."""
        return len(self.groups) * len(self.metrics)

    def merge(self, other: SampleTally) -> SampleTally:
        """Both together."""
        found: dict[tuple[str, ...], SampleGroup] = {}
        for group in (*self.groups, *other.groups):
            known = found.get(group.values)
            found[group.values] = group if known is None else known.merge(group)
        groups = tuple(found[values] for values in sorted(found, key=order_of_values))
        return SampleTally(self.equivalence or other.equivalence, self.has_tokens or other.has_tokens, groups)

    def rows(self, by: Sequence[str], settings: SummarySettings) -> Iterator[MetricSummary]:
        """The metrics for the whole run, then for each group."""
        for group in self.groups:
            for metric in self.metrics:
                yield self._row(metric, group, dict(zip(by, group.values, strict=False)), settings=settings)

    def _row(
        self, metric: Metric, group: SampleGroup, by: dict[str, str], *, settings: SummarySettings
    ) -> MetricSummary:
        mine, answers = group.metrics[metric.id], group.answers
        judge = self.equivalence if metric.reads == "meanings" else None
        largest = {"semantic_entropy": math.log(max(answers, 2)), "meanings_per_response": float(answers)}
        part = Slice(by, judge, failed=mine.failed)
        row = summarize_rates(metric, mine.rates, part, settings=settings, largest=largest.get(metric.id))
        row = structs.replace(row, judge=None)  # who compared samples judged no claim; the signature names it
        return structs.replace(row, bounds=_bounds(metric, mine)) if mine.failed else row


def _bounds(metric: Metric, tally: SampleMetricTally) -> tuple[float, float] | None:
    """The values possible if all that could not be read had turned out lowest, and highest; None where none is."""
    if metric.id not in _MISSING_READINGS:
        return None
    pooled = tally.rates.pooled
    total = pooled.total + rounded(tally.total)
    return (pooled.count + rounded(tally.low)) / total, (pooled.count + rounded(tally.high)) / total


_MISSING_READINGS: dict[str, Callable[[int], tuple[float, float, float]]] = {
    "semantic_entropy": lambda samples: (0.0, math.log(samples + 1), 1.0),
    "sample_consistency": lambda samples: (0.0, float(samples), float(samples)),
    "meanings_per_response": lambda samples: (1.0, samples + 1.0, 1.0),
    "least_token_probability": lambda _: (0.0, 1.0, 1.0),
}
"""By metric: the least and the most that a record with so many samples could have counted, and of what total."""


def _group_of(
    values: tuple[str, ...], readings: Sequence[SampleReading], clusters: NDArray[np.intp] | None
) -> SampleGroup:
    metrics = {}
    for metric in SAMPLE_METRICS:
        rates = _rates(metric, readings)
        pooled = rates if clusters is None else rates.pooled_by(clusters)
        missing = [reading.samples for reading in readings if _is_missing(metric, reading)]
        could = _MISSING_READINGS.get(metric.id)
        low, high, total = zip(*map(could, missing), strict=True) if could and missing else ((), (), ())
        metrics[metric.id] = SampleMetricTally(
            RateTally.of(pooled), len(missing), exact_sum(low), exact_sum(high), exact_sum(total)
        )
    answers = max((reading.samples + 1 for reading in readings), default=1)
    return SampleGroup(values, answers, dict(sorted(metrics.items())))


def sample_measurements(
    readings: Sequence[SampleReading], by: Sequence[dict[str, str]] = (), *, equivalence: str | None
) -> Iterator[Measurement]:
    """The same metrics of every record that has samples, or tokens."""
    metrics = SampleTally(equivalence, _has_tokens(readings)).metrics
    columns = [(metric, _rates(metric, readings)) for metric in metrics]
    for number, reading in enumerate(readings):
        for metric, rates in columns:
            rate, is_missing = rates[number : number + 1].pooled, _is_missing(metric, reading)
            if not rate.total and not is_missing:
                continue
            yield Measurement(
                metric=metric.id,
                scope="record",
                record_id=reading.record_id,
                by=by[number] if by else {},
                judge=None,
                count=rate.count,
                total=rate.total,
                value=rate.value,
                undefined="it could not be read: see the failures" if is_missing else None,
            )


def _has_tokens(readings: Sequence[SampleReading]) -> bool:
    return any(reading.tokens or reading.are_tokens_refused for reading in readings)


def _rates(metric: Metric, readings: Sequence[SampleReading]) -> Rates:
    rates: Rates
    if metric.reads == "meanings":
        rates = metric.compute(MeaningColumns.of(reading.meanings for reading in readings))
    else:
        columns = TokenColumns(
            np.array([reading.tokens for reading in readings], dtype=np.int64),
            np.array([reading.surprisal for reading in readings], dtype=np.float64),
            np.array([reading.least_probability or 0.0 for reading in readings], dtype=np.float64),
        )
        rates = metric.compute(columns)
    return rates


def _is_missing(metric: Metric, reading: SampleReading) -> bool:
    return reading.are_meanings_missing if metric.reads == "meanings" else reading.are_tokens_refused


# Readings of the samples of a run, with what they are grouped by.


class SampleTable:
    """Readings of samples with what they are grouped by."""

    def __init__(self, settings: MeasureSettings, equivalence: str | None) -> None:
        self._settings = settings
        self._equivalence = equivalence
        self._readings: list[SampleReading] = []
        self._by: list[dict[str, str]] = []
        self._clusters: list[int] = []
        self._index = FieldIndex()

    def add(self, response: Response, reading: SampleReading) -> None:
        """Take the reading of one response."""
        self._readings.append(reading)
        known = response.fields | {"model": response.model, "question": response.question}
        self._by.append({field: self._text(known.get(field)) for field in self._settings.by})
        if self._settings.cluster != "response":
            value = known.get(self._settings.cluster)
            code = int(self._index.encode([value])[0])
            self._clusters.append(code if value is not None else -1 - len(self._clusters))

    @property
    def failures(self) -> Iterator[Failure]:
        """What could not be compared."""
        return (failure for reading in self._readings for failure in reading.failures)

    def tally(self) -> SampleTally:
        """What the samples add to a summary."""
        readings = self._readings
        if not readings:
            return SampleTally(self._equivalence)
        members: dict[tuple[str, ...], list[int]] = {(): list(range(len(readings)))}
        if self._settings.by:
            for number, by in enumerate(self._by):
                members.setdefault(tuple(by.values()), []).append(number)
        clusters = np.array(self._clusters) if self._clusters else None
        groups = [
            _group_of(
                values,
                [readings[number] for number in chosen],
                None if clusters is None else np.unique(clusters[chosen], return_inverse=True)[1],
            )
            for values, chosen in sorted(members.items(), key=lambda item: order_of_values(item[0]))
        ]
        return SampleTally(self._equivalence, _has_tokens(readings), tuple(groups))

    def measurements(self) -> Iterator[Measurement]:
        """What the samples add to the measurements of single records."""
        return sample_measurements(self._readings, self._by, equivalence=self._equivalence)

    def _text(self, value: FieldValue) -> str:
        return NO_VALUE if value in (None, "") else self._index.names[int(self._index.encode([value])[0])]
