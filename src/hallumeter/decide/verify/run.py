"""Verify a run folder: its files against their digests, its numbers against what its other files add up to."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

import msgspec

from hallumeter.errors import HallumeterError
from hallumeter.instruments import instrument_of
from hallumeter.records.manifest import Manifest
from hallumeter.records.verification import Check, Difference, Verification, check_of
from hallumeter.run.digests import changed_files
from hallumeter.run.export import plain_folder
from hallumeter.run.finished import Run
from hallumeter.run.run_folder import FAILURES, MEASUREMENTS, RECORDS, REPORT, SUMMARY, is_sharded
from hallumeter.run.store_tables import changed_tables, store_of

TOLERANCE = 1e-9
"""Relative: sums may differ in their last digits between machines and versions of numpy."""
_WORDS = frozenset({"signature", "note", "notices", "version", "interval_method", "direction", "profile"})
"""Fields of a summary that are words about numbers, or opinions of policies, which are compared on their own."""
_KEYS = ("metric", "scope", "record_id", "judge", "by")
_ABSENT = "absent"
_UNREADABLE = (HallumeterError, OSError, KeyError, TypeError, ValueError, msgspec.MsgspecError)
"""What files raise that were changed since they were written."""

Leaf = str | float | bool | None


def verify_run(run: Run) -> Verification:
    """Compare the files of a run with their digests, then compute its numbers once more and compare them."""
    checks = [_files(run.path, run.manifest)]
    if is_sharded(run.path):
        checks.append(_tables(run.path))
    with tempfile.TemporaryDirectory(prefix="hallumeter-") as name:
        into = Path(name)
        try:
            with plain_folder(run.path) as folder:
                missing = _recomputed(folder, run.manifest, into)
                checks += _numbers(folder, into)
        except _UNREADABLE as error:
            missing = {"numbers": f"its files cannot be read ({error})"}
    checks += [Check(name=topic, why_not=why) for topic, why in missing.items()]
    return Verification(str(run.path), tuple(checks))


def _files(folder: Path, manifest: Manifest) -> Check:
    if not manifest.files:
        return Check(name="files", why_not=f"hallumeter {manifest.hallumeter} kept no digests of files")
    changed = [Difference(each.name, each.change, "as written") for each in changed_files(folder, manifest)]
    return check_of("files", len(manifest.files) - len(changed), changed)


def _tables(folder: Path) -> Check:
    """The files of every shard that counts."""
    changed = [Difference(path, change, "as committed") for path, change in changed_tables(folder)]
    total = sum(len(receipt.files) for receipt in store_of(folder).committed())
    return check_of("shards", total - len(changed), changed)


def _recomputed(folder: Path, manifest: Manifest, into: Path) -> dict[str, str]:
    recompute = instrument_of(manifest.instrument).recompute
    if recompute is None:
        return {"numbers": f"a run of {manifest.instrument} cannot be computed again"}
    return recompute(folder, into)


def _numbers(folder: Path, into: Path) -> Iterator[Check]:
    """A check for every file that was written once more."""
    for path in sorted(into.iterdir()):
        if path.name == SUMMARY:
            yield _summary(folder / SUMMARY, path)
        elif path.name == MEASUREMENTS:
            yield _measurements(folder / MEASUREMENTS, path)
        elif path.name not in (FAILURES, RECORDS, REPORT):
            yield _lines(folder / path.name, path)


# Numbers of a summary, and of measurements, row by row.


def _summary(found: Path, computed: Path) -> Check:
    own, again = (msgspec.json.decode(path.read_bytes()) for path in (found, computed))
    leaves, expected = _leaves_of(own), _leaves_of(again)
    missed = sorted({key.partition(" · ")[0] for key in leaves.keys() - expected.keys()})
    shared = {key: value for key, value in leaves.items() if key.partition(" · ")[0] not in missed}
    check = _compared(SUMMARY, shared, expected)
    if missed and not check.different:
        named = ", ".join(missed[:3]) + (f" and {len(missed) - 3:,} more" if len(missed) > 3 else "")
        return msgspec.structs.replace(check, why_not=f"the run does not keep what these were counted from: {named}")
    return check


def _leaves_of(summary: Mapping[str, object]) -> dict[str, Leaf]:
    """Every number of a summary under a name that a person understands."""
    found: dict[str, Leaf] = {}
    rows = summary.get("metrics")
    for row in rows if isinstance(rows, list) else ():
        found |= _row_leaves(row)
    rest = {name: value for name, value in summary.items() if name not in (*_WORDS, "metrics")}
    # Rows that could not be read are failures of the input, which a run does not keep.
    counts = rest.pop("counts", {})
    own = {key: value for key, value in counts.items() if key != "failures"} if isinstance(counts, dict) else {}
    return found | dict(_leaves(own, "counts")) | dict(_leaves(rest, ""))


def _row_leaves(row: Mapping[str, object]) -> dict[str, Leaf]:
    named = [str(row[key]) for key in _KEYS if key != "by" and row.get(key) is not None]
    by = row.get("by")
    groups = [f"{name}={value}" for name, value in by.items()] if isinstance(by, dict) else []
    rest = {name: value for name, value in row.items() if name not in (*_WORDS, *_KEYS)}
    return dict(_leaves(rest, " ".join((*named, *groups)) + " ·"))


def _leaves(value: object, name: str) -> Iterator[tuple[str, Leaf]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{name} {key}".strip())
    elif isinstance(value, list):
        for number, each in enumerate(value, 1):
            yield from _leaves(each, f"{name} {number}")
    elif value is None or isinstance(value, str | float | int):
        yield name, value


def _compared(name: str, found: Mapping[str, Leaf], expected: Mapping[str, Leaf]) -> Check:
    different = [
        Difference(key, _shown(found.get(key, _ABSENT)), _shown(expected.get(key, _ABSENT)))
        for key in dict.fromkeys((*expected, *found))
        if key not in found or key not in expected or not is_same(found[key], expected[key])
    ]
    return check_of(name, len(expected) - len(different), different)


def is_same(found: Leaf, expected: Leaf) -> bool:
    """Whether two numbers are the same but for the last digits, or two texts are equal."""
    if isinstance(found, str | bool) or isinstance(expected, str | bool) or found is None or expected is None:
        return found == expected
    return math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=1e-12)


def _shown(value: Leaf) -> str:
    return "none" if value is None else str(value)


def _measurements(found: Path, computed: Path) -> Check:
    """Row by row, as both stand in the order of the records."""
    equal = 0
    different: list[Difference] = []
    with found.open("rb") as own, computed.open("rb") as again:
        for left, right in zip_longest(own, again):
            if left == right:
                equal += 1
                continue
            rows = [_row_leaves(msgspec.json.decode(line)) if line else {} for line in (left, right)]
            check = _compared(MEASUREMENTS, rows[0], rows[1])
            different += check.differences
            equal += not check.different
    return check_of(MEASUREMENTS, equal, different)


def _lines(found: Path, computed: Path) -> Check:
    """Two files of text, line by line."""
    own = found.read_bytes().splitlines() if found.exists() else []
    again = computed.read_bytes().splitlines()
    return check_of(found.name, sum(map(bytes.__eq__, own, again)), _differing(own, again))


def _differing(own: Iterable[bytes], again: Iterable[bytes]) -> Iterator[Difference]:
    for number, (left, right) in enumerate(zip_longest(own, again), 1):
        if left != right:
            texts = (_ABSENT if line is None else line[:200].decode(errors="replace") for line in (left, right))
            yield Difference(f"line {number:,}", *texts)
