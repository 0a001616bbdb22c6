"""`hallumeter audit`: answers in, verdicts on every claim out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from .experiments import UNMEASURED, plan_text, say_spending, with_prices
from .output import echo_result, echo_wrapped, say_what_happened, say_where
from .parameters import (
    INPUT,
    JUDGING,
    MODELS,
    OUTPUT,
    PATH,
    PATH_OR_DASH,
    PLACE,
    by_option,
    command,
    format_option,
    given_operating_point,
    given_paths,
    interval_options,
    map_option,
    measure_options,
    measure_settings,
    named_sources,
    operating_options,
    option,
    quiet_option,
    shown_options,
    strict_option,
    together,
)
from .sharding import Sharded, given_files, is_small, sharding_options

if TYPE_CHECKING:
    from hallumeter.claims.audit.commands import AuditOutcome
    from hallumeter.claims.settings import AuditSettings
    from hallumeter.records.claim import Failure
    from hallumeter.records.measurement import Summary
    from hallumeter.report.terminal import Shown

_model_options = together(
    option("--dry-run", is_flag=True, section=MODELS, help="Count the calls and estimate their cost, then stop."),
    option("--budget", "budget_usd", type=float, metavar="USD", section=MODELS, help="Stop when calls have cost this."),
    option(
        "--price",
        "prices",
        multiple=True,
        metavar="MODEL=IN/OUT",
        section=MODELS,
        help="Price of a model that is not in the price table: dollars per million tokens in and out.",
    ),
    option("--concurrency", type=int, default=16, section=MODELS, help="Calls to one model at the same time."),
    option("--requests-per-minute", type=float, metavar="N", section=MODELS, help="Limit for each model."),
    option("--tokens-per-minute", type=float, metavar="N", section=MODELS, help="Limit for each model."),
    option("--timeout", type=float, default=60, metavar="SECONDS", section=MODELS, help="Time limit of one call."),
    option("--claims-per-call", type=int, default=8, section=MODELS, help="Claims that one call asks about."),
    option(
        "--quotes/--no-quotes",
        "wants_quotes",
        default=True,
        show_default=False,
        section=MODELS,
        help="Ask for a quotation from the evidence and check it.  [default: quotes]",
    ),
    option("--logprobs", "wants_logprobs", is_flag=True, section=MODELS, help="Ask for the probabilities of labels."),
    option("--no-cache", is_flag=True, section=MODELS, help="Do not read or write the verdict cache."),
)


@command(short_help="Find the sentences that their evidence does not support.")
@click.argument("paths", nargs=-1, type=PATH_OR_DASH)
@map_option
@option("--limit", type=int, metavar="N", section=INPUT, help="Audit the first N answers.")
@option("--sample", type=int, metavar="N", section=INPUT, help="Audit N answers drawn at random (see --seed).")
@option(
    "--evidence-dir",
    "knowledge_base",
    type=PATH,
    metavar="KB",
    section=INPUT,
    help="Look evidence up in a folder of texts or a JSONL file.",
)
@option(
    "--passages",
    "passages_per_claim",
    type=int,
    default=5,
    metavar="N",
    section=INPUT,
    help="Passages to look up for each claim.",
)
@strict_option
@option(
    "--from",
    "source_format",
    type=click.Choice(["otel"]),
    section=INPUT,
    help="Read the files as OpenTelemetry traces (OTLP), whatever their names. Most are recognised without it.",
)
@option(
    "--judge",
    "judges",
    multiple=True,
    metavar="JUDGE",
    section=JUDGING,
    help="Who judges, from the list above; repeat for a panel.  [default: embedded]",
)
@operating_options
@option(
    "--extractor",
    default="sentences",
    metavar="NAME",
    section=JUDGING,
    help="How claims are found: sentences, clauses, llm or llm:MODEL.",
)
@option(
    "--samples",
    is_flag=False,
    flag_value="vectors",
    metavar="[JUDGE]",
    section=JUDGING,
    help="Compare the sampled answers of each record, by sentence vectors or by a judge.",
)
@by_option
@shown_options
@format_option
@quiet_option
@option("--out", type=PLACE, metavar="RUN", section=OUTPUT, help="The run folder, or s3://...  [default: NAME-audit]")
@option("--resume", "is_resumed", is_flag=True, section=OUTPUT, help="Resume an audit that was stopped.")
@measure_options
@_model_options
@interval_options
@sharding_options
@option("--workers", type=int, metavar="N", help="Processes on this machine.  [default: all cores]")
def audit(paths: tuple[Path, ...], **options: Any) -> None:
    """Find the sentences in your answers that their evidence does not support.

    Prints how many claims are unsupported, with an interval, and the findings the judge is most certain of. The run
    folder keeps every verdict and an HTML report.

    PATHS are files with one answer per row (JSONL, JSON, CSV, TSV, Parquet; also .gz and .zst): response, evidence (a
    text, a list of texts or a JSON object) and, if you have them, id, question, model, samples. Field names and shapes
    of other tools (answer, contexts, messages, ...) are understood; --map says where anything else is. A dash reads
    standard input.

    \b
    Judges:
      embedded                 the model in this package: offline, English
      embedded:fast            the same without its neural network, much faster
      rules                    numbers, dates, names, negation; offline, en/fr/ko
      openai:MODEL             needs OPENAI_API_KEY
      anthropic:MODEL          needs ANTHROPIC_API_KEY
      http://host/v1#MODEL     an OpenAI-compatible server (HALLUMETER_API_KEY)
      python:module.function   your own function of a claim and its evidence
      recorded:FILE            verdicts you already have, such as people's

    \b
    Examples:
      hallumeter audit answers.jsonl
      hallumeter audit answers.jsonl --by model --out run
      hallumeter audit answers.jsonl --judge openai:gpt-4o-mini --dry-run
      hallumeter audit answers.jsonl --judge openai:gpt-4o-mini --judge rules
      hallumeter audit answers.jsonl --calibration calibration.json
      hallumeter audit answers.jsonl --evidence-dir handbook/
      hallumeter audit answers.parquet --engine local --out run
      hallumeter audit traces.json --from otel
    """
    _audit(paths, options)


def _audit(paths: tuple[Path, ...], options: dict[str, Any]) -> None:
    """Audit the files, or say what it would take; print what came of it."""
    from hallumeter.claims.audit.commands import audit_files
    from hallumeter.claims.audit.plan import plan_audit
    from hallumeter.run.place import free_place

    from .progress import AdvisedAudit, shown_audit

    form, is_quiet, is_resumed = str(options.pop("form")), bool(options.pop("quiet")), bool(options.pop("is_resumed"))
    out, is_dry = options.pop("out"), bool(options.pop("dry_run"))
    sources = _sources(paths, samples=options["samples"])
    asked = {
        "is_verbose": bool(options.pop("verbose")),
        "has_consensus": bool(options.pop("model_consensus")),
        "has_profile": options["policy"] is not None,
        "source": named_sources(sources),
    }
    place = out if out is not None else free_place(_stem(sources), is_resumed=is_resumed)
    sharded = Sharded(options, place, is_resumed=is_resumed, is_quiet=is_quiet)
    settings = _settings(options)
    if sharded:
        given = given_files(sources, settings, settings.measure.shape)
        found = sharded.run("audit", given, is_dry=is_dry)
        if found is not None:
            _print_sharded(sharded, *found, form=form, asked=asked, is_quiet=is_quiet)
        return
    if is_dry:
        echo_wrapped(plan_text(plan_audit(sources, settings=settings)))
        return
    with shown_audit(is_quiet=is_quiet) as shown:
        progress = shown if is_quiet or form == "json" else AdvisedAudit(shown)
        outcome = audit_files(sources, place, settings=settings, progress=progress, is_resumed=is_resumed)
    if outcome.was_finished and not is_quiet:
        click.echo(f"{place}: this audit is finished; nothing is left to do", err=True)
    summary = _said_outcome(outcome, place, is_quiet=is_quiet)
    from hallumeter.report.summary_text import summary_text

    echo_result(summary_text(summary, form, shown=_shown(summary, place, asked)), form, is_quiet=is_quiet)
    _say_end(outcome, summary, place, is_quiet=is_quiet)


def _print_sharded(
    sharded: Sharded, summary: Summary, place: Path, *, form: str, asked: dict[str, Any], is_quiet: bool
) -> None:
    """Print what came of an audit in shards."""
    from hallumeter.report.summary_text import summary_text
    from hallumeter.report.terminal import Shown

    if not is_quiet:
        say_what_happened((), summary.notices)
    shown = _shown(summary, place, asked) if is_small(summary) else Shown(**asked)
    echo_result(summary_text(summary, form, shown=shown), form, is_quiet=is_quiet)
    sharded.say_where()
    if not any(row.value is not None for row in summary.metrics):
        raise click.exceptions.Exit(UNMEASURED)


def _settings(options: dict[str, Any]) -> AuditSettings:
    from hallumeter.claims.audit.setup import check_calibrated_judge
    from hallumeter.claims.settings import DEFAULT_JUDGE, AuditSettings, LanguageModelSettings
    from hallumeter.models.pace import PaceSettings
    from hallumeter.models.prices import parse_price
    from hallumeter.run.engines.local import available_cores
    from hallumeter.run.verdict_cache import cache_folder

    of_model = {name: options.pop(name) for name in ("claims_per_call", "wants_quotes", "wants_logprobs")}
    of_pace = {name: options.pop(name) for name in ("requests_per_minute", "tokens_per_minute")}
    point = given_operating_point(options)
    settings = AuditSettings(
        judges=options.pop("judges") or (DEFAULT_JUDGE,),
        cache=None if options.pop("no_cache") else cache_folder(),
        workers=options.pop("workers") or available_cores(),
        prices={name: parse_price(text) for name, text in with_prices({}, options.pop("prices")).items()},
        language_model=LanguageModelSettings(seed=options["seed"], **of_model),
        pace=PaceSettings(timeout_seconds=options.pop("timeout"), **of_pace),
        measure=measure_settings(options),
        **options,
    )
    if point is not None:
        check_calibrated_judge(point, settings)
    return settings


def _sources(paths: tuple[Path, ...], *, samples: str | None) -> tuple[Path, ...]:
    if samples is not None and Path(samples).is_file():
        # Whatever stands after the option is taken for the judge, also a file of answers.
        raise click.UsageError(f"--samples takes a judge or nothing; put {samples} before it")
    return given_paths(paths, "answers")


def _stem(sources: tuple[Path, ...]) -> str:
    name = sources[0].name
    return "stdin" if name == "-" else name.removesuffix(".gz").partition(".")[0] or "answers"


def _said_outcome(outcome: AuditOutcome, place: Path, *, is_quiet: bool) -> Summary:
    """Say what happened on the way, on the standard error; gives the summary of an audit that came to its end."""
    for notice in () if is_quiet else outcome.notices:
        click.echo(f"note: {notice}", err=True)
    if outcome.finished is None or outcome.summary is None:
        click.echo(f"stopped; what was done is kept in {place}. Resume with the same command and --resume", err=True)
        raise click.exceptions.Exit(UNMEASURED)
    if not is_quiet:
        say_what_happened(_causes(outcome.failures), outcome.summary.notices)
        say_spending(outcome.spending)
    return outcome.summary


def _shown(summary: Summary, place: Path, asked: dict[str, Any]) -> Shown:
    """What the table tells beside the headline: the findings that the judge is most certain of."""
    from hallumeter.report.findings import most_certain
    from hallumeter.report.reasons import count_reasons
    from hallumeter.report.terminal import Shown
    from hallumeter.run.run_folder import RunFolder

    folder = RunFolder(place)
    judge = next((row.judge for row in summary.metrics if not row.by), None)
    headline = judge if judge in {entry.name for entry in folder.manifest.judges} else None
    return Shown(
        reasons=count_reasons(folder.verdicts()),
        findings=most_certain(folder.findings(), headline=headline),
        **asked,
    )


def _say_end(outcome: AuditOutcome, summary: Summary, place: Path, *, is_quiet: bool) -> None:
    """Where everything is, and what is left to do."""
    if not is_quiet:
        say_where(place)
    if outcome.stopped == "budget":
        click.echo(
            "the budget is used up, and the rest counts as unmeasured; resume with --resume and a larger --budget",
            err=True,
        )
    if outcome.finished is not None and outcome.finished.retryable:
        click.echo(f"{outcome.finished.retryable:,} claims failed for now; --resume asks again", err=True)
    if outcome.stopped is not None or not any(row.value is not None for row in summary.metrics):
        raise click.exceptions.Exit(UNMEASURED)


def _causes(failures: tuple[Failure, ...]) -> list[Failure]:
    """The first failure of each cause, with the judge that it befell; notices say how many there are."""
    firsts: dict[tuple[str | None, str], Failure] = {}
    for failure in failures:
        message = f"{failure.judge}: {failure.message}" if failure.judge else failure.message
        firsts.setdefault((failure.judge, failure.message), structs.replace(failure, message=message))
    return list(firsts.values())
