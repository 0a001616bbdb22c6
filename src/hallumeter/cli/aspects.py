"""`hallumeter aspects`: agents read reviews, and every error gets an author."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED, chosen_options, experiment_options, failure_lines, say_lines
from .output import print_result, say_what_happened
from .parameters import (
    PATH,
    PATH_OR_DASH,
    PLACE_OR_DASH,
    OrderedCommands,
    command,
    interval_options,
    no_verify_option,
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.aspects.replay import ReplayOutcome
    from hallumeter.aspects.run.experiment import Experiment
    from hallumeter.aspects.run.finishing import FinishedSentences
    from hallumeter.aspects.run.pipeline import AspectsOutcome
    from hallumeter.aspects.score.pipeline import ScoreSettings
    from hallumeter.records.measurement import Summary
    from hallumeter.run.plan import RunPlan
    from hallumeter.run.sharded import ShardedOutcome


# `hallumeter aspects score`: outputs of the pipeline in, scorecards out.

PROFILES = ("smoke", "regression", "paper_main")
SCORECARDS = "scorecards.jsonl"
DASH = "-"


@command(short_help="Score outputs of a run, sentence by sentence.")
@click.argument("outputs", type=PATH_OR_DASH, metavar="OUTPUTS")
@option(
    "--gold",
    type=PATH,
    metavar="FILE",
    help="True labels by uid (or text_id): gold_tuples of aspect_term and polarity.",
)
@option(
    "--allowlist",
    "--aspect_allowlist",
    type=PATH,
    metavar="FILE",
    help="More terms that count as aspects: a JSON or YAML list, or one per line.",
)
@option("--profile", type=click.Choice(PROFILES), help="Profile to write.  [default: the one each output names]")
@option(
    "--out",
    type=PLACE_OR_DASH,
    metavar="FILE",
    help="Where to write; a dash for standard output; in shards a run.  [default: scorecards.jsonl beside OUTPUTS]",
)
@workers_option
@sharding_options
@resume_or_estimate_options
@option("--strict", is_flag=True, help="Stop at the first line that cannot be used.")
@quiet_option
def score(outputs: Path, **options: Any) -> None:
    """Score what agents found in each sentence: kept, invented or misplaced.

    OUTPUTS is the outputs.jsonl of `hallumeter aspects run`, or a file of the same shape; a dash reads standard input.
    Each aspect of stage 1 is kept or dropped, with the reason (H1 not in the text, H2 misplaced, filter) and its true
    place. Existing files are never overwritten.

    \b
    Examples:
      hallumeter aspects score runs/demo/outputs.jsonl
      hallumeter aspects score outputs.jsonl --gold gold.jsonl --out cards.jsonl
      hallumeter aspects score outputs.jsonl --allowlist targets.txt
      hallumeter aspects score - --out - < outputs.jsonl > cards.jsonl
      hallumeter aspects score outputs.jsonl --engine local --out run
    """
    from hallumeter.aspects.score.pipeline import score_outputs

    out, is_quiet = options.pop("out"), bool(options.pop("quiet"))
    sharded = Sharded(options, out, is_resumed=bool(options.pop("is_resumed")), is_quiet=is_quiet)
    gold = options["gold"]
    settings, notices = _settings(**options)
    if sharded:
        if str(out) == DASH:
            raise click.UsageError("a run in shards is a folder: give --out RUN", click.get_current_context())
        _score_in_shards(sharded, outputs, settings, gold=gold, notices=notices)
        return
    target = out or (Path(DASH) if str(outputs) == DASH else outputs.parent / SCORECARDS)
    with _opened(target) as stream:
        found = score_outputs(outputs, settings, stream.write)
    if not is_quiet:
        say_what_happened(found.failures, [*notices, *found.notices])
        words = f"{found.sentences:,} scorecards"
        words += f", {found.failures_total:,} lines could not be used" if found.failures_total else ""
        click.echo(f"{words}: {'standard output' if str(target) == DASH else target}", err=True)


def _score_in_shards(
    sharded: Sharded, outputs: Path, settings: ScoreSettings, *, gold: Path | None, notices: list[str]
) -> None:
    """Score outputs in shards, and print what their scorecards come to."""
    from hallumeter.aspects.report.text import aspects_text
    from hallumeter.aspects.sharded import output_input

    with output_input(outputs, settings, gold) as given:
        ended = sharded.run("aspects score", nullcontext(given))
        if ended is None:
            return
        beside = (*notices, *given.notices, *ended[0].notices)
    print_result(aspects_text(ended[0], "table"), (), beside, form="table", out=None, is_quiet=sharded.is_quiet)
    sharded.say_where()


@contextmanager
def _opened(target: Path) -> Iterator[IO[bytes]]:
    """The standard output, or a file that takes its name only when it is whole."""
    from hallumeter.errors import InputError

    if str(target) == DASH:
        yield sys.stdout.buffer
        return
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; choose another file with --out, or remove it first")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as stream:
            yield stream
        _give_name(draft, target)
    except FileExistsError as error:
        raise InputError(f"{target}: exists already; choose another file with --out, or remove it first") from error
    finally:
        draft.unlink(missing_ok=True)


def _give_name(draft: Path, target: Path) -> None:
    """Let a file have its name, unless something took it meanwhile; not every file system has links to make sure."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:
        draft.rename(target)


