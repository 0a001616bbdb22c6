"""Verify a run folder or a page: digests first, then every number computed once more: what `hallumeter verify` runs."""

from __future__ import annotations

import math
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.instruments import instrument_of
from hallumeter.records.comparison import Comparison, MetricComparison, RunRanking
from hallumeter.records.decisions import Check, Difference, Verification, check_of
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.rate import Rate
from hallumeter.report.document import Document
from hallumeter.report.page.proof import (
    RECORD_BLOCKS,
    Proof,
    document_digest,
    named_digest,
    named_records,
    page_blocks,
    page_digest,
    page_markup,
    proof_of,
    shown_records,
)
from hallumeter.report.page.render import render_html
from hallumeter.run.digests import changed_files
from hallumeter.run.export import plain_folder
from hallumeter.run.finished import Run, load
from hallumeter.run.run_folder import FAILURES, MEASUREMENTS, RECORDS, REPORT, SUMMARY, is_sharded
from hallumeter.run.store_tables import changed_tables, shown_place, store_of
from hallumeter.text.normalize import one_line

from .compare.page import Compared, render_comparison
from .compare.pipeline import compare

TOLERANCE = 1e-9
"""Relative: sums may differ in their last digits between machines and versions of numpy."""
_WORD_FIELDS = frozenset({"signature", "note", "notices", "version", "interval_method", "direction", "profile"})
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
    return Verification(shown_place(run.path), tuple(checks))


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
    check = _compared_values(SUMMARY, shared, expected)
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
    rest = {name: value for name, value in summary.items() if name not in (*_WORD_FIELDS, "metrics")}
    # Rows that could not be read are failures of the input, which a run does not keep.
    counts = rest.pop("counts", {})
    own = {key: value for key, value in counts.items() if key != "failures"} if isinstance(counts, dict) else {}
    return found | dict(_leaves(own, "counts")) | dict(_leaves(rest, ""))


def _row_leaves(row: Mapping[str, object]) -> dict[str, Leaf]:
    named = [str(row[key]) for key in _KEYS if key != "by" and row.get(key) is not None]
    by = row.get("by")
    groups = [f"{name}={value}" for name, value in by.items()] if isinstance(by, dict) else []
    rest = {name: value for name, value in row.items() if name not in (*_WORD_FIELDS, *_KEYS)}
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


def _compared_values(name: str, found: Mapping[str, Leaf], expected: Mapping[str, Leaf]) -> Check:
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
            check = _compared_values(MEASUREMENTS, rows[0], rows[1])
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


_COMPARED: dict[str, type[Compared]] = {"comparison": Comparison, "ranking": RunRanking}
_CONTEXT = 60
"""Characters that are shown around a difference."""


def verify(subject: str | Path, *, run: str | Path | Sequence[str | Path] = ()) -> Verification:
    """Compute every number of a run, or of a report, once more, and say what is equal, different or not verifiable.

    A report alone is checked by the data it carries; with `run` also that it belongs to that run (to several, in its
    order, for a comparison).

    Raises:
        InputError: The run or the page cannot be read.
        SettingsError: A run was given for a run.

    >>> verify("no-such-report.html")
    Traceback (most recent call last):
    hallumeter.errors.InputError: no-such-report.html: cannot be read (No such file or directory)
    """
    path, given = Path(subject), (run,) if isinstance(run, (str, Path)) else tuple(run)
    if not path.is_dir():
        return verify_page(path, [load(each, verify=False) for each in given])
    if given:
        raise SettingsError("a run belongs to no other run; give `run` with a report")
    return verify_run(load(path, verify=False))


def verify_page(path: Path, runs: Sequence[Run] = ()) -> Verification:
    """Verify a report, or the page of a comparison; `runs` are those that it should belong to.

    Raises:
        InputError: The file cannot be read.
    """
    page = _read(path)
    proof = proof_of(page)
    if proof is None:
        why = "the page carries no data that it was printed from; was it written by an older version, or cut?"
        return Verification(str(path), (Check(name="page", why_not=why),))
    checks = [_digest(page), *_arithmetic(proof), *_printed(page, proof)]
    checks.append(_records(page, proof))
    checks += _belongs(page, proof, runs) if runs else ()
    return Verification(str(path), tuple(checks))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no page of ours (it is not in UTF-8)") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def _digest(page: str) -> Check:
    """Whether the page is as it was written."""
    named, found = named_digest(page), page_digest(page)
    if named is None:
        return Check(name="digest", why_not="the page names no digest of itself")
    return check_of("digest", int(named == found), [] if named == found else [Difference("page", found, named)])


