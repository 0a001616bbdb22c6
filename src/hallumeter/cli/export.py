"""`hallumeter export`: a run in, files for other programs out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import opened_run, say_what_happened
from .parameters import PATH, PLACE, RUN, command, no_verify_option, option, quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.run.finished import Run

FORMS = ("csv", "xlsx", "dataset", "jsonl", "parquet", "junit", "sarif", "otel", "mlflow")


@command(short_help="Hand a run to other programs: tables, datasets, MLflow.")
@click.argument("run", type=RUN, metavar="RUN")
@option("--to", "form", type=click.Choice(FORMS), default="csv", help="What to write, from the list above.")
@option("--out", type=PLACE, metavar="PATH", help="The folder or file to write; it must not exist.")
@option("--policy", type=PATH, metavar="FILE", help="The policy whose bounds junit and sarif report.")
@option("--endpoint", metavar="URL", help="With otel: the collector to send events to, instead of a file.")
@option("--raw-csv", "is_raw", is_flag=True, help="With csv: leave cells that look like formulas as they are.")
@quiet_option
@no_verify_option
def export(run: Path, form: str, out: str | Path | None, **options: Any) -> None:
    """Write what a run found in a form that other programs read.

    \b
    Forms:
      csv      a folder: metrics, responses, claims and verdicts as CSV files
      xlsx     one workbook with the same as sheets; needs the extra `xlsx`
      dataset  a folder of Parquet files with a card, as on Hugging Face; needs
               the extra `parquet`; nothing is uploaded
      jsonl    a run in shards as an ordinary run folder: the same bytes as on
               one machine, in the order of the input
      parquet  a run folder as a run in shards, here or in s3://...; `report`,
               `view`, `compare`, `gate`, `correct` and `verify` read it, too
      junit    the bounds of a policy as JUnit XML
      sarif    unsupported claims as SARIF, by the bounds of a policy
      otel     an OpenTelemetry event for each answer, in a file or sent to
               the --endpoint that you type; needs the extra `otel`
      mlflow   a run in your MLflow (MLFLOW_TRACKING_URI): metrics, report,
               tables; needs the extra `mlflow`

    \b
    Examples:
      hallumeter export run --out tables
      hallumeter export run --to xlsx --out run.xlsx
      hallumeter export run --to dataset --out my-dataset
      hallumeter export s3://bucket/run --to jsonl --out run
      hallumeter export run --to parquet --out s3://bucket/run
      hallumeter export run --to sarif --policy policy.toml --out run.sarif
      hallumeter export run --to otel --endpoint http://localhost:4318/v1/logs
      hallumeter export run --to mlflow
    """
    place = _checked(form, out, policy=options["policy"], endpoint=options["endpoint"])
    opened = opened_run(run, is_verified=not options["no_verify"], is_quiet=options["quiet"])
    written: object = place
    notices: Sequence[str] = ()
    if form in ("jsonl", "parquet"):
        _convert(run, form, place)
    else:
        written, notices = _written(opened, form, Path(place), options=options)
    if not options["quiet"]:
        say_what_happened((), notices)
        click.echo(f"written: {written}", err=True)


def _written(run: Run, form: str, out: Path, *, options: dict[str, Any]) -> tuple[object, Sequence[str]]:
    """Write what a run found; gives where it is, and what the form could not hold."""
    if form in ("csv", "dataset"):
        _write_folder(run, form, out, is_raw=options["is_raw"])
    elif form == "xlsx":
        from hallumeter.run.export_tables import export_workbook

        return out, export_workbook(run, out)
    elif form in ("junit", "sarif"):
        out.write_text(_bounds_text(run, form, options["policy"]), encoding="utf-8")
    else:
        return _sent(run, form, out, endpoint=options["endpoint"]), ()
    return out, ()


def _checked(form: str, out: str | Path | None, *, policy: Path | None, endpoint: str | None) -> str | Path:
    """Refuse what does not go together, and to write over anything, before anything is read; gives the place."""
    from hallumeter.errors import InputError

    context = click.get_current_context()
    if form in ("junit", "sarif") and policy is None:
        raise click.UsageError(f"--to {form} needs bounds: add --policy FILE", context)
    if form == "otel" and (out is None) == (endpoint is None):
        raise click.UsageError("--to otel needs a file (--out) or a collector (--endpoint), one of them", context)
    if form not in ("otel", "mlflow") and out is None:
        raise click.UsageError(f"--to {form} needs a place: add --out PATH", context)
    if isinstance(out, str) and form != "parquet":
        raise click.UsageError(f"--to {form} writes on this machine; only --to parquet goes to s3://", context)
    if isinstance(out, Path) and out.exists():
        raise InputError(f"{out}: is there already; choose another --out")
    return out or Path()


def _convert(run: Path, form: str, out: str | Path) -> None:
    """Turn a run in shards into a folder of JSONL files, or such a folder into shards."""
    from hallumeter.run.export import export_jsonl, export_parquet
    from hallumeter.run.run_folder import new_run_folder

    if form == "parquet":
        export_parquet(run, out)
        return
    with new_run_folder(Path(out)) as folder:
        export_jsonl(run, folder)


def _write_folder(run: Run, form: str, folder: Path, *, is_raw: bool) -> None:
    """Write the tables into a new folder, which a failure leaves behind nothing of."""
    import shutil

    from hallumeter.run.export_tables import export_csv, export_dataset

    folder.mkdir(parents=True)
    try:
        if form == "csv":
            export_csv(run, folder, is_raw=is_raw)
        else:
            export_dataset(run, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def _bounds_text(run: Run, form: str, policy: Path | None) -> str:
    from hallumeter.decide.gate.pipeline import gate
    from hallumeter.decide.gate.text import gate_junit, gate_sarif

    assert policy is not None  # checked before
    result = gate(run, policy, source=Path())
    return gate_junit(result) if form == "junit" else gate_sarif(result)


def _sent(run: Run, form: str, out: Path, *, endpoint: str | None) -> str:
    """Hand a run to a tool that has to be installed; gives where it is."""
    from hallumeter.errors import MissingExtraError

    extras = {"otel": ("opentelemetry", "google"), "mlflow": ("mlflow",)}
    try:
        if form == "otel":
            from hallumeter.integrations.opentelemetry import write_evaluations

            write_evaluations(run, file=None if endpoint else out, endpoint=endpoint)
            return endpoint or str(out)
        from hallumeter.integrations.mlflow import log_run

        return f"MLflow run {log_run(run)}"
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in extras[form]:
            raise
        raise MissingExtraError(form, f"exporting to {form}") from error
