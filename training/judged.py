"""What the judge says of the held-back examples, by the code that ships."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage

from .examples import Example
from .model_folder import use_model
from .readings import LabelledClaim, claims_of, response_of

_UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)


class Judged(Struct, frozen=True):
    """An example and what was said of its claims."""

    example: Example
    claims: tuple[LabelledClaim, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def probability(self) -> float:
        """How probable it is that something in the text is unsupported: that of its most doubtful claim."""
        return max((verdict.unsupported_probability or 0.0 for verdict in self.verdicts), default=0.0)

    @property
    def is_called_unsupported(self) -> bool:
        """Whether any claim is called unsupported."""
        return any(verdict.label in _UNSUPPORTED for verdict in self.verdicts)

    @property
    def marked(self) -> set[int]:
        """Characters of the text that are called unsupported."""
        found = [verdict for verdict in self.verdicts if verdict.label in _UNSUPPORTED]
        return {place for verdict in found for place in range(verdict.start or 0, verdict.end or 0)}


def judged(example: Example, *, tier: str, folder: Path, evidence: tuple[Passage, ...] | None = None) -> Judged:
    """Judge one example, if need be with other evidence than its own."""
    claims = tuple(claims_of(example))
    response = response_of(example)
    if evidence is not None:
        response = structs.replace(response, evidence=evidence)
    task = JudgeTask(
        response, tuple(Claim("x", f"x#{number}", start=each.start, end=each.end) for number, each in enumerate(claims))
    )
    said = _judge(tier, folder).judge(task)
    return Judged(example, claims, tuple(each for each in said if isinstance(each, Verdict)))


def all_judged(examples: Sequence[Example], *, tier: str, folder: Path, workers: int = 2) -> list[Judged]:
    """Judge many examples, in their order."""
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(partial(judged, tier=tier, folder=folder), examples, chunksize=8))


_loaded: dict[tuple[str, Path], EmbeddedJudge] = {}


def _judge(tier: str, folder: Path) -> EmbeddedJudge:
    if (tier, folder) not in _loaded:
        _loaded.clear()
        use_model(folder)
        _loaded[tier, folder] = EmbeddedJudge(tier)
    return _loaded[tier, folder]
