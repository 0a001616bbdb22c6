"""A run and labels in, corrected rates out: what `hallumeter correct` and `hallumeter.correct` run."""

from __future__ import annotations

from pathlib import Path

from hallumeter.claims.labelled.correction import CorrectSettings, corrected_rates
from hallumeter.claims.labelled.reading import read_labelled
from hallumeter.records.decisions import Correction
from hallumeter.run.finished import Run, load


def correct(run: Run | str | Path, *, settings: CorrectSettings | None = None) -> Correction:
    """Correct the rates of a run for the errors of its judge, by the labels that people gave to some of its claims.

    Raises:
        InputError: There are no labels, or they speak of nothing in the run, or contradict each other.
    """
    chosen = settings or CorrectSettings()
    opened = run if isinstance(run, Run) else load(run)
    labelled = read_labelled(opened, chosen.source.drawn_as_in(opened.manifest))
    return corrected_rates(labelled, name=opened.path.name or str(opened.path), settings=chosen)
