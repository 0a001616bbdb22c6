"""`hallumeter transcripts`: what did the OCR engine or the vision model invent?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import print_result
from .parameters import (
    INPUT,
    OUTPUT,
    PATH,
    command,
    interval_options,
    joined_names,
    option,
    output_options,
    quiet_option,
    verbose_option,
    workers_option,
)
from .sharding import Sharded, resume_or_estimate_options, sharding_options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hallumeter.transcripts.images import Fetch
    from hallumeter.transcripts.inputs import Jobs
    from hallumeter.transcripts.settings import Columns, TranscriptSettings


@command(short_help="See what OCR engines and vision models invented.")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@option(
    "--normalize",
    "spelling",
    multiple=True,
    metavar="STEP",
    section=INPUT,
    help="Ignore differences in spelling: nfc, nfkc, caseless, punctuation, layout (rules and table marks), long-s,"
    " u-v, i-j, ligatures, or diplomatic (nfc and the last four). Join several with +, or repeat. Or count as another"
    " tool does: dinglehopper, jiwer, picarones, strict.  [default: none]",
)
@option(
    "--witness",
    metavar="W",
    section=INPUT,
    help="Without ground truth, compare with a second reading: a folder or table of texts, or tesseract,"
    " tesseract:fra+eng or rapidocr with --image.",
)
@option("--image", type=PATH, metavar="DIR", section=INPUT, help="Page images for the witness to read.")
@option(
    "--images",
    type=PATH,
    metavar="PATH",
    section=INPUT,
    help="Show page images beside the texts, in the report and in view: a folder, mets.xml#GROUP, or a IIIF manifest"
    " (manifest.json) whose images are on disk. Nothing is downloaded unless you type --allow-downloads.",
)
@option(
    "--allow-downloads",
    is_flag=True,
    section=INPUT,
    help="Fetch the images of --images that are on the web (http, https) into the cache, up to 64 MB and a minute"
    " each; redirects are not followed.",
)
@option(
    "--witness-confidence",
    type=float,
    metavar="P",
    section=INPUT,
    help="Confidence to assume for a witness that states none, 0 to 1.",
)
@option("--columns", metavar="NAMES", section=INPUT, help="Names of columns: page=id,reference=gt,response=text.")
@option("--strict", is_flag=True, section=INPUT, help="Stop at the first page that cannot be used.")
@verbose_option
@output_options
@option(
    "--rank-by",
    metavar="METRIC",
    section=OUTPUT,
    help="Rank engines by cer, wer, mer, wil, true_insertion_rate, invented_rate, omission_rate or anchor_score."
    "  [default: cer]",
)
@option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", section=OUTPUT, help="Group pages by a table column."
)
@option(
    "--measures",
    type=click.Choice(["all", "anchoring"]),
    default="all",
    section=OUTPUT,
    help="anchoring: only Picarones' vocabulary metrics; much faster, without places.",
)
@option(
    "--count-notes",
    is_flag=True,
    section=INPUT,
    help="Count refusals, wrappers, notes ([illegible]) and descriptions as invented text.",
)
@option(
    "--page-level",
    type=click.Choice(["region", "line", "word"]),
    section=INPUT,
    help="PAGE XML: which text counts where regions, lines and words each have their own."
    "  [default: line; region with --normalize dinglehopper]",
)
@option(
    "--pair-by",
    default="name",
    metavar="HOW",
    section=INPUT,
    help="How to match the pages of folders: by name; by order (sorted by name, first with first); or by a CSV or"
    " JSONL table with the columns page, reference and reading, or one column for each engine.",
)
@quiet_option
@interval_options
@workers_option
@sharding_options
@resume_or_estimate_options
def transcripts(paths: tuple[Path, ...], **options: Any) -> None:
    """See what OCR engines and vision models invented, repeated, left out or misread.

    PATHS are the ground truth and then each engine: folders or zip archives of .txt, ALTO, PAGE XML, TEI, hOCR or JSON
    files with matching names, groups of a METS file, single pages, or JSONL, CSV, TSV and Parquet tables (page, text).
    A single table has reference and response in each row, and optionally engine; a single METS file has a group of
    ground truth and others. With --witness, all paths are engines.

    \b
    Examples:
      hallumeter transcripts truth/ tesseract/ vlm/
      hallumeter transcripts truth/ tesseract/ vlm/ --out run
      hallumeter transcripts page.gt.txt page.ocr.txt
      hallumeter transcripts truth.zip transkribus-export.zip
      hallumeter transcripts mets.xml#OCR-D-GT-PAGE mets.xml#OCR-D-OCR-TESS
      hallumeter transcripts truth/ vlm/ --pair-by pairs.csv
      hallumeter transcripts pairs.csv --columns reference=gt,response=text
      hallumeter transcripts truth/ vlm/ --normalize diplomatic+caseless
      hallumeter transcripts truth/ vlm/ --normalize dinglehopper
      hallumeter transcripts vlm/ --witness tesseract:fra --image scans/
      hallumeter transcripts truth/ vlm/ --images scans/ --out run
      hallumeter transcripts truth/ vlm/ --images iiif.json --allow-downloads
      hallumeter transcripts truth/ vlm/ --format csv > pages.csv
      hallumeter transcripts pages.parquet --engine local --out run
    """
    # When it is loaded, numpy starts a thread for every core, which nothing here uses: the processes have the cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from hallumeter.transcripts.commands import transcripts_of_jobs, transcripts_to_folder
    from hallumeter.transcripts.report.text import transcripts_text

    from .progress import shown_pages

    out, form, is_quiet, witness, image = (options.pop(name) for name in ("out", "form", "quiet", "witness", "image"))
    images, can_fetch, is_verbose = (options.pop(name) for name in ("images", "allow_downloads", "verbose"))
    _check_images(images, out, can_fetch=can_fetch)
    sharded = Sharded(options, out, is_resumed=bool(options.pop("is_resumed")), is_quiet=is_quiet)
    settings = _settings(options)
    jobs = _jobs(paths, settings, witness=witness, image=image)
    if images is not None:
        from hallumeter.transcripts.images import with_images

        jobs = with_images(jobs, images, _fetch() if can_fetch else None)
    if sharded:
        _run_sharded(sharded, jobs, settings, form=form, is_verbose=is_verbose, has_images=image is not None)
        return
    with shown_pages(is_quiet=is_quiet) as progress:
        given: dict[str, Any] = {"settings": settings, "progress": progress}
        measured = transcripts_of_jobs(jobs, **given) if out is None else transcripts_to_folder(jobs, out, **given)
    text = transcripts_text(measured.summary, measured.rows, form, lines=measured.worst_lines, is_verbose=is_verbose)
    print_result(text, measured.failures, measured.summary.notices, form=form, out=out, is_quiet=is_quiet)


def _run_sharded(
    sharded: Sharded,
    jobs: AbstractContextManager[Jobs],
    settings: TranscriptSettings,
    *,
    form: str,
    is_verbose: bool,
    has_images: bool,
) -> None:
    """Measure pages in shards, and print what came of it."""
    from hallumeter.records.page import WorstLine
    from hallumeter.run.finished import load
    from hallumeter.transcripts.example_tables import LINES, read_table
    from hallumeter.transcripts.pages_table import StoredRows
    from hallumeter.transcripts.report.text import transcripts_text
    from hallumeter.transcripts.sharded import page_input

    if has_images:
        raise click.UsageError(
            "--image lets an OCR engine read every page on this machine; leave out --engine and --shards, or give what"
            " it read as --witness DIR"
        )
    found = sharded.run("transcripts", page_input(jobs, settings))
    if found is None:
        return
    summary, place = found
    rows = StoredRows()
    for row in load(place, verify=False).pages():
        rows.add(row)
    text = transcripts_text(summary, rows, form, lines=read_table(place / LINES, WorstLine), is_verbose=is_verbose)
    print_result(text, (), summary.notices, form=form, out=None, is_quiet=sharded.is_quiet)
    sharded.say_where()


def _check_images(images: Path | None, out: Path | None, *, can_fetch: bool) -> None:
    if can_fetch and images is None:
        raise click.UsageError("--allow-downloads fetches page images; say of which pages with --images")
    if images is not None and out is None:
        raise click.UsageError("--images shows pages in the report of a run; give --out RUN too")


def _fetch() -> Fetch:
    """Whoever fetches images, into the cache."""
    from hallumeter.run.verdict_cache import IMAGES, cache_folder
    from hallumeter.transcripts.downloads import ImageDownloads

    return ImageDownloads(cache_folder() / IMAGES)


def _settings(options: dict[str, Any]) -> TranscriptSettings:
    from hallumeter.run.engines.local import available_cores
    from hallumeter.text.spelling import parse_spelling
    from hallumeter.transcripts.settings import TranscriptSettings

    options["is_strict"] = options.pop("strict")
    options["workers"] = options["workers"] or available_cores()
    options["spelling"] = parse_spelling(options["spelling"])
    options["rank_by"] = options["rank_by"] and options["rank_by"].lower()
    options["columns"] = _columns(options["columns"])
    return TranscriptSettings(**options)


def _columns(text: str | None) -> Columns:
    from hallumeter.errors import SettingsError
    from hallumeter.transcripts.settings import Columns

    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    known = Columns.__struct_fields__
    for name, _, column in pairs:
        if name.strip() not in known or not column.strip():
            raise SettingsError(f"columns {text!r}: expected pairs such as reference=gt, of {', '.join(known)}")
    return Columns(**{name.strip(): column.strip() for name, _, column in pairs})


def _jobs(
    paths: tuple[Path, ...], settings: TranscriptSettings, *, witness: str | None, image: Path | None
) -> AbstractContextManager[Jobs]:
    from hallumeter.transcripts.inputs import opened_paths

    if settings.witness_confidence is not None and witness is None and image is None:
        raise click.UsageError("--witness-confidence needs a witness; give --witness or --image")
    if witness is None and image is None:
        return opened_paths(paths, columns=settings.columns, pair_by=settings.pair_by)
    from hallumeter.transcripts.witness import opened_witness

    if settings.rank_by is not None:
        raise click.UsageError("--rank-by needs ground truth; disagreement with a witness ranks no engine")
    if image is not None and settings.pair_by != "name":
        raise click.UsageError("--pair-by pairs texts; images find their pages by name")
    return opened_witness(paths, witness=witness, images=image, columns=settings.columns, pair_by=settings.pair_by)