# The arithmetic of the data inside.


def _arithmetic(proof: Proof) -> Iterator[Check]:
    if proof.kind == "report":
        different: list[Difference] = []
        rows = list(dict.fromkeys(_places(proof.documents)))
        for where, row in rows:
            different += _wrong(where, row)
        yield check_of("arithmetic", len(rows) - len({each.where.rpartition(" ")[0] for each in different}), different)
        return
    try:
        found = _compared(proof)
    except msgspec.MsgspecError as error:
        yield check_of("arithmetic", 0, [Difference("data", f"damaged ({error})", f"a {proof.kind}")])
        return
    if isinstance(found, Comparison):
        wrong = [each for row in found.rows for each in _wrong_difference(row)]
        yield check_of("arithmetic", len(found.rows) - len(wrong), wrong)
    else:
        yield Check(name="arithmetic", why_not="ranks follow from the values of every record, which only runs have")


def _places(documents: Iterable[Document]) -> Iterator[tuple[str, _Row]]:
    """Every metric in the documents, wherever it is shown."""
    for document in documents:
        for section in document.sections:
            for row in _metrics(section):
                named = (row.metric, row.judge, *(f"{name}={value}" for name, value in row.by.items()))
                yield " ".join(filter(None, named)), _Row(row)


class _Row:
    """A metric summary that can be told from others by what it says."""

    def __init__(self, summary: MetricSummary) -> None:
        self.summary = summary
        self._said = msgspec.json.encode(summary)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Row) and self._said == other._said

    def __hash__(self) -> int:
        return hash(self._said)


def _metrics(value: object) -> Iterator[MetricSummary]:
    if isinstance(value, MetricSummary):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _metrics(getattr(value, name))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _metrics(each)


def _wrong(where: str, row: _Row) -> Iterator[Difference]:
    """What of a metric does not follow from its counts, or contradicts itself."""
    summary = row.summary
    if summary.count is not None and summary.total is not None:
        value = Rate(summary.count, summary.total).value
        if summary.value is not None and not is_same(summary.value, value):
            yield Difference(f"{where} value", str(summary.value), f"{value} = {summary.count:g} / {summary.total:g}")
    for name, ends in (("interval", summary.interval), ("bounds", summary.bounds)):
        if ends is not None and ends[0] > ends[1]:
            yield Difference(f"{where} {name}", f"{ends[0]} to {ends[1]}", "the lower end first")
    if (summary.value is None) != (summary.undefined is not None):
        yield Difference(f"{where} value", str(summary.value), f"undefined: {summary.undefined}")


def _wrong_difference(row: MetricComparison) -> Iterator[Difference]:
    if row.first is None or row.second is None or row.difference is None:
        return
    computed = row.second - row.first
    if not is_same(row.difference, computed):
        yield Difference(f"{row.metric} difference", str(row.difference), str(computed))


def _compared(proof: Proof) -> Compared | None:
    kind = _COMPARED.get(proof.kind)
    return None if kind is None else msgspec.json.decode(proof.data, type=kind)


# Whether the page prints what the data say: it is printed once more.


def _printed(page: str, proof: Proof) -> Iterator[Check]:
    made_by = {each.provenance.hallumeter for each in proof.documents}
    if made_by - {version("hallumeter")}:
        why = f"the page was printed by hallumeter {', '.join(sorted(made_by))}, this is {version('hallumeter')}"
        yield Check(name="printed", why_not=why)
        return
    try:
        again = _rendered(proof)
    except Exception as error:  # the data inside may be anything: that they give no page is a finding, not a fault
        yield check_of("printed", 0, [Difference("page", "a page", f"none ({type(error).__name__}: {error})")])
        return
    if again is None:
        yield Check(name="printed", why_not=f"no page of the kind {proof.kind!r} is known")
        return
    yield _same_text("printed", page_markup(page), page_markup(again))
    found, expected = page_blocks(page), page_blocks(again)
    names = [name for name in expected if not name.endswith(RECORD_BLOCKS)]
    wrong = [name for name in names if found.get(name) != expected[name]]
    differences = [_first_difference(name, found.get(name, ""), expected[name]) for name in wrong]
    yield check_of("charts and tables", len(names) - len(wrong), differences)


def _rendered(proof: Proof) -> str | None:
    if proof.kind == "report":
        return render_html(proof.documents, language=proof.language)
    found = _compared(proof)
    return None if found is None else render_comparison(found, language=proof.language)


