"""A run as columns: what was counted in every record, and what its claims were found to be."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray
from rapidfuzz import fuzz

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.decide.policy import ComparePolicy
from hallumeter.errors import InputError, SettingsError
from hallumeter.ingest.scores import ranges_of
from hallumeter.records.claim import Failure, Finding, Label
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES, LabelCounts, stable_hash
from hallumeter.records.measurement import Measurement
from hallumeter.records.ranking import Direction
from hallumeter.records.rate import Rates
from hallumeter.records.response import Response
from hallumeter.report.segmentation import settled_label
from hallumeter.run.finished import Run
from hallumeter.run.groups import RecordGroups, field_of
from hallumeter.run.run_folder import RunFolder
from hallumeter.stats.summarize import check_interval_settings

# Which claims of two runs over the same record are the same claim.

MOST_PAIRS = 250_000
"""Claims left over in one record are all compared with each other up to this many pairs; beyond it, with those near."""
NEAR = 100
"""How many places away a claim of a long record may have moved and still be compared."""
SAME_PLACE = 0.5
"""Share of an unchanged response that two claims must have in common, of what they cover together."""


class ClaimKey(NamedTuple):
    """What tells one claim of a record from another."""

    kind: str
    text: str
    start: int | None
    end: int | None
    label: int
    """Its code; not part of its identity."""


class Matched(NamedTuple):
    """Places of the same claim in both lists, and how it was found."""

    first: int
    second: int
    how: int
    """EXACT, MOVED or REWORDED."""


EXACT, MOVED, REWORDED = 0, 1, 2


def match_claims(
    first: Sequence[ClaimKey], second: Sequence[ClaimKey], *, similarity: float, is_same_response: bool
) -> list[Matched]:
    """Pairs of claims that are the same, one to one, in the order of the first list.

    Claims of the same kind are paired by place and wording, then by wording alone, in order; what is left over is
    paired by how alike it is, the most alike first, and of equals those that come first.

    >>> ours = [ClaimKey("claim", "Oslo has 700,000 people.", 0, 24, 0), ClaimKey("claim", "It rains.", 25, 34, 0)]
    >>> theirs = [ClaimKey("claim", "It rains.", 0, 9, 0), ClaimKey("claim", "Oslo has 900,000 people.", 10, 34, 1)]
    >>> [tuple(pair) for pair in match_claims(ours, theirs, similarity=0.7, is_same_response=False)]
    [(0, 1, 2), (1, 0, 1)]
    """
    if len(first) == len(second) and all(one[:4] == other[:4] for one, other in zip(first, second, strict=True)):
        return [Matched(place, place, EXACT) for place in range(len(first))]
    found: list[Matched] = []
    left, right = list(range(len(first))), list(range(len(second)))
    for how, key in ((EXACT, _place_and_wording), (MOVED, _wording)):
        pairs = _in_order((left, right), (first, second), key)
        found += [Matched(one, other, how) for one, other in pairs]
        left, right = _without(left, (one for one, _ in pairs)), _without(right, (other for _, other in pairs))
    if left and right:
        scores = _scores((left, right), (first, second), cutoff=similarity, has_places=is_same_response)
        found += [Matched(one, other, REWORDED) for one, other in _best_first(scores)]
    return sorted(found)


def _place_and_wording(claim: ClaimKey) -> Hashable:
    return claim[:4]


def _wording(claim: ClaimKey) -> Hashable:
    return claim[:2]


def _in_order(
    places: tuple[list[int], list[int]],
    claims: tuple[Sequence[ClaimKey], Sequence[ClaimKey]],
    key: Callable[[ClaimKey], Hashable],
) -> list[tuple[int, int]]:
    """Claims with the same key, the first with the first and so on."""
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place in reversed(places[1]):
        waiting[key(claims[1][place])].append(place)
    pairs = []
    for place in places[0]:
        others = waiting.get(key(claims[0][place]))
        if others:
            pairs.append((place, others.pop()))
    return pairs


def _without(places: list[int], taken: Iterable[int]) -> list[int]:
    gone = set(taken)
    return [place for place in places if place not in gone]


def _scores(
    places: tuple[list[int], list[int]],
    claims: tuple[Sequence[ClaimKey], Sequence[ClaimKey]],
    *,
    cutoff: float,
    has_places: bool,
) -> list[tuple[float, int, int]]:
    """How alike claims of the same kind are, those at or above the cutoff; most alike first."""
    left, right = places
    is_long = len(left) * len(right) > MOST_PAIRS
    found = []
    for rank, one in enumerate(left):
        near = rank * len(right) // len(left)
        candidates = right[max(0, near - NEAR) : near + NEAR] if is_long else right
        for other in candidates:
            ours, theirs = claims[0][one], claims[1][other]
            if ours.kind != theirs.kind:
                continue
            score = fuzz.ratio(ours.text, theirs.text, score_cutoff=100 * cutoff) / 100 if ours.text else 0.0
            overlap = _overlap(ours, theirs) if has_places else 0.0
            if score or overlap >= SAME_PLACE:
                found.append((-max(score, overlap), one, other))
    return sorted(found)


def _overlap(one: ClaimKey, other: ClaimKey) -> float:
    """What two spans have in common, as a share of what they cover together; 0 without spans."""
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return 0.0
    together = max(one.end, other.end) - min(one.start, other.start)
    return max(0, min(one.end, other.end) - max(one.start, other.start)) / together if together else 0.0


def _best_first(scores: list[tuple[float, int, int]]) -> list[tuple[int, int]]:
    left: set[int] = set()
    right: set[int] = set()
    pairs = []
    for _, one, other in scores:
        if one not in left and other not in right:
            left.add(one)
            right.add(other)
            pairs.append((one, other))
    return pairs


# What a user can choose about a comparison.


class CompareSettings(Struct, frozen=True, kw_only=True):
    """How two runs are compared; the defaults suit most."""

    metrics: tuple[str, ...] = ()
    """Which are compared; none are the usual ones of the instrument, and `all` is every metric of a record."""
    by: tuple[str, ...] = ()
    """Fields whose values make slices, each compared beside the whole."""
    on: tuple[str, ...] = ()
    """Fields by which records are aligned; none is their id."""
    cluster: str | None = None
    """The unit of resampling, a field; None is what the runs themselves used."""
    similarity: float = 0.7
    """How alike the wording of two claims must be, from 0 to 1, to be one claim that was reworded."""
    examples: int = 20
    """Changed claims that are kept of each transition."""
    policy: ComparePolicy = field(default_factory=ComparePolicy)
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)
        if not 0 < self.similarity <= 1:
            raise SettingsError(f"similarity is {self.similarity:g}; expected a number above 0 and up to 1")
        if self.examples < 0:
            raise SettingsError(f"examples is {self.examples}; expected a whole number from 0")


NOT_OF_RECORDS = ("read", "samples")
"""Steps whose failures leave what is compared as it is."""
UNMEASURED = "unmeasured"
"""The cause where none was kept."""


class SeenRecord(NamedTuple):
    """One record of one run, as it is read."""

    number: int
    key: str
    claims: tuple[ClaimKey, ...]
    response: int
    """A hash of its text."""


class Side:
    """One run: its records are read once, in order, and leave columns behind."""

    def __init__(self, run: Run, settings: CompareSettings, threshold: float | None = None) -> None:
        """Open a run; with a `threshold` its labels are decided again, from the probabilities that it kept."""
        self._threshold = threshold
        self._run = run  # a temporary run lives for as long as this
        self._folder = RunFolder(run.path)
        self._settings = settings
        self.manifest = run.manifest
        self.summary = run.summary
        self.instrument = self.manifest.instrument
        self.path = run.path
        self.name = run.path.name or str(run.path)
        self.numbers: dict[str, int] = {}
        """By key: the place of each record in the columns."""
        self.record_ids: list[str] = []
        self.slices: list[tuple[str, ...]] = []
        self.clusters: list[str] = []
        self._labels = array("b")
        self._sizes = array("q")
        self._columns: dict[str, _Column] = {}
        self._measured: dict[str, int] = {}
        self._faults: dict[str, list[Failure]] = {}
        self._ranges = ranges_of(self.manifest)
        self._read_measurements()
        self.judge = next((column.judge for column in self._columns.values() if column.judge), None)
        judges = {entry.name for entry in self.manifest.judges}
        self.headline = self.judge if self.judge in judges else None
        self._groups = RecordGroups(self.manifest, settings.cluster)

    @property
    def metrics(self) -> list[str]:
        """Metrics that were measured record by record."""
        return list(self._columns)

    def direction(self, metric: str) -> Direction:
        """Which way a metric is better, as the run says."""
        return next((row.direction for row in self.summary.metrics if row.metric == metric), "none")

    def range(self, metric: str) -> tuple[float, float] | None:
        """The smallest and the largest value of a metric; None where it has no ends or they are not known."""
        known = METRICS_BY_ID.get(metric)
        if known is None:
            return self._ranges.get(metric)
        low, high = known.range
        return None if high is None or not np.isfinite(low) else (low, high)

    @property
    def unit(self) -> str:
        """What is resampled; known once the records were read."""
        return self._groups.unit

    def records(self) -> Iterator[SeenRecord]:
        """Every record with its claims; the columns are complete once this has come to its end."""
        for response, findings in self._folder.findings():
            number = len(self.record_ids)
            key = self._key(response)
            if self.numbers.setdefault(key, number) != number:
                where = ", by " + " and ".join(self._settings.on) if self._settings.on else ""
                raise InputError(f"{self._run.path}: two records are called {key!r}{where}; they cannot be aligned")
            self.record_ids.append(response.record_id)
            self.slices.append(tuple(field_of(response, name) for name in self._settings.by))
            self.clusters.append(self._groups.of(response))
            claims = tuple(self._claim(finding, response) for finding in findings)
            self._labels.extend([claim.label for claim in claims])
            self._sizes.append(len(claims))
            text = 0 if response.response is None else stable_hash(response.response)
            yield SeenRecord(number, key, claims, text)

    def labels(self) -> LabelCounts:
        """How many claims of each record have which label."""
        sizes = np.array(self._sizes, dtype=np.int64)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        return LabelCounts.tally(owners, np.array(self._labels, dtype=np.int64), size=len(sizes))

    @property
    def claims(self) -> int:
        """How many claims there are."""
        return len(self._labels)

    def rates(self, metric: str) -> Rates:
        """What a metric counted in each record; nothing in a record that it was not measured on."""
        counts, totals = np.zeros(len(self.record_ids)), np.zeros(len(self.record_ids))
        column = self._columns.get(metric)
        if column is not None:
            places = self._places[np.array(column.records, dtype=np.int64)]
            if len(np.unique(places)) < len(places):
                raise InputError(
                    f"{self._run.path}: {metric} was measured on parts of records; make the run again, with --by "
                    "naming fields of records only"
                )
            counts[places], totals[places] = column.counts, column.totals
        return Rates(counts, totals)

    def lacking(self, metric: str) -> dict[int, str]:
        """Records that a metric should have been measured on and was not: their places, and why in one word.

        A record in which there was nothing to count lacks nothing; one that broke, or whose score is none, does.
        """
        known = METRICS_BY_ID.get(metric)
        if known is None:
            column = self._columns.get(metric)
            places = self._places[np.array(column.records if column else (), dtype=np.int64)].tolist()
            return {
                place: self._cause(place, {metric}) or UNMEASURED
                for place, total in zip(places, column.totals if column else (), strict=True)
                if not total
            }
        is_of_claims = known.reads == "labels"
        sizes = np.array(self._sizes) if is_of_claims else self.rates(metric).totals
        judges = {None, self.headline} if is_of_claims else {None}
        found = {}
        for name in self._faults:
            place = self._by_id.get(name)
            cause = None if place is None or sizes[place] else self._cause(place, judges)
            if place is not None and cause is not None:
                found[place] = cause
        return found

    def _cause(self, place: int, judges: Collection[str | None]) -> str | None:
        """Why a record broke as a whole, for one of these judges."""
        faults = self._faults.get(self.record_ids[place], ())
        return next((fault.code for fault in faults if fault.judge in judges), None)

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.record_ids)}

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the records that were measured stand in the columns."""
        numbers = self._by_id
        unknown = next((name for name in self._measured if name not in numbers), None)
        if unknown is not None:
            raise InputError(f"{self._run.path}: record {unknown!r} was measured but is not among the records")
        return np.array([numbers[name] for name in self._measured], dtype=np.int64)

    def _key(self, response: Response) -> str:
        if not self._settings.on:
            return response.record_id
        return "|".join(_needed_field(response, name) for name in self._settings.on)

    def _claim(self, finding: Finding, response: Response) -> ClaimKey:
        claim = finding.claim
        text = claim.text
        if text is None:
            text = (response.response or "")[claim.start : claim.end] if claim.start is not None else ""
        label = decided_label(finding, self.headline, self._threshold)
        code = FAILED_CODE if label is None else LABEL_CODES[label]
        return ClaimKey(claim.kind, text, claim.start, claim.end, code)

    def _read_measurements(self) -> None:
        for row in self._folder.measurements():
            if row.scope == "record" and row.record_id is not None:
                column = self._columns.get(row.metric)
                if column is None:
                    column = self._columns[row.metric] = _Column(row)
                column.add(row, self._measured.setdefault(row.record_id, len(self._measured)))
        for failure in self._folder.failures():
            # What could not be read has no record; what samples lack is no fault of the claims.
            if failure.record_id is not None and failure.claim_id is None and failure.step not in NOT_OF_RECORDS:
                self._faults.setdefault(failure.record_id, []).append(failure)


