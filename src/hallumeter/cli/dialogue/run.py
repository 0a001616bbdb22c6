"""`hallumeter dialogue run`: systems under test are asked, their answers become events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hallumeter.cli.experiments import UNMEASURED, check_run_id, dollars, planned_lines, say_notes, with_prices

if TYPE_CHECKING:
    from hallumeter.pipelines.dialogue.running import Experiment, RunOutcome, RunPlan


@click.command(short_help="Ask systems the questions; write events.")
@click.option(
    "--config",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What to ask of whom: experiment.yaml.",
)
@click.option("--run-id", "--run_id", metavar="NAME", help="The name of the run; default: made of what is asked.")
@click.option("--out", "output", type=click.Path(path_type=Path), metavar="DIR", help="Where runs are kept.")
@click.option(
    "--max-patients", "--max_patients", type=click.IntRange(min=1), metavar="N", help="Ask about the first N."
)
@click.option("--max-turns", "--max_turns", type=click.IntRange(min=1), metavar="N", help="Ask the first N questions.")
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Stop at such a cost.")
@click.option(
    "--price", "prices", multiple=True, metavar="MODEL=IN/OUT", help="Dollars for a million tokens in and out."
)
@click.option("--dry-run", is_flag=True, help="Say how many calls it would take and what they would cost, and stop.")
@click.option("--retry-failed", is_flag=True, help="Ask failed turns again, and the turns of that patient after them.")
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be used.")
@click.option("--quiet", is_flag=True, help="No progress and no notices on the standard error.")
def run(path: Path, **options: Any) -> None:
    """Ask the questions of patients of one or several systems, and write what they answer as events.

    FILE says which systems answer (a language model, a Python function, a program, or `offline`, which needs no key),
    in which mode (`llm`: a plain conversation; `agent`: reminded of the patient's facts before each answer), and which
    patients ask. RUNS/RUN_ID/events.jsonl has one line for each answer.

    The same command again goes on where the run was stopped or killed: nothing is asked, or paid, twice. Keys come from
    the environment alone: OPENAI_API_KEY, ANTHROPIC_API_KEY, or HALLUMETER_API_KEY for other servers.

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
      hallumeter dialogue run --config experiment.yaml --max-patients 5 --budget 2.50
      hallumeter dialogue run --config experiment.yaml --retry-failed
    """
    from hallumeter.cli.progress import shown_audit
    from hallumeter.pipelines.dialogue.running import plan_experiment, read_experiment, run_experiment

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
    given = {name: value for name, value in options.items() if value is not None}
    return structs.replace(experiment, prices=prices, **given)


def _say_outcome(outcome: RunOutcome, *, is_quiet: bool) -> None:
    place = outcome.folder
    if not is_quiet:
        spending = None if outcome.was_finished else outcome.spending
        say_notes(place, outcome.troubles, failures=outcome.failures, spending=spending)
    if not outcome.modes:
        message = f"stopped; what was answered is kept in {place}. Go on with the same command"
        click.echo(message, err=True)
        raise click.exceptions.Exit(UNMEASURED)
    for counted in outcome.modes:
        failed = f", {counted.failed:,} failed" if counted.failed else ""
        click.echo(f"{counted.mode}: {counted.answered:,} answers{failed}")
    click.echo(f"events: {place / 'events.jsonl'}")
    if not is_quiet:
        click.echo(f"see what they are worth: hallumeter dialogue measure {place / 'events.jsonl'}", err=True)
    if outcome.stopped == "budget":
        click.echo("the budget was reached; go on with the same command and a larger budget", err=True)
    elif any(counted.failed for counted in outcome.modes) and not is_quiet:
        click.echo("--retry-failed asks again what failed", err=True)
    if outcome.stopped is not None or not any(counted.answered for counted in outcome.modes):
        raise click.exceptions.Exit(UNMEASURED)


def _plan_text(plan: RunPlan) -> str:
    lines = [f"{plan.run_id}: {plan.patients:,} patients, {plan.turns:,} questions"]
    for system in plan.systems:
        done = f"{system.answered:,} questions are answered already"
        lines.append(f"{system.name} ({system.answers_by})")
        lines += planned_lines(system, done=done, free="answers from a script; no call is paid")
    return "\n".join([*lines, f"total cost {dollars(plan.cost_usd)}"]) + "\n"