def _same_text(name: str, found: str, expected: str) -> Check:
    """Two texts, line by line."""
    pairs = list(zip_longest(found.splitlines(), expected.splitlines(), fillvalue=""))
    different = [_first_difference(f"line {n:,}", *pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]]
    return check_of(name, len(pairs) - len(different), different)


def _first_difference(where: str, found: str, expected: str) -> Difference:
    """Where two texts part, with a few characters around."""
    place = next((n for n, (one, other) in enumerate(zip(found, expected, strict=False)) if one != other), None)
    start = max(0, (min(len(found), len(expected)) if place is None else place) - _CONTEXT // 2)
    return Difference(where, found[start : start + _CONTEXT], expected[start : start + _CONTEXT])


# Whether the page belongs to its runs.


def _records(page: str, proof: Proof) -> Check:
    """Whether the page shows the records that its document names; that they are those of the run, only a run proves."""
    try:
        shown, named = Counter(shown_records(page)), Counter(named_records(proof.documents))
    except (ValueError, TypeError, zlib.error, msgspec.MsgspecError) as error:
        return check_of("records", 0, [Difference("block of records", f"damaged ({error})", "readable")])
    different = [
        Difference(f"record {name!r}", f"shown {shown[name]} times", f"{named[name]} times")
        for name in shown | named
        if shown[name] != named[name]
    ]
    return check_of("records", (shown & named).total(), different)


def _belongs(page: str, proof: Proof, runs: Sequence[Run]) -> Iterator[Check]:
    if proof.kind == "report":
        yield from _of_runs(page, proof, runs)
        return
    found = _compared(proof)
    if not isinstance(found, Comparison) or len(runs) != 2:
        yield Check(name="runs", why_not="only the comparison of two runs can be computed again")
        return
    again = compare(runs[0], runs[1])
    rows = {(row.metric, tuple(row.by.items())): row for row in again.rows}
    different, equal = [], 0
    for row in found.rows:
        other = rows.get((row.metric, tuple(row.by.items())))
        for name in ("first", "second", "difference"):
            value, computed = getattr(row, name), getattr(other, name, None)
            if other is not None and is_same(value, computed):
                equal += 1
            elif other is not None:
                different.append(Difference(f"{row.metric} {name}", str(value), str(computed)))
    yield check_of("runs", equal, different)
    unmatched = sum((row.metric, tuple(row.by.items())) not in rows for row in found.rows)
    if unmatched:
        yield Check(name="slices", why_not=f"{unmatched:,} rows need settings that the page does not keep")


def _of_runs(page: str, proof: Proof, runs: Sequence[Run]) -> Iterator[Check]:
    if len(runs) != len(proof.documents):
        yield check_of("run", 0, [Difference("runs", str(len(proof.documents)), f"{len(runs)} given with --run")])
        return
    documents = [run.document() for run in runs]
    different: list[Difference] = []
    for stated, run, own in zip(proof.documents, runs, documents, strict=True):
        if stated.provenance != own.provenance:
            different.append(
                Difference(shown_place(run.path), "made from other files or settings", "the manifest of the run")
            )
    digests = tuple(map(document_digest, documents))
    for number, (found, computed) in enumerate(zip(proof.digests, digests, strict=True), 1):
        if found != computed:
            different.append(Difference(f"document {number}", found[:16], computed[:16]))
    yield check_of("run", 2 * len(runs) - len(different), different)
    if not different:
        yield _same_text("whole page", page, render_html(documents, language=proof.language))


_OUTCOME_WORDS = {"equal": "equal", "different": "DIFFERENT", "not_verifiable": "not verifiable"}


def verification_text(found: Verification) -> str:
    """The outcome, then every check; of what is different both values."""
    lines = [f"{one_line(found.subject)}: {_OUTCOME_WORDS[found.outcome]}"]
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        lines += _check_lines(check, width)
    return "\n".join(lines) + "\n"


def _check_lines(check: Check, width: int) -> list[str]:
    counted = f"{check.equal:,} equal" + (f", {check.different:,} different" if check.different else "")
    told = [counted] if check.equal or check.different else []
    told += [] if check.why_not is None else [one_line(check.why_not)]
    outcome = "" if check.outcome == "equal" else f"{_OUTCOME_WORDS[check.outcome]}: "
    lines = [f"  {check.name:{width}}  {outcome}{'; '.join(told) or 'nothing to compare'}"]
    for each in check.differences:
        where, found, computed = (one_line(text) for text in (each.where, each.found, each.computed))
        lines.append(f"    {where}: {found}, computed {computed}")
    if check.different > len(check.differences):
        lines.append(f"    ... and {check.different - len(check.differences):,} more")
    return lines
