"""What a stress test found, and the same for a person: a table of each judge, readable in a pipe as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.challenge.mutations.protocol import CONTROL_KINDS, ERROR_KINDS
from hallumeter.claims.measure.columns import consensus_labels
from hallumeter.claims.settings import MeasureSettings
from hallumeter.records.claim import Failure, Verdict
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.report.table import Column, Line, Table, left, right, terminal, terminal_width
from hallumeter.report.wording import NO_VALUE, format_number, format_pair, interval_words, plural
from hallumeter.stats.bootstrap import bootstrap_statistic, cluster_bootstrap_interval
from hallumeter.stats.intervals import wilson_interval

from .cases import UNCHANGED, Case, Origin

STRESS_VERSION = 1
"""Of the form of the result."""


class KindResult(Struct, frozen=True):
    """What a judge said of the claims that were edited in one way."""

    kind: str
    is_error: bool
    n: int
    """Claims of this kind."""
    caught: int
    """Claims that the judge called REFUTED or NOT_ENOUGH_INFO."""
    undecided: int
    failed: int
    counted: int
    """What the rate counts: errors that were caught; of all others, claims that were not called SUPPORTED."""
    total: int
    """Claims on which the judge gave a verdict: all but the failed."""
    value: float | None
    """The recall of an error, the rate of false alarms of anything else."""
    interval: tuple[float, float] | None
    """By Wilson's score."""
    undefined: str | None
    """Why there is no value; None when there is one."""
    localised: int = 0
    """Caught errors whose place, as the judge gives it, touches what was changed."""
    located: int = 0
    """Caught errors for which the judge gives a place smaller than the claim."""


class Score(Struct, frozen=True):
    """A figure over several kinds."""

    value: float | None
    interval: tuple[float, float] | None
    interval_method: str | None
    undefined: str | None
    """Why there is no value; None when there is one."""


class JudgeResult(Struct, frozen=True):
    """What one judge was worth."""

    judge: str
    mutation_score: Score
    """The mean of the recalls of all kinds of errors, each kind counting the same."""
    false_alarms: Score
    """The share of unchanged claims and controls, taken together, that were not called SUPPORTED."""
    kinds: tuple[KindResult, ...]
    """Errors first, then the unchanged claims and the controls."""


class StressResult(Struct, frozen=True):
    """What a stress test found."""

    version: int
    hallumeter: str
    """The version of the package."""
    claims_from: Origin
    claims: int
    """That were edited."""
    claims_available: int
    claims_skipped: int
    """Claims that are no prose of 2 to 40 words."""
    records: int
    """That the claims belong to."""
    records_read: int
    cases: int
    """Claims that were judged, edited or not."""
    seed: int
    confidence: float
    resamples: int
    judges: tuple[JudgeResult, ...]
    """With several judges, the majority of them stands last."""
    notices: tuple[str, ...] = ()


def kind_result(kind: str, outcomes: list[Outcome], *, is_error: bool, confidence: float) -> KindResult:
    """Count what was said of the claims of one kind."""
    failed = sum(outcome.label is None for outcome in outcomes)
    undecided = sum(outcome.label == "UNDECIDED" for outcome in outcomes)
    caught = sum(outcome.is_caught for outcome in outcomes)
    counted = caught if is_error else caught + undecided
    total = len(outcomes) - failed
    interval = wilson_interval(counted, total, confidence=confidence)
    reason = None if total else "no claim could be edited in this way" if not outcomes else "no verdict was given"
    located = [outcome for outcome in outcomes if outcome.is_caught and outcome.touches is not None]
    return KindResult(
        kind=kind,
        is_error=is_error,
        n=len(outcomes),
        caught=caught,
        undecided=undecided,
        failed=failed,
        counted=counted,
        total=total,
        value=counted / total if total else None,
        interval=None if interval is None else (interval.low, interval.high),
        undefined=reason,
        localised=sum(outcome.touches is True for outcome in located),
        located=len(located),
    )


class Outcome(Struct, frozen=True):
    """What a judge said of one case."""

    label: str | None
    """None when it failed."""
    touches: bool | None = None
    """Whether the place that the judge gives touches what was changed; None when it gives none."""

    @property
    def is_caught(self) -> bool:
        """Whether the judge called the claim unsupported."""
        return self.label in {"REFUTED", "NOT_ENOUGH_INFO"}


