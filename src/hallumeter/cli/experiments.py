"""What `aspects run`, `dialogue run` and `audit` have in common: options, the dry run, and what is said at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from .output import MOST_FAULTS, echo_wrapped
from .parameters import PATH, PLACE, option, quiet_option, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hallumeter.models.prices import Price, Spending
    from hallumeter.records.claim import Failure
    from hallumeter.run.plan import PlannedCalls, RunPlan
    from hallumeter.run.progress import ProgressListener
    from hallumeter.run.runner import FinishedRun, RunOutcome

    from .parameters import Decorator


UNMEASURED = 3
"""The exit code when the run did not come to its end, or nobody answered anything."""


def experiment_options(config: str, limits: Sequence[Decorator], *, retry: str, strict: str) -> Decorator:
    """The options of a command that runs an experiment; texts are those of the help, `limits` are options too."""
    name = "Name of the run.  [default: made from the settings]"
    options: list[Decorator] = [
        option("--config", "path", required=True, type=PATH, metavar="FILE", help=config),
        option("--run-id", "--run_id", metavar="NAME", help=name),
        option(
            "--out",
            "output",
            type=PLACE,
            metavar="DIR",
            help="Folder that holds the runs; in shards also s3://BUCKET/FOLDER.",
        ),
        *limits,
        option(
            "--budget",
            type=click.FloatRange(min=0, min_open=True),
            metavar="USD",
            help="Stop when calls have cost this.",
        ),
        option("--price", "prices", multiple=True, metavar="MODEL=IN/OUT", help="Price in dollars per million tokens."),
        option("--dry-run", is_flag=True, help="Count the calls and estimate their cost, then stop."),
        option("--retry-failed", is_flag=True, help=retry),
        option("--strict", is_flag=True, help=strict),
        quiet_option,
    ]
    return together(*options)


_Experiment = TypeVar("_Experiment")
_Finished = TypeVar("_Finished", bound="FinishedRun")


class ExperimentCommand(Protocol[_Experiment, _Finished]):
    """What a command that runs an experiment does in its own way."""

    retry_hint: str
    """What --retry-failed does."""

    def read(self, path: Path, options: dict[str, Any]) -> _Experiment:
        """The experiment of a file, with what the command line says instead."""
        ...

    def plan(self, experiment: _Experiment, *, is_strict: bool) -> RunPlan:
        """What it would take."""
        ...

    def run(
        self, experiment: _Experiment, *, progress: ProgressListener, is_strict: bool, is_retrying: bool
    ) -> RunOutcome[_Finished]:
        """Do it."""
        ...

    def say(self, outcome: RunOutcome[_Finished], finished: _Finished, *, is_quiet: bool) -> int:
        """Print what came of it; gives how much was answered."""
        ...


def run_command(
    command: ExperimentCommand[_Experiment, _Finished],
    experiment: _Experiment,
    *,
    quiet: bool,
    strict: bool,
    dry_run: bool,
    retry_failed: bool,
) -> None:
    """Plan an experiment, or run it and say what came of it.

    Raises:
        click.exceptions.Exit: It did not come to its end, or nobody answered anything.
    """
    from .progress import shown_audit

    if dry_run:
        echo_wrapped(plan_text(command.plan(experiment, is_strict=strict)))
        return
    with shown_audit(is_quiet=quiet) as progress:
        outcome = command.run(experiment, progress=progress, is_strict=strict, is_retrying=retry_failed)
    if not quiet:
        _say_notes(outcome)
    finished = outcome.finished
    if finished is None:
        message = f"stopped; what was answered is kept in {outcome.folder}. Resume with the same command"
        click.echo(message, err=True)
        raise click.exceptions.Exit(UNMEASURED)
    answered = command.say(outcome, finished, is_quiet=quiet)
    if outcome.stopped == "budget":
        click.echo("the budget is used up; resume with the same command and a larger --budget", err=True)
    elif finished.retryable and not quiet:
        click.echo(f"--retry-failed {command.retry_hint}", err=True)
    if outcome.stopped is not None or not answered:
        raise click.exceptions.Exit(UNMEASURED)


def chosen_options(prices: Mapping[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Settings that the command line gives in place of those in the file."""
    check_run_id(options["run_id"])
    given = {name: value for name, value in options.items() if value is not None}
    return given | {"prices": with_prices(prices, options["prices"])}


