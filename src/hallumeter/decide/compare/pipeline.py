"""Two runs in, what changed out: what `hallumeter compare` and `hallumeter.compare` run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.decide.policy import kind_of, usual_metrics
from hallumeter.errors import InputError, SettingsError, nearest
from hallumeter.instruments import all_instruments
from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.records.comparison import (
    COMPARISON_VERSION,
    ClaimChange,
    ComparedRun,
    Comparison,
    MetricComparison,
    RunRanking,
    State,
    Transition,
    Transitions,
)
from hallumeter.records.rate import Rates
from hallumeter.run.finished import Run, load
from hallumeter.run.ranking import ranking_of
from hallumeter.stats.significance import mcnemar_mid_p

from .rows import Arms, Part, compared_rows
from .sides import REWORDED, UNMEASURED, ClaimKey, CompareSettings, SeenRecord, Side, common_records, match_claims

# What became of every claim from one run to the other.

STATES: tuple[State, ...] = get_args(State)
"""In the order of the codes of labels; the last is a claim that the other run alone has."""
ABSENT = len(STATES) - 1
LONGEST_TEXT = 300
"""Characters of a claim that an example shows."""


class TransitionCount:
    """Counts claims by their labels in both runs, and keeps the first that changed."""

    def __init__(self, *, similarity: float, examples: int) -> None:
        self._similarity = similarity
        self._most_examples = examples
        self._claims: dict[tuple[int, int], int] = {}
        self._records: dict[tuple[int, int], int] = {}
        self._examples: dict[tuple[int, int], list[ClaimChange]] = {}
        self._how = [0] * (REWORDED + 1)
        self.is_unchanged = True
        """Whether every response, and the label of every claim, is the same so far."""

    def add(self, record_id: str, first: SeenRecord, second: SeenRecord) -> None:
        """Count the claims of one record."""
        matched = match_claims(
            first.claims,
            second.claims,
            similarity=self._similarity,
            is_same_response=first.response == second.response,
        )
        pairs: list[tuple[ClaimKey | None, ClaimKey | None]] = []
        for pair in matched:
            self._how[pair.how] += 1
            pairs.append((first.claims[pair.first], second.claims[pair.second]))
        if len(matched) < max(len(first.claims), len(second.claims)):
            ours, theirs = {pair.first for pair in matched}, {pair.second for pair in matched}
            pairs += [(claim, None) for place, claim in enumerate(first.claims) if place not in ours]
            pairs += [(None, claim) for place, claim in enumerate(second.claims) if place not in theirs]
        self.is_unchanged &= first.response == second.response
        seen: dict[tuple[int, int], None] = {}
        for one, other in pairs:
            cell = (ABSENT if one is None else one.label, ABSENT if other is None else other.label)
            self._claims[cell] = self._claims.get(cell, 0) + 1
            seen[cell] = None
            if cell[0] != cell[1]:
                self.is_unchanged = False
                self._keep(cell, record_id, one=one, other=other)
        for cell in seen:
            self._records[cell] = self._records.get(cell, 0) + 1

    def _keep(self, cell: tuple[int, int], record_id: str, *, one: ClaimKey | None, other: ClaimKey | None) -> None:
        """Keep an example, if there is room."""
        kept = self._examples.setdefault(cell, [])
        if len(kept) < self._most_examples:
            kept.append(ClaimChange(record_id, _shown(one), _shown(other)))

    def result(self) -> Transitions:
        """The whole table, in the order of the labels."""
        cells = tuple(
            Transition(
                first=STATES[cell[0]],
                second=STATES[cell[1]],
                claims=self._claims[cell],
                records=self._records[cell],
                examples=tuple(self._examples.get(cell, ())),
            )
            for cell in sorted(self._claims)
        )
        decided = {cell: count for cell, count in self._claims.items() if max(cell) < DECIDED_LABELS}
        broken = sum(count for (first, second), count in decided.items() if first == 0 and second)
        mended = sum(count for (first, second), count in decided.items() if first and second == 0)
        exact, moved, reworded = self._how
        return Transitions(
            cells=cells,
            exact=exact,
            moved=moved,
            reworded=reworded,
            broken=broken,
            mended=mended,
            claims_mid_p=mcnemar_mid_p(broken, mended),
        )


def _shown(claim: ClaimKey | None) -> str | None:
    if claim is None:
        return None
    return claim.text if len(claim.text) <= LONGEST_TEXT else f"{claim.text[: LONGEST_TEXT - 1]}…"


EVERY_METRIC = "all"
_SAME_SETTINGS = ("extractor", "consensus", "spelling", "knowledge_base")
"""Settings of a run that its numbers depend on."""


def compare(
    first: Run | str | Path, second: Run | str | Path, *, settings: CompareSettings | None = None
) -> Comparison:
    """Tell what changed from one run to another over the same records: each metric, and each claim.

    Raises:
        InputError: The runs measure different things, or have no record in common, or one is damaged.

    >>> from hallumeter import audit
    >>> evidence = "The tower is 330 m high."
    >>> before = audit([{"id": "r1", "response": "The tower is 330 m high.", "evidence": evidence}])
    >>> after = audit([{"id": "r1", "response": "The tower is 999 m high.", "evidence": evidence}])
    >>> [(cell.first, cell.second, cell.claims) for cell in compare(before, after).transitions.cells]
    [('SUPPORTED', 'REFUTED', 1)]
    """
    chosen = settings or CompareSettings()
    sides = opened_sides((first, second), chosen)
    ours, theirs = sides
    metrics = chosen_metrics(sides, chosen)
    transitions = TransitionCount(similarity=chosen.similarity, examples=chosen.examples)
    places: list[tuple[int, int]] = []
    for one, other in common_records(ours, theirs):
        transitions.add(ours.record_ids[one.number], one, other)
        places.append((one.number, other.number))
    check_common(len(places), sides)
    numbers = np.array(places, dtype=np.int64)
    rows = _rows(sides, metrics, (numbers[:, 0], numbers[:, 1]), is_unchanged=transitions.is_unchanged, settings=chosen)
    everything = max(len(ours.record_ids), len(theirs.record_ids))
    outcome, reasons = chosen.policy.outcome(rows, missing=1 - len(places) / everything)
    return Comparison(
        version=COMPARISON_VERSION,
        instrument=instruments_of(sides),
        first=described(ours),
        second=described(theirs),
        common=len(places),
        only_first=len(ours.record_ids) - len(places),
        only_second=len(theirs.record_ids) - len(places),
        cluster=ours.unit,
        confidence=chosen.confidence,
        rows=rows,
        transitions=transitions.result(),
        outcome=outcome,
        reasons=reasons,
        notices=tuple(_notices(sides, (numbers[:, 0], numbers[:, 1]), by=chosen.by)),
        are_slices_gated=chosen.policy.are_slices_gated,
    )


def _rows(
    sides: Sequence[Side],
    metrics: Sequence[str],
    records: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    is_unchanged: bool,
    settings: CompareSettings,
) -> tuple[MetricComparison, ...]:
    """Every metric on the common records and their slices."""
    ours, theirs = sides
    first, second = records
    arms = [_arms(metric, (ours, theirs), records) for metric in metrics]
    labels = ours.labels()[first], theirs.labels()[second]
    parts = list(_parts(ours, first, settings))
    return compared_rows(arms, parts, labels, settings=settings, is_unchanged=is_unchanged)


def _arms(metric: str, sides: tuple[Side, Side], records: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Arms:
    """One metric in both runs, on the common records."""
    ours, theirs = sides
    rates = ours.rates(metric)[records[0]], theirs.rates(metric)[records[1]]
    lacking: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for mine, side, numbers in zip(lacking, sides, records, strict=True):
        if broken := side.lacking(metric):
            mine.update((place, broken[number]) for place, number in enumerate(numbers.tolist()) if number in broken)
    if metric not in METRICS_BY_ID:
        # A score that only the other run has for a record is missing here, whatever the reason.
        for mine, own, other in zip(lacking, rates, reversed(rates), strict=True):
            for place in np.flatnonzero((own.totals == 0) & (other.totals > 0)).tolist():
                mine.setdefault(place, UNMEASURED)
    direction = ours.direction(metric) if metric in ours.metrics else theirs.direction(metric)
    return Arms(metric, direction, *rates, range=ours.range(metric) or theirs.range(metric), lacking=lacking)


def opened_sides(runs: Sequence[Run | str | Path], settings: CompareSettings) -> list[Side]:
    """The runs, all of the same instrument, or all of instruments that judge claims."""
    sides = [Side(run if isinstance(run, Run) else load(run), settings) for run in runs]
    for side in sides[1:]:
        if kind_of(side.instrument) != kind_of(sides[0].instrument):
            raise InputError(
                f"{sides[0].path} is a run of `{sides[0].instrument}` and {side.path} of `{side.instrument}`; only "
                f"runs of one instrument can be compared, and those of {_together()} with each other"
            )
    if len({side.name for side in sides}) < len(sides):
        # Folders of the same name are told apart by where they are.
        for side in sides:
            side.name = str(side.path)
    return sides


def _together() -> str:
    """The names of runs that can be compared with runs of other names."""
    judged = next(instrument for instrument in all_instruments() if instrument.has_judges)
    return ", ".join(judged.runs)


def instruments_of(sides: Sequence[Side]) -> str:
    """What made the runs."""
    return " and ".join(dict.fromkeys(side.instrument for side in sides))


def mixture_notices(sides: Sequence[Side]) -> Iterator[str]:
    """What a reader of runs that were made by different tools must know."""
    makers = list(dict.fromkeys(map(_maker, sides)))
    if len(makers) > 1:
        yield (
            f"the runs were made by different tools ({', '.join(makers)}) and are compared on the metrics that all of "
            "them have: a difference may be the tools', not the answers'"
        )
    tools = dict.fromkeys(str(side.manifest.settings["tool"]) for side in sides if side.manifest.settings.get("tool"))
    for tool in tools:
        yield (
            f"{tool} does not say which records were drawn together, so each counts as one draw (--cluster names a "
            "field), nor every failure behind a number: intervals may be too narrow"
        )


def _maker(side: Side) -> str:
    """The instrument, and of results that were taken in the tool."""
    tool = side.manifest.settings.get("tool")
    return f"{side.instrument} of {tool}" if tool else side.instrument


def check_common(common: int, sides: Sequence[Side]) -> None:
    """Refuse runs that share no record."""
    if common:
        return
    shown = "; ".join(f"{side.path} has {next(iter(side.numbers), 'none')!r}" for side in sides)
    raise InputError(f"the runs have no record in common: {shown}; align them by a field with --on FIELD")


def chosen_metrics(sides: Sequence[Side], settings: CompareSettings) -> list[str]:
    """The metrics that are compared: those that were named, else the usual ones that were measured."""
    known = list(dict.fromkeys(metric for side in sides for metric in side.metrics))
    if not known:
        raise InputError(f"{sides[0].path}: no metric was measured record by record; there is nothing to compare")
    shared = [metric for metric in known if all(metric in side.metrics for side in sides)]
    if len(set(map(_maker, sides))) > 1:
        if not shared:
            shown = "; ".join(f"{side.path} has {', '.join(side.metrics)}" for side in sides)
            raise InputError(f"the runs have no metric in common: {shown}")
        known = shared
    for metric in settings.metrics:
        if metric not in known and metric != EVERY_METRIC:
            is_known = metric in METRICS_BY_ID
            hint = "it was not measured on records" if is_known else nearest(metric, list(METRICS_BY_ID))
            raise SettingsError(f"cannot compare {metric!r}: {hint}; measured on records: {', '.join(known)}")
    if EVERY_METRIC in settings.metrics:
        return known
    return list(settings.metrics) or usual_metrics(sides[0].instrument, known)


def _parts(side: Side, records: NDArray[np.int64], settings: CompareSettings) -> Iterator[Part]:
    """All common records, then those of each slice."""
    clusters = _codes([side.clusters[number] for number in records.tolist()])
    yield _part({}, np.arange(len(records)), clusters)
    if not settings.by:
        return
    slices = [side.slices[number] for number in records.tolist()]
    for values in sorted(set(slices)):
        chosen = np.flatnonzero(np.array([value == values for value in slices]))
        yield _part(dict(zip(settings.by, values, strict=True)), chosen, clusters)


def _part(by: dict[str, str], records: NDArray[np.intp], clusters: NDArray[np.intp]) -> Part:
    distinct, mine = np.unique(clusters[records], return_inverse=True)
    return Part(by, records, mine, is_one_each=len(distinct) == len(records))


def _codes(names: list[str]) -> NDArray[np.intp]:
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.intp)


def described(side: Side) -> ComparedRun:
    """What a comparison says of one run."""
    return ComparedRun(
        name=side.name,
        records=len(side.record_ids),
        claims=side.claims,
        failures=side.summary.counts.failures,
        judge=side.judge,
    )


def _notices(
    sides: Sequence[Side], rows: tuple[NDArray[np.int64], NDArray[np.int64]], *, by: tuple[str, ...]
) -> Iterator[str]:
    ours, theirs = sides
    yield from mixture_notices(sides)
    yield from _other_settings(ours, theirs)
    if ours.manifest.settings.get("consensus") == "dawid-skene" and ours.headline is None:
        yield "transitions show the majority of the judges; the metrics rest on the Dawid-Skene consensus"
    if by:
        pairs = zip(rows[0].tolist(), rows[1].tolist(), strict=True)
        moved = sum(ours.slices[one] != theirs.slices[other] for one, other in pairs)
        if moved:
            yield f"{moved:,} records have another {' and '.join(by)} in the second run; the first run's is taken"


def _other_settings(ours: Side, theirs: Side) -> Iterator[str]:
    """What was not the same when the runs were made."""
    if ours.judge != theirs.judge:
        yield f"the judges differ ({ours.judge} and {theirs.judge}): a difference may be theirs, not the answers'"
    specs = [{entry.name: entry.spec for entry in side.manifest.judges} for side in (ours, theirs)]
    for name in sorted(set(specs[0]) & set(specs[1])):
        if specs[0][name] != specs[1][name]:
            yield f"{name} has other settings in the second run: {specs[0][name]} and {specs[1][name]}"
    if _maker(ours) != _maker(theirs):
        return
    for name in _SAME_SETTINGS:
        before, after = ours.manifest.settings.get(name), theirs.manifest.settings.get(name)
        if before != after:
            yield f"the runs were made with different settings: {name} is {before} and {after}"


# Three runs or more: which of them do better on the same records.


def rank_runs(runs: Sequence[Run | str | Path], *, settings: CompareSettings | None = None) -> RunRanking:
    """Rank runs on the records that all have: Friedman's test, and Nemenyi's critical difference, for each metric."""
    chosen = settings or CompareSettings()
    sides = opened_sides(runs, chosen)
    metrics = chosen_metrics(sides, chosen)
    for side in sides:
        for _ in side.records():
            pass
    keys = [key for key in sides[0].numbers if all(key in side.numbers for side in sides[1:])]
    check_common(len(keys), sides)
    names = [side.name for side in sides]
    units = [sides[0].clusters[sides[0].numbers[key]] for key in keys]
    codes: dict[str, int] = {}
    clusters = np.array([codes.setdefault(unit, len(codes)) for unit in units], dtype=np.intp)
    rankings = []
    for metric in metrics:
        direction = sides[0].direction(metric)
        columns = [_values(_common(side, keys, metric), clusters) for side in sides]
        if direction != "none":
            rankings.append(ranking_of(np.stack(columns, axis=1), names, metric=metric, direction=direction))
    return RunRanking(
        version=COMPARISON_VERSION,
        instrument=instruments_of(sides),
        runs=tuple(described(side) for side in sides),
        common=len(keys),
        cluster=sides[0].unit,
        rankings=tuple(rankings),
        notices=tuple(_several_notices(sides, len(keys))),
    )


def _common(side: Side, keys: Sequence[str], metric: str) -> Rates:
    return side.rates(metric)[np.array([side.numbers[key] for key in keys], dtype=np.intp)]


def _values(rates: Rates, clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    """The rate of every cluster; NaN where it has nothing to count."""
    pooled = rates.pooled_by(clusters)
    values = np.full(len(pooled), np.nan)
    np.divide(pooled.counts, pooled.totals, out=values, where=pooled.totals > 0)
    return values


def _several_notices(sides: Sequence[Side], common: int) -> Iterator[str]:
    yield from mixture_notices(sides)
    for side in sides:
        if len(side.record_ids) > common:
            yield f"{len(side.record_ids) - common:,} records of {side.name} are not in every run"
    if len({side.judge for side in sides}) > 1:
        yield "the judges differ: a difference may be theirs, not the answers'"
