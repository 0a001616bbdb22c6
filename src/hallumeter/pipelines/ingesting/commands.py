"""Take in files of another tool, from the command line or in Python."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.formats.foreign import read_foreign
from hallumeter.pipelines.input_files import named_files, sha256_of
from hallumeter.pipelines.measurement import MeasureSettings
from hallumeter.pipelines.run import Run, load, written_run
from hallumeter.records import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.store import MANIFEST, REPORT, new_run_folder, write_json

from .pipeline import INSTRUMENT, IngestedRun, write_files
from .ranges import RANGES, range_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def ingest(
    paths: str | Path | Iterable[str | Path],
    *,
    tool: str | None = None,
    by: str | Iterable[str] = (),
    out: str | Path | None = None,
    settings: MeasureSettings | None = None,
) -> Run:
    """Take in results of Ragas, DeepEval, TruLens, promptfoo, Inspect, LettuceDetect, RAGTruth, RefChecker or HELM.

    The tool is told by what the files hold, unless it is named. Its verdicts on claims are kept as verdicts, its
    scores as measurements; a number that stands where nothing was measured is unmeasured in the run.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    chosen = settings or MeasureSettings()
    fields = (by,) if isinstance(by, str) else tuple(by)
    if any(fields):
        chosen = structs.replace(chosen, by=fields)
    files = [Path(path) for path in given]
    return written_run(out, lambda place: ingest_to_folder(files, place, tool=tool, settings=chosen))


def ingest_to_folder(
    paths: Sequence[Path], out: Path, *, settings: MeasureSettings, tool: str | None = None
) -> IngestedRun:
    """Take in some files of one tool, and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    files = read_foreign(paths, tool)
    hallumeter = version("hallumeter")
    with new_run_folder(out) as folder:
        run = write_files(folder, files, settings, hallumeter=hallumeter)
        manifest = Manifest(
            version=MANIFEST_VERSION,
            hallumeter=hallumeter,
            instrument=INSTRUMENT,
            inputs=tuple(
                InputFile(name, sha256_of(path), run.summary.counts.records) for name, path in named_files(paths)
            ),
            settings={
                "tool": files.name,
                "by": list(settings.by),
                "resamples": settings.resamples,
                "confidence": settings.confidence,
                "cluster": settings.cluster,
                RANGES: range_lines(run.scores),
            },
            judges=tuple(JudgeEntry(name, f"recorded: {spec}") for name, spec in run.judges.items()),
            seed=settings.seed,
            started=started.isoformat(timespec="seconds"),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        write_json(folder / MANIFEST, manifest)
        load(folder).to_html(folder / REPORT)
    return run
