"""`hallumeter audit`: answers in, verdicts on every claim out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from .output import say_what_happened, say_where
from .parameters import FORMATS, interval_options, joined_names, measure_options, quiet_option

if TYPE_CHECKING:
    from hallumeter.pipelines import AuditOutcome, AuditPlan, AuditSettings
    from hallumeter.providers.language_models import Price
    from hallumeter.records import Failure

UNMEASURED = 3
"""The exit code when the audit did not come to its end, or measured nothing."""


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="JUDGE",
    help="Who judges; repeat for a panel. Default: embedded.",
)
@click.option(
    "--extractor",
    default="sentences",
    show_default=True,
    metavar="NAME",
    help="How claims are found: sentences, clauses, llm or llm:MODEL.",
)
@click.option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", help="Group by a field; repeat for several."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="RUN", help="The run folder.  [default: NAME-audit of NAME.jsonl]"
)
@click.option("--resume", "is_resumed", is_flag=True, help="Go on with an audit that was stopped.")
@click.option("--limit", type=int, metavar="N", help="Audit the first N records.")
@click.option("--sample", type=int, metavar="N", help="Audit N records drawn at random (by --seed).")
@click.option(
    "--evidence-dir",
    "knowledge_base",
    type=click.Path(path_type=Path),
    metavar="KB",
    help="Look evidence up in a folder of texts, or a JSONL file.",
)
@click.option(
    "--passages",
    "passages_per_claim",
    type=int,
    default=5,
    show_default=True,
    metavar="N",
    help="Passages looked up for every claim.",
)
@click.option(
    "--samples",
    is_flag=False,
    flag_value="vectors",
    metavar="[JUDGE]",
    help="Compare the sampled answers of each record: by sentence vectors, or by a judge.",
)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take and what they would cost, and stop.")
@click.option("--budget", "budget_usd", type=float, metavar="USD", help="Stop when calls have cost so much.")
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="MODEL=IN/OUT",
    help="Dollars for a million tokens in and out, where the table of prices has none.",
)
@click.option("--concurrency", type=int, default=16, show_default=True, help="Calls to one model at the same time.")
@click.option("--requests-per-minute", type=float, metavar="N", help="Of one language model at most.")
@click.option("--tokens-per-minute", type=float, metavar="N", help="Of one language model at most.")
@click.option("--timeout", type=float, default=60, show_default=True, metavar="SECONDS", help="Of one call.")
@click.option("--claims-per-call", type=int, default=8, show_default=True, help="Claims in one call to a model.")
@click.option("--quotes/--no-quotes", "wants_quotes", default=True, help="Ask models to quote the evidence, and check.")
@click.option("--logprobs", "wants_logprobs", is_flag=True, help="Ask models for the probabilities of their labels.")
@click.option("--no-cache", is_flag=True, help="Neither use nor fill the verdict cache.")
@click.option("--workers", type=int, metavar="N", help="Processes for judges on this machine.  [default: all cores]")
@measure_options
@interval_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("--strict", is_flag=True, help="Stop at the first record that cannot be used.")
@quiet_option
def audit(paths: tuple[Path, ...], **options: Any) -> None:
    """Check every claim of every answer against its evidence: what is unsupported, where, and how sure is that?

    PATHS are JSONL (also .gz), CSV, TSV or Parquet files with one answer per row: response, evidence (a text, a list
    of texts, or a JSON object), optional id, question, model, samples, ...; names of other tools (answer, context,
    contexts, ...) are understood. A dash reads JSONL from the standard input.

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
    from hallumeter.pipelines import audit_files, free_place, is_finished, plan_audit

    from .progress import shown_audit

    form, is_quiet, is_resumed = str(options.pop("form")), bool(options.pop("quiet")), bool(options.pop("is_resumed"))
    out, is_dry = options.pop("out"), bool(options.pop("dry_run"))
    sources = _sources(paths, samples=options["samples"])
    settings = _settings(options)
    if is_dry:
        click.echo(_plan_text(plan_audit(sources, settings=settings)), nl=False)
        return
    place = out if isinstance(out, Path) else free_place(_stem(sources), is_resumed=is_resumed)
    was_finished = is_resumed and is_finished(place)
    with shown_audit(is_quiet=is_quiet) as watch:
        outcome = audit_files(sources, place, settings=settings, watch=watch, is_resumed=is_resumed)
    if was_finished and not is_quiet:
        click.echo(f"{place}: this audit is finished; nothing is left to do", err=True)
    _say_outcome(outcome, place, form=form, is_quiet=is_quiet)


def _settings(options: dict[str, Any]) -> AuditSettings:
    from hallumeter.engines import available_cores
    from hallumeter.judges import DEFAULT_JUDGE, LanguageModelSettings
    from hallumeter.pipelines import AuditSettings
    from hallumeter.runner import PaceSettings
    from hallumeter.store import cache_folder

    from .parameters import measure_settings

    language_model = LanguageModelSettings(
        claims_per_call=options.pop("claims_per_call"),
        wants_quotes=options.pop("wants_quotes"),
        wants_logprobs=options.pop("wants_logprobs"),
        seed=options["seed"],
    )
    pace = PaceSettings(
        requests_per_minute=options.pop("requests_per_minute"),
        tokens_per_minute=options.pop("tokens_per_minute"),
        timeout_seconds=options.pop("timeout"),
    )
    return AuditSettings(
        judges=options.pop("judges") or (DEFAULT_JUDGE,),
        cache=None if options.pop("no_cache") else cache_folder(),
        workers=options.pop("workers") or available_cores(),
        prices=_prices(options.pop("prices")),
        language_model=language_model,
        pace=pace,
        **{name: options.pop(name) for name in _PLAIN},
        measure=measure_settings(options),
    )


