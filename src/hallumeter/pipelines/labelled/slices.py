"""The slices of a labelled run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .reading import LabelledRun


def record_slices(run: LabelledRun, by: tuple[str, ...]) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """All records, then those of each combination of values of the fields.

    Raises:
        SettingsError: No record has one of the fields.
    """
    for place, name in enumerate(by):
        if not any(values[place] for values in run.slices):
            raise SettingsError(f"--by {name}: no record of the run has that field")
    yield {}, np.ones(len(run.record_ids), dtype=bool)
    if by:
        for values in sorted(set(run.slices)):
            yield dict(zip(by, values, strict=True)), np.array([each == values for each in run.slices])
