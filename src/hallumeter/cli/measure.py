"""`hallumeter measure`: verdicts in, metrics out."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .output import say_what_happened, say_where
from .parameters import (
    interval_options,
    joined_names,
    measure_options,
    measure_settings,
    output_options,
    quiet_option,
)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", help="Group by a field; repeat for several."
)
@output_options
@measure_options
@interval_options
@click.option("--strict", is_flag=True, help="Stop at the first row that cannot be used.")
@quiet_option
def measure(paths: tuple[Path, ...], **options: object) -> None:
    """Measure verdicts on claims: how many are unsupported, and how sure is that?

    PATHS are JSONL (also .gz), CSV, TSV or Parquet files; a dash, or no path at all in a pipe, reads JSONL from the
    standard input. A row holds one verdict (record_id, claim_id, label; optional judge, model, text, probabilities,
    ...) or one answer to a question that could or could not be answered (record_id, response, answerable).

    \b
    Examples:
      hallumeter measure verdicts.jsonl
      hallumeter measure verdicts.jsonl --by model --by task
      hallumeter measure judge-a.csv judge-b.csv --consensus dawid-skene
      hallumeter measure verdicts.parquet --format json | jq .metrics
      zcat verdicts.jsonl.gz | hallumeter measure --format csv > metrics.csv
      hallumeter measure verdicts.jsonl --out run     then open run/report.html
    """
    from hallumeter.claims.measure.commands import measure_files, measure_to_folder
    from hallumeter.report.summary_text import summary_text

    from .progress import shown_progress

    out = options.pop("out")
    form = str(options.pop("form"))
    is_quiet = bool(options.pop("quiet"))
    settings = measure_settings(options)
    sources = _sources(paths)
    with shown_progress(sources, is_quiet=is_quiet) as progress:
        if isinstance(out, Path):
            run = measure_to_folder(sources, out, settings=settings, progress=progress)
        else:
            run = measure_files(sources, settings=settings, progress=progress)
    if not is_quiet:
        say_what_happened(run.failures, run.summary.notices)
    click.echo(summary_text(run.summary, form), nl=False)
    if isinstance(out, Path) and not is_quiet:
        say_where(out)


def _sources(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    if paths:
        return paths
    if sys.stdin.isatty():
        raise click.UsageError("give a file of verdicts, or pipe JSONL in", click.get_current_context())
    return (Path("-"),)
