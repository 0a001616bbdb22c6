"""What labels say about the judges of a run, for its report."""

from msgspec import Struct

from .baselines import NullBaselines
from .correction import Correction


class JudgeChecks(Struct, frozen=True):
    """Everything that could be computed without asking a judge."""

    baselines: NullBaselines | None = None
    correction: Correction | None = None
    """Of the judge that the headline rests on."""