def with_prices(known: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    """Prices of the file with those of the command line in their place."""
    from hallumeter.errors import SettingsError
    from hallumeter.models.prices import parse_price

    prices = dict(known)
    for text in given:
        name, equals, price = text.rpartition("=")
        if not equals or not name:
            raise SettingsError(f"price {text!r}: expected MODEL=IN/OUT, such as openai:gpt-4o-mini=0.15/0.60")
        parse_price(price)
        prices[name] = price
    return prices


def check_run_id(name: str | None) -> None:
    """Refuse what cannot be the name of a folder."""
    from hallumeter.errors import SettingsError
    from hallumeter.run.setting_checks import is_folder_name

    if name is not None and not is_folder_name(name):
        raise SettingsError(f"--run-id {name!r} cannot be the name of a folder; use letters, digits, dots and dashes")


def _say_notes(outcome: RunOutcome[_Finished]) -> None:
    """Tell what a user should know of a run."""
    say_lines((*(f"note: {notice}" for notice in outcome.notices), *failure_lines(outcome.failures)))
    if outcome.was_finished:
        click.echo(f"{outcome.folder}: this run is finished; nothing is left to do", err=True)
    else:
        say_spending(outcome.spending)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines to the standard error, each in one line whatever it holds."""
    from hallumeter.text.normalize import one_line

    for line in lines:
        click.echo(one_line(line), err=True)


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """The first failures, and how many there are besides."""
    lines = [failure.message for failure in failures[:MOST_FAULTS]]
    more = len(failures) - MOST_FAULTS
    return [*lines, *([f"... and {more:,} more; failures.jsonl has them all"] if more > 0 else [])]


def say_spending(spending: Spending) -> None:
    """Say how many calls were made, and what they cost; nothing without calls."""
    if not spending.calls:
        return
    tokens = f"{spending.input_tokens:,} tokens in, {spending.output_tokens:,} out"
    click.echo(f"{spending.calls:,} calls ({spending.retries:,} repeated), {tokens}, {_cost(spending)}", err=True)


def _cost(spending: Spending) -> str:
    """What calls have cost; a price that is not known is said to be unknown, whatever else was paid."""
    unknown = spending.calls_without_price - spending.calls_estimated
    has_tokens = bool(spending.input_tokens or spending.output_tokens)
    is_paid = bool(spending.spent_usd) or (has_tokens and not spending.calls_without_price)
    parts = [f"cost ${spending.spent_usd:.4f}"] if is_paid else []
    if spending.calls_estimated:
        parts.append(f"about ${spending.estimated_usd:.4f} for {spending.calls_estimated:,} calls of unknown length")
    if unknown or not parts:
        parts.append(f"price unknown for {unknown:,} calls" if parts else "price unknown")
    return ", ".join(parts)


def dollars(cost: float | None) -> str:
    """A cost, or that nobody knows it.

    >>> dollars(1.5), dollars(None)
    ('$1.5000', 'price unknown')
    """
    return "price unknown" if cost is None else f"${cost:,.4f}"


def plan_text(plan: RunPlan) -> str:
    """What a run would take, with what each model would be asked."""
    lines = [*(f"note: {notice}" for notice in plan.notices), plan.heading]
    for part in plan.parts:
        lines += [part.title, *_planned_lines(part, plan.counted)]
    return "\n".join([*lines, f"total cost: {dollars(plan.cost_usd)}"]) + "\n"


def _planned_lines(part: PlannedCalls, counted: str) -> list[str]:
    tokens = {"tokens in": part.input_tokens, "tokens out": part.output_tokens}
    rows = [
        ("calls", f"{part.calls:,}", part.done),
        *((name, f"{count:,}", counted) for name, count in tokens.items() if count is not None),
        ("cost", dollars(part.cost_usd), part.free or _price_text(part.price, is_model=part.input_tokens is not None)),
    ]
    return [f"  {name:<11} {value:>13}   {note}".rstrip() for name, value, note in rows]


def _price_text(price: Price | None, *, is_model: bool) -> str:
    if price is None:
        return "give --price MODEL=IN/OUT" if is_model else "it tells its own"
    paid = f"${price.input_usd_per_million:g} in, ${price.output_usd_per_million:g} out per million tokens"
    return f"{paid} ({price.as_of})"