_PLAIN = (
    *("extractor", "limit", "sample", "knowledge_base", "passages_per_claim", "samples", "budget_usd", "concurrency"),
)
"""Options that are settings under the same name."""


def _prices(given: tuple[str, ...]) -> dict[str, Any]:
    from hallumeter.errors import SettingsError
    from hallumeter.providers.language_models import parse_price

    prices = {}
    for text in given:
        name, equals, price = text.rpartition("=")
        if not equals or not name:
            raise SettingsError(f"price {text!r}: expected MODEL=IN/OUT, such as openai:gpt-4o-mini=0.15/0.60")
        prices[name] = parse_price(price)
    return prices


def _sources(paths: tuple[Path, ...], *, samples: str | None) -> tuple[Path, ...]:
    if samples is not None and Path(samples).is_file():
        # Whatever stands after the option is taken for the judge, also a file of answers.
        raise click.UsageError(f"--samples takes a judge or nothing; put {samples} before it")
    if paths:
        return paths
    if sys.stdin.isatty():
        raise click.UsageError("give a file of answers, or pipe JSONL in", click.get_current_context())
    return (Path("-"),)


def _stem(sources: tuple[Path, ...]) -> str:
    name = sources[0].name
    return "stdin" if name == "-" else name.removesuffix(".gz").partition(".")[0] or "answers"


def _say_outcome(outcome: AuditOutcome, place: Path, *, form: str, is_quiet: bool) -> None:
    from hallumeter.report import count_reasons, summary_text
    from hallumeter.store import RunFolder

    for trouble in () if is_quiet else outcome.troubles:
        click.echo(f"note: {trouble}", err=True)
    if outcome.summary is None:
        click.echo(f"stopped; what was done is kept in {place}. Go on with the same command and --resume", err=True)
        raise click.exceptions.Exit(UNMEASURED)
    if not is_quiet:
        say_what_happened(_causes(outcome.failures), outcome.summary.notices)
        _say_spending(outcome)
    reasons = count_reasons(RunFolder(place).verdicts())
    click.echo(summary_text(outcome.summary, form, reasons=reasons), nl=False)
    if not is_quiet:
        say_where(place)
    if outcome.stopped == "budget":
        more = "go on with --resume and a larger --budget"
        click.echo(f"the budget was reached: the rest is counted as unmeasured; {more}", err=True)
    if outcome.passing:
        click.echo(f"{outcome.passing:,} claims failed for reasons that may pass; --resume asks again", err=True)
    if outcome.stopped is not None or not any(row.value is not None for row in outcome.summary.metrics):
        raise click.exceptions.Exit(UNMEASURED)


def _causes(failures: tuple[Failure, ...]) -> list[Failure]:
    """The first failure of each cause, with the judge that it befell; notices say how many there are."""
    firsts: dict[tuple[str | None, str], Failure] = {}
    for failure in failures:
        told = f"{failure.judge}: {failure.message}" if failure.judge else failure.message
        firsts.setdefault((failure.judge, failure.message), structs.replace(failure, message=told))
    return list(firsts.values())


def _say_spending(outcome: AuditOutcome) -> None:
    spending = outcome.spending
    if not spending.calls:
        return
    cost = f"${spending.spent_usd:.4f}"
    if spending.calls_estimated:
        cost += f" and about ${spending.estimated_usd:.4f} for {spending.calls_estimated:,} calls of untold length"
    elif spending.calls_without_price:
        unpriced = f"{spending.calls_without_price:,} calls of unknown price"
        cost = f"{cost} and {unpriced}" if spending.spent_usd else "unknown"
    tokens = f"{spending.input_tokens:,} tokens in, {spending.output_tokens:,} out"
    click.echo(f"{spending.calls:,} calls ({spending.retries:,} repeated), {tokens}, cost {cost}", err=True)


def _plan_text(plan: AuditPlan) -> str:
    lines = [f"{plan.records:,} records, {plan.claims:,} claims"]
    for part in plan.parts:
        cost = "unknown" if part.cost_usd is None else f"${part.cost_usd:,.4f}"
        lines += [
            part.name,
            f"  calls       {part.calls:>12,}   {part.cached:,} of {part.claims:,} claims are in the cache",
            f"  tokens in   {part.input_tokens:>12,}   estimated",
            f"  tokens out  {part.output_tokens:>12,}   estimated",
            f"  cost        {cost:>12}   {_price_text(part.price)}",
        ]
    total = "unknown" if plan.cost_usd is None else f"${plan.cost_usd:,.4f}"
    return "\n".join([*lines, f"total cost {total}"]) + "\n"


def _price_text(price: Price | None) -> str:
    if price is None:
        return "its price is not known; give --price MODEL=IN/OUT"
    paid = f"${price.input_usd_per_million:g} in, ${price.output_usd_per_million:g} out per million tokens"
    return f"{paid} ({price.as_of})"