def _settings(
    *, gold: Path | None, allowlist: Path | None, profile: str | None, workers: int | None, strict: bool
) -> tuple[ScoreSettings, list[str]]:
    from hallumeter.aspects.grounding import target_words
    from hallumeter.aspects.score.pipeline import ScoreSettings, read_allowlist
    from hallumeter.errors import RecordError
    from hallumeter.run.engines.local import available_cores

    notices = []
    known = None
    if gold is not None:
        from hallumeter.aspects.run.rows import read_gold

        known, faults = read_gold(gold)
        if faults and strict:
            raise RecordError(faults[0].message)
        notices = [fault.message for fault in faults]
    terms = () if allowlist is None else read_allowlist(allowlist)
    words, cores = target_words(terms), workers or available_cores()
    return ScoreSettings(words=words, profile=profile, gold=known, is_strict=strict, workers=cores), notices


# `hallumeter aspects run`: agents read sentences, and what each of them said is kept.

_HEADLINE = (
    *("aspect_hallucination_rate", "aspect_hallucination_rate_h1", "aspect_hallucination_rate_h2"),
    *("risk_flagged_rate", "guided_change_rate", "tuple_f1_s1", "tuple_f1_final"),
)


@command(short_help="Let agents read sentences.")
@experiment_options(
    "The experiment: what is read, by whom.",
    [
        option(
            "--max-sentences",
            "--max_sentences",
            type=click.IntRange(min=1),
            metavar="N",
            help="Read the first N sentences.",
        ),
        option(
            "--trust",
            "trusted",
            type=PATH,
            multiple=True,
            metavar="FILE",
            help="Allow this joblib or pickle model file to run code; repeat for several.",
        ),
    ],
    retry="Try failed sentences again.",
    strict="Stop at the first row that cannot be used.",
)
@shard_workers_option
@sharding_options
@resume_option
def run(path: Path, **options: Any) -> None:
    """Let agents find which aspects reviews praise or criticise, and see which agents erred.

    FILE says which sentences to read (CSV, TSV, JSONL, Parquet, or .txt with one per line), by whom (a language model,
    a Python function, or `offline`, which needs no key), and with which steps. The run folder holds outputs.jsonl (one
    line per sentence and seed), traces.jsonl (one per answer of an agent), scorecards, metrics, who is to blame for
    which error, and a report.

    Run the same command again to resume a run that was stopped: nothing is asked or paid twice. Keys come from the
    environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, or HALLUMETER_API_KEY for other servers.

    \b
    experiment.yaml:
      model: offline          # or openai:MODEL, anthropic:MODEL, http://...#MODEL
      data:
        input: reviews.csv     # text; optional: id, language, domain, gold_tuples
      pipeline:
        enable_debate: true
      seeds: [0]

    \b
    Examples:
      hallumeter aspects run --config experiment.yaml
      hallumeter aspects run --config experiment.yaml --dry-run
      hallumeter aspects run --config experiment.yaml --max-sentences 20
      hallumeter aspects run --config experiment.yaml --retry-failed
      hallumeter aspects run --config experiment.yaml --engine local
    """
    run_experiment(_AspectsRun(), path, options)


