"""The numbers of a run of aspects once more, from its outputs or its scorecards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from hallumeter.records.manifest import Manifest
from hallumeter.run.engines.local import available_cores
from hallumeter.run.run_folder import FAILURES, RunFolder

from .aggregate.overview import INSTRUMENT as AGGREGATED
from .aggregate.overview import AggregateSettings
from .aggregate.run_writer import SCORECARDS, write_scorecard_run
from .run.finishing import OUTPUTS_FILE, finish_run
from .settings import MappingThresholds


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Score and aggregate again, and write what comes of it into a folder; no agent is asked."""
    manifest = RunFolder(run).manifest
    if manifest.instrument == AGGREGATED:
        stated: dict[str, Any] = manifest.settings
        settings = AggregateSettings(
            profile=stated["profile"],
            seed=manifest.seed,
            resamples=stated["resamples"],
            confidence=stated["confidence"],
            workers=available_cores(),
        )
        write_scorecard_run(run / SCORECARDS, into, settings)
        return {}
    shutil.copyfile(run / FAILURES, into / FAILURES)
    shutil.copyfile(run / OUTPUTS_FILE, into / OUTPUTS_FILE)
    finish_run(into, _mapping(manifest))
    (into / OUTPUTS_FILE).unlink()  # it was only read
    return {}


def _mapping(manifest: Manifest) -> MappingThresholds:
    """The thresholds of the run, as its manifest states them."""
    lines = manifest.settings.get("mapping")
    named = (line.partition("=") for line in lines) if isinstance(lines, list) else ()
    return MappingThresholds(**{name: float(value) for name, _, value in named})
