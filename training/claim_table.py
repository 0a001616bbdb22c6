"""All claims of the examples with their features and labels, measured once and kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from .examples import Example
from .folds import fold_of
from .readings import claims_of, measured_claims

UNKNOWN = -1
SETS = ("ragtruth", "quintd1", "d2t_eval", "summedits", "defacto", "written", "gofigure", "wice")


class ClaimTable(Struct, frozen=True):
    """One row for each claim."""

    features: np.ndarray
    labels: np.ndarray
    """1 unsupported, 0 supported, -1 not known."""
    example: np.ndarray
    """Numbers of the examples."""
    fold: np.ndarray


def claim_table(examples: Sequence[Example], path: Path) -> ClaimTable:
    """Measure all claims, or read what was measured before from a file."""
    if path.exists():
        with np.load(path) as kept:
            return ClaimTable(**{name: kept[name] for name in ClaimTable.__struct_fields__})
    features, labels, numbers = [], [], []
    for number, example in enumerate(examples):
        if example.data_set.partition("/")[0] not in SETS:
            continue
        claims = claims_of(example)
        for claim, measured in zip(claims, measured_claims(example, [claim.text for claim in claims]), strict=True):
            features.append(measured.features)
            labels.append(UNKNOWN if claim.is_unsupported is None else int(claim.is_unsupported))
            numbers.append(number)
    folds = [fold_of(examples[number]) for number in numbers]
    table = ClaimTable(np.stack(features), np.asarray(labels), np.asarray(numbers), np.asarray(folds))
    np.savez_compressed(path, **{name: getattr(table, name) for name in ClaimTable.__struct_fields__})
    return table
