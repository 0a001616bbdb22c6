"""Measure files, or records in Python, with or without a run folder."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hallumeter.errors import RecordError, SettingsError
from hallumeter.formats import Batch, read_rows
from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.pipelines.input_files import named_files, rereadable_files, row_batches, sha256_of
from hallumeter.pipelines.run import load
from hallumeter.policy import Policy, parse_policy
from hallumeter.records import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest, Summary, Verdict
from hallumeter.store import MANIFEST, REPORT, new_run_folder, write_json

from .pipeline import measure_batches
from .run_writer import write_run
from .settings import MeasureSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .pipeline import MeasuredRun


def measure(
    verdicts: str | Path | Sequence[str | Path] | Iterable[Verdict] | Iterable[Mapping[str, object]],
    *,
    by: str | Sequence[str] = (),
    settings: MeasureSettings | None = None,
) -> Summary:
    """Measure verdicts: one file, several files, or rows in Python.

    >>> rows = [{"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED"},
    ...         {"record_id": "r1", "claim_id": "c2", "label": "REFUTED"}]
    >>> measure(rows).metrics[0].value
    0.5
    """
    chosen = settings or MeasureSettings()
    if by:
        chosen = msgspec.structs.replace(chosen, by=(by,) if isinstance(by, str) else tuple(by))
    if isinstance(verdicts, (str, Path)):
        return measure_files([Path(verdicts)], settings=chosen).summary
    if isinstance(verdicts, (dict, Verdict)):
        raise RecordError("rows: expected a list of rows, found a single one; put it in a list")
    rows = list(verdicts)
    if rows and all(isinstance(row, (str, Path)) for row in rows):
        return measure_files([Path(row) for row in rows if isinstance(row, (str, Path))], settings=chosen).summary
    given = (_as_mapping(row, number) for number, row in enumerate(rows, 1))
    sources = [("rows", row_batches(given, "rows", fields=chosen.fields))]
    return measure_batches(sources, chosen, version=version("hallumeter")).summary


def measure_files(
    paths: Sequence[Path], *, settings: MeasureSettings, watch: Callable[[int], None] | None = None
) -> MeasuredRun:
    """Measure the verdicts in some files."""
    sources = [(name, _watched(read_rows(path, settings.fields), watch)) for name, path in named_files(paths)]
    return measure_batches(sources, settings, version=version("hallumeter"))


def measure_to_folder(
    paths: Sequence[Path], out: Path, *, settings: MeasureSettings, watch: Callable[[int], None] | None = None
) -> MeasuredRun:
    """Measure the verdicts in some files and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    with new_run_folder(out) as folder, rereadable_files(paths) as files_read:
        sources = [(name, _watched(read_rows(path, settings.fields), watch)) for name, path in files_read]
        run = measure_batches(sources, settings, version=version("hallumeter"))
        write_run(folder, run, [(name, read_rows(path, fields=None)) for name, path in files_read])
        inputs = tuple(InputFile(name, sha256_of(path), run.rows_by_source.get(name, 0)) for name, path in files_read)
        write_json(folder / MANIFEST, _manifest(run, settings, inputs=inputs, started=started))
        load(folder).to_html(folder / REPORT)
    return run


def read_policy(path: Path) -> Policy:
    """Read a policy file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the policy cannot be read ({error})") from error
    return parse_policy(text, source=str(path), known_metrics=METRICS_BY_ID)


def _watched(batches: Iterator[Batch], watch: Callable[[int], None] | None) -> Iterator[Batch]:
    for batch in batches:
        yield batch
        if watch is not None:
            watch(len(batch.lines))


def _manifest(
    run: MeasuredRun, settings: MeasureSettings, *, inputs: tuple[InputFile, ...], started: datetime
) -> Manifest:
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=run.summary.instrument,
        inputs=inputs,
        settings={
            "by": list(settings.by),
            "consensus": settings.consensus,
            "headline": settings.headline,
            "uncertainty": settings.uncertainty,
            "similarity": settings.similarity,
            "cluster": settings.cluster,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
            "policies": [policy.name for policy in settings.policies],
        },
        judges=tuple(JudgeEntry(name, "recorded") for name in run.measured.table.judge_names),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _as_mapping(row: object, number: int) -> dict[str, object]:
    try:
        if isinstance(row, Verdict):
            built = msgspec.to_builtins(row)
            row = {name: value for name, value in built.items() if name != "evidence" and value not in (None, [], ())}
        if isinstance(row, dict):
            msgspec.json.encode(row)
            return {str(name): value for name, value in row.items()}
    except UnicodeEncodeError as error:
        raise RecordError(f"rows:{number}: a text holds half of a character (a lone surrogate); repair it") from error
    except TypeError as error:
        raise RecordError(f"rows:{number}: {error}") from error
    raise RecordError(f"rows:{number}: expected a Verdict or a dict, found {type(row).__name__}")