# From verdicts to what each judge is worth.

CONSENSUS = "consensus"
_LABELS = {code: label.value for label, code in LABEL_CODES.items()}

Said = Sequence[Verdict | Failure | None]
"""What a judge said of every case; None where it was not asked."""


def judge_results(
    cases: Sequence[Case], said: Mapping[str, Said], settings: MeasureSettings
) -> tuple[JudgeResult, ...]:
    """What each judge is worth, and with several the majority of them."""
    outcomes = {judge: [_outcome(*pair) for pair in zip(cases, own, strict=True)] for judge, own in said.items()}
    if len(said) > 1:
        outcomes[CONSENSUS] = _majority(list(said.values()))
    return tuple(_judge_result(judge, cases, own, settings=settings) for judge, own in outcomes.items())


def _outcome(case: Case, verdict: Verdict | Failure | None) -> Outcome:
    if not isinstance(verdict, Verdict):
        return Outcome(None)
    touches = None
    mutation = case.mutation
    is_place = verdict.start is not None and verdict.end is not None
    if mutation is not None and mutation.start is not None and mutation.end is not None and is_place:
        first, last = verdict.start or 0, verdict.end or 0
        # A place that is the whole claim says nothing about where.
        if last - first < len(case.text.rstrip(" .")):
            touches = first < mutation.end and last > mutation.start
    return Outcome(verdict.label.value, touches)


def _majority(said: list[Said]) -> list[Outcome]:
    codes = [[LABEL_CODES[item.label] if isinstance(item, Verdict) else FAILED_CODE for item in own] for own in said]
    labels = consensus_labels(np.array(codes, dtype=np.int8).T)
    return [Outcome(_LABELS.get(int(code))) for code in labels]


def _judge_result(
    judge: str, cases: Sequence[Case], outcomes: list[Outcome], *, settings: MeasureSettings
) -> JudgeResult:
    kinds = tuple(
        kind_result(
            kind,
            [outcome for case, outcome in zip(cases, outcomes, strict=True) if case.kind == kind],
            is_error=kind in ERROR_KINDS,
            confidence=settings.confidence,
        )
        for kind in (*ERROR_KINDS, UNCHANGED, *CONTROL_KINDS)
    )
    tables = _Tables(cases, outcomes)
    return JudgeResult(judge, _mutation_score(kinds, tables, settings), _false_alarms(kinds, tables, settings), kinds)


class _Tables:
    """Counts by record, which is what is drawn again."""

    def __init__(self, cases: Sequence[Case], outcomes: list[Outcome]) -> None:
        names = {name: place for place, name in enumerate(dict.fromkeys(_record(case) for case in cases))}
        self.errors: NDArray[np.int64] = np.zeros((len(names), 2 * len(ERROR_KINDS)), dtype=np.int64)
        """For each record and kind of error: caught, and not caught."""
        self.alarms: NDArray[np.float64] = np.zeros((len(names), 2))
        """For each record: false alarms, and all unchanged claims and controls with a verdict."""
        for case, outcome in zip(cases, outcomes, strict=True):
            if outcome.label is None:
                continue
            record = names[_record(case)]
            if case.is_error:
                self.errors[record, 2 * ERROR_KINDS.index(case.kind) + (not outcome.is_caught)] += 1
            else:
                self.alarms[record] += (outcome.label != "SUPPORTED", 1)


def _record(case: Case) -> str:
    return case.source.response.record_id


