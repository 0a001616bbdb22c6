"""`hallumeter dialogue measure`: what do the answers invent, risk, use, contradict and leave out?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hallumeter.cli.output import say_what_happened, say_where
from hallumeter.cli.parameters import interval_options, joined_names, output_options, quiet_option

if TYPE_CHECKING:
    from hallumeter.pipelines.dialogue.measuring import DialogueSettings


@click.command(short_help="Score answers: SFS, CSP, CUS, MCS, ASS.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--scripts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Scripts that hold the facts and questions of patients, for events that lack them.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder with required_slots_by_turn.yaml and safety_rules.yaml; default: those that ship.",
)
@output_options
@click.option(
    "--by",
    multiple=True,
    callback=joined_names,
    metavar="FIELD",
    help="Group by a field of the events or their metadata, too; mode and turn_id are always shown.",
)
@click.option(
    "--judge",
    metavar="JUDGE",
    help="Let a judge such as openai:MODEL or embedded tell safety and contradictions; default: words and rules.",
)
@click.option(
    "--indirect",
    type=click.Choice(["lexicon", "vectors"]),
    default="lexicon",
    show_default=True,
    help="How indirect use of facts is told; vectors: by meaning, too (needs the extra retrieval).",
)
@click.option("--reader", metavar="MODULE.FUNCTION", help="A function that makes another reader of mentions.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes to use; default: one per core.")
@interval_options
@click.option(
    "--strict", is_flag=True, help="Stop at a line that cannot be used, and when modes were asked differently."
)
@quiet_option
def measure(paths: tuple[Path, ...], **options: object) -> None:
    """Measure answers of clinical dialogues: SFS, CSP, CUS_improved, CUS, MCS and ASS, with evidence for every point.

    PATHS are files of events, one JSON object per line, as `hallumeter dialogue run` writes them, or made elsewhere:
    patient_id, turn_id, question and answer, with mode where there are several and slots_truth where the facts are
    known; --scripts brings facts and questions. A dash reads the standard input.

    With several modes, each is compared with llm (or with the first) on the same patients, turns and questions. Modes
    that were asked differently are compared on what all were asked, and that is said; with --strict they are refused.

    \b
    Examples:
      hallumeter dialogue measure runs/demo/events.jsonl
      hallumeter dialogue measure events.jsonl --out run          then open run/report.html
      hallumeter dialogue measure answers.jsonl --scripts scripts_5turn.jsonl
      hallumeter dialogue measure events.jsonl --config my-rules/ --by language
      hallumeter dialogue measure events.jsonl --format json | jq .dialogue.differences
    """
    from hallumeter.cli.progress import shown_pages
    from hallumeter.pipelines.dialogue.measuring import dialogue_to_folder, measured_dialogues, opened_files
    from hallumeter.report import dialogue_text

    out, scripts = options.pop("out"), options.pop("scripts")
    form = str(options.pop("form"))
    is_quiet = bool(options.pop("quiet"))
    settings = _settings(options)
    dialogues = opened_files(paths, scripts if isinstance(scripts, Path) else None)
    with shown_pages(is_quiet=is_quiet) as watch:
        if isinstance(out, Path):
            measured = dialogue_to_folder(dialogues, out, settings=settings, watch=watch)
        else:
            measured = measured_dialogues(dialogues, settings=settings, watch=watch)
    if not is_quiet:
        say_what_happened(measured.failures, measured.summary.notices)
    click.echo(dialogue_text(measured.summary, form), nl=False)
    if isinstance(out, Path) and not is_quiet:
        say_where(out)


def _settings(options: dict[str, object]) -> DialogueSettings:
    from hallumeter.engines import available_cores
    from hallumeter.pipelines.dialogue.measuring import DialogueSettings

    options["is_strict"] = options.pop("strict")
    options["is_indirect_by_vectors"] = options.pop("indirect") == "vectors"
    options["workers"] = options["workers"] or available_cores()
    return DialogueSettings(**options)  # type: ignore[arg-type]
