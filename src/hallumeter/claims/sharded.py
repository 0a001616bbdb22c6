"""Audits and measurements cut into shards: how rows are keyed, and how one shard is an ordinary small run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.shapes import ANY_SHAPE, RowShape, check_map, fields_seen
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import Price
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Response
from hallumeter.run.digests import write_manifest
from hallumeter.run.identity import timed
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import RECORDS, RunFolder
from hallumeter.run.sharded import Plan, ShardDone, UsualKind, done_of, share_of, whole_outcome
from hallumeter.run.shards import Part
from hallumeter.run.store_tables import store_of
from hallumeter.run.verdict_cache import cache_folder

from .audit.commands import run_audit
from .audit.plan import plan_inputs
from .audit.prepare import ReadingReport, check_fields
from .measure.commands import manifest_of_measure, measure_batches, write_run
from .measure.response_names import ResponseNames
from .measure.table import NAMELESS_JUDGE
from .settings import AuditSettings, LanguageModelSettings, MeasureSettings

Key = Callable[[Mapping[str, object], str], str]


class _Claims(UsualKind):
    """What audits and measurements have in common."""

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """The row of every record: the first with its id and model that may hold it."""
        rows: dict[tuple[str, str | None], list[int]] = {}
        for row in part.rows():
            if row.fields is not None and self._may_hold(row.fields):
                record = _record_id(row.fields, f"{part.source_names[row.source]}:{row.line}")
                model = row.fields.get("model")
                for key in {(record, None if model in (None, "") else str(model)), (record, None)}:
                    rows.setdefault(key, []).append(row.row)
        found: dict[str, int] = {}
        last = -1
        decoder = msgspec.json.Decoder(Response)
        with (folder / RECORDS).open("rb") as stream:
            for response in map(decoder.decode, stream):
                source = _source_id(response)
                known = rows.get((source, response.model)) or rows.get((source, None)) or [-1]
                # Records stand in the order of their rows: one that comes after another has a later row.
                last = next((row for row in known if row > last), known[0])
                found[response.record_id] = last
        return found

    def _may_hold(self, fields: Mapping[str, object]) -> bool:
        del fields
        return True

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """The place in a message counts before the record."""
        del table, line
        return ()

    def check_done(self, plan: Plan, folder: Path) -> None:
        """Refuse an input of which no row counts."""
        if not any(receipt.records for receipt in store_of(folder).committed()):
            failure = next(RunFolder(folder).failures(), None)
            first = "" if failure is None else f"; the first fault: {failure.message}"
            raise InputError(f"{', '.join(plan.found.sources)}: no usable record found{first}")

    def section(self, table: str, line: Mapping[str, Any], row: int) -> int:
        """Failures to read come before those of judging, and measurements of claims before those of samples."""
        del row
        if table == "failures":
            if line["step"] == "samples":
                return 2
            return 0 if line["step"] == "read" and line["code"] != "duplicate_verdict" else 1
        return int(table == "measurements" and line.get("judge") is None)


def _record_id(fields: Mapping[str, object], place: str) -> str:
    given = fields.get("record_id")
    return place if given in (None, "") else str(given)


def _source_id(response: Response) -> str:
    question = response.fields.get("question_id")
    is_renamed = response.model is not None and response.record_id.startswith(f"{question}@{response.model}")
    return str(question) if question is not None and is_renamed else response.record_id


def _key(measure: Mapping[str, Any]) -> Key:
    """By the cluster, where responses are grouped, else by the record."""
    cluster = str(measure["cluster"])

    def key(fields: Mapping[str, object], place: str) -> str:
        value = None if cluster == "response" else fields.get(cluster)
        return _record_id(fields, place) if value is None else str(value)

    return key


class _PartInputs:
    """One part as the input of an audit."""

    def __init__(self, part: Part, files: tuple[InputFile, ...]) -> None:
        self._part, self.files = part, files

    def sources(self, shape: RowShape = ANY_SHAPE) -> Any:
        """Rows by the name of their source; they were shaped when the input was split."""
        del shape
        return self._part.sources()


_PLAIN = (
    *("preset", "threshold", "extractor", "passages_per_claim", "samples", "budget_usd", "concurrency", "limit"),
    "sample",
)


class ShardedAudit(_Claims):
    """Audits in shards."""

    def stored(self, settings: AuditSettings) -> dict[str, Any]:
        """The settings as JSON: judges by name; whether there is a cache, and not where."""
        named = [*settings.judges, settings.extractor, settings.samples]
        if any(each is not None and not isinstance(each, str) for each in named):
            raise SettingsError("judges, extractor and samples of a run in shards are given by name")
        for name in ("limit", "sample"):
            if getattr(settings, name) is not None:
                raise SettingsError(f"--{name} takes some of the answers; leave out --shards and --engine for so few")
        return {
            "judges": list(settings.judges),
            **{name: getattr(settings, name) for name in _PLAIN},
            "knowledge_base": None if settings.knowledge_base is None else str(settings.knowledge_base.absolute()),
            "measure": stored_measure(settings.measure),
            "prices": msgspec.to_builtins(settings.prices),
            "language_model": msgspec.to_builtins(settings.language_model),
            "pace": msgspec.to_builtins(settings.pace),
            "has_cache": settings.cache is not None,
        }

    def settings(self, stored: Mapping[str, Any], *, slots: int) -> AuditSettings:
        """The settings of one shard: one process, and its share of the calls and of the pace."""
        pace = msgspec.convert(stored["pace"], PaceSettings)
        shares = {name: share_of(getattr(pace, name), slots) for name in ("requests_per_minute", "tokens_per_minute")}
        base = stored["knowledge_base"]
        plain = {name: stored[name] for name in _PLAIN}
        return AuditSettings(
            judges=tuple(stored["judges"]),
            measure=msgspec.convert(stored["measure"], MeasureSettings),
            knowledge_base=None if base is None else Path(base),
            prices=msgspec.convert(stored["prices"], dict[str, Price]),
            language_model=msgspec.convert(stored["language_model"], LanguageModelSettings),
            pace=structs.replace(pace, **shares),
            cache=cache_folder() if stored["has_cache"] else None,
            workers=1,
            **(plain | {"concurrency": max(1, plain["concurrency"] // slots)}),
        )

    def key(self, settings: dict[str, Any]) -> Key:
        """By the cluster, where responses are grouped, else by the record."""
        return _key(settings["measure"])

    def _may_hold(self, fields: Mapping[str, object]) -> bool:
        return fields.get("response") is not None

    def check(self, plan: Plan) -> None:
        """Refuse an input without a response, and what `hallumeter audit` refuses of a whole input."""
        settings, found = self.settings(plan.settings, slots=1), plan.found
        check_map(settings.measure.map, found.fields)
        names = ", ".join(found.sources)
        if not found.fields:
            raise InputError(f"{names}: no usable record found{found.first_fault}")
        if "response" not in found.fields:
            raise InputError(f"{names}: no row has a response; {fields_seen('response', found.fields)}")
        check_fields(_report(tuple(found.fields)), settings)

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Audit a part."""
        settings = self.settings(plan.settings, slots=plan.slots)
        outcome = run_audit(_PartInputs(part, plan.inputs), folder, settings=settings, progress=NoProgress())
        summary = whole_outcome(outcome).summary
        assert summary is not None, "an audit is measured"
        return done_of(outcome, records=summary.counts.records, failures=summary.counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float | None, int, float | None]:
        """What a part takes; only judges of this package are let work, since others may cost money."""
        settings = self.settings(plan.settings, slots=1)
        inputs = _PartInputs(part, plan.inputs)
        calls = plan_inputs(inputs, settings=settings)
        ours = tuple(judge for judge in settings.judges if isinstance(judge, str) and judge.startswith(_OURS))
        seconds = None
        if ours and settings.extractor in ("sentences", "clauses"):
            begun = time.monotonic()
            alone = structs.replace(settings, judges=ours, samples=None, cache=None)
            measure = structs.replace(alone.measure, headline=None)
            run_audit(inputs, folder, settings=structs.replace(alone, measure=measure), progress=NoProgress())
            seconds = time.monotonic() - begun
        return seconds, sum(each.calls for each in calls.parts), calls.cost_usd


