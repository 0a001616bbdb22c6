"""Two runs in, what changed out: what `hallumeter compare` and `hallumeter.compare` run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import InputError, SettingsError
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.pipelines.run import Run, load
from hallumeter.policy import CLAIM_INSTRUMENTS, kind_of, nearest, usual_metrics
from hallumeter.records.decisions.comparison import COMPARISON_VERSION, ComparedRun, Comparison

from .joining import common_records
from .reading import UNMEASURED, Side
from .rows import Arms, Part, compared_rows
from .settings import CompareSettings
from .transitions import TransitionCount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hallumeter.records.decisions.comparison import MetricComparison

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
                f"runs of one instrument can be compared, and those of {', '.join(CLAIM_INSTRUMENTS)} with each other"
            )
    if len({side.name for side in sides}) < len(sides):
        # Folders of the same name are told apart by where they are.
        for side in sides:
            side.name = str(side.path)
    return sides


def instruments_of(sides: Sequence[Side]) -> str:
    """What made the runs."""
    return " and ".join(dict.fromkeys(side.instrument for side in sides))


def mixture_notices(sides: Sequence[Side]) -> Iterator[str]:
    """What a reader of runs that were made by different tools must know."""
    makers = list(dict.fromkeys(map(_maker, sides)))
    if len(makers) > 1:
        yield (
            f"the runs were made by different tools ({', '.join(makers)}) and are compared on the metrics that all of "
            "them have: a difference may be the tools', not the responses'"
        )


def _maker(side: Side) -> str:
    """The instrument, and of results that were taken in the tool."""
    tool = side.manifest.settings.get("tool")
    return f"{side.instrument} of {tool}" if side.instrument == "ingest" and tool else side.instrument


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
        yield f"the judges differ ({ours.judge} and {theirs.judge}): a difference may be theirs, not the responses'"
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
