"""What the answers about the patients of a part of a run add up to, and the summary that comes of it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import InputError, SettingsError
from hallumeter.records.measurement import SUMMARY_VERSION, Counts, MetricSummary, Summary
from hallumeter.records.summaries import DialogueSummary, Fairness, ModeDifference, ScoreBins
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.run_folder import decoded_partial, is_part, read_partial
from hallumeter.stats.intervals import manski_bounds
from hallumeter.stats.significance import holm, paired_bootstrap_difference, permutation_p_value
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates
from hallumeter.stats.tally import Exact, RateTally, added, exact_sum_of, rounded

from .catalog import CLINICAL_METRICS, METRICS_BY_ID
from .measure.settings import MODE, TURN, DialogueSettings

INSTRUMENT = "dialogue"
ONE_ANSWER = tuple(metric for metric in CLINICAL_METRICS if not metric.id.endswith("_pooled"))
"""Metrics that every answer has a value of its own of."""
_IDS_OF_ONE_ANSWER = frozenset(metric.id for metric in ONE_ANSWER)
TESTED = tuple(metric.id for metric in ONE_ANSWER if metric.id != "dialogue_score")
"""The overall score is made of the others, and takes no part in the tests."""
PLAIN = "llm"
"""The mode that others are compared with, where there is one of this name."""
NEEDS_TRUTH = frozenset({"sfs", "csp", "cus_improved", "cus"})
"""What cannot be told of an answer about whose patient nothing is known."""
NO_TRUTH = "no answer has slots_truth"
NO_PAIRS = "no turn of a patient has a value in both modes"
PERMUTATIONS = 10_000
BINS = 20
MOST_DIFFERENCES = 20
MOST_FACTS = 5
MOST_NOTES = 1_000
"""Facts that cannot be read and are told apart, so that memory stays flat."""


class PartTally(Struct, frozen=True):
    """Some of the answers: those of a mode, of a turn, of a group, or all of them."""

    mode: str | None = None
    turn: int | None = None
    group: tuple[str, ...] | None = None
    """Values of the fields that the run is grouped by."""
    answers: int = 0
    failed: int = 0
    rates: dict[str, RateTally] = {}
    """By metric, over patients."""

    def merge(self, other: PartTally) -> PartTally:
        """Both together."""
        rates = {
            metric: self.rates.get(metric, RateTally()).merge(other.rates.get(metric, RateTally()))
            for metric in sorted({*self.rates, *other.rates})
        }
        answers, failed = self.answers + other.answers, self.failed + other.failed
        return PartTally(self.mode, self.turn, self.group, answers, failed, rates)

    @property
    def key(self) -> tuple[str | None, int | None, tuple[str, ...] | None]:
        """Which answers they are."""
        return self.mode, self.turn, self.group

    def by(self, fields: Sequence[str]) -> dict[str, str]:
        """Which answers they are, for people."""
        if self.group is not None:
            return dict(zip(fields, self.group, strict=True))
        own = {} if self.mode is None else {MODE: self.mode}
        return own if self.turn is None else {**own, TURN: str(self.turn)}

    def place(self, modes: Sequence[str]) -> tuple[object, ...]:
        """Where they stand in a summary: the whole, modes, turns, turns of modes, groups."""
        has_mode, has_turn = self.mode is not None, self.turn is not None
        mode = modes.index(self.mode) if self.mode is not None else -1
        return self.group is not None, 2 * has_turn + has_mode, mode, self.turn or 0, self.group or ()


class PairTally(Struct, frozen=True):
    """Answers of two modes to the same questions, added up over those of each patient."""

    cells: bytes = b""
    """Different sums of the first, of the second and numbers of pairs, in order, and how many patients have them."""
    squares: Exact = ()
    """Of the differences of single pairs."""

    @classmethod
    def of(cls, sums: NDArray[np.float64], differences: NDArray[np.float64]) -> PairTally:
        """From one row of both sums and the number of pairs for each patient."""
        return cls(_cells(np.column_stack([sums, np.ones(len(sums))])), exact_sum_of(differences**2))

    def merge(self, other: PairTally) -> PairTally:
        """Both together."""
        return PairTally(_cells(np.concatenate([self.table(), other.table()])), added(self.squares, other.squares))

    def table(self) -> NDArray[np.float64]:
        """The cells, one row each."""
        return np.frombuffer(self.cells, "<f8").reshape(-1, 4)

    def patients(self) -> NDArray[np.float64]:
        """Sums of the first and the second mode and numbers of pairs, a column for each patient."""
        table = self.table()
        return np.repeat(table[:, :3], table[:, 3].astype(np.int64), axis=0).T


def _cells(rows: NDArray[np.float64]) -> bytes:
    if not len(rows):
        return b""
    distinct, places = np.unique(rows[:, :3], axis=0, return_inverse=True)
    return np.column_stack([distinct, np.bincount(places.reshape(-1), rows[:, 3])]).astype("<f8").tobytes()


class DialogueNotes(Struct, frozen=True):
    """What the notices of a summary are made of."""

    counted: dict[str, dict[str, int]] = {}
    """By kind and detail: of how many answers it must be said."""
    facts: tuple[str, ...] = ()
    """That cannot be read: the first by name."""
    patients: int = 0
    common_turns: int = 0
    """Turns on which all modes were asked the same."""
    differences: tuple[str, ...] = ()
    """How the modes were asked differently: the first by patient."""
    differences_total: int = 0
    replaced: int = 0
    """Events that a later one of the same patient, mode, turn and question replaces."""
    others: tuple[str, ...] = ()

    def merge(self, other: DialogueNotes) -> DialogueNotes:
        """Both together."""
        counted = {
            kind: _added(self.counted.get(kind, {}), other.counted.get(kind, {}))
            for kind in sorted({*self.counted, *other.counted})
        }
        return DialogueNotes(
            counted,
            tuple(sorted({*self.facts, *other.facts})[:MOST_NOTES]),
            self.patients + other.patients,
            self.common_turns + other.common_turns,
            tuple(sorted((*self.differences, *other.differences))[:MOST_DIFFERENCES]),
            self.differences_total + other.differences_total,
            self.replaced + other.replaced,
            tuple(sorted({*self.others, *other.others})),
        )

    def number(self, kind: str) -> int:
        """Of how many answers something must be said that has no detail."""
        return self.counted.get(kind, {}).get("", 0)


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in sorted({*first, *second})}


Bins = dict[str, tuple[int, ...]]
"""By mode: how many answers have which value; those without one last."""


def _added_bins(first: Bins, second: Bins) -> Bins:
    return {mode: tuple(map(sum, zip(bins, second[mode], strict=True))) for mode, bins in first.items()}


class DialoguePartial(Struct, frozen=True, kw_only=True):
    """What the answers about some patients add up to."""

    settings: DialogueSettings
    numbers: SummarySettings
    modes: tuple[str, ...]
    least: dict[str, float] = {}
    """By turn: the use of context that the settings expect."""
    counts: Counts
    parts: tuple[PartTally, ...]
    """The whole, modes, turns, turns of modes, groups; those with an answer."""
    pairs: dict[str, dict[str, PairTally]] = {}
    """By the mode that is compared with the baseline, and by metric."""
    bins: dict[str, Bins] = {}
    """By metric."""
    notes: DialogueNotes = DialogueNotes()

    def merge(self, other: DialoguePartial) -> DialoguePartial:
        """Both parts together; all answers about a patient are in one of them."""
        mine, others = ((part.settings, part.numbers, part.modes, part.least) for part in (self, other))
        if mine != others:
            raise SettingsError("parts that were measured with different settings or versions cannot be merged")
        found: dict[object, PartTally] = {}
        for part in (*self.parts, *other.parts):
            found[part.key] = found[part.key].merge(part) if part.key in found else part
        first, second = self.counts, other.counts
        return DialoguePartial(
            settings=self.settings,
            numbers=self.numbers,
            modes=self.modes,
            least=self.least,
            counts=Counts(
                records=first.records + second.records,
                claims=first.claims + second.claims,
                verdicts=first.verdicts + second.verdicts,
                failures=first.failures + second.failures,
                judges=1,
                models=len(self.modes),
            ),
            parts=in_order(found.values(), self.modes),
            pairs={
                mode: {metric: tally.merge(other.pairs[mode][metric]) for metric, tally in own.items()}
                for mode, own in self.pairs.items()
            },
            bins={metric: _added_bins(own, other.bins[metric]) for metric, own in self.bins.items()},
            notes=self.notes.merge(other.notes),
        )

    def to_bytes(self) -> bytes:
        """As JSON; equal partials give equal bytes."""
        return msgspec.json.encode(self)

    def summary(self, *, workers: int = 1) -> Summary:
        """Every metric with its interval, and how the modes differ; in so many processes."""
        if not self.counts.records and not is_part():
            raise InputError("no answer could be measured")
        fairness = self._fairness()
        return Summary(
            version=SUMMARY_VERSION,
            instrument=INSTRUMENT,
            counts=self.counts,
            metrics=tuple(self._rows(workers)),
            notices=tuple(_notices(self.notes, fairness)),
            dialogue=DialogueSummary(
                differences=mode_differences(self.pairs, self.modes, self.numbers, workers=workers),
                fairness=fairness,
                spread=tuple(self._spread()),
            ),
        )

    def _rows(self, workers: int) -> Iterator[MetricSummary]:
        rows_of = partial(_part_rows, by=self.settings.by, numbers=self.numbers, least=self.least)
        has_truth = self.notes.number("no_truth") < self.counts.records
        with closing(map_in_order(rows_of, self.parts, workers=workers)) as found:
            for rows in found:
                yield from rows if has_truth else map(_without_truth, rows)

    def _fairness(self) -> Fairness | None:
        if len(self.modes) < 2:
            return None
        return Fairness(
            modes=self.modes,
            patients=self.notes.patients,
            common_turns=self.notes.common_turns,
            differences=self.notes.differences,
            differences_total=self.notes.differences_total,
        )

    def _spread(self) -> Iterator[ScoreBins]:
        for metric in ONE_ANSWER:
            for mode in self.modes:
                bins = self.bins.get(metric.id, {}).get(mode, (0,))
                if any(bins[:-1]):
                    yield ScoreBins(metric.id, mode, bins[:-1], bins[-1])


def in_order(parts: Iterable[PartTally], modes: Sequence[str]) -> tuple[PartTally, ...]:
    """Parts as they stand in a summary."""
    return tuple(sorted(parts, key=lambda part: part.place(modes)))


def partial_of(folder: Path) -> DialoguePartial:
    """The partial that a finished run has kept."""
    return partial_from_bytes(read_partial(folder))


def partial_from_bytes(data: bytes) -> DialoguePartial:
    """A partial as `DialoguePartial.to_bytes` wrote it."""
    return decoded_partial(data, DialoguePartial)


def settings_of_numbers(settings: DialogueSettings) -> DialogueSettings:
    """Settings without those that change no number; what the rules say, signatures tell."""
    return structs.replace(settings, config=None, workers=1, is_strict=False)


def _part_rows(
    part: PartTally, *, by: Sequence[str], numbers: SummarySettings, least: Mapping[str, float]
) -> list[MetricSummary]:
    rows = []
    # Within a turn all answers are asked for the same, so that a pool says what the mean says.
    for metric in CLINICAL_METRICS if part.turn is None else ONE_ANSWER:
        tally, bounds = part.rates.get(metric.id, RateTally()), None
        if part.failed and metric.id in _IDS_OF_ONE_ANSWER:
            # A failed answer could have had any value.
            bounds = manski_bounds(tally.pooled.count, tally.pooled.total, part.failed)
        slice_ = Slice(part.by(by), None, failed=part.failed)
        row = summarize_rates(METRICS_BY_ID[metric.id], tally, slice_, settings=numbers, bounds=bounds)
        rows.append(_with_note(row, part.turn, least))
    return rows


def _with_note(row: MetricSummary, turn: int | None, least: Mapping[str, float]) -> MetricSummary:
    """A warning where context is used less than the settings expect of a turn."""
    expected = least.get(str(turn))
    if row.metric != "cus_improved" or expected is None or row.value is None or row.value >= expected:
        return row
    return structs.replace(row, note=f"below the {expected:g} that the settings expect of turn {turn}")


def _without_truth(row: MetricSummary) -> MetricSummary:
    """A row of answers about whose patients nothing is known, with the reason why it has no value."""
    needs_truth = row.metric.removesuffix("_pooled") in NEEDS_TRUTH
    return structs.replace(row, undefined=NO_TRUTH) if needs_truth and row.value is None else row


# Every other mode against the first, or against the plain model where there is one.


def baseline_of(modes: Sequence[str]) -> str:
    """The mode that the others are compared with."""
    return PLAIN if PLAIN in modes else modes[0]


def mode_differences(
    pairs: Mapping[str, Mapping[str, PairTally]],
    modes: Sequence[str],
    settings: SummarySettings,
    *,
    workers: int = 1,
) -> tuple[ModeDifference, ...]:
    """Every other mode against the baseline, on the questions that both were asked."""
    found: list[ModeDifference] = []
    for mode in modes:
        if mode in pairs:
            compare = partial(_difference, names=(baseline_of(modes), mode), settings=settings)
            found += _adjusted(list(map_in_order(compare, list(pairs[mode].items()), workers=workers)))
    return tuple(found)


def _difference(paired: tuple[str, PairTally], *, names: tuple[str, str], settings: SummarySettings) -> ModeDifference:
    metric, (first_sums, second_sums, numbers) = METRICS_BY_ID[paired[0]], paired[1].patients()
    pairs, (first, second) = int(numbers.sum()), names
    empty = ModeDifference(
        metric=metric.id,
        first=first,
        second=second,
        pairs=pairs,
        patients=len(numbers),
        first_mean=None,
        second_mean=None,
        difference=None,
        interval=None,
        effect_size=None,
        p_value=None,
        adjusted_p_value=None,
        direction=metric.direction,
        undefined=NO_PAIRS,
    )
    if not pairs:
        return empty
    rng = np.random.default_rng([settings.seed, zlib.crc32(f"{metric.id}|{first}|{second}".encode())])
    result = paired_bootstrap_difference(
        (second_sums, numbers),
        (first_sums, numbers),
        rng=rng,
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    interval = None if result is None or result.interval is None else (result.interval.low, result.interval.high)
    sums = second_sums - first_sums
    return structs.replace(
        empty,
        first_mean=float(first_sums.sum()) / pairs,
        second_mean=float(second_sums.sum()) / pairs,
        difference=float(sums.sum()) / pairs,
        interval=interval,
        effect_size=effect_size(float(sums.sum()), rounded(paired[1].squares), pairs),
        p_value=permutation_p_value(sums, rng=rng, resamples=PERMUTATIONS),
        undefined=None,
    )


def effect_size(total: float, squares: float, pairs: int) -> float | None:
    """Cohen's d of paired differences: their mean over their standard deviation; None when they do not vary.

    >>> effect_size(3.0, 5.0, 3)  # differences 0, 1, 2: mean 1, standard deviation 1
    1.0
    """
    if pairs < 2:
        return None
    mean = total / pairs
    variance = (squares - pairs * mean**2) / (pairs - 1)
    # What is left of equal differences after rounding is no spread.
    return mean / math.sqrt(variance) if variance > 1e-12 * max(1.0, squares) else None


def _adjusted(rows: list[ModeDifference]) -> list[ModeDifference]:
    """Holm's correction over the metrics."""
    tested = [place for place, row in enumerate(rows) if row.p_value is not None]
    adjusted = holm([row.p_value for row in rows if row.p_value is not None]).tolist()
    found = list(rows)
    for place, p_value in zip(tested, adjusted, strict=True):
        found[place] = structs.replace(rows[place], adjusted_p_value=p_value)
    return found


