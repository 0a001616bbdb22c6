"""`hallumeter ingest`: results of other tools in, a run folder out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import print_result
from .parameters import FORMATS, PATH, by_option, interval_options, measure_settings, option, quiet_option


@click.command()
@click.argument("files", nargs=-1, required=True, type=PATH)
@option("--out", type=PATH, metavar="RUN", help="The run folder.  [default: FILE-ingest]")
@option(
    "--format",
    "tool",
    metavar="NAME",
    help="The tool that wrote the files: ragas, deepeval, trulens, promptfoo, inspect, lettucedetect, ragtruth,"
    " refchecker, helm.  [default: told by what they hold]",
)
@by_option
@option("--print", "form", type=click.Choice(FORMATS), default="table", help="What to print.")
@interval_options
@option("--strict", is_flag=True, help="Stop at the first thing that was not measured.")
@quiet_option
def ingest(files: tuple[Path, ...], **options: Any) -> None:
    """Take in results of other tools, so that report, compare and gate work on them.

    FILES are results of Ragas, DeepEval, TruLens, promptfoo, Inspect (.eval and JSON), LettuceDetect, RAGTruth,
    RefChecker or HELM, all of the same tool. Verdicts on claims, statements and spans are kept as verdicts; a score
    per record is kept as a measurement under the tool's name, such as ragas:faithfulness. A number that the tool wrote
    where nothing was measured (no claims, a reply that was cut short or could not be read, NaN) becomes a failure with
    its reason, and widens the bounds.

    \b
    Examples:
      hallumeter ingest ragas.csv
      hallumeter ingest logs/2026-11-17_rivers.eval --out rivers
      hallumeter ingest response.jsonl source_info.jsonl --by task
      hallumeter ingest results.json --format promptfoo --print json
    """
    from hallumeter.ingest.pipeline import ingest_to_folder
    from hallumeter.report.summary_text import summary_text
    from hallumeter.run.place import free_place

    out, is_quiet, form, tool = (options.pop(name) for name in ("out", "quiet", "form", "tool"))
    place = out or free_place(files[0].name.removesuffix(".gz").partition(".")[0], work="ingest")
    run = ingest_to_folder(files, place, tool=tool, settings=measure_settings(options))
    print_result(summary_text(run.summary, form), run.failures, run.summary.notices, out=place, is_quiet=is_quiet)
