"""`hallumeter ingest`: results of other tools in, a run folder out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .output import print_result
from .parameters import (
    INPUT,
    OUTPUT,
    PATH,
    by_option,
    command,
    interval_options,
    measure_settings,
    named_sources,
    option,
    printed_form_options,
    quiet_option,
    shown_options,
)


@command(short_help="Import results of Ragas, DeepEval and other tools.")
@click.argument("files", nargs=-1, required=True, type=PATH)
@option(
    "--format",
    "tool",
    metavar="NAME",
    section=INPUT,
    help="The tool that wrote the files: ragas, deepeval, trulens, promptfoo, inspect, lettucedetect, ragtruth,"
    " refchecker, helm, mlflow, langfuse, phoenix, lm-eval, evalplus.  [default: recognised by content]",
)
@option("--strict", is_flag=True, section=INPUT, help="Stop at the first number that hides a failure.")
@by_option
@shown_options
@printed_form_options("--print")
@quiet_option
@option("--out", type=PATH, metavar="RUN", section=OUTPUT, help="The run folder.  [default: FILE-ingest]")
@interval_options
def ingest(files: tuple[Path, ...], **options: Any) -> None:
    """Import results from other tools and see which of their numbers hide a failure.

    FILES are results of Ragas, DeepEval, TruLens, promptfoo, Inspect (.eval and JSON), LettuceDetect, RAGTruth,
    RefChecker, HELM, MLflow, Langfuse, Phoenix, lm-eval or EvalPlus, all from one tool. Verdicts on claims, statements
    and spans stay verdicts; a score per record becomes a measurement under the tool's name, such as
    ragas:faithfulness. A number that the tool wrote although it measured nothing (no claims, an unreadable reply, NaN)
    becomes a failure with its reason and widens the bounds.
    The result is a run folder: report, compare and gate work on it.

    \b
    Examples:
      hallumeter ingest ragas.csv
      hallumeter ingest logs/2026-11-17_rivers.eval --out rivers
      hallumeter ingest response.jsonl source_info.jsonl --by task
      hallumeter ingest results.json --format promptfoo --print json
    """
    from hallumeter.ingest.pipeline import ingest_to_folder
    from hallumeter.report.summary_text import summary_text
    from hallumeter.report.terminal import Shown
    from hallumeter.run.place import free_place

    out, is_quiet, form, tool = (options.pop(name) for name in ("out", "quiet", "form", "tool"))
    shown = Shown(
        is_verbose=options.pop("verbose"),
        has_consensus=options.pop("model_consensus"),
        source=named_sources(files),
    )
    place = out or free_place(files[0].name.removesuffix(".gz").partition(".")[0], work="ingest")
    run = ingest_to_folder(files, place, tool=tool, settings=measure_settings(options))
    text = summary_text(run.summary, form, shown=shown)
    print_result(text, run.failures, run.summary.notices, form=form, out=place, is_quiet=is_quiet)
