"""Audit files, or records in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from msgspec import structs

from hallumeter.errors import RecordError, SettingsError
from hallumeter.judges import FunctionJudge
from hallumeter.pipelines.input_files import only_paths
from hallumeter.pipelines.run import Run, written_run
from hallumeter.records import Response
from hallumeter.runner import NoWatch

from .inputs import RecordInputs, opened_files
from .pipeline import run_audit
from .settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hallumeter.extractors import Extractor
    from hallumeter.judges import Judge
    from hallumeter.runner import Watch

    from .pipeline import AuditOutcome


def audit(
    responses: str | Path | Iterable[str | Path] | Iterable[Response] | Iterable[Mapping[str, object]],
    *,
    judge: str | Judge | Callable[..., object] | Iterable[str | Judge | Callable[..., object]] | None = None,
    extractor: str | Extractor | None = None,
    by: str | Iterable[str] = (),
    out: str | Path | None = None,
    settings: AuditSettings | None = None,
) -> Run:
    """Check every claim of every response against its evidence, and keep everything in a run.

    Give one file, several files, or records in Python. Without `out` the run lives in a temporary folder, for as long
    as it is used; an audit that did not come to its end keeps its folder, to be gone on with. An `out` that holds an
    audit of the same records with the same settings is gone on with, or handed back when it is finished; nothing else
    is ever written over.

    Raises:
        KeyboardInterrupt: It was interrupted; the message says with which `out` to go on.

    >>> run = audit([{"id": "r1", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}])
    >>> [finding.verdicts[0].label.value for finding in run.findings()]
    ['REFUTED']
    """
    chosen = _chosen(settings or AuditSettings(), judge=judge, extractor=extractor, by=by)
    return written_run(out, lambda place: _audited(responses, place, settings=chosen))


def audit_files(
    paths: Sequence[Path], out: Path, *, settings: AuditSettings, watch: Watch, is_resumed: bool = False
) -> AuditOutcome:
    """Audit the records in some files into a run folder."""
    with opened_files(paths) as inputs:
        return run_audit(inputs, out, settings=settings, watch=watch, is_resumed=is_resumed)


def _chosen(
    settings: AuditSettings,
    *,
    judge: object,
    extractor: str | Extractor | None,
    by: str | Iterable[str],
) -> AuditSettings:
    if judge is not None:
        settings = structs.replace(settings, judges=_judges(judge))
    if extractor is not None:
        settings = structs.replace(settings, extractor=extractor)
    fields = (by,) if isinstance(by, str) else tuple(by)
    if any(fields):
        settings = structs.replace(settings, measure=structs.replace(settings.measure, by=fields))
    return settings


def _judges(given: object) -> tuple[str | Judge, ...]:
    """One judge, or several; a judge that can be gone through is a judge all the same, and so is a function."""
    several = tuple(given) if isinstance(given, Iterable) and not _is_judge(given) else (given,)
    judges: list[str | Judge] = []
    for each in several:
        if callable(each) and not _is_judge(each):
            judges.append(FunctionJudge(each))
        elif _is_judge(each):
            judges.append(each)
        else:
            found = type(each).__name__
            raise SettingsError(f"judge: expected a name, a judge, a function, or several of them, found {found}")
    return tuple(judges)


def _is_judge(given: object) -> TypeGuard[str | Judge]:
    return isinstance(given, str) or (hasattr(given, "judge") and hasattr(given, "spec"))


def _audited(
    responses: str | Path | Iterable[str | Path] | Iterable[Response] | Iterable[Mapping[str, object]],
    out: Path,
    *,
    settings: AuditSettings,
) -> None:
    if isinstance(responses, str | Path):
        outcome = audit_files([Path(responses)], out, settings=settings, watch=NoWatch(), is_resumed=True)
    elif isinstance(responses, Mapping | Response):
        raise RecordError("audit: expected a list of responses, found a single one; put it in a list")
    else:
        items = list(responses)
        paths = only_paths(items, "audit: paths and responses are mixed; give one kind")
        if paths:
            outcome = audit_files(paths, out, settings=settings, watch=NoWatch(), is_resumed=True)
        else:
            inputs = RecordInputs([item for item in items if not isinstance(item, str | Path)])
            outcome = run_audit(inputs, out, settings=settings, watch=NoWatch(), is_resumed=True)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt(f"the audit was interrupted; audit the same again with out={str(out)!r} to go on")
