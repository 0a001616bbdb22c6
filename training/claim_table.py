"""All texts with what the judge measures of their claims, measured once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from msgspec import Struct

from hallumeter.claims.judges.embedded.judge import Traits, can_be_weighed, reasons_of, traits_of

from .examples import Example
from .readings import LabelledClaim, claims_of, measured_claims, response_of

SETS = (
    "ragtruth",
    "quintd1",
    "d2t_eval",
    "summedits",
    "defacto",
    "written",
    "gofigure",
    "wice",
    "factcheck_gpt",
    "begin",
    "q2_wow",
    "mts_dialog",
)
"""What trees are trained on and decisions are fitted on."""


class MeasuredText(Struct, frozen=True):
    """A text and what was measured of those of its claims that can be weighed."""

    example: Example
    claims: tuple[LabelledClaim, ...]
    features: np.ndarray
    """What the trees decide by, a row for each claim."""
    reasons: tuple[frozenset[str], ...]
    """What the rules found in each claim."""
    traits: Traits

    @property
    def labels(self) -> np.ndarray:
        """Of its claims: 1 unsupported, 0 supported, -1 not known."""
        known = [claim.is_unsupported for claim in self.claims]
        return np.asarray([-1 if label is None else int(label) for label in known])


def measured_texts(examples: Sequence[Example], *, workers: int = 2) -> list[MeasuredText]:
    """Measure the claims of all texts, in their order; texts without a claim that can be weighed are left out."""
    chosen = [each for each in examples if each.data_set.partition("/")[0] in SETS]
    with ProcessPoolExecutor(workers) as pool:
        return [each for each in pool.map(_measured, chosen, chunksize=16) if each is not None]


def _measured(example: Example) -> MeasuredText | None:
    claims = claims_of(example)
    both = zip(claims, measured_claims(example, [claim.text for claim in claims]), strict=True)
    kept = [(claim, each) for claim, each in both if can_be_weighed(each)]
    if not kept:
        return None
    measured = [each for _, each in kept]
    return MeasuredText(
        example=example,
        claims=tuple(claim for claim, _ in kept),
        features=np.stack([each.features for each in measured]),
        reasons=tuple(map(reasons_of, measured)),
        traits=traits_of(response_of(example), measured),
    )
