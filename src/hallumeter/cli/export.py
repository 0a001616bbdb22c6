"""`hallumeter export`: a run in shards as a folder of JSONL files, and back."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import PLACE, RUN, command, no_verify_option, option, quiet_option


@command(short_help="Turn a run in shards into JSONL files, and back.")
@click.argument("run", type=RUN, metavar="RUN")
@option("--to", "form", type=click.Choice(["jsonl", "parquet"]), default="jsonl", help="What to write.")
@option("--out", type=PLACE, required=True, metavar="RUN", help="Where to write it; with --to parquet also s3://...")
@quiet_option
@no_verify_option
def export(run: Path, form: str, out: str | Path, *, quiet: bool, no_verify: bool) -> None:
    """Turn a run in shards into a folder of JSONL files, or such a folder into shards.

    The JSONL files are the same, byte for byte, as those of a run on one machine: every line stands where its record
    stood in the input. Shards are Parquet files, a fraction of the size, which `report`, `view`, `compare`, `gate`,
    `correct` and `verify` read as they are.

    \b
    Examples:
      hallumeter export run --to jsonl --out run-jsonl
      hallumeter export s3://bucket/run --to jsonl --out run-jsonl
      hallumeter export run-jsonl --to parquet --out s3://bucket/run
    """
    from hallumeter.run.export import export_jsonl, export_parquet
    from hallumeter.run.run_folder import new_run_folder

    from .output import opened_run

    opened_run(run, is_verified=not no_verify, is_quiet=quiet)
    if form == "parquet":
        export_parquet(run, out)
    elif isinstance(out, str):
        raise click.UsageError(
            "JSONL files are written into a folder here; s3:// holds shards", click.get_current_context()
        )
    else:
        with new_run_folder(out) as folder:
            export_jsonl(run, folder)
    if not quiet:
        click.echo(f"run: {out}", err=True)