_OURS = ("embedded", "rules", "recorded:")


def _report(fields: tuple[str, ...]) -> ReadingReport:
    """What is known of the whole input before any of it is audited."""
    return ReadingReport(
        records=0,
        records_by_source={},
        aliases={},
        fields=fields,
        names=ResponseNames(),
        rows_passed_over=0,
        records_left_out=0,
        records_without_evidence=0,
    )


def stored_measure(settings: MeasureSettings) -> dict[str, Any]:
    """How verdicts are turned into a summary, as JSON."""
    if settings.consensus == "dawid-skene":
        raise SettingsError("--consensus dawid-skene weighs all claims at once; leave out --shards and --engine")
    stored: dict[str, Any] = msgspec.to_builtins(settings)
    return stored


class ShardedMeasure(_Claims):
    """Measurements of given verdicts in shards."""

    def stored(self, settings: MeasureSettings) -> dict[str, Any]:
        """The settings as JSON."""
        return stored_measure(settings)

    def key(self, settings: dict[str, Any]) -> Key:
        """By the cluster, where responses are grouped, else by the record."""
        return _key(settings)

    def name(self, fields: Mapping[str, object]) -> str | None:
        """The judge: which ones there are decides whose verdicts count."""
        return None if fields.get("claim_id") in (None, "") else str(fields.get("judge") or NAMELESS_JUDGE)

    def check(self, plan: Plan) -> None:
        """Refuse to group by a field that no row has."""
        settings, found = msgspec.convert(plan.settings, MeasureSettings), plan.found
        check_map(settings.map, found.fields)
        if not found.fields:
            raise InputError(f"{', '.join(found.sources)}: no usable record found{found.first_fault}")
        absent = [field for field in settings.fields if field not in found.fields]
        if absent:
            raise SettingsError(f"no row has the field {absent[0]!r}; fields found: {', '.join(found.fields)}")

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Measure a part."""
        started = datetime.now(UTC)
        settings = msgspec.convert(plan.settings, MeasureSettings)
        run = measure_batches(part.sources(), settings, version=version("hallumeter"), judges=plan.found.names)
        folder.mkdir()
        write_run(folder, run, part.sources())
        inputs = tuple(structs.replace(file, records=run.rows_by_source.get(file.name, 0)) for file in plan.inputs)
        write_manifest(folder, timed(manifest_of_measure(run, settings, inputs), started))
        counts = run.summary.counts
        return ShardDone(records=counts.records if run.is_usable else 0, failures=counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float, int, float | None]:
        """What a part takes: nobody is asked."""
        begun = time.monotonic()
        self.work(plan, part, folder)
        return time.monotonic() - begun, 0, 0.0


KINDS = {"audit": ShardedAudit(), "measure": ShardedMeasure()}
