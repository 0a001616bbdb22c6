"""The numbers of a run of transcripts once more, from the texts that it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hallumeter.records.manifest import Manifest
from hallumeter.records.page import Transcript
from hallumeter.run.run_folder import RunFolder
from hallumeter.text.spelling import parse_spelling

from .anchoring import AnchoringSettings
from .commands import RunWriter, measure_transcripts
from .inputs import opened_records
from .policy import PagePolicy
from .settings import TranscriptSettings

_STATUS = "status"


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Align every page again and write what comes of it into a folder; what cannot be, by topic, and why."""
    folder = RunFolder(run)
    manifest = folder.manifest
    if manifest.settings.get("witness") is not None:
        return {"numbers": "how sure a witness was of every word is not kept in a run"}
    settings = _settings(manifest)
    with opened_records(_transcripts(folder), columns=settings.columns) as jobs:
        with RunWriter(into, jobs.engines) as writer:
            measured = measure_transcripts(jobs, settings, keep=writer.add)
        writer.finish(measured)
    return {}


def _transcripts(folder: RunFolder) -> Iterator[Transcript]:
    for record in folder.records():
        fields = {name: value for name, value in record.fields.items() if name not in ("page", _STATUS)}
        page = str(record.fields.get("page", record.record_id))
        reference = record.evidence[0].text if record.evidence else ""
        yield Transcript(page, record.model or "", reference, record.response or "", fields)


def _settings(manifest: Manifest) -> TranscriptSettings:
    """The settings that a run was measured with, as its manifest states them."""
    stated: dict[str, Any] = manifest.settings
    return TranscriptSettings(
        spelling=parse_spelling([stated["spelling"]]),
        measures=stated["measures"],
        anchoring=AnchoringSettings(**_part(stated, "picarones_")),
        count_notes=stated["count_notes"],
        page_level=stated["page_level"],
        by=tuple(stated["by"]),
        rank_by=stated["rank_by"],
        pages=PagePolicy(**_part(stated, "badge_")),
        seed=manifest.seed,
        resamples=stated["resamples"],
        confidence=stated["confidence"],
    )


def _part(stated: dict[str, Any], beginning: str) -> dict[str, Any]:
    return {name.removeprefix(beginning): value for name, value in stated.items() if name.startswith(beginning)}