class _AspectsRun:
    """What is particular to `aspects run`."""

    retry_hint = "reads again what failed"
    kind = "aspects run"
    trusted: tuple[Path, ...] = ()

    def cut(self, experiment: Experiment, *, is_strict: bool) -> CutExperiment:
        from hallumeter.aspects.run.pipeline import prepared
        from hallumeter.aspects.sharded import sentence_input

        ready = prepared(experiment, is_strict=is_strict)
        given = sentence_input(ready, is_strict=is_strict, trusted=self.trusted)
        return CutExperiment(ready.run_id, given, ready.inputs.failures, ready.inputs.notices)

    def say_shards(self, outcome: ShardedOutcome, place: str, cut: CutExperiment, *, is_quiet: bool) -> int:
        from hallumeter.aspects.run.finishing import FinishedSentences

        answered, failed = counted_shards(outcome, place, is_quiet=is_quiet)
        assert outcome.summary is not None, "whatever agents read is measured"
        seeds, unusable = outcome.summary.counts.models, len(cut.failures)
        finished = FinishedSentences(sentences=answered, failed=failed, seeds=seeds, unusable=unusable)
        click.echo("\n".join([counted_text(finished), *headline(outcome.summary)]))
        click.echo(f"run: {place}\nreport: {place}/report.html")
        return answered

    def read(self, path: Path, options: dict[str, Any]) -> Experiment:
        from msgspec import structs

        from hallumeter.aspects.run.experiment import read_experiment

        self.trusted = options.pop("trusted")
        experiment, most = read_experiment(path), options.pop("max_sentences")
        data = experiment.data if most is None else structs.replace(experiment.data, max_sentences=most)
        return structs.replace(experiment, data=data, **chosen_options(experiment.prices, options))

    def plan(self, experiment: Experiment, *, is_strict: bool) -> RunPlan:
        from hallumeter.aspects.run.plan import plan_experiment

        return plan_experiment(experiment, is_strict=is_strict)

    def run(self, experiment: Experiment, **options: Any) -> AspectsOutcome:
        from hallumeter.aspects.run.pipeline import run_experiment

        return run_experiment(experiment, trusted=self.trusted, **options)

    def say(self, outcome: AspectsOutcome, finished: FinishedSentences, *, is_quiet: bool) -> int:
        say_result(outcome.folder, counted_text(finished), outcome.summary, is_quiet=is_quiet)
        return finished.answered


def say_result(folder: Path, counted: str, summary: Summary | None, *, is_quiet: bool) -> None:
    """Print how much was read, the headline, and where the files are."""
    click.echo("\n".join([counted, *headline(summary)]))
    if not is_quiet:
        click.echo(f"outputs: {folder / 'outputs.jsonl'}\nreport: {folder / 'report.html'}")


def counted_text(finished: FinishedSentences) -> str:
    """How many sentences came to their end."""
    parts = [f"{finished.sentences:,} sentence{'s' * (finished.sentences != 1)} read"]
    parts += [f"over {finished.seeds:,} seeds"] if finished.seeds > 1 else []
    failed = finished.failed - finished.unasked
    parts += [f"{failed:,} failed"] if failed else []
    parts += [f"{finished.unasked:,} not read: the budget was used up"] if finished.unasked else []
    parts += [f"{finished.unusable:,} row{'s' * (finished.unusable != 1)} not usable"] if finished.unusable else []
    return ", ".join(parts)


def headline(summary: Summary | None) -> list[str]:
    """The few figures that most users look for; undefined ones are left to the report."""
    from hallumeter.instruments import instrument_of

    rows = {} if summary is None else {row.metric: row for row in summary.metrics if not row.by}
    found = [rows[name] for name in _HEADLINE if name in rows and rows[name].value is not None]
    aliases = {metric.id: metric.alias for metric in instrument_of("aspects").metrics}
    names = [aliases[row.metric] for row in found]
    return [
        f"  {name:<30} {row.value:>6.3f}   {_number(row.count)} / {_number(row.total)}"
        for name, row in zip(names, found, strict=True)
    ]


def _number(value: float | None) -> str:
    """Whole numbers without decimals, sums of ratios with two.

    >>> _number(1200.0), _number(52.4667)
    ('1,200', '52.47')
    """
    return "-" if value is None else f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"


# `hallumeter aspects replay`: a run with other switches, from the answers that it holds.


@command(short_help="Recompute a run with other settings.")
@click.argument("run", type=PATH, metavar="RUN")
@option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="A setting to change, from the list above.")
@option("--out", type=PATH, metavar="DIR", help="Folder to write.")
@option("--exact", is_flag=True, help="Fail sentences whose model would see another prompt.")
@no_verify_option
@quiet_option
def replay(run: Path, changes: tuple[str, ...], out: Path | None, **options: bool) -> None:
    """See what a run would have found with other settings, without a single new call.

    RUN is the folder of a finished run, whose recorded answers are used again. Offline agents that would see another
    prompt are asked anew, which costs nothing. For language models the old answer is used and listed in the output's
    meta.replayed; with --exact such a sentence fails instead.

    \b
    What can be set:
      enable_stage2, enable_validator, enable_debate, enable_debate_override,
      enable_moderator
      debate_override.profile (t0, t1, t2), .min_total, .min_margin,
      .min_target_conf, .l3_conservative
      debate_override_thresholds, debate_thresholds, patterns.ko, patterns.en:
      files
      profile (smoke, regression, paper_main)

    \b
    Examples:
      hallumeter aspects replay runs/my-run --set enable_validator=false
      hallumeter aspects replay runs/my-run --set debate_override.profile=t1
      hallumeter aspects replay runs/my-run --set enable_debate=false --exact
    """
    from hallumeter.aspects.replay import replay_run

    from .progress import shown_audit

    with shown_audit(is_quiet=options["quiet"]) as progress:
        outcome = replay_run(
            run, changes, out=out, is_exact=options["exact"], progress=progress, verify=not options["no_verify"]
        )
    if not options["quiet"]:
        _say_notes(outcome)
    first = f"{counted_text(outcome.finished)}, {outcome.changed:,} with another result than in the run"
    say_result(outcome.folder, first, outcome.summary, is_quiet=options["quiet"])
    if not outcome.finished.sentences:
        raise click.exceptions.Exit(UNMEASURED)