def decided_label(finding: Finding, headline: str | None, threshold: float | None) -> Label | None:
    """The label that a claim counts with; with a threshold, the one that its probability has there.

    What was called refuted stays so above it. What was called supported is not known to be contradicted: the evidence
    is silent about it, as far as anybody can tell.
    """
    label = settled_label(finding, headline)
    said = next((verdict for verdict in finding.verdicts if verdict.judge == headline), None)
    if threshold is None or said is None or said.unsupported_probability is None or label is Label.UNDECIDED:
        return label
    if said.unsupported_probability < threshold:
        return Label.SUPPORTED
    return Label.NOT_ENOUGH_INFO if label is Label.SUPPORTED else label


class _Column:
    """One metric as it is read: what it counted, and where."""

    def __init__(self, row: Measurement) -> None:
        known = METRICS_BY_ID.get(row.metric)
        # Over dialogues the usual figure is the mean of the answers' values, not their pooled counts.
        self._is_mean = known is not None and known.reads == "turns"
        self.judge = row.judge
        self.records = array("q")
        self.counts, self.totals = array("d"), array("d")

    def add(self, row: Measurement, record: int) -> None:
        """Take one record's measurement."""
        self.records.append(record)
        is_counted = row.count is not None and row.total is not None and not self._is_mean
        self.counts.append((row.count if is_counted else row.value) or 0.0)
        self.totals.append((row.total or 0.0) if is_counted else float(row.value is not None))


