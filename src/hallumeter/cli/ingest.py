"""`hallumeter ingest`: results of other tools in, a run folder out."""

from __future__ import annotations

from pathlib import Path

import click

from .output import say_what_happened, say_where
from .parameters import FORMATS, interval_options, joined_names, quiet_option


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="RUN", help="The run folder.  [default: FILE-ingest]")
@click.option(
    "--format",
    "tool",
    metavar="NAME",
    help="The tool that wrote the files: ragas, deepeval, trulens, promptfoo, inspect, lettucedetect, ragtruth,"
    " refchecker, helm.  [default: told by what they hold]",
)
@click.option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", help="Group by a field; repeat for several."
)
@click.option("--print", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print.")
@interval_options
@click.option("--strict", is_flag=True, help="Stop at the first thing that was not measured.")
@quiet_option
def ingest(files: tuple[Path, ...], **options: object) -> None:
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
    from hallumeter.claims.settings import MeasureSettings
    from hallumeter.ingest.pipeline import ingest_to_folder
    from hallumeter.report.summary_text import summary_text
    from hallumeter.run.place import free_place

    out, is_quiet, form = options.pop("out"), bool(options.pop("quiet")), str(options.pop("form"))
    tool = options.pop("tool")
    options["is_strict"] = options.pop("strict")
    place = (
        out if isinstance(out, Path) else free_place(files[0].name.removesuffix(".gz").partition(".")[0], work="ingest")
    )
    run = ingest_to_folder(
        files,
        place,
        tool=None if tool is None else str(tool),
        settings=MeasureSettings(**options),  # type: ignore[arg-type]
    )
    if not is_quiet:
        say_what_happened(run.failures, run.summary.notices)
    click.echo(summary_text(run.summary, form), nl=False)
    if not is_quiet:
        say_where(place)
