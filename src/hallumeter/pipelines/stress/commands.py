"""Put judges to the test with the claims of files, or of records in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import structs

from hallumeter.errors import RecordError, SettingsError
from hallumeter.judges import FunctionJudge
from hallumeter.pipelines.audit.inputs import RecordInputs, opened_files
from hallumeter.records import Response
from hallumeter.runner import NoWatch

from .pipeline import StressOutcome, run_stress
from .settings import StressSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hallumeter.judges import Judge
    from hallumeter.runner import Watch

    from .result import StressResult

    JudgeLike = str | Judge | Callable[..., object]


def stress(
    responses: str | Path | Iterable[Response] | Iterable[Mapping[str, object]],
    *,
    judge: JudgeLike | Sequence[JudgeLike] | None = None,
    out: str | Path | None = None,
    settings: StressSettings | None = None,
) -> StressResult:
    """Put errors of known kinds into supported claims, and see which of them judges catch.

    Give a file, or records in Python: each a response with its evidence. With `out`, every edited claim and what was
    said of it are written to a new folder.

    Raises:
        KeyboardInterrupt: It was interrupted.

    >>> text = "The tower was built in 1889. It is 330 m high and stands in Paris."
    >>> result = stress([{"id": "r1", "response": "It is high.", "evidence": text}], judge="rules")
    >>> [judge.judge for judge in result.judges], result.claims_from, result.claims
    (['rules@1'], 'evidence', 2)
    """
    chosen = settings or StressSettings()
    if judge is not None:
        chosen = structs.replace(chosen, judging=structs.replace(chosen.judging, judges=_judges(judge)))
    place = None if out is None else Path(out)
    if isinstance(responses, str | Path):
        return stress_files([Path(responses)], place, settings=chosen, watch=NoWatch()).result
    if isinstance(responses, Mapping | Response):
        raise RecordError("stress: expected a list of responses, found a single one; put it in a list")
    return run_stress(RecordInputs(responses), settings=chosen, watch=NoWatch(), out=place).result


def stress_files(paths: Sequence[Path], out: Path | None, *, settings: StressSettings, watch: Watch) -> StressOutcome:
    """Put judges to the test with the claims of some files."""
    with opened_files(paths) as inputs:
        return run_stress(inputs, settings=settings, watch=watch, out=out)


def _judges(given: JudgeLike | Sequence[JudgeLike]) -> tuple[str | Judge, ...]:
    return tuple(map(_judge, given if isinstance(given, list | tuple) else [given]))


def _judge(given: object) -> str | Judge:
    """A name, a judge as it is, or a function of a claim and its evidence."""
    if isinstance(given, str):
        return given
    if hasattr(given, "judge") and hasattr(given, "spec"):
        return cast("Judge", given)
    if callable(given):
        return FunctionJudge(given)
    found = type(given).__name__
    raise SettingsError(f"judge: expected a name, a judge, a function, or a list of them, found {found}")
