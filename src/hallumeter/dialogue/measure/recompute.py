"""The numbers of a measured dialogue once more, from the events that the run keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hallumeter.dialogue.partial import INSTRUMENT
from hallumeter.dialogue.records import EVENTS, SCRIPTS
from hallumeter.run.run_folder import RunFolder

from .commands import RunWriter, measure_dialogues
from .inputs import opened_files
from .settings import DialogueSettings


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Read every answer again and write what comes of it into a folder; what cannot be, by topic, and why."""
    manifest = RunFolder(run).manifest
    stated: dict[str, Any] = manifest.settings
    if manifest.instrument != INSTRUMENT:
        return {"numbers": "a run of questions keeps answers and no summary; verify the run of `dialogue measure`"}
    for name, kept in (
        ("config", "the files of --config"),
        ("judge", "what the judge was asked"),
        ("reader", "the reader"),
    ):
        if stated.get(name) is not None:
            return {"numbers": f"{kept} of this run are not kept in it"}
    settings = DialogueSettings(
        by=tuple(stated["by"]),
        is_indirect_by_vectors=stated["indirect_by_vectors"],
        seed=manifest.seed,
        resamples=stated["resamples"],
        confidence=stated["confidence"],
    )
    scripts = run / SCRIPTS
    with opened_files([run / EVENTS], scripts if scripts.exists() else None) as opened:
        with RunWriter(into, opened.failures) as writer:
            measured = measure_dialogues(opened, settings, keep=writer.add)
        writer.finish(measured)
    return {}
