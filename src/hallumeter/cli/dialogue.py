"""`hallumeter dialogue`: scripts from patients' records, answers of systems, and what is found in them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hallumeter.errors import InputError

from .experiments import chosen_options, experiment_options
from .output import MOST_FAULTS, echo_wrapped, indented_json, print_result
from .parameters import (
    PATH,
    PATH_OR_DASH,
    OrderedCommands,
    command,
    interval_options,
    joined_names,
    option,
    output_options,
    quiet_option,
    verbose_option,
    workers_option,
)
from .sharding import (
    CutExperiment,
    Sharded,
    counted_shards,
    resume_option,
    resume_or_estimate_options,
    run_experiment,
    shard_workers_option,
    sharding_options,
)

_UNREADABLE = 2

if TYPE_CHECKING:
    from datetime import datetime

    from hallumeter.dialogue.measure.settings import DialogueSettings
    from hallumeter.dialogue.run.experiment import Experiment
    from hallumeter.dialogue.run.finishing import FinishedDialogues
    from hallumeter.dialogue.run.pipeline import DialogueOutcome
    from hallumeter.dialogue.script.facts import ScriptSettings
    from hallumeter.dialogue.script.pipeline import ScriptOutcome
    from hallumeter.run.plan import RunPlan
    from hallumeter.run.sharded import ShardedOutcome


# `hallumeter dialogue lint`: mistakes in the settings of the clinical judges.


@command(short_help="Check your rules for mistakes.")
@click.argument("folder", required=False, type=PATH, metavar="[DIR]")
@option(
    "--events",
    type=PATH,
    metavar="FILE",
    help="Also count how often each rule, flag and phrase occurs in these events.",
)
@option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def lint(folder: Path | None, events: Path | None, form: str) -> None:
    """Check your rules for mistakes: each with its file, line and column.

    Finds what cannot be read, rules that can never apply, flags and patterns that no rule uses, bounds that no patient
    can meet, phrases that never match or occur twice, and regular expressions that are not allowed (patterns run in
    linear time, so none can hang). Without DIR, the bundled required_slots_by_turn.yaml and safety_rules.yaml are
    checked. Exit code 0: no errors, perhaps warnings. 1: errors. 2: a file cannot be read.

    \b
    Examples:
      hallumeter dialogue lint my-rules
      hallumeter dialogue lint my-rules --events runs/pilot/events.jsonl
      hallumeter dialogue lint my-rules --format json | jq .findings
    """
    from hallumeter.dialogue.lint.folder import lint_settings, lint_text

    report = lint_settings(folder, events)
    if form == "json":
        click.echo(indented_json(report), nl=False)
    else:
        click.echo(lint_text(report), nl=False)
    if report.exit_code == _UNREADABLE:
        raise InputError("a file of the rules cannot be read; the error above says which")
    raise click.exceptions.Exit(report.exit_code)


# `hallumeter dialogue config`: the settings of the clinical judges, shown or copied out.


@command(short_help="Show or copy the rules.")
@click.argument("folder", required=False, type=PATH, metavar="[DIR]")
@option(
    "--init",
    "target",
    type=PATH,
    metavar="DIR",
    help="Copy the bundled files to DIR for editing; existing files are kept.",
)
@option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def config(folder: Path | None, target: Path | None, form: str) -> None:
    """Show the facts and safety rules that answers are checked against, or copy them.

    The files are required_slots_by_turn.yaml (what each turn asks for) and safety_rules.yaml (flags, patterns, rules).
    DIR is a folder with one or both; a missing file is replaced by the bundled one.

    \b
    Examples:
      hallumeter dialogue config                    the bundled rules
      hallumeter dialogue config --init my-rules    copy them, then edit
      hallumeter dialogue config my-rules           your rules
    """
    from importlib import resources

    from hallumeter.dialogue.judges.settings import RULES_FILE, load_settings
    from hallumeter.dialogue.lint.folder import init_settings, settings_summary, settings_text

    if target is not None:
        if folder is not None:
            raise click.UsageError("--init copies the bundled files; give either DIR or --init DIR")
        written, kept = init_settings(target)
        for path in written:
            click.echo(f"wrote {path}")
        for path in kept:
            click.echo(f"{path} exists and was kept", err=True)
        return
    summary = settings_summary(load_settings(folder), folder)
    if form == "json":
        click.echo(indented_json(summary), nl=False)
        return
    echo_wrapped(settings_text(summary))
    if folder is None:
        shipped = resources.files("hallumeter.dialogue.judges").joinpath("config", RULES_FILE)
        click.echo(f"\nthe files are in {Path(str(shipped)).parent}; --init DIR copies them", err=True)


# `hallumeter dialogue measure`: what do the answers invent, risk, use, contradict and leave out?


@command(short_help="Measure answers to patients.")
@click.argument("paths", nargs=-1, required=True, type=PATH_OR_DASH)
@option(
    "--scripts",
    type=PATH,
    metavar="FILE",
    help="Facts and questions of patients, for events that lack them.",
)
@option(
    "--config",
    type=PATH,
    metavar="DIR",
    help="Folder of your rules, from `dialogue config --init`.  [default: the bundled rules]",
)
@verbose_option
@output_options
@option(
    "--by",
    multiple=True,
    callback=joined_names,
    metavar="FIELD",
    help="Also group by a field of the events; mode and turn_id are always shown.",
)
@option(
    "--judge",
    metavar="JUDGE",
    help="Ask a judge too, such as openai:MODEL or embedded, about safety and contradictions.  [default: rules alone]",
)
@option(
    "--indirect",
    type=click.Choice(["lexicon", "vectors"]),
    default="lexicon",
    help="How indirect use of facts is recognised; vectors needs the extra retrieval.",
)
@option(
    "--reader",
    metavar="READER",
    help="Another reader of mentions: entities (needs the extra entities), or your own as MODULE.FUNCTION.",
)
@workers_option
@sharding_options
@resume_or_estimate_options
@interval_options
@option("--strict", is_flag=True, help="Stop at a line that cannot be used, or if modes were asked differently.")
@quiet_option
def measure(paths: tuple[Path, ...], **options: Any) -> None:
    """See what answers to patients invent, contradict, leave out or put at risk.

    Measures SFS, CSP, CUS_improved, CUS, MCS and ASS, with evidence for every point. PATHS are files of events, one
    JSON object per line, from `hallumeter dialogue run` or elsewhere: patient_id, turn_id, question and answer, plus
    mode if there are several and slots_truth if the facts are known (or --scripts). A dash reads standard input.

    Several modes are compared with llm (or with the first) on the same patients, turns and questions. Modes that were
    asked other questions are compared on those that all were asked; --strict refuses them.

    \b
    Examples:
      hallumeter dialogue measure runs/demo/events.jsonl
      hallumeter dialogue measure events.jsonl --out run
      hallumeter dialogue measure answers.jsonl --scripts scripts_5turn.jsonl
      hallumeter dialogue measure events.jsonl --config my-rules/ --by language
      hallumeter dialogue measure events.jsonl --format json | jq .dialogue
      hallumeter dialogue measure events.jsonl --engine local --out run
    """
    from hallumeter.dialogue.measure.commands import dialogue_to_folder, measured_dialogues
    from hallumeter.dialogue.measure.inputs import opened_files
    from hallumeter.dialogue.report.text import dialogue_text
    from hallumeter.dialogue_judges import judge_of_dialogues

    from .progress import shown_pages

    out, scripts, form, is_quiet = (options.pop(name) for name in ("out", "scripts", "form", "quiet"))
    is_verbose = bool(options.pop("verbose"))
    sharded = Sharded(options, out, is_resumed=bool(options.pop("is_resumed")), is_quiet=is_quiet)
    settings = _settings(options)
    if sharded:
        from hallumeter.dialogue.sharded import patient_input

        maker = "hallumeter.dialogue_judges:judge_of_dialogues"
        found = sharded.run("dialogue", patient_input(opened_files(paths, scripts), settings, judge_maker=maker))
        if found is None:
            return
        text = dialogue_text(found[0], form, is_verbose=is_verbose)
        print_result(text, (), found[0].notices, form=form, out=None, is_quiet=is_quiet)
        sharded.say_where()
        return
    judge = None if settings.judge is None else judge_of_dialogues(settings.judge)
    dialogues = opened_files(paths, scripts)
    with shown_pages(is_quiet=is_quiet) as progress:
        if out is not None:
            measured = dialogue_to_folder(dialogues, out, settings=settings, judge=judge, progress=progress)
        else:
            measured = measured_dialogues(dialogues, settings=settings, judge=judge, progress=progress)
    text = dialogue_text(measured.summary, form, is_verbose=is_verbose)
    print_result(text, measured.failures, measured.summary.notices, form=form, out=out, is_quiet=is_quiet)


def _settings(options: dict[str, Any]) -> DialogueSettings:
    from hallumeter.dialogue.measure.settings import DialogueSettings
    from hallumeter.run.engines.local import available_cores

    options["is_strict"] = options.pop("strict")
    options["is_indirect_by_vectors"] = options.pop("indirect") == "vectors"
    options["workers"] = options["workers"] or available_cores()
    return DialogueSettings(**options)


# `hallumeter dialogue run`: systems under test are asked, their answers become events.


@command(short_help="Ask systems the questions of patients.")
@experiment_options(
    "The experiment: who answers, which patients ask.",
    [
        option(
            "--max-patients",
            "--max_patients",
            type=click.IntRange(min=1),
            metavar="N",
            help="Use the first N patients.",
        ),
        option(
            "--max-turns", "--max_turns", type=click.IntRange(min=1), metavar="N", help="Ask the first N questions."
        ),
    ],
    retry="Ask failed turns, and the turns after them, again.",
    strict="Stop at the first line that cannot be used.",
)
@shard_workers_option
@sharding_options
@resume_option
def run(path: Path, **options: Any) -> None:
    """Let one or more systems answer the questions of simulated patients.

    FILE says which systems answer (a language model, a Python function, a program, or `offline`, which needs no key),
    in which mode (`llm`: a plain conversation; `agent`: reminded of the patient's facts before each answer), and which
    patients ask. The run folder holds events.jsonl with one line per answer.

    Run the same command again to resume a run that was stopped: nothing is asked or paid twice. Keys come from the
    environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, or HALLUMETER_API_KEY for other servers.

    \b
    experiment.yaml:
      seed: 0
      systems:
        - {mode: llm, model: offline}
        - {mode: agent, model: offline}
      multiturn_scripts:
        path: scripts_5turn.jsonl

    \b
    Examples:
      hallumeter dialogue run --config experiment.yaml
      hallumeter dialogue run --config experiment.yaml --dry-run
      hallumeter dialogue run --config experiment.yaml --max-patients 5
      hallumeter dialogue run --config experiment.yaml --retry-failed
      hallumeter dialogue run --config experiment.yaml --engine local
    """
    run_experiment(_DialogueRun(), path, options)


class _DialogueRun:
    """What is particular to `dialogue run`."""

    retry_hint = "asks again what failed"
    kind = "dialogue run"

    def cut(self, experiment: Experiment, *, is_strict: bool) -> CutExperiment:
        from hallumeter.dialogue.run.pipeline import prepared
        from hallumeter.dialogue.sharded import question_input

        ready = prepared(experiment, is_strict=is_strict)
        given = question_input(ready, is_strict=is_strict, checker="hallumeter.dialogue_judges:sentence_checker")
        return CutExperiment(ready.run_id, given, ready.inputs.failures)

    def say_shards(self, outcome: ShardedOutcome, place: str, cut: CutExperiment, *, is_quiet: bool) -> int:
        del cut
        answered, failed = counted_shards(outcome, place, is_quiet=is_quiet)
        click.echo(f"{answered:,} answers{f', {failed:,} failed' if failed else ''}")
        click.echo(f"run: {place}")
        if not is_quiet:
            click.echo(f"next: hallumeter dialogue measure {place}", err=True)
        return answered

    def read(self, path: Path, options: dict[str, Any]) -> Experiment:
        from msgspec import structs

        from hallumeter.dialogue.run.experiment import read_experiment

        experiment = read_experiment(path)
        return structs.replace(experiment, **chosen_options(experiment.prices, options))

    def plan(self, experiment: Experiment, *, is_strict: bool) -> RunPlan:
        from hallumeter.dialogue.run.plan import plan_experiment

        return plan_experiment(experiment, is_strict=is_strict)

    def run(self, experiment: Experiment, **options: Any) -> DialogueOutcome:
        from hallumeter.dialogue.run.pipeline import run_experiment
        from hallumeter.dialogue_judges import sentence_checker

        return run_experiment(experiment, checker=sentence_checker, **options)

    def say(self, outcome: DialogueOutcome, finished: FinishedDialogues, *, is_quiet: bool) -> int:
        events = outcome.folder / "events.jsonl"
        for counted in finished.modes:
            failed = f", {counted.failed:,} failed" if counted.failed else ""
            click.echo(f"{counted.mode}: {counted.answered:,} answers{failed}")
        if not is_quiet:
            click.echo(f"events: {events}")
            click.echo(f"next: hallumeter dialogue measure {events}", err=True)
        return finished.answered


# `hallumeter dialogue script`: patients' records in, five questions about each out.

MOST_ALIKE = 2
"""Notes of one kind that are named one by one."""
MOST_CODES = 5


@command(short_help="Make questions from patient records (FHIR).")
@option(
    "--fhir-dir",
    "--fhir_dir",
    "fhir_dir",
    required=True,
    type=PATH,
    metavar="DIR",
    help="FHIR R4 files: bundles, search results or NDJSON of a bulk export; also .gz.",
)
@option(
    "--output-path",
    "--output_path",
    "output_path",
    required=True,
    type=PATH,
    metavar="FILE",
    help="Where to write, one patient per line; an existing file is replaced.",
)
@option("--language", type=click.Choice(["ko", "en"]), default="ko", help="Language of the questions.")
@option(
    "--max-patients",
    "--max_patients",
    "max_patients",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N usable patients.",
)
@option("--seed", type=int, default=42, help="Seed of the phrasing.")
@option(
    "--as-of",
    "--as_of",
    "as_of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Take every patient as of this day.  [default: the last day of each record]",
)
@option("--include-deceased", is_flag=True, help="Include patients who have died.")
@option(
    "--validate",
    is_flag=True,
    help="Validate every resource against FHIR and leave out what does not fit; slow.",
)
@option("--strict", is_flag=True, help="Stop at the first entry that cannot be used.")
@quiet_option
def script(fhir_dir: Path, output_path: Path, **options: Any) -> None:
    """Make a five-turn script from each patient record: the facts and the questions.

    A line has patient_id, language, slots (age, sex, main condition, comorbidities, drugs, labs, vitals, procedures)
    and five turns: who I am; my drugs, labs and vitals; exercise; diet; a plan for four weeks. Turns 3 and 4 do not
    repeat what was said before. Entries are recognised by LOINC, SNOMED CT and RxNorm code.

    \b
    Examples:
      hallumeter dialogue script --fhir-dir fhir/ --output-path scripts.jsonl
      hallumeter dialogue script --fhir-dir fhir/ --output-path en.jsonl \\
        --language en
      hallumeter dialogue script --fhir-dir fhir/ --output-path s.jsonl --validate
    """
    from hallumeter.dialogue.script.pipeline import write_scripts

    from .progress import shown_audit

    is_quiet = bool(options.pop("quiet"))
    settings = _script_settings(options)
    with shown_audit(is_quiet=is_quiet) as progress:
        outcome = write_scripts(fhir_dir, output_path, settings=settings, progress=progress)
    if not is_quiet:
        _say(outcome)
        patients, files = _counted(outcome.scripts, "patient"), _counted(outcome.files, "file")
        click.echo(f"scripts: {output_path} ({patients} of {files})", err=True)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _script_settings(options: dict[str, Any]) -> ScriptSettings:
    from hallumeter.dialogue.script.facts import ScriptSettings

    as_of: datetime | None = options.pop("as_of")
    return ScriptSettings(
        as_of=as_of.date() if as_of else None,
        with_deceased=options.pop("include_deceased"),
        is_validated=options.pop("validate"),
        is_strict=options.pop("strict"),
        **options,
    )


def _say(outcome: ScriptOutcome) -> None:
    """Faults, then what was odd, each kind together, then codes that no table knows."""
    from hallumeter.text.normalize import one_line

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


@click.group(cls=OrderedCommands, short_help="Compare systems that answer simulated patients.")
def dialogue() -> None:
    """Compare systems that answer simulated patients, from FHIR record to report.

    \b
    Examples:
      hallumeter dialogue script --fhir-dir fhir/ --output-path scripts.jsonl
      hallumeter dialogue run --config experiment.yaml
      hallumeter dialogue measure runs/my-run/events.jsonl
      hallumeter dialogue config --init my-rules
      hallumeter dialogue lint my-rules
    """


for each in (script, run, measure, config, lint):
    dialogue.add_command(each)