def _mutation_score(kinds: tuple[KindResult, ...], tables: _Tables, settings: MeasureSettings) -> Score:
    recalls = [kind.value for kind in kinds if kind.is_error and kind.value is not None]
    if not recalls:
        return Score(None, None, None, "no verdict was given on an error")
    interval = bootstrap_statistic(
        tables.errors,
        _mean_recall,
        rng=np.random.default_rng(settings.seed),
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    ends = None if interval is None else (interval.low, interval.high)
    return Score(sum(recalls) / len(recalls), ends, None if interval is None else interval.method, None)


def _mean_recall(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the recalls of the kinds that a resample has; NaN where it has none."""
    caught, missed = weights[:, 0::2], weights[:, 1::2]
    totals = caught + missed
    shares = np.divide(caught, totals, out=np.zeros_like(caught), where=totals > 0)
    present = (totals > 0).sum(axis=1)
    mean: NDArray[np.float64] = np.divide(
        shares.sum(axis=1), present, out=np.full(len(weights), np.nan), where=present > 0
    )
    return mean


def _false_alarms(kinds: tuple[KindResult, ...], tables: _Tables, settings: MeasureSettings) -> Score:
    counted = sum(kind.counted for kind in kinds if not kind.is_error)
    total = sum(kind.total for kind in kinds if not kind.is_error)
    if not total:
        return Score(None, None, None, "no verdict was given on an unchanged claim or a control")
    interval = cluster_bootstrap_interval(
        tables.alarms[:, 0],
        tables.alarms[:, 1],
        rng=np.random.default_rng(settings.seed),
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    ends = None if interval is None else (interval.low, interval.high)
    return Score(counted / total, ends, None if interval is None else interval.method, None)


_ORIGINS = {
    "given": "claims that the input labels SUPPORTED",
    "evidence": "sentences of the evidence, which supports them by construction",
}


def result_text(result: StressResult, form: str) -> str:
    """A result as ``text`` for the terminal, or as ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    return terminal(_parts(result), **terminal_width())


def _parts(result: StressResult) -> Iterator[Table | Line]:
    of_all = f" of {result.claims_available:,}" if result.claims_available > result.claims else ""
    skipped = f" · {result.claims_skipped:,} skipped (no prose)" if result.claims_skipped else ""
    read = f" of {result.records_read:,}" if result.records_read > result.records else ""
    yield Line(f"{result.claims:,}{of_all} {_ORIGINS[result.claims_from]}{skipped}", "bold")
    yield Line(
        f"from {result.records:,}{read} {'record' if result.records == 1 and not read else 'records'} · "
        f"{plural(result.cases, 'claim')} judged, edited or not · seed {result.seed}",
        "bold",
    )
    for judge in result.judges:
        yield from _judge_parts(judge, result.confidence)


def _judge_parts(judge: JudgeResult, confidence: float) -> Iterator[Table | Line]:
    title = f"{judge.judge}: mutation score {_score(judge.mutation_score)}"
    errors = [kind for kind in judge.kinds if kind.is_error and kind.n]
    columns = [*_columns(("error", "caught", "recall"), confidence, errors), *right("located")]
    rows = [
        [*_cells(kind, errors), f"{kind.localised:,} / {kind.located:,}" if kind.located else NO_VALUE]
        for kind in errors
    ]
    yield Table(columns, rows, title) if rows else Line(title)
    controls = [kind for kind in judge.kinds if not kind.is_error and kind.n]
    yield Table(
        _columns(("same meaning", "alarms", "rate"), confidence, controls),
        [_cells(kind, controls) for kind in controls],
        f"{judge.judge}: false alarms {_score(judge.false_alarms)}",
    )
    absent = [kind for kind in judge.kinds if kind.value is None]
    for reason in dict.fromkeys(kind.undefined for kind in absent):
        names = ", ".join(kind.kind for kind in absent if kind.undefined == reason)
        yield Line(f"undefined: {names}: {reason}", "dim")


def _columns(names: tuple[str, str, str], confidence: float, kinds: Sequence[KindResult]) -> list[Column]:
    first, counted, rate = names
    numbers = right("claims", counted, *_missing(kinds), rate)
    return [*left(first), *numbers, *left(interval_words(confidence))]


def _missing(kinds: Sequence[KindResult]) -> list[str]:
    """Which of undecided and failed there are, and need a column."""
    return [name for name in ("undecided", "failed") if any(getattr(kind, name) for kind in kinds)]


def _cells(kind: KindResult, kinds: Sequence[KindResult]) -> tuple[str, ...]:
    missing = (getattr(kind, name) for name in _missing(kinds))
    return (
        kind.kind,
        f"{kind.n:,}",
        f"{kind.counted:,}",
        *(f"{count:,}" if count else "" for count in missing),
        NO_VALUE if kind.value is None else format_number(kind.value),
        format_pair(kind.interval),
    )


def _score(score: Score) -> str:
    if score.value is None:
        return f"undefined: {score.undefined}"
    interval = f" ({format_pair(score.interval)})" if score.interval is not None else ""
    return format_number(score.value) + interval
