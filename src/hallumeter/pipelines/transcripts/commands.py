"""Measure transcripts: from paths or from Python, with or without a run folder."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.errors import RecordError
from hallumeter.pipelines.input_files import only_paths
from hallumeter.pipelines.run import Run, load, written_run
from hallumeter.records import MANIFEST_VERSION, JudgeEntry, Manifest
from hallumeter.store import MANIFEST, REPORT, new_run_folder, write_json

from .inputs import Given, opened_paths, opened_records
from .jobs import WITNESS
from .page import ALIGNMENT
from .pipeline import MeasuredTranscripts, measure_transcripts
from .run_writer import RunWriter
from .settings import TranscriptSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from .jobs import Jobs

INSTRUMENT = "transcripts"


def transcripts(
    given: str | Path | Sequence[str | Path] | Iterable[Given],
    *,
    settings: TranscriptSettings | None = None,
    out: str | Path | None = None,
) -> Run:
    """Compare what engines wrote with what is on the pages, and keep everything in a run.

    Give paths (the ground truth, then each engine; or one table), or transcripts in Python. Without `out` the run
    lives in a temporary folder, for as long as it is used.

    >>> run = transcripts([("le roi de france", "le roi de france et de navarre et des indes")])
    >>> [finding.claim.text for finding in run.findings() if finding.claim.kind == "block"]
    ['et de navarre et des indes']
    """
    chosen = settings or TranscriptSettings()
    return written_run(out, lambda place: transcripts_to_folder(_opened(given, chosen), place, settings=chosen))


def transcripts_of_jobs(
    jobs: AbstractContextManager[Jobs], *, settings: TranscriptSettings, watch: Callable[[int, int], None] | None = None
) -> MeasuredTranscripts:
    """Measure pages without keeping their findings."""
    with jobs as opened:
        return measure_transcripts(opened, settings, watch=watch)


def transcripts_to_folder(
    jobs: AbstractContextManager[Jobs],
    out: Path,
    *,
    settings: TranscriptSettings,
    watch: Callable[[int, int], None] | None = None,
) -> MeasuredTranscripts:
    """Measure pages and keep everything in a run folder with its report."""
    started = datetime.now(UTC)
    with new_run_folder(out) as folder, jobs as opened:
        with RunWriter(folder) as writer:
            measured = measure_transcripts(opened, settings, watch=watch, keep=writer.add)
        writer.finish(measured)
        write_json(folder / MANIFEST, _manifest(measured, opened, settings=settings, started=started))
        load(folder).to_html(folder / REPORT)
    return measured


def _opened(
    given: str | Path | Sequence[str | Path] | Iterable[Given], settings: TranscriptSettings
) -> AbstractContextManager[Jobs]:
    if isinstance(given, str | Path):
        return opened_paths([Path(given)], columns=settings.columns)
    items = list(given)
    if not items:
        raise RecordError("transcripts: nothing given; expected paths, or transcripts")
    paths = only_paths(items, "transcripts: paths and transcripts are mixed; give one kind")
    if paths:
        return opened_paths(paths, columns=settings.columns)
    return opened_records([item for item in items if not isinstance(item, str | Path)], columns=settings.columns)


def _manifest(
    measured: MeasuredTranscripts, jobs: Jobs, *, settings: TranscriptSettings, started: datetime
) -> Manifest:
    judge = JudgeEntry(ALIGNMENT, f"spelling {settings.spelling}")
    if jobs.witness is not None:
        judge = JudgeEntry(WITNESS, jobs.witness)
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=INSTRUMENT,
        inputs=measured.inputs,
        settings={
            "spelling": str(settings.spelling),
            "measures": settings.measures,
            "by": list(settings.by),
            "rank_by": settings.ranking_metric,
            "witness": jobs.witness,
            **{f"picarones_{name}": value for name, value in structs.asdict(settings.anchoring).items()},
            **{f"badge_{name}": value for name, value in structs.asdict(settings.pages).items()},
            **{f"witness_{name}": value for name, value in structs.asdict(settings.witness).items()},
            "witness_confidence": settings.witness_confidence,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        judges=(judge,),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