def _needed_field(response: Response, name: str) -> str:
    """The value of a field that every record must have."""
    value = field_of(response, name)
    if not value:
        raise SettingsError(f"record {response.record_id!r} has no field {name!r} to be aligned by")
    return value


# Two runs read side by side: records that both have, in whatever order.

Pair = tuple[SeenRecord, SeenRecord]


def common_records(first: Side, second: Side) -> Iterator[Pair]:
    """Every record that both runs have; where their orders agree nothing is kept, else records wait packed."""
    waiting_first, waiting_second = _Waiting(), _Waiting()
    for one, other in zip_longest(first.records(), second.records()):
        if one is not None and other is not None and one.key == other.key:
            yield one, other
            continue
        if one is not None:
            match = waiting_second.take(one.key)
            if match is not None:
                yield one, match
            else:
                waiting_first.keep(one)
        if other is not None:
            match = waiting_first.take(other.key)
            if match is not None:
                yield match, other
            else:
                waiting_second.keep(other)


class _Waiting:
    """Records whose other half was not read yet, each in a fifth of the memory that it takes as objects."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(SeenRecord)

    def keep(self, record: SeenRecord) -> None:
        self._packed[record.key] = self._encoder.encode(record)

    def take(self, key: str) -> SeenRecord | None:
        packed = self._packed.pop(key, None)
        return None if packed is None else self._decoder.decode(packed)
