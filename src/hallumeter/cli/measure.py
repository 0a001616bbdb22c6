"""`hallumeter measure`: verdicts in, metrics out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import print_result
from .parameters import (
    PATH_OR_DASH,
    by_option,
    given_paths,
    interval_options,
    map_option,
    measure_options,
    measure_settings,
    option,
    output_options,
    quiet_option,
)


@click.command()
@click.argument("paths", nargs=-1, type=PATH_OR_DASH)
@by_option
@map_option
@output_options
@measure_options
@interval_options
@option("--strict", is_flag=True, help="Stop at the first row that cannot be used.")
@quiet_option
def measure(paths: tuple[Path, ...], **options: Any) -> None:
    """Measure verdicts on claims: how many are unsupported, and how sure is that?

    PATHS are JSONL, JSON, CSV, TSV or Parquet files (also .gz, .zst); a dash, or no path at all in a pipe, reads JSONL
    from the standard input. A row holds one verdict (record_id, claim_id, label; optional judge, model, text,
    probabilities, ...) or one answer to a question that could or could not be answered (record_id, response,
    answerable).

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

    out, form, is_quiet = (options.pop(name) for name in ("out", "form", "quiet"))
    settings = measure_settings(options)
    sources = given_paths(paths, "verdicts")
    with shown_progress(sources, is_quiet=is_quiet) as progress:
        if out is not None:
            run = measure_to_folder(sources, out, settings=settings, progress=progress)
        else:
            run = measure_files(sources, settings=settings, progress=progress)
    print_result(summary_text(run.summary, form), run.failures, run.summary.notices, out=out, is_quiet=is_quiet)
