"""`hallumeter measure`: verdicts in, metrics out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import print_result
from .parameters import (
    PATH_OR_DASH,
    by_option,
    command,
    given_paths,
    interval_options,
    map_option,
    measure_options,
    measure_settings,
    named_sources,
    option,
    output_options,
    quiet_option,
    shown_options,
    strict_option,
)
from .sharding import SHARDS, Sharded, given_files, resume_or_estimate_options, sharding_options


@command(short_help="Get rates with intervals from verdicts you have.")
@click.argument("paths", nargs=-1, type=PATH_OR_DASH)
@by_option
@map_option
@shown_options
@output_options
@quiet_option
@measure_options
@interval_options
@sharding_options
@option("--workers", type=click.IntRange(min=1), metavar="N", section=SHARDS, help="Processes of --engine local.")
@resume_or_estimate_options
@strict_option
def measure(paths: tuple[Path, ...], **options: Any) -> None:
    """Get rates with intervals from verdicts that you already have.

    PATHS are files with one verdict per row (JSONL, JSON, CSV, TSV, Parquet; also .gz and .zst): record_id, claim_id,
    label and, if you have them, judge, model, text, probabilities. Rows with record_id, response and answerable measure
    refusals instead: does a model answer what cannot be answered? A dash, or nothing at all in a pipe, reads
    standard input.

    \b
    Examples:
      hallumeter measure verdicts.jsonl
      hallumeter measure verdicts.jsonl --by model --by task
      hallumeter measure judge-a.csv judge-b.csv --consensus dawid-skene
      hallumeter measure verdicts.parquet --format json | jq .metrics
      zcat verdicts.jsonl.gz | hallumeter measure --format csv > metrics.csv
      hallumeter measure verdicts.jsonl --out run    then open run/report.html
    """
    from hallumeter.claims.measure.commands import measure_files, measure_to_folder
    from hallumeter.report.summary_text import summary_text
    from hallumeter.report.terminal import Shown

    from .progress import shown_progress

    out, form, is_quiet = (options.pop(name) for name in ("out", "form", "quiet"))
    sources = given_paths(paths, "verdicts")
    shown = Shown(
        is_verbose=options.pop("verbose"),
        has_consensus=options.pop("model_consensus"),
        has_profile=options["policy"] is not None,
        source=named_sources(sources),
    )
    sharded = Sharded(options, out, is_resumed=bool(options.pop("is_resumed")), is_quiet=is_quiet)
    del options["workers"]
    settings = measure_settings(options)
    if sharded:
        found = sharded.run("measure", given_files(sources, settings, settings.shape))
        if found is None:
            return
        text = summary_text(found[0], form, shown=shown)
        print_result(text, (), found[0].notices, form=form, out=None, is_quiet=is_quiet)
        sharded.say_where()
        return
    with shown_progress(sources, is_quiet=is_quiet) as progress:
        if out is not None:
            run = measure_to_folder(sources, out, settings=settings, progress=progress)
        else:
            run = measure_files(sources, settings=settings, progress=progress)
    text = summary_text(run.summary, form, shown=shown)
    print_result(text, run.failures, run.summary.notices, form=form, out=out, is_quiet=is_quiet)
