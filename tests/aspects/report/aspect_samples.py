"""A run of aspect agents that err, for tests of its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hallumeter.aspects.commands import aspects
from hallumeter.aspects.report.presentation import traced_sentences
from hallumeter.report.build import build_document
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import Document, RecordFindings
from hallumeter.run.finished import Run
from hallumeter.run.run_folder import RunFolder

SCRIPT = '''
def answer(task):
    """Finds what is not there, misplaces what is, and says nothing else."""
    if task.role == "ate":
        aspects = [{"term": "battery", "span": {"start": 3, "end": 10}}, {"term": "keyboard", "span": None}]
        return {"aspects": aspects}
    return {}
'''
ROW = {
    "text_id": "r1",
    "text": "The battery is great but the screen is terrible.",
    "gold_tuples": [
        {"aspect_term": "battery", "polarity": "positive"},
        {"aspect_term": "screen", "polarity": "negative"},
    ],
}


def erring_run(folder: Path) -> Iterator[Run]:
    """A run whose extraction invents an aspect and misplaces another; the offline agents do the rest."""
    (folder / "erring_extraction.py").write_text(SCRIPT, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        settings = {"agents": {"ate": "python:erring_extraction:answer"}, "seeds": [0, 1]}
        yield aspects([ROW], settings=settings, out=folder / "run")


def whole_document(path: Path) -> Document:
    """The document of a run, with everything that its folder tells."""
    folder = RunFolder(path)
    return build_document(
        summary=folder.summary,
        manifest=folder.manifest,
        metric_texts=metric_texts(),
        records=(RecordFindings(response, findings) for response, findings in folder.findings()),
        failures=folder.failures(),
        own=traced_sentences(path),
    )
