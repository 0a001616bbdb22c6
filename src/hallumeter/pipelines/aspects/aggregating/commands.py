"""Aggregate scorecards into a run folder of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hallumeter.pipelines.input_files import rereadable_files, sha256_of
from hallumeter.pipelines.run import load
from hallumeter.records import InputFile
from hallumeter.store import REPORT, new_run_folder

from .run_writer import write_manifest, write_scorecard_run

if TYPE_CHECKING:
    from pathlib import Path

    from .pipeline import Aggregated
    from .settings import AggregateSettings


def aggregate_to_folder(scorecards: Path, out: Path, settings: AggregateSettings) -> Aggregated:
    """Aggregate a file of scorecards, and keep everything in a run folder with its report.

    Raises:
        InputError: The file cannot be read, or the folder holds something.
    """
    started = datetime.now(UTC)
    with new_run_folder(out) as folder, rereadable_files([scorecards]) as [(name, path)]:
        found = write_scorecard_run(path, folder, settings)
        source = InputFile(name, sha256_of(path), found.summary.counts.records)
        write_manifest(folder, source, settings, started=started)
        load(folder).to_html(folder / REPORT)
    return found
