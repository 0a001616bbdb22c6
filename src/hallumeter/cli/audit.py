"""`hallumeter audit`: answers in, verdicts on every claim out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from .experiments import UNMEASURED, plan_text, say_spending, with_prices
from .output import say_what_happened, say_where
from .parameters import (
    FORMATS,
    PATH,
    PATH_OR_DASH,
    by_option,
    given_paths,
    interval_options,
    map_option,
    measure_options,
    measure_settings,
    option,
    quiet_option,
)

if TYPE_CHECKING:
    from hallumeter.claims.audit.commands import AuditOutcome
    from hallumeter.claims.settings import AuditSettings
    from hallumeter.records.claim import Failure


@click.command()
@click.argument("paths", nargs=-1, type=PATH_OR_DASH)
@option("--judge", "judges", multiple=True, metavar="JUDGE", help="Who judges; repeat for a panel. Default: embedded.")
@option(
    "--preset",
    metavar="NAME",
    help="Where the embedded judge draws the line: precise, balanced or sensitive.  [default: balanced]",
)
@option(
    "--threshold",
    type=float,
    metavar="P",
    help="The probability from which the embedded judge calls a claim unsupported, instead of a preset.",
)
@option(
    "--extractor",
    default="sentences",
    metavar="NAME",
    help="How claims are found: sentences, clauses, llm or llm:MODEL.",
)
@by_option
@map_option
@option("--out", type=PATH, metavar="RUN", help="The run folder.  [default: NAME-audit of NAME.jsonl]")
@option("--resume", "is_resumed", is_flag=True, help="Go on with an audit that was stopped.")
@option("--limit", type=int, metavar="N", help="Audit the first N records.")
@option("--sample", type=int, metavar="N", help="Audit N records drawn at random (by --seed).")
@option(
    "--evidence-dir",
    "knowledge_base",
    type=PATH,
    metavar="KB",
    help="Look evidence up in a folder of texts, or a JSONL file.",
)
@option(
    "--passages", "passages_per_claim", type=int, default=5, metavar="N", help="Passages looked up for every claim."
)
@option(
    "--samples",
    is_flag=False,
    flag_value="vectors",
    metavar="[JUDGE]",
    help="Compare the sampled answers of each record: by sentence vectors, or by a judge.",
)
@option("--dry-run", is_flag=True, help="Say how many calls it would take and what they would cost, and stop.")
@option("--budget", "budget_usd", type=float, metavar="USD", help="Stop when calls have cost so much.")
@option(
    "--price",
    "prices",
    multiple=True,
    metavar="MODEL=IN/OUT",
    help="Dollars for a million tokens in and out, where the table of prices has none.",
)
@option("--concurrency", type=int, default=16, help="Calls to one model at the same time.")
@option("--requests-per-minute", type=float, metavar="N", help="Of one language model at most.")
@option("--tokens-per-minute", type=float, metavar="N", help="Of one language model at most.")
@option("--timeout", type=float, default=60, metavar="SECONDS", help="Of one call.")
@option("--claims-per-call", type=int, default=8, help="Claims in one call to a model.")
@click.option("--quotes/--no-quotes", "wants_quotes", default=True, help="Ask models to quote the evidence, and check.")
@option("--logprobs", "wants_logprobs", is_flag=True, help="Ask models for the probabilities of their labels.")
@option("--no-cache", is_flag=True, help="Neither use nor fill the verdict cache.")
@option("--workers", type=int, metavar="N", help="Processes for judges on this machine.  [default: all cores]")
@measure_options
@interval_options
@option("--format", "form", type=click.Choice(FORMATS), default="table", help="What to print.")
@option("--strict", is_flag=True, help="Stop at the first record that cannot be used.")
@quiet_option
def audit(paths: tuple[Path, ...], **options: Any) -> None:
    """Check every claim of every answer against its evidence: what is unsupported, where, and how sure is that?

    PATHS are JSONL, JSON, CSV, TSV or Parquet files (also .gz, .zst) with one answer per row: response, evidence (a
    text, a list of texts, or a JSON object), optional id, question, model, samples, ...; names and shapes of other
    tools (answer, contexts, messages, ...) are understood, and --map says where everything else stands. A dash reads
    JSONL from the standard input.

    \b
    Judges:
      embedded                   the model inside the package: offline, English; the default
      embedded:fast              the same without its neural network, many times as fast
      rules                      numbers, dates, names, negation, word overlap; offline, en/fr/ko
      openai:MODEL               the key is in OPENAI_API_KEY
      anthropic:MODEL            the key is in ANTHROPIC_API_KEY
      http://host/v1#MODEL       any OpenAI-compatible server (HALLUMETER_API_KEY if it wants one)
      python:module.function     your own function of a claim and its evidence
      recorded:verdicts.jsonl    verdicts that exist already, such as people's

    \b
    Examples:
      hallumeter audit answers.jsonl
      hallumeter audit answers.jsonl --by model --out run
      hallumeter audit answers.jsonl --judge openai:gpt-4o-mini --dry-run
      hallumeter audit answers.jsonl --judge openai:gpt-4o-mini --judge rules --budget 5.00
      hallumeter audit answers.jsonl --judge http://127.0.0.1:8080/v1#qwen --resume
      hallumeter audit answers.jsonl --evidence-dir handbook/
    """
    from hallumeter.claims.audit.commands import audit_files
    from hallumeter.claims.audit.plan import plan_audit
    from hallumeter.run.place import free_place

    from .progress import shown_audit

    form, is_quiet, is_resumed = str(options.pop("form")), bool(options.pop("quiet")), bool(options.pop("is_resumed"))
    out, is_dry = options.pop("out"), bool(options.pop("dry_run"))
    sources = _sources(paths, samples=options["samples"])
    settings = _settings(options)
    if is_dry:
        click.echo(plan_text(plan_audit(sources, settings=settings)), nl=False)
        return
    place = out if isinstance(out, Path) else free_place(_stem(sources), is_resumed=is_resumed)
    with shown_audit(is_quiet=is_quiet) as progress:
        outcome = audit_files(sources, place, settings=settings, progress=progress, is_resumed=is_resumed)
    if outcome.was_finished and not is_quiet:
        click.echo(f"{place}: this audit is finished; nothing is left to do", err=True)
    _say_outcome(outcome, place, form=form, is_quiet=is_quiet)


def _settings(options: dict[str, Any]) -> AuditSettings:
    from hallumeter.claims.settings import DEFAULT_JUDGE, AuditSettings, LanguageModelSettings
    from hallumeter.models.pace import PaceSettings
    from hallumeter.models.prices import parse_price
    from hallumeter.run.engines.local import available_cores
    from hallumeter.run.verdict_cache import cache_folder

    of_model = {name: options.pop(name) for name in ("claims_per_call", "wants_quotes", "wants_logprobs")}
    of_pace = {name: options.pop(name) for name in ("requests_per_minute", "tokens_per_minute")}
    return AuditSettings(
        judges=options.pop("judges") or (DEFAULT_JUDGE,),
        cache=None if options.pop("no_cache") else cache_folder(),
        workers=options.pop("workers") or available_cores(),
        prices={name: parse_price(text) for name, text in with_prices({}, options.pop("prices")).items()},
        language_model=LanguageModelSettings(seed=options["seed"], **of_model),
        pace=PaceSettings(timeout_seconds=options.pop("timeout"), **of_pace),
        measure=measure_settings(options),
        **options,
    )


def _sources(paths: tuple[Path, ...], *, samples: str | None) -> tuple[Path, ...]:
    if samples is not None and Path(samples).is_file():
        # Whatever stands after the option is taken for the judge, also a file of answers.
        raise click.UsageError(f"--samples takes a judge or nothing; put {samples} before it")
    return given_paths(paths, "answers")


def _stem(sources: tuple[Path, ...]) -> str:
    name = sources[0].name
    return "stdin" if name == "-" else name.removesuffix(".gz").partition(".")[0] or "answers"


def _say_outcome(outcome: AuditOutcome, place: Path, *, form: str, is_quiet: bool) -> None:
    from hallumeter.report.reasons import count_reasons
    from hallumeter.report.summary_text import summary_text
    from hallumeter.run.run_folder import RunFolder

    for notice in () if is_quiet else outcome.notices:
        click.echo(f"note: {notice}", err=True)
    finished, summary = outcome.finished, outcome.summary
    if finished is None or summary is None:
        click.echo(f"stopped; what was done is kept in {place}. Go on with the same command and --resume", err=True)
        raise click.exceptions.Exit(UNMEASURED)
    if not is_quiet:
        say_what_happened(_causes(outcome.failures), summary.notices)
        say_spending(outcome.spending)
    reasons = count_reasons(RunFolder(place).verdicts())
    click.echo(summary_text(summary, form, reasons=reasons), nl=False)
    if not is_quiet:
        say_where(place)
    if outcome.stopped == "budget":
        more = "go on with --resume and a larger --budget"
        click.echo(f"the budget was reached: the rest is counted as unmeasured; {more}", err=True)
    if finished.retryable:
        click.echo(f"{finished.retryable:,} claims failed for reasons that may pass; --resume asks again", err=True)
    if outcome.stopped is not None or not any(row.value is not None for row in summary.metrics):
        raise click.exceptions.Exit(UNMEASURED)


def _causes(failures: tuple[Failure, ...]) -> list[Failure]:
    """The first failure of each cause, with the judge that it befell; notices say how many there are."""
    firsts: dict[tuple[str | None, str], Failure] = {}
    for failure in failures:
        message = f"{failure.judge}: {failure.message}" if failure.judge else failure.message
        firsts.setdefault((failure.judge, failure.message), structs.replace(failure, message=message))
    return list(firsts.values())
