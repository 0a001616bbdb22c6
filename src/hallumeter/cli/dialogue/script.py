"""`hallumeter dialogue script`: patients' records in, five questions about each out."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hallumeter.cli.parameters import quiet_option

if TYPE_CHECKING:
    from datetime import datetime

    from hallumeter.pipelines.dialogue.scripting import ScriptOutcome, ScriptSettings

MOST_FAULTS = 10
"""Faults that are named one by one."""
MOST_ALIKE = 2
"""Notes of one kind that are named one by one."""
MOST_CODES = 5


@click.command(short_help="Make five-turn scripts of patients (FHIR).")
@click.option(
    "--fhir-dir",
    "--fhir_dir",
    "fhir_dir",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of FHIR R4 files, or one file: bundles, search results, NDJSON of a bulk export; .gz too.",
)
@click.option(
    "--output-path",
    "--output_path",
    "output_path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write one patient per line, as JSON; a file that is there is replaced.",
)
@click.option("--language", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Of the questions.")
@click.option(
    "--max-patients",
    "--max_patients",
    "max_patients",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after the first N patients that can be used.",
)
@click.option("--seed", type=int, default=42, show_default=True, help="Chooses the phrasings of each patient.")
@click.option(
    "--as-of",
    "--as_of",
    "as_of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Look at every patient on this day: age, and nothing dated later.  [default: the last day of each record]",
)
@click.option("--include-deceased", is_flag=True, help="Keep patients who have died; they are passed over else.")
@click.option(
    "--validate",
    is_flag=True,
    help="Hold every resource against the definitions of FHIR first and leave out what does not fit; slow.",
)
@click.option("--strict", is_flag=True, help="Stop at the first thing that cannot be used.")
@quiet_option
def script(fhir_dir: Path, output_path: Path, **options: Any) -> None:
    """Make five-turn scripts of patients' records: what is true of each patient, and what is asked.

    A line has patient_id, language, slots (age, sex, main condition, comorbidities, drugs, labs, vitals, procedures)
    and five turns: who I am; my drugs, labs and vitals; exercise; diet; a plan for four weeks. Turns 3 and 4 do not
    repeat what was said before. Entries are told by their LOINC, SNOMED CT and RxNorm codes.

    \b
    Examples:
      hallumeter dialogue script --fhir_dir synthea/fhir --output_path scripts_5turn.jsonl
      hallumeter dialogue script --fhir-dir export/ --output-path scripts.jsonl --language en --max-patients 80
      hallumeter dialogue script --fhir-dir export/ --output-path scripts.jsonl --as-of 2020-01-01 --validate
    """
    from hallumeter.cli.progress import shown_audit
    from hallumeter.pipelines.dialogue.scripting import write_scripts

    is_quiet = bool(options.pop("quiet"))
    settings = _settings(options)
    with shown_audit(is_quiet=is_quiet) as watch:
        outcome = write_scripts(fhir_dir, output_path, settings=settings, watch=watch)
    if not is_quiet:
        _say(outcome)
        patients, files = _counted(outcome.scripts, "patient"), _counted(outcome.files, "file")
        click.echo(f"scripts: {output_path} ({patients} of {files})", err=True)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _settings(options: dict[str, Any]) -> ScriptSettings:
    from hallumeter.pipelines.dialogue.scripting import ScriptSettings

    as_of: datetime | None = options["as_of"]
    return ScriptSettings(
        language=options["language"],
        seed=options["seed"],
        as_of=as_of.date() if as_of else None,
        max_patients=options["max_patients"],
        with_deceased=options["include_deceased"],
        is_validated=options["validate"],
        is_strict=options["strict"],
    )


def _say(outcome: ScriptOutcome) -> None:
    """Faults, then what was odd, each kind together, then codes that no table knows."""
    from hallumeter.text.printable import one_line

    for failure in outcome.failures[:MOST_FAULTS]:
        click.echo(one_line(failure.message), err=True)
    if len(outcome.failures) > MOST_FAULTS:
        click.echo(f"... and {len(outcome.failures) - MOST_FAULTS:,} more that could not be used", err=True)
    by_code: dict[str, list[str]] = defaultdict(list)
    for note in outcome.notes:
        by_code[note.code].append(f"{note.patient_id}: {note.message}" if note.patient_id else note.message)
    for messages in by_code.values():
        for message in messages[:MOST_ALIKE]:
            click.echo(f"note: {one_line(message)}", err=True)
        if len(messages) > MOST_ALIKE:
            click.echo(f"note: ... and {len(messages) - MOST_ALIKE:,} more of this kind", err=True)
    for kind, codes in outcome.unknown.items():
        named = "; ".join(f"{code} ({count:,})" for code, count in list(codes.items())[:MOST_CODES])
        more = f" and {len(codes) - MOST_CODES:,} more" if len(codes) > MOST_CODES else ""
        kept = "left out" if kind == "observation" else "kept by their words"
        click.echo(f"note: {kind} codes that no table knows, {kept}: {one_line(named)}{more}", err=True)
