"""What commands that run an experiment have in common: options, and what is said of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from hallumeter.pipelines.experiments import PlannedCalls
    from hallumeter.records import Failure
    from hallumeter.runner import Spending

UNMEASURED = 3
"""The exit code when the run did not come to its end, or nobody answered anything."""
_MOST_FAULTS = 10


def with_prices(known: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    """Prices of the file with those of the command line in their place."""
    from hallumeter.errors import SettingsError
    from hallumeter.providers.language_models import parse_price

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
    from hallumeter.pipelines.experiments import is_folder_name

    if name is not None and not is_folder_name(name):
        raise SettingsError(f"--run-id {name!r} cannot be the name of a folder; use letters, digits, dots and dashes")


def say_notes(folder: Path, notices: Iterable[str], *, failures: Sequence[Failure], spending: Spending | None) -> None:
    """Tell what a user should know of a run; without any spending it was finished before."""
    from hallumeter.text.printable import one_line

    for line in (*(f"note: {notice}" for notice in notices), *failure_lines(failures)):
        click.echo(one_line(line), err=True)
    if spending is None:
        click.echo(f"{folder}: this run is finished; nothing is left to do", err=True)
    elif spending.calls:
        click.echo(_spending_text(spending), err=True)


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """The first failures, and how many there are besides."""
    lines = [failure.message for failure in failures[:_MOST_FAULTS]]
    more = len(failures) - _MOST_FAULTS
    return [*lines, *([f"... and {more:,} more; failures.jsonl has them all"] if more > 0 else [])]


def _spending_text(spending: Spending) -> str:
    cost = f"${spending.spent_usd:.4f}"
    if spending.calls_estimated:
        cost += f" and about ${spending.estimated_usd:.4f} for {spending.calls_estimated:,} calls of untold length"
    elif spending.calls_without_price:
        cost = (
            f"{cost} and {spending.calls_without_price:,} calls of unknown price" if spending.spent_usd else "unknown"
        )
    tokens = f"{spending.input_tokens:,} tokens in, {spending.output_tokens:,} out"
    return f"{spending.calls:,} calls ({spending.retries:,} repeated), {tokens}, cost {cost}"


def dollars(cost: float | None) -> str:
    """A cost, or that nobody knows it.

    >>> dollars(1.5), dollars(None)
    ('$1.5000', 'unknown')
    """
    return "unknown" if cost is None else f"${cost:,.4f}"


def planned_lines(planned: PlannedCalls, *, done: str, free: str) -> list[str]:
    """What one model would be asked, a line each; `done` and `free` say how it is with answers that cost nothing."""
    tokens = {"tokens in": planned.input_tokens, "tokens out": planned.output_tokens}
    rows = [
        ("calls", f"{planned.calls:,}", done),
        *((name, f"{count:,}", "estimated, without retries") for name, count in tokens.items() if count is not None),
        ("cost", dollars(planned.cost_usd), free if planned.is_free else _price_text(planned)),
    ]
    return [f"  {name:<11} {value:>12}   {note}".rstrip() for name, value, note in rows]


def _price_text(planned: PlannedCalls) -> str:
    price = planned.price
    if price is None:
        is_model = planned.input_tokens is not None
        return "its price is not known; give --price MODEL=IN/OUT" if is_model else "it tells its own"
    paid = f"${price.input_usd_per_million:g} in, ${price.output_usd_per_million:g} out per million tokens"
    return f"{paid} ({price.as_of})"
