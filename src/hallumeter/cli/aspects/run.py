"""`hallumeter aspects run`: agents read sentences, and what each of them said is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hallumeter.cli.experiments import UNMEASURED, check_run_id, dollars, planned_lines, say_notes, with_prices
from hallumeter.cli.parameters import quiet_option

if TYPE_CHECKING:
    from hallumeter.pipelines.aspects.running import Experiment, RunOutcome, RunPlan
    from hallumeter.pipelines.aspects.running.finishing import Finished
    from hallumeter.records import Summary

_HEADLINE = (
    *("aspect_hallucination_rate", "aspect_hallucination_rate_h1", "aspect_hallucination_rate_h2"),
    *("risk_flagged_rate", "guided_change_rate", "tuple_f1_s1", "tuple_f1_final"),
)


@click.command(short_help="Let agents read sentences; write outputs.")
@click.option(
    "--config",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What is read by whom: experiment.yaml.",
)
@click.option("--run-id", "--run_id", metavar="NAME", help="The name of the run; default: made of what is asked.")
@click.option("--out", "output", type=click.Path(path_type=Path), metavar="DIR", help="Where runs are kept.")
@click.option(
    "--max-sentences", "--max_sentences", type=click.IntRange(min=1), metavar="N", help="Read the first N sentences."
)
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Stop at such a cost.")
@click.option(
    "--price", "prices", multiple=True, metavar="MODEL=IN/OUT", help="Dollars for a million tokens in and out."
)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take and what they would cost, and stop.")
@click.option("--retry-failed", is_flag=True, help="Read failed sentences again, from the question without an answer.")
@click.option("--strict", is_flag=True, help="Stop at the first row that cannot be used.")
@quiet_option
def run(path: Path, **options: Any) -> None:
    """Let agents read every sentence: aspects, polarities, risks, a debate, reviews, and a final label.

    FILE says which sentences are read (CSV, TSV, JSONL, Parquet, or a sentence a line in .txt), by whom (a language
    model, a Python function, or `offline`, which needs no key), and with which steps. RUNS/RUN_ID/outputs.jsonl has
    one line for each sentence and seed, traces.jsonl one for each answer of an agent; scorecards, metrics, who is to
    blame for what, and a report stand beside them.

    The same command again goes on where the run was stopped or killed: nothing is asked, or paid, twice. Keys come from
    the environment alone: OPENAI_API_KEY, ANTHROPIC_API_KEY, or HALLUMETER_API_KEY for other servers.

    \b
    experiment.yaml:
      model: offline                  # or openai:MODEL, anthropic:MODEL, http://HOST/v1#MODEL
      data:
        input: reviews.csv            # columns text, and perhaps id, language, domain, gold_tuples
      pipeline:
        enable_debate: true
      seeds: [0]

    \b
    Examples:
      hallumeter aspects run --config experiment.yaml
      hallumeter aspects run --config experiment.yaml --dry-run
      hallumeter aspects run --config experiment.yaml --max-sentences 20 --budget 2.50
      hallumeter aspects run --config experiment.yaml --retry-failed
    """
    from hallumeter.cli.progress import shown_audit
    from hallumeter.pipelines.aspects.running import plan_experiment, read_experiment, run_experiment

    is_quiet, is_strict = bool(options.pop("quiet")), bool(options.pop("strict"))
    is_dry, is_retrying = bool(options.pop("dry_run")), bool(options.pop("retry_failed"))
    experiment = _chosen(read_experiment(path), options)
    if is_dry:
        click.echo(_plan_text(plan_experiment(experiment, is_strict=is_strict)), nl=False)
        return
    with shown_audit(is_quiet=is_quiet) as watch:
        outcome = run_experiment(experiment, watch=watch, is_strict=is_strict, is_retrying=is_retrying)
    _say_outcome(outcome, is_quiet=is_quiet)


def _chosen(experiment: Experiment, options: dict[str, Any]) -> Experiment:
    """The experiment with what the command line says instead."""
    from msgspec import structs

    prices = with_prices(experiment.prices, options.pop("prices"))
    check_run_id(options["run_id"])
    most = options.pop("max_sentences")
    data = experiment.data if most is None else structs.replace(experiment.data, max_sentences=most)
    given = {name: value for name, value in options.items() if value is not None}
    return structs.replace(experiment, prices=prices, data=data, **given)


def _say_outcome(outcome: RunOutcome, *, is_quiet: bool) -> None:
    place, finished = outcome.folder, outcome.finished
    if not is_quiet:
        failures = () if finished is None else finished.failures
        say_notes(
            place, outcome.notices, failures=failures, spending=None if outcome.was_finished else outcome.spending
        )
    if finished is None:
        click.echo(f"stopped; what was answered is kept in {place}. Go on with the same command", err=True)
        raise click.exceptions.Exit(UNMEASURED)
    click.echo("\n".join([counted_text(finished), *headline(outcome.summary)]))
    click.echo(f"outputs: {place / 'outputs.jsonl'}\nreport: {place / 'report.html'}")
    if outcome.stopped == "budget":
        click.echo("the budget was reached; go on with the same command and a larger budget", err=True)
    elif finished.failed and not is_quiet:
        click.echo("--retry-failed reads again what failed", err=True)
    if outcome.stopped is not None or not finished.sentences:
        raise click.exceptions.Exit(UNMEASURED)


def counted_text(finished: Finished) -> str:
    """How many sentences came to their end."""
    parts = [f"{finished.sentences:,} sentence{'s' * (finished.sentences != 1)} read"]
    parts += [f"over {finished.seeds:,} seeds"] if finished.seeds > 1 else []
    failed = finished.failed - finished.unasked
    parts += [f"{failed:,} failed"] if failed else []
    parts += [f"{finished.unasked:,} not read, for want of budget"] if finished.unasked else []
    parts += [f"{finished.unusable:,} row{'s' * (finished.unusable != 1)} not usable"] if finished.unusable else []
    return ", ".join(parts)


def headline(summary: Summary | None) -> list[str]:
    """The few figures that most users look for; undefined ones are left to the report."""
    from hallumeter.metrics.catalog import METRICS_BY_ID

    rows = {} if summary is None else {row.metric: row for row in summary.metrics if not row.by}
    found = [rows[name] for name in _HEADLINE if name in rows and rows[name].value is not None]
    names = [METRICS_BY_ID[row.metric].alias for row in found]
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


def _plan_text(plan: RunPlan) -> str:
    seeds = f", {plan.seeds:,} seeds" if plan.seeds > 1 else ""
    lines = [*(f"note: {notice}" for notice in plan.notices), f"{plan.run_id}: {plan.sentences:,} sentences{seeds}"]
    for model in plan.models:
        done = f"estimated; {model.answered:,} questions are answered already"
        lines.append(f"{model.name} ({', '.join(model.roles)})")
        lines += planned_lines(model, done=done, free="reads by rules; no call is paid")
    return "\n".join([*lines, f"total cost {dollars(plan.cost_usd)}"]) + "\n"
