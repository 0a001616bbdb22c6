"""Aspects from Python: sentences in, a run out."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.records.manifest import Manifest
from hallumeter.run.engines.local import available_cores
from hallumeter.run.finished import Run, written_run
from hallumeter.run.run_folder import FAILURES, RunFolder

from .aggregate.overview import INSTRUMENT as AGGREGATED
from .aggregate.overview import AggregateSettings
from .aggregate.run_writer import SCORECARDS, write_scorecard_run
from .run.experiment import experiment_of
from .run.finishing import OUTPUTS_FILE, finish_run
from .run.pipeline import AspectsOutcome, run_experiment
from .score.pipeline import INSTRUMENT as SCORED
from .settings import MappingThresholds

_SENTENCES = "sentences.jsonl"


def aspects(
    sentences: str | Path | Iterable[str | Mapping[str, object]],
    *,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
) -> Run:
    """Let agents find the aspects of sentences and what is felt about them, and keep everything in a run.

    Give a file, texts, or rows with `text` and perhaps `text_id`, `language`, `domain` and `gold_tuples`. `settings`
    has the form of `experiment.yaml`; without any, the offline agents read. Without `out` the run lives in a temporary
    folder, for as long as it is used.

    >>> run = aspects(["The battery is great but the screen is terrible."])
    >>> sorted({finding.claim.text for finding in run.findings()})
    ['battery', 'screen']
    """
    if isinstance(sentences, str | Path):
        return written_run(out, lambda place: _run(Path(sentences), place, settings))
    rows = [{"text": row} if isinstance(row, str) else row for row in sentences]
    if not rows:
        raise RecordError("aspects: nothing given; expected a file, texts, or rows with a text")
    with TemporaryDirectory(prefix="hallumeter-") as folder:
        file = Path(folder) / _SENTENCES
        try:
            file.write_bytes(msgspec.json.Encoder().encode_lines(rows))
        except (TypeError, ValueError) as error:
            raise RecordError(f"aspects: a row cannot be written as JSON ({error}); give plain values") from error
        return written_run(out, lambda place: _run(file, place, settings))


def _run(file: Path, place: Path, settings: Mapping[str, Any] | None) -> AspectsOutcome:
    document = dict(settings or {})
    document["data"] = {**document.get("data", {}), "input": str(file)}
    experiment = experiment_of(document | {"output": str(place.parent), "run_id": place.name})
    outcome = run_experiment(experiment)
    if outcome.finished is None:
        raise InputError(f"{place}: the run was interrupted; go on with it by the same call and out={str(place)!r}")
    return outcome


# The numbers of a run once more, from its outputs or its scorecards.


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Score and aggregate again, and write what comes of it into a folder; no agent is asked."""
    manifest = RunFolder(run).manifest
    if manifest.instrument in (AGGREGATED, SCORED):
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