def _say_notes(outcome: ReplayOutcome) -> None:
    notes = list(outcome.notices)
    if outcome.recomputed:
        notes.append(f"{outcome.recomputed:,} answers of offline agents were computed anew")
    if outcome.replayed:
        roles = ", ".join(f"{role} {count:,}" for role, count in outcome.replayed.items())
        notes.append(
            f"language models would have been told something else, and their old answers were used: {roles}; "
            "meta.replayed names them in each output"
        )
    say_lines((*(f"note: {note}" for note in notes), *failure_lines(outcome.finished.failures)))


# `hallumeter aspects aggregate`: what many scorecards come to.


@command(short_help="Get rates from scorecards.")
@click.argument("scorecards", type=PATH_OR_DASH, metavar="SCORECARDS")
@option("--profile", type=click.Choice(PROFILES), help="Use only scorecards of this profile.")
@verbose_option
@output_options
@option(
    "--thresholds",
    type=PATH,
    metavar="FILE",
    help="Thresholds of warnings: a debate_thresholds.json.  [default: the bundled one]",
)
@workers_option
@sharding_options
@resume_or_estimate_options
@interval_options
@option("--strict", is_flag=True, help="Stop at the first line that is not a scorecard.")
@quiet_option
def aggregate(scorecards: Path, **options: Any) -> None:
    """Get rates from scorecards: invented aspects, risks, corrections, F1 against gold.

    SCORECARDS is the scorecards.jsonl of `hallumeter aspects score`, or a file of the same shape; a dash reads standard
    input. Runs are recognised by run_id and seed, sentences by text_id: for several runs you see mean and deviation,
    and how often a sentence gets the same label again.

    With --out, the run folder holds structural_metrics.csv and structural_metrics_table.md, aggregated_mean_std.csv and
    .md, triptych_table.tsv (stage 1, result and gold of every sentence) and quality_report.md beside the usual files.

    \b
    Examples:
      hallumeter aspects aggregate runs/demo/scorecards.jsonl
      hallumeter aspects aggregate scorecards.jsonl --profile paper_main --out run
      hallumeter aspects aggregate scorecards.jsonl --format json | jq .aspects
      hallumeter aspects aggregate scorecards.jsonl --engine local --out run
    """
    from hallumeter.aspects.aggregate.overview import AggregateSettings
    from hallumeter.aspects.aggregate.pipeline import aggregate_file
    from hallumeter.aspects.aggregate.run_writer import aggregate_to_folder
    from hallumeter.aspects.report.text import aspects_text
    from hallumeter.aspects.resource_files import load_mapping_thresholds
    from hallumeter.run.engines.local import available_cores

    out, form, is_quiet, is_verbose = (options.pop(name) for name in ("out", "form", "quiet", "verbose"))
    sharded = Sharded(options, out, is_resumed=bool(options.pop("is_resumed")), is_quiet=is_quiet)
    options["thresholds"] = load_mapping_thresholds(options["thresholds"])
    options["workers"] = options["workers"] or available_cores()
    settings = AggregateSettings(is_strict=options.pop("strict"), **options)
    if sharded:
        from hallumeter.aspects.sharded import scorecard_input

        ended = sharded.run("aspects", scorecard_input(scorecards, settings))
        if ended is None:
            return
        text = aspects_text(ended[0], form, is_verbose=is_verbose)
        print_result(text, (), ended[0].notices, form=form, out=None, is_quiet=is_quiet)
        sharded.say_where()
        return
    found = aggregate_file(scorecards, settings) if out is None else aggregate_to_folder(scorecards, out, settings)
    text = aspects_text(found.summary, form, is_verbose=is_verbose)
    print_result(text, found.failures, found.summary.notices, form=form, out=out, is_quiet=is_quiet)
    if not found.summary.counts.records:
        raise click.exceptions.Exit(UNMEASURED)


@click.group(cls=OrderedCommands, short_help="Find out which agent of a sentiment pipeline erred.")
def aspects() -> None:
    """Find out which agent of a sentiment pipeline made which error.

    \b
    Examples:
      hallumeter aspects run --config experiment.yaml
      hallumeter aspects score outputs.jsonl --gold gold.jsonl
      hallumeter aspects aggregate scorecards.jsonl
      hallumeter aspects replay runs/my-run --set enable_validator=false
    """


for each in (run, score, aggregate, replay):
    aspects.add_command(each)