# What a reader must know before reading the numbers.


def _notices(notes: DialogueNotes, fairness: Fairness | None) -> Iterator[str]:
    if notes.replaced:
        yield f"events of a patient, mode, turn and question that has a later one, left out: {notes.replaced:,}"
    if fairness is not None and not fairness.is_fair:
        yield (
            f"the modes were not asked the same ({fairness.differences_total:,} differences); differences between "
            f"modes are over what all were asked; the first: {fairness.differences[0]}"
        )
    if without := notes.number("no_truth"):
        yield f"answers without slots_truth, for which SFS, CSP and CUS are undefined: {without:,}"
    if silent := notes.number("no_question"):
        yield f"answers whose question is not known, so that its cues cannot be read: {silent:,}"
    if missing := notes.counted.get("missing"):
        text = ", ".join(f"{slot} {count:,}" for slot, count in missing.items())
        yield f"required facts that the patient's record lacks, left out of CUS, answers: {text}"
    yield from _notices_of_values(notes)
    yield from notes.others


def _notices_of_values(notes: DialogueNotes) -> Iterator[str]:
    """Facts that cannot be read, and of what the overall score is made."""
    for fact in notes.facts[:MOST_FACTS]:
        yield f"a fact is no number with a unit that fits it: {fact}"
    if (more := len(notes.facts) - MOST_FACTS) > 0:
        yield f"... and {more:,} more facts that cannot be read"
    made_of = notes.counted.get("overall", {})
    for parts, count in sorted(made_of.items(), key=lambda item: (-item[1], item[0]))[:3]:
        yield f"the dialogue score of {count:,} answers is made of {parts}"
