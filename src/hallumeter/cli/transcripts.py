"""`hallumeter transcripts`: what did the OCR engine or the vision model invent?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .output import say_what_happened, say_where
from .parameters import interval_options, joined_names, output_options, quiet_option

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hallumeter.transcripts.inputs import Jobs
    from hallumeter.transcripts.settings import TranscriptSettings


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--normalize",
    "spelling",
    multiple=True,
    metavar="STEP",
    help="Make texts alike before they are compared: nfc, nfkc, caseless, punctuation, long-s, u-v, i-j, ligatures,"
    " diplomatic (nfc and the last four). Join several by + or repeat; default: none.",
)
@click.option(
    "--witness",
    metavar="W",
    help="No ground truth: a folder or table of texts, tesseract, tesseract:fra+eng or rapidocr (with --image;"
    " --image alone: tesseract, English).",
)
@click.option("--witness-confidence", type=float, metavar="P", help="How sure a witness is that does not say (0 to 1).")
@click.option("--image", type=click.Path(path_type=Path), metavar="DIR", help="Page images for the witness to read.")
@output_options
@click.option(
    "--rank-by",
    metavar="METRIC",
    help="What engines are ranked by: cer, wer, mer, wil, true_insertion_rate, invented_rate, omission_rate or"
    " anchor_score; default: cer.",
)
@click.option("--by", multiple=True, callback=joined_names, metavar="FIELD", help="Group pages by a column of a table.")
@click.option(
    "--measures",
    type=click.Choice(["all", "anchoring"]),
    default="all",
    show_default=True,
    help="anchoring: only Picarones' vocabulary metrics, many times faster, without places.",
)
@click.option("--columns", metavar="NAMES", help="Names of columns, such as page=id,reference=gt,response=text.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes to use; default: one per core.")
@interval_options
@click.option("--strict", is_flag=True, help="Stop at the first page that cannot be used.")
@quiet_option
def transcripts(paths: tuple[Path, ...], **options: object) -> None:
    """Compare transcriptions with ground truth: what was invented, repeated, left out, misread?

    PATHS are the ground truth, then each engine: folders of .txt, ALTO, PAGE XML or hOCR files matched by name; single
    files of one page; or JSONL, CSV, TSV and Parquet tables (page, text). A single table holds reference and response
    in each row, and perhaps engine. With --witness all paths are engines.

    \b
    Examples:
      hallumeter transcripts truth/ tesseract/ vlm/
      hallumeter transcripts truth/ tesseract/ vlm/ --out run     then open run/report.html
      hallumeter transcripts page.gt.txt page.ocr.txt
      hallumeter transcripts pairs.csv --columns reference=gt,response=text --by century
      hallumeter transcripts truth/ vlm/ --normalize diplomatic+caseless --rank-by invented_rate
      hallumeter transcripts vlm/ --witness tesseract:fra --image scans/
      hallumeter transcripts truth/ vlm/ --format csv > pages.csv
    """
    from hallumeter.transcripts.commands import transcripts_of_jobs, transcripts_to_folder
    from hallumeter.transcripts.report.text import transcripts_text

    from .progress import shown_pages

    out = options.pop("out")
    form = str(options.pop("form"))
    is_quiet = bool(options.pop("quiet"))
    witness, image = options.pop("witness"), options.pop("image")
    settings = _settings(options)
    if settings.witness_confidence is not None and witness is None and image is None:
        raise click.UsageError("--witness-confidence speaks of a witness; give --witness or --image too")
    jobs = _jobs(paths, settings, witness=witness, image=image)
    with shown_pages(is_quiet=is_quiet) as progress:
        if isinstance(out, Path):
            measured = transcripts_to_folder(jobs, out, settings=settings, progress=progress)
        else:
            measured = transcripts_of_jobs(jobs, settings=settings, progress=progress)
    if not is_quiet:
        say_what_happened(measured.failures, measured.summary.notices)
    click.echo(transcripts_text(measured.summary, measured.rows, form), nl=False)
    if isinstance(out, Path) and not is_quiet:
        say_where(out)


def _settings(options: dict[str, object]) -> TranscriptSettings:
    from hallumeter.run.engines.local import available_cores
    from hallumeter.text.spelling import parse_spelling
    from hallumeter.transcripts.settings import TranscriptSettings

    options["is_strict"] = options.pop("strict")
    options["workers"] = options["workers"] or available_cores()
    options["spelling"] = parse_spelling(options["spelling"])  # type: ignore[arg-type]
    options["rank_by"] = str(options["rank_by"]).lower() if options["rank_by"] is not None else None
    options["columns"] = _columns(options["columns"])
    return TranscriptSettings(**options)  # type: ignore[arg-type]


def _columns(text: object) -> object:
    from hallumeter.errors import SettingsError
    from hallumeter.transcripts.settings import Columns

    pairs = [pair.partition("=") for pair in str(text).split(",")] if text else []
    known = Columns.__struct_fields__
    for name, _, column in pairs:
        if name.strip() not in known or not column.strip():
            raise SettingsError(f"columns {text!r}: expected pairs such as reference=gt, of {', '.join(known)}")
    return Columns(**{name.strip(): column.strip() for name, _, column in pairs})


def _jobs(
    paths: tuple[Path, ...], settings: TranscriptSettings, *, witness: object, image: object
) -> AbstractContextManager[Jobs]:
    from hallumeter.transcripts.inputs import opened_paths
    from hallumeter.transcripts.witness import opened_witness

    if witness is None and image is None:
        return opened_paths(paths, columns=settings.columns)
    return opened_witness(
        paths,
        witness=str(witness) if witness is not None else None,
        images=image if isinstance(image, Path) else None,
        columns=settings.columns,
    )
